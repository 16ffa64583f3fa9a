/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators that are there when the call returns, ready or not: made of a unique id, and grown.
 */
#include <errno.h>

#include "interpose/gpu/driver/cuda.h"
#include "interpose/gpu/event_prealloc.h"
#include "interpose/gpu/poll.h"
#include "interpose/hash.h"
#include "interpose/nccl/failed.h"
#include "interpose/nccl/group.h"
#include "interpose/nccl/key.h"
#include "interpose/unwind.h"

static int is_begun(ncclResult_t result)
{
	return result == ncclSuccess || result == ncclInProgress;
}

struct init_call {
	struct ct_host_frame host; /* first */
	struct ct_nccl_child child;
	struct ct_nccl_parent parent; /* grown */
	const ncclConfig_t *config;
};

/* The one that NCCL takes: of the calling thread's context. */
static uint32_t current_device(void)
{
	const struct ct_cuda *cuda;
	CUdevice device = -1;
	CUresult result;
	int saved;

	ct_gpu_prealloc_ask(); /* looks for CUDA if that is wanted */
	cuda = ct_cuda();
	if (!cuda || ct_poll_gave_up() || ct_poll_is_held())
		return 0;
	saved = errno; /* the driver may open files */
	result = cuda->ctx_get_device(&device);
	errno = saved;
	return result == CUDA_SUCCESS ? (uint32_t)device + 1 : 0;
}

static void begin_host(struct init_call *f, enum ct_nccl_call call)
{
	f->host.rec = ct_nccl_host_rec(call, NULL);
	f->host.rec.key = f->child.key;
	f->host.rec.nranks = f->child.nranks;
	f->host.rec.rank = f->child.rank;
	ct_host_begin(&f->host);
}

static void begin_init(struct init_call *f, enum ct_nccl_call call, const ncclUniqueId *id)
{
	f->child.key = id ? ct_nccl_key_of_id(id, ct_nccl_version(f->child.library)) : 0;
	f->child.magic = id ? ct_nccl_magic_of_id(id) : 0;
	f->child.source = id ? CT_KEY_LIBRARY : CT_KEY_GUESSED;
	f->child.device = current_device();
	begin_host(f, call);
}

static ncclResult_t end_init(struct init_call *f, ncclResult_t result)
{
	struct ct_nccl_child *child = &f->child;
	struct ct_traced_comm *comm = NULL;

	if (is_begun(result)) {
		child->name = ct_nccl_comm_name(f->config);
		child->seen = *child->at;
		if (!child->device)
			child->device = current_device();
		if (child->seen)
			comm = ct_nccl_comm_create(child, child->seen);
		ct_gpu_prealloc_events();
		if (ct_nccl_in_group())
			ct_nccl_group_child(child, result);
	}
	f->host.rec.comm = comm ? comm->id : 0;
	ct_nccl_host_end(&f->host, result, child->seen, child->library);
	return result;
}

#define INIT(newcomm, nranks_, rank_, config_, real_)                                                \
	{                                                                                            \
		.child = {                                                                         \
			.at = (newcomm),                                                           \
			.nranks = (uint32_t)(nranks_),                                             \
			.rank = (rank_),                                                           \
			.library = (const void *)(uintptr_t)(real_),                                                       \
		},                                                                                 \
		.config = (config_), \
	}

static CT_UNWIND_WHOLE ncclResult_t init_rank(ncclComm_t *newcomm, int nranks, ncclUniqueId id,
					      int rank, ct_ncclCommInitRank_fn *real)
{
	struct init_call f = INIT(newcomm, nranks, rank, NULL, real);

	CT_UNWIND_HERE();
	begin_init(&f, CT_NCCL_ncclCommInitRank, &id);
	return end_init(&f, real(newcomm, nranks, id, rank));
}

ncclResult_t ct_ncclCommInitRank(ncclComm_t *newcomm, int nranks, ncclUniqueId id, int rank)
{
	ct_ncclCommInitRank_fn *next = CT_NCCL_NEXT(ncclCommInitRank);

	if (!next)
		return CT_NCCL_ABSENT;
	if (!ct_nccl_enter(CT_CALL_CREATE, __builtin_return_address(0)))
		return next(newcomm, nranks, id, rank);
	return init_rank(newcomm, nranks, id, rank, next);
}

