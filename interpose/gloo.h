/* SPDX-License-Identifier: Apache-2.0 */
/* gloo.h — the Gloo backend: wrappers around libgloo's C++ functions, in C.
 *
 * gloo.c has the collectives, gloo_comm.c how communicators come and go, gloo_p2p.c the transfers that a program
 * makes itself. What a collective calls inside (sends, receives, waits) is seen by the same wrappers and passed
 * on unrecorded: the thread is inside a recorded call then.
 */
#ifndef CT_GLOO_H
#define CT_GLOO_H

#include <stdint.h>

#include "interpose/real.h"

struct ct_comm;

/* Where libgloo may be found when the caller's own scope does not have it. */
extern const char *const ct_gloo_sonames[];

/* In the body of wrapper `fn` of `symbol`: the function to pass the call on to, NULL if there is none. */
#define CT_GLOO_NEXT(fn, symbol_)                                                                  \
	({                                                                                         \
		static struct ct_real real_ = {                                                    \
			.symbol = symbol_,                                                         \
			.self = (const void *)&(fn),                                               \
			.names = ct_gloo_sonames,                                                  \
		};                                                                                 \
		ct_real_find(&real_, __builtin_return_address(0));                                 \
	})

/* Put the names of the calls into the ring's string table; if not `wanted`, calls pass unrecorded. Before the gate
 * opens. */
void ct_gloo_init(int wanted);
void ct_gloo_comm_init(int wanted);
void ct_gloo_p2p_init(void);

/* The communicator of a gloo::Context; made known now if it was not (it is older than the recording). NULL: not
 * to be recorded. */
struct ct_comm *ct_gloo_comm(const void *context);

/* The same for a transport::Context. */
struct ct_comm *ct_gloo_transport_comm(const void *transport);

#endif
