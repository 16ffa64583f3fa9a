/* SPDX-License-Identifier: Apache-2.0 */
/* poll.h — a thread that polls for completion waits, like one inside MPI_Wait.
 *
 * The time from the first unsuccessful test to the successful one is recorded as one host-blocking
 * call: HOST_END when the answer comes; HOST_BEGIN once it has lasted, and again as long as it
 * lasts, so that a thread that asks forever leaves evidence. Questions belong together if they come
 * in close succession, or if the thread slept in between. A thread that computes between two
 * questions does not wait: what it waited before ends with the last question of then.
 *
 * A fixed table, one entry for each thread that is at it; a full one costs evidence (counted). Each
 * thread touches its own entry only. Inside a recorded call. A thread that gives up keeps its entry
 * until it waits or tests again.
 */
#ifndef CT_INTERPOSE_MPI_POLL_H
#define CT_INTERPOSE_MPI_POLL_H

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/guard.h"
#include "interpose/mpi/mpi.h"

/* Entries in use. */
extern _Atomic uint32_t ct_mpi_polls CT_NEAR;

/* Before the gate opens. */
void ct_mpi_poll_init(void);

/* An unsuccessful test, from `enter_ns` to `return_ns`. `call` is the string id of the function,
 * `comm` the id of the communicator that it is about, 0 for several or unknown. */
void ct_mpi_poll_missed(uint32_t call, uint32_t comm, uint64_t enter_ns, uint64_t return_ns);

/* A successful test: the wait ends, if there was one. */
void ct_mpi_poll_done_slow(uint64_t enter_ns, uint64_t return_ns);

static inline void ct_mpi_poll_done(uint64_t enter_ns, uint64_t return_ns)
{
	if (atomic_load_explicit(&ct_mpi_polls, memory_order_relaxed))
		ct_mpi_poll_done_slow(enter_ns, return_ns);
}

/* The thread waits in another way now: what it asked so far is over. */
void ct_mpi_poll_over_slow(void);

static inline void ct_mpi_poll_over(void)
{
	if (atomic_load_explicit(&ct_mpi_polls, memory_order_relaxed))
		ct_mpi_poll_over_slow();
}

/* A question, on its wrapper's stack. */
struct ct_mpi_question {
	struct ct_frame frame;
	enum ct_mpi_function function;
	uint32_t comm; /* as above */
	uint64_t enter_ns;
};

/* Before the call. Always 1, as CT_MPI_RECORD() requires. */
static inline int ct_mpi_poll_ask(struct ct_mpi_question *q, enum ct_mpi_function function,
				  uint32_t comm)
{
	ct_guard_pass(&q->frame);
	q->function = function;
	q->comm = comm;
	q->enter_ns = ct_now_ns();
	return 1;
}

/* It has returned, at `now_ns`. Ends with ct_guard_leave(). */
static inline void ct_mpi_poll_answer(const struct ct_mpi_question *q, int is_done, uint64_t now_ns)
{
	if (is_done)
		ct_mpi_poll_done(q->enter_ns, now_ns);
	else
		ct_mpi_poll_missed(ct_mpi_call_id(q->function), q->comm, q->enter_ns, now_ns);
	ct_guard_leave();
}

#endif