static CT_UNWIND_WHOLE ncclResult_t init_config(ncclComm_t *newcomm, int nranks, ncclUniqueId id,
						int rank, ncclConfig_t *config,
						ct_ncclCommInitRankConfig_fn *real)
{
	struct init_call f = INIT(newcomm, nranks, rank, config, real);

	CT_UNWIND_HERE();
	begin_init(&f, CT_NCCL_ncclCommInitRankConfig, &id);
	return end_init(&f, real(newcomm, nranks, id, rank, config));
}

ncclResult_t ct_ncclCommInitRankConfig(ncclComm_t *newcomm, int nranks, ncclUniqueId id, int rank,
				       ncclConfig_t *config)
{
	ct_ncclCommInitRankConfig_fn *next = CT_NCCL_NEXT(ncclCommInitRankConfig);

	if (!next)
		return CT_NCCL_ABSENT;
	if (!ct_nccl_enter(CT_CALL_CREATE, __builtin_return_address(0)))
		return next(newcomm, nranks, id, rank, config);
	return init_config(newcomm, nranks, id, rank, config, next);
}

static CT_UNWIND_WHOLE ncclResult_t init_scalable(ncclComm_t *newcomm, int nranks, int rank,
						  int n_ids, ncclUniqueId *ids,
						  ncclConfig_t *config,
						  ct_ncclCommInitRankScalable_fn *real)
{
	struct init_call f = INIT(newcomm, nranks, rank, config, real);

	CT_UNWIND_HERE();
	begin_init(&f, CT_NCCL_ncclCommInitRankScalable, n_ids > 0 ? ids : NULL);
	return end_init(&f, real(newcomm, nranks, rank, n_ids, ids, config));
}

ncclResult_t ct_ncclCommInitRankScalable(ncclComm_t *newcomm, int nranks, int rank, int n_ids,
					 ncclUniqueId *ids, ncclConfig_t *config)
{
	ct_ncclCommInitRankScalable_fn *next = CT_NCCL_NEXT(ncclCommInitRankScalable);

	if (!next)
		return CT_NCCL_ABSENT;
	if (!ct_nccl_enter(CT_CALL_CREATE, __builtin_return_address(0)))
		return next(newcomm, nranks, rank, n_ids, ids, config);
	return init_scalable(newcomm, nranks, rank, n_ids, ids, config, next);
}

/* ---- grown: members of the parent come with it, new ones with a unique id, and one of the
 * parent's with both ------ */

static void begin_grow(struct init_call *f, const ncclUniqueId *id)
{
	struct ct_nccl_child *child = &f->child;
	uint64_t magic_of_id = id ? ct_nccl_magic_of_id(id) : 0;

	child->device = f->parent.id ? f->parent.comm->device : current_device();
	if (f->parent.id) {
		ct_nccl_parent_counts(&f->parent);
		child->parent = f->parent.comm->key;
		child->rank = f->parent.comm->rank;
		if (f->parent.comm->nccl_magic)
			child->magic = ct_nccl_magic_of_grown(f->parent.comm->nccl_magic,
							      f->parent.nth);
	}
	/* the parent's other members, who see no id, would be wrong as well */
	if (magic_of_id && child->magic && magic_of_id != child->magic)
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_GROWN_UNNAMED, 1);
	if (magic_of_id)
		child->magic = magic_of_id;
	child->key = child->magic ? ct_nccl_key_of_grown(child->magic, child->nranks) : 0;
	child->source = child->key ? CT_KEY_LIBRARY : CT_KEY_GUESSED;
	begin_host(f, CT_NCCL_ncclCommGrow);
}

static ncclResult_t end_grow(struct init_call *f, ncclResult_t result)
{
	if (ct_nccl_is_refused(result))
		ct_nccl_parent_refuses(&f->parent);
	return end_init(f, result);
}

static CT_UNWIND_WHOLE ncclResult_t grow(ncclComm_t comm, int nranks, const ncclUniqueId *id,
					 int rank, ncclComm_t *newcomm, ncclConfig_t *config,
					 ct_ncclCommGrow_fn *real)
{
	struct init_call f = INIT(newcomm, nranks, rank, config, real);

	CT_UNWIND_HERE();
	if (comm) {
		f.parent.comm = ct_nccl_comm(comm, f.child.library);
		f.parent.id = f.parent.comm->id;
	}
	begin_grow(&f, id);
	return end_grow(&f, real(comm, nranks, id, rank, newcomm, config));
}

