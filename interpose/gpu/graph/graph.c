/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/graph/graph.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "interpose/channels.h"
#include "interpose/gpu/capture_state.h"
#include "interpose/gpu/driver/cuda.h"
#include "interpose/gpu/time.h"
#include "interpose/recorder.h"
#include "trace/block.h"
#include "trace/ops.h"

/* size: how many runs are copied at a time with the lock: less than a microsecond, 2 KB. */
#define RECORDS_AT_ONCE 32u

static int is_wanted;
static _Atomic uint32_t n_lost; /* captured ops that are in no list */

/* Names of launching functions, interned when recording starts. */
static const char *const symbols[] = { "cudaGraphLaunch", "cudaGraphLaunch_ptsz", "cuGraphLaunch",
				       "cuGraphLaunch_ptsz" };
#define SYMBOLS (sizeof(symbols) / sizeof(symbols[0]))
static uint16_t call_ids[SYMBOLS];

/* size: captures that have begun, few at a time: of a spoilt one CUDA does not report the number
 * any more. With the lock. */
#define BEGUN 64u
static struct {
	CUstream stream;
	uintptr_t capture; /* 0: free */
	int adds;	   /* to a graph that there is */
} begun[BEGUN];

int ct_graph_init(int list)
{
	is_wanted = list;
	atomic_store_explicit(&ct_graph_used, 0, memory_order_relaxed);
	atomic_store_explicit(&n_lost, 0, memory_order_relaxed);
	memset(begun, 0, sizeof(begun));
	for (size_t i = 0; i < SYMBOLS; i++)
		call_ids[i] = (uint16_t)ct_ring_string(&ct_recorder.ring, symbols[i]);
	return ct_graph_table_init();
}

static void lose(uint32_t n)
{
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_GRAPH_LOST, n);
}

/* The capture that the stream is in, 0: none, or unknown. */
static uintptr_t capture_of(CUstream stream)
{
	const struct ct_cuda *cuda = ct_cuda_find();
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	uint64_t id = 0;
	int saved = errno;

	if (!cuda || !cuda->stream_capture_info ||
	    cuda->stream_capture_info(stream, &status, &id, NULL, NULL, NULL) != CUDA_SUCCESS ||
	    status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
		id = 0;
	errno = saved;
	return (uintptr_t)id;
}

int ct_graph_op(struct ct_op *op, struct ct_traced_comm *comm, CUstream stream, uint64_t bytes)
{
	const struct ct_graph_run run = {
		.op = op->op,
		.dtype = op->dtype,
		.redop = op->redop,
		.peer = op->peer,
		.count = op->count,
		.n = 1,
	};
	struct ct_graph_list *list = NULL;
	uintptr_t capture = capture_of(stream);

	op->flags |= CT_OP_CAPTURED;
	op->launch = 0;
	op->seq = 0;
	if (capture && comm->id && ct_graph_lock()) {
		list = ct_graph_add(capture, comm, &run, bytes, &op->seq);
		op->launch = list ? atomic_load_explicit(&list->number, memory_order_relaxed) : 0;
		ct_graph_unlock();
	}
	if (list)
		return 1;
	/* a spoilt capture becomes no graph */
	if (capture) {
		lose(1);
		atomic_fetch_add_explicit(&n_lost, 1, memory_order_relaxed);
	}
	return 0;
}

/* ---- which graph has which list
 * ------------------------------------------------------------------------------- */

void ct_graph_begun(CUstream stream, int into_graph)
{
	uintptr_t capture = capture_of(stream);
	uint32_t at = BEGUN;

	atomic_store_explicit(&ct_graph_used, 1, memory_order_relaxed);
	if (!capture || !ct_graph_lock())
		return;
	for (uint32_t i = 0; i < BEGUN; i++) {
		/* one that was given up with its stream */
		if (begun[i].capture && begun[i].stream == stream) {
			ct_graph_set(CT_GRAPH_CAPTURE, begun[i].capture, NULL);
			begun[i].capture = 0;
		}
		if (!begun[i].capture)
			at = i;
	}
	if (at < BEGUN) {
		begun[at].stream = stream;
		begun[at].capture = capture;
		begun[at].adds = into_graph;
	}
	ct_graph_unlock();
	if (at == BEGUN && into_graph)
		lose(1);
}

void ct_graph_end(struct ct_graph_call *call, CUstream stream)
{
	call->capture = capture_of(stream);
	call->adds = 0;
	if (!ct_graph_lock())
		return;
	for (uint32_t i = 0; i < BEGUN; i++) {
		if (!begun[i].capture || begun[i].stream != stream)
			continue;
		call->capture = begun[i].capture;
		call->adds = begun[i].adds;
		begun[i].capture = 0;
	}
	ct_graph_unlock();
}

static void set(enum ct_graph_kind kind, uintptr_t handle, struct ct_graph_list *list)
{
	if (!ct_graph_set(kind, handle, list))
		lose(1);
}

void ct_graph_ended(const struct ct_graph_call *call, CUgraph graph)
{
	int adds = call->adds;
	struct ct_graph_list *list, *before;

	if (!ct_graph_lock())
		return;
	list = call->capture ? ct_graph_find(CT_GRAPH_CAPTURE, call->capture) : NULL;
	before = adds ? ct_graph_find(CT_GRAPH_GRAPH, (uintptr_t)graph) : NULL;
	/* a graph that is new is rid of what another one of its handle had */
	if (!adds || (list && !before))
		set(CT_GRAPH_GRAPH, (uintptr_t)graph, list);
	else if (list && !ct_graph_join(CT_GRAPH_GRAPH, (uintptr_t)graph, before, list))
		lose(1);
	if (call->capture)
		ct_graph_set(CT_GRAPH_CAPTURE, call->capture, NULL);
	ct_graph_unlock();
}

void ct_graph_end_failed(const struct ct_graph_call *call)
{
	if (!call->capture || !ct_graph_lock())
		return;
	ct_graph_set(CT_GRAPH_CAPTURE, call->capture, NULL);
	ct_graph_unlock();
}

void ct_graph_cloned(CUgraph clone, CUgraph graph)
{
	if (!ct_graph_lock())
		return;
	set(CT_GRAPH_GRAPH, (uintptr_t)clone, ct_graph_find(CT_GRAPH_GRAPH, (uintptr_t)graph));
	ct_graph_unlock();
}

void ct_graph_child_added(CUgraph graph, CUgraph child)
{
	struct ct_graph_list *its;

	if (!ct_graph_lock())
		return;
	its = ct_graph_find(CT_GRAPH_GRAPH, (uintptr_t)child);
	if (its && !ct_graph_join(CT_GRAPH_GRAPH, (uintptr_t)graph,
				  ct_graph_find(CT_GRAPH_GRAPH, (uintptr_t)graph), its))
		lose(1);
	ct_graph_unlock();
}

/* Runs of one communicator as records, some of them; *next advances. */
struct part_counts {
	struct ct_graph_rec recs[RECORDS_AT_ONCE];
	uint32_t n;
};

/* With the lock. Of list `number`, part `part`, from run *next on; *next is 0 behind the last. */
static void take_runs(const struct ct_graph_list *list, const struct ct_graph_table_part *part,
		      uint32_t *next, uint32_t *first, struct part_counts *batch)
{
	const struct ct_graph_run *run;

	for (batch->n = 0; batch->n < RECORDS_AT_ONCE && (run = ct_graph_run_at(*next));
	     *next = run->next) {
		batch->recs[batch->n++] = (struct ct_graph_rec){
			.list = atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)&list->number,
						     memory_order_relaxed),
			.comm = part->comm_id,
			.n_ops = part->n_ops,
			.n_colls = part->n_colls,
			.bytes = part->bytes,
			.first = *first,
			.n = run->n,
			.count = run->count,
			.peer = run->peer,
			.op = run->op,
			.dtype = run->dtype,
			.redop = run->redop,
		};
		*first += run->n;
	}
}

