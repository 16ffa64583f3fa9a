/* SPDX-License-Identifier: Apache-2.0 */
/* buckets.h — gradient buckets: what their sizes cost, and which size would cost less.
 *
 * Buckets are AllReduces or ReduceScatters of one communicator that come in each step in the same
 * sequence of at least two sizes. A bucket is ready when its share of the backward pass of length T
 * is done; the stream takes one after the other, each X = alpha + S f / B:
 *
 *     ready_i = T (S_1 + ... + S_i) / (S_1 + ... + S_n)      end_i = max(end_{i-1}, ready_i) + X_i
 * exposed = end_n - T
 *
 * For n equal buckets this is max(X(G/n), n alpha + G f / B - T (1 - 1/n)). Nothing is suggested
 * unless this agrees with what was measured of the buckets as they are. Pure functions. */
#ifndef CT_ANALYZER_OVERLAP_BUCKETS_H
#define CT_ANALYZER_OVERLAP_BUCKETS_H

#include "analyzer/overlap/cuts.h"
#include "analyzer/overlap/exposures.h"
#include "analyzer/stream/instance_log.h"

#define CT_MIB 1048576.0     /* fact: bytes */
#define CT_BUCKETS_MOST 512u /* size: buckets of a step */

/* One step's buckets; times are medians over steps and some of the ranks. */
struct ct_buckets {
	const struct ct_comm *comm;
	unsigned op;
	uint32_t n;
	uint64_t bytes[CT_BUCKETS_MOST]; /* S of each, in their order */
	uint64_t total_bytes;
	double factor;	     /* f */
	uint64_t steps;	     /* that have this sequence ... */
	uint64_t last_ns;    /* X of the last bucket */
	uint64_t busy_ns;    /* sum of X */
	uint64_t window_ns;  /* from the first's start to the last's end */
	uint64_t idle_ns;    /* of the stream before the last one's start */
	uint64_t exposed_ns; /* for which the rank waited for them */
	uint64_t exposed_err_ns;
	uint64_t until_stall_ns; /* from the first's start until it began to */
};

/* How fast they are: X = alpha + bytes * f / B. */
struct ct_bucket_speed {
	double alpha_ns;
	double bytes_per_ns; /* B */
};

enum ct_bucket_problem {
	CT_BUCKETS_FINE,
	CT_BUCKETS_TOO_SMALL,  /* start-up costs more than a fifth of the median bucket */
	CT_BUCKETS_LAST_LATE,  /* the last one takes long, and there had been time for it before */
	CT_BUCKETS_COMM_BOUND, /* the stream is busy all the time: sizes do not help */
};

struct ct_bucket_advice {
	enum ct_bucket_problem problem;
	double startup_ratio; /* of the median bucket: alpha / X */
	double busy_ratio;    /* of the window */
	double model_ns;      /* exposed by the model, as they are */
	uint32_t n; /* buckets that would be best; 0: the model does not hold, or there is nothing
		       to gain */
	uint64_t cap_bytes;	     /* size of each, up to the next MiB */
	double gain_ns, gain_err_ns; /* in a step */
};

/* exposed by the model above; negative: done before the backward pass is. */
double ct_buckets_model(const double *bytes, uint32_t n, double factor, double backward_ns,
			const struct ct_bucket_speed *speed);

/* Pure arithmetic. */
void ct_buckets_advise(const struct ct_buckets *buckets, const struct ct_bucket_speed *speed,
		       uint64_t step_ns, struct ct_bucket_advice *advice);

/* The buckets of every communicator that has any, one call each; nonzero from `each` stops and is
 * returned. Only where the waits of ranks are known (`waits_known` by slot). step_of:
 * ct_cuts_of_log(). 0, CT_NOMEM or what `each` returned. */
typedef int (*ct_buckets_fn)(void *arg, const struct ct_buckets *buckets);
int ct_buckets_each(const struct ct_instance_log *log, const struct ct_exposures *stalls,
		    const uint32_t *step_of, const uint8_t *waits_known, ct_buckets_fn each,
		    void *arg);

#endif
