/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/stream/instance_log.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/stream/stream.h"
#include "trace/status.h"

void ct_instance_log_init(struct ct_instance_log *log, uint32_t most_parts)
{
	*log = (struct ct_instance_log){ .sample = CT_SAMPLE_ALL,
					 .one_of = 1,
					 .most_parts = most_parts ? most_parts : CT_LOG_PARTS };
}

void ct_instance_log_fini(struct ct_instance_log *log)
{
	free(log->instances);
	free(log->parts);
	free(log->order);
	free(log->slot_first);
	*log = (struct ct_instance_log){ 0 };
}

double ct_instance_log_share(const struct ct_instance_log *log)
{
	return log->seen_parts ? (double)log->n_parts / (double)log->seen_parts : 1;
}

/* ---- forgetting ---- */

static void forget(struct ct_instance_log *log)
{
	uint32_t instances = 0, parts = 0;

	for (uint32_t k = 0; k < log->n_instances; k++) {
		struct ct_log_instance i = log->instances[k];

		if (!ct_sample_keeps(&log->sample, i.at_ns))
			continue;
		memmove(&log->parts[parts], &log->parts[i.first_part], i.n * sizeof(*log->parts));
		i.first_part = parts;
		for (uint32_t p = parts; p < parts + i.n; p++)
			log->parts[p].instance = instances;
		log->instances[instances++] = i;
		parts += i.n;
	}
	log->n_instances = instances;
	log->n_parts = parts;
	log->one_of = log->sample.one_of;
}

static int halve(struct ct_instance_log *log)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (uint32_t k = 0; k < log->n_instances; k++) {
		first = ct_min(first, log->instances[k].at_ns);
		last = ct_max(last, log->instances[k].at_ns);
	}
	return ct_sample_halve(&log->sample, ct_min(first, last), last);
}

/* Space for `n` more within what may be kept? Forgets until there is, or (0) nothing is left to
 * forget. */
static int make_room(struct ct_instance_log *log, uint32_t n)
{
	if (n > log->most_parts)
		return 0;
	if (log->one_of != log->sample.one_of)
		forget(log);
	while (log->n_parts > log->most_parts - n && halve(log))
		forget(log);
	return log->n_parts <= log->most_parts - n;
}

/* ---- taking in ---- */

static int grow(struct ct_instance_log *log, uint32_t n)
{
	if (ct_grow(&log->instances, &log->cap_instances, log->n_instances + 1,
		    sizeof(*log->instances)))
		return CT_NOMEM;
	return ct_grow(&log->parts, &log->cap_parts, log->n_parts + n, sizeof(*log->parts));
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

static struct ct_log_part part_of(const struct ct_member *m, uint64_t wait_ns, uint64_t shift,
				  struct ct_asked asked)
{
	int timed = m->start_ns && m->end_ns >= m->start_ns;

	return (struct ct_log_part){
		.enter_ns = at(m->enter_ns, shift),
		.start_ns = timed ? at(m->start_ns, shift) : 0,
		.end_ns = timed ? at(m->end_ns, shift) : 0,
		.asked_ns = timed && m->posted ? at(m->asked_ns, shift) : 0,
		.free_ns = m->free_ns,
		.wait_ns = wait_ns,
		.err_ns = sum_of(m->start_err_ns, m->end_err_ns),
		.slot = m->slot,
		.index = m->index,
		.stream = m->stream,
		.tid = m->tid,
		.group = m->group ? m->group->id : 0,
		.site = m->site ? m->site->number : 0,
		.on_gpu = m->on_gpu,
		.is_vague = timed && !m->on_gpu && !m->asked_ns,
		.leads = m->leads,
		.came_late = timed && ct_member_came(m, asked) != m->start_ns,
	};
}

static struct ct_log_instance instance_of(const struct ct_instance *i, const struct ct_waits *waits)
{
	const struct ct_member *sized = ct_instance_sized(i);
	struct ct_log_instance out = {
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
		if (host_of[i->members[m].slot] != host_of[i->members[0].slot])
			return 0;
	}
	return 1;
}

int ct_instance_log_add(struct ct_instance_log *log, const struct ct_instance *i,
			const struct ct_waits *waits, const uint32_t *host_of,
			const uint64_t *shift)
{
	int waited = waits && waits->judged == CT_JUDGED_WAITS;
	struct ct_asked asked = { UINT64_MAX, 0 };
	uint64_t at_ns = UINT64_MAX;
	struct ct_log_instance out;

	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *from = &i->members[m];
		uint64_t enter = at(from->enter_ns, shift[host_of[from->slot]]);

		at_ns = enter < at_ns ? enter : at_ns;
	}
	log->seen_instances++;
	log->seen_parts += i->n;
	if (!ct_sample_keeps(&log->sample, at_ns) || !make_room(log, i->n) ||
	    !ct_sample_keeps(&log->sample, at_ns))
		return CT_OK;
	if (grow(log, i->n) != CT_OK)
		return CT_NOMEM;
	out = instance_of(i, waits);
	/* The first collective shows which ranks started late, not which are slow. */
	if (waited && i->src < 0 && i->n > 1 && i->comm->met) {
		struct ct_last last;

		ct_waits_last(i, waits, &last);
		out.late_ns = last.own_ns;
		out.late_member = last.last;
	}
	out.at_ns = at_ns;
	out.first_part = log->n_parts;
	if (on_one_clock(i, host_of))
		asked = ct_instance_asked(i);
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *from = &i->members[m];
		struct ct_log_part *part = &log->parts[log->n_parts++];

		*part = part_of(from, waited ? waits->wait_ns[m] : UINT64_MAX,
				shift[host_of[from->slot]], asked);
		part->instance = log->n_instances;
	}
	log->instances[log->n_instances++] = out;
	return CT_OK;
}

