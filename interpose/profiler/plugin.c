/* SPDX-License-Identifier: Apache-2.0 */
/* What NCCL finds in this library when it is its profiler plugin: a structure of functions for each
 * version.
 *
 * NCCL may have been given a copy of the preloaded file, which the loader takes for another
 * library, with a state of its own. Such a copy hands everything on to the preloaded one and
 * records nothing: no call is counted twice.
 */
#include <dlfcn.h>
#include <string.h>

#include "interpose/dlsym_real.h"
#include "interpose/nccl/nccl.h"
#include "interpose/profiler/event.h"

#define NAME "commtrace"

/* Its own one is reached by a unique name: the exported one is bound to the preload's. */
#define PROFILER_CALL(symbol, version, shape)                                                      \
	static const struct nccl_profiler_v##shape table_v##version;                               \
	CT_EXPORT extern const struct nccl_profiler_v##shape ct_profiler_v##version __asm__(       \
		symbol) __attribute__((alias("table_v" #version)));
#include "interpose/profiler/profiler_calls.def"

/* The preloaded library's structure, if this one is a copy of it; looked for when NCCL opens the
 * plugin. */
static const void *original(const char *symbol, const void *own)
{
	const struct nccl_profiler_v5 *there = ct_dlsym(RTLD_DEFAULT, symbol);

	/* of all versions the name is the first member */
	return there && there != own && there->name && strcmp(there->name, NAME) == 0 ? there
										      : NULL;
}

/* For each version: the original and how its functions are passed on to. */
#define PROFILER_CALL(symbol, version, shape)                                                      \
	static _Atomic(const struct nccl_profiler_v##shape *) original_v##version;                 \
	static inline const struct nccl_profiler_v##shape *other_v##version(void)                  \
	{                                                                                          \
		return atomic_load_explicit(&original_v##version, memory_order_relaxed);           \
	}                                                                                          \
	static const struct nccl_profiler_v##shape *find_v##version(void)                          \
	{                                                                                          \
		const void *found = original(symbol, &table_v##version);                           \
                                                                                                   \
		atomic_store_explicit(&original_v##version,                                        \
				      (const struct nccl_profiler_v##shape *)found,                \
				      memory_order_relaxed);                                       \
		return other_v##version();                                                         \
	}
#include "interpose/profiler/profiler_calls.def"

/* ---- from each shape to the common one
 * ------------------------------------------------------------------------------ */

static struct ct_profiler_event from_v3(const struct nccl_profiler_event_v3 *e)
{
	struct ct_profiler_event to = {
		.type = e->type, .parent = e->parent, .rank = e->rank, .peer = -1
	};

	if (e->type == NCCL_PROFILE_COLL) {
		to.comm_hash = e->coll.comm_hash;
		to.func = e->coll.func;
		to.count = e->coll.count;
		to.peer = e->coll.root;
		to.type_name = e->coll.type;
		to.warps = e->coll.n_warps;
		to.algo = e->coll.algo;
		to.proto = e->coll.proto;
	} else if (e->type == NCCL_PROFILE_P2P) {
		to.comm_hash = e->p2p.comm_hash;
		to.func = e->p2p.func;
		to.count = e->p2p.count;
		to.peer = e->p2p.peer;
		to.type_name = e->p2p.type;
	}
	return to;
}

static struct ct_profiler_event from_v4(const struct nccl_profiler_event_v4 *e)
{
	struct ct_profiler_event to = {
		.type = e->type, .parent = e->parent, .rank = e->rank, .peer = -1
	};

	if (e->type == NCCL_PROFILE_COLL) {
		to.func = e->coll.func;
		to.count = e->coll.count;
		to.peer = e->coll.root;
		to.type_name = e->coll.type;
		to.channels = e->coll.n_channels;
		to.warps = e->coll.n_warps;
		to.algo = e->coll.algo;
		to.proto = e->coll.proto;
	} else if (e->type == NCCL_PROFILE_P2P) {
		to.func = e->p2p.func;
		to.count = e->p2p.count;
		to.peer = e->p2p.peer;
		to.type_name = e->p2p.type;
		to.channels = e->p2p.n_channels;
	} else if (e->type == NCCL_PROFILE_KERNEL_CH) {
		to.timer = e->kernel_ch.timer;
	}
	return to;
}

static struct ct_profiler_event from_v5(const struct nccl_profiler_event_v5 *e)
{
	struct ct_profiler_event to = {
		.type = (uint32_t)e->type, .parent = e->parent, .rank = e->rank, .peer = -1
	};

	switch (e->type) {
	case NCCL_PROFILE_COLL_API:
		to.func = e->coll_api.func;
		to.count = e->coll_api.count;
		to.type_name = e->coll_api.type;
		to.peer = e->coll_api.root;
		to.stream = e->coll_api.stream;
		to.captured = e->coll_api.captured;
		break;
	case NCCL_PROFILE_P2P_API:
		to.func = e->p2p_api.func;
		to.count = e->p2p_api.count;
		to.type_name = e->p2p_api.type;
		to.stream = e->p2p_api.stream;
		to.captured = e->p2p_api.captured;
		break;
	case NCCL_PROFILE_COLL:
		to.func = e->coll.func;
		to.count = e->coll.count;
		to.peer = e->coll.root;
		to.type_name = e->coll.type;
		to.channels = e->coll.n_channels;
		to.warps = e->coll.n_warps;
		to.algo = e->coll.algo;
		to.proto = e->coll.proto;
		break;
	case NCCL_PROFILE_P2P:
		to.func = e->p2p.func;
		to.count = e->p2p.count;
		to.peer = e->p2p.peer;
		to.type_name = e->p2p.type;
		to.channels = e->p2p.n_channels;
		break;
	case NCCL_PROFILE_KERNEL_CH:
		to.timer = e->kernel_ch.timer;
		break;
	default:
		break;
	}
	return to;
}

/* What another copy of the library is handed on to informs it by the word that it is to fill in. */
static int *handed_on(int *mask)
{
	__atomic_or_fetch(mask, CT_PROFILER_HANDED_ON, __ATOMIC_RELAXED);
	return mask;
}

/* ---- what NCCL calls
 * --------------------------------------------------------------------------------------------------
 */

static ncclResult_t opened(void **context, const struct ct_profiler_open *what)
{
	*context = ct_profiler_open(what);
	return ncclSuccess;
}

static ncclResult_t init_v3(void **context, int *mask)
{
	const struct nccl_profiler_v3 *other = find_v3();
	const struct ct_profiler_open what = { .version = 3, .rank = -1, .mask = mask };

	return other ? other->init(context, handed_on(mask)) : opened(context, &what);
}

static ncclResult_t init_v4(void **context, int *mask, const char *comm_name, uint64_t comm,
			    int n_nodes, int n_ranks, int rank, nccl_profiler_log_fn log)
{
	const struct nccl_profiler_v4 *other = find_v4();
	const struct ct_profiler_open what = { 4, n_ranks, rank, comm, comm_name, mask };

	if (other)
		return other->init(context, handed_on(mask), comm_name, comm, n_nodes, n_ranks,
				   rank, log);
	return opened(context, &what);
}

#define INIT_V5(version_)                                                                          \
	static ncclResult_t init_v##version_(void **context, uint64_t comm, int *mask,             \
					     const char *comm_name, int n_nodes, int n_ranks,      \
					     int rank, nccl_profiler_log_fn log)                   \
	{                                                                                          \
		const struct nccl_profiler_v5 *other = find_v##version_();                         \
		const struct ct_profiler_open what = { version_, n_ranks,   rank,                  \
						       comm,	 comm_name, mask };                \
                                                                                                   \
		if (other)                                                                         \
			return other->init(context, comm, handed_on(mask), comm_name, n_nodes,     \
					   n_ranks, rank, log);                                    \
		return opened(context, &what);                                                     \
	}
INIT_V5(5)
INIT_V5(6)

#define PROFILER_CALL(symbol, version, shape)                                                      \
	static ncclResult_t start_v##version(void *context, void **handle,                         \
					     struct nccl_profiler_event_v##shape *event)           \
	{                                                                                          \
		const struct nccl_profiler_v##shape *other = other_v##version();                   \
		struct ct_profiler_event e;                                                        \
                                                                                                   \
		if (other)                                                                         \
			return other->start(context, handle, event);                               \
		e = from_v##shape(event);                                                          \
		*handle = ct_profiler_start(context, &e);                                          \
		return ncclSuccess;                                                                \
	}                                                                                          \
                                                                                                   \
	static ncclResult_t stop_v##version(void *handle)                                          \
	{                                                                                          \
		const struct nccl_profiler_v##shape *other = other_v##version();                   \
                                                                                                   \
		if (other)                                                                         \
			return other->stop(handle);                                                \
		ct_profiler_stop(handle);                                                          \
		return ncclSuccess;                                                                \
	}                                                                                          \
                                                                                                   \
	static ncclResult_t state_v##version(void *handle, int state,                              \
					     union nccl_profiler_state *args)                      \
	{                                                                                          \
		const struct nccl_profiler_v##shape *other = other_v##version();                   \
                                                                                                   \
		if (other)                                                                         \
			return other->state(handle, state, args);                                  \
		if (handle && args && state == NCCL_PROFILER_KERNEL_CH_STOP && (version) > 3)      \
			ct_profiler_kernel_stop(handle, args->kernel_ch.timer);                    \
		return ncclSuccess;                                                                \
	}                                                                                          \
                                                                                                   \
	static ncclResult_t finalize_v##version(void *context)                                     \
	{                                                                                          \
		const struct nccl_profiler_v##shape *other = other_v##version();                   \
                                                                                                   \
		if (other)                                                                         \
			return other->finalize(context);                                           \
		ct_profiler_close(context);                                                        \
		return ncclSuccess;                                                                \
	}                                                                                          \
                                                                                                   \
	static const struct nccl_profiler_v##shape table_v##version = {                            \
		NAME,                                                                              \
		init_v##version,                                                                   \
		start_v##version,                                                                  \
		stop_v##version,                                                                   \
		state_v##version,                                                                  \
		finalize_v##version,                                                               \
	};
#include "interpose/profiler/profiler_calls.def"
