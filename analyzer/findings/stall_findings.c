/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/causes.h"
#include "analyzer/findings/time_structure.h"
#include "analyzer/lateness/stall_loss.h"
#include "analyzer/lateness/stalls.h"
#include "analyzer/model/names.h"
#include "trace/status.h"

struct stall_search {
	const struct ct_time_structure *t;
	struct ct_stall *room;	 /* as many as charges */
	struct ct_stall *events; /* likewise: of patterns that are one finding */
	uint32_t *by_slot, *first;
	uint8_t *slots;			   /* of a finding */
	uint8_t *taken;			   /* by slot: the list has a finding about it */
	struct ct_stall_pattern *patterns; /* by slot */
	double threshold_ns;
};

static struct ct_stall stall_of(const struct stall_search *s, const struct ct_step_charge *charge)
{
	const struct ct_time_structure *t = s->t;

	return (struct ct_stall){
		.step = charge->step,
		.slot = charge->slot,
		.ns = (double)charge->charged_ns,
		.err_ns = (double)charge->err_ns,
		.stretch = ct_sample_stretch(&t->log->sample, t->steps->cut_ns[charge->step]),
	};
}

/* The charges of each slot, by step: by_slot[first[slot]] .. by_slot[first[slot + 1] - 1]. */
static void sort_by_slot(struct stall_search *s)
{
	const struct ct_step_blame *blame = s->t->blame;
	/* Counts two entries ahead, so that filling moves the first index of each slot to that of
	 * the next. */
	uint32_t *next = s->first + 1;

	for (uint32_t k = 0; k < blame->n; k++)
		next[blame->all[k].slot + 1]++;
	for (uint32_t slot = 1; slot <= s->t->model->n_slots; slot++)
		next[slot] += next[slot - 1];
	for (uint32_t k = 0; k < blame->n; k++)
		s->by_slot[next[blame->all[k].slot]++] = k;
}

/* The charges of a slot. */
static uint32_t charges_of(const struct stall_search *s, uint32_t slot)
{
	const struct ct_step_blame *blame = s->t->blame;
	uint32_t n = 0;

	for (uint32_t i = s->first[slot]; i < s->first[slot + 1]; i++) {
		const struct ct_step_charge *charge = &blame->all[s->by_slot[i]];

		if (blame->kept[charge->step])
			s->room[n++] = stall_of(s, charge);
	}
	return n;
}

/* Of all charges that are not taken. */
static uint32_t charges_of_all(const struct stall_search *s)
{
	const struct ct_step_blame *blame = s->t->blame;
	uint32_t n = 0;

	for (uint32_t k = 0; k < blame->n; k++) {
		if (blame->kept[blame->all[k].step] && !s->taken[blame->all[k].slot])
			s->room[n++] = stall_of(s, &blame->all[k]);
	}
	return n;
}

/* ---- what they cost ---- */

/* Length and cost of a pattern, for its finding. */
struct cost {
	struct ct_stall_loss loss; /* of the whole run ... */
	double in_steps_ns;	   /* ... and what of it lies in the steps */
	uint32_t outside;	   /* stalls before the first step or behind the last one */
};

/* Does the rule have a stall around a step (n: the first one behind the last)? */
static int is_due(const struct ct_stall_pattern *p, double at)
{
	double within = CT_NEAR * p->every > 1 ? CT_NEAR * p->every : 1;

	return p->every > 0 && (fabs(p->last + p->every - at) <= within ||
				fabs(p->first - p->every - at) <= within);
}

/* Stalls of `slots` outside the steps, where the rule has one: of what they cost only the charge is
 * known. `each`: the rule is each rank's own. */
static void add_outside(const struct stall_search *s, const struct ct_stall_pattern *p, int each,
			struct cost *cost)
{
	const struct ct_time_structure *t = s->t;
	double typical = cost->loss.ns / p->n, tail_ns;
	int behind = 0;

