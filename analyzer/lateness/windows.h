/* SPDX-License-Identifier: Apache-2.0 */
/* windows.h — who is slow where ranks wait for each other in messages.
 *
 * Messages hand lateness on: the neighbours of a slow rank wait for it in their receives, their neighbours for them, and
 * at the next collective all arrive together. So everything between two synchronising collectives of one communicator
 * is looked at as one: all members left the first together and leave the second together, and whom they waited for in
 * between is who waited least itself. Needs no clock but each rank's own, apart from how long messages were waited for.
 * Formulas: docs/ANALYSIS.md, "Messages". One thread. */
#ifndef CT_BLAME_WINDOWS_H
#define CT_BLAME_WINDOWS_H

#include "analyzer/match/waits.h"
#include "analyzer/stream/stream.h"

/* Where a seat's clock stood at the end of an operation that its members left together. */
struct ct_anchor {
	const struct ct_comm *comm; /* NULL: none yet */
	uint64_t seq, end_ns;
};

/* Seat `seat`, in a call from asked_ns to end_ns, waited for something that seat `other` did at other_ns. */
struct ct_held {
	uint32_t seat, other;
	int is_send;
	uint32_t tries;
	uint64_t asked_ns, end_ns, other_ns;
};

/* Of ranks on different hosts, what waits for an operation that both took part in: that tells how their clocks stand. */
#define CT_HELD_MAX 65536u
#define CT_HELD_TRIES 256u

/* One window as if it were one operation: a member's arrival is the window without what it stood waiting, free_ns is
 * when it was in no call, since_ns..end_ns is the window on its own clock. */
struct ct_window {
	struct ct_instance instance;
	struct ct_waits waits;
	uint32_t cap;
	struct ct_held *held;
	uint32_t n_held, cap_held;
	struct ct_anchor *anchors; /* by seat */
	uint32_t n_anchors;
	uint64_t followed; /* sends and receives in windows that could be judged */
	struct ct_table
		within; /* (communicator, communicator): are the members of the one all in the other? */
};

void ct_window_fini(struct ct_window *window);

/* Both ends of a message are there: note how long they waited for each other. 0 or CT_NOMEM. */
int ct_window_message(struct ct_window *window, struct ct_stream *stream,
		      const struct ct_instance *message);

/* A judged collective, complete: the same for its members. 0 or CT_NOMEM. */
int ct_window_collective(struct ct_window *window, struct ct_stream *stream,
			 const struct ct_instance_event *event);

/* Look at what lies between this judged synchronising collective and the one before. Returns 1 and fills window->instance and ->waits;
 * 0 if there were no messages, or they cannot be judged this way; CT_NOMEM. */
int ct_window_judge(struct ct_window *window, const struct ct_stream *stream,
		    const struct ct_instance_event *event);

#endif
