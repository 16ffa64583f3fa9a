/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interpose/fake_libnccl.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)

static _Atomic(void (*)(const char *)) on_call;
static ncclResult_t scripted;
static int nonblocking;
static int asks = 1;
static __thread ncclUniqueId last_id;
static unsigned char ids_made;

/* What becomes known at the end of a group, or when all is finished: like groups, a thread's own. */
static __thread struct child {
	ncclComm_t *at;
	ncclComm_t comm;
} children[64];
static __thread int n_children;
static ncclComm_t busy[64];
static int n_busy;
static __thread int depth;

void fake_on_call(void (*function)(const char *name))
{
	atomic_store(&on_call, function);
}

void fake_result(ncclResult_t result)
{
	scripted = result;
}

void fake_nonblocking(int yes)
{
	nonblocking = yes;
}

void fake_asks(int yes)
{
	asks = yes;
}

const ncclUniqueId *fake_last_id(void)
{
	return &last_id;
}

static void tell(const char *name)
{
	void (*function)(const char *) = atomic_load(&on_call);

	if (function)
		function(name);
}

static void write_children(ncclResult_t state)
{
	for (int i = 0; i < n_children && state == ncclSuccess; i++)
		*children[i].at = children[i].comm;
	n_children = 0;
}

void fake_finish(ncclResult_t state)
{
	write_children(state);
	for (int i = 0; i < n_busy; i++)
		busy[i]->state = state;
	n_busy = 0;
}

static void keep_busy(ncclComm_t comm)
{
	comm->state = ncclInProgress;
	busy[n_busy++ % 64] = comm;
}

static ncclComm_t make(int nranks, int rank)
{
	ncclComm_t comm = calloc(1, sizeof(*comm));

	comm->nranks = nranks;
	comm->rank = rank;
	comm->blocking = !nonblocking;
	return comm;
}

/* As the real one does it before anything that needs the communicator: through its public symbol. */
static ncclResult_t ready(ncclComm_t comm)
{
	ncclResult_t state = ncclSuccess;

	if (!comm)
		return ncclInvalidArgument;
	if (asks)
		ncclCommGetAsyncError(comm, &state);
	return state == ncclInProgress ? ncclInvalidArgument : state;
}

static ncclResult_t result_of(ncclComm_t comm)
{
	if (scripted != ncclSuccess || comm->blocking || depth)
		return scripted;
	keep_busy(comm);
	return ncclInProgress;
}

static __thread ncclComm_t in_group[256];
static __thread int n_in_group;

/* What the table's body for ncclBcast does not: it calls ncclBroadcast, through its public symbol. */
static ncclResult_t bcast_as_broadcast(ncclComm_t comm, cudaStream_t stream, const char *name)
{
	return strcmp(name, "ncclBcast") == 0
		       ? ncclBroadcast(NULL, NULL, 1, ncclInt8, 0, comm, stream)
		       : ncclSuccess;
}