	for (uint32_t k = 0; k < t->blame->n_outside; k++) {
		const struct ct_step_charge *charge = &t->blame->outside[k];
		double charged = (double)charge->charged_ns;

		if (!s->slots[charge->slot] || charged < p->typical_ns / 2 ||
		    !is_due(each ? &s->patterns[charge->slot] : p,
			    charge->step ? charge->step : -1.0))
			continue;
		behind |= charge->step > 0;
		cost->outside++;
		cost->loss.ns += charged < typical ? charged : typical;
		cost->loss.err_ns += charged < CT_NEARLY_ALL * typical ? typical - charged
								       : CT_A_FEW * typical;
	}
	tail_ns = (double)(t->model->end_ns - t->steps->cut_ns[t->steps->n]);
	/* no rank is charged, but there was time for one */
	if (!behind && !each && is_due(p, t->steps->n) && tail_ns >= typical)
		cost->loss.err_ns += typical;
}

/* The cost to the run of a pattern with these events. 0 or CT_NOMEM. */
static int find_cost(const struct stall_search *s, const struct ct_stall *events,
		     const struct ct_stall_pattern *p, int each, struct cost *cost)
{
	const struct ct_steps *c = s->t->steps;
	const struct ct_stall_steps steps = { c->cut_ns, s->t->blame->kept, c->n };
	double share = ct_step_blame_share(s->t->blame);
	double sampled = sqrt(
		(1 - share) /
		(p->n ? p->n
		      : 1)); /* of the sum, by the share of steps in which stalls were visible */
	int st;

	*cost = (struct cost){ 0 };
	if (!p->n)
		return CT_OK;
	st = ct_stalls_cost(&steps, events, p->n, p, &cost->loss);
	cost->loss.ns /= share;
	cost->loss.err_ns = cost->loss.err_ns / share +
			    CT_SEPARATE_ERRORS * sampled * cost->loss.ns;
	cost->in_steps_ns = cost->loss.ns;
	if (st == CT_OK)
		add_outside(s, p, each, cost);
	return st;
}

/* Is that enough for a finding? */
static int is_costly(const struct stall_search *s, const struct cost *cost)
{
	return cost->loss.ns > 0 &&
	       ct_finding_is_worth(s->t->list, cost->in_steps_ns,
				   cost->loss.err_ns * cost->in_steps_ns / cost->loss.ns,
				   CT_WORTH_REPORTING);
}

static const char *period_text(const struct ct_stall_pattern *p, struct ct_arena *memory)
{
	return p->every > 0 ? ct_arena_printf(memory, "%.0f", p->every) : "irregular";
}

/* ---- findings ---- */

static void set_ranks(const struct stall_search *s, struct ct_finding *f)
{
	uint32_t n_slots = s->t->model->n_slots, n = 0;
	uint32_t *slots = ct_arena_calloc(s->t->list->memory, n_slots, sizeof(*slots));

	for (uint32_t slot = 0; slots && slot < n_slots; slot++) {
		if (s->slots[slot])
			slots[n++] = slot;
	}
	ct_finding_slots(s->t->model, slots, n, s->t->list, f);
}

static void set_evidence(const struct stall_search *s, const struct ct_stall_pattern *p,
			 const struct cost *cost, struct ct_finding *f)
{
	struct ct_findings *list = s->t->list;

	ct_finding_evidence(list, f, "stalls", p->n, "count", NAN);
	ct_finding_evidence(list, f, "every", p->every > 0 ? p->every : NAN, "steps", NAN);
	ct_finding_evidence(list, f, "stall_mean", cost->loss.ns / (p->n + cost->outside), "ns",
			    cost->loss.err_ns / (p->n + cost->outside));
	ct_finding_evidence(list, f, "stalls_outside_steps", cost->outside, "count", NAN);
	if (cost->loss.missed)
		ct_finding_evidence(list, f, "stalls_not_charged", cost->loss.missed, "count", NAN);
	ct_finding_evidence(list, f, "ranks_that_stalled", p->slots, "count", NAN);
	ct_finding_evidence(list, f, "most_of_one_rank", p->most_of_one, "count", NAN);
}

