/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_sums.h — what a large recorded process left behind, counted. */
#ifndef CT_TESTS_INTERPOSE_RECORDED_SUMS_H
#define CT_TESTS_INTERPOSE_RECORDED_SUMS_H

#include "tests/interpose/recorded.h"

enum { SUMS_COMMS = 16384 };

struct recorded_comm {
	uint64_t key;
	uint32_t nranks;
	int32_t rank;
	int has_ended;
	uint64_t collectives, messages; /* operations */
	uint64_t first_seq, last_seq;	/* of the collectives */
	uint64_t last_message;		/* seq of the last message, in time */
};

struct recorded_sums {
	uint64_t ops, launches, hosts;
	uint64_t repeated; /* collectives with a seq that another one of their communicator has */
	uint64_t losses[CT_LOSS_MAX];
	uint32_t n_comms;
	size_t processes;
	struct recorded_comm comms[SUMS_COMMS]; /* by id from 1: at id - 1 */
};

/* Of the process `index` of the last recorded_run(). Static: the next call overwrites it. */
const struct recorded_sums *recorded_sums(size_t index);

#endif
