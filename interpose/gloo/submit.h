/* SPDX-License-Identifier: Apache-2.0 */
/* submit.h — when the program requested a collective that another thread runs.
 *
 * torch's ProcessGroupGloo makes a work of each collective, queues it (enqueue, on the user's
 * thread) and carries it out on a thread of its own (AsyncWork::execute), which calls Gloo. Both
 * may be there or not, by torch's version and build: without them there is no submit time, and
 * nothing else changes. What is queued lies in a fixed table under the work's address, what is
 * carried out in another one under its thread; any thread, no lock, nothing allocates. A full table
 * costs that one submit time (a counted loss). */
#ifndef CT_INTERPOSE_GLOO_SUBMIT_H
#define CT_INTERPOSE_GLOO_SUBMIT_H

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/guard.h"

struct ct_submitted {
	uint64_t at_ns; /* 0: not known */
	uint32_t tid;	/* of the requesting thread ... */
	uint32_t site;	/* ... and from where, as in an op */
};

/* Forget what was there. Before the gate opens. */
void ct_gloo_submit_init(void);

/* Threads that carry out a work whose submission was seen. */
extern _Atomic uint32_t ct_gloo_carried CT_NEAR;

/* That of the work that this thread carries out. */
struct ct_submitted ct_gloo_submitted(void);

/* Record it for the collective that this thread is about to record. The call site of that: the one
 * of the thread that asked, 0 not known, or if this thread carries out nothing. */
uint32_t ct_gloo_submit_record(uint32_t comm, uint64_t seq);

#endif
