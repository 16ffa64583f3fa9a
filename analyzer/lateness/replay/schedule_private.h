/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_private.h — what the makers of a schedule share while it is made. */
#ifndef CT_ANALYZER_LATENESS_REPLAY_SCHEDULE_PRIVATE_H
#define CT_ANALYZER_LATENESS_REPLAY_SCHEDULE_PRIVATE_H

#include "analyzer/base/table.h"
#include "analyzer/lateness/replay/schedule.h"
#include "analyzer/stream/instance_log.h"

/* What of the log is played: what others took part in, and all of them were timed. */
struct ct_schedule_choice {
	const struct ct_instance_log *log;
	uint32_t *stretch;	 /* by instance; UINT32_MAX: left out */
	uint32_t *exchange;	 /* by instance that is in */
	struct ct_table numbers; /* of stretches that are in */
	uint32_t n_stretches, n_parts, n_exchanges;
	uint32_t n_begun; /* parts that are only begun in their call */
};

struct ct_schedule_partners {
	int64_t last_start_ns, shortest_ns;
};

/* What a launch of the slot that is being added came from. */
struct ct_schedule_call {
	int64_t reached; /* the latest end of its slot's launches up to it */
	uint32_t stream, group;
	uint32_t tid; /* of a host whose calls come one after the other; 0: else */
};

struct ct_schedule_building {
	struct ct_schedule *s;
	const struct ct_schedule_choice *c;
	uint32_t *order; /* of a slot's parts: twice their index, 1 more for the call that waits for
			    one */
	struct ct_schedule_call *calls; /* of a slot's launches, counted from its first */
	uint32_t *launch_of;		/* by part of the log: when it came */
	uint32_t *ends_of;		/* likewise: that it ends */
	uint32_t *stride; /* by communicator: how far apart its ranks are; 0 not evenly */
	struct ct_schedule_partners *partners; /* by launch */
};

static inline int64_t ct_schedule_end(const struct ct_schedule_launch *launch)
{
	return launch->start_ns + launch->span_ns;
}

/* Started as what lies before it on its stream ended: it had been put there before. */
static inline int ct_schedule_is_queued(const struct ct_schedule *s,
					const struct ct_schedule_launch *launch)
{
	return launch->after != CT_NO_LAUNCH &&
	       launch->start_ns - ct_schedule_end(&s->launches[launch->after]) <= launch->err_ns;
}

/* The exchanges of all chosen instances, once their launches are there (exchanges.c). */
void ct_schedule_meet(struct ct_schedule_building *b, const uint32_t *host_of);

/* Once clocks are aligned: messages that hosts timed again, since a call that waits for several may
 * wait for other hosts. */
void ct_schedule_meet_aligned(struct ct_schedule_building *b);

/* Hosts whose clocks stand elsewhere: bring their launches, stretch by stretch, to where the ends
 * of operations that they share lie together (align.c). 0 or CT_NOMEM. */
int ct_schedule_align(struct ct_schedule *s, const uint32_t *host_of);

#endif
