/* SPDX-License-Identifier: Apache-2.0 */
/* whatif.h — how long the run would have taken if somebody had been like the others: what a rank, a host or a group costs,
 * through all communicators, and what communication costs at all.
 *
 * The tape's stretches are played again with other gaps (schedule.h, usual.h, replay.h); the loss of somebody is the difference.
 * How good the play is, playing what was measured shows (`error_pct`). Figures are of the part of the run that is on the
 * tape. Formulas: docs/ANALYSIS.md, "What-if". One thread. */
#ifndef CT_WHATIF_H
#define CT_WHATIF_H

#include "analyzer/lateness/replay/replay.h"
#include "analyzer/lateness/replay/usual.h"
#include "analyzer/stream/instance_log.h"

/* Beyond that error nothing is told by it; the same for launches that are missing or had to be broken loose. */
#define CT_WHATIF_ERROR_PCT 5.0
#define CT_WHATIF_LEFT_OUT_PCT 1.0
/* Ranks, groups and hosts that are looked at: those with the longest gaps beyond the usual ones, and ranks that are asked for. */
#define CT_WHATIF_RANKS 8u
#define CT_WHATIF_GROUPS 8u
#define CT_WHATIF_HOSTS 16u

/* What came of one change. */
struct ct_whatif_loss {
	int64_t loss_ns;  /* by which the run is shorter; may be negative by chance */
	uint32_t windows; /* in which it is, by half a percent of their length at least */
};

enum ct_whatif_kind { CT_WHATIF_LATEST, CT_WHATIF_HOST, CT_WHATIF_GROUP };

/* Ranks that may be slow together: the latest ones, a host's, a communicator's. */
struct ct_whatif_set {
	enum ct_whatif_kind kind;
	const struct ct_comm *comm; /* of a group */
	uint32_t host;		    /* of a host's */
	uint32_t *seats;	    /* sorted */
	uint32_t n;
	struct ct_whatif_loss loss; /* if all of them kept the usual pace */
};

struct ct_whatif {
	struct ct_schedule schedule;
	struct ct_peers peers;
	struct ct_usual usual;
	struct ct_replay replay;
	int64_t *gap_ns; /* by launch, of the change that is played */
	int64_t *base_window_ns;
	int64_t *base_span_ns; /* by seat: sum of its spans */
	int64_t total_ns;      /* measured */
	int64_t replayed_ns;   /* what was measured, played */
	int64_t usual_ns;      /* all gaps as usual */
	int64_t free_ns;       /* communication takes no time; no longer than it would take */
	double error_pct;      /* of replayed_ns; NAN: nothing was played */
	double left_out_pct;   /* of the meetings */
	int is_close; /* both are small, and all ranks hang together: what is told may be relied on */
	uint8_t *is_asked;	      /* by seat: it has a row in ranks */
	struct ct_whatif_loss *ranks; /* by seat */
	struct ct_whatif_set *sets;
	uint32_t n_sets;
};

/* `comms` may be NULL: no groups. asked by seat (may be NULL): whose loss is to be known in any case. 0 or CT_NOMEM;
 * ct_whatif_fini() in any case. */
int ct_whatif_run(struct ct_whatif *w, const struct ct_tape *tape, const struct ct_comms *comms,
		  const uint32_t *host_of, const uint8_t *asked);
void ct_whatif_fini(struct ct_whatif *w);

/* Play with the gaps of these seats at the usual pace. w->replay holds the result until the next one. */
struct ct_whatif_loss ct_whatif_play(struct ct_whatif *w, const uint32_t *seats, uint32_t n);

/* What these seats would cost if nobody else came later than usual: whose slowness others' covers costs nothing in the play above.
 * Noise of the others does not cover theirs, so it is rather more than they cost. */
int64_t ct_whatif_alone(struct ct_whatif *w, const uint32_t *seats, uint32_t n);

/* Are all of them held against peers? */
int ct_whatif_is_known(const struct ct_whatif *w, const uint32_t *seats, uint32_t n);

/* The sets that are worth it, played into w->sets (sets.c). 0 or CT_NOMEM. */
int ct_whatif_sets(struct ct_whatif *w, const struct ct_comms *comms, const uint32_t *host_of);

#endif
