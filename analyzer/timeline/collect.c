/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/timeline/collect.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/load/graphs.h"
#include "trace/call_name.h"
#include "trace/ops.h"

/* A time of the process's host as ns since the run began. */
static uint64_t time_of(const struct ct_drawn *d, uint64_t mono_ns)
{
	return ct_timeline_index_at(d->tl_index, d->seen->host, mono_ns);
}

static int on_comm(void *arg, struct ct_load_comm *comm)
{
	struct ct_drawn *d = arg;

	if (ct_grow(&d->comms, &d->cap_comms, d->n_comms + 1, sizeof(*d->comms)))
		return CT_NOMEM;
	d->comms[d->n_comms++] = (struct ct_drawn_comm){
		.comm = ct_timeline_index_find(d->tl_index, comm->rec.key, comm->rec.nranks),
		.rank = comm->rec.rank,
		.local = comm->local,
	};
	comm->user = (void *)(uintptr_t)d->n_comms;
	return CT_OK;
}

/* ---- work ---- */

/* What is known of the span; 0: nothing that could be drawn. */
static int work_of(const struct ct_drawn *d, const struct ct_load_op *op, struct ct_drawn_work *w)
{
	const struct ct_joined_op *j = &op->joined;
	uint64_t start_ns = j->start_ns;

	*w = (struct ct_drawn_work){
		.start_err_ns = j->start_err_ns,
		.end_err_ns = j->end_err_ns,
		.comm = op->comm ? (uint32_t)(uintptr_t)op->comm->user : 0,
		.stream = j->stream,
		.device = j->device,
		.launch = j->op->launch,
		.timing = (uint8_t)ct_timing_of(
			(enum ct_source)(j->end_source ? j->end_source : j->start_source)),
		.messages = 1,
	};
	if (op->open) {
		uint64_t where = CT_OPEN_WORD(op->open, stream);

		start_ns = CT_OPEN_WORD(op->open, start_ns);
		w->stream = (uint32_t)(where >> 32);
		w->device = (uint32_t)where;
		w->end_ns = CT_TIMELINE_OPEN;
		w->start_err_ns = w->end_err_ns = CT_UNKNOWN;
		w->on_gpu = j->backend == CT_BACKEND_NCCL || where;
	} else if (j->start_source == CT_SOURCE_CALL && !j->op->return_ns) {
		w->end_ns = CT_TIMELINE_OPEN;
	} else if (j->end_ns) {
		w->end_ns = time_of(d, j->end_ns);
		w->on_gpu = w->timing != CT_TIMING_CALL;
	} else {
		return 0;
	}
	w->start_ns = time_of(d, start_ns);
	if (w->end_ns < w->start_ns)
		w->end_ns = w->start_ns;
	return start_ns != 0;
}

/* The op becomes the last one of its work, which is made if it is the first. */
static int add_to_work(struct ct_drawn *d, const struct ct_load_op *op, uint32_t at)
{
	struct ct_drawn_op *o = &d->ops[at];
	struct ct_drawn_work work;

	if (o->launch)
		o->work = (uint32_t)(uintptr_t)ct_table_get(&d->work_by_launch, o->launch);
	if (!o->work) {
		if (!work_of(d, op, &work)) {
			d->unmeasured += o->launch && !o->captured && !op->open;
			return CT_OK;
		}
		work.local = o->local;
		work.n_all = op->joined.launch_ops ? op->joined.launch_ops : 1;
		if (op->launch && op->launch->n_ops > 1) {
			work.group = (uint8_t)d->shape.kind;
			work.group_op = (uint8_t)d->shape.op;
			work.exchange = d->exchange;
		}
		if (ct_grow(&d->works, &d->cap_works, d->n_works + 1, sizeof(*d->works)))
			return CT_NOMEM;
		d->works[d->n_works++] = work;
		o->work = d->n_works;
		if (o->launch && ct_table_put(&d->work_by_launch, o->launch,
					      (void *)(uintptr_t)o->work) != CT_OK)
			return CT_NOMEM;
	}
	work = d->works[o->work - 1];
	if (work.last)
		d->ops[work.last - 1].next = at + 1;
	else
		work.first = at + 1;
	work.last = at + 1;
	work.n_ops++;
	if (op->joined.launch_at == (op->launch && op->launch->n_ops > 1 ? d->shape.lead : 0))
		work.lead = at + 1;
	work.messages &= ct_op_class(o->op) == CT_CLASS_P2P;
	d->works[o->work - 1] = work;
	return CT_OK;
}

