/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/match/waits.h"

#include <stdlib.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "trace/status.h"

void ct_waits_fini(struct ct_waits *waits)
{
	free(waits->wait_ns);
	*waits = (struct ct_waits){ 0 };
}

/* One allocation for the four arrays. */
int ct_waits_room(struct ct_waits *waits, uint32_t n)
{
	uint64_t *all;

	if (n <= waits->cap)
		return CT_OK;
	all = malloc(4 * (size_t)n * sizeof(*all));
	if (!all)
		return CT_NOMEM;
	free(waits->wait_ns);
	waits->wait_ns = all;
	waits->arrival_ns = all + n;
	waits->arrival_err_ns = all + 2 * (size_t)n;
	waits->scratch = all + 3 * (size_t)n;
	waits->cap = n;
	return CT_OK;
}

static uint64_t duration(const struct ct_member *m)
{
	return m->end_ns - m->start_ns;
}

void ct_waits_median(const struct ct_instance *i, struct ct_waits *w)
{
	uint32_t n = i->n;

	for (uint32_t m = 0; m < n; m++)
		w->scratch[m] = w->arrival_ns[m];
	ct_sort(w->scratch, n, sizeof(*w->scratch), ct_by_u64);
	w->median_ns = n % 2 ? w->scratch[n / 2]
			     : w->scratch[n / 2 - 1] +
				       (w->scratch[n / 2] - w->scratch[n / 2 - 1]) / 2;
}

/* Arrivals from the one clock. */
static void arrive_by_start(const struct ct_instance *i, struct ct_waits *w)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t m = 0; m < i->n; m++)
		first = i->members[m].start_ns < first ? i->members[m].start_ns : first;
	for (uint32_t m = 0; m < i->n; m++) {
		w->arrival_ns[m] = i->members[m].start_ns - first;
		w->arrival_err_ns[m] = i->members[m].start_err_ns;
	}
}

/* When the rank waited for it. */
static uint64_t asked(const struct ct_member *m)
{
	return m->posted && m->asked_ns > m->start_ns ? m->asked_ns : m->start_ns;
}

/* How long the member had been in a call that waited for it, up to this time on its clock. */
static uint64_t waited_in_call(const struct ct_member *m, uint64_t until_ns)
{
	uint64_t from = asked(m);

	until_ns = until_ns < m->end_ns ? until_ns : m->end_ns;
	return until_ns > from ? until_ns - from : 0;
}

struct ct_asked ct_instance_asked(const struct ct_instance *i)
{
	struct ct_asked a = { UINT64_MAX, UINT64_MAX };

	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];

		a.first_ns = asked(member) < a.first_ns ? asked(member) : a.first_ns;
		a.end_ns = member->end_ns < a.end_ns ? member->end_ns : a.end_ns;
	}
	return a;
}

uint64_t ct_member_came(const struct ct_member *m, struct ct_asked a)
{
	return asked(m) > a.first_ns && asked(m) <= a.end_ns ? asked(m) : m->start_ns;
}

static int is_posted(const struct ct_instance *i)
{
	int posted = 0;

	for (uint32_t m = 0; m < i->n; m++)
		posted |= i->members[m].posted;
	return posted;
}

/* Some ends are only when the program asked: the transfer ended before the first of them, and no
 * member waited longer than until the last of them let it progress. */
static void judge_posted(const struct ct_instance *i, struct ct_waits *w)
{
	uint64_t last_start = 0, first_end = UINT64_MAX;
	struct ct_asked a = ct_instance_asked(i);

	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];
		uint64_t came = ct_member_came(member, a);

		last_start = came > last_start ? came : last_start;
		first_end = member->end_ns < first_end ? member->end_ns : first_end;
	}
	for (uint32_t m = 0; m < i->n; m++)
		w->wait_ns[m] = waited_in_call(&i->members[m], last_start);
	w->transfer_ns = first_end > last_start ? first_end - last_start : 0;
	/* that is not a skew of simultaneous ends */
	w->exit_skew_ns = UINT64_MAX;
	w->judged = CT_JUDGED_WAITS;
}

/* The shorter a member's own span, the later it came. */
static void arrive_by_duration(const struct ct_instance *i, uint64_t skew_ns, struct ct_waits *w)
{
	uint64_t longest = 0;

	for (uint32_t m = 0; m < i->n; m++)
		longest = duration(&i->members[m]) > longest ? duration(&i->members[m]) : longest;
	for (uint32_t m = 0; m < i->n; m++) {
		w->arrival_ns[m] = longest - duration(&i->members[m]);
		w->arrival_err_ns[m] = (uint64_t)i->members[m].start_err_ns +
				       i->members[m].end_err_ns + skew_ns;
	}
}

