/* SPDX-License-Identifier: Apache-2.0 */
/* Who needs whom in an operation, and what it takes once they are there. */
#include "analyzer/lateness/replay/schedule_private.h"
#include "analyzer/stream/instance_log.h"
#include "trace/ops.h"

static int on_one_clock(const struct ct_tape *tape, const struct ct_tape_instance *i,
			const uint32_t *host_of)
{
	const struct ct_tape_part *parts = &tape->parts[i->first_part];

	for (uint32_t p = 1; p < i->n; p++) {
		if (host_of[parts[p].seat] != host_of[parts[0].seat])
			return i->judged == CT_JUDGED_WAITS && i->src >= 0;
	}
	return 1;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int64_t since(uint64_t end, uint64_t begin)
{
	return end > begin ? (int64_t)(end - begin) : 0;
}

static int64_t shortest(const struct ct_tape_part *parts, uint32_t n)
{
	uint64_t shortest = UINT64_MAX;

	for (uint32_t p = 0; p < n; p++) {
		uint64_t span = parts[p].end_ns - parts[p].start_ns;

		shortest = span < shortest ? span : shortest;
	}
	return (int64_t)shortest;
}

/* What the launches of messages know of their partners: a launch ends when the last of its messages has moved, so what they
 * took is known from the partner that came last. */
static void meet_partners(struct ct_schedule_building *b)
{
	const struct ct_tape *tape = b->c->tape;

	for (uint32_t l = 0; l < b->s->n_launches; l++)
		b->partners[l] = (struct ct_schedule_partners){ b->s->launches[l].start_ns,
								b->s->launches[l].span_ns };
	for (uint32_t k = 0; k < tape->n_instances; k++) {
		const struct ct_tape_instance *i = &tape->instances[k];

		if (b->c->stretch[k] == UINT32_MAX || i->src < 0 || i->n != 2)
			continue;
		for (uint32_t p = 0; p < 2; p++) {
			const struct ct_schedule_launch
				*other = &b->s->launches[b->launch_of[i->first_part + 1 - p]];
			struct ct_schedule_partners
				*mine = &b->partners[b->launch_of[i->first_part + p]];

			if (other->start_ns > mine->last_start_ns)
				mine->last_start_ns = other->start_ns;
			if (other->span_ns < mine->shortest_ns)
				mine->shortest_ns = other->span_ns;
		}
	}
}

/* Both ends of a message go on when it has moved, but who sends a short one may go on before anybody asks for it. */
static int64_t message(const struct ct_schedule_building *b, const struct ct_tape_part *parts,
		       struct ct_schedule_part *out, int one_clock)
{
	uint32_t s = parts[0].index == 0 ? 0 : 1;
	const struct ct_schedule_launch *send = &b->s->launches[out[s].launch];
	const struct ct_schedule_launch *recv = &b->s->launches[out[1 - s].launch];
	const struct ct_schedule_partners *of_send = &b->partners[out[s].launch];
	const struct ct_schedule_partners *of_recv = &b->partners[out[1 - s].launch];
	int64_t x = ct_schedule_end(recv) - of_recv->last_start_ns;
	int64_t y = ct_schedule_end(send) - of_send->last_start_ns;

	if (!one_clock)
		return of_send->shortest_ns < of_recv->shortest_ns ? of_send->shortest_ns
								   : of_recv->shortest_ns;
	if (ct_schedule_end(send) < recv->start_ns)
		out[s].end = CT_ENDS_ALONE;
	else if (y < x)
		x = y;
	return x > 0 ? x : 0;
}

/* Broadcast, Scatter: the others need the root. Reduce, Gather: the root needs the others. Any else, or without a root that
 * is known: nobody is known to need anybody. */
static void rooted(const struct ct_tape_instance *i, const struct ct_tape_part *parts,
		   struct ct_schedule_meeting *m, struct ct_schedule_part *out, int one_clock)
{
	int from_root = i->op == CT_OP_Broadcast || i->op == CT_OP_Scatter;
	int to_root = i->op == CT_OP_Reduce || i->op == CT_OP_Gather;
	uint64_t last = 0;

	for (uint32_t p = 0; p < i->n; p++) {
		last = later(last, parts[p].start_ns);
		out[p].end = CT_ENDS_ALONE;
		if (i->root >= 0 && parts[p].index == (uint32_t)i->root)
			m->lead = p;
	}
	if (m->lead == UINT32_MAX)
		return;
	if (to_root) {
		out[m->lead].end = CT_ENDS_WITH_ALL;
		m->transfer_ns = one_clock ? since(parts[m->lead].end_ns, last)
					   : shortest(parts, i->n);
	}
	for (uint32_t p = 0; from_root && p < i->n; p++) {
		if (p == m->lead)
			continue;
		out[p].end = CT_ENDS_WITH_LEAD;
		out[p].own_ns = one_clock ? since(parts[p].end_ns,
						  later(parts[p].start_ns, parts[m->lead].start_ns))
					  : shortest(parts, i->n);
	}
}

static void add_meeting(struct ct_schedule_building *b, uint32_t instance, uint32_t first_part,
			const uint32_t *host_of)
{
	const struct ct_tape *tape = b->c->tape;
	const struct ct_tape_instance *i = &tape->instances[instance];
	const struct ct_tape_part *parts = &tape->parts[i->first_part];
	struct ct_schedule_meeting *m = &b->s->meetings[b->c->meeting[instance]];
	struct ct_schedule_part *out = &b->s->parts[first_part];
	int one_clock = on_one_clock(tape, i, host_of);

	*m = (struct ct_schedule_meeting){
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
			.end = CT_ENDS_WITH_ALL,
			.own_ns = (int64_t)(parts[p].end_ns - parts[p].start_ns),
		};
	if (i->src >= 0 && i->n == 2)
		m->transfer_ns = message(b, parts, out, one_clock);
	else if (ct_op_class(i->op) == CT_CLASS_ROOTED)
		rooted(i, parts, m, out, one_clock);
	else if (i->judged != CT_JUDGED_NOTHING && i->transfer_ns != CT_NO_TRANSFER)
		m->transfer_ns = (int64_t)i->transfer_ns;
	else
		m->transfer_ns = shortest(parts, i->n);
}

void ct_schedule_meet(struct ct_schedule_building *b, const uint32_t *host_of)
{
	const struct ct_schedule_choice *c = b->c;
	uint32_t first_part = 0;

	meet_partners(b);
	for (uint32_t k = 0; k < c->tape->n_instances; k++) {
		if (c->stretch[k] == UINT32_MAX)
			continue;
		add_meeting(b, k, first_part, host_of);
		first_part += c->tape->instances[k].n;
	}
}
