/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic; where the buckets come from is bucket_find.c. */
#include "analyzer/overlap/buckets.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"

static double transfer(double bytes, double factor, const struct ct_bucket_speed *speed)
{
	return speed->alpha_ns + bytes * factor / speed->bytes_per_ns;
}

double ct_buckets_model(const double *bytes, uint32_t n, double factor, double backward_ns,
			const struct ct_bucket_speed *speed)
{
	double total = 0, so_far = 0, end = 0;

	for (uint32_t i = 0; i < n; i++)
		total += bytes[i];
	for (uint32_t i = 0; i < n; i++) {
		double ready;

		so_far += bytes[i];
		ready = backward_ns * so_far / total;
		end = fmax(end, ready) + transfer(bytes[i], factor, speed);
	}
	return end - backward_ns;
}

static double startup_of(const struct ct_buckets *b, const struct ct_bucket_speed *speed)
{
	double ratios[CT_BUCKETS_MOST];

	for (uint32_t i = 0; i < b->n; i++)
		ratios[i] = speed->alpha_ns / transfer((double)b->bytes[i], b->factor, speed);
	qsort(ratios, b->n, sizeof(*ratios), ct_by_double);
	return ratios[(b->n - 1) / 2];
}

static enum ct_bucket_problem problem_of(const struct ct_buckets *b, uint64_t step_ns,
					 const struct ct_bucket_advice *a)
{
	double step = (double)step_ns;

	if (a->busy_ratio > CT_NEARLY_ALL && (double)b->exposed_ns > CT_A_FEW * step &&
	    a->startup_ratio <= CT_BUCKET_STARTUP)
		return CT_BUCKETS_COMM_BOUND;
	if (a->startup_ratio > CT_BUCKET_STARTUP)
		return CT_BUCKETS_TOO_SMALL;
	if ((double)b->last_ns > CT_HARDLY_ANY * step && b->idle_ns >= b->last_ns)
		return CT_BUCKETS_LAST_LATE;
	return CT_BUCKETS_FINE;
}

/* What equal buckets of at most that many MiB are exposed, and how many they are. */
static double exposed_at(const struct ct_buckets *b, const struct ct_bucket_speed *speed,
			 double backward_ns, double mib, uint32_t *n)
{
	double bytes[CT_BUCKETS_MOST], total = (double)b->total_bytes;

	*n = (uint32_t)ceil(total / (mib * CT_MIB));
	for (uint32_t i = 0; i < *n; i++)
		bytes[i] = total / *n;
	return ct_buckets_model(bytes, *n, b->factor, backward_ns, speed);
}

/* The largest size, in MiB, that is exposed next to no longer than the best one. Returns what it is
 * exposed. */
static double best(const struct ct_buckets *b, const struct ct_bucket_speed *speed,
		   double backward_ns, double now_ns, double *mib, uint32_t *n)
{
	double total = ceil((double)b->total_bytes / CT_MIB), first = ceil(total / CT_BUCKETS_MOST);
	double least = INFINITY, enough;

	for (double m = first; m <= total; m++)
		least = fmin(least, exposed_at(b, speed, backward_ns, m, n));
	enough = least + CT_BUCKET_GAIN * fmax(now_ns - least, 0);
	for (double m = total; m >= first; m--) {
		double exposed = exposed_at(b, speed, backward_ns, m, n);

		*mib = m;
		if (exposed <= enough)
			return exposed;
	}
	return INFINITY;
}

/* In each bucket ranks wait for the last of them to come: time of the stream that is neither idle
 * nor transfer. It is had once a bucket, like start-up; more than that is a late rank. */
static struct ct_bucket_speed with_peers(const struct ct_buckets *b,
					 const struct ct_bucket_speed *speed)
{
	double taken = (double)b->busy_ns + (double)b->idle_ns, all = (double)b->window_ns;
	double each = fmax(all - taken, 0) / b->n;

	return (struct ct_bucket_speed){ speed->alpha_ns + fmin(each, speed->alpha_ns),
					 speed->bytes_per_ns };
}

void ct_buckets_advise(const struct ct_buckets *b, const struct ct_bucket_speed *speed,
		       uint64_t step_ns, struct ct_bucket_advice *a)
{
	double exposed = (double)b->exposed_ns, total = (double)b->total_bytes;
	double first = (double)b->bytes[0] / total, off, least, backward, mib = 1,
	       bytes[CT_BUCKETS_MOST];
	struct ct_bucket_speed real;

	*a = (struct ct_bucket_advice){ .model_ns = NAN };
	if (b->n < 2 || !(speed->alpha_ns >= 0) || !(speed->bytes_per_ns > 0) || first >= 1)
		return;
	a->startup_ratio = startup_of(b, speed);
	a->busy_ratio = b->window_ns ? (double)b->busy_ns / (double)b->window_ns : 0;
	a->problem = problem_of(b, step_ns, a);
	real = with_peers(b, speed);
	/* Its first bucket came when its share of the backward pass was done. */
	backward = (double)b->until_stall_ns / (1 - first);
	for (uint32_t i = 0; i < b->n; i++)
		bytes[i] = (double)b->bytes[i];
	a->model_ns = ct_buckets_model(bytes, b->n, b->factor, backward, &real);
	off = fabs(a->model_ns - exposed);
	if (a->problem == CT_BUCKETS_COMM_BOUND ||
	    off > fmax(CT_ALIKE * exposed, CT_WORTH_REPORTING * (double)step_ns))
		return;
	least = fmax(best(b, &real, backward, a->model_ns, &mib, &a->n), 0);
	a->gain_ns = fmin(a->model_ns, exposed) - least;
	a->gain_err_ns = off + (double)b->exposed_err_ns;
	a->cap_bytes = (uint64_t)(mib * CT_MIB);
	if (a->n == b->n || a->gain_ns < CT_BUCKET_GAIN * (double)step_ns ||
	    a->gain_ns <= a->gain_err_ns)
		a->n = 0;
}
