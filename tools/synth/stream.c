/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c — what is on a stream is done in order, as far as its times are known. */
#include "tools/synth/play_private.h"

#define LATENCY_NS 5000u /* from a launch's call to its beginning on an idle GPU */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void ct_play_put(struct stream *s, const struct item *item)
{
	struct play *p = s->rank->play;

	if (s->n == s->cap &&
	    ct_play_grow_ring(p, (void **)&s->items, &s->head, s->n, &s->cap, sizeof(*s->items)))
		return;
	s->items[(s->head + s->n++) & (s->cap - 1)] = *item;
	if (!s->running && !s->is_waiting && !s->is_blocked)
		ct_play_advance(s);
}

static void know(struct moment *m, uint64_t ns)
{
	m->ns = ns;
	m->is_known = 1;
	while (m->waiters) {
		struct stream *s = m->waiters;

		m->waiters = s->next_waiter;
		s->is_waiting = 0;
		ct_play_ready_stream(s);
	}
	if (m->host) {
		struct rank *r = m->host;

		m->host = NULL;
		ct_play_cpu_woken(r);
	}
	ct_play_release(m);
}

void ct_play_pass_wait(struct rank *r, const struct waited *w, struct ct_play_wait *wait)
{
	const struct ct_play_sink *sink = r->play->sink;

	wait->via = w->via;
	wait->others = w->others;
	wait->has_launched = w->has_launched;
	for (uint32_t i = 0; i < w->n && sink && sink->wait; i++) {
		wait->launch = w->on[i].launch;
		wait->after = w->on[i].after;
		ct_play_fail(r->play, sink->wait(sink->arg, r->number, wait));
	}
}

/* 0: it stands there. */
static int wait(struct stream *s, const struct item *item, uint64_t at_ns)
{
	struct rank *r = s->rank;
	struct moment *m = item->moment;
	struct ct_play_wait event = {
		.waiter = s->index,
		.issued_ns = item->issued_ns,
		.begin_ns = at_ns,
	};

	if (!m->is_known) {
		s->next_waiter = m->waiters;
		m->waiters = s;
		s->is_waiting = 1;
		return 0;
	}
	s->ns = later(at_ns, m->ns);
	event.end_ns = s->ns;
	if (s->index == CT_STREAM_COMPUTE && item->is_exposing)
		r->sums.exposed_ns += s->ns - at_ns;
	if (item->waited) {
		ct_play_pass_wait(r, item->waited, &event);
		ct_play_waited_free(r->play, item->waited);
	}
	ct_play_release(m);
	return 1;
}

static void launch(struct stream *s, struct launch *l, uint64_t at_ns)
{
	struct rank *r = s->rank;

	l->reached_ns = ct_play_span_leave(&r->paused, at_ns);
	l->start_ns = ct_play_span_leave(&r->starved, l->reached_ns);
	r->play->sums->busy_ns += (double)(l->start_ns - l->reached_ns);
	l->start_ns = ct_play_span_leave(&r->paused, l->start_ns);
	s->ns = l->start_ns;
	s->running = l;
	ct_play_meet(l);
}

void ct_play_launch_done(struct launch *l)
{
	struct rank *r = l->rank;
	struct stream *s = l->stream;
	const struct ct_play_sink *sink = r->play->sink;
	const struct ct_play_launch event = {
		.comm = l->comm,
		.stream = s->index,
		.id = l->id,
		.n_ops = l->n_ops,
		.issued_ns = l->issued_ns,
		.reached_ns = l->reached_ns,
		.start_ns = l->start_ns,
		.end_ns = l->end_ns,
		.wait_ns = l->wait_ns,
		.first = &l->ops[0].op,
		.first_seq = l->ops[0].seq,
	};

	if (l->lingers)
		return;
	if (sink && sink->launch)
		ct_play_fail(r->play, sink->launch(sink->arg, r->number, &event));
	ct_play_cover_add(&r->waits, l->start_ns, l->start_ns + l->wait_ns);
	if (s->index == CT_STREAM_COMPUTE)
		r->sums.exposed_ns += l->end_ns - l->reached_ns;
	r->sums.launches++;
	r->sums.end_ns = later(r->sums.end_ns, l->end_ns);
	s->ns = l->end_ns;
	s->running = NULL;
	ct_play_launch_free(l);
	ct_play_ready_stream(s);
}

static void begin_step(struct play *p, uint64_t step, uint64_t at_ns)
{
	struct ct_play_sums *sums = p->sums;

	if (step < p->config->steps && at_ns < sums->step_ns[step])
		sums->step_ns[step] = at_ns;
}

/* 0: it is not done yet. */
static int carry_out(struct stream *s, const struct item *item)
{
	struct play *p = s->rank->play;
	const uint64_t at_ns = later(s->ns, item->issued_ns);
	const uint64_t begin_ns = later(s->ns, item->issued_ns + LATENCY_NS);

	if (p->sums->kill_ns && at_ns >= p->sums->kill_ns) {
		s->is_blocked = 1;
		return 0;
	}
	switch (item->kind) {
	case ITEM_COMPUTE:
		s->ns = ct_play_span_work(&s->rank->paused, begin_ns, item->ns);
		return 1;
	case ITEM_RECORD:
		s->ns = at_ns;
		know(item->moment, at_ns);
		return 1;
	case ITEM_WAIT:
		return wait(s, item, at_ns);
	case ITEM_BLOCK:
		s->ns = begin_ns;
		s->is_blocked = 1;
		return 0;
	case ITEM_STEP:
		begin_step(p, item->ns, at_ns);
		return 1;
	case ITEM_LAUNCH:
		launch(s, item->launch, begin_ns);
		return 1;
	}
	return 1;
}

void ct_play_advance(struct stream *s)
{
	while (s->n && !s->running && !s->is_waiting && !s->is_blocked) {
		const struct item item = s->items[s->head & (s->cap - 1)];

		if (!carry_out(s, &item))
			return;
		s->head++;
		s->n--;
	}
}
