/* SPDX-License-Identifier: Apache-2.0 */
/* rank.h — one rank: a thread with a device, its communicators, streams and events.
 *
 * All of it belongs to the rank's thread, except `comms` and `failing`, which the process's
 * watchdog looks at too: changed, and read by others, only with `lock` held.
 */
#ifndef CT_TOOLS_SIM_JOB_RANK_H
#define CT_TOOLS_SIM_JOB_RANK_H

#include <pthread.h>

#include "tools/sim/cudart.h"
#include "tools/sim/job/data.h"
#include "tools/sim/job/journal.h"
#include "tools/sim/job/lag.h"
#include "tools/sim/job/simjob.h"

enum { SIMJOB_OWN_LANE, SIMJOB_WATCHDOG_LANE };

struct simjob_rank {
	struct simjob *job;
	struct simjob_rank_board *board;
	int rank, device;
	struct simjob_journal *journal; /* NULL: none is kept */
	struct simjob_data *data;
	struct simjob_lag lag;
	struct simjob_graphs *graphs; /* NULL: everything is put on streams by itself */
	ncclComm_t *comms;     /* of the workload's communicators, NULL: not a member, not there */
	cudaStream_t *streams; /* by the workload's numbers, NULL: the default stream */
	cudaEvent_t *events;   /* by the workload's numbers, NULL: not made */
	size_t n_events;
	uint64_t abort_after_ns; /* stuck work is aborted after so long; 0: never */
	uint64_t abort_takes_ns; /* and its kernels end so long after that */
	ncclComm_t failing;	 /* gets an asynchronous error at fail_at_ns; NULL: none does */
	uint64_t fail_at_ns;
	pthread_mutex_t lock;
	_Atomic int is_aborting;
	pthread_t thread;
};

/* Do all that the rank does; the argument and the return value of its thread. */
void *simjob_rank_run(void *rank);

/* Abort all communicators of the rank, as a process group's watchdog does; from any thread. */
void simjob_rank_abort(struct simjob_rank *r, int lane);

/* End the process with status 1: `call` failed for this reason. Also noted on the board. */
void simjob_rank_fail(struct simjob_rank *r, const char *call, const char *why)
	__attribute__((noreturn));
void simjob_exit(int code) __attribute__((noreturn));

/* NCCL's calls for the actions of a workload: errors end the process, and the journal is kept. */
void simjob_nccl_init(struct simjob_rank *r, int comm);
void simjob_nccl_split(struct simjob_rank *r, const struct ct_action *action);
void simjob_nccl_finalize(struct simjob_rank *r, int comm);
void simjob_nccl_destroy(struct simjob_rank *r, int comm);
void simjob_nccl_group(struct simjob_rank *r, int is_end);
void simjob_nccl_op(struct simjob_rank *r, const struct ct_action *action);

/* The transport of a communicator breaks: from now on it hangs, which is noticed, as an
 * asynchronous error, when the rank has got as far as it can. */
void simjob_nccl_break(struct simjob_rank *r, int comm);

/* Look at all communicators once, as a watchdog does; what is wrong with one, ncclSuccess if
 * nothing. */
ncclResult_t simjob_nccl_async_error(struct simjob_rank *r);

#define SIMJOB_CUDA(r, call, args)                                                                 \
	do {                                                                                       \
		cudaError_t error_ = call args;                                                    \
		if (error_)                                                                        \
			simjob_rank_fail(r, #call, cudaGetErrorString(error_));                    \
	} while (0)

#endif
