/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/clock_job.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define RANKS_MAX 64

double clock_job_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

static double between(uint64_t *state, double from, double to)
{
	return from + (to - from) * clock_job_random(state);
}

static double normal(uint64_t *state)
{
	double r = sqrt(-2 * log(1 - clock_job_random(state)));

	return r * cos(2 * M_PI * clock_job_random(state));
}

static double or_default(double value, double otherwise)
{
	return value > 0 ? value : otherwise;
}

static void make_clocks(struct clock_job *j, uint64_t *dice)
{
	double off = or_default(j->offset_s, 0.05), drift = or_default(j->drift, 20e-6);

	j->walk_n = (int)j->seconds + 20;
	j->walk = calloc((size_t)(j->hosts * j->walk_n), sizeof(*j->walk));
	assert_non_null(j->walk);
	for (int h = 0; h < j->hosts; h++) {
		double *walk = &j->walk[h * j->walk_n], rate = 0;

		j->base[h] = 1000000000ull * (7919ull * (uint64_t)(h + 1));
		j->off[h] = between(dice, -off, off);
		j->rate[h] = between(dice, -drift, drift);
		for (int s = 1; s < j->walk_n; s++) {
			rate += j->wander * normal(dice);
			walk[s] = walk[s - 1] + rate;
		}
	}
}

uint64_t clock_job_local(const struct clock_job *j, int h, double t)
{
	const double *walk = &j->walk[h * j->walk_n];
	int s = t < 0 ? 0 : (int)t;
	double shown;

	if (s > j->walk_n - 2)
		s = j->walk_n - 2;
	shown = t + j->off[h] + j->rate[h] * t + walk[s] + (t - s) * (walk[s + 1] - walk[s]);
	if (j->stepped == h + 1 && t >= j->step_at)
		shown += j->step_s;
	return j->base[h] + (uint64_t)llround(shown * 1e9);
}

/* When the members of one operation came and left. */
struct times {
	double start[RANKS_MAX], end[RANKS_MAX];
};

static void add(struct clock_job *j, struct ct_clock_points *points, uint64_t *dice,
		const struct times *t, const struct times *before, const double *jitter, int kind)
{
	struct ct_clock_member m[RANKS_MAX];
	struct ct_clock_event event = { .kind = CT_CLOCK_SYNC,
					.members = m,
					.n = (uint32_t)(j->hosts * j->per_host),
					.no_ends = j->no_ends,
					.stratum = 1 + (uint64_t)kind };

	for (uint32_t r = 0; r < event.n; r++) {
		int h = (int)r / j->per_host;
		const struct times *from = j->shifted == h + 1 && kind && before ? before : t;
		double err = j->published_us > 0 ? j->published_us * 1e3 : jitter[r] * 1e9;

		m[r] = (struct ct_clock_member){
			.start_ns = clock_job_local(
				j, h, from->start[r] + jitter[r] * clock_job_random(dice)),
			.end_ns = clock_job_local(
				j, h, from->end[r] + jitter[r] * clock_job_random(dice)),
			.start_err_ns = (uint32_t)err,
			.end_err_ns = (uint32_t)err,
			.host = (uint32_t)h,
			.slot = r,
		};
	}
	assert_int_equal(ct_clock_points_add(points, &event), 0);
}

void clock_job_run(struct clock_job *j, struct ct_clock_points *points)
{
	uint64_t dice = 0x5851f42d4c957f2dull * (j->seed + 1);
	double free[RANKS_MAX] = { 0 }, jitter[RANKS_MAX], skew[RANKS_MAX];
	struct times small[2];
	int ranks, large = j->large ? j->large : 12, n_small = 0;

	j->hosts = j->hosts ? j->hosts : 8;
	j->per_host = j->per_host ? j->per_host : 8;
	j->seconds = or_default(j->seconds, 300);
	ranks = j->hosts * j->per_host;
	assert_true(ranks <= RANKS_MAX);
	make_clocks(j, &dice);
	for (int r = 0; r < ranks; r++) {
		jitter[r] = between(&dice, or_default(j->jitter_from_us, 5),
				    or_default(j->jitter_to_us, 50)) *
			    1e-6;
		skew[r] = between(&dice, 0, or_default(j->skew_us, 10)) * 1e-6;
		if (r == 2 * j->per_host)
			skew[r] += j->late_rank_us * 1e-6;
	}
	for (j->end_s = 0; j->end_s < j->seconds;) {
		double gap = or_default(j->step, 0.5) / (large + 1) * 0.9;

		for (int op = 0; op < large + !j->no_small; op++) {
			int is_small = op == large;
			double x = is_small ? 35e-6 * between(&dice, 0.9, 1.3)
					    : 1.2e-3 * between(&dice, 0.97, 1.1);
			struct times t;
			double last = 0;

			for (int r = 0; r < ranks; r++) {
				double c = is_small ? between(&dice, 20e-6, 200e-6)
						    : gap * exp(0.01 * normal(&dice));

				if (!is_small && j->straggler == r / j->per_host + 1)
					c += gap * 0.1;
				t.start[r] = free[r] + c;
				last = fmax(last, t.start[r]);
			}
			for (int r = 0; r < ranks; r++) {
				t.end[r] = last + x + skew[r] -
					   2e-6 * log(1 - clock_job_random(&dice));
				free[r] = t.end[r];
			}
			add(j, points, &dice, &t, n_small ? &small[0] : NULL, jitter, is_small);
			if (is_small) {
				small[0] = t;
				n_small++;
			}
			j->end_s = last;
		}
	}
}

void clock_job_fini(struct clock_job *j)
{
	free(j->walk);
	j->walk = NULL;
}