typedef int take_fn(const struct ct_graph_rec *rec, void *arg);

/* Hands out the records of a list, without the lock. 0, or what take() said. */
static int pass_records(struct ct_graph_list *list, take_fn *take, void *arg)
{
	uint32_t number = atomic_load_explicit(&list->number, memory_order_acquire);
	struct part_counts batch;
	int result = 0;

	for (uint32_t i = 0; i < CT_GRAPH_PARTS && !result; i++) {
		uint32_t next = UINT32_MAX, first = 0;

		while (next && !result) {
			batch.n = 0;
			if (!ct_graph_lock())
				return 0;
			if (list->number != number || i >= list->n_parts)
				next = 0;
			else if (next == UINT32_MAX)
				next = list->parts[i].first;
			take_runs(list, &list->parts[i], &next, &first, &batch);
			ct_graph_unlock();
			for (uint32_t k = 0; k < batch.n && !result; k++)
				result = take(&batch.recs[k], arg);
		}
	}
	return result;
}

static int record(const struct ct_graph_rec *rec, void *arg)
{
	(void)arg;
	ct_recorder_rare(CT_KIND_GRAPH, rec);
	return 0;
}

static int add_to_block(const struct ct_graph_rec *rec, void *block)
{
	return ct_block_add_rare(block, CT_KIND_GRAPH, rec, sizeof(*rec));
}

int ct_graph_again(struct ct_block *block)
{
	struct ct_graph_list *list;
	int result = 0;

	for (uint32_t i = 0; !result && (list = ct_graph_list_at(i)); i++)
		if (atomic_load_explicit(&list->number, memory_order_relaxed) && list->is_written)
			result = pass_records(list, add_to_block, block);
	return result;
}

static void set_exec(CUgraphExec exec, CUgraph graph)
{
	struct ct_graph_list *list;
	int is_new = 0;

	if (!ct_graph_lock())
		return;
	list = ct_graph_find(CT_GRAPH_GRAPH, (uintptr_t)graph);
	set(CT_GRAPH_EXEC, (uintptr_t)exec, list);
	if (list) {
		is_new = !list->is_written;
		list->is_written = 1;
	}
	ct_graph_unlock();
	if (is_new)
		pass_records(list, record, NULL);
}