/* Fields that both kinds share. */
static void set_pattern(const struct stall_search *s, const struct ct_stall_pattern *p,
			const struct cost *cost, struct ct_finding *f)
{
	const struct ct_steps *c = s->t->steps;

	ct_finding_loss(s->t->list, f, (uint64_t)cost->loss.ns, (uint64_t)cost->loss.err_ns,
			cost->in_steps_ns);
	f->confidence = p->every > 0 && p->n >= 2 * CT_STALL_LEAST ? CT_CONFIDENCE_HIGH
								   : CT_CONFIDENCE_MEDIUM;
	f->step_first = c->first + p->first;
	f->step_last = c->first + p->last;
	f->begin_at_ns = c->cut_ns[p->first];
	f->end_at_ns = c->cut_ns[p->last + 1];
	ct_finding_set_cause(f, CT_WHY_STALLS);
	set_evidence(s, p, cost, f);
	ct_finding_explain(s->t, f, s->slots, 1, s->threshold_ns);
}

/* n=7; n=6 of=8: the rule has eight from the first to the last; n=7 outside=1: and one before or
 * behind them. */
static void put_count(struct ct_findings *list, struct ct_finding *f,
		      const struct ct_stall_pattern *p, const struct cost *cost, int each)
{
	ct_finding_put(list, f, "n", "%u", p->n);
	if (!each && cost->loss.expected && cost->loss.expected != p->n)
		ct_finding_put(list, f, "of", "%u", cost->loss.expected);
	if (cost->outside)
		ct_finding_put(list, f, "outside", "%u", cost->outside);
}

static void put_pattern(const struct stall_search *s, const struct ct_stall_pattern *p,
			const struct cost *cost, int each, struct ct_finding *f)
{
	struct ct_findings *list = s->t->list;
	const uint32_t first = s->t->steps->first, n = p->n + cost->outside;

	ct_finding_put(list, f, "every", "%s", period_text(p, list->memory));
	ct_finding_put_err(list, f, "stall", ct_text_ns((uint64_t)(cost->loss.ns / n)).s,
			   ct_text_ns((uint64_t)(cost->loss.err_ns / n)).s);
	put_count(list, f, p, cost, each);
	ct_finding_put_time_lost(list, f, "time_lost");
	ct_finding_put(list, f, "steps", "%u..%u", first + p->first, first + p->last);
}

/* ---- one rank ---- */

static void add_periodic(const struct stall_search *s, uint32_t slot,
			 const struct ct_stall_pattern *p, const struct cost *cost)
{
	struct ct_finding *f = ct_findings_add(s->t->list, CT_FINDING_PERIODIC_STALLS);

	s->taken[slot] = 1;
	set_ranks(s, f);
	set_pattern(s, p, cost, f);
	ct_finding_put_who(s->t->list, f);
	put_pattern(s, p, cost, 0, f);
}

/* The list already has stragglers with all their cost; a rank that is late in single steps may
 * follow a rule. */
static void take_stragglers(const struct stall_search *s)
{
	for (size_t i = 0; i < s->t->list->n; i++) {
		const struct ct_finding *f = &s->t->list->all[i];

		if (!isnan(ct_finding_fact(f, "single_steps")))
			continue;
		for (uint32_t slot = 0; slot < s->t->model->n_slots; slot++) {
			if (ct_finding_is_straggler(f) && ct_finding_has_slot(s->t->model, f, slot))
				s->taken[slot] = 1;
		}
	}
}

/* ---- ranks by turns ---- */

/* The pattern of several ranks that each have their own. */
static struct ct_stall_pattern together(const struct stall_search *s)
{
	struct ct_stall_pattern all = { 0 };

