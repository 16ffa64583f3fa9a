/* SPDX-License-Identifier: Apache-2.0 */
/* ops.c — the calls that move data: their checks, and what they add to the group's plan. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/driver.h"
#include "tools/sim/nccl/events.h"
#include "tools/sim/nccl/group.h"
#include "tools/sim/nccl/log.h"
#include "tools/sim/nccl/model.h"
#include "tools/sim/nccl/redop.h"
#include "tools/sim/nccl/reduce.h"

/* The calls that are made of sends and receives. */
enum { NO_SPREAD, ALL_TO_ALL, GATHER, SCATTER };

struct op {
	const char *call; /* __func__ of the exported function */
	struct ncclComm *comm;
	CUstream stream;
	int spread;
	struct sim_task task;
};

static ncclResult_t refuse(const struct op *op, const char *why)
{
	sim_nccl_misuse(op->call, why);
	return ncclInvalidArgument;
}

/* The real library looks at pointers only when asked to; without, the kernel faults. */
static bool pointer_is_bad(const void *p, size_t bytes)
{
	const char *asked = getenv("NCCL_CHECK_POINTERS");

	return asked && asked[0] == '1' && bytes && sim_driver()->simCheckRange(p, bytes);
}

static ncclResult_t check(struct op *op)
{
	const struct ncclComm *comm = op->comm;
	struct sim_task *t = &op->task;
	ncclResult_t result = ncclSuccess;

	if (comm->revoked) {
		sim_nccl_misuse(op->call, "the communicator was revoked");
		return ncclInvalidUsage;
	}
	if (comm->suspended) {
		sim_nccl_misuse(op->call, "the communicator is suspended");
		return ncclInvalidUsage;
	}
	if (t->root < 0 || t->root >= comm->n_ranks)
		return refuse(op, "root or peer outside the communicator");
	if (!sim_type_bytes(t->type))
		return refuse(op, "no such type");
	if (t->func == SIM_ALL_REDUCE || t->func == SIM_REDUCE || t->func == SIM_REDUCE_SCATTER)
		result = sim_redop_resolve(comm, op->call, t);
	if (!result && !op->spread &&
	    (pointer_is_bad(t->send, sim_task_send_bytes(t, comm->rank, comm->n_ranks)) ||
	     pointer_is_bad(t->recv, sim_task_recv_bytes(t, comm->rank, comm->n_ranks))))
		return refuse(op, "a buffer is not a valid pointer");
	return result;
}

/* What each rank sends over its link of the ring. */
static double wire_bytes(const struct sim_task *t, int n)
{
	double bytes = (double)t->count * (double)sim_type_bytes(t->type);

	switch (t->func) {
	case SIM_ALL_REDUCE:
		return bytes * 2 * (n - 1) / n;
	case SIM_REDUCE_SCATTER:
	case SIM_ALL_GATHER:
		return bytes * (n - 1);
	default:
		return bytes;
	}
}

static bool add_coll(struct ncclComm *comm, struct sim_task *t)
{
	t->work_ns = sim_model_ring(comm->view.members, comm->n_ranks,
				    wire_bytes(t, comm->n_ranks));
	t->work_ns = sim_model_jitter(t->work_ns, comm->hash, 0, comm->colls++);
	if (comm->plan.colls.n) /* of a fused kernel, only the first pays for the start */
		t->work_ns -= sim_model_jitter(sim_model_ring(comm->view.members, comm->n_ranks, 0),
					       comm->hash, 0, comm->colls - 1);
	t->seq = comm->seqs[t->func]++;
	comm->plan.colls.n_ops++;
	return sim_plan_add(&comm->plan.colls, t);
}

static bool add_message(struct ncclComm *comm, struct sim_task *t)
{
	const struct sim_member *me = &comm->view.members[comm->rank];
	const struct sim_member *peer = &comm->view.members[t->root];
	bool sends = t->func == SIM_SEND;

	t->work_ns = sim_model_message(sends ? me : peer, sends ? peer : me,
				       t->count * sim_type_bytes(t->type), &t->transfer_ns);
	/* Only the sender's figure counts, so it need not be the receiver's. */
	t->work_ns = sim_model_jitter(t->work_ns, comm->hash, 1 + (unsigned)comm->rank,
				      comm->messages++);
	return sim_plan_add(&comm->plan.messages, t);
}

