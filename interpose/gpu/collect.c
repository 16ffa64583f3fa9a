/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/collect.h"

#include <string.h>

#include "interpose/gpu/bounds.h"
#include "interpose/gpu/choice/period.h"
#include "interpose/gpu/decide.h"
#include "interpose/gpu/poll_state.h"
#include "interpose/gpu/queue.h"
#include "interpose/gpu/record.h"
#include "interpose/hash.h"
#include "trace/ops.h"

/* size: kinds of launches; two that meet are polled as often as the shorter one needs. */
#define USUAL 256u

/* How long launches of a kind take, smoothed; 0 not known. */
static uint64_t usual_ns[USUAL];

static void worth_looking(struct ct_gpu_collect *c, uint64_t ns)
{
	c->next_ns = ns < c->next_ns ? ns : c->next_ns;
}

static uint64_t enter_ns(const struct ct_gpu_span *span)
{
	return ct_load_relaxed(&span->open->opened_ns);
}

/* By communicator, operations and magnitude. */
static uint32_t kind_of(const struct ct_gpu_span *span)
{
	uint64_t bytes = ct_load_relaxed(&span->open->bytes);
	uint64_t size = bytes ? 64 - (uint64_t)__builtin_clzll(bytes) : 0;

	return (uint32_t)(ct_hash_mix(ct_load_relaxed(&span->open->comm_op), size) % USUAL);
}

/* A moment after its launch, UINT64_MAX if that was too long after the call began to be noted. */
static uint64_t returned_ns(const struct ct_gpu_span *span)
{
	return span->returned_after < UINT32_MAX ? enter_ns(span) + span->returned_after
						 : UINT64_MAX;
}

/* For a span without a start event only the end is known, and only by polling. */
static int has_start(const struct ct_gpu_span *span)
{
	return span->events.start != NULL;
}

static enum ct_gpu_span_state state_of(struct ct_gpu_span *span)
{
	return CT_GPU_STATE(atomic_load_explicit(&span->state, memory_order_acquire));
}

/* ---- the end of a span's life
 * -------------------------------------------------------------------------- */

static void close_span(struct ct_gpu_span *span)
{
	ct_gpu_queue_over(span->stream, has_start(span) ? 2 : 1);
	ct_gpu_span_close(span);
}

static void lose(struct ct_gpu_collect *c, struct ct_gpu_span *span)
{
	c->untimed++;
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_CUDA_FAILED, 1);
	ct_gpu_record(span, 0, NULL);
	close_span(span);
}

/* ---- times
 * --------------------------------------------------------------------------------------------- */

static int time_of(struct ct_gpu_collect *c, struct ct_gpu_context *context, CUevent event,
		   uint64_t *ns, double *err_ns)
{
	uint64_t raw_ns;

	if (!ct_gpu_anchor_time(&context->anchoring, c->cuda, event, &raw_ns, err_ns))
		return 0;
	*ns = ct_gpu_host_clock_mono(&c->host, raw_ns);
	return 1;
}

/* Could the event be between these two moments? */
static int fits(uint64_t ns, double err_ns, uint64_t low_ns, uint64_t high_ns)
{
	return (double)(int64_t)(low_ns - ns) <= err_ns &&
	       (double)(int64_t)(ns - high_ns) <= err_ns;
}

static uint64_t clamp(uint64_t ns, uint64_t low_ns, uint64_t high_ns)
{
	return ns < low_ns ? low_ns : ns > high_ns ? high_ns : ns;
}

/* When the end event happened, `seen_ns` being a moment after it. A query that did not see it does
 * not bound its timestamp: the work of a device becomes visible a while later, on a busy machine
 * much later. It bounds when the host could see it, for lack of a better bound. */
static enum ct_source time_end(struct ct_gpu_collect *c, struct ct_gpu_span *span, uint64_t seen_ns,
			       uint64_t *ns, double *err_ns)
{
	uint64_t low_ns = enter_ns(span);

	if (has_start(span) && time_of(c, span->events.context, span->events.end, ns, err_ns)) {
		if (fits(*ns, *err_ns, low_ns, seen_ns)) {
			*ns = clamp(*ns, low_ns, seen_ns);
			return CT_SOURCE_EVENT;
		}
		ct_gpu_anchor_reset(&span->events.context->anchoring);
	}
	if (span->asked_ns)
		low_ns = span->asked_ns;
	*ns = low_ns + (seen_ns - low_ns) / 2;
	*err_ns = (double)(seen_ns - low_ns) / 2;
	return CT_SOURCE_POLL;
}