#define NCCL_CALL(symbol, name, since, op, params, ...)                                            \
	ncclResult_t name params                                                                   \
	{                                                                                          \
		ncclResult_t result = ready(comm);                                                 \
                                                                                                   \
		if (result != ncclSuccess)                                                         \
			return result;                                                             \
		if (depth)                                                                         \
			in_group[n_in_group++ % 256] = comm;                                       \
		tell(#name);                                                                       \
		if (bcast_as_broadcast(comm, stream, #name) != ncclSuccess)                        \
			return scripted;                                                           \
		return result_of(comm);                                                            \
	}
#define NCCL_CALL_HOST(symbol, name, since, params, args)                                          \
	ncclResult_t name params                                                                   \
	{                                                                                          \
		ncclResult_t result = ready(comm);                                                 \
                                                                                                   \
		if (result != ncclSuccess)                                                         \
			return result;                                                             \
		tell(#name);                                                                       \
		return scripted;                                                                   \
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "interpose/abi/nccl_calls.def"
#pragma GCC diagnostic pop

ncclResult_t ncclGroupStart(void)
{
	tell("ncclGroupStart");
	depth++;
	return ncclSuccess;
}

static ncclResult_t end_group(const char *name)
{
	ncclResult_t result = scripted;
	int async = 0;

	if (depth == 0)
		return ncclInvalidUsage;
	if (--depth > 0)
		return ncclSuccess;
	tell(name);
	for (int i = 0; i < n_in_group; i++)
		if (!in_group[i]->blocking) {
			keep_busy(in_group[i]);
			async = 1;
		}
	n_in_group = 0;
	if (n_busy)
		async = 1;
	if (result == ncclSuccess && async)
		return ncclInProgress;
	write_children(result);
	return result;
}

ncclResult_t ncclGroupEnd(void)
{
	return end_group("ncclGroupEnd");
}

ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t *info)
{
	info->estimatedTime = 1;
	return end_group("ncclGroupSimulateEnd");
}

static int told_version = 23007;

void fake_version(int version)
{
	told_version = version;
}

/* No error is reported: a wrapper may query, too. */
ncclResult_t ncclGetVersion(int *version)
{
	*version = told_version;
	return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
	tell("ncclGetUniqueId");
	for (int i = 0; i < NCCL_UNIQUE_ID_BYTES; i++)
		id->internal[i] = (char)(i * 7 + ids_made);
	ids_made++;
	return scripted;
}

/* Written at once, ready or not. */
static ncclResult_t init(const char *name, ncclComm_t *newcomm, int nranks, const ncclUniqueId *id,
			 int rank)
{
	tell(name);
	last_id = *id;
	if (scripted != ncclSuccess) {
		*newcomm = NULL;
		return scripted;
	}
	*newcomm = make(nranks, rank);
	if (!nonblocking || depth)
		return ncclSuccess;
	keep_busy(*newcomm);
	return ncclInProgress;
}

ncclResult_t ncclCommInitRank(ncclComm_t *newcomm, int nranks, ncclUniqueId id, int rank)
{
	return init("ncclCommInitRank", newcomm, nranks, &id, rank);
}

/* A failure leaves the depth of groups one too high, as in the real one. */
ncclResult_t ncclCommInitRankConfig(ncclComm_t *newcomm, int nranks, ncclUniqueId id, int rank,
				    ncclConfig_t *config)
{
	(void)config;
	if (scripted != ncclSuccess)
		depth++;
	return init("ncclCommInitRankConfig", newcomm, nranks, &id, rank);
}

ncclResult_t ncclCommInitRankScalable(ncclComm_t *newcomm, int nranks, int rank, int n_ids,
				      ncclUniqueId *ids, ncclConfig_t *config)
{
	(void)n_ids;
	(void)config;
	return init("ncclCommInitRankScalable", newcomm, nranks, ids, rank);
}

ncclResult_t ncclCommInitAll(ncclComm_t *newcomms, int ndev, const int *devices)
{
	(void)devices;
	tell("ncclCommInitAll");
	ncclGetUniqueId(&last_id);
	for (int i = 0; i < ndev; i++)
		newcomms[i] = make(ndev, i);
	return scripted;
}

static ncclResult_t make_child(const char *name, ncclComm_t parent, ncclComm_t *newcomm, int nranks,
			       int rank)
{
	if (!parent)
		return ncclInvalidArgument;
	tell(name);
	*newcomm = NULL;
	if (scripted != ncclSuccess)
		return scripted;
	if (nranks)
		children[n_children++ % 64] = (struct child){ newcomm, make(nranks, rank) };
	if (depth)
		return ncclSuccess;
	if (nonblocking) {
		keep_busy(parent);
		return ncclInProgress;
	}
	write_children(ncclSuccess);
	return ncclSuccess;
}

/* As if half of the ranks, in order, had this colour. */
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *newcomm,
			   ncclConfig_t *config)
{
	(void)key;
	(void)config;
	return make_child("ncclCommSplit", comm, newcomm, comm && color >= 0 ? comm->nranks / 2 : 0,
			  comm ? comm->rank / 2 : 0);
}

ncclResult_t ncclCommShrink(ncclComm_t comm, int *excluded, int n_excluded, ncclComm_t *newcomm,
			    ncclConfig_t *config, int flags)
{
	(void)excluded;
	(void)config;
	(void)flags;
	return make_child("ncclCommShrink", comm, newcomm, comm ? comm->nranks - n_excluded : 0, 0);
}

/* Unlike a split: the handle is there at once, ready or not. */
ncclResult_t ncclCommGrow(ncclComm_t comm, int nranks, const ncclUniqueId *id, int rank,
			  ncclComm_t *newcomm, ncclConfig_t *config)
{
	(void)config;
	if (!comm && !id)
		return ncclInvalidArgument;
	return init("ncclCommGrow", newcomm, nranks, id ? id : &last_id, comm ? comm->rank : rank);
}

ncclResult_t ncclCommRevoke(ncclComm_t comm, int flags)
{
	tell("ncclCommRevoke");
	return !comm || flags ? ncclInvalidArgument : scripted;
}

static ncclResult_t end_comm(const char *name, ncclComm_t comm)
{
	if (!comm)
		return ncclInvalidArgument;
	tell(name);
	comm->state = ncclSuccess;
	return scripted; /* its memory is kept: the test decides which address comes again */
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
	return end_comm("ncclCommDestroy", comm);
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
	return end_comm("ncclCommAbort", comm);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
	if (!comm)
		return ncclInvalidArgument;
	*error = comm->state;
	return ncclSuccess;
}

const char *ncclGetLastError(ncclComm_t comm)
{
	(void)comm;
	errno = 5;
	return "a cable was pulled\n";
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int *count)
{
	comm->asked++;
	errno = 5;
	*count = comm->nranks;
	return comm->state;
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)
{
	comm->asked++;
	*rank = comm->rank;
	return comm->state;
}
