/* SPDX-License-Identifier: Apache-2.0 */
/* weave.c — the faults of a rank, put into one part of its life. */
#include "tools/workload/step.h"

struct loom {
	struct ct_weave *weave;
	const struct ct_workload *w;
	const struct ct_step *from;
	struct ct_step *to;
	const struct ct_fault *fault; /* the one being looked at */
	size_t which;
	int in_group;
};

static int is_of(const struct ct_workload *w, const struct ct_fault *fault, int rank)
{
	if (ct_fault_has(fault, CT_KEY_rank))
		return fault->rank == rank;
	if (ct_fault_has(fault, CT_KEY_ranks))
		return fault->ranks[0] == rank || fault->ranks[1] == rank;
	if (ct_fault_has(fault, CT_KEY_host))
		return fault->host == ct_workload_node(w, rank);
	return 1;
}

static int is_mine(const struct loom *l)
{
	return is_of(l->w, l->fault, l->to->rank);
}

int ct_weave_has(const struct ct_workload *w, int rank)
{
	for (size_t i = 0; i < w->config.n_faults; i++) {
		if (is_of(w, &w->faults[i], rank))
			return 1;
	}
	return 0;
}

void ct_weave_nothing(struct ct_weave *weave, struct ct_step *step)
{
	for (size_t i = 0; i < step->count; i++) {
		if (step->at[i].kind == CT_ACTION_OP)
			step->at[i].op.index = weave->index++;
	}
}

static struct ct_action *put(struct loom *l, enum ct_action_kind kind, int stream)
{
	struct ct_action *action = ct_step_add(l->to, kind, stream);

	action->fault = l->fault;
	l->weave->hits[l->which] = 1;
	return action;
}

static uint64_t as_ns(double ms)
{
	return (uint64_t)(ms * 1e6);
}

static struct ct_workload_op pair_op(const struct loom *l, int comm, unsigned op, int peer,
				     uint64_t count, uint32_t number)
{
	const uint64_t key = ct_workload_mix(ct_workload_mix(l->to->number, (uint64_t)comm),
					     2ULL << 32);

	return (struct ct_workload_op){
		.op = (uint8_t)op,
		.dtype = CT_DTYPE_float32,
		.redop = op == CT_OP_AllReduce ? CT_REDOP_sum : 0,
		.in_place = op == CT_OP_AllReduce,
		.comm = comm,
		.peer = peer,
		.count = count,
		.index = UINT64_MAX,
		.key = key,
		/* Far behind all that workloads use. */
		.slot = (1u << 20) + number,
		.bent = 1,
	};
}

static void put_op(struct loom *l, int stream, const struct ct_workload_op *op)
{
	struct ct_action *action;

	action = put(l, CT_ACTION_PRODUCE, stream);
	action->op = *op;
	action->comm = op->comm;
	action = put(l, CT_ACTION_OP, stream);
	action->op = *op;
	action->comm = op->comm;
}

/* Both send 1 MB first, and no send ends before it is received. */
static void unbatched(struct loom *l)
{
	const int other = l->fault->ranks[l->to->rank == l->fault->ranks[0]];
	const int peer = ct_workload_peer(l->w, 0, other);
	const struct ct_workload_op send = pair_op(l, 0, CT_OP_Send, peer, 1 << 18, 0);
	const struct ct_workload_op receive = pair_op(l, 0, CT_OP_Recv, peer, 1 << 18, 1);

	put_op(l, CT_STREAM_COMPUTE, &send);
	put_op(l, CT_STREAM_COMPUTE, &receive);
}

static void order_inversion(struct loom *l)
{
	const int second = l->to->rank == l->fault->ranks[1];

	for (int k = 0; k < 2; k++) {
		const struct ct_workload_op op = pair_op(l, l->w->pair + (k ^ second),
							 CT_OP_AllReduce, -1, 1 << 14,
							 2 + (uint32_t)(k ^ second));
		put_op(l, CT_STREAM_COMPUTE, &op);
	}
}

