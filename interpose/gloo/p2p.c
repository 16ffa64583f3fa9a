/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers that the program makes itself: UnboundBuffer::send and recv return before the work is
 * done, waitSend and waitRecv report when it is. An op at the first, a launch at the second. Those
 * that a collective makes are only counted, for each peer. */
#include "interpose/channels.h"
#include "interpose/gloo/abi.h"
#include "interpose/gloo/gloo.h"
#include "interpose/pending.h"
#include "interpose/recorder.h"
#include "interpose/unwind.h"
#include "trace/ring_traffic.h"

static uint16_t call_ids[2]; /* by enum ct_direction */

void ct_gloo_p2p_init(void)
{
	call_ids[CT_SEND] = (uint16_t)ct_ring_string(&ct_recorder.ring,
						     "gloo::UnboundBuffer::send");
	call_ids[CT_RECV] = (uint16_t)ct_ring_string(&ct_recorder.ring,
						     "gloo::UnboundBuffer::recv");
}

/* A transfer being begun. */
struct transfer_frame {
	struct ct_op_frame op;
	const void *buffer;
	enum ct_direction direction;
};

/* Begun, but it threw: the launch ends with the op. */
void ct_gloo_transfer_leave(struct ct_frame *frame)
{
	struct transfer_frame *f = (struct transfer_frame *)frame;
	struct ct_pending pending;
	uint64_t now = ct_now_ns();

	if (ct_pending_take(f->buffer, f->direction, &pending))
		ct_pending_close(&pending, now, CT_RESULT_EXCEPTION);
	ct_op_end(&f->op, now, CT_RESULT_EXCEPTION);
}

/* Slots are 64 bits, tags 32: those that do not fit are folded, on both sides alike. */
static uint32_t tag_of(uint64_t slot)
{
	return slot >> 32 ? (uint32_t)(slot ^ slot >> 32) | 1u << 31 : (uint32_t)slot;
}

struct gloo_transfer {
	const void *buffer;
	enum ct_direction direction;
	int32_t peer; /* -1: any */
	uint64_t slot;
	uint64_t offset;
	uint64_t bytes;
};

static uint64_t bytes_of(const struct gloo_transfer *t)
{
	uint64_t whole = ct_gloo_buffer_bytes(t->buffer);

	/* UINT64_MAX: the rest of the buffer */
	if (t->bytes == UINT64_MAX)
		return whole > t->offset ? whole - t->offset : 0;
	return t->bytes;
}

/* One that a recorded call has made: `t` is from before the call, in which the buffer may have
 * gone. */
struct counted {
	uint32_t comm; /* 0: it is not to be counted */
	int32_t peer;
	enum ct_direction direction;
	uint64_t bytes;
};

static struct counted look_at(const struct gloo_transfer *t)
{
	struct counted c = { 0, t->peer, t->direction, 0 };
	const void *transport;
	struct ct_traced_comm *comm;

	if (!ct_guard_is_inside())
		return c;
	transport = ct_gloo_ptr(t->buffer, GLOO_BUFFER_CONTEXT);
	comm = transport ? ct_recorder_comm(transport) : NULL;
	c.comm = comm ? comm->id : 0;
	c.bytes = bytes_of(t);
	return c;
}

/* It has been begun: what throws moves nothing. */
static void count(const struct counted *c)
{
	if (c->comm)
		ct_ring_traffic_add(&ct_recorder.ring, c->comm, c->direction == CT_RECV, c->peer,
				    c->bytes);
}

/* Publish the op and its pending launch. 0: not to be recorded. */
static int begin_transfer(struct transfer_frame *f, const struct gloo_transfer *t)
{
	const void *transport = ct_gloo_ptr(t->buffer, GLOO_BUFFER_CONTEXT);
	struct ct_traced_comm *comm = transport ? ct_gloo_transport_comm(transport) : NULL;
	struct ct_pending pending;
	struct ct_op op = { 0 };

	if (!comm)
		return 0;
	op.op = t->direction == CT_SEND ? CT_OP_Send : CT_OP_Recv;
	op.call = call_ids[t->direction];
	op.dtype = CT_DTYPE_elem1;
	op.count = bytes_of(t);
	op.peer = t->peer;
	op.tag = tag_of(t->slot);
	op.seq = ct_channels_next(comm->id, t->direction, t->peer, t->slot);
	op.launch = ct_recorder_launch_id();
	pending = (struct ct_pending){
		.enter_ns = ct_now_ns(),
		.bytes = op.count,
		.seq = op.seq,
		.slot = t->slot,
		.peer = t->peer,
		.comm = comm->id,
		.launch = op.launch,
		.tag = op.tag,
		.op = op.op,
	};
	if (!ct_pending_add(t->buffer, t->direction, &pending))
		ct_pending_close(&pending, 0, 0);
	f->buffer = t->buffer;
	f->direction = t->direction;
	ct_op_begin(&f->op, comm, &op);
	f->op.frame.leave = ct_gloo_transfer_leave;
	return 1;
}

