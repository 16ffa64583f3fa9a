/* SPDX-License-Identifier: Apache-2.0 */
/* replay.h — how long the run takes if its ranks' gaps or its transfers are others.
 *
 * One walk over the ordered exchanges (algorithms: arrival = end of what came before + gap; one
 * that synchronises ends at the latest arrival + transfer). O(parts); pure; one thread each. */
#ifndef CT_ANALYZER_LATENESS_REPLAY_REPLAY_H
#define CT_ANALYZER_LATENESS_REPLAY_REPLAY_H

#include "analyzer/lateness/replay/schedule.h"

struct ct_replay {
	int64_t *start_ns, *end_ns; /* by launch, since its stretch began */
	int64_t *reached_ns;	    /* by stretch: when all of it was done, since it began */
	int64_t total_ns;	    /* sum of the lengths of the stretches */
};

/* Memory to play the schedule as ct_schedule_order() left it; again once that was called again.
 * Several threads may play one schedule, each with its own struct. 0 or CT_NOMEM; ct_replay_fini()
 * in any case. */
int ct_replay_init(struct ct_replay *replay, const struct ct_schedule *schedule);
void ct_replay_fini(struct ct_replay *replay);

/* Play. gap_ns by launch: the schedule's own, or others. transfer_ns by exchange: NULL, or others
 * than its own. is_free: what moves data takes no time at all, but graphs, which compute. Returns
 * and sets total_ns. */
int64_t ct_replay_run(struct ct_replay *replay, const struct ct_schedule *schedule,
		      const int64_t *gap_ns, const int64_t *transfer_ns, int is_free);

#endif
