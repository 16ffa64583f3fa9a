/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/blame/findings.h"
#include "analyzer/cycle/stalls.h"
#include "analyzer/cycle/time_structure.h"
#include "analyzer/units.h"
#include "analyzer/why.h"
#include "trace/status.h"

#define LEAST_STALL_NS 30e6   /* and ... */
#define LEAST_STALL_SHARE 0.1 /* ... of a cycle */
#define GATE 0.01	      /* of the run, that the stalls cost */
#define MANY 3u		      /* ranks with stalls of their own that are one finding */

struct search {
	const struct ct_time_structure *t;
	struct ct_stall *room; /* as many as there are hits */
	uint32_t *by_seat, *first;
	uint8_t *seats;			   /* of a finding */
	uint8_t *taken;			   /* by seat: a finding about it is in the list */
	struct ct_stall_pattern *patterns; /* by seat */
	double threshold_ns;
};

static struct ct_stall stall_of(const struct search *s, const struct ct_hit *hit)
{
	const struct ct_time_structure *t = s->t;

	return (struct ct_stall){
		.cycle = hit->cycle,
		.seat = hit->seat,
		.ns = (double)hit->charged_ns,
		.err_ns = (double)hit->err_ns,
		.stretch = ct_tape_stretch(&t->pass->tape, t->cycles->cut_ns[hit->cycle]),
	};
}

/* The hits of each seat, by cycle: by_seat[first[seat]] .. by_seat[first[seat + 1] - 1]. */
static void sort_by_seat(struct search *s)
{
	const struct ct_hits *hits = s->t->hits;
	/* Counted two places on, so that filling moves each seat's first to where the next one's belongs. */
	uint32_t *next = s->first + 1;

	for (uint32_t k = 0; k < hits->n; k++)
		next[hits->all[k].seat + 1]++;
	for (uint32_t seat = 1; seat <= s->t->pass->n_seats; seat++)
		next[seat] += next[seat - 1];
	for (uint32_t k = 0; k < hits->n; k++)
		s->by_seat[next[hits->all[k].seat]++] = k;
}

/* What a seat is charged with. */
static uint32_t charges_of(const struct search *s, uint32_t seat)
{
	const struct ct_hits *hits = s->t->hits;
	uint32_t n = 0;

	for (uint32_t i = s->first[seat]; i < s->first[seat + 1]; i++) {
		const struct ct_hit *hit = &hits->all[s->by_seat[i]];

		if (hits->kept[hit->cycle])
			s->room[n++] = stall_of(s, hit);
	}
	return n;
}

/* Of all that are not taken. */
static uint32_t charges_of_all(const struct search *s)
{
	const struct ct_hits *hits = s->t->hits;
	uint32_t n = 0;

	for (uint32_t k = 0; k < hits->n; k++) {
		if (hits->kept[hits->all[k].cycle] && !s->taken[hits->all[k].seat])
			s->room[n++] = stall_of(s, &hits->all[k]);
	}
	return n;
}

/* What the stalls cost the run, if that is enough. */
static int is_costly(const struct search *s, const struct ct_stall_pattern *p)
{
	double run = (double)s->t->pass->duration_ns;

	return p->n && (p->sum_ns - p->err_ns) / ct_hits_share(s->t->hits) >= GATE * run;
}

static const char *period_text(const struct ct_stall_pattern *p, struct ct_arena *memory)
{
	return p->every > 0 ? ct_arena_printf(memory, "%.0f", p->every) : "irregular";
}

static int set_ranks(const struct search *s, struct ct_finding *f)
{
	uint32_t n_seats = s->t->pass->n_seats, n = 0;
	uint32_t *seats = malloc((n_seats + 1u) * sizeof(*seats));
	int st = CT_NOMEM;

	for (uint32_t seat = 0; seats && seat < n_seats; seat++) {
		if (s->seats[seat])
			seats[n++] = seat;
	}
	if (seats)
		st = ct_finding_seats(s->t->pass, seats, n, s->t->list, f);
	free(seats);
	return st;
}