/* The start, as long before the end as the events say, or where it was seen when it happened:
 * whichever is known better. */
static void time_start(struct ct_gpu_span *span, float ms, double end_err_ns,
		       struct ct_gpu_times *t)
{
	const struct ct_gpu_clock *clock = &span->events.context->anchoring.clock;
	double err_ns;
	double device_ns = ct_gpu_elapsed_ns(ms, &err_ns);
	double rate = clock->n ? (clock->fast + clock->slow) / 2 : 0;
	double doubt = clock->n ? (clock->fast - clock->slow) / 2 : 0;
	uint64_t duration_ns = (uint64_t)(device_ns * (1 + rate) + 0.5);

	err_ns += end_err_ns + device_ns * doubt;
	if (t->end_source == CT_SOURCE_POLL)
		err_ns += 2 * ct_gpu_clock_stamp_ns(clock);
	t->start_source = t->end_source;
	t->start_ns = t->end_ns > duration_ns ? t->end_ns - duration_ns : 1;
	if (span->start_ns && (double)span->start_err_ns < err_ns) {
		t->start_source = CT_SOURCE_EVENT;
		t->start_ns = span->start_ns;
		err_ns = (double)span->start_err_ns;
	}
	t->start_ns = clamp(t->start_ns, enter_ns(span), t->end_ns);
	t->start_err_ns = ct_gpu_err_word(err_ns);
}

static int time_span(struct ct_gpu_collect *c, struct ct_gpu_span *span, struct ct_gpu_times *t)
{
	uint64_t seen_ns = ct_now_ns();
	double err_ns;
	float ms;

	if (!has_start(span) || span->events.context->anchoring.is_distrusted) {
		t->end_source = time_end(c, span, seen_ns, &t->end_ns, &err_ns);
		t->end_err_ns = ct_gpu_err_word(err_ns);
		return 1;
	}
	if (c->cuda->event_elapsed(&ms, span->events.start, span->events.end) != CUDA_SUCCESS ||
	    !(ms >= 0))
		return 0;
	ct_gpu_anchor_learn(&span->events.context->anchoring, ms);
	t->end_source = time_end(c, span, seen_ns, &t->end_ns, &err_ns);
	t->end_err_ns = ct_gpu_err_word(err_ns);
	time_start(span, ms, err_ns, t);
	ct_gpu_bound(t, returned_ns(span));
	return 1;
}

/* ---- one launch
 * ---------------------------------------------------------------------------------------- */

/* CUDA_SUCCESS if the stream has reached it. */
static CUresult see_start(struct ct_gpu_collect *c, struct ct_gpu_span *span)
{
	CUresult result;
	double err_ns;

	if (span->start_seen)
		return CUDA_SUCCESS;
	if (!has_start(span))
		return CUDA_ERROR_NOT_READY;
	result = c->cuda->event_query(span->events.start);
	if (result != CUDA_SUCCESS)
		return result;
	span->start_seen = ct_now_ns();
	if (time_of(c, span->events.context, span->events.start, &span->start_ns, &err_ns) &&
	    fits(span->start_ns, err_ns, enter_ns(span), span->start_seen)) {
		span->start_err_ns = ct_gpu_err_word(err_ns);
		span->start_ns = clamp(span->start_ns, enter_ns(span), span->start_seen);
	} else {
		span->start_ns = 0;
	}
	atomic_store_explicit(&span->open->start_ns,
			      span->start_ns ? span->start_ns : span->start_seen,
			      memory_order_relaxed);
	return CUDA_SUCCESS;
}

/* When it could begin, as far as that is seen: with no start event, when it was launched and the
 * one before it on its stream was over. 0: not yet. */
