/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/streams.h"

#include <string.h>

#include "interpose/gpu/choice/mode.h"
#include "interpose/hash.h"
#include "interpose/recorder.h"
#include "interpose/spin.h"
#include "trace/mix.h"
#include "trace/pages.h"

/* size: programs have tens of streams, and get the handles of those that they have destroyed again.
 * Half full, 1 in 2,000 finds no space. */
#define STREAMS 1024u
#define PROBES 32u

static struct stream_tables {
	struct ct_gpu_context contexts[CT_GPU_CONTEXTS];
	struct ct_gpu_stream streams[STREAMS];
	uint32_t n_streams;
	int was_closed; /* contexts, for new ones with other events */
} * tables;
static _Atomic uint32_t lock; /* over what enters and closes contexts and streams */

int ct_gpu_streams_init(void)
{
	atomic_store_explicit(&lock, 0, memory_order_relaxed);
	/* a fresh mapping also where a parent's exists: emptying that one would copy all of its
	 * pages */
	tables = ct_pages_map(sizeof(*tables));
	if (tables)
		return CT_OK;
	tables = NULL;
	return CT_NOMEM;
}

/* On the poll thread: calls of the program do without what they enter meanwhile, and it may wait
 * for them. */
static void wait_for_lock(void)
{
	while (!ct_spin_lock(&lock, CT_SPIN_TRIES))
		;
}

struct ct_gpu_context *ct_gpu_context_nth(unsigned n)
{
	struct ct_gpu_context *c = &tables->contexts[n];

	return atomic_load_explicit(&c->handle, memory_order_acquire) ? c : NULL;
}

/* Its entry, NULL if it has none; *free_slot is its free slot, NULL in a full table. */
static struct ct_gpu_context *find_context(CUcontext handle, struct ct_gpu_context **free_slot)
{
	*free_slot = NULL;
	for (unsigned i = 0; i < CT_GPU_CONTEXTS; i++) {
		struct ct_gpu_context *c = &tables->contexts[i];
		CUcontext known = atomic_load_explicit(&c->handle, memory_order_acquire);

		if (!known) {
			*free_slot = c;
			return NULL;
		}
		if (known == handle && !ct_gpu_context_is_closed(c))
			return c;
	}
	return NULL;
}

static int32_t ask_device(const struct ct_cuda *cuda, CUcontext context)
{
	CUcontext current = NULL, popped;
	CUdevice device = -1;
	int pushed;

	if (cuda->ctx_get_current(&current) != CUDA_SUCCESS)
		return -1;
	pushed = current != context;
	if (pushed && cuda->ctx_push(context) != CUDA_SUCCESS)
		return -1;
	if (cuda->ctx_get_device(&device) != CUDA_SUCCESS)
		device = -1;
	if (pushed)
		cuda->ctx_pop(&popped);
	return device;
}

/* CUDA does not say where a launch is: it is not timed. */
static void *count_unknown(void)
{
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_CUDA_FAILED, 1);
	return NULL;
}

static struct ct_gpu_context_identity ask_identity(const struct ct_cuda *cuda, CUcontext handle,
						   int32_t device)
{
	struct ct_gpu_context_identity identity = { .id = 0 };
	unsigned int flags;

	if (cuda->ctx_get_id && cuda->ctx_get_id(handle, &identity.id) != CUDA_SUCCESS)
		identity.id = 0;
	if (!cuda->primary_ctx_state ||
	    cuda->primary_ctx_state(device, &flags, &identity.primary_is_active) != CUDA_SUCCESS)
		identity.primary_is_active = 0;
	return identity;
}

/* Where the device's primary context was there before and is not now, this one may be it; if not,
 * it is entered anew. */
int ct_gpu_context_is_there(const struct ct_cuda *cuda, const struct ct_gpu_context *context)
{
	CUcontext handle = atomic_load_explicit((_Atomic(CUcontext) *)(uintptr_t)&context->handle,
						memory_order_relaxed);
	struct ct_gpu_context_identity now = ask_identity(cuda, handle, context->device);

	return now.id == context->identity.id &&
	       now.primary_is_active >= context->identity.primary_is_active;
}

struct ct_gpu_context *ct_gpu_context(const struct ct_cuda *cuda, CUcontext handle)
{
	struct ct_gpu_context_identity identity;
	struct ct_gpu_context *free_slot;
	struct ct_gpu_context *c = find_context(handle, &free_slot);
	int32_t device;