/* What both kinds have in common. */
static int set_pattern(const struct search *s, const struct ct_stall_pattern *p,
		       struct ct_finding *f)
{
	const struct ct_cycles *c = s->t->cycles;
	struct ct_findings *list = s->t->list;
	double share = ct_hits_share(s->t->hits);

	ct_finding_loss(f, (uint64_t)(p->sum_ns / share), (uint64_t)(p->err_ns / share),
			s->t->pass->duration_ns);
	f->confidence = p->every > 0 && p->n >= 2 * CT_STALL_LEAST ? CT_CONFIDENCE_HIGH
								   : CT_CONFIDENCE_MEDIUM;
	f->cycle_first = p->first;
	f->cycle_last = p->last;
	f->begin_at_ns = c->cut_ns[p->first];
	f->end_at_ns = c->cut_ns[p->last + 1];
	ct_finding_because(f, CT_WHY_STALLS);
	if (ct_finding_evidence(list, f, "stalls", p->n, "count", NAN) ||
	    ct_finding_evidence(list, f, "every", p->every > 0 ? p->every : NAN, "cycles", NAN) ||
	    ct_finding_evidence(list, f, "stall_p50", p->typical_ns, "ns", p->err_ns / p->n) ||
	    ct_finding_evidence(list, f, "ranks_that_stalled", p->seats, "count", NAN) ||
	    ct_finding_evidence(list, f, "most_of_one_rank", p->most_of_one, "count", NAN))
		return CT_NOMEM;
	return ct_finding_explain(s->t, f, s->seats, 1, s->threshold_ns);
}

static int set_line(const struct search *s, const struct ct_stall_pattern *p, const char *who,
		    struct ct_finding *f)
{
	struct ct_arena *memory = s->t->list->memory;
	const char *every = period_text(p, memory);

	if (!who || !every)
		return CT_NOMEM;
	f->line = ct_arena_printf(
		memory, "%s every=%s cycles stall=%s±%s n=%u loss=%s±%s share=%s cycles=%u..%u",
		who, every, ct_text_ns((uint64_t)p->typical_ns).s,
		ct_text_ns((uint64_t)(p->err_ns / p->n)).s, p->n, ct_text_ns(f->loss_ns).s,
		ct_text_ns(f->loss_err_ns).s, ct_text_pct(f->loss_pct).s, p->first, p->last);
	return f->line ? CT_OK : CT_NOMEM;
}

static const char *who_text(const struct search *s, const struct ct_finding *f)
{
	struct ct_arena *memory = s->t->list->memory;
	const char *ranks = ct_ranks_text(memory, f->ranks, f->n_ranks, 8);
	const char *host = f->n_hosts == 1 ? ct_host_word(memory, f->hosts[0]) : "";

	if (!ranks || !host)
		return NULL;
	return ct_arena_printf(memory, "%s=%s%s%s", f->n_ranks == 1 ? "rank" : "ranks", ranks,
			       f->n_hosts == 1 ? " host=" : "", host);
}

/* ---- one rank ---- */

static int add_periodic(const struct search *s, uint32_t seat, const struct ct_stall_pattern *p)
{
	struct ct_finding *f = ct_findings_add(s->t->list, CT_FINDING_PERIODIC_STALLS);

	memset(s->seats, 0, s->t->pass->n_seats);
	s->seats[seat] = 1;
	s->taken[seat] = 1;
	if (!f || set_ranks(s, f) || set_pattern(s, p, f))
		return CT_NOMEM;
	return set_line(s, p, who_text(s, f), f);
}

/* Stragglers are in the list already, with all that they cost. */
static void take_stragglers(const struct search *s)
{
	for (size_t i = 0; i < s->t->list->n; i++) {
		const struct ct_finding *f = &s->t->list->all[i];

		for (uint32_t seat = 0; seat < s->t->pass->n_seats; seat++) {
			if ((f->kind == CT_FINDING_STRAGGLER ||
			     f->kind == CT_FINDING_STRAGGLER_HOST) &&
			    ct_finding_has_seat(s->t->pass, f, seat))
				s->taken[seat] = 1;
		}
	}
}

/* ---- ranks by turns ---- */

/* The pattern of several ranks that each have their own. */
static struct ct_stall_pattern together(const struct search *s)
{
	struct ct_stall_pattern all = { 0 };