	for (uint32_t slot = 0; slot < s->t->model->n_slots; slot++) {
		const struct ct_stall_pattern *p = &s->patterns[slot];

		if (!p->n)
			continue;
		all.first = !all.n || p->first < all.first ? p->first : all.first;
		all.last = p->last > all.last ? p->last : all.last;
		all.every += p->every * p->n;
		all.typical_ns += p->typical_ns * p->n;
		all.n += p->n;
		all.sum_ns += p->sum_ns;
		all.err_ns += p->err_ns;
		all.most_of_one = p->n > all.most_of_one ? p->n : all.most_of_one;
		all.slots++;
	}
	if (all.n) {
		all.every /= all.n;
		all.typical_ns /= all.n;
	}
	return all;
}

/* `each`: every rank counts on its own. */
static void add_rotating(const struct stall_search *s, const struct ct_stall_pattern *p,
			 const struct cost *cost, int each)
{
	struct ct_finding *f = ct_findings_add(s->t->list, CT_FINDING_ROTATING_STALLS);

	set_ranks(s, f);
	set_pattern(s, p, cost, f);
	ct_finding_set_cause(f, f->why == CT_WHY_STREAM_STALLS ? CT_WHY_STREAM_STALLS_BY_TURNS
							       : CT_WHY_STALLS_BY_TURNS);
	ct_finding_put_who(s->t->list, f);
	ct_finding_put(s->t->list, f, "each", each ? "yes" : "no");
	put_pattern(s, p, cost, each, f);
}

/* Ranks with a charge that is one of the events. */
static void mark_slots(const struct stall_search *s, const struct ct_stall_pattern *p)
{
	memset(s->slots, 0, s->t->model->n_slots);
	for (uint32_t k = 0; k < s->t->blame->n; k++) {
		const struct ct_step_charge *charge = &s->t->blame->all[k];

		if (!s->taken[charge->slot] && (double)charge->charged_ns >= p->typical_ns / 2)
			s->slots[charge->slot] = 1;
	}
}

CT_SORT_BY(by_step, struct ct_stall, CT_UP(step) ?: CT_UP(slot))

/* Several ranks that count on their own; their `n` events in s->events. */
static int search_each(const struct stall_search *s, uint32_t n)
{
	const struct ct_stall_pattern all = together(s);
	struct cost cost;
	int st;

	for (uint32_t slot = 0; slot < s->t->model->n_slots; slot++)
		s->slots[slot] = s->patterns[slot].n > 0;
	qsort(s->events, n, sizeof(*s->events), by_step);
	st = find_cost(s, s->events, &all, 1, &cost);
	if (st == CT_OK && is_costly(s, &cost))
		add_rotating(s, &all, &cost, 1);
	return st;
}

/* The longest charge in the step of blame->all[*k], of the slot or of one without a period of its
 * own; NULL: there is none. *k: the first charge of the next step. */
static const struct ct_step_charge *longest_of_step(const struct stall_search *s, uint32_t slot,
						    uint32_t *k)
{
	const struct ct_step_blame *blame = s->t->blame;
	const struct ct_step_charge *longest = NULL;
	uint32_t step = blame->all[*k].step;

	for (; *k < blame->n && blame->all[*k].step == step; ++*k) {
		const struct ct_step_charge *charge = &blame->all[*k];
		int counts = blame->kept[step] && !s->taken[charge->slot] &&
			     (charge->slot == slot || !s->patterns[charge->slot].n);

		if (counts && (!longest || charge->charged_ns > longest->charged_ns))
			longest = charge;
	}
	return longest;
}

/* Are its stalls turns among those of other ranks, no more than chance gives one of them? Then
 * their equal distances are chance. */
