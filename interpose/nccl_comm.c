/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/nccl_comm.h"

#include <errno.h>

#include "interpose/cuda.h"
#include "interpose/hash.h"
#include "interpose/nccl_group.h"
#include "interpose/nccl_key.h"
#include "interpose/nccl_later.h"
#include "interpose/poll.h"
#include "interpose/unwind.h"

/* Asked of NCCL itself, of communicators that are complete; not wrapped. */
typedef ncclResult_t number_fn(const ncclComm_t comm, int *number);
static struct ct_real real_count = { .symbol = "ncclCommCount", .names = ct_nccl_sonames };
static struct ct_real real_rank = { .symbol = "ncclCommUserRank", .names = ct_nccl_sonames };

static struct ct_real real_device = { .symbol = "ncclCommCuDevice", .names = ct_nccl_sonames };

static struct ct_ring_comm nobody_entry;
static struct ct_comm nobody = { .entry = &nobody_entry, .rank = -1 };

static int number_of(struct ct_real *real, ncclComm_t handle, const void *library, int unknown)
{
	number_fn *ask = (number_fn *)ct_real_find(real, library);
	int number = unknown, saved = errno;

	if (!ask || ask(handle, &number) != ncclSuccess)
		number = unknown;
	errno = saved;
	return number;
}

static struct ct_comm *create(const struct ct_nccl_child *child, ncclComm_t handle)
{
	const struct ct_comm_spec spec = {
		.handle = { handle, NULL },
		.key = child->key,
		.parent = child->parent,
		.source = (enum ct_key_source)child->source,
		.backend = CT_BACKEND_NCCL,
		.nranks = child->nranks
				  ? child->nranks
				  : (uint32_t)number_of(&real_count, handle, child->library, 0),
		.rank = child->nranks ? child->rank
				      : number_of(&real_rank, handle, child->library, -1),
		.name = child->name,
		.device = (uint16_t)child->device,
	};

	ct_gpu_context_hint();
	return ct_comms_create(&spec);
}

struct ct_comm *ct_nccl_comm_slow(ncclComm_t handle, const void *library)
{
	struct ct_nccl_child child = { .library = library, .source = CT_KEY_GUESSED };

	if (!handle)
		return &nobody;
	child.nranks = (uint32_t)number_of(&real_count, handle, library, 0);
	child.rank = number_of(&real_rank, handle, library, -1);
	if (!child.nranks || child.rank < 0)
		return &nobody;
	child.device = (uint32_t)(number_of(&real_device, handle, library, -1) + 1);
	ct_self.comm = create(&child, handle);
	return ct_self.comm ? ct_self.comm : &nobody;
}

struct ct_comm *ct_nccl_child_arrives(const struct ct_nccl_child *child)
{
	ncclComm_t handle = child->seen ? NULL : *child->at;

	return handle ? create(child, handle) : NULL;
}

void ct_nccl_child_fails(const struct ct_nccl_child *child)
{
	if (child->seen)
		ct_comms_end(child->seen);
}

struct ct_host_rec ct_nccl_host_rec(enum ct_nccl_call call, const struct ct_comm *comm)
{
	struct ct_host_rec rec = { .call = ct_nccl_call_ids[call], .rank = -1 };

	if (comm) {
		rec.comm = comm->id;
		rec.key = comm->key;
		rec.nranks = comm->nranks;
		rec.rank = comm->rank;
	}
	return rec;
}

static int is_begun(ncclResult_t result)
{
	return result == ncclSuccess || result == ncclInProgress;
}

uint32_t ct_nccl_comm_name(const ncclConfig_t *config)
{
	if (!config || config->magic != NCCL_CONFIG_MAGIC ||
	    config->size < offsetof(ncclConfig_t, commName) + sizeof(config->commName) ||
	    !config->commName)
		return 0;
	return ct_ring_string(&ct_recorder.ring, config->commName);
}

/* ---- from a unique id: all ranks of it call, and the handle is there when the call returns, ready or not --------- */

struct init {
	struct ct_host_frame host; /* first */
	struct ct_nccl_child child;
	const ncclConfig_t *config;
};

/* The one that NCCL takes: of the calling thread's context. */
static uint32_t current_device(void)
{
	const struct ct_cuda *cuda;
	CUdevice device = -1;

	ct_gpu_context_hint(); /* looks for CUDA if that is wanted */
	cuda = ct_cuda();
	if (!cuda || ct_poll_is_held())
		return 0;
	return cuda->ctx_get_device(&device) == CUDA_SUCCESS ? (uint32_t)device + 1 : 0;
}

static void begin_init(struct init *f, enum ct_nccl_call call, const ncclUniqueId *id)
{
	f->child.key = id ? ct_nccl_key_of_id(id) : 0;
	f->child.source = id ? CT_KEY_LIBRARY : CT_KEY_GUESSED;
	f->host.rec = ct_nccl_host_rec(call, NULL);
	f->host.rec.key = f->child.key;
	f->host.rec.nranks = f->child.nranks;
	f->host.rec.rank = f->child.rank;
	f->child.device = current_device();
	ct_host_begin(&f->host);
}

