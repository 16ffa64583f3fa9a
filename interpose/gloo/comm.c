/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators of Gloo. Their key must be equal on all members and is found by watching only:
 * while a thread is inside connectFullMesh, every rank puts its address blob into the store under
 * its rank and gets those of the others, so all see the blob of rank 0 pass by. No call of our own
 * goes to the store. */
#include "interpose/gloo/abi.h"
#include "interpose/gloo/gloo.h"
#include "interpose/hash.h"
#include "interpose/recorder.h"
#include "interpose/unwind.h"
#include "trace/ring_traffic.h"

struct mesh_frame {
	struct ct_host_frame host;
	uint64_t key; /* 0: the blob of rank 0 has not passed by */
};

static uint16_t mesh_call;
static int is_wanted; /* where not, no communicator is known, and nothing is recorded of unknown
			 ones */

void ct_gloo_comm_init(int wanted)
{
	is_wanted = wanted;
	mesh_call = (uint16_t)ct_ring_string(&ct_recorder.ring, "gloo::connectFullMesh");
}

static int is_member(int32_t rank, int32_t size)
{
	return rank >= 0 && size > rank && size < GLOO_MAX_SIZE;
}

int ct_gloo_context_at(const void *context)
{
	int old = is_member(ct_gloo_i32(context, GLOO_CONTEXT_OLD),
			    ct_gloo_i32(context, GLOO_CONTEXT_OLD + 4));
	int new = is_member(ct_gloo_i32(context, GLOO_CONTEXT_NEW),
			    ct_gloo_i32(context, GLOO_CONTEXT_NEW + 4));

	/* The upper half of a table pointer in user space, 0x5555 or 0x7fff, passes for a size; its
	 * lower half hardly ever for a smaller rank. And the new layout has its base there, 2,
	 * before padding. */
	if (old && new)
		return ct_gloo_u64(context, 0) % 8 == 0 && ct_gloo_i32(context, 4) > 0x5000
			       ? GLOO_CONTEXT_OLD
			       : GLOO_CONTEXT_NEW;
	return old ? GLOO_CONTEXT_OLD : new ? GLOO_CONTEXT_NEW : -1;
}

static struct ct_traced_comm *create(const void *context, const void *transport, int32_t rank,
				     int32_t size, uint64_t key)
{
	const struct ct_comm_spec spec = {
		.handle = { context, transport },
		.key = key,
		.source = key ? CT_KEY_RENDEZVOUS : CT_KEY_GUESSED,
		.backend = CT_BACKEND_GLOO,
		.nranks = (uint32_t)size,
		.rank = rank,
	};

	ct_ring_traffic_begin(&ct_recorder.ring);
	return ct_comms_create(&spec);
}

static __attribute__((noinline)) struct ct_traced_comm *adopt(const void *context)
{
	int at = ct_gloo_context_at(context);
	const void *transport;
	struct ct_traced_comm *comm;

	if (at < 0)
		return NULL;
	transport = ct_gloo_ptr(context, (size_t)at + GLOO_CONTEXT_TRANSPORT);
	comm = transport ? ct_comms_find(transport) : NULL;
	if (comm)
		ct_comms_alias(comm, context);
	else
		comm = create(context, transport, ct_gloo_i32(context, (size_t)at),
			      ct_gloo_i32(context, (size_t)at + 4), 0);
	ct_self.comm = comm;
	return comm;
}

struct ct_traced_comm *ct_gloo_comm(const void *context)
{
	struct ct_traced_comm *comm = ct_recorder_comm(context);

	return comm || !is_wanted ? comm : adopt(context);
}

struct ct_traced_comm *ct_gloo_transport_comm(const void *transport)
{
	struct ct_traced_comm *comm = ct_recorder_comm(transport);
	int32_t rank, size;

	if (comm || !is_wanted)
		return comm;
	rank = ct_gloo_i32(transport, GLOO_TRANSPORT_RANK);
	size = ct_gloo_i32(transport, GLOO_TRANSPORT_SIZE);
	if (!is_member(rank, size))
		return NULL;
	ct_self.comm = create(transport, NULL, rank, size, 0);
	return ct_self.comm;
}

typedef void (*mesh_fn)(void *context, void *store, void *device);

static CT_UNWIND_WHOLE void connect_mesh(void *context, void *store, void *device, mesh_fn real)
{
	int at = ct_gloo_context_at(context);
	struct mesh_frame f = { .host.rec = { .call = mesh_call, .rank = -1 } };
	struct ct_traced_comm *comm;

	CT_UNWIND_HERE();
	if (at >= 0) {
		f.host.rec.rank = ct_gloo_i32(context, (size_t)at);
		f.host.rec.nranks = (uint32_t)ct_gloo_i32(context, (size_t)at + 4);
	}
	ct_host_begin(&f.host);
	real(context, store, device);
	if (at >= 0) {
		comm = create(context, ct_gloo_ptr(context, (size_t)at + GLOO_CONTEXT_TRANSPORT),
			      f.host.rec.rank, (int32_t)f.host.rec.nranks, f.key);
		f.host.rec.comm = comm ? comm->id : 0;
		f.host.rec.key = comm ? comm->key : 0;
	}
	ct_host_end(&f.host, 0);
}

