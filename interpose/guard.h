/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h — may this call be recorded? Every wrapper checks it first.
 *
 * The gate is one word in a page of its own that the kernel wipes in a forked child: a child reads
 * COLD, knows from ct_lifecycle that it is a child, and stays off until it makes a communicator of
 * its own. A thread's state is in its thread-local block, at most 64 bytes of static TLS, with the
 * gate word at its time. After a fork or a new start that word no longer matches, and nothing that
 * the block points to is touched. Any thread may call everything here; nothing of it survives the
 * process.
 */
#ifndef CT_INTERPOSE_GUARD_H
#define CT_INTERPOSE_GUARD_H

#include <stdatomic.h>
#include <stdint.h>

#include "trace/ring.h"

/* Low bits of the gate word; the bits above count the starts of recording in this line of
 * processes. */
enum ct_gate_state {
	CT_GATE_COLD = 0,     /* nothing tried yet; or wiped: a forked child */
	CT_GATE_ON = 1,	      /* recording; the only state with this bit */
	CT_GATE_STARTING = 2, /* a thread is starting it */
	CT_GATE_OFF = 4,      /* for good: switched off, failed or ended */
	CT_GATE_CHILD = 6,    /* a forked child that has no communicator of its own */
};
#define CT_GATE_STATE(word) ((word)&7u)
#define CT_GATE_EPOCH_SHIFT 3 /* code: above the bits of a state */

/* What calls a wrapper. A forked child starts recording at CREATE only. */
enum ct_guard_call { CT_CALL_DATA, CT_CALL_CREATE };

/* Reached without the detour through the global offset table. */
#define CT_NEAR __attribute__((visibility("hidden")))

/* fact: as large as the largest page, aarch64's, so that nothing else is wiped. */
#define CT_GATE_BYTES 65536
/* tuning: not at the beginning of a page, where queues between processes begin, too: beginnings of
 * all pages share few sets of the L1 cache (15 to 20 ns in an all-reduce of two ranks of MPICH). */
#define CT_GATE_AT 0x9c0
struct ct_gate {
	uint8_t before[CT_GATE_AT];
	_Atomic uint32_t word;
	uint8_t after[CT_GATE_BYTES - CT_GATE_AT - 4];
};
extern struct ct_gate ct_gate CT_NEAR;

/* One wrapped call of this thread in progress, on the stack of the wrapper. `leave` runs when the
 * call is left by an exception or by the thread's cancellation. */
struct ct_frame {
	void (*leave)(struct ct_frame *frame);
};

struct ct_traced_comm;
struct ct_nccl_thread;
struct ct_thread {
	struct ct_lane lane;
	uint32_t gate;	/* gate word this block belongs to */
	uint16_t depth; /* 1 inside a wrapped call: what the library calls by itself is not recorded
			 */
	uint16_t launches; /* the next entry of the open table that is its own (gpu/span.h) + 1, 0
			      none */
	struct ct_frame *frame;	     /* that call, NULL outside */
	struct ct_traced_comm *comm; /* the one used last */
	struct ct_nccl_thread *nccl; /* its groups (nccl/group.h), NULL before the first */
	const void *caller;	     /* what that call returns to (site.h), NULL not known */
};
_Static_assert(sizeof(struct ct_thread) <= 64, "static TLS is scarce");
extern __thread struct ct_thread ct_self CT_NEAR __attribute__((tls_model("initial-exec")));

/* The answer when the gate alone is not enough: starts recording, gives the thread its block. Keeps
 * errno. */
int ct_guard_slow(uint32_t gate, enum ct_guard_call kind);

enum ct_guard_answer { CT_GUARD_PASS, CT_GUARD_RECORD, CT_GUARD_ASK };

static inline uint32_t ct_guard_gate(void)
{
	/* acquire: pairs with the release of the thread that started recording */
	return atomic_load_explicit(&ct_gate.word, memory_order_acquire);
}

/* Where the stack ends now. Not the frame's address: a wrapper would need a frame for it. */
static inline __attribute__((always_inline)) uintptr_t ct_guard_stack(void)
{
	uintptr_t at;

#if defined(__x86_64__)
	__asm__ volatile("mov %%rsp, %0" : "=r"(at));
#elif defined(__aarch64__)
	__asm__ volatile("mov %0, sp" : "=r"(at));
#else
	at = (uintptr_t)__builtin_frame_address(0);
#endif
	return at;
}