/* On one clock: did every member end after all had started, within the errors of these times? If
 * not, the operation did not synchronize (some have no data, or it is not one operation), and no
 * member waited for the last. *skew: latest minus earliest end. */
static int is_synchronised(const struct ct_instance *i, uint64_t *skew)
{
	const struct ct_member *starter = &i->members[0], *ender = starter;
	uint64_t last_end = 0, slack;

	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];

		if (member->start_ns > starter->start_ns)
			starter = member;
		if (member->end_ns < ender->end_ns)
			ender = member;
		last_end = member->end_ns > last_end ? member->end_ns : last_end;
	}
	*skew = last_end - ender->end_ns;
	slack = (uint64_t)starter->start_err_ns + ender->end_err_ns;
	return starter->start_ns <= ender->end_ns || starter->start_ns - ender->end_ns <= slack;
}

static void judge_sync(const struct ct_instance *i, uint64_t skew_ns, struct ct_waits *w)
{
	uint64_t shortest = UINT64_MAX;

	for (uint32_t m = 0; m < i->n; m++)
		shortest = duration(&i->members[m]) < shortest ? duration(&i->members[m])
							       : shortest;
	if (w->one_clock) {
		if (!is_synchronised(i, &w->exit_skew_ns))
			return;
		arrive_by_start(i, w);
	} else if (is_posted(i)) {
		return;
	} else {
		arrive_by_duration(i, skew_ns, w);
	}
	if (is_posted(i)) {
		judge_posted(i, w);
		return;
	}
	w->transfer_ns = shortest;
	for (uint32_t m = 0; m < i->n; m++)
		w->wait_ns[m] = duration(&i->members[m]) - shortest;
	w->judged = CT_JUDGED_WAITS;
}

/* `b` after `a`, but not longer than `most`. */
static uint64_t after(uint64_t b, uint64_t a, uint64_t most)
{
	uint64_t d = b > a ? b - a : 0;

	return d < most ? d : most;
}

static void judge_rooted(const struct ct_instance *i, struct ct_waits *w)
{
	const struct ct_member *root = NULL;
	const struct ct_member *last_ender = &i->members[0];
	uint64_t last_other = 0;
	unsigned op = i->members[0].op;

	if (!w->one_clock || op == CT_OP_Scan || op == CT_OP_Exscan)
		return;
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];

		w->wait_ns[m] = 0;
		if (member->end_ns > last_ender->end_ns)
			last_ender = member;
		if (member->root >= 0 && (uint32_t)member->root == member->index)
			root = member;
		else if (member->start_ns > last_other)
			last_other = member->start_ns;
	}
	if (!root)
		return;
	arrive_by_start(i, w);
	if (op == CT_OP_Broadcast || op == CT_OP_Scatter) {
		uint64_t from = root->start_ns > last_ender->start_ns ? root->start_ns
								      : last_ender->start_ns;

		for (uint32_t m = 0; m < i->n; m++)
			w->wait_ns[m] = waited_in_call(&i->members[m], root->start_ns);
		w->transfer_ns = after(last_ender->end_ns, from, UINT64_MAX);
	} else {
		uint64_t from = root->start_ns > last_other ? root->start_ns : last_other;

		w->wait_ns[root - i->members] = waited_in_call(root, last_other);
		w->transfer_ns = after(root->end_ns, from, UINT64_MAX);
	}
	w->judged = CT_JUDGED_WAITS;
}

/* Is this member's end that of the message, which could not move before `both_ns`? Not where its
 * call ended other operations too, nor where it may have ended long before the program asked. */
static int shows_end(const struct ct_member *m, uint64_t both_ns)
{
	if (m->shared)
		return 0;
	return !m->posted || m->asked_ns <= both_ns ||
	       (m->end_ns > m->asked_ns && m->end_ns - m->asked_ns > CT_AT_ONCE_NS);
}

/* The shorter of the two spans belongs to the later end, if its arrival is known, and is not before
 * both had arrived. */
