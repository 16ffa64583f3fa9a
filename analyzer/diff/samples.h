/* SPDX-License-Identifier: Apache-2.0 */
/* samples.h — how long the transfers of each kind of operation took over the course of a run, for
 * comparing it with another run.
 *
 * A run is cut into at most CT_DIFF_BLOCKS blocks of time, which double in length as it goes on. Of
 * each kind (communicator, operation, element type, size range) and block there is the mean of the
 * logarithms: memory follows the kinds, not the length of the run. One thread. A zeroed struct is
 * empty. */
#ifndef CT_ANALYZER_DIFF_SAMPLES_H
#define CT_ANALYZER_DIFF_SAMPLES_H

#include "analyzer/base/keyed.h"
#include "analyzer/stream/stream.h"

/* size: of the memory of a kind. A test sees an effect of one standard deviation with 30; a block
 * averages over steps. */
#define CT_DIFF_BLOCKS 64u

struct ct_diff_block {
	double log_ns; /* sum */
	uint64_t n;
};

struct ct_diff_kind {
	uint64_t comm_hash, size_range;
	uint32_t comm_size; /* ranks */
	unsigned op, dtype; /* op 0: a group of several; CT_DIFF_STEP */
	enum ct_grouped grouped;
	uint64_t err_ns; /* sum over operations: of each the largest error of a member's span; of
			    steps theirs */
	struct ct_diff_block blocks[CT_DIFF_BLOCKS];
};

/* op: */
#define CT_DIFF_STEP UINT32_MAX		/* the steps of the run */
#define CT_DIFF_SAMPLE (UINT32_MAX - 1) /* code: the job's time for a sample, as it marked them */
#define CT_DIFF_IS_RUN(op) ((op) >= CT_DIFF_SAMPLE) /* it is about the whole run */

struct ct_diff_samples {
	struct ct_keyed kinds; /* struct ct_diff_kind */
	unsigned shift;	       /* of ns since the run began: a block */
};

/* Fill them from a reading. The samples outlive it. */
void ct_diff_samples_observe(struct ct_diff_samples *samples, struct ct_observer *observer);

/* A step that began so long after the run and took so long, with an error. 0 or CT_NOMEM. */
int ct_diff_samples_add_step(struct ct_diff_samples *samples, uint64_t at_ns, uint64_t ns,
			     uint64_t err_ns);

/* The rate of samples of one block, 0 to CT_DIFF_BLOCKS - 1. 0 or CT_NOMEM. */
int ct_diff_samples_add_rate(struct ct_diff_samples *samples, size_t block, double per_s);

void ct_diff_samples_fini(struct ct_diff_samples *samples);

#endif
