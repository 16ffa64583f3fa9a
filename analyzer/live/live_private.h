/* SPDX-License-Identifier: Apache-2.0 */
/* live_private.h — what the files of a live reading share: live.c opens, reads and sums up by rank,
 * live_rows.c by kind of operation, in_flight.c looks at the rings. One thread. */
#ifndef CT_ANALYZER_LIVE_LIVE_PRIVATE_H
#define CT_ANALYZER_LIVE_LIVE_PRIVATE_H

#include "analyzer/base/arena.h"
#include "analyzer/lateness/arrivals.h"
#include "analyzer/live/live.h"
#include "analyzer/live/slow.h"
#include "analyzer/overlap/overlap_observe.h"
#include "analyzer/stream/follow.h"
#include "trace/ring_read.h"

/* size: points of the past that rates are looked up in, a second apart at least */
#define CT_LIVE_PAST 32u

struct ct_live_past {
	struct ct_live_sums at[CT_LIVE_PAST];
	uint32_t n; /* the newest is at[(n - 1) % CT_LIVE_PAST] */
	uint64_t exposed_ns;
	uint64_t vague_ns;	 /* spans of which it is not known how long they were waited for */
	struct ct_cover by_host; /* what was waited for on the host: each moment once */
	unsigned backends_by_host; /* libraries that it was exposed to on the host, a bit each */
};

/* size: kinds of errors that are counted apart */
#define CT_LIVE_ERRORS 64u

enum {
	CT_LIVE_SLOW,
	CT_LIVE_STEPS,
	CT_LIVE_OVERLAP,
	CT_LIVE_ARRIVALS,
	CT_LIVE_OWN,
	CT_LIVE_OBSERVERS
};

struct ct_live {
	struct ct_live_options options;
	struct ct_run *run; /* NULL: nothing recorded yet */
	struct ct_starts starts;
	struct ct_follow *follow;
	struct ct_observer observers[CT_LIVE_OBSERVERS];
	struct ct_slow_watch slow;
	struct ct_overlap_log overlap;
	struct ct_arrivals arrivals;
	struct ct_live_past *past; /* by slot */
	uint32_t n_past;
	struct ct_ring_view *rings; /* by process of the run; without bytes: none */
	struct ct_live_error errors[CT_LIVE_ERRORS];
	uint32_t n_errors;
	uint64_t scanned_ns; /* CLOCK_MONOTONIC: when the run was opened last */
	/* of the latest look */
	struct ct_arena *memory;
	struct ct_live_view view;
};

/* "dp"; "other" if the name does not show it: a role that becomes clear later would end one series
 * and begin another. */
const char *ct_live_role(const struct ct_model *model, const struct ct_comm *comm);

/* A communicator's name, or the first digits of its hash. */
const char *ct_live_comm_name(struct ct_arena *memory, const char *name, uint64_t hash);

/* view.rows. 0 or CT_NOMEM. */
int ct_live_fill_rows(struct ct_live *live);
void ct_live_free_rows(struct ct_live *live);

/* What the rings of the processes show of `view.ranks`, by slot. 0 or CT_NOMEM. */
int ct_live_look_at_rings(struct ct_live *live);
void ct_live_close_rings(struct ct_live *live);

#endif
