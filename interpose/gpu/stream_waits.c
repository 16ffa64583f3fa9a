/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/stream_waits.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/gpu/choice/mode.h"
#include "interpose/gpu/choice/sampling.h"
#include "interpose/gpu/collect.h"
#include "interpose/gpu/poll_state.h"
#include "interpose/gpu/queue.h"
#include "interpose/hash.h"
#include "trace/pages.h"

/* size: as many as the largest open table has launches; with nine of ten taken, 1 in 1,000 finds
 * none of 64 free. */
#define PENDING 1024u
#define TRIES 64u

/* A wait whose stream has not reached it. */
struct pending {
	_Atomic uint32_t taken; /* release by the poll thread when it is through */
	struct ct_gpu_context *context;
	struct ct_gpu_stream *stream;
	CUevent event;
	int is_timed; /* the event was recorded */
	struct ct_wait_rec rec;
	struct ct_waits_new found;
	struct pending *next; /* pusher, then poll thread */
};

static struct pending *pool;
static _Atomic uint32_t hint;
static _Atomic(struct pending *) pushed; /* callers, a stack: the last one first */
static struct pending *waiting;		 /* poll thread, oldest first */
static enum ct_waits_how how;

int ct_waits_init(enum ct_waits_how wanted)
{
	how = wanted;
	waiting = NULL;
	atomic_store_explicit(&pushed, NULL, memory_order_relaxed);
	if (how == CT_WAITS_OFF)
		return CT_OK;
	pool = ct_pages_map(PENDING * sizeof(*pool));
	if (!pool) {
		pool = NULL;
		how = CT_WAITS_OFF;
		return CT_NOMEM;
	}
	return ct_waits_table_init();
}

/* ---- streams
 * ------------------------------------------------------------------------------------------------ */

static int is_default(CUstream stream)
{
	return (uintptr_t)stream <= (uintptr_t)CU_STREAM_PER_THREAD;
}

static void make_key(CUstream stream, CUcontext context, struct ct_waits_key *key)
{
	key->handle = (uintptr_t)(stream ? stream : CU_STREAM_LEGACY);
	key->whose = is_default(stream) ? (uintptr_t)context : 0;
	if (stream == CU_STREAM_PER_THREAD)
		key->whose = (uintptr_t)ct_hash_mix(key->whose, (uintptr_t)&ct_self);
}

/* A stream that the program names. 0: the owner of the default stream is unknown. */
static int key_of(CUstream stream, struct ct_waits_key *key)
{
	const struct ct_cuda *cuda = is_default(stream) ? ct_cuda() : NULL;
	CUcontext current = NULL;

	if (is_default(stream) &&
	    (!cuda || cuda->ctx_get_current(&current) != CUDA_SUCCESS || !current))
		return 0;
	make_key(stream, current, key);
	return 1;
}

static uint32_t flag_of(CUstream stream)
{
	return is_default(stream) ? CT_WAIT_DEFAULT : 0;
}

