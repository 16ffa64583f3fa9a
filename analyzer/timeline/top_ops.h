/* SPDX-License-Identifier: Apache-2.0 */
/* top_ops.h — the operations that cost most: those that took all ranks together longest, and those
 * in which ranks waited longest for one of them, with those ranks. Bounded; one thread. */
#ifndef CT_ANALYZER_TIMELINE_TOP_OPS_H
#define CT_ANALYZER_TIMELINE_TOP_OPS_H

#include "analyzer/model/report.h"
#include "analyzer/timeline/instance_cache.h"

/* The ranks that waited longest for one operation. */
#define CT_COSTLY_VICTIMS 16u
/* Operations that are kept with them, and those that a finding flags. */
#define CT_COSTLY_BLAMED 1024u
#define CT_COSTLY_FLAGGED 8u

struct ct_victim {
	uint32_t index; /* member, as struct ct_cached_key has it */
	uint32_t slot;
	uint64_t wait_ns;
	int drawn;
};

/* Ranks waited in it for one that clearly came last. */
struct ct_blamed {
	uint64_t cost_ns;	  /* what all of them waited */
	struct ct_cached_key key; /* of the one that came last */
	uint32_t slot, comm;	  /* of it; index of the communicator */
	uint64_t at_ns;		  /* when it came; since the run began */
	uint64_t end_ns;	  /* of the operation */
	int finding;		  /* id of its finding; 0: none, the rest is not drawn */
	int drawn;
	uint32_t n_victims;
	struct ct_victim
		victims[CT_COSTLY_VICTIMS]; /* the longest wait first; all came before at_ns */
};

struct ct_timed {
	uint64_t time_ns; /* that it took all its ranks together */
	struct ct_cached_instance instance;
};

struct ct_costly {
	struct ct_blamed *blamed; /* a heap by cost_ns, the least first; once flagged, the flagged
				     ones alone */
	uint32_t n_blamed;
	struct ct_timed *timed; /* a heap by time_ns */
	uint32_t n_timed, cap_timed, most_timed;
	uint64_t seen; /* operations */
	struct ct_table flagged;
};

/* Keep up to `most_timed` of those that took longest. 0 or CT_NOMEM. */
int ct_costly_init(struct ct_costly *costly, uint32_t most_timed);
void ct_costly_fini(struct ct_costly *costly);

/* A judged instance, and what is shown of it; at() makes a time of a slot's host one since the run
 * began. 0 or CT_NOMEM. */
typedef uint64_t (*ct_costly_at)(const void *arg, uint32_t slot, uint64_t mono_ns);
int ct_costly_add(struct ct_costly *costly, const struct ct_instance *instance,
		  const struct ct_waits *waits, const struct ct_cached_instance *shown,
		  ct_costly_at at, const void *arg);

/* Only those that have a finding remain, and can be found. 0 or CT_NOMEM. */
int ct_costly_close(struct ct_costly *costly);

/* The flagged operation that the member took part in; NULL: none. *victim NULL: it is not one that
 * waited longest. */
struct ct_blamed *ct_costly_find(const struct ct_costly *costly, const struct ct_cached_key *member,
				 struct ct_victim **victim);

/* The number of the arrow from a waiting rank. */
uint64_t ct_costly_arrow(const struct ct_blamed *blamed, const struct ct_victim *victim);

#endif
