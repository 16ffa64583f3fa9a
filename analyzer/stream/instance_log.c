/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/stream/instance_log.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/stream/stream.h"
#include "trace/status.h"

void ct_tape_init(struct ct_tape *tape, uint32_t most_parts)
{
	*tape = (struct ct_tape){ .sample = CT_SAMPLE_ALL,
				  .one_of = 1,
				  .most_parts = most_parts ? most_parts : CT_TAPE_PARTS };
}

void ct_tape_fini(struct ct_tape *tape)
{
	free(tape->instances);
	free(tape->parts);
	free(tape->order);
	free(tape->seat_first);
	*tape = (struct ct_tape){ 0 };
}

double ct_tape_share(const struct ct_tape *tape)
{
	return tape->seen_parts ? (double)tape->n_parts / (double)tape->seen_parts : 1;
}

/* ---- forgetting ---- */

static void forget(struct ct_tape *tape)
{
	uint32_t instances = 0, parts = 0;

	for (uint32_t k = 0; k < tape->n_instances; k++) {
		struct ct_tape_instance i = tape->instances[k];

		if (!ct_sample_keeps(&tape->sample, i.at_ns))
			continue;
		memmove(&tape->parts[parts], &tape->parts[i.first_part],
			i.n * sizeof(*tape->parts));
		i.first_part = parts;
		for (uint32_t p = parts; p < parts + i.n; p++)
			tape->parts[p].instance = instances;
		tape->instances[instances++] = i;
		parts += i.n;
	}
	tape->n_instances = instances;
	tape->n_parts = parts;
	tape->one_of = tape->sample.one_of;
}

static uint64_t last_of(const struct ct_tape *tape)
{
	uint64_t last = 0;

	for (uint32_t k = 0; k < tape->n_instances; k++)
		last = tape->instances[k].at_ns > last ? tape->instances[k].at_ns : last;
	return last;
}

/* Room for `n` more within what may be kept? Forgets until there is, or (0) nothing is left to forget. */
static int make_room(struct ct_tape *tape, uint32_t n)
{
	if (n > tape->most_parts)
		return 0;
	if (tape->one_of != tape->sample.one_of)
		forget(tape);
	while (tape->n_parts > tape->most_parts - n &&
	       ct_sample_halve(&tape->sample, last_of(tape)))
		forget(tape);
	return tape->n_parts <= tape->most_parts - n;
}

/* ---- taking in ---- */

static int grow(struct ct_tape *tape, uint32_t n)
{
	if (ct_grow(&tape->instances, &tape->cap_instances, tape->n_instances + 1,
		    sizeof(*tape->instances)))
		return CT_NOMEM;
	return ct_grow(&tape->parts, &tape->cap_parts, tape->n_parts + n, sizeof(*tape->parts));
}

/* 0 says that a time is not known. */
static uint64_t at(uint64_t mono_ns, uint64_t shift)
{
	int64_t ns = (int64_t)(mono_ns + shift);

	return !mono_ns ? 0 : ns < 1 ? 1 : (uint64_t)ns;
}

static uint32_t sum_of(uint32_t a, uint32_t b)
{
	return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

static struct ct_tape_part part_of(const struct ct_member *m, uint64_t wait_ns, uint64_t shift,
				   struct ct_asked asked)
{
	int timed = m->start_ns && m->end_ns >= m->start_ns;

	return (struct ct_tape_part){
		.enter_ns = at(m->enter_ns, shift),
		.start_ns = timed ? at(m->start_ns, shift) : 0,
		.end_ns = timed ? at(m->end_ns, shift) : 0,
		.asked_ns = timed && m->posted ? at(m->asked_ns, shift) : 0,
		.came_ns = timed ? at(ct_member_came(m, asked), shift) : 0,
		.free_ns = m->free_ns,
		.wait_ns = wait_ns,
		.err_ns = sum_of(m->start_err_ns, m->end_err_ns),
		.seat = m->seat,
		.index = m->index,
		.stream = m->stream,
		.tid = m->tid,
		.group = m->group ? m->group->id : 0,
		.on_gpu = m->on_gpu,
		.is_vague = timed && !m->on_gpu && !m->asked_ns,
		.leads = m->leads,
	};
}

static struct ct_tape_instance instance_of(const struct ct_instance *i,
					   const struct ct_waits *waits)
{
	const struct ct_member *sized = ct_instance_sized(i);
	struct ct_tape_instance out = {
		.comm = i->comm,
		.seq = i->seq,
		.bytes = sized->bytes,
		.count = sized->count,
		.transfer_ns = CT_NO_TRANSFER,
		.n = i->n,
		.src = i->src >= 0 ? i->src : -1,
		.dst = i->src >= 0 ? i->dst : -1,
		.root = i->src < 0 ? i->members[0].root : -1,
		.op = i->members[0].op,
		.dtype = sized->dtype,
	};

	out.is_swap = (uint8_t)ct_group_is_swap(i);
	for (uint32_t m = 0; m < i->n; m++)
		out.varying |= i->members[m].varying;
	if (waits) {
		out.judged = (uint8_t)waits->judged;
		out.clock_err_ns = waits->clock_err_ns < UINT32_MAX ? (uint32_t)waits->clock_err_ns
								    : UINT32_MAX;
		if (waits->judged != CT_JUDGED_NOTHING)
			out.transfer_ns = waits->transfer_ns;
	}
	return out;
}

static int on_one_clock(const struct ct_instance *i, const uint32_t *host_of)
{
	for (uint32_t m = 1; m < i->n; m++) {
		if (host_of[i->members[m].seat] != host_of[i->members[0].seat])
			return 0;
	}
	return 1;
}

int ct_tape_add(struct ct_tape *tape, const struct ct_instance *i, const struct ct_waits *waits,
		const uint32_t *host_of, const uint64_t *shift)
{
	int waited = waits && waits->judged == CT_JUDGED_WAITS;
	struct ct_asked asked = { UINT64_MAX, 0 };
	uint64_t at_ns = UINT64_MAX;
	struct ct_tape_instance out;

	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *from = &i->members[m];
		uint64_t enter = at(from->enter_ns, shift[host_of[from->seat]]);

		at_ns = enter < at_ns ? enter : at_ns;
	}
	tape->seen_instances++;
	tape->seen_parts += i->n;
	if (!ct_sample_keeps(&tape->sample, at_ns) || !make_room(tape, i->n) ||
	    !ct_sample_keeps(&tape->sample, at_ns))
		return CT_OK;
	if (grow(tape, i->n) != CT_OK)
		return CT_NOMEM;
	out = instance_of(i, waits);
	/* The first meeting tells who started late. */
	if (waited && i->src < 0 && i->n > 1 && i->comm->met) {
		struct ct_last last;

		ct_waits_last(i, waits, &last);
		out.late_ns = last.own_ns;
		out.late_member = last.last;
	}
	out.at_ns = at_ns;
	out.first_part = tape->n_parts;
	if (on_one_clock(i, host_of))
		asked = ct_instance_asked(i);
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *from = &i->members[m];
		struct ct_tape_part *part = &tape->parts[tape->n_parts++];

		*part = part_of(from, waited ? waits->wait_ns[m] : UINT64_MAX,
				shift[host_of[from->seat]], asked);
		part->instance = tape->n_instances;
	}
	tape->instances[tape->n_instances++] = out;
	return CT_OK;
}

