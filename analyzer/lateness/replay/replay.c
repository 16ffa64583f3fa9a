/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/replay.h"

#include <stdlib.h>
#include <string.h>

#include "trace/status.h"

int ct_replay_init(struct ct_replay *r, const struct ct_schedule *s)
{
	r->start_ns = calloc((size_t)s->n_launches + 1, sizeof(*r->start_ns));
	r->end_ns = calloc((size_t)s->n_launches + 1, sizeof(*r->end_ns));
	r->window_ns = calloc((size_t)s->n_windows + 1, sizeof(*r->window_ns));
	return r->start_ns && r->end_ns && r->window_ns ? CT_OK : CT_NOMEM;
}

void ct_replay_fini(struct ct_replay *r)
{
	free(r->start_ns);
	free(r->end_ns);
	free(r->window_ns);
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
static int64_t start_of(const struct ct_replay *r, const struct ct_schedule_launch *l, int64_t gap)
{
	int64_t start = plus(gap, l->from == CT_NO_LAUNCH ? 0 : r->end_ns[l->from]);

	if (l->also != CT_NO_LAUNCH)
		start = later(start, r->end_ns[l->also]);
	return l->after == CT_NO_LAUNCH ? start : later(start, r->end_ns[l->after]);
}

static void meet(struct ct_replay *r, const struct ct_schedule *s,
		 const struct ct_schedule_meeting *m, const int64_t *gap_ns, int64_t transfer_ns,
		 int is_free)
{
	const struct ct_schedule_part *parts = &s->parts[m->first_part];
	int64_t latest = INT64_MIN, lead = INT64_MIN;
	int64_t *reached = &r->window_ns[m->window];

	for (uint32_t p = 0; p < m->n; p++) {
		uint32_t l = parts[p].launch;

		if (parts[p].opens)
			r->start_ns[l] = r->end_ns[l] = start_of(r, &s->launches[l], gap_ns[l]);
		latest = later(latest, r->start_ns[l]);
	}
	if (m->lead < m->n)
		lead = r->start_ns[parts[m->lead].launch];
	if (is_free && !m->computes)
		transfer_ns = 0;
	for (uint32_t p = 0; p < m->n; p++) {
		uint32_t l = parts[p].launch;
		int64_t own = is_free ? 0 : parts[p].own_ns, end;

		if (parts[p].end == CT_ENDS_WITH_ALL)
			end = plus(latest, transfer_ns);
		else if (parts[p].end == CT_ENDS_WITH_LEAD)
			end = plus(later(lead, r->start_ns[l]), own);
		else
			end = plus(r->start_ns[l], own);
		r->end_ns[l] = later(r->end_ns[l], end);
		*reached = later(*reached, end);
	}
}

int64_t ct_replay_run(struct ct_replay *r, const struct ct_schedule *s, const int64_t *gap_ns,
		      const int64_t *transfer_ns, int is_free)
{
	memset(r->window_ns, 0, s->n_windows * sizeof(*r->window_ns));
	for (uint32_t k = 0; k < s->n_meetings; k++) {
		const struct ct_schedule_meeting *m = &s->meetings[k];

		meet(r, s, m, gap_ns, transfer_ns ? transfer_ns[k] : m->transfer_ns, is_free);
	}
	r->total_ns = 0;
	for (uint32_t w = 0; w < s->n_windows; w++) {
		if (w % s->windows_each)
			r->window_ns[w] = later(r->window_ns[w], r->window_ns[w - 1]);
		if ((w + 1) % s->windows_each == 0)
			r->total_ns = plus(r->total_ns, r->window_ns[w]);
	}
	return r->total_ns;
}

int64_t ct_replay_spans(const struct ct_replay *r, const struct ct_schedule *s, uint32_t seat)
{
	int64_t sum = 0;

	for (uint32_t l = s->seat_first[seat]; l < s->seat_first[seat + 1]; l++)
		sum = plus(sum, r->end_ns[l] - r->start_ns[l]);
	return sum;
}
