/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/nccl/comm.h"

#include <errno.h>

#include "interpose/gpu/event_prealloc.h"

/* Asked of NCCL itself, of communicators that are complete; not wrapped. */
typedef ncclResult_t number_fn(const ncclComm_t comm, int *number);
static struct ct_real real_count = { .symbol = "ncclCommCount", .names = ct_nccl_sonames };
static struct ct_real real_rank = { .symbol = "ncclCommUserRank", .names = ct_nccl_sonames };

static struct ct_real real_device = { .symbol = "ncclCommCuDevice", .names = ct_nccl_sonames };

static struct ct_ring_comm unknown_entry;
static struct ct_traced_comm unknown_comm = { .entry = &unknown_entry, .rank = -1 };

static int number_of(struct ct_real *real, ncclComm_t handle, const void *library, int unknown)
{
	number_fn *ask = (number_fn *)ct_real_find(real, library);
	int number = unknown, saved = errno;

	if (!ask || ask(handle, &number) != ncclSuccess)
		number = unknown;
	errno = saved;
	return number;
}

int ct_nccl_version(const void *library)
{
	ct_ncclGetVersion_fn *ask = (ct_ncclGetVersion_fn *)ct_real_find(
		&ct_nccl_reals[CT_NCCL_ncclGetVersion], library);
	int version = 0, saved = errno;

	if (!ask || ask(&version) != ncclSuccess)
		version = 0;
	errno = saved;
	return version;
}

struct ct_traced_comm *ct_nccl_comm_create(const struct ct_nccl_child *child, ncclComm_t handle)
{
	const struct ct_comm_spec spec = {
		.handle = { handle, NULL },
		.key = child->key,
		.parent = child->parent,
		.nccl_hash = child->hash ? child->hash : child->key,
		.nccl_magic = child->magic,
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

	ct_gpu_prealloc_ask();
	return ct_comms_create(&spec);
}

struct ct_traced_comm *ct_nccl_comm_slow(ncclComm_t handle, const void *library)
{
	struct ct_nccl_child child = { .library = library, .source = CT_KEY_GUESSED };

	atomic_store_explicit(&ct_nccl_seen, 1, memory_order_relaxed);
	if (!handle)
		return &unknown_comm;
	child.nranks = (uint32_t)number_of(&real_count, handle, library, 0);
	child.rank = number_of(&real_rank, handle, library, -1);
	if (!child.nranks || child.rank < 0)
		return &unknown_comm;
	child.device = (uint32_t)(number_of(&real_device, handle, library, -1) + 1);
	ct_self.comm = ct_nccl_comm_create(&child, handle);
	return ct_self.comm ? ct_self.comm : &unknown_comm;
}

void ct_nccl_parent_counts(struct ct_nccl_parent *p)
{
	if (p->id)
		p->nth = 1 + atomic_fetch_add_explicit(&p->comm->children, 1, memory_order_relaxed);
}

void ct_nccl_parent_refuses(const struct ct_nccl_parent *p)
{
	if (p->nth && p->comm->id == p->id)
		atomic_fetch_sub_explicit(&p->comm->children, 1, memory_order_relaxed);
}

struct ct_traced_comm *ct_nccl_child_arrives(const struct ct_nccl_child *child)
{
	ncclComm_t handle = child->seen ? NULL : *child->at;

	return handle ? ct_nccl_comm_create(child, handle) : NULL;
}

void ct_nccl_child_fails(const struct ct_nccl_child *child)
{
	if (child->seen)
		ct_comms_end(child->seen);
}

struct ct_host_rec ct_nccl_host_rec(enum ct_nccl_call call, const struct ct_traced_comm *comm)
{
	atomic_store_explicit(&ct_nccl_seen, 1, memory_order_relaxed);
	return ct_host_rec_of(ct_nccl_call_ids[call], comm);
}

uint32_t ct_nccl_comm_name(const ncclConfig_t *config)
{
	if (!config || config->magic != NCCL_CONFIG_MAGIC ||
	    config->size < offsetof(ncclConfig_t, commName) + sizeof(config->commName) ||
	    !config->commName)
		return 0;
	return ct_ring_string(&ct_recorder.ring, config->commName);
}