/* A longjmp has left this thread's recorded call if its frame is further down the stack than
 * `stack`, the frame of the new wrapper: functions that the call itself calls are below its frame.
 * A larger distance than this means another stack (a coroutine's). */
#define CT_GUARD_STACK_BYTES (1ull << 30) /* size: stacks have some MB, unless ulimit -s is off */
static inline __attribute__((always_inline)) int ct_guard_may_be_left(uintptr_t stack)
{
	return __builtin_expect(ct_self.frame != NULL, 1) &&
	       stack - (uintptr_t)ct_self.frame < CT_GUARD_STACK_BYTES;
}

/* If so, and the caller is not a signal handler on an alternate stack: ends the call's records,
 * marks the thread as outside any call, and returns 1. Does not read the frame: its memory is
 * reused. Keeps errno. */
int ct_guard_end_abandoned(void);

/* The same for callers further down than the wrapper; `stack` is within or above the wrapper's
 * frame. */
static inline void ct_guard_settle(const void *stack)
{
	uint32_t gate = ct_guard_gate();

	if (gate & CT_GATE_ON && ct_self.gate == gate && ct_self.depth &&
	    ct_guard_may_be_left((uintptr_t)stack))
		ct_guard_end_abandoned();
}

/* The gate alone says that the call passes. Expected, though it is not the rule: a switched-off
 * library is to cost next to nothing, and a recorded call one more jump. */
static inline __attribute__((always_inline)) int ct_guard_is_off(uint32_t gate,
								 enum ct_guard_call kind)
{
	return __builtin_expect(kind == CT_CALL_DATA ? (gate & CT_GATE_OFF) != 0
						     : CT_GATE_STATE(gate) == CT_GATE_OFF,
				1);
}

/* The answer of the gate and the thread's block alone; ASK: ct_guard_slow() decides. */
static inline enum ct_guard_answer ct_guard_look(uint32_t gate, enum ct_guard_call kind)
{
	if (__builtin_expect(gate & CT_GATE_ON && ct_self.gate == gate, 1))
		return !ct_self.depth || (ct_guard_may_be_left(ct_guard_stack()) &&
					  ct_guard_end_abandoned())
			       ? CT_GUARD_RECORD
			       : CT_GUARD_PASS;
	return ct_guard_is_off(gate, kind) ? CT_GUARD_PASS : CT_GUARD_ASK;
}

/* Both say that the call is to be recorded: the only check that most calls need. */
static inline int ct_guard_is_ready(uint32_t gate)
{
	return __builtin_expect((gate & CT_GATE_ON) != 0, 1) &&
	       __builtin_expect(ct_self.gate == gate, 1) && __builtin_expect(!ct_self.depth, 1);
}

/* 1: record this call and call ct_guard_leave() after it. 0: only pass it on. */
static inline int ct_guard_enter(enum ct_guard_call kind)
{
	uint32_t gate = ct_guard_gate();
	enum ct_guard_answer answer = ct_guard_look(gate, kind);

	if (answer == CT_GUARD_PASS || (answer == CT_GUARD_ASK && !ct_guard_slow(gate, kind)))
		return 0;
	ct_self.depth = 1;
	return 1;
}

static inline void ct_guard_leave(void)
{
	ct_self.depth = 0;
	ct_self.frame = NULL;
}

/* An entered call with nothing to record: how to detect that it was left. */
void ct_guard_passed(struct ct_frame *frame);
static inline void ct_guard_pass(struct ct_frame *frame)
{
	frame->leave = ct_guard_passed;
	ct_self.frame = frame;
}

/* Is this thread inside a recorded call, of this epoch? */
static inline struct ct_frame *ct_guard_frame(void)
{
	uint32_t gate = atomic_load_explicit(&ct_gate.word, memory_order_relaxed);

	return gate & CT_GATE_ON && ct_self.gate == gate ? ct_self.frame : NULL;
}

/* Is this thread inside a recorded call? Unlike ct_guard_frame() also between its beginning and its
 * record. */
static inline int ct_guard_is_inside(void)
{
	uint32_t gate = ct_guard_gate();

	return gate & CT_GATE_ON && ct_self.gate == gate && ct_self.depth;
}

static inline int ct_guard_is_on(void)
{
	return (ct_guard_gate() & CT_GATE_ON) != 0;
}

#endif
