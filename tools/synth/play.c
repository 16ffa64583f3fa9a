/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/synth/play.h"

#include <stdlib.h>
#include <string.h>

#include "tools/synth/noise.h"
#include "tools/synth/play_private.h"
#include "trace/status.h"

#define BEGIN_NS 50000000u   /* when the first rank is ready to make communicators ... */
#define START_SPREAD_NS 20e6 /* ... and the last one so much later */

int ct_play_fail(struct play *p, int status)
{
	if (status && !p->status)
		p->status = status;
	return status;
}

/* ---- memory ---- */

void *ct_play_alloc(struct play *p, size_t n, size_t size)
{
	void *at = calloc(n ? n : 1, size);

	if (!at)
		ct_play_fail(p, CT_NOMEM);
	return at;
}

void ct_play_free(void *at)
{
	free(at);
}

int ct_play_grow_ring(struct play *p, void **array, uint32_t *head, uint32_t n, uint32_t *cap,
		      size_t size)
{
	const uint32_t more = *cap ? 2 * *cap : 8;
	char *at = ct_play_alloc(p, more, size);

	if (!at)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		memcpy(at + i * size, (char *)*array + ((*head + i) & (*cap - 1)) * size, size);
	free(*array);
	*array = at;
	*head = 0;
	*cap = more;
	return 0;
}

struct moment *ct_play_moment(struct rank *r)
{
	struct moment *m = r->free_moments;

	if (m) {
		r->free_moments = m->free;
	} else {
		m = ct_play_alloc(r->play, 1, sizeof(*m));
		if (!m)
			return NULL;
		m->rank = r;
		m->all = r->play->moments;
		r->play->moments = m;
	}
	m->ns = 0;
	m->refs = 1;
	m->is_known = 0;
	m->waiters = NULL;
	m->host = NULL;
	return m;
}

void ct_play_release(struct moment *m)
{
	if (--m->refs)
		return;
	m->free = m->rank->free_moments;
	m->rank->free_moments = m;
}

struct moment **ct_play_event(struct rank *r, int event)
{
	if ((uint32_t)event >= r->n_events) {
		uint32_t n = r->n_events ? r->n_events : 64;
		struct moment **more;

		while (n <= (uint32_t)event)
			n *= 2;
		more = realloc(r->events, n * sizeof(struct moment *));
		if (!more) {
			ct_play_fail(r->play, CT_NOMEM);
			return NULL;
		}
		memset(more + r->n_events, 0, (n - r->n_events) * sizeof(struct moment *));
		r->events = more;
		r->n_events = n;
	}
	return &r->events[event];
}

struct launch *ct_play_launch_new(struct rank *r)
{
	struct play *p = r->play;
	struct launch *l = r->free_launches;

	if (l) {
		r->free_launches = l->free;
	} else {
		l = ct_play_alloc(p, 1, sizeof(*l));
		if (!l)
			return NULL;
		l->all = p->launches;
		p->launches = l;
	}
	l->rank = r;
	l->stream = NULL;
	l->id = ++r->launches;
	l->n_ops = l->left = 0;
	l->reached_ns = l->start_ns = l->end_ns = l->wait_ns = 0;
	l->is_stuck = l->lingers = 0;
	return l;
}

void ct_play_launch_free(struct launch *l)
{
	l->free = l->rank->free_launches;
	l->rank->free_launches = l;
}

struct launch_op *ct_play_launch_op(struct launch *l)
{
	if (l->n_ops == l->cap_ops) {
		const uint32_t cap = l->cap_ops ? 2 * l->cap_ops : 1;
		struct launch_op *more = realloc(l->ops, cap * sizeof(*more));

		if (!more) {
			ct_play_fail(l->rank->play, CT_NOMEM);
			return NULL;
		}
		l->ops = more;
		l->cap_ops = cap;
	}
	return &l->ops[l->n_ops++];
}

struct waited *ct_play_waited_new(struct play *p, const struct waited *from)
{
	struct waited *w = p->free_waited, *all;

	if (w) {
		p->free_waited = w->free;
	} else {
		w = ct_play_alloc(p, 1, sizeof(*w));
		if (!w)
			return NULL;
		w->all = p->waited;
		p->waited = w;
	}
	all = w->all;
	*w = *from;
	w->all = all;
	return w;
}

void ct_play_waited_free(struct play *p, struct waited *w)
{
	w->free = p->free_waited;
	p->free_waited = w;
}

/* ---- which ranks can go on ---- */

void ct_play_ready_rank(struct rank *r)
{
	struct play *p = r->play;

	if (r->is_ready)
		return;
	r->is_ready = 1;
	r->next_ready = NULL;
	*p->ranks_end = r;
	p->ranks_end = &r->next_ready;
}

