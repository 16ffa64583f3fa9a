/* SPDX-License-Identifier: Apache-2.0 */
/* step_ends.c — in which step each launch is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/table.h"
#include "analyzer/lateness/replay/limits.h"
#include "analyzer/lateness/replay/positions.h"
#include "trace/status.h"

struct kind_count {
	uint64_t kind;
	uint32_t width, n; /* launches of a rank; or ranks that have the kind ... */
	uint32_t times;	   /* ... so often */
	int is_apart;	   /* not all members end it together, as in a broadcast */
};

/* Some of the ranks of stages: stages->slots[first] .. stages->slots[end - 1]. */
struct ranks {
	uint32_t first, end;
};

struct step_ends_search {
	const struct ct_schedule *s;
	const struct ct_stages *stages;
	const struct ct_steps *steps;
	struct ct_positions *out;
	uint32_t *kinds;   /* by launch: the number of its kind */
	uint32_t *seen;	   /* by kind: 0, space for counting */
	uint8_t *is_apart; /* by launch: it ends apart from other members of an operation */
};

/* ---- what ends a step ---- */

CT_SORT_BY(by_kind, struct kind_count, CT_UP(kind))

/* The kinds of a rank's launches, each once, with its least width. Returns how many. */
static uint32_t count_kinds(const struct step_ends_search *f, uint32_t slot, struct kind_count *out)
{
	const struct ct_schedule *s = f->s;
	uint32_t first = s->slot_first[slot], end = s->slot_first[slot + 1], n = 0;

	for (uint32_t l = first; l < end; l++) {
		const struct ct_schedule_launch *launch = &s->launches[l];
		uint32_t *seen = &f->seen[f->kinds[l]];
		struct kind_count *k;

		if (!*seen) {
			*seen = ++n;
			out[n - 1] = (struct kind_count){ .kind = launch->kind,
							  .width = launch->width };
		}
		k = &out[*seen - 1];
		k->width = launch->width < k->width ? launch->width : k->width;
		k->is_apart |= f->is_apart[l];
		k->n++;
	}
	for (uint32_t l = first; l < end; l++)
		f->seen[f->kinds[l]] = 0;
	ct_sort(out, n, sizeof(*out), by_kind);
	return n;
}

/* Of each stretch of the run that is kept there is one end more than whole steps, but for one. */
static int is_once_a_step(const struct step_ends_search *f, const struct kind_count *k)
{
	double stretches = f->s->n_stretches;
	double off = fabs((double)k->n - (f->steps->n_kept + stretches));

	return off <= stretches + CT_NEAR * f->steps->n_kept;
}

/* Which cut an end lies at, as a whole number and a fraction of the step behind it. */
static double cut_at(const struct step_ends_search *f, const struct ct_schedule_launch *l)
{
	const struct ct_steps *c = f->steps;
	double at = (double)(l->start_ns + f->s->begin_ns[l->stretch]) + (double)l->span_ns;
	uint32_t k = (uint32_t)CT_BISECT(i, 0, c->n + 1, (double)c->cut_ns[i] <= at);
	double length = (double)c->median_ns + 1;

	if (k == 0)
		return (at - (double)c->cut_ns[0]) / length;
	if (k <= c->n)
		length = (double)(c->cut_ns[k] - c->cut_ns[k - 1]) + 1;
	return k - 1 + (at - (double)c->cut_ns[k - 1]) / length;
}

/* Where in a step those ends lie, mostly: a mean of directions, -0.5 .. 0.5. */
static double phase_of(const struct step_ends_search *f, struct ranks ranks, uint64_t kind)
{
	double x = 0, y = 0;

	for (uint32_t k = ranks.first; k < ranks.end; k++) {
		uint32_t slot = f->stages->slots[k];

		for (uint32_t l = f->s->slot_first[slot]; l < f->s->slot_first[slot + 1]; l++) {
			if (f->s->launches[l].kind != kind)
				continue;
			x += cos(2 * M_PI * cut_at(f, &f->s->launches[l]));
			y += sin(2 * M_PI * cut_at(f, &f->s->launches[l]));
		}
	}
	return atan2(y, x) / (2 * M_PI);
}