/* Each on the stream of its communicator; what is computed afterwards waits for both. */
static void kernel_inversion(struct loom *l)
{
	const int second = l->to->rank == l->fault->ranks[1];

	put(l, CT_ACTION_CROWD, CT_STREAM_COMPUTE);
	for (int k = 0; k < 2; k++) {
		const int comm = l->w->pair + (k ^ second);
		const int stream = ct_workload_comm_stream(comm);
		const struct ct_workload_op op = pair_op(l, comm, CT_OP_AllReduce, -1, 1 << 14,
							 2 + (uint32_t)(k ^ second));

		/* The first one has taken the SMs before the second one comes. */
		if (k == 1)
			put(l, CT_ACTION_HOST, CT_STREAM_COMPUTE)->ns = as_ns(50);
		put_op(l, stream, &op);
		put(l, CT_ACTION_RECORD, stream)->event = CT_EVENT_FAULT;
		put(l, CT_ACTION_WAIT, CT_STREAM_COMPUTE)->event = CT_EVENT_FAULT;
	}
}

static void host_inversion(struct loom *l)
{
	const int second = l->to->rank == l->fault->ranks[1];

	for (int k = 0; k < 2; k++)
		put(l, CT_ACTION_INIT, CT_STREAM_COMPUTE)->comm = l->w->pair + (k ^ second);
}

static int is_turn(const struct ct_fault *fault, uint64_t step)
{
	if (!ct_fault_has(fault, CT_KEY_every))
		return 1;
	return (step - fault->from) % fault->every == fault->every - 1;
}

static int is_rotating_here(const struct loom *l, uint64_t step)
{
	const uint64_t turn = (step - l->fault->from) / l->fault->every;

	return ct_workload_mix(l->w->config.seed, turn) % (uint64_t)l->w->config.ranks ==
	       (uint64_t)l->to->rank;
}

static void in_range(struct loom *l, uint64_t step)
{
	const struct ct_fault *fault = l->fault;
	const uint64_t ns = as_ns(fault->ms);

	switch (fault->kind) {
	case CT_FAULT_LATE_HOST:
		put(l, CT_ACTION_HOST, CT_STREAM_COMPUTE)->ns = ns;
		break;
	case CT_FAULT_PAUSE:
		if (is_turn(fault, step))
			put(l, CT_ACTION_HOST, CT_STREAM_COMPUTE)->ns = ns;
		break;
	case CT_FAULT_ROTATING:
		if (is_turn(fault, step) && is_rotating_here(l, step))
			put(l, CT_ACTION_HOST, CT_STREAM_COMPUTE)->ns = ns;
		break;
	case CT_FAULT_STARVE_SM:
		if (is_turn(fault, step))
			put(l, CT_ACTION_STARVE, CT_STREAM_COMPUTE)->ns = ns;
		break;
	case CT_FAULT_GPU_PAUSE:
		if (ct_fault_has(fault, CT_KEY_every) ? is_turn(fault, step) : step == fault->from)
			put(l, CT_ACTION_PAUSE_GPU, CT_STREAM_COMPUTE)->ns = ns;
		break;
	case CT_FAULT_DRIVER_LOCK:
		if (step == fault->from)
			put(l, CT_ACTION_LOCK, CT_STREAM_COMPUTE)->ns = as_ns(fault->s * 1000);
		break;
	case CT_FAULT_SLOW_WRITE:
		if (step == fault->from)
			put(l, CT_ACTION_HANG_DISK, CT_STREAM_COMPUTE)->ns = as_ns(fault->s * 1000);
		break;
	case CT_FAULT_SLOW_LINK:
		if (step == fault->from)
			put(l, CT_ACTION_SLOW_LINK, CT_STREAM_COMPUTE)->factor = fault->factor;
		break;
	case CT_FAULT_UNBATCHED_P2P:
		if (step == fault->from)
			unbatched(l);
		break;
	case CT_FAULT_KERNEL_INVERSION:
		if (step == fault->from)
			kernel_inversion(l);
		break;
	case CT_FAULT_ORDER_INVERSION:
		if (step == fault->from)
			order_inversion(l);
		break;
	case CT_FAULT_HOST_INVERSION:
		if (step == fault->from)
			host_inversion(l);
		break;
	default:
		break;
	}
}

static void step_begins(struct loom *l)
{
	const uint64_t step = l->to->number;

	if (l->fault->kind == CT_FAULT_SLOW_LINK && step > 0 && step - 1 == l->fault->to)
		put(l, CT_ACTION_SLOW_LINK, CT_STREAM_COMPUTE)->factor = 1;
	if (step >= l->fault->from && step <= l->fault->to)
		in_range(l, step);
}

