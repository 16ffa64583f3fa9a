/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/stages.h"

#include <stdlib.h>

#include "analyzer/lateness/replay/limits.h"
#include "trace/ops.h"
#include "trace/status.h"

#define NONE UINT32_MAX

enum { NO_MESSAGE, SENDS, RECEIVES };

struct chain {
	const struct ct_schedule *s;
	uint32_t (*neighbours)[2];		/* by slot; NONE: none */
	uint8_t *too_many;			/* by slot: it has more */
	uint32_t *sends_first, *receives_first; /* by slot: steps that begin so */
	uint8_t *first;				/* by slot: what its first message of all was */
	uint32_t *times;			/* by slot: launches with messages */
	uint32_t least;				/* so many have the ranks of a pipeline */
	uint32_t *stage_of;
	uint8_t *seen;
	uint32_t *queue;
};

void ct_stages_fini(struct ct_stages *stages)
{
	free(stages->stage_of);
	free(stages->slots);
	free(stages->first);
	free(stages->worker_of);
	*stages = (struct ct_stages){ 0 };
}

static void add_neighbour(struct chain *c, uint32_t slot, uint32_t other)
{
	uint32_t *n = c->neighbours[slot];

	if (n[0] == other || n[1] == other)
		return;
	if (n[0] == NONE)
		n[0] = other;
	else if (n[1] == NONE)
		n[1] = other;
	else
		c->too_many[slot] = 1;
}

static void find_neighbours(struct chain *c)
{
	const struct ct_schedule *s = c->s;

	for (uint32_t m = 0; m < s->n_exchanges; m++) {
		const struct ct_schedule_part *parts = &s->parts[s->exchanges[m].first_part];
		uint32_t a, b;

		if (s->exchanges[m].n != 2 || ct_op_class(s->exchanges[m].op) != CT_CLASS_P2P)
			continue;
		a = s->launches[parts[0].launch].slot;
		b = s->launches[parts[1].launch].slot;
		add_neighbour(c, a, b);
		add_neighbour(c, b, a);
	}
}

/* What the first launch with messages is, step by step. */
static void see_first_messages(struct chain *c, const struct ct_steps *steps)
{
	const struct ct_schedule *s = c->s;

	for (uint32_t slot = 0; slot < s->n_slots; slot++) {
		uint32_t last = CT_NO_STEP;

		for (uint32_t l = s->slot_first[slot]; l < s->slot_first[slot + 1]; l++) {
			const struct ct_schedule_launch *launch = &s->launches[l];
			uint32_t step;

			/* exchanges of MPI's ranks may look like a chain for as long as one is
			 * late, and their work is alike */
			if (!launch->messages || launch->is_in_turn)
				continue;
			c->times[slot]++;
			step = ct_step_at(
				steps, (uint64_t)(launch->start_ns + s->begin_ns[launch->stretch]));
			if (!c->first[slot])
				c->first[slot] = launch->sends == launch->messages ? SENDS
										   : RECEIVES;
			if (step == last || step == CT_NO_STEP || !steps->kept[step])
				continue;
			last = step;
			c->sends_first[slot] += launch->sends == launch->messages;
			c->receives_first[slot] += launch->sends == 0;
		}
	}
}

/* All slots connected with a slot by messages, in order of their distance. */
static uint32_t walk(struct chain *c, uint32_t from, uint8_t mark)
{
	uint32_t n = 0;

	c->queue[n++] = from;
	c->seen[from] = mark;
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t *next = c->neighbours[c->queue[k]];

		for (int i = 0; i < 2; i++) {
			if (next[i] == NONE || c->seen[next[i]] == mark)
				continue;
			c->seen[next[i]] = mark;
			c->queue[n++] = next[i];
		}
	}
	return n;
}

/* Of n that hang together, the one that begins with a send where all others begin with a receive:
 * step by step, or the first time of all where nothing but messages shows steps. NONE: they are no
 * pipeline. */
static uint32_t head_of(const struct chain *c, uint32_t n, int by_steps)
{
	uint32_t head = NONE;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t one = c->queue[k];
		uint32_t sends = by_steps ? c->sends_first[one] : c->first[one] == SENDS;
		uint32_t receives = by_steps ? c->receives_first[one] : c->first[one] == RECEIVES;

		if (c->too_many[one] || c->times[one] < c->least || sends == receives ||
		    (sends > receives && head != NONE))
			return NONE;
		if (sends > receives)
			head = one;
	}
	return head;
}

