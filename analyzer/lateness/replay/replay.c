/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/replay.h"

#include <stdlib.h>
#include <string.h>

#include "trace/status.h"

/* What playing a part takes, in the order in which parts are played: the schedule's launches are much larger, and lie
 * by slot. */
struct ct_replay_part {
	uint32_t launch, ends;
	uint32_t from, after, also; /* of a part that opens its launch: as there */
	int64_t own_ns;
	uint8_t end, opens;
};

static void line_up(struct ct_replay *r, const struct ct_schedule *s)
{
	for (uint32_t p = 0; p < s->n_parts; p++) {
		const struct ct_schedule_part *part = &s->parts[p];
		const struct ct_schedule_launch *l = &s->launches[part->launch];

		r->parts[p] = (struct ct_replay_part){ part->launch, part->ends, l->from,
						       l->after,     l->also,	 part->own_ns,
						       part->end,    part->opens };
	}
}

/* What a play writes. */
static int make_room(struct ct_replay *r, const struct ct_schedule *s)
{
	r->start_ns = calloc((size_t)s->n_launches + 1, sizeof(*r->start_ns));
	r->end_ns = calloc((size_t)s->n_launches + 1, sizeof(*r->end_ns));
	r->reached_ns = calloc((size_t)s->n_stretches + 1, sizeof(*r->reached_ns));
	return r->start_ns && r->end_ns && r->reached_ns ? CT_OK : CT_NOMEM;
}

int ct_replay_init(struct ct_replay *r, const struct ct_schedule *s)
{
	ct_replay_fini(r);
	r->parts = malloc(((size_t)s->n_parts + 1) * sizeof(*r->parts));
	if (make_room(r, s) != CT_OK || !r->parts)
		return CT_NOMEM;
	line_up(r, s);
	return CT_OK;
}

void ct_replay_fini(struct ct_replay *r)
{
	free(r->parts);
	ct_replay_leave(r);
}

int ct_replay_share(struct ct_replay *r, const struct ct_replay *from, const struct ct_schedule *s)
{
	*r = (struct ct_replay){ .parts = from->parts };
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

/* A launch starts when its rank is ready for it and its stream has got so far. */
static int64_t start_of(const struct ct_replay *r, const struct ct_replay_part *p, int64_t gap)
{
	int64_t start = plus(gap, p->from == CT_NO_LAUNCH ? 0 : r->end_ns[p->from]);

	if (p->also != CT_NO_LAUNCH)
		start = later(start, r->end_ns[p->also]);
	return p->after == CT_NO_LAUNCH ? start : later(start, r->end_ns[p->after]);
}

static void meet(struct ct_replay *r, const struct ct_schedule_meeting *m, const int64_t *gap_ns,
		 int64_t transfer_ns, int is_free)
{
	const struct ct_replay_part *first = &r->parts[m->first_part], *end = first + m->n;
	int64_t latest = INT64_MIN, lead = INT64_MIN;
	int64_t *reached = &r->reached_ns[m->stretch];

	for (const struct ct_replay_part *p = first; p < end; p++) {
		uint32_t l = p->launch;

		if (p->opens) {
			r->start_ns[l] = start_of(r, p, gap_ns[l]);
			r->end_ns[l] = later(r->end_ns[l], r->start_ns[l]);
		}
		latest = later(latest, r->start_ns[l]);
	}
	if (m->lead < m->n)
		lead = r->start_ns[first[m->lead].launch];
	if (is_free && !m->computes)
		transfer_ns = 0;
	latest = plus(latest, transfer_ns);
	for (const struct ct_replay_part *p = first; p < end; p++) {
		int64_t own = is_free ? 0 : p->own_ns, until = latest;
		uint32_t l = p->launch;

		if (p->end == CT_ENDS_WITH_LEAD)
			until = later(lead, r->start_ns[l]);
		else if (p->end == CT_ENDS_ALONE)
			until = r->start_ns[l];
		until = plus(until, own);
		r->end_ns[p->ends] = later(r->end_ns[p->ends], until);
		*reached = later(*reached, until);
	}
}

int64_t ct_replay_run(struct ct_replay *r, const struct ct_schedule *s, const int64_t *gap_ns,
		      const int64_t *transfer_ns, int is_free)
{
	memset(r->reached_ns, 0, s->n_stretches * sizeof(*r->reached_ns));
	memset(r->end_ns, 0, s->n_launches * sizeof(*r->end_ns));
	for (uint32_t k = 0; k < s->n_meetings; k++) {
		const struct ct_schedule_meeting *m = &s->meetings[k];

		meet(r, m, gap_ns, transfer_ns ? transfer_ns[k] : m->transfer_ns, is_free);
	}
	r->total_ns = 0;
	for (uint32_t k = 0; k < s->n_stretches; k++)
		r->total_ns = plus(r->total_ns, r->reached_ns[k]);
	return r->total_ns;
}
