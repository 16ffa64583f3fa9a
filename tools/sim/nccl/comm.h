/* SPDX-License-Identifier: Apache-2.0 */
/* comm.h — a rank's end of a communicator: the object behind ncclComm_t.
 *
 * It lives as long as the program holds the handle or a kernel, a job or a group needs it (counted
 * references); then its memory goes to the next communicator that is made, so that handles come
 * back as in the real library.
 */
#ifndef CT_TOOLS_SIM_NCCL_COMM_H
#define CT_TOOLS_SIM_NCCL_COMM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "interpose/abi/nccl.h"
#include "tools/sim/nccl/shared.h"
#include "tools/sim/nccl/task.h"

#define SIM_HOST UINT64_MAX /* instead of a launch: a wait of the host's */

/* This rank's side of its pair with another rank; only its kernels touch it. */
struct sim_peer {
	uint32_t sent, received;	   /* messages */
	uint64_t sent_bytes[SIM_MESSAGES]; /* in all, up to and with message i */
	uint64_t total;
	uint32_t signals; /* of it that were waited for */
};

struct sim_redop {
	bool used;
	ncclDataType_t type;
	unsigned char scalar[8];
	const void *device_scalar; /* not NULL: counts instead of scalar, when a kernel runs */
};

struct ncclComm {
	uint32_t magic; /* first: says whether a handle is one */
	_Atomic uint32_t refs;
	struct ncclComm *next_free;

	struct sim_view view;
	int rank, n_ranks, device;
	CUcontext context;
	struct sim_member self; /* what the others see */
	uint64_t hash;
	uint64_t id_magic; /* of the unique id; of a child its hash */
	bool blocking;
	char name[64];
	int n_splits, n_shrinks, n_grows, n_children; /* split and grown */
	int n_grow_ids, n_windows;
	bool finalized, suspended;

	_Atomic int async;	    /* ncclInProgress while a nonblocking call is at work */
	_Atomic int failed;	    /* simNcclFail() */
	_Atomic bool stuck;	    /* its kernels move nothing */
	_Atomic uint64_t breaks_at; /* the first launch that is stuck, or lingers */
	_Atomic bool lingers;	    /* its kernels move everything and do not end */
	_Atomic bool aborted, revoked;
	_Atomic uint64_t cancelled;	   /* launches before this one end without more ado */
	_Atomic uint32_t background;	   /* nonblocking groups at work on it */
	_Atomic uint32_t kernels, running; /* launched and not done; inside run() */
	_Atomic(_Atomic uint32_t *) kernel_sleeps, host_sleeps;

	struct sim_plan plan; /* of the group that is open */
	struct sim_redop *redops;
	int n_redops;

	void *profiler; /* the plugin's context; NULL without one */
	_Atomic uint32_t
		unreported; /* launches whose kernels the plugin has not been informed of in full */

	_Atomic uint64_t
		launches; /* by the thread that launches, and by captured kernels when they run */
	/* Of the thread that launches. */
	uint64_t colls, messages, seqs[SIM_SEND];
	CUevent done; /* behind the last kernel: the next one waits for it, whatever its stream */
	bool done_recorded;

	/* Of its kernels, which run one after the other. */
	uint32_t step;
	struct sim_peer *peers;
};

/* A new one with one reference, the program's; NULL without memory. Rank, device and context are
 * the caller's to set. */
struct ncclComm *sim_comm_new(void);
void sim_comm_keep(struct ncclComm *comm);
void sim_comm_drop(struct ncclComm *comm);

/* ncclInvalidArgument, counted as misuse, if the handle is NULL or no communicator (any more).
 * `call`: __func__. */
ncclResult_t sim_comm_check(const struct ncclComm *comm, const char *call);

/* sim_comm_check(), and that it is not at work: ncclInvalidArgument while a nonblocking call is,
 * its error after that. */
ncclResult_t sim_comm_ready(struct ncclComm *comm, const char *call);

/* The waiting side on its behalf: `launch` or SIM_HOST. */
struct sim_comm_wait {
	struct sim_waiter waiter;
	struct ncclComm *comm;
	uint64_t launch;
};
void sim_comm_waiter(struct sim_comm_wait *wait, struct ncclComm *comm, uint64_t launch);

/* Ends all kernels of launches before `launch`, and with `host` also what the host waits for;
 * returns when none of them runs any more. */
void sim_comm_cancel(struct ncclComm *comm, uint64_t launch, bool host);

/* Counts down, and waits for zero: kernels, running, background. */
void sim_comm_less(_Atomic uint32_t *count);
void sim_comm_await(struct ncclComm *comm, _Atomic uint32_t *count, bool until_aborted);

#endif