typedef void (*transfer_fn)(void *buffer, int peer, uint64_t slot, uint64_t offset, uint64_t bytes);

static void pass(const struct gloo_transfer *t, transfer_fn real)
{
	struct counted c = look_at(t);

	real((void *)(uintptr_t)t->buffer, t->peer, t->slot, t->offset, t->bytes);
	count(&c);
}

static CT_UNWIND_WHOLE void transfer(const struct gloo_transfer *t, transfer_fn real)
{
	struct transfer_frame f;

	CT_UNWIND_HERE();
	if (begin_transfer(&f, t)) {
		real((void *)(uintptr_t)t->buffer, t->peer, t->slot, t->offset, t->bytes);
		ct_op_end(&f.op, ct_now_ns(), 0);
	} else {
		real((void *)(uintptr_t)t->buffer, t->peer, t->slot, t->offset, t->bytes);
		ct_guard_leave();
	}
}

/* `ranks` is a std::vector<int> by invisible reference, the caller's to destroy. */
typedef void (*transfer_any_fn)(void *buffer, void *ranks, uint64_t slot, uint64_t offset,
				uint64_t bytes);

static void pass_any(const struct gloo_transfer *t, void *ranks, transfer_any_fn real)
{
	struct counted c = look_at(t);

	real((void *)(uintptr_t)t->buffer, ranks, t->slot, t->offset, t->bytes);
	count(&c);
}

static CT_UNWIND_WHOLE void transfer_any(const struct gloo_transfer *t, void *ranks,
					 transfer_any_fn real)
{
	struct transfer_frame f;

	CT_UNWIND_HERE();
	if (begin_transfer(&f, t)) {
		real((void *)(uintptr_t)t->buffer, ranks, t->slot, t->offset, t->bytes);
		ct_op_end(&f.op, ct_now_ns(), 0);
	} else {
		real((void *)(uintptr_t)t->buffer, ranks, t->slot, t->offset, t->bytes);
		ct_guard_leave();
	}
}

/* A wait in progress. */
struct wait_frame {
	struct ct_frame frame;
	const void *buffer;
	enum ct_direction direction;
};

static void end_wait(struct wait_frame *f, int result, const int *source)
{
	struct ct_pending pending;
	uint64_t now = ct_now_ns();

	if (!ct_pending_take(f->buffer, f->direction, &pending))
		return;
	if (pending.peer < 0 && source && result == 0) {
		const struct ct_match_rec match = {
			.comm = pending.comm,
			.launch = pending.launch,
			.peer = *source,
			.tag = pending.tag,
			.seq = ct_channels_next(pending.comm, f->direction, *source, pending.slot),
		};

		ct_recorder_rare(CT_KIND_MATCH, &match);
	}
	ct_pending_close(&pending, now, result);
}

static void wait_leave(struct ct_frame *frame)
{
	end_wait((struct wait_frame *)frame, CT_RESULT_EXCEPTION, NULL);
	ct_guard_leave();
}

typedef _Bool (*wait_fn)(void *buffer, int *rank, int64_t timeout_ms);

static CT_UNWIND_WHOLE _Bool wait_for(void *buffer, enum ct_direction direction, int *rank,
				      int64_t timeout_ms, wait_fn real)
{
	struct wait_frame f = { { wait_leave }, buffer, direction };
	int source = -1;
	int *from = rank ? rank : &source;
	_Bool done;

	CT_UNWIND_HERE();
	ct_self.frame = &f.frame;
	done = real(buffer, from, timeout_ms);
	end_wait(&f, done ? 0 : CT_RESULT_ABORTED, from);
	ct_guard_leave();
	return done;
}

/* No thread will wait for it any more. `directions` is a set of bits 1 << enum ct_direction. */
static void drop(const void *buffer, uint32_t directions, int result)
{
	uint64_t end_ns = result == CT_RESULT_ABORTED ? ct_now_ns() : 0;
	struct ct_pending pending;

	for (enum ct_direction d = CT_SEND; d <= CT_RECV; d++) {
		while (directions & 1u << d && ct_pending_take(buffer, d, &pending))
			ct_pending_close(&pending, end_ns, result);
	}
}