static uint64_t transfer_of(const struct ct_member *send, const struct ct_member *recv,
			    int one_clock)
{
	uint64_t both = send->start_ns > recv->start_ns ? send->start_ns : recv->start_ns;
	const struct ct_member *end = NULL;
	uint64_t x = CT_NO_TRANSFER, most;

	if (!recv->posted && !send->posted && !recv->shared && !send->shared)
		return duration(send) < duration(recv) ? duration(send) : duration(recv);
	/* how much of a span was waiting is not known */
	if (!one_clock)
		return CT_NO_TRANSFER;
	if (shows_end(send, both)) {
		end = send;
		x = duration(send);
	}
	if (shows_end(recv, both)) {
		end = recv;
		x = duration(recv) < x ? duration(recv) : x;
	}
	if (!end)
		return CT_NO_TRANSFER;
	/* A short message may have left before. */
	most = after(end->end_ns, both, UINT64_MAX);
	return most && most < x ? most : x;
}

static void judge_message(const struct ct_instance *i, struct ct_waits *w)
{
	uint32_t s = i->members[0].index == 0 ? 0 : 1;
	const struct ct_member *send = &i->members[s], *recv = &i->members[1 - s];
	struct ct_asked a = ct_instance_asked(i);

	w->transfer_ns = transfer_of(send, recv, w->one_clock);
	w->judged = CT_JUDGED_TRANSFER;
	if (!w->one_clock)
		return;
	arrive_by_start(i, w);
	w->wait_ns[1 - s] = waited_in_call(recv, ct_member_came(send, a));
	/* A short message may leave before the receiver asks for it: then the sender did not wait.
	 */
	w->wait_ns[s] = send->end_ns > recv->start_ns
				? waited_in_call(send, ct_member_came(recv, a))
				: 0;
	w->judged = CT_JUDGED_WAITS;
}

int ct_waits_judge(const struct ct_instance *i, const uint32_t *hosts, uint64_t skew_ns,
		   struct ct_waits *w)
{
	if (ct_waits_room(w, i->n) != CT_OK)
		return CT_NOMEM;
	w->judged = CT_JUDGED_NOTHING;
	w->one_clock = 1;
	w->transfer_ns = 0;
	w->clock_err_ns = 0;
	w->median_ns = 0;
	w->exit_skew_ns = UINT64_MAX;
	if (i->n < 2)
		return CT_OK;
	for (uint32_t m = 0; m < i->n; m++) {
		if (!ct_member_is_timed(&i->members[m]))
			return CT_OK;
		w->one_clock &= hosts[i->members[m].slot] == hosts[i->members[0].slot];
	}
	if (i->src >= 0) {
		judge_message(i, w);
		return CT_OK;
	}
	switch (ct_op_class(i->members[0].op)) {
	case CT_CLASS_SYNC:
		judge_sync(i, skew_ns, w);
		break;
	case CT_CLASS_ROOTED:
		judge_rooted(i, w);
		break;
	case CT_CLASS_UNKNOWN:
	case CT_CLASS_P2P:
	case CT_CLASS_LOCAL:
		break;
	}
	if (w->judged == CT_JUDGED_WAITS)
		ct_waits_median(i, w);
	return CT_OK;
}

static int is_waited_for(const struct ct_member *m)
{
	int is_root = m->root >= 0 && (uint32_t)m->root == m->index;

	switch (m->op) {
	case CT_OP_Broadcast:
	case CT_OP_Scatter:
		return is_root;
	case CT_OP_Reduce:
	case CT_OP_Gather:
		return !is_root;
	default:
		return 1;
	}
}

static uint64_t own_part(const struct ct_instance *i, const struct ct_last *last)
{
	uint64_t own = i->members[last->last].free_ns, longest = 0;

	if (!last->clear || !last->waited_for || own == UINT64_MAX)
		return 0;
	for (uint32_t m = 0; m < i->n; m++) {
		if (m != last->last && i->members[m].free_ns > longest)
			longest = i->members[m].free_ns;
	}
	return own <= longest ? 0 : last->solo_ns < own - longest ? last->solo_ns : own - longest;
}

void ct_waits_last(const struct ct_instance *i, const struct ct_waits *w, struct ct_last *out)
{
	uint32_t last = 0, second = UINT32_MAX;

	for (uint32_t m = 1; m < i->n; m++) {
		if (w->arrival_ns[m] > w->arrival_ns[last]) {
			second = last;
			last = m;
		} else if (second == UINT32_MAX || w->arrival_ns[m] > w->arrival_ns[second]) {
			second = m;
		}
	}
	out->last = last;
	out->solo_ns = w->arrival_ns[last] - w->arrival_ns[second];
	out->err_ns = w->arrival_err_ns[last] + w->arrival_err_ns[second];
	out->clear = out->solo_ns > out->err_ns;
	out->waited_for = is_waited_for(&i->members[last]);
	out->own_ns = own_part(i, out);
}