void ct_play_ready_stream(struct stream *s)
{
	struct play *p = s->rank->play;

	if (s->is_ready)
		return;
	s->is_ready = 1;
	s->next_ready = NULL;
	*p->ready_end = s;
	p->ready_end = &s->next_ready;
}

static void advance_streams(struct play *p)
{
	while (p->ready_first && !p->status) {
		struct stream *s = p->ready_first;

		p->ready_first = s->next_ready;
		if (!p->ready_first)
			p->ready_end = &p->ready_first;
		s->is_ready = 0;
		ct_play_advance(s);
	}
}

static void go_on(struct play *p)
{
	advance_streams(p);
	while (p->ranks_first && !p->status) {
		struct rank *r = p->ranks_first;

		p->ranks_first = r->next_ready;
		if (!p->ranks_first)
			p->ranks_end = &p->ranks_first;
		r->is_ready = 0;
		ct_play_cpu(r);
		advance_streams(p);
	}
}

/* ---- around it ---- */

static uint64_t killed_at(const struct play *p, int rank, int *signal)
{
	for (size_t i = 0; i < p->config->n_faults; i++) {
		const struct ct_fault *fault = &p->config->faults[i];

		if (fault->kind != CT_FAULT_KILL || fault->rank != rank ||
		    !ct_fault_has(fault, CT_KEY_ms))
			continue;
		*signal = fault->signal ? fault->signal : 9;
		return (uint64_t)(fault->ms * 1e6) + 1;
	}
	return 0;
}

static int open_rank(struct play *p, int number)
{
	struct rank *r = &p->ranks[number];
	const uint64_t seed = p->config->seed, own = (uint64_t)number;
	const struct ct_play_world *world = p->world;

	r->play = p;
	r->number = number;
	r->it = ct_workload_open(p->w, number);
	if (!r->it)
		return ct_play_fail(p, CT_NOMEM);
	r->host_ns = BEGIN_NS +
		     (uint64_t)(START_SPREAD_NS * ct_noise_uniform(seed, CT_NOISE_START, own, 0));
	r->own_pace = 1 + world->spread_pct / 100 *
				  (2 * ct_noise_uniform(seed, CT_NOISE_SPREAD, own, 0) - 1);
	r->skew_ns = (uint64_t)(1000 * world->end_skew_fixed_us *
				ct_noise_uniform(seed, CT_NOISE_SKEW_FIXED, own, 0));
	r->hiccup_at = UINT32_MAX;
	r->ending_comm = -1;
	r->kill_at_ns = killed_at(p, number, &r->code);
	for (int comm = 0; comm < ct_workload_n_comms(p->w); comm++) {
		const int member = ct_workload_peer(p->w, comm, number);

		if (member < 0)
			continue;
		if (r->n_seats + CT_STREAM_COMMS == CT_PLAY_STREAMS)
			return ct_play_fail(p, CT_FULL);
		r->seats[r->n_seats++] = (struct seat){ .comm = comm };
	}
	r->n_streams = CT_STREAM_COMMS + r->n_seats;
	for (int i = 0; i < r->n_streams; i++) {
		r->streams[i].rank = r;
		r->streams[i].index = i;
		r->streams[i].ns = BEGIN_NS;
	}
	ct_play_ready_rank(r);
	return 0;
}

static void pass_open(struct play *p, const struct launch *l)
{
	const struct ct_play_launch out = {
		.comm = l->comm,
		.stream = l->stream->index,
		.id = l->id,
		.n_ops = l->n_ops,
		.issued_ns = l->issued_ns,
		.reached_ns = l->reached_ns,
		.start_ns = l->start_ns,
		.first = &l->ops[0].op,
		.first_seq = l->ops[0].seq,
	};

	ct_play_fail(p, p->sink->open(p->sink->arg, l->rank->number, &out));
}

static void pass_rest(struct play *p, struct rank *r)
{
	for (int i = 0; i < r->n_streams; i++) {
		const struct stream *s = &r->streams[i];

		if (s->running && p->sink->open)
			pass_open(p, s->running);
		for (uint32_t k = 0; k < s->n && p->sink->open; k++) {
			const struct item *item = &s->items[(s->head + k) & (s->cap - 1)];

			if (item->kind == ITEM_LAUNCH)
				pass_open(p, item->launch);
		}
	}
	/* Inside the call that launches it. */
	if (r->group && r->group->stream && p->sink->open)
		pass_open(p, r->group);
	if (p->sink->end)
		ct_play_fail(p, p->sink->end(p->sink->arg, r->number, r->sums.end, r->code,
					     r->sums.end_ns));
}

