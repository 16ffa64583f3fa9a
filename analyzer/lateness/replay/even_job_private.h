/* SPDX-License-Identifier: Apache-2.0 */
/* even_job_private.h — what even_job.c and worst_ranks.c share: an even job in which some compute
 * as recorded. One thread each. */
#ifndef CT_ANALYZER_LATENESS_REPLAY_EVEN_JOB_PRIVATE_H
#define CT_ANALYZER_LATENESS_REPLAY_EVEN_JOB_PRIVATE_H

#include "analyzer/lateness/replay/even_job.h"
#include "analyzer/lateness/replay/limits.h"

struct ct_even {
	struct ct_engine *e;
	int64_t *gap_ns;      /* by launch */
	int64_t *transfer_ns; /* by exchange */
	double time;	      /* of the even job */
	uint8_t *chosen;      /* by slot */
	double *each_ns;      /* by n_steps: of what was played last */
	struct ct_tasks *tasks;
};

/* An even job in which only a stage, or those of a worker, compute as recorded. */
struct ct_even_play {
	void (*choose)(struct ct_even *v, uint32_t which);
	uint32_t which;
	double s;
	double blocks[CT_MOST_BLOCKS]; /* ns that it takes, by blocks of steps */
};

/* How long it takes if the chosen ranks compute as recorded and the others evenly, or the other way
 * round. */
double ct_even_play_chosen(struct ct_even *v, int chosen_are_even);

/* M of the chosen ranks: of S - 1, by how much the run comes nearer to the even job if they compute
 * evenly. */
double ct_even_share_of_chosen(struct ct_even *v);

/* Blocks of steps of a play. */
uint32_t ct_even_n_blocks(const struct ct_engine *engine);

/* M_W, and what it may be, to *job. of_slot: the play that a slot's S is of; NULL: none. 0 or
 * CT_NOMEM. */
int ct_worst_ranks_play(struct ct_even *v, const struct ct_even_play *const *of_slot,
			struct ct_even_job *job);

#endif
