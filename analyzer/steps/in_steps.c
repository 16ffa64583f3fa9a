/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/in_steps.h"

#include <stdlib.h>

#include "analyzer/base/stats.h"
#include "analyzer/model/left_out.h"

struct ct_step_time ct_step_time_of(const struct ct_steps *steps, const struct ct_model *model)
{
	if (steps->n)
		return (struct ct_step_time){ steps->cut_ns[0], steps->cut_ns[steps->n], 1 };
	return (struct ct_step_time){ model->end_ns - model->duration_ns, model->end_ns, 0 };
}

/* A sum over the log, and the part of it that lies in the steps. */
struct parted {
	double all, within;
	uint64_t reached; /* what ends before counts already */
};

static void add_span(struct parted *sum, const struct ct_step_time *time, uint64_t begin,
		     uint64_t end)
{
	uint64_t from, to;

	begin = ct_max(begin, sum->reached);
	if (end <= begin)
		return;
	sum->reached = end;
	from = ct_max(begin, time->from_ns);
	to = ct_min(end, time->to_ns);
	sum->all += (double)(end - begin);
	sum->within += to > from ? (double)(to - from) : 0;
}

static double part_of(const struct parted *sum, double otherwise)
{
	return sum->all > 0 ? sum->within / sum->all : otherwise;
}

/* Was it timed? */
static void note_timing(struct ct_left_out *left, const struct ct_step_time *time,
			const struct ct_log_part *part)
{
	if (part->enter_ns < time->from_ns || part->enter_ns >= time->to_ns)
		return;
	if (part->start_ns)
		ct_left_out_timed(left, part->enter_ns);
	else
		ct_left_out_untimed(left, part->enter_ns, 1);
}

static void find_slot(const struct ct_instance_log *log, uint32_t slot,
		      const struct ct_step_time *time, struct ct_in_steps *to)
{
	struct parted comm = { 0 }, wait = { 0 };
	struct ct_left_out left = { 0 };

	for (uint32_t k = log->slot_first[slot]; k < log->slot_first[slot + 1]; k++) {
		const struct ct_log_part *part = &log->parts[log->order[k]];

		note_timing(&left, time, part);
		if (!part->start_ns)
			continue;
		add_span(&comm, time, part->start_ns, part->end_ns);
		if (part->wait_ns != UINT64_MAX)
			add_span(&wait, time, part->start_ns, part->start_ns + part->wait_ns);
	}
	ct_left_out_close(&left);
	to->left_out_ns = left.ns;
	to->comm = part_of(&comm, to->comm);
	to->wait = part_of(&wait, to->wait);
}

/* The others waited until its member came. */
static void add_late(const struct ct_instance_log *log, const struct ct_step_time *time,
		     struct parted *late)
{
	for (uint32_t k = 0; k < log->n_instances; k++) {
		const struct ct_log_instance *i = &log->instances[k];
		const struct ct_log_part *last = &log->parts[i->first_part + i->late_member];
		struct parted *of = &late[last->slot];

		if (!i->late_ns)
			continue;
		of->reached = 0;
		add_span(of, time, last->start_ns - ct_min(i->late_ns, last->start_ns),
			 last->start_ns);
	}
}

struct ct_in_steps *ct_in_steps_find(const struct ct_instance_log *log,
				     const struct ct_step_time *time, const struct ct_model *model)
{
	uint32_t n = model->n_slots;
	struct ct_in_steps *all = calloc((size_t)n + 1, sizeof(*all));
	struct parted *late = calloc((size_t)n + 1, sizeof(*late));
	double even = model->duration_ns ? ct_step_time_ns(time) / (double)model->duration_ns : 1;

	if (!all || !late) {
		free(all);
		free(late);
		return NULL;
	}
	add_late(log, time, late);
	for (uint32_t slot = 0; slot < n; slot++) {
		all[slot] = (struct ct_in_steps){ even, even, part_of(&late[slot], even), 0 };
		if (slot < log->n_slots)
			find_slot(log, slot, time, &all[slot]);
	}
	free(late);
	return all;
}
