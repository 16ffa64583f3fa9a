/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/follows.h"

#include "analyzer/lateness/replay/limits.h"
#include "analyzer/lateness/replay/schedule_private.h"

struct times {
	uint32_t n;	/* launches that did not queue up */
	uint32_t alone; /* of these, those that touch nothing */
	uint32_t touching[CT_LAGS + 1];
};

/* Did it start as the launch `lag` launches before it ended? */
static int touches(const struct ct_schedule *s, uint32_t launch, uint32_t lag)
{
	const struct ct_schedule_launch *l = &s->launches[launch], *c = l - lag;
	int64_t between = l->start_ns - ct_schedule_end(c),
		near = (int64_t)l->err_ns + CT_HANDOVER_NS;

	return c->stretch == l->stretch && between <= near && between >= -near;
}

/* Are so many alone that the rest cannot be nearly all? Mostly that is plain after a few. */
static int are_alone(const struct times *t, uint32_t n)
{
	return t->alone > (1 - CT_NEARLY_ALL) * n + 1;
}

/* How often launches of a position touch what lies before them; those that touch what is followed
 * already do not count again. It stops where too many are alone. */
static struct times count(const struct ct_positions *positions, const struct ct_position *position,
			  const struct ct_schedule *s, struct ct_follows follows)
{
	struct times t = { 0 };

	for (uint32_t k = position->first;
	     k < position->first + position->n && !are_alone(&t, position->n); k++) {
		uint32_t l = positions->order[k], touched = 0;

		if (l - s->slot_first[s->launches[l].slot] < CT_LAGS ||
		    ct_schedule_is_queued(s, &s->launches[l]))
			continue;
		t.n++;
		if (follows.first && touches(s, l, follows.first))
			continue;
		for (uint32_t lag = 1; lag <= CT_LAGS; lag++) {
			uint32_t now = (uint32_t)touches(s, l, lag);

			t.touching[lag] += now;
			touched |= now;
		}
		t.alone += !touched;
	}
	return t;
}

/* The nearest of those that are touched most often. */
static uint8_t most_touched(const struct times *t)
{
	uint8_t most = 1;

	for (uint8_t lag = 2; lag <= CT_LAGS; lag++)
		most = t->touching[lag] > t->touching[most] ? lag : most;
	return most;
}

struct ct_follows ct_follows_find(const struct ct_positions *positions,
				  const struct ct_position *position, const struct ct_schedule *s)
{
	struct ct_follows none = { 0 }, follows = { 0 };
	struct times t = count(positions, position, s, none);
	uint32_t of_first, of_second;
	uint8_t second;

	if (are_alone(&t, position->n))
		return none;
	follows.first = most_touched(&t);
	of_first = t.touching[follows.first];
	t = count(positions, position, s, follows);
	second = most_touched(&t);
	of_second = t.touching[second];
	if (of_second >= CT_HARDLY_ANY * t.n)
		follows.second = second;
	else
		of_second = 0;
	return t.n < CT_LEAST_TIMES || of_first + of_second < CT_NEARLY_ALL * t.n ? none : follows;
}