static int is_captured(CUstream stream)
{
	const struct ct_cuda *cuda = ct_cuda();
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	return !cuda || cuda->stream_is_capturing(stream, &status) != CUDA_SUCCESS ||
	       status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static uint32_t thread_id(void)
{
	return ct_self.lane.tid ? ct_self.lane.tid : (uint32_t)syscall(SYS_gettid);
}

/* One record for each stream of communication. */
static void write_records(struct ct_wait_rec *rec, const struct ct_waits_new *found)
{
	for (uint32_t i = 0; i < found->n; i++) {
		rec->launch = found->on[i].launch;
		rec->after = found->after[i];
		ct_recorder_rare(CT_KIND_WAIT, rec);
	}
}

/* ---- launches and events
 * --------------------------------------------------------------------------------------- */

void ct_waits_launch(const struct ct_gpu_span *span)
{
	CUcontext context;
	struct ct_waits_key key;
	struct ct_stream_rec rec;

	if (how == CT_WAITS_OFF || !span->stream)
		return;
	context = atomic_load_explicit(&span->stream->context->handle, memory_order_relaxed);
	make_key(span->handle, context, &key);
	if (ct_waits_launched(&key, span->stream->id, (uintptr_t)context, &span->stream->launches,
			      &rec))
		ct_recorder_rare(CT_KIND_STREAM, &rec);
}

void ct_waits_event(CUevent event, CUstream stream)
{
	struct ct_waits_key key;
	int saved = errno;

	if (how != CT_WAITS_OFF && key_of(stream, &key) &&
	    ct_waits_recorded(&key, (uintptr_t)event, -1))
		ct_waits_recorded(&key, (uintptr_t)event, is_captured(stream));
	errno = saved;
}

void ct_waits_event_end(CUevent event)
{
	if (how != CT_WAITS_OFF)
		ct_waits_event_gone((uintptr_t)event);
}

void ct_waits_stream_end(CUstream stream)
{
	struct ct_waits_key key;

	if (how == CT_WAITS_OFF || is_default(stream))
		return;
	make_key(stream, NULL, &key);
	ct_waits_stream_gone(&key);
}

/* ---- a stream waits
 * --------------------------------------------------------------------------------------------- */

static struct pending *claim_pending(void)
{
	uint32_t at = atomic_fetch_add_explicit(&hint, 1, memory_order_relaxed);

	for (uint32_t i = 0; i < TRIES; i++) {
		struct pending *p = &pool[(at + i) % PENDING];
		uint32_t free = 0;

		if (!atomic_load_explicit(&p->taken, memory_order_relaxed) &&
		    atomic_compare_exchange_strong_explicit(
			    &p->taken, &free, 1, memory_order_acquire, memory_order_relaxed))
			return p;
	}
	return NULL;
}

static void give(struct pending *p)
{
	atomic_store_explicit(&p->taken, 0, memory_order_release);
}

static void push(struct pending *p)
{
	struct pending *top = atomic_load_explicit(&pushed, memory_order_relaxed);

	/* release: pairs with the exchange in take_pushed() */
	do
		p->next = top;
	while (!atomic_compare_exchange_weak_explicit(&pushed, &top, p, memory_order_release,
						      memory_order_relaxed));
}

/* An event just before the wait, if CUDA takes it. 0: there is none. */
static int put_event(const struct ct_cuda *cuda, struct pending *p, CUstream stream)
{
	CUresult result = CUDA_ERROR_INVALID_CONTEXT;
	int entered;

	if (!ct_gpu_event_take(&p->context->events, &p->event) &&
	    !ct_gpu_event_take(&p->context->first, &p->event))
		return 0;
	entered = ct_gpu_context_enter(cuda, p->context);
	if (entered >= 0) {
		if (ct_gpu_queue_has_room(cuda, p->stream))
			result = cuda->event_record(p->event, stream);
		else
			ct_ring_lose(&ct_recorder.ring, CT_LOSS_WAITS_FULL, 1);
		ct_gpu_context_leave(cuda, entered);
	}
	if (ct_cuda_is_fatal(result))
		ct_poll_give_up();
	p->is_timed = result == CUDA_SUCCESS;
	if (p->is_timed)
		ct_gpu_queue_add(p->stream, 1, p->event);
	return 1;
}

/* The wait as it is to be recorded, once the stream has reached it. Returns records' number of the
 * stream. */
static uint32_t begin_wait(CUstream stream, const struct ct_waits_new *found)
{
	const struct ct_cuda *cuda = ct_poll_is_up() ? ct_cuda() : NULL;
	struct ct_gpu_stream *s = cuda ? ct_gpu_stream(cuda, stream, -1) : NULL;
	struct pending *p;

	/* asked for after its stream, whose context is closed before its events may not be timed */
	if (!s || how != CT_WAITS_ALL || ct_gpu_timing() != CT_GPU_TIMED ||
	    s->context->event_flags != CU_EVENT_DEFAULT || ct_gpu_sampling_is_paused())
		return s ? s->id : 0;
	p = claim_pending();
	if (p) {
		p->context = s->context;
		p->stream = s;
		p->found = *found;
		memset(&p->rec, 0, sizeof(p->rec));
		p->rec.waiter = s->id;
		p->rec.device = (uint32_t)s->context->device;
		p->rec.via = found->via;
		p->rec.tid = thread_id();
		p->rec.flags = found->flags | flag_of(stream);
		p->rec.issued_ns = ct_now_ns();
		if (put_event(cuda, p, stream)) {
			push(p); /* also one without a time: the poll thread has the event back */
			return s->id;
		}
		give(p);
	}
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_WAITS_FULL, 1);
	return s->id;
}

/* A stream that launches communication itself waits for what others computed before every launch.
 * Waits inherited this way are not its own; unless it is a default stream, on which compute runs. */
static int is_of_interest(CUstream stream, const struct ct_waits_new *found)
{
	return !(found->flags & CT_WAIT_LAUNCHES) || found->is_direct || is_default(stream);
}

void ct_waits_stream(CUstream stream, CUevent event)
{
	struct ct_waits_new found;
	struct ct_waits_key key;
	uint32_t number = 0;
	int saved = errno;

	if (how != CT_WAITS_OFF && key_of(stream, &key) &&
	    ct_waits_look(&key, (uintptr_t)event, &found) && !is_captured(stream)) {
		if (is_of_interest(stream, &found))
			number = begin_wait(stream, &found);
		ct_waits_merge(&key, number, &found);
	}
	errno = saved;
}