/* The stages of those that hang together with a slot, if they are a pipeline. In a ring, as
 * interleaved schedules have it, the first stage's other neighbour is the last one: numbers go on
 * from the neighbour of the lower slot. */
static void number_stages(struct chain *c, uint32_t slot)
{
	uint32_t n = walk(c, slot, 1), stage = 0, head = head_of(c, n, 1);

	if (head == NONE)
		head = head_of(c, n, 0);
	for (uint32_t at = head, next; at != NONE; at = next) {
		const uint32_t *near = c->neighbours[at];

		c->seen[at] = 2;
		c->stage_of[at] = stage++;
		next = NONE;
		for (int i = 0; i < 2; i++) {
			if (near[i] != NONE && c->seen[near[i]] != 2 && near[i] < next)
				next = near[i];
		}
	}
}

static int find_chains(struct chain *c, const struct ct_steps *steps)
{
	size_t slots = (size_t)c->s->n_slots + 1;

	c->neighbours = malloc(slots * sizeof(*c->neighbours));
	c->too_many = calloc(slots, 1);
	c->sends_first = calloc(slots, sizeof(*c->sends_first));
	c->receives_first = calloc(slots, sizeof(*c->receives_first));
	c->first = calloc(slots, 1);
	c->times = calloc(slots, sizeof(*c->times));
	/* ranks with fewer launches with messages, or less than one in two steps, do not hand work
	 * on */
	c->least = steps->n_kept / 2 > CT_LEAST_TIMES ? steps->n_kept / 2 : CT_LEAST_TIMES;
	c->seen = calloc(slots, 1);
	c->queue = malloc(slots * sizeof(*c->queue));
	if (!c->neighbours || !c->too_many || !c->sends_first || !c->receives_first || !c->first ||
	    !c->times || !c->seen || !c->queue)
		return CT_NOMEM;
	for (uint32_t slot = 0; slot < c->s->n_slots; slot++)
		c->neighbours[slot][0] = c->neighbours[slot][1] = NONE;
	find_neighbours(c);
	see_first_messages(c, steps);
	for (uint32_t slot = 0; slot < c->s->n_slots; slot++) {
		if (!c->seen[slot] && c->neighbours[slot][0] != NONE)
			number_stages(c, slot);
	}
	return CT_OK;
}

/* The slots of each stage. */
static int list(struct ct_stages *g, const struct ct_schedule *s)
{
	size_t slots = (size_t)s->n_slots + 1;

	g->n = 1;
	for (uint32_t slot = 0; slot < s->n_slots; slot++)
		g->n = g->stage_of[slot] >= g->n ? g->stage_of[slot] + 1 : g->n;
	g->slots = malloc(slots * sizeof(*g->slots));
	g->worker_of = calloc(slots, sizeof(*g->worker_of));
	g->first = calloc((size_t)g->n + 1, sizeof(*g->first));
	if (!g->slots || !g->worker_of || !g->first)
		return CT_NOMEM;
	for (uint32_t stage = 0, at = 0; stage < g->n; stage++) {
		g->first[stage] = at;
		for (uint32_t slot = 0; slot < s->n_slots; slot++) {
			if (g->stage_of[slot] != stage ||
			    s->slot_first[slot] == s->slot_first[slot + 1])
				continue;
			g->worker_of[slot] = at - g->first[stage];
			g->slots[at++] = slot;
		}
		g->first[stage + 1] = at;
		g->most = at - g->first[stage] > g->most ? at - g->first[stage] : g->most;
	}
	return CT_OK;
}

int ct_stages_find(struct ct_stages *stages, const struct ct_schedule *s,
		   const struct ct_steps *steps)
{
	struct chain c = { .s = s };
	int st = CT_NOMEM;

	*stages = (struct ct_stages){ 0 };
	c.stage_of = stages->stage_of = calloc((size_t)s->n_slots + 1, sizeof(*c.stage_of));
	if (c.stage_of)
		st = find_chains(&c, steps);
	if (st == CT_OK)
		st = list(stages, s);
	free(c.neighbours);
	free(c.too_many);
	free(c.sends_first);
	free(c.receives_first);
	free(c.first);
	free(c.times);
	free(c.seen);
	free(c.queue);
	return st;
}
