/* SPDX-License-Identifier: Apache-2.0 */
/* Which ranks need which others in an operation, and its duration once they are there. */
#include "analyzer/lateness/replay/schedule_private.h"
#include "analyzer/stream/instance_log.h"
#include "trace/ops.h"

static int on_one_clock(const struct ct_instance_log *log, const struct ct_log_instance *i,
			const uint32_t *host_of)
{
	const struct ct_log_part *parts = &log->parts[i->first_part];

	for (uint32_t p = 1; p < i->n; p++) {
		if (host_of[parts[p].slot] != host_of[parts[0].slot])
			return i->judged == CT_JUDGED_WAITS && i->src >= 0;
	}
	return 1;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t since(int64_t end, int64_t begin)
{
	return end > begin ? end - begin : 0;
}

static int64_t came(const struct ct_log_part *part)
{
	return (int64_t)ct_log_part_came(part);
}

/* From when the member was there until its operation was known to have ended. */
static int64_t took(const struct ct_log_part *part)
{
	return since((int64_t)part->end_ns, came(part));
}

static int64_t shortest(const struct ct_log_part *parts, uint32_t n)
{
	int64_t shortest = INT64_MAX;

	for (uint32_t p = 0; p < n; p++)
		shortest = took(&parts[p]) < shortest ? took(&parts[p]) : shortest;
	return shortest;
}

/* What a call that waits for a collective knows of the others. */
static void meet_all(struct ct_schedule_building *b, const struct ct_log_instance *i)
{
	int64_t last = 0;

	for (uint32_t p = i->first_part; p < i->first_part + i->n; p++)
		last = later(last, b->s->launches[b->launch_of[p]].start_ns);
	for (uint32_t p = i->first_part; p < i->first_part + i->n; p++) {
		struct ct_schedule_partners *mine = &b->partners[b->ends_of[p]];

		mine->last_start_ns = later(mine->last_start_ns, last);
	}
}

/* What the launches of messages know of their partners: a launch ends when the last of its messages
 * has moved, so what they took is known from the partner that came last. */
static void meet_partners(struct ct_schedule_building *b)
{
	const struct ct_instance_log *log = b->c->log;

	for (uint32_t l = 0; l < b->s->n_launches; l++)
		b->partners[l] = (struct ct_schedule_partners){ b->s->launches[l].start_ns,
								b->s->launches[l].span_ns };
	for (uint32_t k = 0; k < log->n_instances; k++) {
		const struct ct_log_instance *i = &log->instances[k];

		if (b->c->stretch[k] == UINT32_MAX)
			continue;
		if (i->src < 0 || i->n != 2) {
			meet_all(b, i);
			continue;
		}
		for (uint32_t p = 0; p < 2; p++) {
			const struct ct_schedule_launch
				*other = &b->s->launches[b->launch_of[i->first_part + 1 - p]];
			struct ct_schedule_partners
				*mine = &b->partners[b->ends_of[i->first_part + p]];
			int64_t span = took(&log->parts[i->first_part + 1 - p]);

			if (other->start_ns > mine->last_start_ns)
				mine->last_start_ns = other->start_ns;
			if (span < mine->shortest_ns)
				mine->shortest_ns = span;
		}
	}
}

/* Hosts see an end when they get to look, streams at once. */
static int is_of_host(const struct ct_log_part *parts, uint32_t n)
{
	for (uint32_t p = 0; p < n; p++) {
		if (parts[p].on_gpu)
			return 0;
	}
	return 1;
}

/* Both ends of a message go on when it has moved, but the sender of a short one may go on before
 * any rank asks for it. */
static int64_t message(const struct ct_schedule_building *b, const struct ct_log_part *parts,
		       struct ct_schedule_part *out, int one_clock)
{
	uint32_t s = parts[0].index == 0 ? 0 : 1;
	const struct ct_schedule_launch *send = &b->s->launches[out[s].ends];
	const struct ct_schedule_launch *recv = &b->s->launches[out[1 - s].ends];
	const struct ct_schedule_partners *of_send = &b->partners[out[s].ends];
	const struct ct_schedule_partners *of_recv = &b->partners[out[1 - s].ends];
	int64_t x = ct_schedule_end(recv) - of_recv->last_start_ns;
	int64_t y = ct_schedule_end(send) - of_send->last_start_ns;

	if (!one_clock)
		return of_send->shortest_ns < of_recv->shortest_ns ? of_send->shortest_ns
								   : of_recv->shortest_ns;
	x = x > 0 ? x : 0;
	if (ct_schedule_end(send) < b->s->launches[out[1 - s].launch].start_ns) {
		out[s].end = CT_ENDS_ALONE;
		/* the end of a call that did several things is that of another one */
		if (!is_of_host(parts, 2) || (!send->role && send->messages == 1))
			out[s].own_ns = took(&parts[s]);
		return x;
	}
	y = y > 0 ? y : 0;
	if (is_of_host(parts, 2)) {
		out[s].own_ns = since(y, x);
		out[1 - s].own_ns = since(x, y);
	}
	return y < x ? y : x;
}

/* Did the member, which came then, wait until another came at `other_ns`, as far as times
 * show? */
static int waited_for(const struct ct_log_part *part, int64_t other_ns)
{
	return came(part) < other_ns && (int64_t)part->end_ns >= other_ns;
}

/* The member ends when it and the root were there, and so much later. */
static void end_with_lead(struct ct_schedule_part *out, const struct ct_log_part *part,
			  const struct ct_log_part *lead)
{
	out->end = CT_ENDS_WITH_LEAD;
	out->own_ns = since((int64_t)part->end_ns, later(came(part), came(lead)));
}

/* Broadcast, Scatter: the others need the root. Reduce, Gather: the root needs the others. A
 * giver may have to wait until its data is taken, and did if it ended no earlier. Any else, or
 * without a root that is known: no rank is known to need another. */
static void rooted(const struct ct_log_instance *i, const struct ct_log_part *parts,
		   struct ct_schedule_exchange *m, struct ct_schedule_part *out, int one_clock)
{
	int from_root = i->op == CT_OP_Broadcast || i->op == CT_OP_Scatter;
	int to_root = i->op == CT_OP_Reduce || i->op == CT_OP_Gather;
	const struct ct_log_part *lead;
	int64_t last = 0;

	for (uint32_t p = 0; p < i->n; p++) {
		out[p].end = CT_ENDS_ALONE;
		out[p].own_ns = took(&parts[p]);
		if (i->root >= 0 && parts[p].index == (uint32_t)i->root)
			m->lead = p;
	}
	if (m->lead == UINT32_MAX || (!from_root && !to_root))
		return;
	lead = &parts[m->lead];
	for (uint32_t p = 0; p < i->n; p++) {
		if (p != m->lead)
			last = later(last, came(&parts[p]));
		if (p == m->lead || (to_root && !one_clock))
			continue;
		if (!one_clock) {
			out[p].end = CT_ENDS_WITH_LEAD;
			out[p].own_ns = shortest(parts, i->n);
		} else if (from_root || waited_for(&parts[p], came(lead))) {
			end_with_lead(&out[p], &parts[p], lead);
		}
	}
	if (to_root || (one_clock && waited_for(lead, last))) {
		out[m->lead].end = CT_ENDS_WITH_ALL;
		out[m->lead].own_ns = 0;
		m->transfer_ns = one_clock ? since((int64_t)lead->end_ns, later(last, came(lead)))
					   : shortest(parts, i->n);
	}
}

/* Whose host learned later than others that it had ended. */
static void delay(const struct ct_log_part *parts, const struct ct_schedule_exchange *m,
		  struct ct_schedule_part *out)
{
	int64_t last = 0;

	for (uint32_t p = 0; p < m->n; p++)
		last = later(last, came(&parts[p]));
	for (uint32_t p = 0; p < m->n; p++) {
		if (out[p].end == CT_ENDS_WITH_ALL)
			out[p].own_ns = since((int64_t)parts[p].end_ns, last + m->transfer_ns);
	}
}

static void add_exchange(struct ct_schedule_building *b, uint32_t instance, uint32_t first_part,
			 int one_clock)
{
	const struct ct_instance_log *log = b->c->log;
	const struct ct_log_instance *i = &log->instances[instance];
	const struct ct_log_part *parts = &log->parts[i->first_part];
	struct ct_schedule_exchange *m = &b->s->exchanges[b->c->exchange[instance]];
	struct ct_schedule_part *out = &b->s->parts[first_part];

	*m = (struct ct_schedule_exchange){
		.comm = i->comm,
		.first_part = first_part,
		.n = i->n,
		.lead = UINT32_MAX,
		.computes = i->op == CT_OP_GraphLaunch,
		.op = i->op,
		.bytes = i->bytes,
	};
	for (uint32_t p = 0; p < i->n; p++)
		out[p] = (struct ct_schedule_part){
			.launch = b->launch_of[i->first_part + p],
			.ends = b->ends_of[i->first_part + p],
			.end = CT_ENDS_WITH_ALL,
		};
	if (i->src >= 0 && i->n == 2)
		m->transfer_ns = message(b, parts, out, one_clock);
	else if (ct_op_class(i->op) == CT_CLASS_ROOTED)
		rooted(i, parts, m, out, one_clock);
	else if (i->judged != CT_JUDGED_NOTHING && i->transfer_ns != CT_NO_TRANSFER)
		m->transfer_ns = (int64_t)i->transfer_ns;
	else
		m->transfer_ns = shortest(parts, i->n);
	if (i->src < 0 && m->lead == UINT32_MAX && one_clock && is_of_host(parts, i->n))
		delay(parts, m, out);
}

/* So that it is played when the host comes to it, whenever its operations end. What was over before
 * someone asked takes the time of the call. */
static void add_alone(struct ct_schedule_building *b, uint32_t launch)
{
	struct ct_schedule *s = b->s;
	const struct ct_schedule_launch *l = &s->launches[launch];
	int is_last = b->partners[launch].last_start_ns <= l->start_ns;

	s->parts[s->n_parts] = (struct ct_schedule_part){
		.launch = launch,
		.ends = launch,
		.end = CT_ENDS_ALONE,
		.own_ns = l->role == CT_LAUNCH_WAITS && is_last ? l->span_ns : 0,
	};
	s->exchanges[s->n_exchanges++] = (struct ct_schedule_exchange){ .first_part = s->n_parts++,
									.n = 1,
									.lead = UINT32_MAX };
}

void ct_schedule_meet(struct ct_schedule_building *b, const uint32_t *host_of)
{
	const struct ct_schedule_choice *c = b->c;
	uint32_t first_part = 0;

	meet_partners(b);
	for (uint32_t k = 0; k < c->log->n_instances; k++) {
		if (c->stretch[k] == UINT32_MAX)
			continue;
		add_exchange(b, k, first_part,
			     on_one_clock(c->log, &c->log->instances[k], host_of));
		first_part += c->log->instances[k].n;
	}
	for (uint32_t l = 0; l < b->s->n_launches; l++) {
		if (b->s->launches[l].role)
			add_alone(b, l);
	}
}

void ct_schedule_meet_aligned(struct ct_schedule_building *b)
{
	const struct ct_schedule_choice *c = b->c;
	uint32_t first_part = 0;

	meet_partners(b);
	for (uint32_t k = 0; k < c->log->n_instances; k++) {
		const struct ct_log_instance *i = &c->log->instances[k];

		if (c->stretch[k] == UINT32_MAX)
			continue;
		if (i->src >= 0 && i->n == 2 && is_of_host(&c->log->parts[i->first_part], 2))
			add_exchange(b, k, first_part, 1);
		first_part += i->n;
	}
}