/* ---- the host waits
 * --------------------------------------------------------------------------------------------- */

void ct_waits_host_event(struct ct_waits_host *host, CUevent event)
{
	host->found.n = host->found.via = 0;
	host->enter_ns = ct_now_ns();
	if (how != CT_WAITS_OFF)
		ct_waits_look_event((uintptr_t)event, &host->found);
}

void ct_waits_host_stream(struct ct_waits_host *host, CUstream stream)
{
	struct ct_waits_key key;
	int saved = errno;

	host->found.n = host->found.via = 0;
	host->enter_ns = ct_now_ns();
	if (how != CT_WAITS_OFF && key_of(stream, &key))
		ct_waits_look_stream(&key, &host->found);
	errno = saved;
}

void ct_waits_host_device(struct ct_waits_host *host)
{
	const struct ct_cuda *cuda = ct_cuda();
	CUcontext current = NULL;
	int saved = errno;

	host->found.n = host->found.via = 0;
	host->enter_ns = ct_now_ns();
	if (how != CT_WAITS_OFF && cuda && cuda->ctx_get_current(&current) == CUDA_SUCCESS &&
	    current)
		ct_waits_look_device((uintptr_t)current, &host->found);
	errno = saved;
}

void ct_waits_host_end(const struct ct_waits_host *host)
{
	struct ct_wait_rec rec = {
		.begin_ns = host->enter_ns,
		.via = host->found.via,
		.flags = host->found.flags,
	};
	int saved = errno;

	if (host->found.n) {
		rec.issued_ns = ct_now_ns();
		rec.tid = thread_id();
		write_records(&rec, &host->found);
		ct_waits_host_has(&host->found);
	}
	errno = saved;
}

/* ---- the poll thread
 * -------------------------------------------------------------------------------------------- */

static void take_pushed(void)
{
	struct pending *top = atomic_exchange_explicit(&pushed, NULL, memory_order_acquire);
	struct pending *oldest = NULL;
	struct pending **at = &waiting;

	while (top) {
		struct pending *next = top->next;

		top->next = oldest;
		oldest = top;
		top = next;
	}
	while (*at)
		at = &(*at)->next;
	*at = oldest;
}

int ct_waits_pending(const struct ct_gpu_context *context)
{
	if (atomic_load_explicit(&pushed, memory_order_relaxed))
		return 1;
	for (const struct pending *p = waiting; p; p = p->next)
		if (p->context == context)
			return 1;
	return 0;
}

/* Its stream has reached it: when that was. */
static void time_it(struct ct_gpu_collect *c, struct pending *p)
{
	struct ct_gpu_anchoring *anchoring = &p->context->anchoring;
	uint64_t raw_ns;
	double err_ns;

	c->events++;
	if (!ct_gpu_anchor_time(anchoring, c->cuda, p->event, &raw_ns, &err_ns) ||
	    err_ns >= (double)UINT32_MAX)
		return;
	p->rec.begin_ns = ct_gpu_host_clock_mono(&c->host, raw_ns);
	p->rec.begin_err_ns = (uint32_t)(err_ns + 1);
	if (p->rec.begin_ns < p->rec.issued_ns)
		p->rec.begin_ns = p->rec.issued_ns;
}

static void settle(struct pending *p)
{
	write_records(&p->rec, &p->found);
	if (p->is_timed)
		ct_gpu_queue_over(p->stream, 1);
	ct_gpu_events_give(&p->context->events, p->event);
	give(p);
}

/* size: those of one stream come in order: after one that is not reached, none is polled. Of more
 * streams than this some are polled too often. */
#define BLOCKED 16u

void ct_waits_collect(struct ct_gpu_collect *c, struct ct_gpu_context *context, int give_up)
{
	const struct ct_gpu_stream *blocked[BLOCKED];
	struct pending **at = &waiting;
	uint32_t n = 0;

	if (how != CT_WAITS_ALL)
		return;
	take_pushed();
	while (*at) {
		struct pending *p = *at;
		int skip = p->context != context;

		for (uint32_t i = 0; i < n && i < BLOCKED && !skip; i++)
			skip = blocked[i] == p->stream;
		if (!skip && !give_up && p->is_timed &&
		    c->cuda->event_query(p->event) != CUDA_SUCCESS) {
			blocked[n++ % BLOCKED] = p->stream;
			skip = 1;
		}
		if (skip) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		if (!give_up && p->is_timed)
			time_it(c, p);
		settle(p);
	}
}
