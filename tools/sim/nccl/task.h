/* SPDX-License-Identifier: Apache-2.0 */
/* task.h — what one group wants of one communicator, and the kernels that carry it out: one for all
 * collectives, one after it for all sends and receives (all-to-all, gather and scatter are made of
 * those), and one for puts and signals. */
#ifndef CT_TOOLS_SIM_NCCL_TASK_H
#define CT_TOOLS_SIM_NCCL_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/abi/nccl.h"

enum sim_func {
	SIM_ALL_REDUCE,
	SIM_REDUCE,
	SIM_BROADCAST,
	SIM_REDUCE_SCATTER,
	SIM_ALL_GATHER,
	SIM_SEND,
	SIM_RECV,
	SIM_PUT,
	SIM_SIGNAL,
	SIM_WAIT_SIGNAL
};

struct sim_task {
	enum sim_func func;
	const void *send;
	void *recv;
	size_t count;
	ncclDataType_t type;
	ncclRedOp_t redop; /* ncclSum with scaled for the program's own */
	bool scaled;
	unsigned char scalar[8];
	const void *device_scalar;
	int root;	  /* or peer */
	uint64_t work_ns; /* what it takes, jitter included, once all are there */
	uint64_t seq;	  /* of its kind on the communicator */
	void *api_event;
	bool channels;	      /* the plugin asked for them when it was called */
	uint64_t transfer_ns; /* messages: the part of the bytes */
	int window;	      /* puts: the peer's */
	size_t offset;	      /* in it */
	int n_signals;	      /* to wait for */
};

struct sim_tasks {
	struct sim_task *list;
	size_t n, room;
	int n_ops; /* calls of the program that they stand for */
};

struct sim_plan {
	struct sim_tasks colls, messages, one_sided;
	CUstream *streams; /* in the order in which the group first saw them */
	size_t n_streams, stream_room;
	bool in_group;
	struct ncclComm *next; /* in the group */
};

/* The kernel's own copy. */
struct sim_launch {
	struct ncclComm *comm;
	uint64_t number;
	CUstream stream;
	struct sim_tasks tasks;
	struct sim_notices *notices; /* events.h */
	bool captured; /* runs at each launch of its graph, and has a number only then */
	uint64_t first, runs;
};

struct sim_comm_wait;

/* Carry out tasks from start_ns on, waiting as `wait` says. Return the end in sim time without
 * skew; 0 if stopped. */
uint64_t sim_run_colls(struct sim_launch *launch, uint64_t start_ns,
		       const struct sim_comm_wait *wait);
uint64_t sim_run_messages(struct sim_launch *launch, uint64_t start_ns,
			  const struct sim_comm_wait *wait);
uint64_t sim_run_one_sided(struct sim_launch *launch, uint64_t start_ns,
			   const struct sim_comm_wait *wait);

/* Bytes that a task reads and writes here. */
size_t sim_task_send_bytes(const struct sim_task *task, int rank, int n_ranks);
size_t sim_task_recv_bytes(const struct sim_task *task, int rank, int n_ranks);

/* Puts the plan's kernels on its streams and empties it, also if that fails. */
ncclResult_t sim_plan_launch(struct ncclComm *comm);
void sim_plan_clear(struct sim_plan *plan);

/* The capture that all of the plan's streams are in, 0: none. ncclInvalidUsage if it is not the
 * same for all. */
ncclResult_t sim_plan_capture(struct ncclComm *comm, uint64_t *capture);
bool sim_plan_add(struct sim_tasks *tasks, const struct sim_task *task);

/* The stream gets its position in the group's order. */
bool sim_plan_see(struct sim_plan *plan, CUstream stream);

#endif
