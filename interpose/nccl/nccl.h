/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.h — the NCCL backend: what all wrappers of abi/nccl_calls.def share.
 *
 * data.c has the data-moving calls, group.c groups and their launches, init.c and child.c how
 * communicators are made, host.c how they end and other calls that may wait, async_ops.c what a
 * nonblocking communicator has not finished when the call returns. NCCL calls some of its functions
 * through the same symbols: those calls find their thread inside a recorded call and pass
 * unrecorded. No lock is ever held across a call into NCCL, so that abort works while another
 * thread is stuck in one.
 */
#ifndef CT_INTERPOSE_NCCL_NCCL_H
#define CT_INTERPOSE_NCCL_NCCL_H

#include <stdint.h>

#include "interpose/abi/nccl.h"
#include "interpose/comms.h"
#include "interpose/entries.h"
#include "interpose/guard.h"
#include "interpose/real.h"

/* The calls that have a wrapper, in the order of the table. */
enum ct_nccl_call {
#define NCCL_CALL(symbol, name, ...) CT_NCCL_##name,
#define NCCL_CALL_HOST(symbol, name, ...) CT_NCCL_##name,
#define NCCL_CALL_HAND(symbol, name, ...) CT_NCCL_##name,
#include "interpose/abi/nccl_calls.def"
	CT_NCCL_CALLS
};

/* For each of them the type of the function, ct_NAME_fn, and the wrapper, ct_NAME. */
#define CT_NCCL_DECLARE(symbol, name, params)                                                      \
	typedef ncclResult_t ct_##name##_fn params;                                                \
	CT_EXPORT ncclResult_t ct_##name params __asm__(symbol);
#define NCCL_CALL(symbol, name, since, op, params, ...) CT_NCCL_DECLARE(symbol, name, params)
#define NCCL_CALL_HOST(symbol, name, since, params, args) CT_NCCL_DECLARE(symbol, name, params)
#define NCCL_CALL_HAND(symbol, name, since, params, args) CT_NCCL_DECLARE(symbol, name, params)
#include "interpose/abi/nccl_calls.def"

extern struct ct_real ct_nccl_reals[CT_NCCL_CALLS] __attribute__((visibility("hidden")));
extern const char *const ct_nccl_sonames[];

/* Names of the calls in the ring's string table. */
extern uint16_t ct_nccl_call_ids[CT_NCCL_CALLS] __attribute__((visibility("hidden")));

/* In the body of wrapper ct_NAME: the function to pass the call on to, NULL if there is none. */
#define CT_NCCL_NEXT(name)                                                                         \
	((ct_##name##_fn *)ct_real_find(&ct_nccl_reals[CT_NCCL_##name],                            \
					__builtin_return_address(0)))

/* What a wrapper returns when there is no such function: the program has it from a weak reference,
 * which cannot know. As good as any call that came at the wrong time. */
#define CT_NCCL_ABSENT ncclInvalidUsage

/* The slot of a wrapped function by its symbol, NULL if it is not wrapped. Any thread, at any time.
 */
struct ct_real *ct_nccl_real(const char *symbol);

/* Make the tables and put the names of the calls into the ring; if not `wanted`, calls pass
 * unrecorded. 0 or CT_NOMEM. Before the gate opens. */
int ct_nccl_init(int wanted);

extern int ct_nccl_is_wanted __attribute__((visibility("hidden")));

/* Are there groups that a forked child has begun before it makes a communicator? (group.c) */
extern _Atomic uint32_t ct_nccl_early __attribute__((visibility("hidden")));
void ct_nccl_group_adopt(void);

/* ct_guard_enter() where NCCL is to be recorded, of a wrapper that returns to `caller`. */
static inline int ct_nccl_enter(enum ct_guard_call kind, const void *caller)
{
	if (!ct_guard_enter(kind))
		return 0;
	if (!ct_nccl_is_wanted)
		ct_guard_leave();
	else if (kind == CT_CALL_CREATE &&
		 atomic_load_explicit(&ct_nccl_early, memory_order_relaxed))
		ct_nccl_group_adopt();
	ct_entry_called_from(caller);
	return ct_nccl_is_wanted;
}

/* A wrapper of this process has been called to make a communicator or an op of one: NCCL's calls
 * pass through here, as far as can be known. Set before the first real call. */
extern _Atomic uint32_t ct_nccl_seen CT_NEAR;

/* The recorded op of the thread's current call, as in its record. */
struct ct_nccl_inside {
	struct ct_gpu_span *span; /* NULL: has none, or not yet */
	uint64_t seq;
	uint32_t comm; /* struct ct_traced_comm's id */
	uint32_t launch;
	uint8_t op;
	uint8_t has_seq;
	uint8_t captured;
};

/* 0: it is in none. 1: in that op's. */
int ct_nccl_inside_op(struct ct_nccl_inside *inside);

/* Inside the outermost end of a group: what is launched there on a communicator with this hash and
 * rank, by `launch` or, if that is 0, the only one. 0: it is not, or there is none or more than
 * one. */
int ct_nccl_inside_end(uint64_t hash, int rank, uint32_t launch, struct ct_nccl_inside *inside);

/* The calling thread ends, or its block is given up: what it had collected for a group is closed. */
void ct_nccl_thread_end(void);

#endif
