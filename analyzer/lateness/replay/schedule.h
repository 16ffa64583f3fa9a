/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h — what is on the tape as a graph that can be played again with other times: who has to end before what
 * begins.
 *
 * A launch is what a rank starts at once: one operation, or those that share a group end. Its rank's own time before it
 * is the gap since the end of the launch `from`, on that rank's clock alone; on its stream it cannot start before the
 * launch `after` has ended. In a meeting the members of one operation come together: who ends when follows from the
 * starts of those he needs and from the transfer (docs/ANALYSIS.md, "What-if").
 *
 * Plain arrays: launches of a seat lie together in order of their starts, meetings once ordered so that each comes after all
 * that it needs. Every stretch of the tape is a graph by itself, its times count from its first start. One thread. */
#ifndef CT_WHATIF_SCHEDULE_H
#define CT_WHATIF_SCHEDULE_H

#include "analyzer/stream/instance_log.h"

#define CT_NO_LAUNCH UINT32_MAX

/* Parts of the tape that are played at most; of a longer tape every second eighth, every fourth, and so on. */
#define CT_SCHEDULE_PARTS (1u << 21)

/* Windows of the run at least. */
#define CT_SCHEDULE_WINDOWS 8u

struct ct_schedule_launch {
	uint64_t kind;	  /* what it does, the same on all ranks that do the same */
	int64_t start_ns; /* measured, since its stretch began ... */
	int64_t span_ns;  /* ... and to its end */
	uint32_t from; /* own launch whose end its gap is counted from; CT_NO_LAUNCH: the stretch's begin */
	uint32_t after; /* own launch before it on its stream; CT_NO_LAUNCH: none */
	uint32_t also;	/* another one that has to have ended; CT_NO_LAUNCH: none */
	uint32_t seat;
	uint32_t stretch;
	uint32_t stream, group;
	uint32_t err_ns; /* of start and end together */
	uint32_t messages;
};

/* When a member's part of a meeting ends. */
enum ct_part_end {
	CT_ENDS_WITH_ALL,  /* the latest start of all + the meeting's transfer */
	CT_ENDS_WITH_LEAD, /* the later of its own and the root's start + its own time */
	CT_ENDS_ALONE,	   /* its own start + its own time */
};

struct ct_schedule_part {
	uint32_t launch;
	uint8_t end;   /* enum ct_part_end */
	uint8_t opens; /* first part of its launch in the order of the meetings */
	int64_t own_ns;
};

struct ct_schedule_meeting {
	const struct ct_comm *comm;
	int64_t transfer_ns;
	uint32_t first_part, n;
	uint32_t window;
	uint32_t lead;	  /* part of the root, counted from first_part; UINT32_MAX: none leads */
	uint8_t computes; /* a graph: its transfer is no communication */
	uint8_t op;
	uint64_t bytes;
};

struct ct_schedule {
	struct ct_schedule_launch *launches;
	int64_t *gap_ns; /* by launch */
	struct ct_schedule_part *parts;
	struct ct_schedule_meeting *meetings;
	uint32_t *seat_first; /* launches of seat s: seat_first[s] .. seat_first[s + 1] - 1 */
	uint32_t n_launches, n_parts, n_meetings, n_seats, n_stretches;
	uint32_t n_windows, windows_each; /* of equal length in a stretch; of all, of each */
	int64_t *length_ns;		  /* measured, by stretch */
	int64_t total_ns;		  /* sum of them */
	double share;	  /* of the run, as counted by parts, that lies in the stretches */
	uint32_t untimed; /* meetings left out: a member has no times */
	uint32_t guessed; /* launches in queues: when they were ready is taken from peers */
	uint32_t broken; /* launches that would have waited for each other: they start as measured */
};

/* host_of by seat: times of one host need no relating. 0 or CT_NOMEM; ct_schedule_fini() in any case. */
int ct_schedule_build(struct ct_schedule *s, const struct ct_tape *tape, const uint32_t *host_of);
void ct_schedule_fini(struct ct_schedule *s);

/* Bring the meetings into an order in which they can be played. Whatever would wait for itself (times that contradict each
 * other) starts as it was measured. Changes `from`, `after`, `also` and gaps of those. 0 or CT_NOMEM. */
int ct_schedule_order(struct ct_schedule *s);

/* In which window of the run it started, as measured. Windows of a stretch lie together. */
uint32_t ct_schedule_window(const struct ct_schedule *s, const struct ct_schedule_launch *launch);

/* From now on a launch's gap counts from the end of `from`, an earlier launch of its seat. */
void ct_schedule_anchor(struct ct_schedule *s, uint32_t launch, uint32_t from);

#endif