/* Sends to, or receives from, one rank: block `at` of the buffer. */
static bool add_block(const struct op *op, enum sim_func func, int peer, int at)
{
	struct sim_task t = op->task;
	size_t offset = (size_t)at * t.count * sim_type_bytes(t.type);

	bool ok;

	t.func = func;
	t.root = peer;
	if (func == SIM_SEND)
		t.send = (const char *)t.send + offset;
	else
		t.recv = (char *)t.recv + offset;
	sim_events_call(op->comm, &t, func == SIM_SEND ? "Send" : "Recv", true, op->stream);
	ok = add_message(op->comm, &t);
	sim_events_return(&t);
	return ok;
}

static bool add_spread(const struct op *op)
{
	struct ncclComm *comm = op->comm;
	int root = op->task.root;
	bool all = op->spread == ALL_TO_ALL;
	bool ok = true;

	comm->plan.messages.n_ops++;
	if (!all && comm->rank != root)
		return add_block(op, op->spread == GATHER ? SIM_SEND : SIM_RECV, root, 0);
	for (int i = 0; i < comm->n_ranks && ok; i++) {
		int peer = (comm->rank + i) % comm->n_ranks;
		bool self = peer == comm->rank;

		if (all || op->spread == SCATTER || self)
			ok = add_block(op, SIM_SEND, peer, op->spread == GATHER ? 0 : peer);
		if (ok && (all || op->spread == GATHER || self))
			ok = add_block(op, SIM_RECV, peer, op->spread == SCATTER ? 0 : peer);
	}
	return ok;
}

/* A communicator of one rank only copies, at once, whatever the group. */
static ncclResult_t copy_alone(struct op *op)
{
	const struct sim_driver *d = sim_driver();
	struct sim_task *t = &op->task;
	size_t bytes = t->count * sim_type_bytes(t->type);
	CUcontext popped;
	CUresult failed;

	if (t->send == t->recv)
		return ncclSuccess;
	failed = d->cuCtxPushCurrent_v2(op->comm->context);
	if (failed)
		return ncclUnhandledCudaError;
	failed = d->cuMemcpyDtoDAsync_v2((CUdeviceptr)t->recv, (CUdeviceptr)t->send, bytes,
					 op->stream);
	d->cuCtxPopCurrent_v2(&popped);
	return failed ? ncclUnhandledCudaError : ncclSuccess;
}

/* A pre-multiplied sum alone is a kernel of its own, launched at once as well, apart from what the
 * group has so far. */
static ncclResult_t scale_alone(struct op *op)
{
	struct ncclComm *comm = op->comm;
	struct sim_plan whole = comm->plan;
	ncclResult_t result = ncclSystemError;

	memset(&comm->plan, 0, sizeof(comm->plan));
	if (sim_plan_see(&comm->plan, op->stream) && add_coll(comm, &op->task))
		result = sim_plan_launch(comm);
	sim_plan_clear(&comm->plan);
	comm->plan = whole;
	return result;
}

static ncclResult_t append(struct op *op)
{
	struct ncclComm *comm = op->comm;
	struct sim_task *t = &op->task;
	bool message = t->func == SIM_SEND || t->func == SIM_RECV;
	ncclResult_t result;
	bool ok;

	if (!t->count && (!message || op->spread))
		return ncclSuccess;
	if (comm->n_ranks == 1 && (!message || op->spread))
		return t->scaled ? scale_alone(op) : copy_alone(op);
	result = sim_group_join(comm);
	if (result)
		return result;
	if (!sim_plan_see(&comm->plan, op->stream))
		return ncclSystemError;
	if (!op->spread)
		sim_events_call(comm, t, op->call + 5, message, op->stream);
	if (op->spread)
		ok = add_spread(op);
	else if (message)
		ok = add_message(comm, t);
	else
		ok = add_coll(comm, t);
	if (!op->spread)
		sim_events_return(t);
	comm->plan.messages.n_ops += message && !op->spread;
	return ok ? ncclSuccess : ncclSystemError;
}

static ncclResult_t enqueue(struct op *op)
{
	struct ncclComm *comm = op->comm;
	ncclResult_t result = sim_comm_check(comm, op->call);
	ncclResult_t ended;

	if (result) {
		sim_group_error(result);
		return result;
	}
	sim_comm_keep(comm);
	sim_group_start();
	result = sim_comm_ready(comm, op->call);
	if (!result)
		result = check(op);
	if (!result) {
		sim_info(comm->device,
			 "%s: opCount %lx sendbuff %p recvbuff %p count %zu datatype %d op %d root "
			 "%d "
			 "comm %p [nranks=%d] stream %p",
			 op->call + 5, (unsigned long)comm->colls, op->task.send, op->task.recv,
			 op->task.count, (int)op->task.type, (int)op->task.redop, op->task.root,
			 (void *)comm, comm->n_ranks, (void *)op->stream);
		result = append(op);
	}
	sim_group_error(result);
	ended = sim_group_end(false);
	if (!result)
		result = ended;
	if (!comm->blocking && (!result || result == ncclInProgress))
		ncclCommGetAsyncError(comm, &result);
	sim_comm_drop(comm);
	return result;
}

