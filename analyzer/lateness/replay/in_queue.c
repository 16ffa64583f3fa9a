/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/in_queue.h"

#include "analyzer/base/stats.h"
#include "analyzer/lateness/replay/limits.h"
#include "analyzer/lateness/replay/schedule_private.h"

/* What the peers that did not queue up at an occurrence show, for launches counted from the
 * `distance`-th one before: when they were ready or, with `back`, that over the gap of the launch
 * that lies `back` before. */
struct ready {
	uint32_t distance, back;
	int is_known;
	double median; /* negative: all of them queued up */
};

struct queue_position {
	struct ct_schedule *s;
	const uint32_t *launches;
	uint32_t n;
	double *values;
};

static double ready_median(const struct queue_position *p, const struct ready *r)
{
	const struct ct_schedule *s = p->s;
	uint32_t n = 0;

	for (uint32_t o = 0; o < p->n; o++) {
		uint32_t other = p->launches[o];
		const struct ct_schedule_launch *l = &s->launches[other];

		if (ct_schedule_is_queued(s, l) || l->from == CT_NO_LAUNCH ||
		    other - l->from != r->distance || other < r->back)
			continue;
		if (r->back &&
		    (double)s->gap_ns[other - r->back] <= CT_STEADY_T * (double)l->err_ns)
			continue;
		p->values[n++] = (double)s->gap_ns[other] /
				 (r->back ? (double)s->gap_ns[other - r->back] : 1);
	}
	return n ? ct_median_high(p->values, n) : -1;
}

/* Of the peers that did not queue up at this occurrence, counted from the same launch: when they
 * were ready, at the member's own pace up to the launch ahead if that counts from there too
 * (`pace`: its gap), and is not so short that its error is the pace. Negative: all of them did.
 * Members ask the same one after the other: `last` is what the one before received. */
static double ready_peers(const struct queue_position *p, struct ready *last, uint32_t launch,
			  uint32_t back, double pace)
{
	const struct ct_schedule_launch *l = &p->s->launches[launch];
	int has_pace = pace > CT_STEADY_T * (double)l->err_ns;
	struct ready r = { launch - l->from, has_pace ? back : 0, 1, 0 };

	if (!last->is_known || last->distance != r.distance || last->back != r.back) {
		r.median = ready_median(p, &r);
		*last = r;
	}
	return last->median < 0 || !has_pace ? last->median : last->median * pace;
}

void ct_in_queue_ready(struct ct_schedule *s, const uint32_t *launches, uint32_t n, int follows,
		       double *values)
{
	struct queue_position here = { s, launches, n, values };
	struct ready last = { .is_known = 0 };

	for (uint32_t m = 0; m < n; m++) {
		uint32_t l = launches[m], ahead = s->launches[l].after;
		int64_t least = 0, ready;

		if (!ct_schedule_is_queued(s, &s->launches[l]) || s->launches[l].from == ahead ||
		    s->launches[l].from == CT_NO_LAUNCH)
			continue;
		if (follows) {
			s->gap_ns[l] = 0;
			continue;
		}
		s->guessed++;
		if (s->launches[ahead].from == s->launches[l].from)
			least = s->gap_ns[ahead];
		ready = (int64_t)ready_peers(&here, &last, l, l - ahead, (double)least);
		/* counted from elsewhere, which is not on record */
		if (ready < 0 && s->launches[ahead].from != s->launches[l].from)
			continue;
		if (ready < least)
			ready = least;
		if (ready < s->gap_ns[l])
			s->gap_ns[l] = ready;
	}
}
