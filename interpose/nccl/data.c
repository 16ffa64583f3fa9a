/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "interpose/channels.h"
#include "interpose/gpu/capture_state.h"
#include "interpose/gpu/choice/sampling.h"
#include "interpose/gpu/graph/graph.h"
#include "interpose/gpu/kernel_events.h"
#include "interpose/gpu/plain.h"
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

/* The functions from here on are inlined into one body for each row, where the row's columns are
 * constants. */
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

	if (__builtin_expect((uint32_t)redop < sizeof(redops), 1))
		return redops[redop];
	return redop < 0 ? 0 : CT_REDOP_custom;
}

/* What a row says of one call. */
struct nccl_call {
	uint8_t call; /* enum ct_nccl_call */
	uint8_t op;
	int32_t peer;
	int redop; /* ncclRedOp_t, negative none */
	uint64_t count;
	ncclDataType_t type;
	ncclComm_t comm;
	CUstream stream;
	void *const *library; /* where the function that is called is */
};

/* How an op's launch comes about. */
enum launch_kind {
	LAUNCH_NONE,  /* no work for the GPU, or none that can be timed */
	LAUNCH_NOW,   /* by this call */
	LAUNCH_PLAIN, /* the same, and plain */
	LAUNCH_GROUP, /* by the end of the group */
	LAUNCH_NEVER, /* captured: by the launch of the graph */
};

