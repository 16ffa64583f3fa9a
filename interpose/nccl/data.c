/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/capture_state.h"
#include "interpose/gpu/channels.h"
#include "interpose/gpu/graph.h"
#include "interpose/gpu/sampling.h"
#include "interpose/nccl/async_ops.h"
#include "interpose/nccl/failed.h"
#include "interpose/nccl/group.h"
#include "interpose/nccl/nccl.h"
#include "interpose/unwind.h"

int ct_nccl_init(int wanted)
{
	ct_nccl_is_wanted = wanted;
	if (ct_nccl_group_init() != CT_OK || ct_nccl_async_init() != CT_OK)
		return CT_NOMEM;
	for (int i = 0; i < CT_NCCL_CALLS; i++)
		ct_nccl_call_ids[i] = (uint16_t)ct_ring_string(&ct_recorder.ring,
							       ct_nccl_reals[i].symbol);
	return CT_OK;
}

/* The functions from here on are inlined into one body for each row, where the row's columns are constants. */
#define EACH_ROW inline __attribute__((always_inline))

struct element {
	uint8_t dtype; /* trace/dtypes.def, 0: not known to us */
	uint8_t bytes;
};

static EACH_ROW struct element element_of(ncclDataType_t type)
{
	enum {
#define X(name, id, size) BYTES_##name = (size),
#include "trace/dtypes.def"
#undef X
	};
	static const struct element elements[] = {
#define NCCL_DTYPE(name, value, dtype) [value] = { CT_DTYPE_##dtype, BYTES_##dtype },
#include "interpose/abi/nccl_values.def"
	};

	if ((uint32_t)type < sizeof(elements) / sizeof(elements[0]))
		return elements[type];
	return (struct element){ 0, 1 };
}

static EACH_ROW uint8_t redop_of(int redop)
{
	static const uint8_t redops[] = {
#define NCCL_REDOP(name, value, redop) [value] = CT_REDOP_##redop,
#include "interpose/abi/nccl_values.def"
	};

	if (redop < 0)
		return 0;
	return (uint32_t)redop < sizeof(redops) ? redops[redop] : CT_REDOP_custom;
}

/* What a row says of one call. */
struct nccl_call {
	uint16_t name;
	uint8_t op;
	uint8_t redop;
	int32_t peer;
	uint64_t count;
	ncclDataType_t type;
	ncclComm_t comm;
	CUstream stream;
	const void *library; /* an address in the one that is called */
};

/* How an op's launch comes about. */
enum launch_kind {
	LAUNCH_NONE,  /* no work for the GPU, or none that can be timed */
	LAUNCH_NOW,   /* by this call */
	LAUNCH_GROUP, /* by the end of the group */
	LAUNCH_NEVER, /* captured: by the launch of the graph */
};

struct launch_frame {
	struct ct_op_frame op; /* first */
	struct ct_gpu_span *span;
	ncclComm_t handle;
	CUstream stream;
	uint32_t launch;
	uint32_t comm; /* its id: the communicator itself may end meanwhile */
	enum launch_kind kind;
	uint8_t holds; /* the channels of kernels: what it puts on the stream is captured, or may be */
};

static EACH_ROW int is_p2p(uint8_t op)
{
	return op == CT_OP_Send || op == CT_OP_Recv;
}

/* Into a peer's window, or about it: no peer has to call at the same time. */
static EACH_ROW int is_one_sided(uint8_t op)
{
	return op == CT_OP_Put || op == CT_OP_Signal || op == CT_OP_WaitSignal;
}

/* NCCL makes these of sends and receives. */
static EACH_ROW int is_made_of_p2p(uint8_t op)
{
	return op == CT_OP_AllToAll || op == CT_OP_Gather || op == CT_OP_Scatter;
}

static EACH_ROW enum launch_kind kind_of(const struct nccl_call *c, const struct ct_comm *comm)
{
	int is_collective = !is_p2p(c->op) && !is_one_sided(c->op);

	/* Empty collectives are dropped where they come in; empty sends are sent, and a signal moves nothing anyway. */
	if (!comm->id || (c->count == 0 && is_collective))
		return LAUNCH_NONE;
	if (__builtin_expect(!ct_nccl_in_group(), 1))
		return LAUNCH_NOW;
	/* Alone in its communicator: a copy, at once, not when the group ends. */
	if (comm->nranks == 1 && is_collective && !is_made_of_p2p(c->op))
		return LAUNCH_NOW;
	return LAUNCH_GROUP;
}

static EACH_ROW uint64_t next_seq(const struct nccl_call *c, struct ct_comm *comm)
{
	if (is_p2p(c->op))
		return ct_channels_next(comm->id, c->op == CT_OP_Send ? CT_SEND : CT_RECV, c->peer,
					0);
	/* collectives are matched by their number among collectives */
	if (is_one_sided(c->op))
		return ct_channels_next(comm->id, c->op == CT_OP_WaitSignal ? CT_RECV : CT_SEND,
					c->peer, c->op);
	return atomic_fetch_add_explicit(&comm->entry->next_seq, 1, memory_order_relaxed);
}