/* How far from where steps are cut its ends lie, on the rank where that is most. */
static double farthest_off(const struct step_ends_search *f, struct ranks ranks, uint64_t kind)
{
	double most = 0;

	for (uint32_t k = ranks.first; k < ranks.end; k++) {
		struct ranks one = { k, k + 1 };

		most = fmax(most, fabs(phase_of(f, one, kind)));
	}
	return most;
}

/* Once a step on most ranks, then by the widest communicator; of several, what ends on all ranks at
 * once, and nearest to where steps are cut. */
static int is_better(const struct step_ends_search *f, struct ranks ranks,
		     const struct kind_count *a, const struct kind_count *b)
{
	if (a->width != b->width)
		return a->width > b->width;
	if (a->n != b->n)
		return a->n > b->n;
	if (a->is_apart != b->is_apart)
		return b->is_apart;
	return farthest_off(f, ranks, a->kind) < farthest_off(f, ranks, b->kind);
}

/* The kind that ends steps on most of these ranks; kind 0: none. `room` for a rank's launches,
 * votes for all. */
static struct kind_count ends_steps(const struct step_ends_search *f, struct ranks ranks,
				    struct kind_count *votes, struct kind_count *room)
{
	uint32_t n_votes = 0;
	struct kind_count best = { 0 };

	for (uint32_t k = ranks.first; k < ranks.end; k++) {
		uint32_t n = count_kinds(f, f->stages->slots[k], room);

		for (uint32_t i = 0; i < n; i++) {
			uint32_t v = 0;

			if (!is_once_a_step(f, &room[i]))
				continue;
			while (v < n_votes && votes[v].kind != room[i].kind)
				v++;
			if (v == n_votes)
				votes[n_votes++] = (struct kind_count){ .kind = room[i].kind,
									.width = room[i].width };
			votes[v].n++;
			votes[v].is_apart |= room[i].is_apart;
		}
	}
	for (uint32_t v = 0; v < n_votes; v++) {
		if (2 * votes[v].n > ranks.end - ranks.first &&
		    (!best.n || is_better(f, ranks, &votes[v], &best)))
			best = votes[v];
	}
	return best;
}

/* ---- steps ---- */

/* Launches from `first` to `last`, which ends a step: they are that step if nothing that ends one
 * is missing between. */
static void close_step(struct step_ends_search *f, uint32_t first, uint32_t last, uint32_t step,
		       int is_next)
{
	for (uint32_t l = first; l <= last; l++)
		f->out->step_of[l] = is_next ? step : CT_NO_STEP;
}

static void cut_slot(struct step_ends_search *f, uint32_t slot, uint64_t kind, double phase)
{
	const struct ct_schedule *s = f->s;
	uint32_t first = s->slot_first[slot], last_step = CT_NO_STEP, next = 0;

	for (uint32_t l = first; l < s->slot_first[slot + 1]; l++) {
		double at;
		uint32_t step;

		f->out->step_of[l] = CT_NO_STEP;
		if (s->launches[l].kind != kind)
			continue;
		at = cut_at(f, &s->launches[l]) - phase;
		step = at > 0 ? (uint32_t)lround(at) : 0;
		/* a rank that comes late to what does not wait for it ends late, too; where one is
		 * missing the next is off by 1 */
		if (last_step != CT_NO_STEP && fabs(at - next) <= 2 * CT_FARTHEST_END)
			step = next;
		else if (fabs(at - step) > CT_FARTHEST_END)
			continue;
		if (step > f->steps->n)
			continue;
		close_step(f, first, l, step, step == next && last_step != CT_NO_STEP);
		last_step = step;
		next = step + 1;
		first = l + 1;
	}
}

/* Where nothing ends them on this stage: by the time at which a launch ends. What ends a step ends
 * at the cut, as far as times show. */
static void cut_by_time(struct step_ends_search *f, uint32_t slot)
{
	const struct ct_schedule *s = f->s;

	for (uint32_t l = s->slot_first[slot]; l < s->slot_first[slot + 1]; l++) {
		double slack = 2.0 * s->launches[l].err_ns / ((double)f->steps->median_ns + 1);
		double at = cut_at(f, &s->launches[l]) - slack;

		f->out->step_of[l] = at > 0 && at < f->steps->n ? (uint32_t)at + 1 : CT_NO_STEP;
	}
}

/* Where nothing but messages comes once a step, what all ranks do together less often is a better
 * one: then the steps that were found are parts of steps (the microbatches of a pipeline). Such a
 * kind, the widest and most frequent; kind 0: there is none. */