/* ---- ops ---- */

/* An all-to-all's count is what goes to one peer, that of its v-form what goes to all of them. */
static uint64_t total_bytes(const struct ct_load_op *op)
{
	const struct ct_joined_op *j = &op->joined;
	int varying = ct_call_is_varying(j->call);

	if (j->graph)
		return j->graph->total_bytes;
	return ct_op_total_bytes(j->op->op, ct_op_count(j->op), j->op->dtype,
				 varying && j->op->op == CT_OP_AllToAll ? 1 : j->nranks);
}

/* What the launch of this op, its first, holds beside it. Exchanges are counted as the analysis
 * counts them. */
static void begin_launch(struct ct_drawn *d, const struct ct_load_op *op)
{
	const struct ct_load_launch *l = op->launch;
	struct ct_drawn_comm *comm;

	d->exchange = 0;
	if (!op->comm || !l || l->n_ops < 2)
		return;
	comm = &d->comms[(uintptr_t)op->comm->user - 1];
	ct_group_shape(l->ops, l->n, l->n_ops, op->comm->rec.nranks, op->comm->rec.rank, &d->shape);
	if (d->shape.kind == CT_GROUP_EXCHANGE)
		d->exchange = ++comm->exchanges;
}

static int on_op(void *arg, const struct ct_load_op *op)
{
	struct ct_drawn *d = arg;
	const struct ct_joined_op *j = &op->joined;
	uint32_t local = op->comm ? op->comm->local : 0;
	uint64_t begin, end;
	struct ct_drawn_op *o;

	if (j->launch_at == 0)
		begin_launch(d, op);
	ct_timeline_index_interval(d->tl_index, d->seen->host, op, &begin, &end);
	if (!ct_timeline_index_inside(d->tl_index, begin, end) ||
	    !d->tl_index->slots[ct_timeline_index_slot(d->tl_index, d->process, local)].drawn)
		return CT_OK;
	if (ct_grow(&d->ops, &d->cap_ops, d->n_ops + 1, sizeof(*d->ops)))
		return CT_NOMEM;
	o = &d->ops[d->n_ops++];
	*o = (struct ct_drawn_op){
		.enter_ns = time_of(d, j->op->enter_ns),
		.return_ns = j->op->return_ns ? time_of(d, j->op->return_ns) : CT_TIMELINE_OPEN,
		.count = ct_op_count(j->op),
		.seq = j->op->seq,
		.bytes = j->bytes,
		.queued_ns = j->submit_ns ? j->op->enter_ns - j->submit_ns : CT_TIMELINE_OPEN,
		.total_bytes = total_bytes(op),
		.comm = op->comm ? (uint32_t)(uintptr_t)op->comm->user : 0,
		.launch = j->op->flags & CT_OP_CAPTURED ? 0 : j->op->launch,
		.tid = j->op->tid,
		.tag = j->op->tag,
		.name = ct_texts_add(&d->tl_index->texts, j->op_name),
		.call = ct_texts_add(&d->tl_index->texts, j->call),
		.site = ct_texts_add(&d->tl_index->texts, j->site),
		.peer = j->op->peer,
		.result = j->op->result,
		.op = j->op->op,
		.dtype = j->op->dtype,
		.redop = j->op->redop,
		.state = (uint8_t)j->state,
		.captured = (j->op->flags & CT_OP_CAPTURED) != 0,
		.graph = j->op->flags & CT_OP_CAPTURED	  ? j->op->launch
			 : j->op->op == CT_OP_GraphLaunch ? j->op->tag
							  : 0,
		.holds = ct_texts_add(&d->tl_index->texts, j->graph ? j->graph->text : NULL),
		.local = (uint8_t)local,
	};
	if (o->return_ns < o->enter_ns)
		o->return_ns = o->enter_ns;
	return d->tl_index->texts.failed ? CT_NOMEM : add_to_work(d, op, d->n_ops - 1);
}