static uint64_t begins_ns(const struct ct_gpu_span *span)
{
	uint64_t launched_ns;

	if (has_start(span))
		return span->start_seen;
	launched_ns = span->returned_after < UINT32_MAX ? returned_ns(span) : enter_ns(span);
	return launched_ns > span->stream->done_ns ? launched_ns : span->stream->done_ns;
}

/* It is on its way: soon done if it takes as long as usual. One that is late is polled less and
 * less often. */
static void expect(struct ct_gpu_collect *c, struct ct_gpu_span *span, uint64_t now_ns)
{
	uint64_t due_ns = begins_ns(span) + usual_ns[span->kind];
	uint64_t late_ns = now_ns > due_ns ? (now_ns - due_ns) / 4 : 0;

	span->asked_ns = now_ns;
	if (!begins_ns(span) || late_ns > CT_GPU_LONGEST_NAP_NS)
		return;
	if (now_ns > due_ns)
		due_ns = now_ns + late_ns;
	worth_looking(c, due_ns > now_ns + CT_GPU_SHORTEST_NAP_NS
				 ? due_ns
				 : now_ns + CT_GPU_SHORTEST_NAP_NS);
}

static void learn(const struct ct_gpu_span *span, const struct ct_gpu_times *t)
{
	uint64_t *usually = &usual_ns[span->kind];
	uint64_t begin_ns = t->start_ns ? t->start_ns : begins_ns(span);
	uint64_t took_ns = t->end_ns > begin_ns ? t->end_ns - begin_ns : 0;

	*usually = *usually ? *usually - *usually / 8 + took_ns / 8 : took_ns;
	span->stream->done_ns = t->end_ns;
}

static void publish(struct ct_gpu_collect *c, struct ct_gpu_span *span)
{
	struct ct_gpu_times t;

	memset(&t, 0, sizeof(t));
	if (!span->has_end) {
		t.start_ns = span->start_ns;
		t.start_err_ns = span->start_ns ? span->start_err_ns : 0;
		t.start_source = span->start_ns ? CT_SOURCE_EVENT : CT_SOURCE_NONE;
		if (t.start_source != CT_SOURCE_NONE)
			ct_gpu_bound(&t, returned_ns(span));
		c->untimed++;
	} else if (time_span(c, span, &t)) {
		learn(span, &t);
		c->timed++;
	} else {
		lose(c, span);
		return;
	}
	c->events += (uint64_t)has_start(span) + (uint64_t)span->has_end;
	ct_gpu_record(span, 0, &t);
	close_span(span);
}

/* What a look at one launch says of the next one of its stream. */
enum step { DONE, STAYS, UNDONE };

static enum step look_at_span(struct ct_gpu_collect *c, struct ct_gpu_span *span, CUresult *error)
{
	uint32_t state = state_of(span);
	uint64_t now_ns;
	CUresult result;

	if (state == CT_GPU_DROPPED) {
		c->events++;
		close_span(span);
		return DONE;
	}
	/* without events only its state is known */
	if (!has_start(span) && !(state == CT_GPU_LAUNCHED && span->has_end)) {
		if (state == CT_GPU_LAUNCHED)
			publish(c, span);
		return state == CT_GPU_LAUNCHED ? DONE : STAYS;
	}
	now_ns = ct_now_ns(); /* not done then: a moment before it was asked */
	ct_poll_inside(now_ns);
	result = state == CT_GPU_LAUNCHED && span->has_end ? c->cuda->event_query(span->events.end)
							   : see_start(c, span);
	if (result == CUDA_SUCCESS && state == CT_GPU_LAUNCHED) {
		publish(c, span);
		return DONE;
	}
	if (result == CUDA_ERROR_NOT_READY && state == CT_GPU_LAUNCHED && span->has_end) {
		result = see_start(c, span);
		expect(c, span, now_ns);
		if (result == CUDA_SUCCESS)
			return UNDONE;
	}
	if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
		*error = result;
	return result == CUDA_SUCCESS ? STAYS : UNDONE;
}

/* ---- lists
 * --------------------------------------------------------------------------------------------- */

static void give_back(struct ct_gpu_pair *events)
{
	if (events->start)
		ct_gpu_events_give(&events->context->events, events->start);
	ct_gpu_events_give(&events->context->events, events->end);
	events->context = NULL;
}