static struct kind_count widest_of_all(const struct step_ends_search *f, struct kind_count *votes,
				       struct kind_count *room)
{
	uint32_t n_votes = 0, slots = f->stages->first[f->stages->n];
	/* so often come steps, in the stretches of the run that are kept */
	const uint32_t steps = f->steps->n_kept + f->s->n_stretches - 1;
	struct kind_count best = { 0 };

	for (uint32_t k = 0; k < slots; k++) {
		uint32_t n = count_kinds(f, f->stages->slots[k], room);

		for (uint32_t i = 0; i < n; i++) {
			uint32_t v = 0;

			if (!room[i].width || room[i].n <= CT_LEAST_STEPS + 1 || room[i].n > steps)
				continue;
			while (v < n_votes &&
			       (votes[v].kind != room[i].kind || votes[v].times != room[i].n))
				v++;
			if (v == n_votes)
				votes[n_votes++] = (struct kind_count){ .kind = room[i].kind,
									.width = room[i].width,
									.times = room[i].n };
			votes[v].n++;
		}
	}
	for (uint32_t v = 0; v < n_votes; v++) {
		if (votes[v].n >= CT_NEARLY_ALL * slots &&
		    (votes[v].width > best.width ||
		     (votes[v].width == best.width && votes[v].times > best.times)))
			best = votes[v];
	}
	return best;
}

/* The steps that end with the operations of that kind of the first rank. 0 or CT_NOMEM. */
static int recut(struct step_ends_search *f, uint64_t kind, struct ct_steps *own)
{
	uint32_t slot = f->stages->slots[0], n = 0;
	uint64_t *times;

	own->cut_ns = calloc((size_t)f->steps->n + 1, sizeof(*own->cut_ns));
	times = calloc((size_t)f->steps->n + 1, sizeof(*times));
	if (!own->cut_ns || !times) {
		free(times);
		return CT_NOMEM;
	}
	for (uint32_t l = f->s->slot_first[slot]; l < f->s->slot_first[slot + 1]; l++) {
		const struct ct_schedule_launch *launch = &f->s->launches[l];

		if (launch->kind == kind && n <= f->steps->n)
			own->cut_ns[n++] = (uint64_t)(f->s->begin_ns[launch->stretch] +
						      launch->start_ns + launch->span_ns);
	}
	qsort(own->cut_ns, n, sizeof(*own->cut_ns), ct_by_u64);
	own->n = own->n_kept = n ? n - 1 : 0;
	for (uint32_t k = 0; k < own->n; k++)
		times[k] = own->cut_ns[k + 1] - own->cut_ns[k];
	qsort(times, own->n, sizeof(*times), ct_by_u64);
	own->median_ns = times[own->n / 2];
	free(times);
	f->out->n_run = (uint32_t)((uint64_t)own->n * f->steps->n / f->steps->n_kept);
	f->steps = own;
	f->out->n_steps = own->n;
	return CT_OK;
}

static struct ranks ranks_of(const struct step_ends_search *f, uint32_t stage)
{
	return (struct ranks){ f->stages->first[stage], f->stages->first[stage + 1] };
}

static int calls(const struct step_ends_search *f, uint32_t slot, uint64_t kind)
{
	for (uint32_t l = f->s->slot_first[slot]; l < f->s->slot_first[slot + 1]; l++) {
		if (f->s->launches[l].kind == kind)
			return 1;
	}
	return 0;
}

/* By what ends the steps of the stage; a rank that never calls that, by what ends its own. */
static void cut_stage(struct step_ends_search *f, struct ranks ranks, struct kind_count ends,
		      struct kind_count *votes, struct kind_count *room)
{
	double phase = ends.kind ? phase_of(f, ranks, ends.kind) : 0;

	for (uint32_t k = ranks.first; k < ranks.end; k++) {
		struct ranks one = { k, k + 1 };
		uint32_t slot = f->stages->slots[k];
		struct kind_count own = ends;

		if (!ends.kind || !calls(f, slot, ends.kind))
			own = ends_steps(f, one, votes, room);
		if (own.kind)
			cut_slot(f, slot, own.kind,
				 own.kind == ends.kind ? phase : phase_of(f, one, own.kind));
		else
			cut_by_time(f, slot);
	}
}

