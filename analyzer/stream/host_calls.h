/* SPDX-License-Identifier: Apache-2.0 */
/* host_calls.h — when one rank was inside communicating calls, and how long it waited in each for a
 * rank that had not arrived. In host timing this is its time in communication, not the spans of
 * nonblocking operations: a rank between MPI_Irecv and MPI_Waitall computes. Calls come as they are
 * read: those of operations and those that only wait (MPI_Wait, MPI_Probe: HOST records) each in
 * about the order of their times. Their waits become known later, with the other ends. A rank is in
 * communication as long as any of its threads is. The latest CT_CALLS_MAX of both kinds are kept;
 * earlier times are unknown. One thread; a zeroed struct is that of a rank that has made no such
 * call. */
#ifndef CT_ANALYZER_STREAM_HOST_CALLS_H
#define CT_ANALYZER_STREAM_HOST_CALLS_H

#include <stdint.h>

#define CT_CALLS_MAX 32768u /* size: calls of a rank; the oldest give way */

#define CT_CALL_OPEN UINT64_MAX /* end of a call that has not returned as far as was read */

struct ct_call {
	uint64_t begin_ns, end_ns;
	uint32_t tid;
	uint32_t comm;	     /* of a waiting call: the communicator that it is about; 0 not known */
	uint32_t is_message; /* it sent, received, or waited for that */
	/* what is known to have ended in a waiting call: operations of the rank alone, with others */
	uint32_t served_itself : 1, served_others : 1;
	uint32_t ends_several : 1; /* of a waiting call: it returned when all of several had ended */
};

/* By begin_ns; all[first..n) are in use. */
struct ct_call_list {
	struct ct_call *all;
	uint32_t first, n, cap;
	uint32_t tid;	 /* of the first that came */
	int has_threads; /* they are not all one thread's: they may overlap */
};

struct ct_calls {
	struct ct_call_list ops, waits;
	uint64_t from_ns; /* known from here on; 0: no call yet */
};

enum ct_call_kind { CT_CALL_OP, CT_CALL_WAIT };

void ct_calls_fini(struct ct_calls *calls);

/* A call. 0 or CT_NOMEM. */
int ct_calls_add(struct ct_calls *calls, enum ct_call_kind kind, const struct ct_call *call);

/* A call that only blocks was entered by a thread (end_ns CT_CALL_OPEN), or has returned, with or
 * without having been reported before. One that knows a communicator only when it returns has made
 * it, and waited for no message. 0 or CT_NOMEM. */
int ct_calls_wait(struct ct_calls *calls, const struct ct_call *call);

/* When the waiting call was entered that was under way at this time, the latest of them; 0: none
 * was. */
uint64_t ct_calls_entered(const struct ct_calls *calls, uint64_t at_ns);

/* Latest end of a call up to this time; 0: none is known. */
uint64_t ct_calls_ended(const struct ct_calls *calls, uint64_t at_ns);

/* The next waiting call after the one that was entered at after_ns, if it was entered by until_ns;
 * NULL: none. */
const struct ct_call *ct_calls_next_wait(const struct ct_calls *calls, uint64_t after_ns,
					 uint64_t until_ns);

/* In the waiting call that was entered then an operation ended, `with_others` or alone. Calls in
 * which nothing but the latter ended are none that communicate. Returns its ends_several. */
int ct_calls_serve(struct ct_calls *calls, uint64_t enter_ns, int with_others);

#endif