	for (uint32_t seat = 0; seat < s->t->pass->n_seats; seat++) {
		const struct ct_stall_pattern *p = &s->patterns[seat];

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
		all.seats++;
	}
	if (all.n) {
		all.every /= all.n;
		all.typical_ns /= all.n;
	}
	return all;
}

/* `each`: every rank counts for itself. */
static int add_rotating(const struct search *s, const struct ct_stall_pattern *p, int each)
{
	struct ct_finding *f = ct_findings_add(s->t->list, CT_FINDING_ROTATING_STALLS);
	const char *who;

	if (!f || set_ranks(s, f) || set_pattern(s, p, f))
		return CT_NOMEM;
	ct_finding_because(f, f->why == CT_WHY_STREAM_STALLS ? CT_WHY_STREAM_STALLS_BY_TURNS
							     : CT_WHY_STALLS_BY_TURNS);
	who = who_text(s, f);
	return who ? set_line(s, p,
			      ct_arena_printf(s->t->list->memory, "%s%s", who,
					      each ? " each" : " by turns"),
			      f)
		   : CT_NOMEM;
}

/* Ranks with a charge that is one of the events. */
static void mark_seats(const struct search *s, const struct ct_stall_pattern *p)
{
	memset(s->seats, 0, s->t->pass->n_seats);
	for (uint32_t k = 0; k < s->t->hits->n; k++) {
		const struct ct_hit *hit = &s->t->hits->all[k];

		if (!s->taken[hit->seat] && (double)hit->charged_ns >= p->typical_ns / 2)
			s->seats[hit->seat] = 1;
	}
}

static int search_all(const struct search *s)
{
	const struct ct_pass *pass = s->t->pass;
	struct ct_stall_pattern all;
	uint32_t own = 0;
	int st = CT_OK;

	for (uint32_t seat = 0; seat < pass->n_seats; seat++) {
		if (s->taken[seat])
			continue;
		ct_stalls_of_one(s->room, charges_of(s, seat), s->t->hits->n_kept, s->threshold_ns,
				 &s->patterns[seat]);
		own += s->patterns[seat].n > 0;
	}
	if (own >= MANY) {
		all = together(s);
		for (uint32_t seat = 0; seat < pass->n_seats; seat++)
			s->seats[seat] = s->patterns[seat].n > 0;
		return is_costly(s, &all) ? add_rotating(s, &all, 1) : CT_OK;
	}
	for (uint32_t seat = 0; seat < pass->n_seats && st == CT_OK; seat++) {
		if (is_costly(s, &s->patterns[seat]))
			st = add_periodic(s, seat, &s->patterns[seat]);
	}
	if (st != CT_OK)
		return st;
	ct_stalls_of_all(s->room, charges_of_all(s), s->t->hits->n_kept, pass->n_seats,
			 s->threshold_ns, &all);
	if (!is_costly(s, &all))
		return CT_OK;
	mark_seats(s, &all);
	return add_rotating(s, &all, 0);
}

int ct_stalls_report(const struct ct_time_structure *t)
{
	struct search s = { .t = t };
	size_t n = t->pass->n_seats + 1u;
	int st = CT_NOMEM;

	s.room = calloc(t->hits->n + 1u, sizeof(*s.room));
	s.seats = calloc(n, 1);
	s.taken = calloc(n, 1);
	s.patterns = calloc(n, sizeof(*s.patterns));
	s.threshold_ns = LEAST_STALL_SHARE * (double)t->cycles->median_ns;
	if (s.threshold_ns < LEAST_STALL_NS)
		s.threshold_ns = LEAST_STALL_NS;
	s.by_seat = calloc(t->hits->n + 1u, sizeof(*s.by_seat));
	s.first = calloc(n + 1, sizeof(*s.first));
	if (s.room && s.by_seat && s.first && s.seats && s.taken && s.patterns) {
		sort_by_seat(&s);
		take_stragglers(&s);
		st = search_all(&s);
	}
	free(s.room);
	free(s.by_seat);
	free(s.first);
	free(s.seats);
	free(s.taken);
	free(s.patterns);
	return st;
}