	if (c)
		return c;
	device = ask_device(cuda, handle);
	if (device < 0)
		return count_unknown();
	identity = ask_identity(cuda, handle, device);
	ct_gpu_mode_connected();
	if (!ct_spin_lock(&lock, CT_SPIN_TRIES)) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_GPU_TABLE_FULL, 1);
		return NULL;
	}
	c = find_context(handle, &free_slot);
	if (!c && free_slot) {
		c = free_slot;
		c->device = device;
		c->identity = identity;
		c->event_flags = ct_gpu_event_flags();
		atomic_store_explicit(&c->handle, handle, memory_order_release);
	}
	ct_spin_unlock(&lock);
	if (!c)
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_GPU_TABLE_FULL, 1);
	return c;
}

/* A context of the device, NULL if none is known; of any device if that is negative. */
static struct ct_gpu_context *known_context(const struct ct_cuda *cuda, int device)
{
	struct ct_gpu_context *c;

	for (unsigned i = 0; i < CT_GPU_CONTEXTS && (c = ct_gpu_context_nth(i)); i++) {
		if ((device >= 0 && c->device != device) || ct_gpu_context_is_dead(c))
			continue;
		/* anew, if it is closed */
		return ct_gpu_context(cuda, atomic_load_explicit(&c->handle, memory_order_relaxed));
	}
	return NULL;
}

/* Whose default stream a launch means: NCCL makes its communicator's device current, whatever was. */
static struct ct_gpu_context *default_context(const struct ct_cuda *cuda, int device)
{
	CUcontext current = NULL;
	struct ct_gpu_context *c = NULL;

	if (cuda->ctx_get_current(&current) == CUDA_SUCCESS && current)
		c = ct_gpu_context(cuda, current);
	if (!current || (c && device >= 0 && c->device != device)) {
		c = device >= 0 ? known_context(cuda, device) : NULL;
		return c ? c : count_unknown();
	}
	return c;
}

/* One that CUDA does not name the context of, as older drivers for a part of a GPU (a green
 * context): not timed. */
static void *unnamed(void)
{
	static _Atomic uint32_t counted;

	/* once, not with each launch: nothing has failed */
	return atomic_exchange_explicit(&counted, 1, memory_order_relaxed) ? NULL : count_unknown();
}

static CUresult ask_context(const struct ct_cuda *cuda, CUstream handle, CUcontext *context)
{
	CUresult result = cuda->stream_get_ctx(handle, context);
	CUgreenCtx green;

	/* of a part of a GPU the device's primary context */
	if (result == CUDA_ERROR_NOT_SUPPORTED && cuda->stream_get_ctx_v2)
		result = cuda->stream_get_ctx_v2(handle, context, &green);
	return result;
}

static struct ct_gpu_context *context_of(const struct ct_cuda *cuda, CUstream handle)
{
	struct ct_gpu_context *any = known_context(cuda, -1);
	CUcontext context = NULL, current = NULL;
	CUresult result;
	int entered = 0;

	if (cuda->ctx_get_current(&current) != CUDA_SUCCESS)
		return count_unknown();
	/* any will do to ask in */
	if (!current)
		entered = any ? ct_gpu_context_enter(cuda, any) : -1;
	if (entered < 0)
		return count_unknown();
	result = ask_context(cuda, handle, &context);
	ct_gpu_context_leave(cuda, entered);
	if (result == CUDA_ERROR_NOT_SUPPORTED)
		return unnamed();
	if (result != CUDA_SUCCESS)
		context = NULL;
	return context ? ct_gpu_context(cuda, context) : count_unknown();
}

/* What a stream is known by. */
struct stream_key {
	uintptr_t handle;
	uintptr_t whose;
	struct ct_gpu_context *context; /* of a default stream, else NULL: not asked yet */
};

/* 0 if CUDA does not report it. */
static int make_key(const struct ct_cuda *cuda, CUstream handle, int device, struct stream_key *key)
{
	key->handle = (uintptr_t)(handle ? handle : CU_STREAM_LEGACY);
	key->whose = 0;
	key->context = NULL;
	if (key->handle > (uintptr_t)CU_STREAM_PER_THREAD)
		return 1;
	key->context = default_context(cuda, device);
	if (!key->context)
		return 0;
	key->whose = (uintptr_t)key->context;
	if (key->handle == (uintptr_t)CU_STREAM_PER_THREAD)
		key->whose = (uintptr_t)ct_hash_mix(key->whose, (uintptr_t)&ct_self);
	return 1;
}