static ncclResult_t end_init(struct init *f, ncclResult_t result)
{
	struct ct_nccl_child *child = &f->child;
	struct ct_comm *comm = NULL;

	if (is_begun(result)) {
		child->name = ct_nccl_comm_name(f->config);
		child->seen = *child->at;
		if (!child->device)
			child->device = current_device();
		if (child->seen)
			comm = create(child, child->seen);
		ct_gpu_context_await();
		if (ct_nccl_in_group())
			ct_nccl_group_child(child, result);
	}
	f->host.rec.comm = comm ? comm->id : 0;
	ct_host_end(&f->host, result);
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
	struct init f = INIT(newcomm, nranks, rank, NULL, real);

	CT_UNWIND_HERE();
	begin_init(&f, CT_NCCL_ncclCommInitRank, &id);
	return end_init(&f, real(newcomm, nranks, id, rank));
}

ncclResult_t ct_ncclCommInitRank(ncclComm_t *newcomm, int nranks, ncclUniqueId id, int rank)
{
	ct_ncclCommInitRank_fn *next = CT_NCCL_NEXT(ncclCommInitRank);

	if (!next)
		return CT_NCCL_ABSENT;
	if (!ct_nccl_enter(CT_CALL_CREATE))
		return next(newcomm, nranks, id, rank);
	return init_rank(newcomm, nranks, id, rank, next);
}

static CT_UNWIND_WHOLE ncclResult_t init_config(ncclComm_t *newcomm, int nranks, ncclUniqueId id,
						int rank, ncclConfig_t *config,
						ct_ncclCommInitRankConfig_fn *real)
{
	struct init f = INIT(newcomm, nranks, rank, config, real);

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
	if (!ct_nccl_enter(CT_CALL_CREATE))
		return next(newcomm, nranks, id, rank, config);
	return init_config(newcomm, nranks, id, rank, config, next);
}

static CT_UNWIND_WHOLE ncclResult_t init_scalable(ncclComm_t *newcomm, int nranks, int rank,
						  int n_ids, ncclUniqueId *ids,
						  ncclConfig_t *config,
						  ct_ncclCommInitRankScalable_fn *real)
{
	struct init f = INIT(newcomm, nranks, rank, config, real);

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
	if (!ct_nccl_enter(CT_CALL_CREATE))
		return next(newcomm, nranks, rank, n_ids, ids, config);
	return init_scalable(newcomm, nranks, rank, n_ids, ids, config, next);
}

/* ---- all ranks in this process, by one call, which gets its unique id by itself --------------------------------- */

static void init_all_leave(struct ct_frame *frame)
{
	ct_host_leave(frame);
}

static ncclResult_t end_init_all(struct ct_host_frame *f, const ncclComm_t *newcomms, int ndev,
				 const int *devices, ncclResult_t result)
{
	const struct ct_process *process = &ct_recorder.process;
	struct ct_nccl_child child = {
		.key = f->rec.key,
		.nranks = (uint32_t)ndev,
		.source = CT_KEY_LIBRARY,
	};

	/* nobody outside has to agree */
	if (!child.key) {
		child.key = ct_hash_mix(ct_hash_mix(process->hostkey, process->pid),
					f->rec.enter_ns);
		child.source = CT_KEY_GUESSED;
	}
	f->rec.key = child.key;
	for (int i = 0; i < ndev && result == ncclSuccess; i++) {
		child.rank = i;
		child.device = (uint32_t)(devices ? devices[i] : i) + 1;
		create(&child, newcomms[i]);
	}
	ct_gpu_context_await();
	ct_host_end(f, result);
	return result;
}

static CT_UNWIND_WHOLE ncclResult_t init_all(ncclComm_t *newcomms, int ndev, const int *devices,
					     ct_ncclCommInitAll_fn *real)
{
	struct ct_host_frame f = { .rec = ct_nccl_host_rec(CT_NCCL_ncclCommInitAll, NULL) };

	CT_UNWIND_HERE();
	f.rec.nranks = (uint32_t)ndev;
	ct_host_begin(&f);
	f.frame.leave = init_all_leave;
	return end_init_all(&f, newcomms, ndev, devices, real(newcomms, ndev, devices));
}

ncclResult_t ct_ncclCommInitAll(ncclComm_t *newcomms, int ndev, const int *devices)
{
	ct_ncclCommInitAll_fn *next = CT_NCCL_NEXT(ncclCommInitAll);

	if (!next)
		return CT_NCCL_ABSENT;
	if (!ct_nccl_enter(CT_CALL_CREATE))
		return next(newcomms, ndev, devices);
	return init_all(newcomms, ndev, devices, next);
}

static CT_UNWIND_WHOLE ncclResult_t get_id(ncclUniqueId *id, ct_ncclGetUniqueId_fn *real)
{
	struct ct_host_frame f = { .rec = ct_nccl_host_rec(CT_NCCL_ncclGetUniqueId, NULL) };
	ncclResult_t result;

	CT_UNWIND_HERE();
	ct_host_begin(&f);
	result = real(id);
	f.rec.key = result == ncclSuccess ? ct_nccl_key_of_id(id) : 0;
	ct_host_end(&f, result);
	return result;
}

ncclResult_t ct_ncclGetUniqueId(ncclUniqueId *id)
{
	ct_ncclGetUniqueId_fn *next = CT_NCCL_NEXT(ncclGetUniqueId);
	struct ct_frame *frame;
	ncclResult_t result;

	if (!next)
		return CT_NCCL_ABSENT;
	if (ct_nccl_enter(CT_CALL_CREATE))
		return get_id(id, next);
	result = next(id);
	frame = ct_guard_frame();
	if (frame && frame->leave == init_all_leave && result == ncclSuccess)
		((struct ct_host_frame *)frame)->rec.key = ct_nccl_key_of_id(id);
	return result;
}
