/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of each thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/timeline/draw_process.h"
#include "analyzer/timeline/texts.h"

/* Times on one thread come from one clock; they differ by its quantum at most. */
#define THREAD_SLACK_NS 200u

/* The arguments of an operation, or of a call that moves no data. */
static void describe_op(const struct ct_drawing *x, const struct ct_drawn_op *o, uint32_t what,
			struct ct_args *args, struct ct_timeline_slice *slice)
{
	const struct ct_drawn *d = x->d;
	struct ct_cached_key key;

	slice->name = o->call ? o->call : o->name;
	if (x->pen->tl_index->options->color == CT_COLOR_BY_INSTANCE &&
	    ct_drawing_member(x, o, 0, &key))
		slice->correlation = ct_cached_instance_hash(&key);
	ct_args_text(args, CT_ARG_op, o->name);
	ct_drawing_what(x, args, o);
	if (o->launch)
		ct_args_uint(args, CT_ARG_launch, o->launch);
	if (slice->end_ns == CT_TIMELINE_OPEN)
		ct_drawing_end(x, args, slice, o->state);
	else if (o->state != CT_STATE_FINISHED)
		ct_args_word(args, x->pen, CT_ARG_state, ct_op_state_name(o->state));
	if (o->state == CT_STATE_ERROR)
		ct_args_int(args, CT_ARG_result, o->result);
	if (o->captured)
		ct_args_uint(args, CT_ARG_captured, 1);
	ct_args_text(args, CT_ARG_site, o->site);
	if (o->queued_ns != CT_TIMELINE_OPEN)
		ct_args_uint(args, CT_ARG_queued_ns, o->queued_ns);
	/* The arrow starts at the last call of a group: the one that is nearest to the launch. */
	if (o->work && d->works[o->work - 1].on_gpu && d->works[o->work - 1].last == what + 1)
		slice->flows[0] = ct_drawing_launch_flow(x, o->launch);
	x->pen->result->flows += slice->flows[0] != 0;
}

static void describe_call(const struct ct_drawing *x, const struct ct_drawn_call *c,
			  struct ct_args *args, struct ct_timeline_slice *slice)
{
	slice->name = c->name;
	ct_drawing_end(x, args, slice, CT_STATE_ENTERED);
	if (c->comm) {
		ct_args_text(args, CT_ARG_comm, x->pen->tl_index->comms[c->comm - 1].label);
		ct_args_text(args, CT_ARG_comm_hash, x->pen->tl_index->comms[c->comm - 1].hash);
	}
	if (c->result)
		ct_args_int(args, CT_ARG_result, c->result);
	ct_args_text(args, CT_ARG_site, c->site);
}

/* Items of a thread are ops, then calls. */
static int draw_call(void *arg, const struct ct_lane_item *item, uint32_t track)
{
	const struct ct_drawing *x = arg;
	const struct ct_drawn *d = x->d;
	struct ct_texts *texts = &x->pen->tl_index->texts;
	const struct ct_drawn_op *op = item->what < d->n_ops ? &d->ops[item->what] : NULL;
	const struct ct_drawn_call *call = op ? NULL : &d->calls[item->what - d->n_ops];
	uint32_t site = op ? op->site : call->site;
	struct ct_args args = { .n = 0 };
	struct ct_timeline_frame frames[CT_TIMELINE_FRAMES];
	struct ct_timeline_slice slice = {
		.track = track,
		.begin_ns = item->begin_ns,
		.end_ns = item->end_ns,
		.depth = (uint8_t)item->depth,
		.category = CT_CATEGORY_API,
		.frames = frames,
	};

	if (op)
		describe_op(x, op, item->what, &args, &slice);
	else
		describe_call(x, call, &args, &slice);
	if (site)
		slice.n_frames = ct_frames_of(texts, ct_texts_get(texts, site), frames);
	return ct_pen_slice(x->pen, &slice, &args);
}

static uint32_t tid_of(const struct ct_drawn *d, uint32_t what)
{
	return what < d->n_ops ? d->ops[what].tid : d->calls[what - d->n_ops].tid;
}

static int draw_thread(struct ct_drawing *x, uint32_t tid, int32_t order,
		       struct ct_lane_item *items, uint32_t n)
{
	char name[80];
	const struct ct_draw_lanes lanes = {
		.name = name,
		.parent = x->group,
		.order = CT_ORDER_THREADS + order,
		.nest = 1,
		.draw = draw_call,
		.arg = x,
	};

	snprintf(name, sizeof(name), "%shost thread %" PRIu32 "%s", x->pid, tid,
		 tid == x->d->info->id.pid ? " (main)" : "");
	return ct_pen_lanes(x->pen, &lanes, items, n);
}

/* lane holds the key while items are sorted into groups */
CT_SORT_BY(by_what, struct ct_lane_item, CT_UP(lane) ?: CT_UP(what))

/* One of the drawn rank's ops or, of its first rank, calls; 0 if it is another's. */
static int item_of(const struct ct_drawing *x, uint32_t what, struct ct_lane_item *item)
{
	const struct ct_drawn *d = x->d;

	*item = (struct ct_lane_item){ .what = what,
				       .slack_ns = THREAD_SLACK_NS,
				       .lane = tid_of(d, what) };
	if (what < d->n_ops) {
		item->begin_ns = d->ops[what].enter_ns;
		item->end_ns = d->ops[what].return_ns;
		return d->ops[what].local == x->local;
	}
	item->begin_ns = d->calls[what - d->n_ops].enter_ns;
	item->end_ns = d->calls[what - d->n_ops].return_ns;
	return x->local == 0 && !d->calls[what - d->n_ops].gone;
}

int ct_draw_threads(struct ct_drawing *x)
{
	const struct ct_drawn *d = x->d;
	uint32_t n = 0;
	int32_t order = 1;
	int st = CT_OK;

	for (uint32_t what = 0; what < d->n_ops + d->n_calls; what++)
		n += (uint32_t)item_of(x, what, &x->items[n]);
	ct_sort(x->items, n, sizeof(*x->items), by_what);
	for (uint32_t from = 0, to; from < n && st == CT_OK; from = to) {
		uint32_t tid = x->items[from].lane;

		for (to = from; to < n && x->items[to].lane == tid; to++)
			;
		/* The main thread first, the others as their numbers come. */
		st = draw_thread(x, tid, tid == d->info->id.pid ? 0 : order++, &x->items[from],
				 to - from);
	}
	return st;
}