static ncclResult_t coll(const char *call, enum sim_func func, const void *send, void *recv,
			 size_t count, ncclDataType_t type, ncclRedOp_t redop, int root,
			 ncclComm_t comm, cudaStream_t stream)
{
	struct op op = { call,
			 comm,
			 stream,
			 NO_SPREAD,
			 { .func = func,
			   .send = send,
			   .recv = recv,
			   .count = count,
			   .type = type,
			   .redop = redop,
			   .root = root } };

	return enqueue(&op);
}

static ncclResult_t spread(const char *call, int how, const void *send, void *recv, size_t count,
			   ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream)
{
	struct op op = { call,
			 comm,
			 stream,
			 how,
			 { .func = SIM_SEND,
			   .send = send,
			   .recv = recv,
			   .count = count,
			   .type = type,
			   .root = root } };

	return enqueue(&op);
}

SIM_NCCL(ncclResult_t, ncclAllReduce,
	 (const void *send, void *recv, size_t count, ncclDataType_t type, ncclRedOp_t redop,
	  ncclComm_t comm, cudaStream_t stream))
{
	return coll(__func__, SIM_ALL_REDUCE, send, recv, count, type, redop, 0, comm, stream);
}

SIM_NCCL(ncclResult_t, ncclReduce,
	 (const void *send, void *recv, size_t count, ncclDataType_t type, ncclRedOp_t redop,
	  int root, ncclComm_t comm, cudaStream_t stream))
{
	return coll(__func__, SIM_REDUCE, send, recv, count, type, redop, root, comm, stream);
}

SIM_NCCL(ncclResult_t, ncclBroadcast,
	 (const void *send, void *recv, size_t count, ncclDataType_t type, int root,
	  ncclComm_t comm, cudaStream_t stream))
{
	return coll(__func__, SIM_BROADCAST, send, recv, count, type, ncclSum, root, comm, stream);
}

SIM_NCCL(ncclResult_t, ncclBcast,
	 (void *buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
	  cudaStream_t stream))
{
	return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

SIM_NCCL(ncclResult_t, ncclReduceScatter,
	 (const void *send, void *recv, size_t count, ncclDataType_t type, ncclRedOp_t redop,
	  ncclComm_t comm, cudaStream_t stream))
{
	return coll(__func__, SIM_REDUCE_SCATTER, send, recv, count, type, redop, 0, comm, stream);
}

SIM_NCCL(ncclResult_t, ncclAllGather,
	 (const void *send, void *recv, size_t count, ncclDataType_t type, ncclComm_t comm,
	  cudaStream_t stream))
{
	return coll(__func__, SIM_ALL_GATHER, send, recv, count, type, ncclSum, 0, comm, stream);
}

SIM_NCCL(ncclResult_t, ncclAlltoAll,
	 (const void *send, void *recv, size_t count, ncclDataType_t type, ncclComm_t comm,
	  cudaStream_t stream))
{
	return spread(__func__, ALL_TO_ALL, send, recv, count, type, 0, comm, stream);
}

SIM_NCCL(ncclResult_t, ncclGather,
	 (const void *send, void *recv, size_t count, ncclDataType_t type, int root,
	  ncclComm_t comm, cudaStream_t stream))
{
	return spread(__func__, GATHER, send, recv, count, type, root, comm, stream);
}

SIM_NCCL(ncclResult_t, ncclScatter,
	 (const void *send, void *recv, size_t count, ncclDataType_t type, int root,
	  ncclComm_t comm, cudaStream_t stream))
{
	return spread(__func__, SCATTER, send, recv, count, type, root, comm, stream);
}

SIM_NCCL(ncclResult_t, ncclSend,
	 (const void *send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
	  cudaStream_t stream))
{
	return coll(__func__, SIM_SEND, send, NULL, count, type, ncclSum, peer, comm, stream);
}

SIM_NCCL(ncclResult_t, ncclRecv,
	 (void *recv, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
	  cudaStream_t stream))
{
	return coll(__func__, SIM_RECV, NULL, recv, count, type, ncclSum, peer, comm, stream);
}
