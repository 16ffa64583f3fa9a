/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/step_blame.h"
#include "analyzer/model/model.h"
#include "analyzer/stream/instance_log.h"

#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/lateness/replay/limits.h"
#include "trace/ops.h"
#include "trace/status.h"

/* One operation for which someone alone was waited for. */
struct late {
	const struct ct_log_part *last;
	uint64_t charged_ns, err_ns;
	uint64_t host_ns; /* by which its host was longer late with its calls than the others' */
	uint64_t held_ns; /* what it was last by and is not charged with */
};

/* How long a member had not been held up by anyone when it came, and how much of that its host had
 * not made the next call yet. UINT64_MAX unknown. */
struct own_time {
	uint64_t free_ns, host_ns;
};

struct collector {
	const struct ct_model *model;
	const struct ct_instance_log *log;
	struct own_time *own; /* by part */
	const struct ct_steps *steps;
	const uint8_t *in_set; /* NULL: each rank for itself */
	struct ct_step_blame *blame;
	struct ct_cover *charged; /* by slot; of a set the first one's */
	uint32_t cap, cap_outside;
};

void ct_step_blame_fini(struct ct_step_blame *blame)
{
	free(blame->all);
	free(blame->outside);
	free(blame->wait_ns);
	free(blame->comm_ns);
	free(blame->held_ns);
	*blame = (struct ct_step_blame){ 0 };
}

/* May a rank be judged by it? Not by the first collective of a communicator: it shows which ranks
 * started late. */
static int is_judged(const struct ct_model *model, const struct ct_instance_log *log,
		     const struct ct_log_instance *i)
{
	const struct ct_log_part *parts = &log->parts[i->first_part];

	if (i->judged != CT_JUDGED_WAITS || i->n < 2 || i->comm->clash || i->comm->shared_slot ||
	    i->seq == i->comm->first_seq)
		return 0;
	for (uint32_t m = 0; m < i->n; m++) {
		if (parts[m].wait_ns == UINT64_MAX || !parts[m].start_ns ||
		    model->slots[parts[m].slot].muddled)
			return 0;
	}
	/* of a Reduce or Gather the waits do not show which one was last */
	return ct_op_class(i->op) == CT_CLASS_SYNC || i->op == CT_OP_Broadcast ||
	       i->op == CT_OP_Scatter;
}

/* ---- the time that is a rank's own ---- */

/* Ends: the latest one, and that of what held the rank up. */
struct latest_end {
	uint64_t end, held;
};

/* Ends of a rank's latest operations. */
struct recent {
	uint64_t ends[CT_LAGS], hosts[CT_LAGS];
	uint8_t held[CT_LAGS];
	unsigned next;
	struct latest_end of_all;
};

static struct latest_end latest_until(const struct recent *r, uint64_t until)
{
	struct latest_end latest = { 0, 0 };

	for (unsigned k = 0; k < CT_LAGS; k++) {
		if (r->ends[k] > until)
			continue;
		latest.end = r->ends[k] > latest.end ? r->ends[k] : latest.end;
		if (r->held[k] && r->ends[k] > latest.held)
			latest.held = r->ends[k];
	}
	return latest;
}

static void add_recent(struct recent *r, uint64_t end, int held, uint64_t host)
{
	unsigned at = r->next++ % CT_LAGS;
	uint64_t forgotten = r->ends[at];

	r->ends[at] = end;
	r->held[at] = (uint8_t)held;
	r->hosts[at] = host;
	if (forgotten && (forgotten == r->of_all.end || forgotten == r->of_all.held))
		r->of_all = latest_until(r, UINT64_MAX);
	r->of_all.end = end > r->of_all.end ? end : r->of_all.end;
	r->of_all.held = held && end > r->of_all.held ? end : r->of_all.held;
}

/* Was the rank held up in it? In a synchronising operation all leave together; in others, if it
 * waited. */
static int holds(const struct ct_log_instance *i, const struct ct_log_part *p)
{
	return ct_op_class(i->op) == CT_CLASS_SYNC || p->wait_ns == UINT64_MAX ||
	       p->wait_ns > 2ull * p->err_ns + CT_SAME_END_NS;
}

/* What the rank did since the last operation that held it up: one that did not (a Broadcast whose
 * data lay there) is part of that. Where the operation before is not on the log, since that. */
