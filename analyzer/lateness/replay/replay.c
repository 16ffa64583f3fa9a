/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/replay.h"

#include <stdlib.h>
#include <string.h>

#include "trace/status.h"

int ct_replay_init(struct ct_replay *r, const struct ct_schedule *s)
{
	*r = (struct ct_replay){
		.start_ns = calloc((size_t)s->n_launches + 1, sizeof(*r->start_ns)),
		.end_ns = calloc((size_t)s->n_launches + 2, sizeof(*r->end_ns)),
		.reached_ns = calloc((size_t)s->n_stretches + 1, sizeof(*r->reached_ns)),
	};
	if (!r->start_ns || !r->end_ns || !r->reached_ns)
		return CT_NOMEM;
	/* Ends of nothing lie behind those of launches: what a launch counts from is 0 there, what
	 * it waits for was always over. */
	r->end_ns[s->n_launches + 1] = INT64_MIN;
	return CT_OK;
}

void ct_replay_fini(struct ct_replay *r)
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

/* When the part's launch starts: its rank is ready for it, and its stream has got so far. */
static inline int64_t open_launch(struct ct_replay *r, const struct ct_schedule_part *p,
				  const int64_t *gap_ns)
{
	int64_t start = plus(gap_ns[p->launch], r->end_ns[p->from]);

	start = later(later(start, r->end_ns[p->also]), r->end_ns[p->after]);
	r->start_ns[p->launch] = start;
	r->end_ns[p->launch] = later(r->end_ns[p->launch], start);
	return start;
}

/* When a part's launch is through with it; `all`: when all had come and the transfer was done. */
static int64_t end_of(const struct ct_replay *r, const struct ct_schedule_part *p, int64_t lead,
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
						       const struct ct_schedule *s,
						       const struct ct_schedule_exchange *m,
						       const int64_t *gap_ns, int64_t transfer_ns,
						       int is_free)
{
	const struct ct_schedule_part *first = &s->parts[m->first_part], *end = first + m->n;
	int64_t latest = INT64_MIN, reached = r->reached_ns[m->stretch], lead;

	for (const struct ct_schedule_part *p = first; p < end; p++)
		latest = later(latest,
			       p->opens ? open_launch(r, p, gap_ns) : r->start_ns[p->launch]);
	lead = m->lead < m->n ? r->start_ns[first[m->lead].launch] : INT64_MIN;
	latest = plus(latest, is_free && !m->computes ? 0 : transfer_ns);
	for (const struct ct_schedule_part *p = first; p < end; p++) {
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
		const struct ct_schedule_exchange *m = &s->exchanges[k];
		int64_t transfer = transfer_ns ? transfer_ns[k] : m->transfer_ns;

		if (is_free)
			meet(r, s, m, gap_ns, transfer, 1);
		else
			meet(r, s, m, gap_ns, transfer, 0);
	}
	r->total_ns = 0;
	for (uint32_t k = 0; k < s->n_stretches; k++)
		r->total_ns = plus(r->total_ns, r->reached_ns[k]);
	return r->total_ns;
}