#define GLOO_CALL_TRANSFER(symbol, name, direction_)                                               \
	void ct_gloo_##name(void *buffer, int peer, uint64_t slot, uint64_t offset,                \
			    uint64_t bytes) __asm__(symbol) CT_EXPORT;                             \
	void ct_gloo_##name(void *buffer, int peer, uint64_t slot, uint64_t offset,                \
			    uint64_t bytes)                                                        \
	{                                                                                          \
		transfer_fn next = (transfer_fn)CT_GLOO_NEXT_VIRTUAL(ct_gloo_##name, symbol,       \
								     buffer);                      \
		const struct gloo_transfer t = { buffer, direction_, peer, slot, offset, bytes };  \
                                                                                                   \
		if (!next)                                                                         \
			return;                                                                    \
		if (ct_guard_enter(CT_CALL_DATA)) {                                                \
			ct_self.caller = __builtin_return_address(0);                              \
			transfer(&t, next);                                                        \
		} else {                                                                           \
			pass(&t, next);                                                            \
		}                                                                                  \
	}

/* The only rank of a set is a known one. */
static int32_t only_of(const void *ranks)
{
	struct ct_cxx_vector v;

	memcpy(&v, ranks, sizeof(v));
	return v.end - v.begin == sizeof(int32_t) ? ct_gloo_i32(v.begin, 0) : -1;
}

#define GLOO_CALL_TRANSFER_ANY(symbol, name, direction_)                                           \
	void ct_gloo_##name(void *buffer, void *ranks, uint64_t slot, uint64_t offset,             \
			    uint64_t bytes) __asm__(symbol) CT_EXPORT;                             \
	void ct_gloo_##name(void *buffer, void *ranks, uint64_t slot, uint64_t offset,             \
			    uint64_t bytes)                                                        \
	{                                                                                          \
		transfer_any_fn next = (transfer_any_fn)CT_GLOO_NEXT_VIRTUAL(ct_gloo_##name,       \
									     symbol, buffer);      \
		const struct gloo_transfer t = { buffer, direction_, only_of(ranks),               \
						 slot,	 offset,     bytes };                      \
                                                                                                   \
		if (!next)                                                                         \
			return;                                                                    \
		if (ct_guard_enter(CT_CALL_DATA)) {                                                \
			ct_self.caller = __builtin_return_address(0);                              \
			transfer_any(&t, ranks, next);                                             \
		} else {                                                                           \
			pass_any(&t, ranks, next);                                                 \
		}                                                                                  \
	}

#define GLOO_CALL_WAIT(symbol, name, direction_)                                                   \
	_Bool ct_gloo_##name(void *buffer, int *rank, int64_t timeout_ms) __asm__(symbol)          \
		CT_EXPORT;                                                                         \
	_Bool ct_gloo_##name(void *buffer, int *rank, int64_t timeout_ms)                          \
	{                                                                                          \
		wait_fn next = (wait_fn)CT_GLOO_NEXT_VIRTUAL(ct_gloo_##name, symbol, buffer);      \
                                                                                                   \
		if (!next)                                                                         \
			return 0;                                                                  \
		if (ct_pending_count() && ct_guard_enter(CT_CALL_DATA))                            \
			return wait_for(buffer, direction_, rank, timeout_ms, next);               \
		return next(buffer, rank, timeout_ms);                                             \
	}

typedef void (*buffer_fn)(void *buffer);

/* Aborted, or destroyed before its end was seen. */
#define GLOO_CALL_DROP(symbol, name, directions, result)                                           \
	void ct_gloo_##name(void *buffer) __asm__(symbol) CT_EXPORT;                               \
	void ct_gloo_##name(void *buffer)                                                          \
	{                                                                                          \
		buffer_fn next = (buffer_fn)CT_GLOO_NEXT_VIRTUAL(ct_gloo_##name, symbol, buffer);  \
                                                                                                   \
		if (ct_pending_count() && ct_guard_enter(CT_CALL_DATA)) {                          \
			drop(buffer, directions, result);                                          \
			ct_guard_leave();                                                          \
		}                                                                                  \
		if (next)                                                                          \
			next(buffer);                                                              \
	}

#include "interpose/gloo/gloo_calls.def"