/* Begin and end of a call differ in return_ns and belong together by thread and entry; either may
 * be missing. */
static int on_host(void *arg, const struct ct_host_rec *rec, const char *call, const char *site)
{
	struct ct_drawn *d = arg;
	uint64_t enter = time_of(d, rec->enter_ns);
	uint64_t leave = rec->return_ns ? time_of(d, rec->return_ns) : CT_TIMELINE_OPEN;
	uint64_t key = ct_mix(rec->enter_ns ^ ct_mix(rec->tid));
	uint32_t at = (uint32_t)(uintptr_t)ct_table_get(&d->call_by_enter, key);
	const struct ct_timeline_index_comm *comm = ct_timeline_index_find(d->tl_index, rec->key,
									   rec->nranks);
	struct ct_drawn_call *c;

	if (!d->tl_index->slots[d->seen->slot].drawn)
		return CT_OK;
	if (!ct_timeline_index_inside(d->tl_index, enter, leave)) {
		/* It had begun, which alone could have meant that it never ended. */
		if (at)
			d->calls[at - 1].gone = 1;
		return CT_OK;
	}
	if (!at) {
		if (ct_grow(&d->calls, &d->cap_calls, d->n_calls + 1, sizeof(*d->calls)))
			return CT_NOMEM;
		at = ++d->n_calls;
		d->calls[at - 1] = (struct ct_drawn_call){
			.enter_ns = enter,
			.return_ns = leave,
			.tid = rec->tid,
			.name = ct_texts_add(&d->tl_index->texts, call ? call : "call"),
		};
		if (ct_table_put(&d->call_by_enter, key, (void *)(uintptr_t)at) != CT_OK)
			return CT_NOMEM;
	}
	c = &d->calls[at - 1];
	if (leave != CT_TIMELINE_OPEN)
		c->return_ns = leave > c->enter_ns ? leave : c->enter_ns;
	if (comm)
		c->comm = (uint32_t)(comm - d->tl_index->comms) + 1;
	if (rec->return_ns)
		c->result = rec->result;
	if (site)
		c->site = ct_texts_add(&d->tl_index->texts, site);
	return d->tl_index->texts.failed ? CT_NOMEM : CT_OK;
}

int ct_collect(struct ct_timeline_index *tl_index, const struct ct_run *run, uint32_t process,
	       struct ct_op_names *names, struct ct_drawn *d, struct ct_err *err)
{
	const struct ct_load_sink sink = { .op = on_op, .comm = on_comm, .host = on_host, .arg = d };
	const struct ct_load_rank *ranks;
	struct ct_load *load;
	int st;

	*d = (struct ct_drawn){ .tl_index = tl_index,
				.process = process,
				.info = &run->processes[process],
				.seen = &tl_index->processes[process] };
	st = ct_load_open(run, process, &sink, names, &load, err);
	if (st != CT_OK)
		return st;
	do {
		st = ct_load_next(load, err);
	} while (st == 1);
	d->n_locals = ct_load_ranks(load, &ranks);
	ct_load_close(load);
	return st;
}

void ct_drawn_fini(struct ct_drawn *d)
{
	free(d->comms);
	free(d->ops);
	free(d->works);
	free(d->calls);
	ct_table_fini(&d->work_by_launch);
	ct_table_fini(&d->call_by_enter);
	*d = (struct ct_drawn){ 0 };
}
