/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.c — NCCL as a training framework calls it: communicators from a unique id or by splitting,
 * blocking, named by their role. */
#include <limits.h>
#include <stdio.h>

#include "tools/sim/job/rank.h"
#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/job.h"
#include "trace/ops.h"

enum { NOTICED_AFTER_NS = 500 * 1000 * 1000, ASKED_EVERY_NS = 200 * 1000 };

#define NCCL(r, call, args, op, bytes)                                                             \
	do {                                                                                       \
		ncclResult_t result_;                                                              \
		simjob_journal_enter((r)->journal, SIMJOB_OWN_LANE, op, bytes);                    \
		result_ = call args;                                                               \
		simjob_journal_leave((r)->journal, SIMJOB_OWN_LANE);                               \
		if (result_ == ncclInProgress)                                                     \
			result_ = settle_all(r);                                                   \
		if (result_)                                                                       \
			simjob_rank_fail(r, #call, ncclGetErrorString(result_));                   \
	} while (0)

/* Polls until a nonblocking communicator has finished its last call. */
static ncclResult_t settle(ncclComm_t comm)
{
	ncclResult_t is = ncclSuccess, asked = ncclCommGetAsyncError(comm, &is);

	while (!asked && is == ncclInProgress) {
		simSleepUntil(simNow() + ASKED_EVERY_NS);
		asked = ncclCommGetAsyncError(comm, &is);
	}
	return asked ? asked : is;
}

static ncclResult_t settle_all(struct simjob_rank *r)
{
	const int n = ct_workload_n_comms(r->job->workload);
	ncclResult_t worst = ncclSuccess;

	for (int i = 0; i < n && !worst; i++) {
		if (r->comms[i])
			worst = settle(r->comms[i]);
	}
	return worst;
}

static ncclConfig_t config(const struct simjob_rank *r, const struct ct_workload_comm *comm)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;

	config.blocking = !r->job->options.nonblocking;
	config.commName = comm->role;
	return config;
}

/* The communicator is there: also for the watchdog. */
static void set_comm(struct simjob_rank *r, int comm, ncclComm_t handle)
{
	pthread_mutex_lock(&r->lock);
	r->comms[comm] = handle;
	pthread_mutex_unlock(&r->lock);
}

/* A stream of its own for each, as PyTorch takes one out of its pool; the pool's do not wait for
 * the default stream. */
static void make_stream(struct simjob_rank *r, int comm)
{
	SIMJOB_CUDA(r, cudaStreamCreateWithPriority,
		    (&r->streams[ct_workload_comm_stream(comm)], cudaStreamNonBlocking, -1));
}

static void must_be_made(struct simjob_rank *r, const char *call, ncclComm_t comm)
{
	const ncclResult_t result = r->job->options.nonblocking ? settle(comm) : ncclSuccess;

	if (result)
		simjob_rank_fail(r, call, ncclGetErrorString(result));
}

/* Its first member makes the id, the others find it on the board. */
void simjob_nccl_init(struct simjob_rank *r, int comm)
{
	const struct ct_workload_comm *c = ct_workload_comm(r->job->workload, comm);
	const int pairs = ct_workload_n_comms(r->job->workload) - 2;
	const int comm_rank = ct_workload_peer(r->job->workload, comm, r->rank);
	struct simjob_board *board = r->job->board;
	const int at = comm == 0 ? 0 : 1 + comm - pairs;
	ncclConfig_t how = config(r, c);
	ncclComm_t handle = NULL;

	/* Both of a pair, so that a rank that creates them in another order finds its own. */
	for (int id = at ? 1 : 0; comm_rank == 0 && id < (at ? SIMJOB_IDS : 1); id++) {
		if (atomic_load(&board->ids[id].is_there))
			continue;
		NCCL(r, ncclGetUniqueId, (&board->ids[id].id), SIMJOB_UNIQUE_ID, 0);
		atomic_store(&board->ids[id].is_there, 1);
	}
	while (!atomic_load(&board->ids[at].is_there))
		simSleepUntil(simNow() + 1000 * 1000);
	NCCL(r, ncclCommInitRankConfig, (&handle, c->n, board->ids[at].id, comm_rank, &how),
	     SIMJOB_INIT, 0);
	set_comm(r, comm, handle);
	must_be_made(r, "ncclCommInitRankConfig", handle);
	make_stream(r, comm);
}

void simjob_nccl_split(struct simjob_rank *r, const struct ct_action *action)
{
	static const struct ct_workload_comm none = { .role = "none" };
	const struct ct_workload_comm *c = action->comm < 0 ? &none
							    : ct_workload_comm(r->job->workload,
									       action->comm);
	ncclConfig_t how = config(r, c);
	ncclComm_t handle = NULL;

	NCCL(r, ncclCommSplit,
	     (r->comms[action->parent], action->colour < 0 ? NCCL_SPLIT_NOCOLOR : action->colour,
	      action->order, &handle, &how),
	     SIMJOB_SPLIT, 0);
	if (action->comm < 0)
		return;
	set_comm(r, action->comm, handle);
	must_be_made(r, "ncclCommSplit", handle);
	make_stream(r, action->comm);
}

