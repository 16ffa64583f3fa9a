/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that bypass the wrappers, recorded from NCCL's events.
 *
 * A collective is on record when its call begins. A send or receive is when it is launched: only
 * then its peer is reported; its call's times are kept until then. (Captured into a graph it is
 * never reported, and recorded at once, without a peer.) What the interface calls a call is the
 * part of it that puts the op into its group: without a group it launches afterwards. Before v5 not
 * even that is reported: the op begins and ends where its work is enqueued. A launch is what one
 * group puts on one communicator, before v5 one plan of kernels. All-to-all, gather and scatter are
 * reported, and recorded, as the sends and receives that they are made of.
 */
#include "interpose/channels.h"
#include "interpose/nccl/group.h"
#include "interpose/nccl/nccl.h"
#include "interpose/profiler/event.h"
#include "interpose/profiler/handle.h"
#include "interpose/recorder.h"
#include "trace/ops.h"

static struct ct_traced_comm *own_comm(struct ct_profiler_comm *c,
				       const struct ct_profiler_event *e)
{
	struct ct_traced_comm *own = atomic_load_explicit(&c->own, memory_order_acquire);
	const struct ct_comm_spec spec = {
		.handle = { c, NULL },
		.key = c->hash ? c->hash : e->comm_hash,
		.source = CT_KEY_LIBRARY,
		.backend = CT_BACKEND_NCCL,
		.nranks = (uint32_t)c->n_ranks,
		.rank = c->n_ranks ? c->rank : e->rank,
		.name = c->name,
		.device = c->device,
	};

	if (!own) {
		own = ct_comms_create(&spec);
		atomic_store_explicit(&c->own, own, memory_order_release);
	}
	return own;
}

static int is_p2p(uint8_t op)
{
	return op == CT_OP_Send || op == CT_OP_Recv;
}

static void begin_launch(struct ct_profiler_comm *c, const struct ct_traced_comm *own, uint8_t op,
			 const struct ct_profiler_event *e)
{
	const struct ct_gpu_launch launch = {
		.enter_ns = ct_now_ns(),
		.bytes = e ? e->count * ct_dtype_bytes(ct_profiler_dtype(e->type_name)) : 0,
		.stream = e ? e->stream : NULL,
		.id = ct_recorder_launch_id(),
		.comm = own->id,
		.n_ops = 1,
		.device = own->device,
		.peer = e ? e->peer : -1,
		.op = op,
	};

	c->launch = launch.id;
	c->profiled = 0;
	if (ct_profiler_has_times(c))
		c->profiled = ct_gpu_profiled_number(ct_gpu_begin_profiled(&launch));
	else
		ct_nccl_untimed(launch.id, own->id, 1, 0);
}

/* Its record, with the end if it has returned. NULL: it is lost, or needs no end any more. */
static struct ct_slot *publish(struct ct_op *op, const struct ct_traced_comm *own,
			       uint64_t return_ns)
{
	struct ct_slot *slot = ct_recorder_slot();
	uint64_t w[8];

	op->comm = own->id;
	op->flags |= CT_OP_PLUGIN | ct_gpu_op_flags;
	atomic_store_explicit(&own->entry->last_enter, op->enter_ns, memory_order_relaxed);
	atomic_store_explicit(&own->entry->last_op, op->op, memory_order_relaxed);
	if (!slot)
		return NULL;
	ct_op_pack(op, w);
	w[CT_OP_W_END] = return_ns ? ct_op_end_word(op->enter_ns, return_ns, 0) : 0;
	ct_slot_publish(slot, CT_TAG(ct_self.lane.lap, CT_KIND_OP, op->call), w);
	return return_ns ? NULL : slot;
}

static void end(struct ct_slot *slot)
{
	uint64_t enter_ns = atomic_load_explicit(&slot->w[CT_OP_W_ENTER], memory_order_relaxed);

	atomic_store_explicit(&slot->w[CT_OP_W_END], ct_op_end_word(enter_ns, ct_now_ns(), 0),
			      memory_order_release);
}

static uint64_t next_seq(const struct ct_traced_comm *own, uint8_t op, int32_t peer)
{
	if (is_p2p(op))
		return ct_channels_next(own->id, op == CT_OP_Send ? CT_SEND : CT_RECV, peer, 0);
	return atomic_fetch_add_explicit(&own->entry->next_seq, 1, memory_order_relaxed);
}

