/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h — which ranks have the same work to do: those of one pipeline stage; all of them where
 * there is no pipeline.
 *
 * A pipeline is a chain of ranks that send to each other, at most two neighbours each, in which one
 * rank begins every step with a send and all others with a receive. Neighbours that exchange
 * (halos) all begin alike, and are not stages; nor are ranks of MPI. One thread. */
#ifndef CT_ANALYZER_LATENESS_REPLAY_STAGES_H
#define CT_ANALYZER_LATENESS_REPLAY_STAGES_H

#include "analyzer/lateness/replay/schedule.h"
#include "analyzer/steps/steps.h"

struct ct_stages {
	uint32_t n;	    /* 1: no pipeline */
	uint32_t *stage_of; /* by slot */
	uint32_t *slots;    /* of stage k: slots[first[k]] .. slots[first[k + 1] - 1], sorted; only
			       those with launches */
	uint32_t *first;
	uint32_t *worker_of; /* by slot: its index in its stage. Ranks of one index are one
			       data-parallel worker */
	uint32_t most;	     /* ranks of the largest stage */
};

/* 0 or CT_NOMEM; ct_stages_fini() in any case. */
int ct_stages_find(struct ct_stages *stages, const struct ct_schedule *schedule,
		   const struct ct_steps *steps);
void ct_stages_fini(struct ct_stages *stages);

/* Ranks of a stage. */
static inline uint32_t ct_stage_size(const struct ct_stages *stages, uint32_t stage)
{
	return stages->first[stage + 1] - stages->first[stage];
}

#endif
