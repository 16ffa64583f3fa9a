/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/windows.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"

void ct_window_fini(struct ct_window *w)
{
	ct_waits_fini(&w->waits);
	ct_table_fini(&w->within);
	free(w->instance.members);
	free(w->held);
	free(w->anchors);
	*w = (struct ct_window){ 0 };
}

/* ---- who waited for whom ---- */

/* An anchor for each seat that there is by now. 0 or CT_NOMEM. */
static int make_anchors(struct ct_window *w, uint32_t n)
{
	struct ct_anchor *anchors;

	if (n <= w->n_anchors)
		return CT_OK;
	anchors = realloc(w->anchors, n * sizeof(*anchors));
	if (!anchors)
		return CT_NOMEM;
	memset(&anchors[w->n_anchors], 0, (n - w->n_anchors) * sizeof(*anchors));
	w->anchors = anchors;
	w->n_anchors = n;
	return CT_OK;
}

/* What makes times of seat `a` times of seat `b`. 0: that is not known. */
static int relate(const struct ct_window *w, const uint32_t *host_of, uint32_t a, uint32_t b,
		  uint64_t *shift)
{
	const struct ct_anchor *from = &w->anchors[a], *to = &w->anchors[b];

	*shift = 0;
	if (host_of[a] == host_of[b])
		return 1;
	if (!from->comm || from->comm != to->comm || from->seq != to->seq)
		return 0;
	*shift = to->end_ns - from->end_ns;
	return 1;
}

/* Note the wait; 0: how the two clocks stand is not known yet. */
static int hold(struct ct_window *w, struct ct_stream *stream, const struct ct_held *h)
{
	uint64_t shift, until_ns;

	if (!relate(w, stream->model.host_of, h->other, h->seat, &shift))
		return 0;
	until_ns = h->other_ns + shift;
	if ((int64_t)(until_ns - h->asked_ns) <= 0)
		return 1;
	/* A short message may leave before anybody asks for it. */
	if (until_ns >= h->end_ns && h->is_send)
		return 1;
	ct_calls_hold(&stream->activities[h->seat].calls, h->asked_ns,
		      until_ns < h->end_ns ? until_ns : h->end_ns);
	return 1;
}

static int keep(struct ct_window *w, const struct ct_held *h)
{
	if (w->n_held == CT_HELD_MAX)
		return CT_OK;
	if (ct_grow(&w->held, &w->cap_held, w->n_held + 1, sizeof(*w->held)))
		return CT_NOMEM;
	w->held[w->n_held++] = *h;
	return CT_OK;
}

/* `m` needed the other's part of the message, if it was in a call then. 0 or CT_NOMEM. */
static int wait_for(struct ct_window *w, struct ct_stream *stream, const struct ct_member *m,
		    const struct ct_member *other)
{
	const struct ct_held h = {
		.seat = m->seat,
		.other = other->seat,
		.is_send = m->index == 0,
		.asked_ns = m->asked_ns,
		.end_ns = m->end_ns,
		.other_ns = other->start_ns,
	};

	if (!m->asked_ns || m->asked_ns >= m->end_ns || !other->start_ns || hold(w, stream, &h))
		return CT_OK;
	return keep(w, &h);
}

int ct_window_message(struct ct_window *w, struct ct_stream *stream, const struct ct_instance *i)
{
	if (make_anchors(w, stream->model.n_seats) != CT_OK ||
	    wait_for(w, stream, &i->members[0], &i->members[1]) != CT_OK)
		return CT_NOMEM;
	return wait_for(w, stream, &i->members[1], &i->members[0]);
}

static int is_blocking(const struct ct_member *m)
{
	return m->asked_ns && !m->posted && !m->on_gpu && !m->group;
}

/* Of what could not be told before: what can be told now. */
static void settle(struct ct_window *w, struct ct_stream *stream)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < w->n_held; k++) {
		if (!hold(w, stream, &w->held[k]) && ++w->held[k].tries < CT_HELD_TRIES)
			w->held[n++] = w->held[k];
	}
	w->n_held = n;
}

int ct_window_collective(struct ct_window *window, struct ct_stream *stream,
			 const struct ct_instance_event *event)
{
	const struct ct_instance *i = event->instance;
	const struct ct_waits *w = event->waits;
	int together = ct_op_class(i->members[0].op) == CT_CLASS_SYNC;

	if (make_anchors(window, stream->model.n_seats) != CT_OK)
		return CT_NOMEM;

	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];

		together &= is_blocking(member);
		if (member->asked_ns && w->wait_ns[m])
			ct_calls_hold(&stream->activities[member->seat].calls, member->asked_ns,
				      member->asked_ns + w->wait_ns[m]);
	}
	for (uint32_t m = 0; m < i->n && together; m++) {
		struct ct_anchor *anchor = &window->anchors[i->members[m].seat];

		if (!anchor->comm || i->comm->nranks >= anchor->comm->nranks)
			*anchor = (struct ct_anchor){ i->comm, i->seq, i->members[m].end_ns };
	}
	if (together)
		settle(window, stream);
	return CT_OK;
}