/* ---- order ---- */

static uint64_t when(const struct ct_log_part *part)
{
	return part->start_ns ? part->start_ns : part->enter_ns;
}

static int by_when(const void *a, const void *b, void *arg)
{
	const struct ct_log_part *parts = arg;
	const struct ct_log_part *x = &parts[*(const uint32_t *)a];
	const struct ct_log_part *y = &parts[*(const uint32_t *)b];

	return CT_CMP(when(x), when(y)) ?: CT_UP(enter_ns) ?: CT_CMP(x, y);
}

int ct_instance_log_close(struct ct_instance_log *log, uint32_t n_slots)
{
	uint32_t *next;

	if (log->one_of != log->sample.one_of)
		forget(log);
	log->n_slots = n_slots;
	log->order = calloc((size_t)log->n_parts + 1, sizeof(*log->order));
	log->slot_first = calloc((size_t)n_slots + 2, sizeof(*log->slot_first));
	if (!log->order || !log->slot_first)
		return CT_NOMEM;
	/* Counted two entries ahead, so that filling moves each slot's first to where the next
	 * one's belongs. */
	next = log->slot_first + 1;
	for (uint32_t p = 0; p < log->n_parts; p++)
		next[log->parts[p].slot + 1]++;
	for (uint32_t s = 1; s <= n_slots; s++)
		next[s] += next[s - 1];
	for (uint32_t p = 0; p < log->n_parts; p++)
		log->order[next[log->parts[p].slot]++] = p;
	for (uint32_t s = 0; s < n_slots; s++)
		ct_sort_r(log->order + log->slot_first[s],
			  log->slot_first[s + 1] - log->slot_first[s], sizeof(*log->order), by_when,
			  log->parts);
	return CT_OK;
}

/* ---- of a stream ---- */

/* Is it in another instance: a message in the exchange of all with all that it is a part of, what
 * was captured in the launches of its graph? */
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

static uint32_t most_parts(uint32_t n_slots)
{
	return n_slots < CT_LOG_PARTS / CT_LOG_PARTS_A_SLOT ? n_slots * CT_LOG_PARTS_A_SLOT
							    : CT_LOG_PARTS;
}

static int on_instance(void *arg, struct ct_stream *stream, const struct ct_instance_event *event)
{
	struct ct_instance_log *log = arg;

	if (!event->complete || is_elsewhere(event->instance))
		return CT_OK;
	log->most_parts = most_parts(stream->model.n_slots);
	return ct_instance_log_add(log, event->instance, event->waits, stream->model.host_of,
				   stream->model.shift);
}

static int on_end(void *log, struct ct_stream *stream)
{
	return ct_instance_log_close(log, stream->model.n_slots);
}

void ct_instance_log_observe(struct ct_instance_log *log, struct ct_observer *observer)
{
	*observer = (struct ct_observer){ .instance = on_instance, .end = on_end, .arg = log };
}
