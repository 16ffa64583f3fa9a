/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h — what a step of the job is, and when one begins.
 *
 * A step is a period of the largest communicator's collectives: so many of them. Where nothing
 * repeats, it is the period of the operations alone, whatever their sizes; or else a single
 * collective, so that the reported value is throughput. All ranks have the same steps, since all of
 * them are in those collectives. The poll thread.
 */
#ifndef CT_INTERPOSE_GPU_CHOICE_STEPS_H
#define CT_INTERPOSE_GPU_CHOICE_STEPS_H

#include <stdint.h>

#include "interpose/gpu/choice/period.h"
#include "trace/format.h"

/* size: communicators that are compared with the largest; beyond, some of them are looked up again
 * and again. */
#define CT_GPU_STEPS_COMMS 256u
/* tuning: a pause, for a checkpoint or an evaluation, is one long step, not so many in a row. */
#define CT_GPU_STEPS_LATEST 4u

struct ct_gpu_steps {
	struct ct_gpu_steps_comm {
		uint32_t id, nranks;
		uint64_t collectives;
	} known[CT_GPU_STEPS_COMMS], largest;
	const struct ct_ring_comm *entry; /* of the largest; NULL: none */
	int is_sampled; /* not all launches are reported: no period is ever seen */
	struct ct_gpu_period period;
	uint64_t first_ns;    /* when it was first looked for; 0 not yet */
	uint64_t searched_ns; /* and the last time */
	enum ct_step_kind kind;
	uint32_t collectives; /* of a step, if there is a kind */
	/* of the last look, and of the latest step; 0 not known */
	uint64_t looked_ns, step, began_ns;
	uint64_t lasted_ns[CT_GPU_STEPS_LATEST];
	uint32_t n;
};

void ct_gpu_steps_init(struct ct_gpu_steps *steps, int is_sampled);

/* A launch of `n` collectives of communicator `comm`, the first of which is number `seq`; `what`:
 * ct_gpu_period_what(). 1: the largest communicator is another one now, and steps are not known. */
int ct_gpu_steps_launch(struct ct_gpu_steps *steps, uint32_t comm, uint64_t seq, uint32_t n,
			uint64_t what);

/* What is a step? Looks once in `each_ns`. 1: something else from now on. */
int ct_gpu_steps_search(struct ct_gpu_steps *steps, uint64_t now_ns, uint64_t each_ns);

/* Has a step begun since the last look? Its number is `step` then, and *at_ns says when, to within
 * a look. */
int ct_gpu_steps_follow(struct ct_gpu_steps *steps, uint64_t now_ns, uint64_t *at_ns);

/* When the latest collective of the largest communicator was called; 0: there is none. */
uint64_t ct_gpu_steps_last_ns(const struct ct_gpu_steps *steps);

/* The shortest of the latest steps, 0: not known. */
uint64_t ct_gpu_steps_shortest_ns(const struct ct_gpu_steps *steps);

#endif
