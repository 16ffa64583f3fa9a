/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_index.h — the first reading of a run, through the eyes of an analysis: which ranks are
 * there, which communicators, what the instances came to, and how much there is to draw. All that
 * the second reading leans on. One thread. */
#ifndef CT_ANALYZER_TIMELINE_TIMELINE_INDEX_H
#define CT_ANALYZER_TIMELINE_TIMELINE_INDEX_H

#include "analyzer/load/load.h"
#include "analyzer/model/clocks.h"
#include "analyzer/model/model.h"
#include "analyzer/timeline/budget.h"
#include "analyzer/timeline/instance_cache.h"
#include "analyzer/timeline/stall_track.h"
#include "analyzer/timeline/timeline.h"
#include "analyzer/timeline/top_ops.h"

struct ct_model;

struct ct_timeline_index_comm {
	uint64_t id; /* ct_cached_comm() */
	uint32_t nranks;
	unsigned backend;
	uint32_t label; /* texts: "world:ee01", */
	uint32_t hash;	/* "00000000c0ffee01" */
};

struct ct_timeline_index_process {
	uint32_t slot; /* of its first rank */
	uint32_t host;
	uint64_t sign_ns; /* the last heartbeat or record */
	uint8_t is_there; /* in this start */
	uint8_t drawn;	  /* one of its ranks is */
};

struct ct_timeline_index_slot {
	int rank;   /* -1 unknown */
	int device; /* from its communicators; -1 none or unknown */
	uint32_t host, process;
	uint32_t local; /* which of the process's ranks it is */
	uint32_t pid;
	const char *bus_id; /* of the device; NULL unknown */
	uint8_t drawn;
	uint8_t has_exposed; /* its waits for communication are known: */
	uint64_t exposed_ns, exposed_err_ns;
};

struct ct_timeline_index_host {
	const char *name;    /* in the arena of the texts */
	uint32_t number;     /* of those with ranks, from 0, by their lowest one */
	int lowest, highest; /* rank; highest -1: none is known */
	uint8_t drawn;
};

struct ct_timeline_index {
	const struct ct_timeline_options *options;
	struct ct_texts texts;
	struct ct_instance_cache *kept;
	struct ct_costly costly;
	struct ct_stall_track stalls;
	struct ct_budget *budget; /* of the selection's slices */
	uint8_t *wanted;	  /* by slot: selected, while reading */
	uint32_t n_wanted;
	struct ct_table more_slots;		     /* (process, which of its ranks) -> slot + 1 */
	struct ct_timeline_index_process *processes; /* by process of the run */
	uint32_t n_processes;
	struct ct_timeline_index_slot *slots;
	uint32_t n_slots;
	struct ct_timeline_index_host *hosts;
	uint32_t n_hosts;
	uint32_t n_nodes;		      /* hosts with ranks */
	struct ct_clocks *clocks;	      /* NULL: not related */
	uint64_t *shifts;		      /* by host: see ct_clocks_shift() */
	struct ct_timeline_index_comm *comms; /* by index */
	uint32_t n_comms;
	struct ct_table comm_by_id;
	uint64_t begin_unix_ns, duration_ns;
	uint64_t last_ns; /* latest time of any op: what did not end lasts until then at least */
	uint64_t sign_ns; /* the latest heartbeat of any process */
	uint64_t from_ns, to_ns; /* what is to be drawn */
};

/* Read the run with an analysis. *report as ct_analyze() makes it. 0 or as ct_timeline_open().
 * ct_timeline_index_fini() in any case. */
int ct_timeline_index_take(struct ct_timeline_index *tl_index, const struct ct_run *run,
			   const struct ct_timeline_options *options, struct ct_report **report,
			   struct ct_err *err);
void ct_timeline_index_fini(struct ct_timeline_index *tl_index);

/* What is drawn: the selected ranks, from from_ns to the selection's end. */
void ct_timeline_index_show(struct ct_timeline_index *tl_index, uint64_t from_ns);

/* Which ranks, hosts and communicators were seen; for when all is read. 0 or CT_NOMEM. */
int ct_timeline_index_ranks(struct ct_timeline_index *tl_index, const struct ct_model *model);

/* Of the operations that took longest, how many are kept for an overview. */
static inline uint32_t ct_timeline_index_timed(const struct ct_timeline_options *options)
{
	return options->max_slices / 4 < 65536 ? (uint32_t)options->max_slices / 4 : 65536;
}

/* Flags the operations that findings refer to. 0 or CT_NOMEM. */
int ct_timeline_index_flag(struct ct_timeline_index *tl_index, const struct ct_report *report);

/* The slot of one of the ranks of a process. */
uint32_t ct_timeline_index_slot(const struct ct_timeline_index *tl_index, uint32_t process,
				uint32_t local);

/* NULL: not known. */
const struct ct_timeline_index_comm *ct_timeline_index_find(
	const struct ct_timeline_index *tl_index, uint64_t key, uint32_t nranks);

/* A host's time as ns since the run began: never before it, and never so late that it means
 * something else. */
static inline uint64_t ct_timeline_index_at(const struct ct_timeline_index *tl_index, uint32_t host,
					    uint64_t mono_ns)
{
	uint64_t at = mono_ns + ct_clocks_shift(tl_index->clocks, host, mono_ns, tl_index->shifts);

	return (int64_t)at < 0 ? 0 : at;
}

/* What of an op can be seen: from its call or its work, whichever began first, to the end of both;
 * CT_TIMELINE_OPEN if one of them did not end. */
void ct_timeline_index_interval(const struct ct_timeline_index *tl_index, uint32_t host,
				const struct ct_load_op *op, uint64_t *begin_ns, uint64_t *end_ns);

static inline int ct_timeline_index_inside(const struct ct_timeline_index *tl_index,
					   uint64_t begin_ns, uint64_t end_ns)
{
	return end_ns >= tl_index->from_ns && begin_ns <= tl_index->to_ns;
}

#endif
