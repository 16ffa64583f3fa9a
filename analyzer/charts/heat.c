/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/charts/heat.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/stats.h"
#include "analyzer/model/model.h"
#include "analyzer/stream/stream.h"

/* Cells begin as narrow as this, 2^10 ns. */
#define FIRST_SHIFT 10u

void ct_heat_fini(struct ct_heat *heat)
{
	for (uint32_t s = 0; s < heat->n_rows; s++)
		free(heat->rows[s]);
	free(heat->rows);
	*heat = (struct ct_heat){ 0 };
}

/* The slot's row, made if it is new; NULL: out of memory. */
static struct ct_heat_row *row_of(struct ct_heat *heat, uint32_t slot)
{
	if (slot >= heat->n_rows &&
	    ct_grow_zeroed(&heat->rows, &heat->n_rows, slot + 1, sizeof(*heat->rows)))
		return NULL;
	if (!heat->rows[slot]) {
		heat->rows[slot] = calloc(1, sizeof(*heat->rows[slot]));
		if (heat->rows[slot])
			heat->rows[slot]->shift = FIRST_SHIFT;
	}
	return heat->rows[slot];
}

/* Twice the width, half the cells. */
static void widen(struct ct_heat_row *row)
{
	for (uint32_t c = 0; c < CT_HEAT_COLUMNS; c++) {
		uint64_t wait = row->wait_ns[c], late = row->late_ns[c];
		uint32_t err = row->err_ns[c], late_err = row->late_err_ns[c];
		uint8_t seen = row->seen[c];

		row->wait_ns[c] = row->late_ns[c] = 0;
		row->err_ns[c] = row->late_err_ns[c] = row->seen[c] = 0;
		row->wait_ns[c / 2] += wait;
		row->late_ns[c / 2] += late;
		row->err_ns[c / 2] = ct_plus_u32(row->err_ns[c / 2], err);
		row->late_err_ns[c / 2] = ct_plus_u32(row->late_err_ns[c / 2], late_err);
		row->seen[c / 2] |= seen;
	}
	row->shift++;
}

/* Make sure that there is a cell for the time. */
static void reach(struct ct_heat_row *row, uint64_t ns)
{
	while (ns >> row->shift >= CT_HEAT_COLUMNS)
		widen(row);
}

/* Adds [begin, end) to cells of the row, one of its own arrays, which reaches as far. */
static void spread(const struct ct_heat_row *row, uint64_t *cells, uint64_t begin, uint64_t end)
{
	while (begin < end) {
		uint64_t cell = begin >> row->shift;
		uint64_t until = ((cell + 1) << row->shift) -
				 1; /* its last one: the next may be 2^64 */

		until = until < end ? until + 1 : end;
		cells[cell] += until - begin;
		begin = until;
	}
}

int ct_heat_wait(struct ct_heat *heat, uint32_t slot, uint64_t begin, uint64_t end)
{
	struct ct_heat_row *row;

	if (begin >= end)
		return CT_OK;
	row = row_of(heat, slot);
	if (!row)
		return CT_NOMEM;
	reach(row, end - 1);
	spread(row, row->wait_ns, begin, end);
	return CT_OK;
}

int ct_heat_late(struct ct_heat *heat, uint32_t slot, uint64_t begin, uint64_t end, uint64_t err_ns)
{
	struct ct_heat_row *row;
	uint64_t last;

	if (begin >= end)
		return CT_OK;
	row = row_of(heat, slot);
	if (!row)
		return CT_NOMEM;
	reach(row, end - 1);
	spread(row, row->late_ns, begin, end);
	last = (end - 1) >> row->shift;
	row->late_err_ns[last] = ct_plus_u32(row->late_err_ns[last], err_ns);
	return CT_OK;
}

/* How much of [begin, end) is in [from, to). */
static uint64_t part(uint64_t begin, uint64_t end, uint64_t from, uint64_t to)
{
	begin = begin > from ? begin : from;
	end = end < to ? end : to;
	return end > begin ? end - begin : 0;
}

int ct_heat_see(struct ct_heat *heat, uint32_t slot, uint64_t begin, uint64_t end, int is_known,
		uint64_t err_ns)
{
	struct ct_heat_row *row = row_of(heat, slot);
	uint64_t first, last;

	if (!row)
		return CT_NOMEM;
	heat->known += is_known != 0;
	heat->unknown += !is_known;
	end = end > begin ? end : begin;
	reach(row, end);
	first = begin >> row->shift;
	last = end >> row->shift;
	for (uint64_t c = first; c <= last; c++) {
		row->seen[c] |= is_known ? CT_HEAT_KNOWN : CT_HEAT_UNKNOWN;
		if (!is_known)
			row->err_ns[c] = ct_plus_u32(row->err_ns[c],
						     part(begin, end, c << row->shift,
							  (c + 1) << row->shift));
	}
	row->err_ns[first] = ct_plus_u32(row->err_ns[first], err_ns);
	return CT_OK;
}

