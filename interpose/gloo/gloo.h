/* SPDX-License-Identifier: Apache-2.0 */
/* gloo.h — the Gloo backend: wrappers around libgloo's C++ functions, in C.
 *
 * gloo.c has the collectives, comm.c how communicators come and go, p2p.c the transfers that a
 * program makes itself, submit.c when torch asked for a collective. What a collective calls inside
 * (sends, receives, waits) is seen by the same wrappers and counted, not recorded: the thread is
 * inside a recorded call then.
 */
#ifndef CT_INTERPOSE_GLOO_GLOO_H
#define CT_INTERPOSE_GLOO_GLOO_H

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/guard.h"
#include "interpose/real.h"

struct ct_traced_comm;

/* Where libgloo may be found when the caller's own scope does not have it. */
extern const char *const ct_gloo_sonames[];

/* In the body of wrapper `fn` of `symbol`: the function to pass the call on to, NULL if there is
 * none. */
#define CT_GLOO_NEXT(fn, symbol) CT_GLOO_NEXT_OF(fn, symbol, __builtin_return_address(0))

/* The same for a virtual function of `object`, which goes to the copy that has the object's class:
 * the caller may be this library itself, if a collective ends with the call and its compiler made
 * that a jump. */
#define CT_GLOO_NEXT_VIRTUAL(fn, symbol, object)                                                   \
	CT_GLOO_NEXT_OF(fn, symbol, *(void *const *)(object))

#define CT_GLOO_NEXT_OF(fn, symbol_, caller)                                                       \
	({                                                                                         \
		static struct ct_real real_ = {                                                    \
			.symbol = symbol_,                                                         \
			.self = (const void *)&(fn),                                               \
			.names = ct_gloo_sonames,                                                  \
		};                                                                                 \
		ct_real_find(&real_, caller);                                                      \
	})

/* Put the names of the calls into the ring's string table; if not `wanted`, calls pass unrecorded.
 * Before the gate opens. */
void ct_gloo_init(int wanted);
void ct_gloo_comm_init(int wanted);
void ct_gloo_p2p_init(void);

/* The wrapper before this symbol, 0 if there is none that communicates. Any thread. */
uintptr_t ct_gloo_wrapper(const char *symbol);

/* A call of Gloo has come by in this process: those of c10d's works are seen. Any thread. */
extern _Atomic uint32_t ct_gloo_heard CT_NEAR;

/* Where c10d carried out works for Gloo, and no call of Gloo came by: an address of its code; 0 as
 * long as all is well. Any thread. */
uintptr_t ct_gloo_unheard(void);

/* The communicator of a gloo::Context; made known now if it was not (it is older than the
 * recording). NULL: not to be recorded. */
struct ct_traced_comm *ct_gloo_comm(const void *context);

/* The same for a transport::Context. */
struct ct_traced_comm *ct_gloo_transport_comm(const void *transport);

/* A send or receive of the program's own has thrown: struct ct_frame's `leave` of those, whose
 * frame is an op's. */
void ct_gloo_transfer_leave(struct ct_frame *frame) CT_NEAR;

#endif
