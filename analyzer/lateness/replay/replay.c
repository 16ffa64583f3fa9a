/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/replay.h"

#include <stdlib.h>
#include <string.h>

#include "trace/status.h"

/* What playing a part takes, in the order in which parts are played: the schedule's launches are much larger, and lie
 * by slot. */
struct ct_replay_part {
	uint32_t launch, ends;
	uint32_t from, after,
		also; /* of a part that opens its launch: as there, or where what is none has its end */
	uint8_t end, opens;
	int64_t own_ns;
};

/* Likewise of a exchange. */
struct ct_replay_exchange {
	int64_t transfer_ns;
	uint32_t first, n, stretch, lead;
	uint8_t computes;
	uint8_t is_plain; /* all members end it together */
};

/* Ends of nothing lie behind those of launches: of what a launch counts from, and of what it waits for. */
static uint32_t from_of(const struct ct_schedule *s, uint32_t launch)
{
	return launch == CT_NO_LAUNCH ? s->n_launches : launch;
}

static uint32_t after_of(const struct ct_schedule *s, uint32_t launch)
{
	return launch == CT_NO_LAUNCH ? s->n_launches + 1 : launch;
}

static void line_up(struct ct_replay *r, const struct ct_schedule *s)
{
	for (uint32_t p = 0; p < s->n_parts; p++) {
		const struct ct_schedule_part *part = &s->parts[p];
		const struct ct_schedule_launch *l = &s->launches[part->launch];

		r->parts[p] = (struct ct_replay_part){ part->launch,	     part->ends,
						       from_of(s, l->from),  after_of(s, l->after),
						       after_of(s, l->also), part->end,
						       part->opens,	     part->own_ns };
	}
	for (uint32_t k = 0; k < s->n_exchanges; k++) {
		const struct ct_schedule_exchange *m = &s->exchanges[k];
		uint8_t is_plain = 1;

		for (uint32_t p = m->first_part; p < m->first_part + m->n; p++)
			is_plain &= s->parts[p].end == CT_ENDS_WITH_ALL;
		r->exchanges[k] = (struct ct_replay_exchange){ m->transfer_ns, m->first_part,
							       m->n,	       m->stretch,
							       m->lead,	       m->computes,
							       is_plain };
	}
}

/* What a play writes. */
static int make_room(struct ct_replay *r, const struct ct_schedule *s)
{
	r->start_ns = calloc((size_t)s->n_launches + 1, sizeof(*r->start_ns));
	r->end_ns = calloc((size_t)s->n_launches + 2, sizeof(*r->end_ns));
	r->reached_ns = calloc((size_t)s->n_stretches + 1, sizeof(*r->reached_ns));
	if (!r->start_ns || !r->end_ns || !r->reached_ns)
		return CT_NOMEM;
	r->end_ns[after_of(s, CT_NO_LAUNCH)] = INT64_MIN;
	return CT_OK;
}

int ct_replay_init(struct ct_replay *r, const struct ct_schedule *s)
{
	ct_replay_fini(r);
	r->parts = malloc(((size_t)s->n_parts + 1) * sizeof(*r->parts));
	r->exchanges = malloc(((size_t)s->n_exchanges + 1) * sizeof(*r->exchanges));
	if (make_room(r, s) != CT_OK || !r->parts || !r->exchanges)
		return CT_NOMEM;
	line_up(r, s);
	return CT_OK;
}

void ct_replay_fini(struct ct_replay *r)
{
	free(r->parts);
	free(r->exchanges);
	ct_replay_leave(r);
}

int ct_replay_share(struct ct_replay *r, const struct ct_replay *from, const struct ct_schedule *s)
{
	*r = (struct ct_replay){ .parts = from->parts, .exchanges = from->exchanges };
	return make_room(r, s);
}

void ct_replay_leave(struct ct_replay *r)
{
	free(r->start_ns);
	free(r->end_ns);
	free(r->reached_ns);
	*r = (struct ct_replay){ 0 };
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Times are what files say, however large. */
static int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* The latest start of a exchange's members. A launch starts when its rank is ready for it and its stream has got so far. */
static int64_t open_all(struct ct_replay *r, const struct ct_replay_part *first,
			const struct ct_replay_part *end, const int64_t *gap_ns)
{
	int64_t latest = INT64_MIN, start;

	for (const struct ct_replay_part *p = first; p < end; p++) {
		if (p->opens) {
			start = plus(gap_ns[p->launch], r->end_ns[p->from]);
			start = later(later(start, r->end_ns[p->also]), r->end_ns[p->after]);
			r->start_ns[p->launch] = start;
			r->end_ns[p->launch] = later(r->end_ns[p->launch], start);
		}
		latest = later(latest, r->start_ns[p->launch]);
	}
	return latest;
}

/* When a part's launch is through with it; `all`: when all had come and the transfer was done. */
static int64_t end_of(const struct ct_replay *r, const struct ct_replay_part *p, int64_t lead,
		      int64_t all)
{
	switch (p->end) {
	case CT_ENDS_WITH_LEAD:
		return later(lead, r->start_ns[p->launch]);
	case CT_ENDS_ALONE:
		return r->start_ns[p->launch];
	default:
		return all;
	}
}

static inline __attribute__((always_inline)) void meet(struct ct_replay *r,
						       const struct ct_replay_exchange *m,
						       const int64_t *gap_ns, int64_t transfer_ns,
						       int is_free)
{
	const struct ct_replay_part *first = &r->parts[m->first], *end = first + m->n;
	int64_t latest = open_all(r, first, end, gap_ns), reached = r->reached_ns[m->stretch];
	int64_t lead = m->lead < m->n ? r->start_ns[first[m->lead].launch] : INT64_MIN;

	latest = plus(latest, is_free && !m->computes ? 0 : transfer_ns);
	for (const struct ct_replay_part *p = first; p < end; p++) {
		int64_t until = m->is_plain ? latest : end_of(r, p, lead, latest);

		until = plus(until, is_free ? 0 : p->own_ns);
		r->end_ns[p->ends] = later(r->end_ns[p->ends], until);
		reached = later(reached, until);
	}
	r->reached_ns[m->stretch] = reached;
}

int64_t ct_replay_run(struct ct_replay *r, const struct ct_schedule *s, const int64_t *gap_ns,
		      const int64_t *transfer_ns, int is_free)
{
	memset(r->reached_ns, 0, s->n_stretches * sizeof(*r->reached_ns));
	memset(r->end_ns, 0, s->n_launches * sizeof(*r->end_ns));
	for (uint32_t k = 0; k < s->n_exchanges; k++) {
		const struct ct_replay_exchange *m = &r->exchanges[k];
		int64_t transfer = transfer_ns ? transfer_ns[k] : m->transfer_ns;

		if (is_free)
			meet(r, m, gap_ns, transfer, 1);
		else
			meet(r, m, gap_ns, transfer, 0);
	}
	r->total_ns = 0;
	for (uint32_t k = 0; k < s->n_stretches; k++)
		r->total_ns = plus(r->total_ns, r->reached_ns[k]);
	return r->total_ns;
}