/* How many of its cells a row uses. */
static uint32_t used(const struct ct_heat_row *row)
{
	uint32_t n = CT_HEAT_COLUMNS;

	while (n && !row->seen[n - 1] && !row->wait_ns[n - 1])
		n--;
	return n;
}

uint32_t ct_heat_level(struct ct_heat *heat, uint64_t duration_ns, uint32_t most,
		       uint64_t *width_ns)
{
	uint64_t last = duration_ns ? duration_ns - 1 : 0;
	unsigned shift = FIRST_SHIFT;

	for (uint32_t s = 0; s < heat->n_rows; s++) {
		const struct ct_heat_row *row = heat->rows[s];
		uint32_t n = row ? used(row) : 0;
		uint64_t until = n ? (((uint64_t)n - 1) << row->shift) : 0;

		last = until > last ? until : last;
		shift = row && row->shift > shift ? row->shift : shift;
	}
	while (last >> shift >= most)
		shift++;
	for (uint32_t s = 0; s < heat->n_rows; s++) {
		while (heat->rows[s] && heat->rows[s]->shift < shift)
			widen(heat->rows[s]);
	}
	*width_ns = 1ull << shift;
	return (uint32_t)(last >> shift) + 1;
}

/* Is the member covered by another instance: the first of its group, or the all-to-all exchange
 * that it is a part of? */
static int is_reported_elsewhere(const struct ct_instance *i, const struct ct_member *m)
{
	if (m->captured || m->alone)
		return 1;
	if (!m->group || i->src == CT_SRC_EXCHANGE)
		return 0;
	return i->src >= 0 ? m->group->shape.kind == CT_GROUP_EXCHANGE : !m->leads;
}

/* Are its waits known? Also if the exchange was split into messages, and those of each message are
 * known. */
static int knows_wait(const struct ct_instance_event *event, const struct ct_member *m)
{
	if (event->instance->src == CT_SRC_EXCHANGE && m->group->shape.kind != CT_GROUP_EXCHANGE)
		return m->group->due == 0 && m->group->complete && m->group->waits_known;
	return event->waits->judged == CT_JUDGED_WAITS;
}

/* The others waited for the last one alone, right before it came. */
static int see_last(struct ct_heat *heat, const struct ct_model *model,
		    const struct ct_instance_event *event)
{
	const struct ct_instance *i = event->instance;
	const struct ct_member *m;
	const struct ct_last *last = &event->last;
	uint64_t at;

	/* the first collective shows which rank started late */
	if (i->src >= 0 || !event->class || event->waits->judged != CT_JUDGED_WAITS ||
	    !i->comm->met)
		return CT_OK;
	if (!last->own_ns)
		return CT_OK;
	m = &i->members[last->last];
	at = ct_model_slot_at(model, m->slot, m->start_ns);
	return ct_heat_late(heat, m->slot, at > last->own_ns ? at - last->own_ns : 0, at,
			    last->err_ns);
}

/* Notes whether the waits of its members are known. */
static int on_instance(void *heat, struct ct_stream *stream, const struct ct_instance_event *event)
{
	const struct ct_instance *i = event->instance;
	const struct ct_model *model = &stream->model;
	int st = CT_OK;

	for (uint32_t m = 0; m < i->n && st == CT_OK; m++) {
		const struct ct_member *member = &i->members[m];
		uint64_t begin = member->start_ns ? member->start_ns : member->enter_ns;
		uint64_t end = member->end_ns > begin ? member->end_ns : begin, err;
		int is_known;

		if (is_reported_elsewhere(i, member))
			continue;
		is_known = knows_wait(event, member);
		/* a wait is a difference of two spans */
		err = 2 * ((uint64_t)member->start_err_ns + member->end_err_ns) +
		      event->waits->clock_err_ns;
		st = ct_heat_see(heat, member->slot, ct_model_slot_at(model, member->slot, begin),
				 ct_model_slot_at(model, member->slot, end), is_known,
				 is_known ? err : 0);
	}
	return st == CT_OK ? see_last(heat, model, event) : st;
}

static int on_waited(void *heat, const struct ct_stream *stream, uint32_t slot, uint64_t begin_ns,
		     uint64_t end_ns)
{
	return ct_heat_wait(heat, slot, ct_model_slot_at(&stream->model, slot, begin_ns),
			    ct_model_slot_at(&stream->model, slot, end_ns));
}

void ct_heat_observe(struct ct_heat *heat, struct ct_observer *observer)
{
	*observer = (struct ct_observer){
		.waited = on_waited,
		.instance = on_instance,
		.arg = heat,
	};
}