static struct ct_gpu_stream *find(const struct stream_key *key, struct ct_gpu_stream **free_slot)
{
	uint32_t at = ct_mix_slot(key->handle ^ key->whose, 24);

	*free_slot = NULL;
	for (uint32_t i = 0; i < PROBES; i++) {
		struct ct_gpu_stream *s = &tables->streams[(at + i) % STREAMS];
		uintptr_t known = atomic_load_explicit(&s->handle, memory_order_acquire);

		if (!known) {
			*free_slot = s;
			return NULL;
		}
		if (known == key->handle && s->whose == key->whose &&
		    !atomic_load_explicit(&s->stale, memory_order_relaxed) &&
		    !ct_gpu_context_is_closed(s->context))
			return s;
	}
	return NULL;
}

/* The number that the stream had in a context that was closed, if its handle shows that it is the
 * same. */
static uint32_t former_id(const struct stream_key *key)
{
	CUcontext context = atomic_load_explicit(&key->context->handle, memory_order_relaxed);

	for (uint32_t i = 0; i < STREAMS; i++) {
		const struct ct_gpu_stream *s = &tables->streams[i];

		if (atomic_load_explicit(&s->handle, memory_order_relaxed) == key->handle &&
		    key->handle != (uintptr_t)CU_STREAM_PER_THREAD &&
		    !atomic_load_explicit(&s->stale, memory_order_relaxed) &&
		    atomic_load_explicit(&s->context->handle, memory_order_relaxed) == context &&
		    atomic_load_explicit(&s->context->closed, memory_order_relaxed) ==
			    CT_GPU_CLOSED)
			return s->id;
	}
	return 0;
}

/* On how many streams of a context something was launched, also while it had another entry. */
static uint32_t count_launching(const struct ct_gpu_context *context)
{
	CUcontext handle = atomic_load_explicit(&context->handle, memory_order_relaxed);
	uint64_t seen[STREAMS / 64 + 1] = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < STREAMS; i++) {
		const struct ct_gpu_stream *s = &tables->streams[i];
		uint64_t bit = 1ull << s->id % 64, *word = &seen[s->id / 64];

		if (!s->context || !atomic_load_explicit(&s->handle, memory_order_relaxed) ||
		    ct_gpu_context_is_dead(s->context) || *word & bit ||
		    atomic_load_explicit(&s->context->handle, memory_order_relaxed) != handle ||
		    !atomic_load_explicit(&s->launches.last, memory_order_relaxed))
			continue;
		*word |= bit;
		n++;
	}
	return n;
}

static struct ct_gpu_context *open_context(unsigned nth)
{
	struct ct_gpu_context *c = ct_gpu_context_nth(nth);

	return c && !ct_gpu_context_is_closed(c) ? c : NULL;
}

/* Launches from now on find contexts whose events are made as the mode says now; but one that is
 * just entered, if its thread holds the lock and does not run. */
static void close_all(void)
{
	const int is_alone = ct_spin_lock(&lock, CT_SPIN_TRIES);
	struct ct_gpu_context *c;

	tables->was_closed = 1;
	for (unsigned i = 0; i < CT_GPU_CONTEXTS; i++) {
		uint32_t open = CT_GPU_OPEN;

		c = ct_gpu_context_nth(i);
		/* release: pairs with ct_gpu_context_is_closed() */
		if (c)
			atomic_compare_exchange_strong_explicit(&c->closed, &open, CT_GPU_CLOSED,
								memory_order_release,
								memory_order_relaxed);
	}
	if (is_alone)
		ct_spin_unlock(&lock);
}

void ct_gpu_contexts_prepare(unsigned int event_flags)
{
	wait_for_lock();
	for (unsigned i = 0, at = 0; i < CT_GPU_CONTEXTS; i++) {
		struct ct_gpu_context *c = open_context(i), *ahead;

		while (at < CT_GPU_CONTEXTS && ct_gpu_context_nth(at))
			at++;
		if (!c || at == CT_GPU_CONTEXTS)
			continue;
		ahead = &tables->contexts[at];
		ahead->device = c->device;
		ahead->identity = c->identity;
		ahead->event_flags = event_flags;
		ahead->n_streams = c->n_streams;
		atomic_store_explicit(&ahead->closed, CT_GPU_AHEAD, memory_order_relaxed);
		atomic_store_explicit(&ahead->handle,
				      atomic_load_explicit(&c->handle, memory_order_relaxed),
				      memory_order_release);
	}
	ct_spin_unlock(&lock);
}