void ct_graph_instantiated(CUgraphExec exec, CUgraph graph)
{
	if (is_wanted)
		set_exec(exec, graph);
}

void ct_graph_updated(CUgraphExec exec, CUgraph graph)
{
	if (is_wanted)
		set_exec(exec, graph);
}

static void forget(enum ct_graph_kind kind, uintptr_t handle)
{
	if (!ct_graph_find(kind, handle) || !ct_graph_lock())
		return;
	ct_graph_set(kind, handle, NULL);
	ct_graph_unlock();
}

void ct_graph_destroyed(CUgraph graph)
{
	forget(CT_GRAPH_GRAPH, (uintptr_t)graph);
}

void ct_graph_exec_destroyed(CUgraphExec exec)
{
	forget(CT_GRAPH_EXEC, (uintptr_t)exec);
}

/* ---- launches
 * ----------------------------------------------------------------------------------------------------
 */

static uint16_t call_id(const char *symbol)
{
	for (size_t i = 0; i < SYMBOLS; i++)
		if (strcmp(symbols[i], symbol) == 0)
			return call_ids[i];
	return 0;
}

/* The orders of the part's transfers continue. */
static void pass_transfers(const struct ct_graph_table_part *part)
{
	if (part->n_colls == part->n_ops)
		return;
	for (const struct ct_graph_run *r = ct_graph_run_at(part->first); r;
	     r = ct_graph_run_at(r->next)) {
		if (ct_op_class(r->op) != CT_CLASS_P2P)
			continue;
		for (uint32_t i = 0; i < r->n; i++)
			ct_channels_next(part->comm_id, r->op == CT_OP_Send ? CT_SEND : CT_RECV,
					 r->peer, 0);
	}
}

/* One communicator's op, and its events before the launch. */
static void begin_part(struct ct_graph_call *call, const struct ct_graph_list *list,
		       const struct ct_graph_table_part *part, CUstream stream,
		       enum ct_gpu_capture asked, uint16_t name)
{
	struct ct_traced_comm *comm = part->comm;
	struct ct_frame *frame = ct_self.frame;
	struct ct_op_frame f;
	struct ct_op op = {
		.op = CT_OP_GraphLaunch,
		.call = name,
		.peer = -1,
		.tag = atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)&list->number,
					    memory_order_relaxed),
		.flags = ct_gpu_op_flags,
		.count = part->n_colls,
		.seq = atomic_fetch_add_explicit(&comm->entry->next_seq, part->n_colls,
						 memory_order_relaxed),
	};

	pass_transfers(part);
	op.launch = ct_recorder_slot_launch();
	ct_op_begin(&f, comm, &op);
	ct_self.frame = frame;
	call->on[call->n].op = f;
	call->on[call->n].span = ct_gpu_begin(&(struct ct_gpu_launch){
		.enter_ns = f.enter_ns,
		.seq = op.seq,
		.bytes = part->bytes,
		.stream = stream,
		.id = op.launch,
		.comm = comm->id,
		.n_ops = 1,
		.device = comm->device,
		.asked = asked,
		.peer = -1,
		.op = CT_OP_GraphLaunch,
	});
	call->n++;
}

void ct_graph_launch(struct ct_graph_call *call, CUgraphExec exec, CUstream stream,
		     const char *symbol)
{
	const struct ct_graph_list *list = ct_graph_find(CT_GRAPH_EXEC, (uintptr_t)exec);
	enum ct_gpu_capture asked;
	CUcontext current;

	call->n = 0;
	call->capture = 0;
	if (!is_wanted)
		return;
	/* without a list it may be the one that holds what was lost */
	if (list ? list->is_partial : atomic_load_explicit(&n_lost, memory_order_relaxed) != 0)
		lose(1);
	if (!list || !list->n_parts)
		return;
	asked = ct_gpu_capture_state(stream, list->parts[0].comm->device, &current);
	if (asked == CT_GPU_CAPTURED) {
		call->capture = capture_of(stream);
		if (!call->capture || !ct_graph_lock())
			return;
		if (!ct_graph_add_all(call->capture, list))
			lose(1);
		ct_graph_unlock();
		return;
	}
	for (uint32_t i = 0; i < list->n_parts; i++) {
		const struct ct_graph_table_part *part = &list->parts[i];

		if (part->comm->id == part->comm_id)
			begin_part(call, list, part, stream, asked, call_id(symbol));
		else
			lose(1); /* its communicator is gone */
	}
}

void ct_graph_launched(struct ct_graph_call *call, int result)
{
	uint64_t now = call->n ? ct_now_ns() : 0;

	for (uint32_t i = 0; i < call->n; i++) {
		if (result == 0)
			ct_gpu_end(call->on[i].span);
		else
			ct_gpu_drop(call->on[i].span, result);
		ct_op_store_end(&call->on[i].op, now, result);
	}
	call->n = 0;
}