static struct own_time own_time(const struct recent *r, const struct ct_log_part *p)
{
	uint64_t free_from = p->start_ns > p->free_ns ? p->start_ns - p->free_ns : 0;
	uint64_t host = p->enter_ns > free_from ? p->enter_ns - free_from : 0;
	uint64_t until = p->start_ns + p->err_ns, hosts = 0;
	struct latest_end latest = r->of_all.end <= until ? r->of_all : latest_until(r, until);
	struct own_time own = { p->free_ns, host < p->free_ns ? host : p->free_ns };

	if (!latest.held || latest.held >= p->start_ns ||
	    latest.end + p->err_ns + CT_SAME_END_NS < free_from ||
	    p->start_ns - latest.held < p->free_ns)
		return own;
	for (unsigned k = 0; k < CT_LAGS && latest.end > latest.held; k++) {
		if (r->ends[k] > latest.held && r->ends[k] <= until)
			hosts += r->hosts[k];
	}
	own.free_ns = p->start_ns - latest.held;
	own.host_ns += hosts;
	return own;
}

static void find_own_times(const struct ct_instance_log *log, uint32_t slot, struct own_time *own)
{
	struct recent recent = { 0 };

	for (uint32_t k = log->slot_first[slot]; k < log->slot_first[slot + 1]; k++) {
		const struct ct_log_part *p = &log->parts[log->order[k]];
		struct own_time *o = &own[log->order[k]];
		uint64_t host = 0;
		int held;

		*o = (struct own_time){ UINT64_MAX, 0 };
		if (!p->start_ns || (p->group && !p->leads))
			continue;
		if (p->free_ns != UINT64_MAX)
			*o = own_time(&recent, p);
		held = holds(&log->instances[p->instance], p);
		if (!held && o->free_ns != UINT64_MAX) {
			uint64_t free_from = p->start_ns > p->free_ns ? p->start_ns - p->free_ns
								      : 0;

			host = p->enter_ns > free_from && p->start_ns > free_from
				       ? (p->enter_ns < p->start_ns ? p->enter_ns : p->start_ns) -
						 free_from
				       : 0;
		}
		add_recent(&recent, p->end_ns, held, host);
	}
}

static int is_within(const struct ct_instance_log *log, const struct ct_log_instance *i,
		     const uint8_t *in_set)
{
	uint32_t inside = 0;

	for (uint32_t m = 0; m < i->n; m++)
		inside += in_set[log->parts[i->first_part + m].slot] != 0;
	return inside == i->n;
}

/* What members of a set do among themselves delays only the set: the time that is its own goes back
 * to the latest operation with someone else. */
static void join_own_times(const struct ct_instance_log *log, uint32_t slot, const uint8_t *in_set,
			   struct own_time *own)
{
	uint64_t ended = 0; /* before the part at hand began */
	uint64_t later = 0; /* one that had not */

	for (uint32_t k = log->slot_first[slot]; k < log->slot_first[slot + 1]; k++) {
		const struct ct_log_part *p = &log->parts[log->order[k]];
		struct own_time *o = &own[log->order[k]];

		if (!p->start_ns || (p->group && !p->leads))
			continue;
		if (later && later <= p->start_ns)
			ended = later;
		if (ended && o->free_ns != UINT64_MAX && p->start_ns - ended > o->free_ns)
			o->free_ns = p->start_ns - ended;
		if (!is_within(log, &log->instances[p->instance], in_set))
			later = p->end_ns > later ? p->end_ns : later;
	}
}

/* ---- which rank was late ---- */

/* Does it wait for the last one: all others, or those outside the set that is looked at? */
static int is_other(const struct collector *c, const struct ct_log_part *p,
		    const struct ct_log_part *last)
{
	return c->in_set ? !c->in_set[p->slot] : p != last;
}

static const struct ct_log_part *last_of(const struct ct_log_part *parts, uint32_t n)
{
	const struct ct_log_part *last = parts;

	for (uint32_t m = 1; m < n; m++)
		last = parts[m].wait_ns < last->wait_ns ? &parts[m] : last;
	return last;
}

/* The rank that waited least came last. It is charged with what the next of the others waited more,
 * no more than its own doing. */