static __attribute__((noinline)) void settle_launch(struct launch_frame *f, int result)
{
	if (f->kind == LAUNCH_NONE) {
		ct_nccl_untimed(f->launch, f->comm, 1, result);
	} else if (result == ncclInProgress) {
		ct_nccl_async_passed(f->handle);
		ct_nccl_async_span(f->handle, f->span, f->stream);
	} else {
		ct_gpu_drop(f->span, result);
	}
}

static void leave(struct ct_frame *frame)
{
	struct launch_frame *f = (struct launch_frame *)frame;

	if (f->kind == LAUNCH_NONE || f->kind == LAUNCH_NOW)
		settle_launch(f, CT_RESULT_EXCEPTION);
	if (f->holds)
		ct_gpu_channels_release();
	ct_op_end(&f->op, ct_now_ns(), CT_RESULT_EXCEPTION);
}

static __attribute__((noinline)) void capture(struct ct_op *op, struct ct_comm *comm,
					      const struct nccl_call *c, uint8_t element_bytes)
{
	ct_graph_op(op, comm, c->stream, c->count * element_bytes);
}

int ct_nccl_inside_op(struct ct_nccl_inside *in)
{
	struct ct_frame *frame = ct_guard_frame();
	const struct launch_frame *f = (const struct launch_frame *)frame;
	struct ct_slot *slot;

	if (!frame || frame->leave != leave)
		return 0;
	slot = f->op.slot;
	in->comm = f->comm;
	in->span = f->span;
	in->launch = f->launch;
	in->captured = f->kind == LAUNCH_NEVER;
	in->has_seq = slot != NULL;
	in->seq = slot ? atomic_load_explicit(&slot->w[CT_OP_W_SEQ], memory_order_relaxed) : 0;
	in->op = slot ? (uint8_t)(atomic_load_explicit(&slot->w[CT_OP_W_WHAT],
						       memory_order_relaxed) >>
				  24)
		      : 0;
	return 1;
}

/* Published and, where the call itself launches, begun on the stream. */
static EACH_ROW void begin_launch(struct launch_frame *f, const struct nccl_call *c)
{
	struct ct_comm *comm = ct_nccl_comm(c->comm, c->library);
	struct element element = element_of(c->type);
	enum launch_kind kind = kind_of(c, comm);
	struct ct_nccl_pair *pair = NULL;
	int picked = 1;
	struct ct_op op = {
		.op = c->op,
		.call = c->name,
		.peer = c->peer,
		.redop = c->redop,
		.dtype = element.dtype,
		.flags = ct_gpu_op_flags,
		.count = c->count,
	};
	enum ct_gpu_capture asked;
	CUcontext current = NULL;

	if (kind == LAUNCH_GROUP) {
		pair = ct_nccl_group_pair(comm, c->comm, c->stream);
		kind = pair ? LAUNCH_GROUP : LAUNCH_NONE;
	}
	asked = pair ? pair->launch.asked : ct_gpu_capture_state(c->stream, comm->device, &current);
	if (__builtin_expect(asked == CT_GPU_CAPTURED, 0)) {
		capture(&op, comm, c, element.bytes);
		kind = LAUNCH_NEVER;
		pair = NULL;
	} else {
		op.seq = next_seq(c, comm);
		picked = ct_gpu_is_sampled(comm, op.seq, is_p2p(c->op) || is_one_sided(c->op));
		if (__builtin_expect(!picked, 0) && kind == LAUNCH_NOW)
			op.flags |= CT_OP_UNTIMED;
		op.launch = pair ? pair->launch.id : ct_recorder_slot_launch();
	}
	f->kind = kind;
	f->holds = asked != CT_GPU_FREE;
	if (__builtin_expect(f->holds, 0))
		ct_gpu_channels_hold();
	f->launch = op.launch;
	f->comm = comm->id;
	f->handle = c->comm;
	f->stream = c->stream;
	f->span = NULL;
	ct_op_begin(&f->op, comm, &op);
	f->op.frame.leave = leave;
	if (kind == LAUNCH_NOW && __builtin_expect(picked, 1)) {
		f->span = ct_gpu_begin(&(struct ct_gpu_launch){
			.enter_ns = f->op.enter_ns,
			.seq = op.seq,
			.bytes = c->count * element.bytes,
			.stream = c->stream,
			.id = op.launch,
			.comm = comm->id,
			.n_ops = 1,
			.device = comm->device,
			.asked = asked,
			.current = current,
			.peer = c->peer,
			.op = c->op,
		});
	} else if (pair) {
		ct_nccl_group_pick(pair, is_p2p(c->op), picked);
		if (pair->launch.n_ops++ == 0) {
			pair->launch.enter_ns = f->op.enter_ns;
			pair->launch.seq = op.seq;
			pair->launch.peer = c->peer;
			pair->launch.op = c->op;
		}
		pair->launch.bytes += c->count * element.bytes;
	}
}