static void add_comm_bytes(struct play *p)
{
	uint64_t *bytes = p->sums->comm_bytes;

	for (int i = 0; i < ct_workload_n_comms(p->w); i++)
		bytes[i] = (uint64_t)p->comms[i].wire_bytes * (uint64_t)p->comms[i].about->n;
	for (size_t i = 0; i < p->channels.cap; i++) {
		const struct channel *channel = p->channels.at[i].value;

		if (channel)
			bytes[channel->comm] += (uint64_t)channel->bytes;
	}
}

static void sum_up(struct play *p)
{
	struct ct_play_sums *sums = p->sums;

	for (int i = 0; i < p->config->ranks; i++) {
		struct rank *r = &p->ranks[i];

		if (r->state != RANK_ENDED) {
			r->sums.end = CT_PLAY_STUCK;
			r->sums.end_ns = r->host_ns > r->sums.end_ns ? r->host_ns : r->sums.end_ns;
		}
		if (r->sums.end != CT_PLAY_THROUGH)
			sums->is_stuck = 1;
		r->sums.wait_ns = ct_play_cover_sum(&r->waits);
		sums->ranks[i] = r->sums;
		sums->ops += r->sums.ops;
		sums->end_ns = r->sums.end_ns > sums->end_ns ? r->sums.end_ns : sums->end_ns;
	}
	while (sums->n_steps < p->config->steps && sums->step_ns[sums->n_steps] != UINT64_MAX)
		sums->n_steps++;
	add_comm_bytes(p);
	if (p->config->ranks <= CT_PLAY_MATRIX)
		ct_play_carry_rest(p);
}

static int make(struct play *p)
{
	const size_t ranks = (size_t)p->config->ranks, steps = (size_t)p->config->steps;
	struct ct_play_sums *sums = p->sums;

	p->ranks = ct_play_alloc(p, ranks, sizeof(*p->ranks));
	sums->ranks = ct_play_alloc(p, ranks, sizeof(*sums->ranks));
	sums->step_ns = ct_play_alloc(p, steps, sizeof(*sums->step_ns));
	sums->comm_bytes = ct_play_alloc(p, (size_t)ct_workload_n_comms(p->w),
					 sizeof(*sums->comm_bytes));
	if (ranks <= CT_PLAY_MATRIX)
		sums->wire_bytes = ct_play_alloc(p, ranks * ranks, sizeof(*sums->wire_bytes));
	if (p->status || ct_play_meet_init(p))
		return p->status;
	memset(sums->step_ns, 0xff, steps * sizeof(*sums->step_ns));
	for (size_t i = 0; i < ranks && !p->status; i++)
		open_rank(p, (int)i);
	return p->status;
}

static void free_rank(struct rank *r)
{
	ct_workload_close(r->it);
	for (int i = 0; i < r->n_streams; i++)
		free(r->streams[i].items);
	for (int i = 0; i < r->n_seats; i++)
		free(r->seats[i].messages);
	free(r->events);
	free(r->lag.at);
}

static void unmake(struct play *p)
{
	struct moment *m, *next_m;
	struct launch *l, *next_l;
	struct waited *w, *next_w;

	for (int i = 0; p->ranks && i < p->config->ranks; i++)
		free_rank(&p->ranks[i]);
	free(p->ranks);
	ct_play_meet_free(p);
	for (size_t i = 0; i < p->gatherings.cap; i++) {
		struct gathering *g = p->gatherings.at[i].value;

		if (g) {
			free(g->ranks);
			free(g->enter_ns);
		}
		free(g);
	}
	ct_synth_map_free(&p->gatherings);
	for (m = p->moments; m; m = next_m) {
		next_m = m->all;
		free(m);
	}
	for (l = p->launches; l; l = next_l) {
		next_l = l->all;
		free(l->ops);
		free(l);
	}
	for (w = p->waited; w; w = next_w) {
		next_w = w->all;
		free(w);
	}
}

int ct_play(const struct ct_workload *workload, const struct ct_play_world *world,
	    const struct ct_play_sink *sink, struct ct_play_sums *sums)
{
	struct play p = {
		.w = workload,
		.config = ct_workload_config(workload),
		.world = world,
		.sink = sink,
		.sums = sums,
		.run_ahead_ns = ct_workload_run_ahead_ns(workload),
	};

	memset(sums, 0, sizeof(*sums));
	p.ready_end = &p.ready_first;
	p.ranks_end = &p.ranks_first;
	if (!make(&p)) {
		do
			go_on(&p);
		while (!p.status && ct_play_meet_without(&p));
		sum_up(&p);
		for (int i = 0; i < p.config->ranks && sink && !p.status; i++)
			pass_rest(&p, &p.ranks[i]);
	}
	unmake(&p);
	return p.status;
}

void ct_play_sums_free(struct ct_play_sums *sums)
{
	free(sums->step_ns);
	free(sums->ranks);
	free(sums->wire_bytes);
	free(sums->comm_bytes);
	memset(sums, 0, sizeof(*sums));
}