static int has_only_turns(const struct stall_search *s, uint32_t slot)
{
	uint32_t all = 0, mine = 0, ranks = 0;

	memset(s->slots, 0, s->t->model->n_slots);
	for (uint32_t k = 0; k < s->t->blame->n;) {
		const struct ct_step_charge *charge = longest_of_step(s, slot, &k);

		if (!charge || (double)charge->charged_ns < s->patterns[slot].typical_ns / 2)
			continue;
		all++;
		mine += charge->slot == slot;
		ranks += !s->slots[charge->slot];
		s->slots[charge->slot] = 1;
	}
	return mine <= CT_TURNS * all && !ct_is_beyond_chance(mine, all, ranks);
}

/* Ranks one by one; in s->events are the events of all, by slot. */
static int search_one(const struct stall_search *s)
{
	const struct ct_stall *events = s->events;
	int st = CT_OK;

	for (uint32_t slot = 0; slot < s->t->model->n_slots && st == CT_OK; slot++) {
		const struct ct_stall_pattern *p = &s->patterns[slot];
		const struct ct_stall *own = events;
		struct cost cost;

		events += p->n;
		if (!p->n || has_only_turns(s, slot))
			continue;
		memset(s->slots, 0, s->t->model->n_slots);
		s->slots[slot] = 1;
		st = find_cost(s, own, p, 0, &cost);
		if (st == CT_OK && is_costly(s, &cost))
			add_periodic(s, slot, p, &cost);
	}
	return st;
}

static struct ct_stall_pattern pattern_of_all(const struct stall_search *s)
{
	struct ct_stall_pattern all;

	ct_stalls_of_all(s->room, charges_of_all(s), s->t->blame->n_kept, s->threshold_ns, &all);
	return all;
}

static int search_all(const struct stall_search *s)
{
	struct ct_stall_pattern all;
	uint32_t own = 0, n = 0;
	struct cost cost;
	int st;

	for (uint32_t slot = 0; slot < s->t->model->n_slots; slot++) {
		struct ct_stall_pattern *p = &s->patterns[slot];

		if (s->taken[slot])
			continue;
		ct_stalls_of_one(s->room, charges_of(s, slot), s->t->blame->n_kept, s->threshold_ns,
				 p);
		memcpy(s->events + n, s->room, p->n * sizeof(*s->events));
		n += p->n;
		own += p->n > 0;
	}
	if (own >= CT_LEAST_PEERS)
		return search_each(s, n);
	st = search_one(s);
	if (st != CT_OK)
		return st;
	all = pattern_of_all(s);
	mark_slots(s, &all);
	st = find_cost(s, s->room, &all, 0, &cost);
	if (st == CT_OK && is_costly(s, &cost))
		add_rotating(s, &all, &cost, 0);
	return st;
}

int ct_stalls_report(const struct ct_time_structure *t)
{
	struct stall_search s = { .t = t };
	size_t n = t->model->n_slots + 1u;
	int st = CT_NOMEM;

	s.room = calloc(t->blame->n + 1u, sizeof(*s.room));
	s.events = calloc(t->blame->n + 1u, sizeof(*s.events));
	s.slots = calloc(n, 1);
	s.taken = calloc(n, 1);
	s.patterns = calloc(n, sizeof(*s.patterns));
	s.threshold_ns = CT_A_FEW * (double)t->steps->median_ns;
	if (s.threshold_ns < CT_STALL_NS)
		s.threshold_ns = CT_STALL_NS;
	s.by_slot = calloc(t->blame->n + 1u, sizeof(*s.by_slot));
	s.first = calloc(n + 1, sizeof(*s.first));
	if (s.room && s.events && s.by_slot && s.first && s.slots && s.taken && s.patterns) {
		sort_by_slot(&s);
		take_stragglers(&s);
		st = search_all(&s);
	}
	free(s.room);
	free(s.events);
	free(s.by_slot);
	free(s.first);
	free(s.slots);
	free(s.taken);
	free(s.patterns);
	return st;
}
