/* SPDX-License-Identifier: Apache-2.0 */
/* What ran on streams, or took as long as its call: a lane for each communicator and stream, and
 * one for messages. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/timeline/draw_process.h"
#include "trace/ops.h"

/* The result of a piece of work as an instance, and the awaited rank. */
struct judged {
	const struct ct_cached_instance *instance; /* NULL: not known */
	uint64_t wait_ns;
	uint64_t hash;		  /* equal on all ranks; 0: it is not an instance */
	struct ct_blamed *blamed; /* NULL: it is in no finding */
	struct ct_victim *victim; /* NULL: the rank is not one that waited longest */
	int is_last;		  /* it is the one that the others waited for */
};

/* A group of collectives is judged as one by its leader, one of messages only if it is an exchange
 * of all with all. */
static struct judged judge_work(const struct ct_drawing *x, const struct ct_drawn_work *w)
{
	const struct ct_timeline_index *tl_index = x->pen->tl_index;
	uint32_t op = w->n_all == 1 || w->exchange	 ? w->first
		      : w->group == CT_GROUP_COLLECTIVES ? w->lead
							 : 0;
	struct judged j = { .wait_ns = CT_UNKNOWN };
	struct ct_cached_key key;

	if (!op || !ct_drawing_member(x, &x->d->ops[op - 1], w->exchange, &key))
		return j;
	j.hash = ct_cached_instance_hash(&key);
	if (w->end_ns == CT_TIMELINE_OPEN)
		return j;
	j.instance = ct_instance_cache_find(tl_index->kept, &key, &j.wait_ns);
	if (j.instance && tl_index->options->flows >= CT_FLOWS_BLAME)
		j.blamed = ct_costly_find(&tl_index->costly, &key, &j.victim);
	j.is_last = j.blamed && j.blamed->key.index == key.index;
	return j;
}

/* A group's slice names what all of it is, if that is one thing. */
static uint32_t name_of(const struct ct_drawing *x, const struct ct_drawn_work *w,
			const struct ct_cached_instance *i)
{
	struct ct_texts *texts = &x->pen->tl_index->texts;
	uint32_t name = x->d->ops[w->first - 1].name;

	if (i && i->exchange && !i->is_swap)
		return ct_texts_add(texts, ct_op_name(CT_OP_AllToAll));
	for (uint32_t o = w->first; o; o = x->d->ops[o - 1].next) {
		if (x->d->ops[o - 1].name != name)
			return ct_texts_add(texts, w->messages ? "SendRecv" : "Group");
	}
	return name;
}

static void add_group(const struct ct_drawing *x, struct ct_args *args,
		      const struct ct_drawn_work *w, struct ct_timeline_part *parts)
{
	const struct ct_drawn_comm *comm = ct_drawing_comm(x, w->comm);
	uint64_t bytes = 0;
	uint16_t n = 0;

	for (uint32_t o = w->first; o; o = x->d->ops[o - 1].next) {
		const struct ct_drawn_op *op = &x->d->ops[o - 1];

		if (__builtin_add_overflow(bytes, op->bytes, &bytes))
			bytes = CT_UNKNOWN;
		if (n < CT_TIMELINE_LIST)
			parts[n++] = (struct ct_timeline_part){
				.op = op->name, .peer = op->peer, .seq = op->seq, .bytes = op->bytes
			};
	}
	if (comm) {
		ct_args_text(args, CT_ARG_comm, comm->comm->label);
		ct_args_text(args, CT_ARG_comm_hash, comm->comm->hash);
		ct_args_uint(args, CT_ARG_nranks, comm->comm->nranks);
	}
	if (x->rank >= 0)
		ct_args_int(args, CT_ARG_rank, x->rank);
	ct_args_uint(args, CT_ARG_bytes, bytes);
	ct_args_uint(args, CT_ARG_n_ops, w->n_all);
	args->all[args->n++] = (struct ct_timeline_arg){
		.key = CT_ARG_ops, .type = CT_VALUE_PARTS, .n = n, .parts = parts
	};
}

