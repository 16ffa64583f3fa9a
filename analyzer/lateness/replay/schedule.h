/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h — the recorded instances as a graph that the replay can run with other times: what has
 * to end before what begins.
 *
 * A launch is what a rank starts at once: one operation, or those that share a group end. Its
 * rank's own time before it is the gap since the end of the launch `from`, on that rank's clock
 * alone; on its stream it cannot start before the launch `after` has ended. A call that only begins
 * an operation is a launch that ends as it starts, and the call that waits for such operations is
 * another one, which they end. In an exchange the members of one operation come together: when each
 * ends follows from the starts of those it needs and from the transfer
 * (docs/dev/algorithms/lateness.md).
 *
 * Plain arrays: launches of a slot lie together in order of their starts, exchanges once ordered so
 * that each comes after all that it needs. Then parts hold all that playing takes: launches are
 * larger, and are not met in that order. Every stretch of the log is a graph by itself, its times
 * count from its first start. One thread. */
#ifndef CT_ANALYZER_LATENESS_REPLAY_SCHEDULE_H
#define CT_ANALYZER_LATENESS_REPLAY_SCHEDULE_H

#include "analyzer/model/model.h"
#include "analyzer/stream/instance_log.h"

#define CT_NO_LAUNCH UINT32_MAX

enum ct_launch_role {
	CT_LAUNCH_WHOLE, /* begins and ends operations */
	CT_LAUNCH_BEGINS,
	CT_LAUNCH_WAITS,
};

struct ct_schedule_launch {
	uint64_t kind;	  /* what it does, the same on all ranks that do the same */
	int64_t start_ns; /* measured, since its stretch began ... */
	int64_t span_ns;  /* ... and to its end */
	uint32_t width;	  /* members of its largest collective; 0: messages only */
	uint32_t from;	/* own launch whose end its gap is counted from; CT_NO_LAUNCH: the stretch's
			   begin */
	uint32_t after; /* own launch before it on its stream; CT_NO_LAUNCH: none */
	uint32_t also;	/* another one that has to have ended; CT_NO_LAUNCH: none */
	uint32_t slot;
	uint32_t stretch;
	uint32_t err_ns; /* of start and end together */
	uint32_t messages, sends;
	uint16_t site; /* call site of its first operation, by number (order/sites.h); 0 unknown */
	uint8_t role : 6;	  /* enum ct_launch_role */
	uint8_t is_in_turn : 1;	  /* of a host whose calls come one after the other; 0: not known
				     which computing waits for which */
	uint8_t is_uncertain : 1; /* its gap is not evidence: operations without times lie in it, or
				     its kernel may have waited for SMs */
};

/* When a member's part of a exchange ends. */
enum ct_part_end {
	CT_ENDS_WITH_ALL,  /* the latest start of all + the exchange's transfer + its own delay */
	CT_ENDS_WITH_LEAD, /* the later of its own and the root's start + its own time */
	CT_ENDS_ALONE,	   /* its own start + its own time */
};

struct ct_schedule_part {
	int64_t own_ns; /* of CT_ENDS_WITH_ALL: how much later than the first its host saw the end */
	uint32_t launch;	    /* from whose start it counts */
	uint32_t ends;		    /* which ends with it; mostly the same */
	uint32_t from, after, also; /* once ordered, of the launch that it opens; none: n_launches
				       for `from`, else n_launches + 1 */
	uint8_t end;		    /* enum ct_part_end */
	uint8_t opens;		    /* once ordered: it is the first part of its launch */
};

/* A collective or a message, as it is replayed: parts of several launches that wait for each other.
 */
struct ct_schedule_exchange {
	const struct ct_comm *comm;
	int64_t transfer_ns;
	uint32_t first_part, n;
	uint32_t stretch;
	uint32_t lead;	  /* part of the root, counted from first_part; UINT32_MAX: none leads */
	uint8_t computes; /* a graph: its transfer is not communication */
	uint8_t is_plain; /* once ordered: all members end it together */
	uint8_t op;
	uint64_t bytes;
};

struct ct_schedule {
	struct ct_schedule_launch *launches;
	int64_t *gap_ns; /* by launch */
	struct ct_schedule_part *parts;
	struct ct_schedule_exchange *exchanges;
	uint32_t *slot_first; /* launches of slot s: slot_first[s] .. slot_first[s + 1] - 1 */
	uint32_t n_launches, n_parts, n_exchanges, n_slots, n_stretches;
	int64_t *length_ns; /* measured, by stretch */
	int64_t *begin_ns;  /* by stretch: its first start, since the run began */
	int64_t total_ns;   /* sum of them */
	uint32_t guessed;   /* launches in queues: when they were ready is taken from peers */
	uint8_t is_ordered; /* ct_schedule_order() was called */
	uint32_t broken; /* launches that would have waited for each other: they start as measured */
};

/* Of what the log holds. 0 or CT_NOMEM; ct_schedule_fini() in any case. */
int ct_schedule_build(struct ct_schedule *s, const struct ct_instance_log *log,
		      const struct ct_model *model);
void ct_schedule_fini(struct ct_schedule *s);

/* Bring the exchanges into an order in which they can be played. Whatever would wait for itself
 * (times that contradict each other) starts as it was measured. Changes `from`, `after`, `also` and
 * gaps of those. 0 or CT_NOMEM. */
int ct_schedule_order(struct ct_schedule *s);

/* From now on a launch's gap counts from the end of `from`, an earlier launch of its slot. */
void ct_schedule_anchor(struct ct_schedule *s, uint32_t launch, uint32_t from);

#endif