/* ---- order ---- */

static uint64_t when(const struct ct_tape_part *part)
{
	return part->start_ns ? part->start_ns : part->enter_ns;
}

static int by_when(const void *a, const void *b, void *arg)
{
	const struct ct_tape_part *parts = arg;
	const struct ct_tape_part *x = &parts[*(const uint32_t *)a];
	const struct ct_tape_part *y = &parts[*(const uint32_t *)b];

	return CT_CMP(when(x), when(y)) ?: CT_UP(enter_ns) ?: CT_CMP(x, y);
}

int ct_tape_close(struct ct_tape *tape, uint32_t n_seats)
{
	uint32_t *next;

	if (tape->one_of != tape->sample.one_of)
		forget(tape);
	tape->n_seats = n_seats;
	tape->order = calloc((size_t)tape->n_parts + 1, sizeof(*tape->order));
	tape->seat_first = calloc((size_t)n_seats + 2, sizeof(*tape->seat_first));
	if (!tape->order || !tape->seat_first)
		return CT_NOMEM;
	/* Counted two places on, so that filling moves each seat's first to where the next one's belongs. */
	next = tape->seat_first + 1;
	for (uint32_t p = 0; p < tape->n_parts; p++)
		next[tape->parts[p].seat + 1]++;
	for (uint32_t s = 1; s <= n_seats; s++)
		next[s] += next[s - 1];
	for (uint32_t p = 0; p < tape->n_parts; p++)
		tape->order[next[tape->parts[p].seat]++] = p;
	for (uint32_t s = 0; s < n_seats; s++)
		ct_sort_r(tape->order + tape->seat_first[s],
			  tape->seat_first[s + 1] - tape->seat_first[s], sizeof(*tape->order),
			  by_when, tape->parts);
	return CT_OK;
}

/* ---- of a stream ---- */

/* Is it in another instance: a message in the exchange of all with all that it is a part of, what was captured in the
 * launches of its graph? */
static int is_elsewhere(const struct ct_instance *i)
{
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_group *g = i->members[m].group;

		if (i->members[m].captured ||
		    (i->src >= 0 && g && g->shape.kind == CT_GROUP_EXCHANGE))
			return 1;
	}
	return i->src == CT_SRC_EXCHANGE && i->members[0].group->shape.kind != CT_GROUP_EXCHANGE;
}

static uint32_t most_parts(uint32_t n_seats)
{
	return n_seats < CT_TAPE_PARTS / CT_TAPE_PARTS_A_SEAT ? n_seats * CT_TAPE_PARTS_A_SEAT
							      : CT_TAPE_PARTS;
}

static int on_instance(void *arg, struct ct_stream *stream, const struct ct_instance_event *event)
{
	struct ct_tape *log = arg;

	if (!event->complete || is_elsewhere(event->instance))
		return CT_OK;
	log->most_parts = most_parts(stream->model.n_seats);
	return ct_tape_add(log, event->instance, event->waits, stream->model.host_of,
			   stream->model.shift);
}

static int on_end(void *log, struct ct_stream *stream)
{
	return ct_tape_close(log, stream->model.n_seats);
}

void ct_tape_observe(struct ct_tape *log, struct ct_observer *observer)
{
	*observer = (struct ct_observer){ .instance = on_instance, .end = on_end, .arg = log };
}