static void add_bandwidth(struct ct_drawing *x, struct ct_args *args, const struct ct_drawn_work *w,
			  const struct ct_cached_instance *i)
{
	const struct ct_drawn_comm *comm = ct_drawing_comm(x, w->comm);
	unsigned op = w->n_all == 1 || i->exchange ? i->op : w->group_op;
	double gbps = i->bytes ? ct_draw_gbps(i->bytes, i->transfer_ns) : 0;
	double factor = comm ? ct_op_bus_factor(op, comm->comm->nranks) : 0;

	ct_args_double(args, CT_ARG_algbw_gbps, gbps);
	ct_args_double(args, CT_ARG_busbw_gbps, gbps * factor);
	if (i->message || gbps * factor <= 0 || w->end_ns < i->transfer_ns)
		return;
	x->levels[x->n_levels++] = (struct ct_bandwidth_level){ .begin_ns = w->end_ns -
									    i->transfer_ns,
								.end_ns = w->end_ns,
								.gbps = gbps * factor,
								.comm = w->comm };
}

static void add_how(const struct ct_drawing *x, struct ct_args *args, const struct ct_drawn_work *w)
{
	if (w->launch)
		ct_args_uint(args, CT_ARG_launch, w->launch);
	if (w->on_gpu) {
		ct_args_uint(args, CT_ARG_cuda_stream, w->stream);
		ct_args_uint(args, CT_ARG_gpu, w->device);
	}
	if (w->start_err_ns != CT_UNKNOWN)
		ct_args_uint(args, CT_ARG_err_ns, w->start_err_ns + w->end_err_ns);
	ct_args_word(args, x->pen, CT_ARG_timing, ct_timing_name(w->timing));
}

/* The arrow from a waiting rank, if it leads forward in time as drawn. */
static uint64_t arrow_from(const struct judged *j, const struct ct_timeline_slice *wait)
{
	if (!j->victim || wait->begin_ns >= j->blamed->at_ns)
		return 0;
	j->victim->drawn = 1;
	return ct_costly_arrow(j->blamed, j->victim);
}

/* Those that end at the one that was waited for. */
static uint8_t arrows_to(const struct judged *j, uint64_t *ends)
{
	if (!j->is_last)
		return 0;
	j->blamed->drawn = 1;
	for (uint32_t v = 0; v < j->blamed->n_victims; v++)
		ends[v] = ct_costly_arrow(j->blamed, &j->blamed->victims[v]);
	return (uint8_t)j->blamed->n_victims;
}

/* Wait and transfer inside a slice, where they can be separated. */
static int draw_parts(const struct ct_drawing *x, const struct ct_timeline_slice *whole,
		      uint64_t from_ns, const struct judged *j)
{
	struct ct_texts *texts = &x->pen->tl_index->texts;
	struct ct_timeline_slice part = {
		.track = whole->track,
		.depth = (uint8_t)(whole->depth + 1),
		.begin_ns = whole->begin_ns,
		.end_ns = from_ns,
		.category = CT_CATEGORY_WAIT,
		.name = ct_texts_add(texts, "wait"),
	};
	int st = CT_OK;

	if (from_ns > whole->end_ns)
		part.end_ns = whole->end_ns;
	if (part.end_ns > part.begin_ns) {
		part.flows[0] = arrow_from(j, &part);
		st = ct_pen_slice(x->pen, &part, NULL);
	}
	if (st != CT_OK || from_ns >= whole->end_ns)
		return st;
	part.flows[0] = 0;
	part.begin_ns = from_ns > whole->begin_ns ? from_ns : whole->begin_ns;
	part.end_ns = whole->end_ns;
	part.category = whole->category;
	part.name = ct_texts_add(texts, "transfer");
	return ct_pen_slice(x->pen, &part, NULL);
}

/* What the analysis makes of a work. */
static void add_judged(struct ct_drawing *x, struct ct_args *args, const struct ct_drawn_work *w,
		       const struct judged *j)
{
	const struct ct_cached_instance *i = j->instance;

	if (!i)
		return;
	/* In a graph it is unknown where within it a rank was awaited, and how long it
	 * communicates. */
	if (x->d->ops[w->first - 1].op != CT_OP_GraphLaunch) {
		add_bandwidth(x, args, w, i);
		ct_args_uint(args, CT_ARG_transfer_ns, i->transfer_ns);
	}
	ct_args_uint(args, CT_ARG_waited_ns, j->wait_ns);
	ct_args_uint(args, CT_ARG_skew_ns, i->skew_ns);
	if (j->is_last || j->victim)
		ct_args_int(args, CT_ARG_finding, j->blamed->finding);
}