void simjob_nccl_finalize(struct simjob_rank *r, int comm)
{
	if (r->comms[comm])
		NCCL(r, ncclCommFinalize, (r->comms[comm]), SIMJOB_FINALIZE, 0);
}

void simjob_nccl_destroy(struct simjob_rank *r, int comm)
{
	ncclComm_t handle = r->comms[comm];

	if (!handle)
		return;
	set_comm(r, comm, NULL);
	NCCL(r, ncclCommDestroy, (handle), SIMJOB_DESTROY, 0);
}

void simjob_nccl_group(struct simjob_rank *r, int is_end)
{
	if (is_end)
		NCCL(r, ncclGroupEnd, (), SIMJOB_GROUP_END, 0);
	else
		NCCL(r, ncclGroupStart, (), SIMJOB_GROUP_START, 0);
}

static ncclDataType_t type_of(unsigned dtype)
{
	switch (dtype) {
#define NCCL_DTYPE(name, value, type)                                                              \
	case CT_DTYPE_##type:                                                                      \
		return name;
#include "interpose/abi/nccl_values.def"
	default:
		return ncclInt8;
	}
}

static ncclRedOp_t reduction_of(unsigned redop)
{
	switch (redop) {
#define NCCL_REDOP(name, value, reduction)                                                         \
	case CT_REDOP_##reduction:                                                                 \
		return name;
#include "interpose/abi/nccl_values.def"
	default:
		return ncclSum;
	}
}

void simjob_nccl_op(struct simjob_rank *r, const struct ct_action *action)
{
	const struct ct_workload_op *op = &action->op;
	const uint64_t bytes = op->count * ct_workload_dtype_bytes(op->dtype);
	const size_t n = op->count;
	const ncclDataType_t type = type_of(op->dtype);
	const ncclRedOp_t redop = reduction_of(op->redop);
	const ncclComm_t comm = r->comms[op->comm];
	const cudaStream_t stream = r->streams[action->stream];
	struct simjob_buffers at;

	SIMJOB_CUDA(r, simjob_data_buffers, (r->data, op, &at));
	switch (op->op) {
	case CT_OP_AllReduce:
		NCCL(r, ncclAllReduce, (at.send, at.receive, n, type, redop, comm, stream), op->op,
		     bytes);
		break;
	case CT_OP_Broadcast:
		NCCL(r, ncclBroadcast, (at.send, at.receive, n, type, op->peer, comm, stream),
		     op->op, bytes);
		break;
	case CT_OP_Reduce:
		NCCL(r, ncclReduce, (at.send, at.receive, n, type, redop, op->peer, comm, stream),
		     op->op, bytes);
		break;
	case CT_OP_AllGather:
		NCCL(r, ncclAllGather, (at.send, at.receive, n, type, comm, stream), op->op, bytes);
		break;
	case CT_OP_ReduceScatter:
		NCCL(r, ncclReduceScatter, (at.send, at.receive, n, type, redop, comm, stream),
		     op->op, bytes);
		break;
	case CT_OP_AllToAll:
		NCCL(r, ncclAlltoAll, (at.send, at.receive, n, type, comm, stream), op->op, bytes);
		break;
	case CT_OP_Send:
		NCCL(r, ncclSend, (at.send, n, type, op->peer, comm, stream), op->op, bytes);
		break;
	case CT_OP_Recv:
		NCCL(r, ncclRecv, (at.receive, n, type, op->peer, comm, stream), op->op, bytes);
		break;
	default:
		simjob_rank_fail(r, "op", "no such operation");
	}
}

void simjob_nccl_break(struct simjob_rank *r, int comm)
{
	simNcclHang(r->comms[comm]);
	pthread_mutex_lock(&r->lock);
	r->failing = r->comms[comm];
	r->fail_at_ns = simNow() + NOTICED_AFTER_NS;
	pthread_mutex_unlock(&r->lock);
}

ncclResult_t simjob_nccl_async_error(struct simjob_rank *r)
{
	const int n = ct_workload_n_comms(r->job->workload);
	ncclResult_t worst = ncclSuccess;

	pthread_mutex_lock(&r->lock);
	if (r->failing && simNow() >= r->fail_at_ns) {
		simNcclFail(r->failing, ncclRemoteError);
		r->failing = NULL;
	}
	for (int i = 0; i < n && !worst; i++) {
		ncclResult_t is = ncclSuccess;

		if (r->comms[i] && ncclCommGetAsyncError(r->comms[i], &is) == ncclSuccess &&
		    is != ncclInProgress)
			worst = is;
	}
	pthread_mutex_unlock(&r->lock);
	return worst;
}

void simjob_rank_abort(struct simjob_rank *r, int lane)
{
	const int n = ct_workload_n_comms(r->job->workload);

	atomic_store(&r->is_aborting, 1);
	simjob_data_stop(r->data);
	pthread_mutex_lock(&r->lock);
	for (int i = n - 1; i >= 0; i--) {
		if (!r->comms[i])
			continue;
		simjob_journal_enter(r->journal, lane, SIMJOB_ABORT, 0);
		ncclCommAbort(r->comms[i]);
		simjob_journal_leave(r->journal, lane);
		r->comms[i] = NULL;
	}
	pthread_mutex_unlock(&r->lock);
}
