/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/overlap/gaps.h"

#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/limits.h"
#include "analyzer/base/table.h"
#include "analyzer/model/op_classes.h"
#include "analyzer/stream/instance_log.h"
#include "trace/ops.h"
#include "trace/status.h"

/* size: streams of one rank that are followed; more than a rank has communicators are none of a
 * real job. */
#define MOST_STREAMS 256u
/* size: parts with one start that are looked through for a launch's calls. */
#define MOST_TOGETHER 65536u

/* What came last on a stream. */
struct before {
	uint32_t stream, group, step;
	uint32_t err_ns;
	uint64_t end_ns;
	const struct ct_comm *comm;
	uint64_t next_seq; /* of the communicator, if nothing is missing; UINT64_MAX not known */
};

struct gap_walk {
	const struct ct_instance_log *log;
	const uint32_t *step_of;
	struct ct_stream_gaps *out;
	struct ct_table classes; /* index in out->classes + 1 */
	struct before any;	 /* of all streams, the latest to end */
	struct before before[MOST_STREAMS];
	uint32_t n;
};

static struct before *before_on(struct gap_walk *w, uint32_t stream)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->before[i].stream == stream)
			return &w->before[i];
	if (w->n == MOST_STREAMS)
		return NULL;
	w->before[w->n] = (struct before){ .stream = stream, .step = CT_NO_STEP };
	return &w->before[w->n++];
}

static struct ct_gap_class *new_class(struct ct_stream_gaps *out,
				      const struct ct_log_instance *instance)
{
	struct ct_gap_class *c;

	if (ct_grow(&out->classes, &out->cap_classes, out->n_classes + 1, sizeof(*out->classes)))
		return NULL;
	c = &out->classes[out->n_classes++];
	*c = (struct ct_gap_class){
		.comm = instance->comm,
		.op = instance->op,
		.dtype = instance->dtype,
		.size_range = ct_size_range(instance->bytes),
	};
	return c;
}

static struct ct_gap_class *get_class(struct gap_walk *w, const struct ct_log_instance *instance)
{
	uint64_t what = (uint64_t)instance->comm->index << 32 | (uint64_t)instance->op << 8 |
			instance->dtype;
	uint64_t key = ct_mix(ct_size_range(instance->bytes) ^ ct_mix(what));
	size_t at = (size_t)(uintptr_t)ct_table_get(&w->classes, key);

	if (at)
		return &w->out->classes[at - 1];
	if (!new_class(w->out, instance))
		return NULL;
	at = w->out->n_classes;
	if (ct_table_put(&w->classes, key, (void *)(uintptr_t)at) != CT_OK)
		return NULL;
	return &w->out->classes[at - 1];
}

void ct_gap_split(uint64_t end_ns, uint64_t start_ns, uint64_t enter_ns, uint64_t err_ns,
		  struct ct_gap_sum *sum)
{
	uint64_t gap = start_ns > end_ns ? start_ns - end_ns : 0;
	uint64_t ready = enter_ns + CT_GAP_CALL_NS;
	uint64_t late = ready > end_ns ? ready - end_ns : 0;

	sum->pairs++;
	sum->err_ns += gap ? err_ns : 0;
	if (gap < CT_GAP_LAUNCH_NS) {
		sum->idle_launch_ns += gap;
		return;
	}
	late = late < gap ? late : gap;
	sum->idle_host_bound_ns += late;
	sum->idle_waiting_for_compute_ns += gap - late;
}

/* The launch's last call: a group is launched when it ends. Its parts have one start and so are
 * adjacent. */
static uint64_t launched_ns(const struct ct_instance_log *log, uint32_t at, uint32_t end)
{
	const struct ct_log_part *p = &log->parts[log->order[at]];
	uint64_t enter = p->enter_ns;

	for (uint32_t i = at + 1; p->group && i < end && i < at + MOST_TOGETHER; i++) {
		const struct ct_log_part *q = &log->parts[log->order[i]];

		if (q->start_ns != p->start_ns)
			break;
		if (q->group == p->group && q->stream == p->stream && q->enter_ns > enter)
			enter = q->enter_ns;
	}
	return enter;
}

/* Of a collective of its own launch, the number that follows on its communicator. */
static uint64_t seq_after(const struct ct_log_part *p, const struct ct_log_instance *instance)
{
	if (instance->src >= 0 || p->group)
		return UINT64_MAX;
	return instance->seq + (instance->op == CT_OP_GraphLaunch ? instance->count : 1);
}

