/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which exchanges can be played: Kahn's queue over "needs the end of". */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/lateness/replay/schedule.h"
#include "trace/status.h"

struct ordering {
	struct ct_schedule *s;
	uint32_t *exchanges_left; /* by launch: its exchanges that were not played, of those that
				     end it */
	uint8_t *needs;		  /* by launch: launches that have to end before it starts */
	uint8_t *is_open;	  /* by launch: it can start */
	uint32_t *waits_for;	  /* by exchange: launches that cannot start yet */
	/* by launch: the exchanges that need its start, the launches that need it: list[first[l +
	 * 1]] .. list[first[l + 2] - 1] */
	uint32_t *exchange_first, *exchanges;
	uint32_t *next_first, *nexts;
	uint32_t *queue; /* exchanges, in the order that is looked for */
	uint32_t n_queue;
	uint32_t *by_start; /* launches; NULL as long as nothing is stuck */
	uint32_t next_stuck;
};

/* What only finding the order needs. */
static void free_lists(struct ordering *o)
{
	free(o->exchanges_left);
	free(o->needs);
	free(o->waits_for);
	free(o->exchange_first);
	free(o->exchanges);
	free(o->next_first);
	free(o->nexts);
	free(o->by_start);
}

static int allocate(struct ordering *o)
{
	size_t launches = (size_t)o->s->n_launches + 2, exchanges = (size_t)o->s->n_exchanges + 1;

	o->exchanges_left = calloc(launches, sizeof(*o->exchanges_left));
	o->needs = calloc(launches, 1);
	o->is_open = calloc(launches, 1);
	o->waits_for = calloc(exchanges, sizeof(*o->waits_for));
	o->exchange_first = calloc(launches, sizeof(*o->exchange_first));
	o->exchanges = malloc(((size_t)o->s->n_parts + 1) * sizeof(*o->exchanges));
	o->next_first = calloc(launches, sizeof(*o->next_first));
	o->nexts = malloc(3 * launches * sizeof(*o->nexts));
	o->queue = malloc(exchanges * sizeof(*o->queue));
	return o->exchanges_left && o->needs && o->is_open && o->waits_for && o->exchange_first &&
			       o->exchanges && o->next_first && o->nexts && o->queue
		       ? CT_OK
		       : CT_NOMEM;
}

/* Counts at [l + 1] become the end of l's list, which filling from behind turns into its begin. */
static void sum_up(uint32_t *first, uint32_t n)
{
	for (uint32_t l = 0; l < n; l++)
		first[l + 1] += first[l];
	first[n + 1] = first[n];
}

static void link_up(struct ordering *o)
{
	const struct ct_schedule *s = o->s;

	for (uint32_t l = 0; l < s->n_launches; l++) {
		uint32_t before[] = { s->launches[l].from, s->launches[l].after,
				      s->launches[l].also };

		for (int k = 0; k < 3; k++) {
			if (before[k] == CT_NO_LAUNCH)
				continue;
			o->needs[l]++;
			o->next_first[before[k] + 1]++;
		}
	}
	for (uint32_t m = 0; m < s->n_exchanges; m++) {
		const struct ct_schedule_exchange *exchange = &s->exchanges[m];

		o->waits_for[m] = exchange->n;
		for (uint32_t p = 0; p < exchange->n; p++) {
			const struct ct_schedule_part *part = &s->parts[exchange->first_part + p];

			o->exchanges_left[part->ends]++;
			o->exchange_first[part->launch + 1]++;
		}
	}
	sum_up(o->next_first, s->n_launches);
	sum_up(o->exchange_first, s->n_launches);
}

static void fill(struct ordering *o)
{
	const struct ct_schedule *s = o->s;

	for (uint32_t l = s->n_launches; l-- > 0;) {
		uint32_t before[] = { s->launches[l].from, s->launches[l].after,
				      s->launches[l].also };

		for (int k = 0; k < 3; k++) {
			if (before[k] != CT_NO_LAUNCH)
				o->nexts[--o->next_first[before[k] + 1]] = l;
		}
	}
	for (uint32_t m = s->n_exchanges; m-- > 0;) {
		const struct ct_schedule_exchange *exchange = &s->exchanges[m];

		for (uint32_t p = 0; p < exchange->n; p++) {
			uint32_t l = s->parts[exchange->first_part + p].launch;

			o->exchanges[--o->exchange_first[l + 1]] = m;
		}
	}
}

/* The launch can start: exchanges of which it was the last become ready. */
static void open_launch(struct ordering *o, uint32_t l)
{
	if (o->is_open[l])
		return;
	o->is_open[l] = 1;
	for (uint32_t k = o->exchange_first[l + 1]; k < o->exchange_first[l + 2]; k++) {
		uint32_t m = o->exchanges[k];

		if (--o->waits_for[m] == 0)
			o->queue[o->n_queue++] = m;
	}
}

static void play(struct ordering *o, uint32_t m)
{
	const struct ct_schedule_exchange *exchange = &o->s->exchanges[m];

	for (uint32_t p = 0; p < exchange->n; p++) {
		uint32_t l = o->s->parts[exchange->first_part + p].ends;

		if (--o->exchanges_left[l])
			continue;
		for (uint32_t k = o->next_first[l + 1]; k < o->next_first[l + 2]; k++) {
			uint32_t next = o->nexts[k];

			if (o->needs[next] && --o->needs[next] == 0)
				open_launch(o, next);
		}
	}
}