/* Computing takes longer: each kernel by a part, or the first of the step by so many ms. */
static void slow_down(struct loom *l, struct ct_action *action, int is_first)
{
	const struct ct_fault *fault = l->fault;

	if ((fault->kind != CT_FAULT_SLOW_RANK && fault->kind != CT_FAULT_SLOW_HOST) ||
	    action->step < fault->from || action->step > fault->to)
		return;
	if (ct_fault_has(fault, CT_KEY_pct))
		action->ns += (uint64_t)((double)action->ns * fault->pct / 100);
	else if (is_first)
		action->ns += as_ns(fault->ms);
	l->weave->hits[l->which] = 1;
}

static void before_call(struct loom *l, const struct ct_action *action)
{
	static const struct {
		enum ct_action_kind action;
		enum ct_fault_call call;
	} calls[] = { { CT_ACTION_INIT, CT_CALL_init },
		      { CT_ACTION_SPLIT, CT_CALL_split },
		      { CT_ACTION_FINALIZE, CT_CALL_finalize } };

	if (l->weave->hits[l->which])
		return;
	if (l->fault->kind == CT_FAULT_SKIP_INIT && action->kind == CT_ACTION_INIT)
		put(l, CT_ACTION_STOP, CT_STREAM_COMPUTE);
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (l->fault->kind == CT_FAULT_HOST_STALL && l->fault->call == calls[i].call &&
		    action->kind == calls[i].action)
			put(l, CT_ACTION_STALL_CALL, CT_STREAM_COMPUTE);
	}
}

/* Into no communicator of its own: the others need not know what would become of it. */
static void stray_split(struct loom *l, const struct ct_action *op)
{
	struct ct_action *action = put(l, CT_ACTION_SPLIT, CT_STREAM_COMPUTE);

	action->parent = op->comm;
	action->colour = -1;
	action->order = l->to->rank;
}

/* Before what launches the op of the fault: the op itself, or the group it is in. */
static void before_launch(struct loom *l, const struct ct_action *action)
{
	switch (l->fault->kind) {
	case CT_FAULT_MISSING:
		put(l, CT_ACTION_STOP, action->stream);
		break;
	case CT_FAULT_EXIT:
		put(l, CT_ACTION_EXIT, action->stream);
		break;
	case CT_FAULT_BLOCK_STREAM:
		put(l, CT_ACTION_BLOCK, action->stream);
		break;
	case CT_FAULT_ASYNC_ERROR:
		put(l, CT_ACTION_FAIL, action->stream)->comm = action->comm;
		break;
	case CT_FAULT_ABORT_COMPLETES:
	case CT_FAULT_TRANSPORT_STALL:
		put(l, CT_ACTION_HANG, action->stream)->comm = action->comm;
		break;
	case CT_FAULT_NEVER_ENDS:
		put(l, CT_ACTION_LINGER, action->stream)->comm = action->comm;
		break;
	case CT_FAULT_STRAY_SPLIT:
		stray_split(l, action);
		break;
	case CT_FAULT_HOST_STALL:
		put(l, CT_ACTION_STALL_CALL, action->stream);
		break;
	default:
		break;
	}
}

static int bend(const struct ct_workload *w, enum ct_fault_field field, struct ct_workload_op *op)
{
	const int is_p2p = op->op == CT_OP_Send || op->op == CT_OP_Recv;

	op->bent = 1;
	switch (field) {
	case CT_FIELD_op:
		if (is_p2p) {
			op->op = op->op == CT_OP_Send ? CT_OP_Recv : CT_OP_Send;
		} else if (op->op == CT_OP_AllReduce) {
			op->op = CT_OP_Broadcast;
			op->redop = 0;
			op->peer = 0;
		} else {
			op->op = CT_OP_AllReduce;
			op->redop = CT_REDOP_sum;
			op->peer = -1;
		}
		return 1;
	case CT_FIELD_count:
		op->count = op->count > 1 ? op->count / 2 : 0;
		return 1;
	case CT_FIELD_dtype:
		op->dtype = op->dtype == CT_DTYPE_float32    ? CT_DTYPE_bfloat16
			    : op->dtype == CT_DTYPE_bfloat16 ? CT_DTYPE_float16
							     : CT_DTYPE_int8;
		return 1;
	case CT_FIELD_redop:
		op->bent = op->redop != 0;
		if (op->redop)
			op->redop = op->redop == CT_REDOP_sum ? CT_REDOP_max : CT_REDOP_sum;
		return op->bent;
	case CT_FIELD_root:
		op->bent = !is_p2p && op->peer >= 0;
		if (op->bent)
			op->peer = (op->peer + 1) % ct_workload_comm(w, op->comm)->n;
		return op->bent;
	}
	return 0;
}