struct launch_frame {
	struct ct_op_frame op; /* first */
	struct ct_gpu_span *span;
	uint32_t launch;
	uint32_t comm; /* its id: the communicator itself may end meanwhile */
	uint8_t kind;  /* enum launch_kind */
	uint8_t holds; /* the channels of kernels: what it puts on the stream is captured, or may be
			*/
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

static EACH_ROW enum launch_kind kind_of(const struct nccl_call *c,
					 const struct ct_traced_comm *comm)
{
	int is_collective = !is_p2p(c->op) && !is_one_sided(c->op);

	/* Empty collectives are dropped where they come in; empty sends are sent, and a signal
	 * moves nothing anyway. */
	if (!comm->id || (c->count == 0 && is_collective))
		return LAUNCH_NONE;
	if (__builtin_expect(!ct_nccl_in_group(), 1))
		return LAUNCH_NOW;
	/* Alone in its communicator: a copy, at once, not when the group ends. */
	if (comm->nranks == 1 && is_collective && !is_made_of_p2p(c->op))
		return LAUNCH_NOW;
	return LAUNCH_GROUP;
}

static EACH_ROW uint64_t next_seq(const struct nccl_call *c, struct ct_traced_comm *comm)
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

/* It is this call that launches, or there is no launch. */
static inline int is_own(enum launch_kind kind)
{
	return kind == LAUNCH_NONE || kind == LAUNCH_NOW || kind == LAUNCH_PLAIN;
}

/* Nothing was launched, as far as is known. */
static void drop_launch(struct launch_frame *f, int result)
{
	if (f->kind == LAUNCH_NONE)
		ct_nccl_untimed(f->launch, f->comm, 1, result);
	else
		ct_gpu_drop(f->span, result);
}

static void leave(struct ct_frame *frame)
{
	struct launch_frame *f = (struct launch_frame *)frame;

	if (is_own(f->kind))
		drop_launch(f, CT_RESULT_EXCEPTION);
	if (f->holds)
		ct_kernel_events_release();
	ct_op_end(&f->op, ct_now_ns(), CT_RESULT_EXCEPTION);
}

/* (of a copy, so that the op itself stays in registers) */
static __attribute__((noinline)) struct ct_op capture(struct ct_op op, struct ct_traced_comm *comm,
						      CUstream stream, uint64_t bytes)
{
	ct_graph_op(&op, comm, stream, bytes);
	return op;
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
static __attribute__((noinline)) void begin_any(struct launch_frame *f, const struct nccl_call *c)
{
	struct ct_traced_comm *comm = ct_nccl_comm(c->comm, *c->library);
	struct element element = element_of(c->type);
	enum launch_kind kind = kind_of(c, comm);
	struct ct_nccl_pair *pair = NULL;
	int picked = 1;
	struct ct_op op = {
		.op = c->op,
		.call = ct_nccl_call_ids[c->call],
		.peer = c->peer,
		.redop = redop_of(c->redop),
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
		op = capture(op, comm, c->stream, c->count * element.bytes);
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
		ct_kernel_events_hold();
	f->launch = op.launch;
	f->comm = comm->id;
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

/* The same for a call that launches by itself, on a known communicator, and a launch that is plain
 * (gpu/plain.h). 0: not so, and nothing was done. */
static EACH_ROW int begin_plain(struct launch_frame *f, const struct nccl_call *c)
{
	struct ct_traced_comm *comm = ct_self.comm;
	struct ct_slot *slot = ct_self.lane.next;
	struct element element;
	struct ct_gpu_span *span;
	struct ct_op op;
	int saved = errno;

	if (__builtin_expect(!comm || !c->comm ||
				     atomic_load_explicit(&comm->handle[0], memory_order_relaxed) !=
					     c->comm ||
				     (c->count == 0 && !is_p2p(c->op) && !is_one_sided(c->op)) ||
				     ct_nccl_in_group() ||
				     (slot == ct_self.lane.end && !(slot = ct_recorder_refill())),
			     0))
		return 0;
	span = ct_gpu_plain_span(c->stream);
	if (__builtin_expect(!span, 0)) {
		errno = saved;
		return 0;
	}
	if (!slot)
		__builtin_unreachable();
	element = element_of(c->type);
	op = (struct ct_op){
		.op = c->op,
		.call = ct_nccl_call_ids[c->call],
		.peer = c->peer,
		.redop = redop_of(c->redop),
		.dtype = element.dtype,
		.count = c->count,
		.seq = next_seq(c, comm),
		.launch = ct_recorder_launch_of(slot),
	};
	f->kind = LAUNCH_PLAIN;
	f->holds = 0;
	f->launch = op.launch;
	f->comm = comm->id;
	f->span = span;
	ct_self.lane.next = slot + 1;
	ct_op_enter(&f->op);
	ct_op_begin_in(slot, &f->op, comm, &op, leave);
	if (__builtin_expect(!ct_gpu_plain_begin(span,
						 &(struct ct_gpu_launch){
							 .enter_ns = op.enter_ns,
							 .seq = op.seq,
							 .bytes = c->count * element.bytes,
							 .stream = c->stream,
							 .id = op.launch,
							 .comm = op.comm,
							 .n_ops = 1,
							 .peer = c->peer,
							 .op = c->op,
						 }),
			     0))
		f->kind = LAUNCH_NOW;
	errno = saved;
	return 1;
}

static EACH_ROW void begin_launch(struct launch_frame *f, const struct nccl_call *c)
{
	if (__builtin_expect(!begin_plain(f, c), 0)) {
		const struct nccl_call any = *c; /* (so that the call itself stays in registers) */

		begin_any(f, &any);
	}
}

static __attribute__((noinline)) ncclResult_t end_any(struct launch_frame *f,
						      const struct nccl_call *c,
						      ncclResult_t result)
{
	int launches = is_own(f->kind) && f->kind != LAUNCH_NONE;
	uint64_t now_ns = 0;

	if (launches && (result == ncclSuccess || result == ncclInProgress))
		ct_nccl_async_passed(c->comm);
	if (launches && result == ncclSuccess)
		now_ns = ct_gpu_end(f->span);
	else if (launches && result == ncclInProgress)
		ct_nccl_async_span(c->comm, f->span, c->stream);
	else if (is_own(f->kind))
		drop_launch(f, result);
	if (f->holds)
		ct_kernel_events_release();
	if (ct_nccl_is_error(result))
		ct_nccl_failed(ct_nccl_call_ids[c->call], f->comm, result, *c->library);
	ct_op_end(&f->op, now_ns ? now_ns : ct_now_ns(), result);
	return result;
}

static EACH_ROW ncclResult_t end(struct launch_frame *f, const struct nccl_call *c,
				 ncclResult_t result)
{
	uint64_t now_ns;
	int saved = errno, is_over;
	struct nccl_call any;

	if (__builtin_expect(f->kind == LAUNCH_PLAIN && result == ncclSuccess &&
				     !ct_nccl_async_count(),
			     1)) {
		is_over = ct_gpu_plain_end(f->span, f->launch, f->op.enter_ns, &now_ns);
		errno = saved;
		if (__builtin_expect(is_over, 1)) {
			if (!f->op.slot)
				__builtin_unreachable();
			ct_op_end(&f->op, now_ns, ncclSuccess);
			return ncclSuccess;
		}
	}
	any = *c; /* (so that the call itself stays in registers) */
	return end_any(f, &any, result);
}

/* What the ranks of an all-to-all give each other on average, as elements: the count of one that is
 * even. Nothing only if this rank gets nothing either. */
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
	mean_share(ct_nccl_comm(comm, *library)->nranks, counts, recv_counts)

#define LIST(...) __VA_ARGS__

/* Out of the wrapper: its arguments, and one more. */
#define WITH_(...) __VA_ARGS__
#define WITH(args, ...) (WITH_ args, __VA_ARGS__)

/* The wrapper itself only looks and jumps on, with the arguments as they came: no frame, no call.
 * What takes a call is in ask_NAME, which passes on a function that is not the first caller's. */
#define NCCL_CALL(symbol, name_, since, op_, params, args, count_, type_, redop_, peer_)           \
	static CT_UNWIND_WHOLE ncclResult_t record_##name_ params                                  \
	{                                                                                          \
		BODY(name_, op_, args, count_, type_, redop_, peer_,                               \
		     &ct_nccl_reals[CT_NCCL_##name_].first.function)                               \
	}                                                                                          \
                                                                                                   \
	static CT_UNWIND_WHOLE ncclResult_t record_next_##name_(LIST params, void *next)           \
	{                                                                                          \
		BODY(name_, op_, args, count_, type_, redop_, peer_, &next)                        \
	}                                                                                          \
                                                                                                   \
	static __attribute__((noinline)) ncclResult_t ask_##name_(LIST params, const void *caller) \
	{                                                                                          \
		ct_##name_##_fn *next = (ct_##name_##_fn *)ct_real_find(                           \
			&ct_nccl_reals[CT_NCCL_##name_], caller);                                  \
                                                                                                   \
		if (!next)                                                                         \
			return CT_NCCL_ABSENT;                                                     \
		ct_guard_settle(__builtin_frame_address(0));                                       \
		if (!ct_nccl_enter(CT_CALL_DATA, caller))                                          \
			return next args;                                                          \
		return record_next_##name_ WITH(args, (void *)next);                               \
	}                                                                                          \
                                                                                                   \
	ncclResult_t ct_##name_ params                                                             \
	{                                                                                          \
		const struct ct_real_caller *first = &ct_nccl_reals[CT_NCCL_##name_].first;        \
		const void *caller = __builtin_return_address(0);                                  \
		uint32_t gate = ct_guard_gate();                                                   \
                                                                                                   \
		if (__builtin_expect(ct_real_calls(first, caller), 1)) {                           \
			if (ct_guard_is_off(gate, CT_CALL_DATA))                                   \
				return ((ct_##name_##_fn *)first->function)args;                   \
			if (ct_guard_is_ready(gate) && __builtin_expect(ct_nccl_is_wanted, 1)) {   \
				ct_self.depth = 1;                                                 \
				ct_self.caller = caller; /* (never an entry's, see real.c) */      \
				return record_##name_ args;                                        \
			}                                                                          \
		}                                                                                  \
		return ask_##name_ WITH(args, caller);                                             \
	}
#define BODY(name_, op_, args, count_, type_, redop_, peer_, library_)                             \
	void *const *library = (library_);                                                         \
	const struct nccl_call c = {                                                               \
		.call = CT_NCCL_##name_,                                                           \
		.op = CT_OP_##op_,                                                                 \
		.redop = (int)(redop_),                                                            \
		.peer = (peer_),                                                                   \
		.count = (count_),                                                                 \
		.type = (type_),                                                                   \
		.comm = comm,                                                                      \
		.stream = stream,                                                                  \
		.library = library,                                                                \
	};                                                                                         \
	struct launch_frame f;                                                                     \
                                                                                                   \
	CT_UNWIND_HERE();                                                                          \
	begin_launch(&f, &c);                                                                      \
	return end(&f, &c, ((ct_##name_##_fn *)*library)args);
#include "interpose/abi/nccl_calls.def"
