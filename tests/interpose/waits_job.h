/* SPDX-License-Identifier: Apache-2.0 */
/* waits_job.h — two ranks in a process on simulated GPUs, of which rank 0 waits for its
 * communication in one way after the other. The truth is the simulator's, which knows when each
 * stream stood still and when each kernel ran, and the program's own, which knows how long a call
 * kept it. Rank 1 comes late to every operation, so that those of rank 0 take as long as the test
 * says. waits_ways.c has the ways. */
#ifndef CT_TESTS_INTERPOSE_WAITS_JOB_H
#define CT_TESTS_INTERPOSE_WAITS_JOB_H

#include <pthread.h>
#include <stdint.h>

#include "tests/interpose/fake_libnccl.h"
#include "tests/must.h"
#include "tools/sim/cudart.h"
#include "tools/sim/nccl/job.h"

enum { RANKS = 2, MOST = 64, MS = 1000000 };
enum { SAME_STREAM = -1, UNKNOWN = -2, UNSEEN = -3 }; /* instead of an exposed time */

struct interval {
	uint64_t begin_ns, end_ns;
};

/* What the job knows, for the test to see: in memory that both share. */
extern struct truth {
	struct op {
		const char *name;
		struct interval span;
		int what;		     /* 0, or instead of an exposed time */
		struct interval waits[MOST]; /* by begin */
		int n_waits;
	} ops[MOST];
	int n;
	uint64_t misuse;
} * truth;

/* The job itself. */
extern struct job {
	ncclComm_t comms[RANKS];
	cudaStream_t streams[RANKS]; /* of communication */
	cudaStream_t compute, copy, other;
	cudaEvent_t ready, done, hop, hop2;
	float *data[RANKS];
	struct interval waits[MOST]; /* with a relevant wait since the step began */
	int n_waits;
	struct interval spans[MOST]; /* rank 0's kernels */
	int n_spans;
	int n_ops; /* that there should be */
	pthread_mutex_t lock;
} job;

void communicate(int ms); /* rank 0's part takes so long */
void compute(int ms);
void record(cudaEvent_t event, cudaStream_t stream);
void wait_for(cudaStream_t stream, cudaEvent_t event);

/* Rank 0's communication was awaited; the waits of its compute stream are known without it. */
void add_wait(uint64_t begin_ns, uint64_t end_ns);

/* `on_default`: rank 0 communicates on the default stream. */
void set_up(int on_default);
void tear_down(void);

/* One way to wait, for `n` operations; `what` is 0, or is given instead of an exposed time. */
void step(const char *name, void (*way)(void), int n, int what);

/* Jobs. */
void every_way(void);	      /* 24 operations */
void same_stream(void);	      /* 2 */
void static_runtime(void);    /* 2 */
void library_of_theirs(void); /* 2 */

#endif
