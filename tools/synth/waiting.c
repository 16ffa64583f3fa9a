/* SPDX-License-Identifier: Apache-2.0 */
/* waiting.c — events, and what waits for them: streams, and the CPU. What each has behind it is
 * followed as a recorder does, by vector clocks. */
#include "tools/synth/play_private.h"

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* What of `theirs` is ahead of `own`, but for launches of stream `self`. */
static void compare(const struct rank *r, const struct clock_vector *own, int self,
		    const struct clock_vector *theirs, struct waited *found)
{
	found->n = 0;
	for (int i = 0; i < r->n_streams; i++) {
		if (i == self || theirs->at[i].count <= own->at[i].count)
			continue;
		found->on[found->n].launch = theirs->at[i].launch;
		found->on[found->n++].after = own->at[i].launch;
	}
}

static void merge(const struct rank *r, struct clock_vector *own, int self,
		  const struct clock_vector *theirs)
{
	for (int i = 0; i < r->n_streams; i++) {
		if (i != self && theirs->at[i].count > own->at[i].count)
			own->at[i] = theirs->at[i];
	}
}

static struct moment *record(struct rank *r, struct stream *s)
{
	struct moment *m = ct_play_moment(r);

	if (!m)
		return NULL;
	m->stream = (int8_t)s->index;
	m->is_direct = s->own.count > 0;
	m->clock = s->waited;
	if (s->own.count)
		m->clock.at[s->index] = s->own;
	s->is_named = 1;
	m->refs++; /* the item's */
	ct_play_put(s, &(struct item){ .kind = ITEM_RECORD, .issued_ns = r->host_ns, .moment = m });
	return m;
}

void ct_play_record_event(struct rank *r, struct stream *s, int event)
{
	struct moment **at = ct_play_event(r, event);
	struct moment *m = at ? record(r, s) : NULL;

	if (!m)
		return;
	if (*at)
		ct_play_release(*at);
	*at = m;
	r->host_ns += CT_PLAY_EVENT_NS;
}

/* A stream that launches communication itself waits for what others computed before every launch:
 * what that had waited for in turn is not a wait of its own. */
static int is_to_record(const struct waited *found, const struct moment *m)
{
	return found->n && (!found->has_launched || m->is_direct);
}

void ct_play_wait_event(struct rank *r, struct stream *s, int event)
{
	struct moment **at = ct_play_event(r, event);
	struct moment *m = at ? *at : NULL;
	struct waited found = { .others = s->others, .has_launched = s->own.count > 0 };
	struct item item = { .kind = ITEM_WAIT, .moment = m };

	s->is_named = 1;
	r->host_ns += CT_PLAY_EVENT_NS;
	if (!m)
		return;
	s->is_fed |= m->stream != s->index;
	found.via = m->stream;
	compare(r, &s->waited, s->index, &m->clock, &found);
	merge(r, &s->waited, s->index, &m->clock);
	if (found.n)
		s->others = 0;
	else
		s->others |= m->stream != s->index;
	m->refs++;
	item.issued_ns = r->host_ns;
	item.is_exposing = found.n > 0;
	if (r->play->sink && r->play->sink->wait && is_to_record(&found, m))
		item.waited = ct_play_waited_new(r->play, &found);
	ct_play_put(s, &item);
}

void ct_play_mark(struct rank *r, struct stream *s)
{
	struct moment *m = record(r, s);
	struct lag *lag = &r->lag;

	if (!m || (lag->n == lag->cap && ct_play_grow_ring(r->play, (void **)&lag->at, &lag->head,
							   lag->n, &lag->cap, sizeof(*lag->at))))
		return;
	lag->at[(lag->head + lag->n++) & (lag->cap - 1)] = m;
}

/* In a call that waits for it. */
static void pass(struct rank *r, const struct moment *m)
{
	struct waited found = { .via = m->stream };
	struct ct_play_wait out = { .is_host = 1, .waiter = -1, .begin_ns = r->host_ns };

	compare(r, &r->host_waited, -1, &m->clock, &found);
	merge(r, &r->host_waited, -1, &m->clock);
	r->host_ns = later(r->host_ns, m->ns) + CT_PLAY_EVENT_NS;
	out.issued_ns = out.end_ns = r->host_ns;
	ct_play_pass_wait(r, &found, &out);
}

/* Or because the queue of its GPU is as long as it may be. */
static void keep_near(struct rank *r, const struct moment *m)
{
	const uint64_t ahead_ns = r->play->run_ahead_ns;

	if (m->ns > ahead_ns)
		r->host_ns = later(r->host_ns, m->ns - ahead_ns);
}

int ct_play_keeps_up(struct rank *r)
{
	struct lag *lag = &r->lag;

	while (lag->n) {
		struct moment *m = lag->at[lag->head & (lag->cap - 1)];

		if (!m->is_known) {
			m->host = r;
			r->state = RANK_WAITS;
			return 0;
		}
		lag->head++;
		lag->n--;
		if (lag->drains || !r->play->run_ahead_ns)
			pass(r, m);
		else
			keep_near(r, m);
		ct_play_release(m);
	}
	lag->drains = 0;
	return 1;
}