/* As in the event, except for its times. */
static struct ct_op op_of(const struct ct_traced_comm *own, const struct ct_profiler_event *e,
			  uint32_t launch)
{
	struct ct_op op = {
		.count = e->count,
		.launch = launch,
		.peer = e->peer,
		.dtype = ct_profiler_dtype(e->type_name),
	};

	op.op = ct_profiler_op(e->func, &op.call);
	op.seq = next_seq(own, op.op, e->peer);
	/* not rooted: NCCL reports a root nevertheless */
	if (ct_op_class(op.op) == CT_CLASS_SYNC)
		op.peer = -1;
	return op;
}

void *ct_profiler_alone_call(struct ct_profiler_comm *c, const struct ct_profiler_event *e)
{
	struct ct_traced_comm *own = own_comm(c, e);
	struct ct_profiler_says s = {
		.kind = CT_PROFILER_CALL,
		.op = ct_profiler_op(e->func, NULL),
		.alone = 1,
		.comm = ct_profiler_number(c),
		.enter_ns = ct_now_ns(),
	};
	struct ct_op op;
	void *handle;

	if (!own || !s.op) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_PLUGIN_UNLINKED, 1);
		return NULL;
	}
	if (!e->captured) {
		if (!e->parent || c->group != e->parent)
			begin_launch(c, own, s.op, e);
		else
			ct_gpu_profiled_more(c->profiled, c->launch);
		c->group = e->parent;
		s.launch = c->launch;
		s.profiled = c->profiled;
	}
	s.comm_id = own->id;
	if (!is_p2p(s.op) || e->captured) {
		op = op_of(own, e, s.launch);
		op.enter_ns = s.enter_ns;
		op.flags = e->captured ? CT_OP_CAPTURED : 0;
		s.has_seq = 1;
		s.seq = op.seq;
		s.slot = publish(&op, own, e->captured ? s.enter_ns : 0);
	}
	/* no later event belongs to it: neither its end, nor those of each launch of its graph */
	if (e->captured)
		return NULL;
	handle = ct_profiler_handle_take(&s);
	if (!handle && s.slot)
		end(s.slot);
	return handle;
}

void *ct_profiler_alone_plan(struct ct_profiler_comm *c)
{
	struct ct_profiler_says s = {
		.kind = CT_PROFILER_PLAN,
		.alone = 1,
		.comm = ct_profiler_number(c),
	};

	/* the launch begins with the first of its tasks, which names the communicator */
	c->launch = c->profiled = 0;
	return ct_profiler_handle_take(&s);
}

/* Before v5: it begins here. */
static int begin_task(struct ct_profiler_comm *c, const struct ct_profiler_event *e,
		      struct ct_profiler_says *s)
{
	struct ct_traced_comm *own = own_comm(c, e);
	struct ct_op op;

	s->op = ct_profiler_op(e->func, NULL);
	if (!own || !s->op) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_PLUGIN_UNLINKED, 1);
		return 0;
	}
	if (!c->launch)
		begin_launch(c, own, s->op, e);
	else
		ct_gpu_profiled_more(c->profiled, c->launch);
	op = op_of(own, e, c->launch);
	op.enter_ns = ct_now_ns();
	s->comm_id = own->id;
	s->launch = c->launch;
	s->profiled = c->profiled;
	s->has_seq = 1;
	s->seq = op.seq;
	s->slot = publish(&op, own, 0);
	return 1;
}

int ct_profiler_alone_task(struct ct_profiler_comm *c, const struct ct_profiler_event *e,
			   struct ct_profiler_says *s)
{
	struct ct_traced_comm *own = atomic_load_explicit(&c->own, memory_order_acquire);
	struct ct_op op;

	if (s->kind != CT_PROFILER_CALL)
		return begin_task(c, e, s);
	if (!s->launch || !own)
		return 0;
	if (!is_p2p(s->op))
		return 1;
	op = op_of(own, e, s->launch);
	op.enter_ns = s->enter_ns;
	publish(&op, own, s->return_ns ? s->return_ns : ct_now_ns());
	s->has_seq = 1;
	s->seq = op.seq;
	return 1;
}

void ct_profiler_alone_stop(const void *handle, const struct ct_profiler_says *s)
{
	struct ct_slot *slot = handle ? ct_profiler_handle_slot(handle) : s->slot;

	if (slot)
		end(slot);
	if (handle && s->kind == CT_PROFILER_CALL)
		ct_profiler_handle_returned(handle, ct_now_ns());
	if (handle && s->kind == CT_PROFILER_PLAN) {
		struct ct_profiler_comm *c = ct_profiler_nth(s->comm);

		ct_gpu_profiled_called(c->profiled, c->launch);
	}
}