static int cut_all(struct step_ends_search *f)
{
	const struct ct_steps *found = f->steps;
	struct kind_count *votes, *room, *ends, wide;
	struct ct_steps own = { 0 };
	int st = CT_OK, only_messages = 1;

	/* the kinds of all ranks at most */
	room = malloc(((size_t)f->s->n_launches + 1) * sizeof(*room));
	votes = malloc(((size_t)f->s->n_launches + 1) * sizeof(*votes));
	ends = calloc((size_t)f->stages->n + 1, sizeof(*ends));
	if (!room || !votes || !ends)
		st = CT_NOMEM;
	for (uint32_t stage = 0; st == CT_OK && stage < f->stages->n; stage++) {
		ends[stage] = ends_steps(f, ranks_of(f, stage), votes, room);
		only_messages &= !ends[stage].width;
	}
	if (st == CT_OK && only_messages) {
		wide = widest_of_all(f, votes, room);
		for (uint32_t stage = 0; wide.kind && stage < f->stages->n; stage++)
			ends[stage] = wide;
		if (wide.kind)
			st = recut(f, wide.kind, &own);
	}
	for (uint32_t stage = 0; st == CT_OK && stage < f->stages->n; stage++)
		cut_stage(f, ranks_of(f, stage), ends[stage], votes, room);
	f->steps = found;
	free(own.cut_ns);
	free(room);
	free(votes);
	free(ends);
	return st;
}

/* Steps that most ranks have. */
static int find_complete(struct step_ends_search *f)
{
	struct ct_positions *p = f->out;
	uint32_t *have = calloc((size_t)p->n_steps + 1, sizeof(*have));
	uint32_t slots = f->stages->first[f->stages->n];

	p->is_complete = calloc((size_t)p->n_steps + 1, 1);
	if (!have || !p->is_complete) {
		free(have);
		return CT_NOMEM;
	}
	for (uint32_t slot = 0; slot < f->s->n_slots; slot++) {
		uint32_t last = CT_NO_STEP;

		for (uint32_t l = f->s->slot_first[slot]; l < f->s->slot_first[slot + 1]; l++) {
			if (p->step_of[l] != CT_NO_STEP && p->step_of[l] != last)
				have[p->step_of[l]]++;
			last = p->step_of[l];
		}
	}
	for (uint32_t step = 1; step <= p->n_steps; step++) {
		p->is_complete[step] = have[step] >= CT_NEARLY_ALL * slots && have[step];
		p->n_complete += p->is_complete[step];
	}
	free(have);
	for (uint32_t l = 0; l < f->s->n_launches; l++) {
		if (p->step_of[l] != CT_NO_STEP && !p->is_complete[p->step_of[l]])
			p->step_of[l] = CT_NO_STEP;
	}
	return CT_OK;
}

/* Numbers of kinds, and what ends apart. */
static int prepare(struct step_ends_search *f)
{
	const struct ct_schedule *s = f->s;
	struct ct_table numbers = { 0 };
	int st = f->kinds && f->is_apart ? CT_OK : CT_NOMEM;

	for (uint32_t l = 0; l < s->n_launches && st == CT_OK; l++)
		st = ct_table_number(&numbers, s->launches[l].kind, &f->kinds[l]);
	f->seen = calloc(numbers.n + 1, sizeof(*f->seen));
	ct_table_fini(&numbers);
	if (st != CT_OK || !f->seen)
		return CT_NOMEM;
	for (uint32_t i = 0; i < s->n_parts; i++)
		f->is_apart[s->parts[i].ends] |= s->parts[i].end != CT_ENDS_WITH_ALL;
	return CT_OK;
}

int ct_positions_cut(struct ct_positions *p, const struct ct_schedule *s,
		     const struct ct_stages *stages, const struct ct_steps *steps)
{
	size_t launches = (size_t)s->n_launches + 1;
	struct step_ends_search f = { .s = s, .stages = stages, .steps = steps, .out = p };
	int st;

	f.kinds = malloc(launches * sizeof(*f.kinds));
	f.is_apart = calloc(launches, 1);
	st = prepare(&f);
	st = st ?: cut_all(&f);
	st = st ?: find_complete(&f);
	free(f.kinds);
	free(f.seen);
	free(f.is_apart);
	return st;
}