static int find_late(const struct collector *c, const struct ct_log_instance *i, struct late *late)
{
	const struct ct_log_part *parts = &c->log->parts[i->first_part];
	const struct own_time *own = &c->own[i->first_part];
	const struct ct_log_part *last = last_of(parts, i->n), *before = NULL;
	const struct own_time *of_last = &own[last - parts];
	uint64_t longest = 0, host = 0, longer;

	*late = (struct late){ .last = last };
	if (c->in_set && !c->in_set[last->slot])
		return 0;
	for (uint32_t m = 0; m < i->n; m++) {
		if (!is_other(c, &parts[m], last))
			continue;
		before = !before || parts[m].wait_ns < before->wait_ns ? &parts[m] : before;
		longest = own[m].free_ns > longest ? own[m].free_ns : longest;
		host = own[m].host_ns > host ? own[m].host_ns : host;
	}
	if (!before)
		return 0;
	late->charged_ns = before->wait_ns - last->wait_ns;
	late->err_ns = (uint64_t)last->err_ns + before->err_ns;
	/* where anyone's time is not known, nothing is charged */
	if (longest == UINT64_MAX || of_last->free_ns == UINT64_MAX)
		return 0;
	longer = of_last->free_ns > longest ? of_last->free_ns - longest : 0;
	late->held_ns = late->charged_ns > longer ? late->charged_ns - longer : 0;
	late->charged_ns -= late->held_ns;
	late->host_ns = of_last->host_ns > host ? of_last->host_ns - host : 0;
	return late->charged_ns > late->err_ns;
}

/* Took the last one clearly longer than is usual? Then its transfer was slow, or its kernel waited
 * for SMs. But where that is next to nothing of what it was late by, it was late. */
static int is_slow_transfer(struct collector *c, const struct ct_log_instance *i,
			    const struct late *late)
{
	const struct ct_log_part *last = late->last;
	uint64_t span = last->end_ns - last->start_ns;
	struct ct_class *class;

	if (!last->on_gpu || last->group || ct_op_class(i->op) != CT_CLASS_SYNC)
		return 0;
	class = ct_classes_find(&c->model->classes, i->comm, CT_ALONE, i->op, i->dtype, i->bytes);
	return class && ct_class_is_slow(class, span, last->err_ns) &&
	       (double)(span - class->usual_p25_ns) >= CT_NEAR * (double)late->charged_ns;
}

/* The next of a list that grows; NULL: out of memory. */
static struct ct_step_charge *next_charge(struct ct_step_charge **all, uint32_t *n, uint32_t *cap)
{
	if (ct_grow(all, cap, *n + 1, sizeof(**all)))
		return NULL;
	return &(*all)[(*n)++];
}

static int add_hit(struct collector *c, uint32_t step, int is_outside, const struct late *late)
{
	const struct ct_log_part *p = late->last;
	struct ct_step_blame *blame = c->blame;
	uint64_t from = p->start_ns > late->charged_ns ? p->start_ns - late->charged_ns : 0;
	uint64_t fresh = ct_cover_add(&c->charged[c->in_set ? 0 : p->slot], from, p->start_ns);
	uint64_t host = late->host_ns < fresh ? late->host_ns : fresh;
	struct ct_step_charge *charge;

	if (!fresh)
		return CT_OK;
	charge = is_outside ? next_charge(&blame->outside, &blame->n_outside, &c->cap_outside)
			    : next_charge(&blame->all, &blame->n, &c->cap);
	if (!charge)
		return CT_NOMEM;
	*charge = (struct ct_step_charge){
		.step = step,
		.slot = p->slot,
		.charged_ns = (float)fresh,
		.err_ns = (float)late->err_ns,
		.host_ns = p->on_gpu ? (float)host : 0,
		.stream_ns = p->on_gpu ? (float)(fresh - host) : 0,
		.at_ns = p->start_ns,
	};
	return CT_OK;
}

CT_SORT_BY(by_step, struct ct_step_charge, CT_UP(step) ?: CT_UP(slot) ?: CT_UP(at_ns))

static void merge_into(struct ct_step_charge *to, const struct ct_step_charge *from)
{
	float reasons = to->host_ns + to->stream_ns;

	to->charged_ns += from->charged_ns;
	to->err_ns += from->err_ns;
	if (from->host_ns + from->stream_ns > 2 * reasons) {
		to->host_ns = from->host_ns;
		to->stream_ns = from->stream_ns;
		to->at_ns = from->at_ns;
	}
}

/* One for each step and slot; returns how many are left. */
static uint32_t merge(struct ct_step_charge *all, uint32_t n_all)
{
	uint32_t n = 0;

	if (!n_all)
		return 0;
	ct_sort(all, n_all, sizeof(*all), by_step);
	for (uint32_t k = 1; k < n_all; k++) {
		const struct ct_step_charge from = all[k];

		if (from.step == all[n].step && from.slot == all[n].slot)
			merge_into(&all[n], &from);
		else
			all[++n] = from;
	}
	return n + 1;
}

