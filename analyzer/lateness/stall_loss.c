/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/stall_loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/stats.h"
#include "analyzer/lateness/replay/limits.h"
#include "trace/status.h"

/* What all events work on. */
struct stall_sums {
	const struct ct_stall_steps *c;
	uint8_t *taken; /* steps of events, and those behind them */
	double *off;	/* by how much the others differ from their usual, to estimate the noise */
	uint32_t n_off;
	double charged, excess, both, err;
	uint32_t steps; /* that the events took */
};

static double time_of(const struct ct_stall_steps *c, uint32_t k)
{
	return (double)(c->cut_ns[k + 1] - c->cut_ns[k]);
}

/* Median of the steps around `at` that have no stall; NAN: there are none. */
static double usual(const struct stall_sums *s, uint32_t at)
{
	double room[2 * CT_LEAST_TIMES];
	uint32_t n = 0;

	for (uint32_t k = at; k-- > 0 && n < CT_LEAST_TIMES;) {
		if (s->c->kept[k] && !s->taken[k])
			room[n++] = time_of(s->c, k);
	}
	for (uint32_t k = at + 1, more = 0; k < s->c->n && more < CT_LEAST_TIMES; k++) {
		if (s->c->kept[k] && !s->taken[k]) {
			room[n++] = time_of(s->c, k);
			more++;
		}
	}
	return ct_median(room, n);
}

/* Robust sd of a step without a stall; *mean: by how much they are longer than usual on average,
 * hiccups and all. */
static double noise(struct stall_sums *s, double *mean)
{
	double sum = 0;

	*mean = 0;
	s->n_off = 0;
	for (uint32_t k = 0; k < s->c->n; k++) {
		double m;

		if (!s->c->kept[k] || s->taken[k])
			continue;
		m = usual(s, k);
		if (isnan(m))
			continue;
		sum += time_of(s->c, k) - m;
		s->off[s->n_off++] = fabs(time_of(s->c, k) - m);
	}
	if (!s->n_off)
		return 0;
	*mean = sum / s->n_off;
	return CT_SD_OF_MAD * ct_median_high(s->off, s->n_off);
}

/* Stalls that begin in one step are one: the step is longer once. Returns how many events it was. */
static uint32_t add_step(struct stall_sums *s, const struct ct_stall *events, uint32_t n,
			 double typical_ns)
{
	uint32_t at = events[0].step, same = 0, last = at;
	double charged = 0, longer = 0, m;

	for (; same < n && events[same].step == at; same++) {
		charged += events[same].ns;
		s->err += events[same].err_ns;
		/* of one that is longer than is usual a part may be something else */
		if (events[same].ns > typical_ns)
			s->err += events[same].ns - typical_ns;
		/* and one that is much shorter all of it */
		if (events[same].ns < (1 - CT_ALIKE) * typical_ns)
			s->err += events[same].ns;
		last = at + events[same].more > last ? at + events[same].more : last;
	}
	/* what ran ahead meanwhile makes the next one shorter, unless that has a stall itself */
	if (last + 1 < s->c->n && s->c->kept[last + 1] &&
	    !(same < n && events[same].step == last + 1))
		last++;
	m = usual(s, at);
	s->charged += charged;
	if (isnan(m)) { /* unknown: anything up to the charge */
		s->excess += charged;
		s->both += charged;
		s->err += charged;
		return same;
	}
	for (uint32_t k = at; k <= last; k++)
		longer += time_of(s->c, k) - m;
	s->steps += last - at + 1;
	longer = longer > 0 ? longer : 0;
	/* what else lengthened the step that much is not theirs */
	s->excess += longer < 2 * charged ? longer : 2 * charged;
	s->both += longer < charged ? longer : charged;
	return same;
}

static void take_steps(struct stall_sums *s, const struct ct_stall *events, uint32_t n)
{
	for (uint32_t e = 0; e < n; e++) {
		for (uint32_t k = 0; k <= events[e].more + 1; k++) {
			if (events[e].step + k < s->c->n)
				s->taken[events[e].step + k] = 1;
		}
	}
}

/* Steps of the rule between two events where a step took as much longer, and no rank is charged. */
static void look_for_missed(const struct stall_sums *s, const struct ct_stall *events, uint32_t n,
			    const struct ct_stall_pattern *p, struct ct_stall_loss *loss)
{
	uint32_t within = (uint32_t)fmax(CT_NEAR * p->every, 1);

	if (!memchr(s->c->kept + p->first, 0, p->last - p->first + 1))
		loss->expected = (uint32_t)lround((p->last - p->first) / p->every) + 1;
	for (uint32_t e = 1; e < n; e++) {
		double from = events[e - 1].step;

		for (from += p->every; from + p->every / 2 < events[e].step; from += p->every) {
			double most = 0;

			for (uint32_t k = (uint32_t)from - within; k <= from + within; k++) {
				int is_seen = k < s->c->n && s->c->kept[k] && !s->taken[k];
				double m = is_seen ? usual(s, k) : NAN;

				if (!isnan(m) && time_of(s->c, k) - m > most)
					most = time_of(s->c, k) - m;
			}
			if (most < p->typical_ns / 2)
				continue;
			loss->missed++;
			loss->err_ns += most < p->typical_ns ? most : p->typical_ns;
		}
	}
}

int ct_stalls_cost(const struct ct_stall_steps *steps, const struct ct_stall *events, uint32_t n,
		   const struct ct_stall_pattern *p, struct ct_stall_loss *loss)
{
	struct stall_sums s = { .c = steps };
	int st = CT_NOMEM;
	double sd, mean;

	*loss = (struct ct_stall_loss){ 0 };
	s.taken = calloc(steps->n + 1u, 1);
	s.off = calloc(steps->n + 1u, sizeof(*s.off));
	if (s.taken && s.off) {
		take_steps(&s, events, n);
		for (uint32_t e = 0; e < n;)
			e += add_step(&s, events + e, n - e, p->typical_ns);
		sd = noise(&s, &mean);
		loss->ns = s.both;
		/* a hiccup of someone else would have cost something without the stall */
		loss->err_ns = s.err + fabs(s.charged - s.excess) + fabs(mean) * s.steps +
			       2 * sd * sqrt(s.steps) *
				       (1 + CT_SE_OF_MEDIAN * sqrt(1.0 / (2 * CT_LEAST_TIMES)));
		if (p->every > 0)
			look_for_missed(&s, events, n, p, loss);
		st = CT_OK;
	}
	free(s.taken);
	free(s.off);
	return st;
}