/* Is something between the two not on record? */
static int is_broken(const struct before *b, const struct ct_log_part *p,
		     const struct ct_log_instance *instance)
{
	return b->comm == instance->comm && b->next_seq != UINT64_MAX && !p->group &&
	       instance->src < 0 && instance->seq != b->next_seq;
}

static void follow(struct before *b, const struct ct_log_part *p,
		   const struct ct_log_instance *instance, uint32_t step)
{
	b->group = p->group;
	b->step = step;
	if (p->end_ns >= b->end_ns) {
		b->err_ns = p->err_ns;
		b->end_ns = p->end_ns;
	}
	b->comm = instance->comm;
	b->next_seq = seq_after(p, instance);
}

static int add_part(struct gap_walk *w, uint32_t at, uint32_t end, struct ct_gap_rank *rank)
{
	const struct ct_log_part *p = &w->log->parts[w->log->order[at]];
	const struct ct_log_instance *instance = &w->log->instances[p->instance];
	uint32_t step = w->step_of[p->instance];
	struct ct_gap_class *class;
	struct before *b;
	uint64_t enter;
	int broken;

	if (!p->on_gpu || !p->start_ns || !p->stream)
		return CT_OK;
	b = before_on(w, p->stream);
	if (!b || (p->group && b->group == p->group && b->end_ns == p->end_ns))
		return CT_OK;
	enter = launched_ns(w->log, at, end);
	broken = is_broken(b, p, instance);
	if (step != CT_NO_STEP && b->step == step && !broken) {
		class = get_class(w, instance);
		if (!class)
			return CT_NOMEM;
		ct_gap_split(b->end_ns, p->start_ns, enter, (uint64_t)b->err_ns + p->err_ns,
			     &class->sum);
	}
	if (step != CT_NO_STEP && w->any.step == step && !broken)
		ct_gap_split(w->any.end_ns, p->start_ns, enter, (uint64_t)w->any.err_ns + p->err_ns,
			     &rank->sum);
	follow(b, p, instance, step);
	follow(&w->any, p, instance, step);
	return CT_OK;
}

/* Steps in which the rank has launches on a GPU. */
static void count_steps(const struct gap_walk *w, const struct ct_cuts *cuts, uint32_t slot,
			struct ct_gap_rank *rank)
{
	const struct ct_instance_log *log = w->log;
	uint32_t last = CT_NO_STEP;

	for (uint32_t i = log->slot_first[slot]; i < log->slot_first[slot + 1]; i++) {
		const struct ct_log_part *p = &log->parts[log->order[i]];
		uint32_t step = w->step_of[p->instance];

		if (!p->on_gpu || !p->start_ns || step == CT_NO_STEP ||
		    (last != CT_NO_STEP && step <= last))
			continue;
		rank->steps++;
		rank->step_ns += cuts->all[step].end_ns - cuts->all[step].begin_ns;
		last = step;
	}
}

int ct_stream_gaps_find(const struct ct_instance_log *log, const struct ct_cuts *cuts,
			const uint32_t *step_of, struct ct_stream_gaps *out)
{
	struct gap_walk *w = calloc(1, sizeof(*w));
	int st = CT_OK;

	out->ranks = calloc((size_t)log->n_slots + 1, sizeof(*out->ranks));
	if (!w || !out->ranks) {
		free(w);
		return CT_NOMEM;
	}
	w->log = log;
	w->step_of = step_of;
	w->out = out;
	for (uint32_t s = 0; s < log->n_slots && st == CT_OK; s++) {
		uint32_t end = log->slot_first[s + 1];

		w->n = 0;
		w->any = (struct before){ .step = CT_NO_STEP };
		for (uint32_t i = log->slot_first[s]; i < end && st == CT_OK; i++)
			st = add_part(w, i, end, &out->ranks[s]);
		count_steps(w, cuts, s, &out->ranks[s]);
	}
	ct_table_fini(&w->classes);
	free(w);
	return st;
}

void ct_stream_gaps_fini(struct ct_stream_gaps *gaps)
{
	free(gaps->ranks);
	free(gaps->classes);
	*gaps = (struct ct_stream_gaps){ 0 };
}