static int by_start(const void *a, const void *b, void *arg)
{
	const struct ct_schedule_launch *all = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return CT_CMP(all[x].stretch, all[y].stretch) ?: CT_CMP(all[x].start_ns, all[y].start_ns) ?:
	       CT_CMP(x, y);
}

/* Nothing is ready and something is left: let the earliest launch that cannot start do so as it was
 * measured. */
static int unstick(struct ordering *o)
{
	struct ct_schedule *s = o->s;

	if (!o->by_start) {
		o->by_start = malloc(((size_t)s->n_launches + 1) * sizeof(*o->by_start));
		if (!o->by_start)
			return CT_NOMEM;
		for (uint32_t l = 0; l < s->n_launches; l++)
			o->by_start[l] = l;
		qsort_r(o->by_start, s->n_launches, sizeof(*o->by_start), by_start, s->launches);
	}
	while (o->next_stuck < s->n_launches && o->is_open[o->by_start[o->next_stuck]])
		o->next_stuck++;
	if (o->next_stuck < s->n_launches) {
		uint32_t l = o->by_start[o->next_stuck];

		o->needs[l] = 0;
		s->launches[l].after = s->launches[l].also = CT_NO_LAUNCH;
		ct_schedule_anchor(s, l, CT_NO_LAUNCH);
		s->broken++;
		open_launch(o, l);
	}
	return CT_OK;
}

/* What the launch counts from and has to wait for. */
static void line_up(const struct ct_schedule *s, struct ct_schedule_part *part)
{
	const struct ct_schedule_launch *l = &s->launches[part->launch];
	uint32_t none = s->n_launches;

	part->from = l->from == CT_NO_LAUNCH ? none : l->from;
	part->after = l->after == CT_NO_LAUNCH ? none + 1 : l->after;
	part->also = l->also == CT_NO_LAUNCH ? none + 1 : l->also;
}

/* Exchanges and their parts one after the other as they are played. */
static int arrange(struct ordering *o)
{
	struct ct_schedule *s = o->s;
	struct ct_schedule_exchange *exchanges = malloc(((size_t)s->n_exchanges + 1) *
							sizeof(*exchanges));
	struct ct_schedule_part *parts = malloc(((size_t)s->n_parts + 1) * sizeof(*parts));
	uint32_t n = 0;

	if (!exchanges || !parts) {
		free(exchanges);
		free(parts);
		return CT_NOMEM;
	}
	memset(o->is_open, 0, s->n_launches);
	for (uint32_t k = 0; k < s->n_exchanges; k++) {
		struct ct_schedule_exchange *m = &exchanges[k];

		*m = s->exchanges[o->queue[k]];
		memcpy(&parts[n], &s->parts[m->first_part], m->n * sizeof(*parts));
		m->first_part = n;
		m->is_plain = 1;
		for (; n < m->first_part + m->n; n++) {
			m->is_plain &= parts[n].end == CT_ENDS_WITH_ALL;
			parts[n].opens = !o->is_open[parts[n].launch];
			o->is_open[parts[n].launch] = 1;
			if (parts[n].opens)
				line_up(s, &parts[n]);
		}
	}
	free(s->exchanges);
	free(s->parts);
	s->exchanges = exchanges;
	s->parts = parts;
	s->is_ordered = 1;
	return CT_OK;
}

static int sort(struct ordering *o)
{
	const struct ct_schedule *s = o->s;
	uint32_t played = 0;

	for (uint32_t l = 0; l < s->n_launches; l++) {
		if (!o->needs[l])
			open_launch(o, l);
	}
	while (played < s->n_exchanges) {
		if (played < o->n_queue)
			play(o, o->queue[played++]);
		else if (unstick(o) != CT_OK)
			return CT_NOMEM;
	}
	return CT_OK;
}

/* Was it ordered before, and does all that a launch waits for end before it also now that launches
 * may count from others? 1, 0 or CT_NOMEM. */
static int is_in_order_still(struct ct_schedule *s)
{
	size_t n = (size_t)s->n_launches + 2;
	uint32_t *ended = s->is_ordered ? malloc(n * sizeof(*ended))
					: NULL; /* by launch: after so many exchanges */
	int holds = 1;

	if (!ended)
		return s->is_ordered ? CT_NOMEM : 0;
	memset(ended, 0xff, s->n_launches * sizeof(*ended));
	ended[s->n_launches] = ended[s->n_launches + 1] = 0; /* what is none */
	for (uint32_t k = 0; k < s->n_exchanges; k++) {
		const struct ct_schedule_exchange *m = &s->exchanges[k];

		for (uint32_t p = m->first_part; p < m->first_part + m->n; p++)
			ended[s->parts[p].ends] = k + 1;
	}
	for (uint32_t k = 0; k < s->n_exchanges; k++) {
		const struct ct_schedule_exchange *m = &s->exchanges[k];

		for (uint32_t p = m->first_part; p < m->first_part + m->n; p++) {
			struct ct_schedule_part *part = &s->parts[p];

			if (!part->opens)
				continue;
			line_up(s, part);
			holds &= ended[part->from] <= k && ended[part->after] <= k &&
				 ended[part->also] <= k;
		}
	}
	free(ended);
	return holds;
}

int ct_schedule_order(struct ct_schedule *s)
{
	struct ordering o = { .s = s };
	int st = is_in_order_still(s);

	if (st)
		return st == 1 ? CT_OK : st;
	st = allocate(&o);
	if (st == CT_OK) {
		link_up(&o);
		fill(&o);
		st = sort(&o);
	}
	free_lists(&o);
	st = st ?: arrange(&o);
	free(o.is_open);
	free(o.queue);
	return st;
}