/* What it is says where in its step the job is. */
static void note_sequence(const struct ct_gpu_span *span)
{
	uint64_t comm_op = ct_load_relaxed(&span->open->comm_op);
	uint8_t op = (uint8_t)comm_op;

	if (op >= CT_OP_AllReduce && op <= CT_OP_Scatter)
		ct_gpu_decide_launch(
			(uint32_t)(comm_op >> 32), ct_load_relaxed(&span->open->seq),
			(uint32_t)comm_op >> 8,
			ct_gpu_period_what(op, ct_hash_mix(ct_load_relaxed(&span->open->bytes),
							   comm_op)));
}

/* Into its stream's list: among launches of other threads, by when they were called. */
static void queue_span(struct ct_gpu_collect *c, struct ct_gpu_span *span)
{
	struct ct_gpu_stream *s = span->stream;
	struct ct_gpu_context *context = span->events.context;
	uint64_t called_ns = enter_ns(span);
	struct ct_gpu_span **at;

	if (span->old.context)
		give_back(&span->old);
	if (!s->first) {
		s->next = context->active;
		context->active = s;
		s->last_ns = 0;
		s->end = &s->first;
	}
	at = s->last_ns <= called_ns ? s->end : &s->first;
	while (*at && enter_ns(*at) <= called_ns)
		at = &(*at)->next;
	note_sequence(span);
	span->start_seen = span->start_ns = span->asked_ns = 0;
	span->kind = kind_of(span);
	span->next = *at;
	*at = span;
	if (!span->next) {
		s->end = &span->next;
		s->last_ns = called_ns;
	}
	context->used_ns = c->host.mono_ns;
}

int ct_gpu_collect_block(struct ct_gpu_collect *c, struct ct_gpu_block *block)
{
	struct ct_gpu_span *spans = &ct_gpu_spans[(block - ct_gpu_blocks) << ct_gpu_block_bits];

	for (; block->seen < ct_gpu_per_block(); block->seen++) {
		struct ct_gpu_span *span = &spans[block->seen];
		uint32_t state = atomic_load_explicit(&span->state, memory_order_acquire);

		if (CT_GPU_LAP(state) != (block->lap & CT_GPU_LAP(UINT32_MAX)))
			return 0;
		if (CT_GPU_STATE(state) != CT_GPU_PASSED)
			queue_span(c, span);
	}
	return 1;
}

static void collect_stream(struct ct_gpu_collect *c, struct ct_gpu_stream *s, CUresult *error)
{
	struct ct_gpu_span **at = &s->first;

	while (*at && *error == CUDA_SUCCESS) {
		struct ct_gpu_span *span = *at;
		struct ct_gpu_span *next = span->next;
		enum step step = look_at_span(c, span, error);

		if (step == UNDONE)
			return;
		if (step == STAYS) {
			at = &span->next;
			continue;
		}
		*at = next;
		if (!next)
			s->end = at;
	}
}

CUresult ct_gpu_collect(struct ct_gpu_collect *c, struct ct_gpu_context *context)
{
	struct ct_gpu_stream **at = &context->active;
	CUresult error = CUDA_SUCCESS;

	while (*at) {
		struct ct_gpu_stream *s = *at;

		collect_stream(c, s, &error);
		if (s->first)
			at = &s->next;
		else
			*at = s->next;
	}
	return error;
}

static void lose_stream(struct ct_gpu_collect *c, struct ct_gpu_stream *s)
{
	struct ct_gpu_span **at = &s->first;

	while (*at) {
		struct ct_gpu_span *span = *at;
		struct ct_gpu_span *next = span->next;
		uint32_t state = state_of(span);

		if (state == CT_GPU_CALLING) {
			at = &span->next;
			continue;
		}
		if (state == CT_GPU_DROPPED)
			close_span(span);
		else
			lose(c, span);
		*at = next;
		if (!next)
			s->end = at;
	}
}

void ct_gpu_collect_lost(struct ct_gpu_collect *c, struct ct_gpu_context *context)
{
	struct ct_gpu_stream **at = &context->active;

	while (*at) {
		struct ct_gpu_stream *s = *at;

		lose_stream(c, s);
		if (s->first)
			at = &s->next;
		else
			*at = s->next;
	}
}