int ct_gpu_contexts_are_ready(void)
{
	struct ct_gpu_context *c;

	for (unsigned i = 0; i < CT_GPU_CONTEXTS && (c = ct_gpu_context_nth(i)); i++)
		if (ct_gpu_context_is_ahead(c) && !c->ready)
			return 0;
	return 1;
}

/* Opened before the other is closed: the first of two that are open is found, so that there is
 * always one. */
void ct_gpu_contexts_renew(void)
{
	struct ct_gpu_context *c;
	uint32_t were_open = 0;

	for (unsigned i = 0; i < CT_GPU_CONTEXTS; i++)
		were_open |= (uint32_t)(open_context(i) != NULL) << i;
	wait_for_lock();
	tables->was_closed = 1;
	for (unsigned i = 0; i < CT_GPU_CONTEXTS && (c = ct_gpu_context_nth(i)); i++) {
		uint32_t ahead = CT_GPU_AHEAD;

		atomic_compare_exchange_strong_explicit(&c->closed, &ahead, CT_GPU_OPEN,
							memory_order_release, memory_order_relaxed);
	}
	for (unsigned i = 0; i < CT_GPU_CONTEXTS; i++) {
		uint32_t open = CT_GPU_OPEN;

		if (were_open & 1u << i)
			atomic_compare_exchange_strong_explicit(&tables->contexts[i].closed, &open,
								CT_GPU_CLOSED, memory_order_release,
								memory_order_relaxed);
	}
	ct_spin_unlock(&lock);
}

void ct_gpu_contexts_count(void)
{
	for (unsigned i = 0; i < CT_GPU_CONTEXTS; i++) {
		const struct ct_gpu_context *c = open_context(i);

		if (c && ct_gpu_mode_is_crowded(c->n_streams, count_launching(c)))
			close_all();
	}
}

static struct ct_gpu_stream *enter(const struct stream_key *key)
{
	uint32_t n = 0, launching = 0;
	struct ct_gpu_stream *s, *free_slot;

	if (!ct_spin_lock(&lock, CT_SPIN_TRIES)) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_GPU_TABLE_FULL, 1);
		return NULL;
	}
	s = find(key, &free_slot);
	if (!s && free_slot) {
		s = free_slot;
		s->whose = key->whose;
		s->context = key->context;
		s->id = tables->was_closed ? former_id(key) : 0;
		if (!s->id) {
			s->id = ++tables->n_streams;
			key->context->n_streams++;
		}
		s->word = (uint64_t)s->id << 32 | (uint32_t)key->context->device;
		n = key->context->n_streams;
		launching = count_launching(key->context);
		s->end = &s->first;
		atomic_store_explicit(&s->handle, key->handle, memory_order_release);
	}
	ct_spin_unlock(&lock);
	if (!s)
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_GPU_TABLE_FULL, 1);
	/* the new one is most likely for a launch, too */
	if (n && ct_gpu_mode_is_crowded(n, launching + 1))
		close_all();
	return s;
}

struct ct_gpu_stream *ct_gpu_stream(const struct ct_cuda *cuda, CUstream handle, int device)
{
	struct ct_gpu_stream *s, *free_slot;
	struct stream_key key;

	if (!make_key(cuda, handle, device, &key))
		return NULL;
	s = find(&key, &free_slot);
	if (s)
		return s;
	if (!key.context)
		key.context = context_of(cuda, handle);
	s = key.context ? enter(&key) : NULL;
	/* it was one too many: once more, which can happen once */
	if (s && ct_gpu_context_is_closed(s->context) && !ct_gpu_context_is_dead(s->context))
		return ct_gpu_stream(cuda, handle, device);
	return s;
}

int ct_gpu_stream_again(const struct ct_cuda *cuda, struct ct_gpu_stream **stream, CUstream handle)
{
	struct ct_gpu_stream *stale = *stream;
	struct ct_gpu_context *context = stale->whose ? NULL : context_of(cuda, handle);

	if (!context || context == stale->context)
		return 0;
	atomic_store_explicit(&stale->stale, 1, memory_order_relaxed);
	*stream = ct_gpu_stream(cuda, handle, -1);
	return *stream != NULL;
}