/* ---- windows ---- */

static int has_seat(const struct ct_comm *comm, uint32_t seat)
{
	for (uint32_t r = 0; r < comm->nranks; r++) {
		if (comm->seats[r] == seat)
			return 1;
	}
	return 0;
}

/* Are the members of `inner`, all of them known, members of `outer` too? Negative: out of memory. */
static int is_within(struct ct_window *w, const struct ct_comm *inner, const struct ct_comm *outer)
{
	uint64_t key = (uint64_t)inner->index << 32 | outer->index;
	static const char yes, no;
	const char *known = ct_table_get(&w->within, key);
	int is = 1;

	if (inner == outer)
		return 1;
	if (known)
		return known == &yes;
	if (inner->n_known < inner->nranks)
		return 0;
	for (uint32_t r = 0; r < inner->nranks && is; r++)
		is = has_seat(outer, inner->seats[r]);
	if (ct_table_put(&w->within, key, (void *)(uintptr_t)(is ? &yes : &no)) != CT_OK)
		return CT_NOMEM;
	return is;
}

/* Did all that the seat's messages since then went to or came from take part here? */
static int stays_within(struct ct_window *w, const struct ct_activity *activity,
			const struct ct_member *m, const struct ct_comm *comm)
{
	for (uint32_t i = 0; i < activity->n_partners; i++) {
		int is = activity->partners[i].last_ns > m->since_ns
				 ? is_within(w, activity->partners[i].comm, comm)
				 : 1;

		if (is != 1)
			return is;
	}
	return 1;
}

static int make_room(struct ct_window *w, uint32_t n)
{
	if (ct_grow(&w->instance.members, &w->cap, n, sizeof(*w->instance.members)))
		return CT_NOMEM;
	return ct_waits_room(&w->waits, n);
}

/* What each member did in the window, and how long that was for the one for which it was shortest. Returns 1, 0 if that
 * is not known of everybody or there were no messages, or CT_NOMEM. */
static int sum_up(struct ct_window *w, const struct ct_stream *stream, const struct ct_instance *i,
		  uint64_t *shortest_ns)
{
	uint64_t messages = 0;

	*shortest_ns = UINT64_MAX;
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];
		const struct ct_activity *activity = &stream->activities[member->seat];
		uint64_t length = member->end_ns - member->since_ns;
		uint64_t edge = (uint64_t)member->start_err_ns + member->end_err_ns;
		struct ct_call_sum sum;
		int inside;

		if (!is_blocking(member) || !member->since_ns ||
		    stream->model.seats[member->seat].vague_ns > member->since_ns ||
		    member->since_seq != i->members[0].since_seq ||
		    member->end_ns <= member->since_ns ||
		    !ct_calls_sum(&activity->calls, member->since_ns, member->end_ns, &sum))
			return 0;
		inside = stays_within(w, activity, member, i->comm);
		if (inside != 1)
			return inside;
		messages += sum.messages;
		*shortest_ns = length < *shortest_ns ? length : *shortest_ns;
		w->instance.members[m] = *member;
		w->instance.members[m].start_ns = member->end_ns;
		w->instance.members[m].free_ns = length - sum.inside_ns;
		w->waits.wait_ns[m] = sum.held_ns;
		w->waits.arrival_err_ns[m] = (sum.calls + 1) * edge;
	}
	return messages > 0;
}

int ct_window_judge(struct ct_window *w, const struct ct_stream *stream,
		    const struct ct_instance_event *event)
{
	const struct ct_instance *i = event->instance;
	struct ct_waits *waits = &w->waits;
	uint64_t shortest, first = UINT64_MAX;
	struct ct_member *members;
	int st;

	if (make_room(w, i->n) != CT_OK)
		return CT_NOMEM;
	st = sum_up(w, stream, i, &shortest);
	if (st != 1)
		return st;
	members = w->instance.members;
	w->instance = *i;
	w->instance.members = members;
	waits->judged = CT_JUDGED_WAITS;
	waits->is_window = 1;
	waits->one_clock = event->waits->one_clock;
	waits->exit_skew_ns = UINT64_MAX;
	waits->transfer_ns = 0;
	for (uint32_t m = 0; m < i->n; m++) {
		uint64_t held = waits->wait_ns[m];

		waits->arrival_ns[m] = held < shortest ? shortest - held : 0;
		first = waits->arrival_ns[m] < first ? waits->arrival_ns[m] : first;
	}
	for (uint32_t m = 0; m < i->n; m++) {
		waits->arrival_ns[m] -= first;
		w->followed += i->members[m].messages;
	}
	ct_waits_median(i, waits);
	return 1;
}