static int draw_work(void *arg, const struct ct_lane_item *item, uint32_t track)
{
	struct ct_drawing *x = arg;
	const struct ct_drawn_work *w = &x->d->works[item->what];
	const struct ct_drawn_op *first = &x->d->ops[w->first - 1];
	struct ct_args args = { .n = 0 };
	struct ct_timeline_part parts[CT_TIMELINE_LIST];
	uint64_t ends[CT_COSTLY_VICTIMS];
	const struct judged j = judge_work(x, w);
	struct ct_timeline_slice slice = {
		.track = track,
		.name = name_of(x, w, j.instance),
		.begin_ns = item->begin_ns,
		.end_ns = item->end_ns,
		.depth = (uint8_t)item->depth,
		.category = w->on_gpu ? CT_CATEGORY_GPU : CT_CATEGORY_HOST,
		.flows = { w->on_gpu ? ct_drawing_launch_flow(x, w->launch) : 0,
			   ct_drawing_instance_flow(x, first) },
		.correlation = x->pen->tl_index->options->color == CT_COLOR_BY_INSTANCE ? j.hash
											: 0,
		.ends = ends,
		.n_ends = arrows_to(&j, ends),
	};
	int st;

	if (w->n_all > 1)
		add_group(x, &args, w, parts);
	else
		ct_drawing_what(x, &args, first);
	add_judged(x, &args, w, &j);
	add_how(x, &args, w);
	ct_drawing_end(x, &args, &slice, first->state);
	st = ct_pen_slice(x->pen, &slice, &args);
	if (st == CT_OK && j.instance && j.instance->waits && first->op != CT_OP_GraphLaunch &&
	    j.wait_ns != CT_UNKNOWN)
		st = draw_parts(x, &slice, w->start_ns + j.wait_ns, &j);
	return st;
}

/* ---- lanes ---- */

/* Messages share one lane, unless they come to something that all ranks do together. */
static int is_message(const struct ct_drawn_work *w)
{
	return w->messages && !w->exchange;
}

/* What makes a lane of its own. */
static int by_lane_of_work(const struct ct_drawn_work *x, const struct ct_drawn_work *y)
{
	if (is_message(x) || is_message(y))
		return CT_CMP(is_message(x), is_message(y));
	return CT_UP(comm) ?: CT_CMP(!x->on_gpu, !y->on_gpu) ?: CT_UP(device) ?: CT_UP(stream);
}

static int by_work(const void *a, const void *b, void *arg)
{
	const struct ct_lane_item *x = a, *y = b;
	const struct ct_drawn_work *works = arg;

	return by_lane_of_work(&works[x->what], &works[y->what]) ?: CT_UP(what);
}

static void name_lane(const struct ct_drawing *x, const struct ct_drawn_work *w, char *name,
		      size_t size)
{
	char stream[32] = "", gpu[24] = "";

	if (is_message(w)) {
		snprintf(name, size, "%sp2p", x->pid);
		return;
	}
	if (w->on_gpu)
		snprintf(stream, sizeof(stream), " \302\267 stream 0x%" PRIx32, w->stream);
	if (w->on_gpu && x->gpu == -2)
		snprintf(gpu, sizeof(gpu), " \302\267 GPU %" PRIu32, w->device);
	snprintf(name, size, "%s%.120s%s%s", x->pid, ct_drawing_label(x, w->comm), gpu, stream);
}

int ct_draw_works(struct ct_drawing *x)
{
	const struct ct_drawn *d = x->d;
	int32_t order = 0;
	uint32_t n = 0;
	int st = CT_OK;

	for (uint32_t w = 0; w < d->n_works; w++) {
		const struct ct_drawn_work *work = &d->works[w];

		if (work->local != x->local)
			continue;
		x->items[n] = (struct ct_lane_item){ .begin_ns = work->start_ns,
						     .end_ns = work->end_ns,
						     .what = w };
		if (work->start_err_ns != CT_UNKNOWN)
			x->items[n].slack_ns = work->start_err_ns + work->end_err_ns;
		n++;
	}
	ct_sort_r(x->items, n, sizeof(*x->items), by_work, d->works);
	for (uint32_t from = 0, to; from < n && st == CT_OK; from = to) {
		const struct ct_drawn_work *w = &d->works[x->items[from].what];
		char name[256];
		const struct ct_draw_lanes lanes = {
			.name = name,
			.parent = x->group,
			.order = is_message(w) ? CT_ORDER_MESSAGES : CT_ORDER_COMMS + order++,
			.draw = draw_work,
			.arg = x,
		};

		for (to = from; to < n && !by_lane_of_work(w, &d->works[x->items[to].what]); to++)
			;
		name_lane(x, w, name, sizeof(name));
		st = ct_pen_lanes(x->pen, &lanes, &x->items[from], to - from);
	}
	return st;
}