ncclResult_t ct_ncclCommGrow(ncclComm_t comm, int nranks, const ncclUniqueId *id, int rank,
			     ncclComm_t *newcomm, ncclConfig_t *config)
{
	ct_ncclCommGrow_fn *next = CT_NCCL_NEXT(ncclCommGrow);

	if (!next)
		return CT_NCCL_ABSENT;
	if (!ct_nccl_enter(CT_CALL_CREATE, __builtin_return_address(0)))
		return next(comm, nranks, id, rank, newcomm, config);
	return grow(comm, nranks, id, rank, newcomm, config, next);
}

/* ---- all ranks in this process, by one call, which gets its unique id by itself
 * --------------------------------- */

struct init_all {
	struct ct_host_frame host; /* first */
	uint64_t magic;
};

static void init_all_leave(struct ct_frame *frame)
{
	ct_host_leave(frame);
}

/* NCCL has created an id, inside a call of the program. */
static void take_id(struct ct_frame *frame, const ncclUniqueId *id, const void *library)
{
	struct init_all *f = (struct init_all *)frame;

	if (!frame || frame->leave != init_all_leave)
		return;
	f->host.rec.key = ct_nccl_key_of_id(id, ct_nccl_version(library));
	f->magic = ct_nccl_magic_of_id(id);
}

static ncclResult_t end_init_all(struct init_all *f, const ncclComm_t *newcomms, int ndev,
				 const int *devices, ncclResult_t result, const void *library)
{
	const struct ct_process *process = &ct_recorder.process;
	struct ct_host_rec *rec = &f->host.rec;
	struct ct_nccl_child child = {
		.key = rec->key,
		.magic = f->magic,
		.nranks = (uint32_t)ndev,
		.source = CT_KEY_LIBRARY,
	};

	/* no other process has to agree */
	if (!child.key) {
		child.key = ct_hash_mix(ct_hash_mix(process->hostkey, process->pid), rec->enter_ns);
		child.source = CT_KEY_GUESSED;
	}
	rec->key = child.key;
	for (int i = 0; i < ndev && result == ncclSuccess; i++) {
		child.rank = i;
		child.device = (uint32_t)(devices ? devices[i] : i) + 1;
		ct_nccl_comm_create(&child, newcomms[i]);
	}
	ct_gpu_prealloc_events();
	ct_nccl_host_end(&f->host, result, NULL, library);
	return result;
}

static CT_UNWIND_WHOLE ncclResult_t init_all(ncclComm_t *newcomms, int ndev, const int *devices,
					     ct_ncclCommInitAll_fn *real)
{
	struct init_all f = { .host.rec = ct_nccl_host_rec(CT_NCCL_ncclCommInitAll, NULL) };

	CT_UNWIND_HERE();
	f.host.rec.nranks = (uint32_t)ndev;
	ct_host_begin(&f.host);
	f.host.frame.leave = init_all_leave;
	return end_init_all(&f, newcomms, ndev, devices, real(newcomms, ndev, devices),
			    (const void *)(uintptr_t)real);
}

ncclResult_t ct_ncclCommInitAll(ncclComm_t *newcomms, int ndev, const int *devices)
{
	ct_ncclCommInitAll_fn *next = CT_NCCL_NEXT(ncclCommInitAll);

	if (!next)
		return CT_NCCL_ABSENT;
	if (!ct_nccl_enter(CT_CALL_CREATE, __builtin_return_address(0)))
		return next(newcomms, ndev, devices);
	return init_all(newcomms, ndev, devices, next);
}

static CT_UNWIND_WHOLE ncclResult_t get_id(ncclUniqueId *id, ct_ncclGetUniqueId_fn *real)
{
	struct ct_host_frame f = { .rec = ct_nccl_host_rec(CT_NCCL_ncclGetUniqueId, NULL) };
	const void *library = (const void *)(uintptr_t)real;
	ncclResult_t result;

	CT_UNWIND_HERE();
	ct_host_begin(&f);
	result = real(id);
	if (result == ncclSuccess)
		f.rec.key = ct_nccl_key_of_id(id, ct_nccl_version(library));
	ct_nccl_host_end(&f, result, NULL, library);
	return result;
}

ncclResult_t ct_ncclGetUniqueId(ncclUniqueId *id)
{
	ct_ncclGetUniqueId_fn *next = CT_NCCL_NEXT(ncclGetUniqueId);
	ncclResult_t result;

	if (!next)
		return CT_NCCL_ABSENT;
	if (ct_nccl_enter(CT_CALL_CREATE, __builtin_return_address(0)))
		return get_id(id, next);
	result = next(id);
	if (result == ncclSuccess)
		take_id(ct_guard_frame(), id, (const void *)(uintptr_t)next);
	return result;
}