/* When its last member came. */
static uint64_t arrival(const struct ct_log_instance *i, const struct ct_log_part *parts)
{
	uint64_t latest = 0;

	for (uint32_t m = 0; m < i->n; m++)
		latest = parts[m].start_ns > latest ? parts[m].start_ns : latest;
	return latest ? latest : i->at_ns;
}

/* What ranks stood in it, where that counts to the step. */
static void add_times(struct collector *c, uint32_t step, const struct ct_log_instance *i,
		      const struct ct_log_part *parts)
{
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_log_part *p = &parts[m];

		if (p->wait_ns != UINT64_MAX && i->judged == CT_JUDGED_WAITS)
			c->blame->wait_ns[step] += p->wait_ns;
		if (p->slot == c->steps->slot && p->start_ns && (!p->group || p->leads))
			c->blame->comm_ns[step] += p->end_ns - p->start_ns;
	}
}

static int add_instance(struct collector *c, const struct ct_log_instance *i, uint64_t at_ns)
{
	const struct ct_log_part *parts = &c->log->parts[i->first_part];
	uint32_t step = ct_step_at(c->steps, at_ns);
	int is_outside = step == CT_NO_STEP;
	struct late late;
	int charged;

	if (!c->steps->n)
		return CT_OK;
	if (is_outside)
		step = at_ns < c->steps->cut_ns[0] ? 0 : c->steps->n;
	else
		add_times(c, step, i, parts);
	if (!is_judged(c->model, c->log, i))
		return CT_OK;
	charged = find_late(c, i, &late);
	if (!is_outside)
		c->blame->held_ns[late.last->slot] += late.held_ns;
	return charged && !is_slow_transfer(c, i, &late) ? add_hit(c, step, is_outside, &late)
							 : CT_OK;
}

struct blame_turn {
	uint64_t at_ns;
	uint32_t instance;
};

CT_SORT_BY(by_turn, struct blame_turn, CT_UP(at_ns) ?: CT_UP(instance))

/* In order of time: the log has instances as they became complete, communicators far apart; what is
 * charged once counts by intervals that come about in order. */
static int add_instances(struct collector *c)
{
	const struct ct_instance_log *log = c->log;
	struct blame_turn *turns = malloc((log->n_instances + 1u) * sizeof(*turns));
	int st = turns ? CT_OK : CT_NOMEM;

	for (uint32_t k = 0; turns && k < log->n_instances; k++) {
		const struct ct_log_instance *i = &log->instances[k];

		turns[k] = (struct blame_turn){ arrival(i, &log->parts[i->first_part]), k };
	}
	if (turns)
		ct_sort(turns, log->n_instances, sizeof(*turns), by_turn);
	for (uint32_t k = 0; k < log->n_instances && st == CT_OK; k++)
		st = add_instance(c, &log->instances[turns[k].instance], turns[k].at_ns);
	free(turns);
	return st;
}

int ct_step_blame_collect(const struct ct_model *model, const struct ct_instance_log *log,
			  const struct ct_steps *steps, const uint8_t *in_set,
			  struct ct_step_blame *blame)
{
	struct collector c = {
		.model = model, .log = log, .steps = steps, .in_set = in_set, .blame = blame
	};
	int st = CT_OK;

	*blame = (struct ct_step_blame){ .n_steps = steps->n };
	blame->kept = steps->kept;
	blame->n_kept = steps->n_kept;
	blame->wait_ns = calloc((size_t)steps->n + 1, sizeof(*blame->wait_ns));
	blame->comm_ns = calloc((size_t)steps->n + 1, sizeof(*blame->comm_ns));
	blame->held_ns = calloc((size_t)model->n_slots + 1, sizeof(*blame->held_ns));
	c.charged = calloc((size_t)model->n_slots + 1, sizeof(*c.charged));
	if (!blame->wait_ns || !blame->comm_ns || !blame->held_ns || !c.charged)
		st = CT_NOMEM;
	c.own = calloc((size_t)log->n_parts + 1, sizeof(*c.own));
	if (!c.own)
		st = CT_NOMEM;
	for (uint32_t s = 0; s < log->n_slots && st == CT_OK; s++) {
		find_own_times(log, s, c.own);
		if (in_set && in_set[s])
			join_own_times(log, s, in_set, c.own);
	}
	if (st == CT_OK)
		st = add_instances(&c);
	if (st == CT_OK) {
		blame->n = merge(blame->all, blame->n);
		blame->n_outside = merge(blame->outside, blame->n_outside);
	}
	free(c.charged);
	free(c.own);
	return st;
}

double ct_step_blame_share(const struct ct_step_blame *blame)
{
	return blame->n_steps ? (double)blame->n_kept / blame->n_steps : 1;
}