static int enter_mesh(const void *caller)
{
	atomic_store_explicit(&ct_gloo_heard, 1, memory_order_relaxed);
	if (!ct_guard_enter(CT_CALL_CREATE))
		return 0;
	if (!is_wanted)
		ct_guard_leave();
	ct_self.caller = caller;
	return is_wanted;
}

#define GLOO_CALL_MESH(symbol, name)                                                               \
	void ct_gloo_##name(void *context, void *store, void *device) __asm__(symbol) CT_EXPORT;   \
	void ct_gloo_##name(void *context, void *store, void *device)                              \
	{                                                                                          \
		mesh_fn next = (mesh_fn)CT_GLOO_NEXT(ct_gloo_##name, symbol);                      \
                                                                                                   \
		if (!next)                                                                         \
			return;                                                                    \
		if (enter_mesh(__builtin_return_address(0)))                                       \
			connect_mesh(context, store, device, next);                                \
		else                                                                               \
			next(context, store, device);                                              \
	}
#include "interpose/gloo/gloo_calls.def"

/* A store's key and value, seen by a thread that connects a mesh. The outermost store gets the bare
 * key, those that it hands on to get "prefix/0" with the same value. */
static void watch(const struct ct_cxx_string *key, const struct ct_cxx_vector *value)
{
	struct mesh_frame *mesh = (struct mesh_frame *)ct_guard_frame();
	size_t bytes = (size_t)(value->end - value->begin);

	if (mesh->key || key->len < 1 || key->data[key->len - 1] != '0' ||
	    (key->len > 1 && key->data[key->len - 2] != '/'))
		return;
	mesh->key = ct_hash_mix(ct_fnv(CT_HASH_START, value->begin, bytes), mesh->host.rec.nranks);
}

/* Only connectFullMesh has a frame of host calls. */
static int is_connecting(void)
{
	struct ct_frame *frame = ct_guard_frame();

	return frame && frame->leave == ct_host_leave;
}

typedef void (*set_fn)(void *store, const struct ct_cxx_string *key,
		       const struct ct_cxx_vector *value);

#define GLOO_CALL_SET(symbol, name)                                                                \
	void ct_gloo_##name(void *store, const struct ct_cxx_string *key,                          \
			    const struct ct_cxx_vector *value) __asm__(symbol) CT_EXPORT;          \
	void ct_gloo_##name(void *store, const struct ct_cxx_string *key,                          \
			    const struct ct_cxx_vector *value)                                     \
	{                                                                                          \
		set_fn next = (set_fn)CT_GLOO_NEXT(ct_gloo_##name, symbol);                        \
                                                                                                   \
		if (!next)                                                                         \
			return;                                                                    \
		if (is_connecting())                                                               \
			watch(key, value);                                                         \
		next(store, key, value);                                                           \
	}

/* std::vector comes back through a hidden pointer to memory of the caller, as a plain struct of its
 * size does. */
typedef struct ct_cxx_vector (*get_fn)(void *store, const struct ct_cxx_string *key);

#define GLOO_CALL_GET(symbol, name)                                                                \
	struct ct_cxx_vector ct_gloo_##name(void *store, const struct ct_cxx_string *key) __asm__( \
		symbol) CT_EXPORT;                                                                 \
	struct ct_cxx_vector ct_gloo_##name(void *store, const struct ct_cxx_string *key)          \
	{                                                                                          \
		get_fn next = (get_fn)CT_GLOO_NEXT(ct_gloo_##name, symbol);                        \
		struct ct_cxx_vector value = { NULL, NULL, NULL };                                 \
                                                                                                   \
		if (next)                                                                          \
			value = next(store, key);                                                  \
		if (next && is_connecting())                                                       \
			watch(key, &value);                                                        \
		return value;                                                                      \
	}
#include "interpose/gloo/gloo_calls.def"

typedef void (*gone_fn)(void *context);

#define GLOO_CALL_GONE(symbol, name)                                                               \
	void ct_gloo_##name(void *context) __asm__(symbol) CT_EXPORT;                              \
	void ct_gloo_##name(void *context)                                                         \
	{                                                                                          \
		gone_fn next = (gone_fn)CT_GLOO_NEXT(ct_gloo_##name, symbol);                      \
                                                                                                   \
		if (ct_guard_is_on())                                                              \
			ct_comms_end(context);                                                     \
		if (next)                                                                          \
			next(context);                                                             \
	}
#include "interpose/gloo/gloo_calls.def"