static EACH_ROW ncclResult_t end(struct launch_frame *f, const struct nccl_call *c,
				 ncclResult_t result)
{
	uint64_t now_ns = 0;

	if (__builtin_expect(f->kind == LAUNCH_NOW && result == ncclSuccess, 1)) {
		if (__builtin_expect(ct_nccl_async_count() != 0, 0))
			ct_nccl_async_passed(f->handle);
		now_ns = ct_gpu_end(f->span);
	} else if (f->kind == LAUNCH_NONE || f->kind == LAUNCH_NOW) {
		settle_launch(f, result);
	}
	if (__builtin_expect(f->holds, 0))
		ct_gpu_channels_release();
	if (ct_nccl_is_error(result))
		ct_nccl_failed(c->name, f->comm, result, c->library);
	ct_op_end(&f->op, now_ns ? now_ns : ct_now_ns(), result);
	return result;
}

/* What the ranks of an all-to-all give each other on average, as elements: the count of one that is even. Nothing only if this rank
 * gets nothing either. */
static uint64_t mean_share(uint32_t nranks, const size_t *counts, const size_t *recv_counts)
{
	uint64_t sum = 0, any = 0;

	if (!counts || !recv_counts || !nranks)
		return 0;
	for (uint32_t i = 0; i < nranks; i++) {
		sum += counts[i];
		any |= counts[i] | recv_counts[i];
	}
	sum = (sum + nranks / 2) / nranks;
	return sum ? sum : any != 0;
}

#define CT_NCCL_SHARE(counts, recv_counts)                                                         \
	mean_share(ct_nccl_comm(comm, (const void *)(uintptr_t)real)->nranks, counts, recv_counts)

#define LIST(...) __VA_ARGS__

/* Out of the wrapper: its arguments, and one more. */
#define WITH_(...) __VA_ARGS__
#define WITH(args, ...) (WITH_ args, __VA_ARGS__)

/* The wrapper itself only looks and jumps on: no frame, no call. What takes a call is in ask_NAME. */
#define NCCL_CALL(symbol, name_, since, op_, params, args, count_, type_, redop_, peer_)           \
	static CT_UNWIND_WHOLE ncclResult_t record_##name_(LIST params, ct_##name_##_fn *real)     \
	{                                                                                          \
		const struct nccl_call c = {                                                       \
			.name = ct_nccl_call_ids[CT_NCCL_##name_],                                 \
			.op = CT_OP_##op_,                                                         \
			.redop = redop_of((int)(redop_)),                                          \
			.peer = (peer_),                                                           \
			.count = (count_),                                                         \
			.type = (type_),                                                           \
			.comm = comm,                                                              \
			.stream = stream,                                                          \
			.library = (const void *)(uintptr_t)real,                                  \
		};                                                                                 \
		struct launch_frame f;                                                             \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		begin_launch(&f, &c);                                                              \
		return end(&f, &c, real args);                                                     \
	}                                                                                          \
                                                                                                   \
	static __attribute__((noinline)) ncclResult_t ask_##name_(LIST params, const void *caller) \
	{                                                                                          \
		ct_##name_##_fn *next = (ct_##name_##_fn *)ct_real_find(                           \
			&ct_nccl_reals[CT_NCCL_##name_], caller);                                  \
                                                                                                   \
		if (!next)                                                                         \
			return CT_NCCL_ABSENT;                                                     \
		if (!ct_nccl_enter(CT_CALL_DATA, caller))                                          \
			return next args;                                                          \
		return record_##name_ WITH(args, next);                                            \
	}                                                                                          \
                                                                                                   \
	ncclResult_t ct_##name_ params                                                             \
	{                                                                                          \
		const void *caller = __builtin_return_address(0);                                  \
		ct_##name_##_fn *next = (ct_##name_##_fn *)ct_real_quick(                          \
			&ct_nccl_reals[CT_NCCL_##name_], caller);                                  \
		enum ct_guard_answer answer = ct_guard_look(ct_guard_gate(), CT_CALL_DATA);        \
                                                                                                   \
		if (!next || answer == CT_GUARD_ASK)                                               \
			return ask_##name_ WITH(args, caller);                                     \
		if (answer != CT_GUARD_RECORD || !ct_nccl_is_wanted)                               \
			return next args;                                                          \
		ct_self.depth = 1;                                                                 \
		ct_entry_called_from(caller);                                                      \
		return record_##name_ WITH(args, next);                                            \
	}
#include "interpose/abi/nccl_calls.def"
