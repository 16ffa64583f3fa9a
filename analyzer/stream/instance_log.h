/* SPDX-License-Identifier: Apache-2.0 */
/* instance_log.h — complete instances with the times of all their members, kept in memory for
 * analyses over several instances (steps, replay, gaps, links). Bounded: everything is kept as long
 * as there is space, then whole stretches of the run (sample.h). An instance belongs to where its
 * first member entered it.
 *
 * Of groups (docs/dev/algorithms/matching.md, "Groups"): collectives that share a launch are there
 * each, with the launch's times and its number; messages likewise; an exchange of all with all
 * once, as an AllToAll, and its messages not. One thread. Times are ns since the run began, on the
 * run's clock as ct_model_at() has it. */
#ifndef CT_ANALYZER_STREAM_INSTANCE_LOG_H
#define CT_ANALYZER_STREAM_INSTANCE_LOG_H

#include "analyzer/match/waits.h"
#include "analyzer/stream/sample.h"

/* size: parts that are kept at most: so many for each slot, 2 MB. With half as many, stalls that
 * come every 100 or 200 steps of seven operations were no longer recognized as a pattern; ranks
 * that are slow throughout are down to an eighth ... */
#define CT_LOG_PARTS_A_SLOT (1u << 14)

/* size: ... and of all slots together, 240 MB */
#define CT_LOG_PARTS (1u << 21)

/* What one member did in one instance. */
struct ct_log_part {
	uint64_t enter_ns;	   /* of its call */
	uint64_t start_ns, end_ns; /* span, 0 not measured */
	uint64_t asked_ns; /* entry of the call that waited for its end, if its own only began it;
			      0: that did, or unknown */
	uint64_t free_ns;  /* right before its start in which its rank was in no communication;
			      UINT64_MAX unknown */
	uint64_t wait_ns;  /* for others, of the span; UINT64_MAX unknown */
	uint32_t err_ns;   /* of start and end together */
	uint32_t instance; /* index into instances */
	uint32_t slot;
	uint32_t index;	 /* rank in the communicator; of a message 0 sender, 1 receiver */
	uint32_t stream; /* 0 none */
	uint32_t tid;	 /* of its call */
	uint32_t group;	 /* number of the launch that it shares with others, 0: alone in it */
	uint16_t site;	 /* of its call, by number (order/sites.h); 0 unknown */
	uint8_t on_gpu : 1;
	uint8_t is_vague : 1; /* only begun in its call, and which call waited for its end is not on
				 record */
	uint8_t leads : 1;    /* its group, if there is one */
	uint8_t came_late : 1; /* ct_log_part_came() is asked_ns, not its start */
};

/* When it let the operation move, see ct_member_came(). */
static inline uint64_t ct_log_part_came(const struct ct_log_part *part)
{
	return part->came_late ? part->asked_ns : part->start_ns;
}

struct ct_log_instance {
	const struct ct_comm *comm;
	uint64_t seq;
	uint64_t bytes;	      /* of the whole operation */
	uint64_t count;	      /* of its first member */
	uint64_t transfer_ns; /* X; CT_NO_TRANSFER unknown */
	uint64_t at_ns;	      /* when its first member entered it */
	uint64_t late_ns;     /* of a collective, for which its other members waited for late_member
				 alone: own_ns of struct ct_last */
	uint32_t late_member; /* in order of sight */
	uint32_t clock_err_ns;	/* what relating the members' clocks adds to the error of a wait */
	uint32_t first_part, n; /* its members, in order of sight */
	int32_t src, dst;	/* of a message, ranks in the communicator; else -1 */
	int32_t root;		/* rank in the communicator; -1 none */
	uint8_t op, dtype;
	uint8_t varying; /* sizes may differ from time to time and from member to member */
	uint8_t is_swap; /* ct_group_is_swap() */
	uint8_t judged;	 /* enum ct_judged */
};

struct ct_instance_log {
	struct ct_log_instance *instances;
	struct ct_log_part *parts;
	uint32_t n_instances, n_parts;
	uint64_t seen_instances, seen_parts; /* those that were forgotten too */
	/* Once closed: the parts of each slot by start (those without by entry):
	 * order[slot_first[s]] .. order[slot_first[s + 1] - 1] are indexes into parts. */
	uint32_t *order, *slot_first;
	uint32_t n_slots;
	struct ct_sample sample; /* that it keeps */
	/* private */
	uint32_t cap_instances, cap_parts, most_parts;
	uint32_t one_of; /* of the sample, as far as what it does not keep was forgotten */
};

/* most_parts 0: CT_LOG_PARTS. */
void ct_instance_log_init(struct ct_instance_log *log, uint32_t most_parts);
void ct_instance_log_fini(struct ct_instance_log *log);

/* Take in a complete instance. `waits`: NULL, or what is known of it. host_of by slot; shift by
 * host: what makes its clock the run's. 0 or CT_NOMEM. */
int ct_instance_log_add(struct ct_instance_log *log, const struct ct_instance *instance,
			const struct ct_waits *waits, const uint32_t *host_of,
			const uint64_t *shift);

/* Takes in all that a stream reads, as much as has space for its slots; `log` is initialized, and
 * closed at the end of the reading. */
struct ct_observer;
void ct_instance_log_observe(struct ct_instance_log *log, struct ct_observer *observer);

/* After the last instance: puts the parts of each slot in order. 0 or CT_NOMEM. */
int ct_instance_log_close(struct ct_instance_log *log, uint32_t n_slots);

/* The kept fraction of the run, 0..1. Sums over the log divided by it are estimates for the run. */
double ct_instance_log_share(const struct ct_instance_log *log);

#endif