/* The op itself. *times: how often it is issued. */
static void at_op(struct loom *l, struct ct_action *action, int *times)
{
	const struct ct_fault *fault = l->fault;
	struct ct_workload_op *op = &action->op;
	const int is_it = ct_fault_has(fault, CT_KEY_op) && op->index == fault->op;

	switch (fault->kind) {
	case CT_FAULT_SKIP:
	case CT_FAULT_EXTRA:
		if (is_it) {
			*times = fault->kind == CT_FAULT_SKIP ? 0 : 2;
			l->weave->hits[l->which] = 1;
		}
		break;
	case CT_FAULT_SKIP_SEND:
		if (!l->weave->hits[l->which] && op->op == CT_OP_Send && op->index >= fault->op &&
		    ct_workload_member(l->w, op->comm, op->peer) == fault->peer) {
			*times = 0;
			l->weave->hits[l->which] = 1;
		}
		break;
	case CT_FAULT_MISMATCH:
		if (is_it)
			l->weave->hits[l->which] = (uint8_t)bend(l->w, fault->field, op);
		break;
	case CT_FAULT_KILL:
		if (is_it)
			put(l, CT_ACTION_KILL, action->stream);
		break;
	default:
		break;
	}
}

/* Ops of what is launched by `action` or by the group it begins. */
static uint64_t ops_launched(const struct loom *l, size_t at, const struct ct_action **first)
{
	uint64_t n = 0;

	*first = NULL;
	for (size_t i = at; i < l->from->count; i++) {
		if (l->from->at[i].kind == CT_ACTION_OP) {
			*first = *first ? *first : &l->from->at[i];
			n++;
		}
		if (l->from->at[at].kind == CT_ACTION_OP ||
		    l->from->at[i].kind == CT_ACTION_GROUP_END)
			break;
	}
	return n;
}

static void each_fault(struct loom *l, size_t at, void (*look)(struct loom *l, size_t at))
{
	for (l->which = 0; l->which < l->w->config.n_faults; l->which++) {
		l->fault = &l->w->faults[l->which];
		if (is_mine(l))
			look(l, at);
	}
	l->fault = NULL;
}

static void look_before(struct loom *l, size_t at)
{
	const struct ct_action *action = &l->from->at[at], *first;
	const uint64_t index = l->weave->index;

	before_call(l, action);
	if (!ct_fault_has(l->fault, CT_KEY_op))
		return;
	if (action->kind != CT_ACTION_GROUP_BEGIN && (action->kind != CT_ACTION_OP || l->in_group))
		return;
	if (l->fault->op >= index && l->fault->op - index < ops_launched(l, at, &first))
		before_launch(l, first);
}

static void look_inside(struct loom *l, size_t at)
{
	(void)at;
	step_begins(l);
}

static void weave_op(struct loom *l, const struct ct_action *plain)
{
	struct ct_action action = *plain;
	int times = 1;

	action.op.index = l->weave->index++;
	for (l->which = 0; l->which < l->w->config.n_faults; l->which++) {
		l->fault = &l->w->faults[l->which];
		if (is_mine(l))
			at_op(l, &action, &times);
	}
	for (int i = 0; i < times; i++)
		*ct_step_add(l->to, action.kind, action.stream) = action;
}

static void weave_compute(struct loom *l, const struct ct_action *plain, int is_first)
{
	struct ct_action action = *plain;

	for (l->which = 0; l->which < l->w->config.n_faults; l->which++) {
		l->fault = &l->w->faults[l->which];
		if (is_mine(l))
			slow_down(l, &action, is_first);
	}
	*ct_step_add(l->to, action.kind, action.stream) = action;
}

void ct_weave(struct ct_weave *weave, const struct ct_step *from, struct ct_step *to)
{
	struct loom l = { .weave = weave, .w = from->w, .from = from, .to = to };
	int computed = 0;

	for (size_t i = 0; i < from->count; i++) {
		const struct ct_action *action = &from->at[i];

		each_fault(&l, i, look_before);
		if (action->kind == CT_ACTION_OP)
			weave_op(&l, action);
		else if (action->kind == CT_ACTION_COMPUTE)
			weave_compute(&l, action, computed++ == 0);
		else
			*ct_step_add(to, action->kind, action->stream) = *action;
		if (action->kind == CT_ACTION_STEP_BEGIN)
			each_fault(&l, i, look_inside);
		if (action->kind == CT_ACTION_GROUP_BEGIN)
			l.in_group = 1;
		if (action->kind == CT_ACTION_GROUP_END)
			l.in_group = 0;
	}
}
