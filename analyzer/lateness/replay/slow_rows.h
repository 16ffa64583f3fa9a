/* SPDX-License-Identifier: Apache-2.0 */
/* slow_rows.h — the smallest set of ranks, hosts, groups and stages whose mending gains more than
 * its error, steadily.
 *
 * A rank's excess is what it computes in a step beyond the median of its stage's others (with fewer
 * than three of them, of the other stages too). It is hot if that is a hundredth of a step and
 * stands out over its standard error, by blocks of steps of the whole run or of an eighth at least;
 * random lengths do not. All hot rows are mended together: gaps are scaled to the level of the
 * stage's other ranks, position by position, and keep their randomness. Then the least are dropped
 * as long as little of the gain is lost: a victim gains nothing. Docs:
 * docs/dev/algorithms/lateness.md. One thread. */
#ifndef CT_ANALYZER_LATENESS_REPLAY_SLOW_ROWS_H
#define CT_ANALYZER_LATENESS_REPLAY_SLOW_ROWS_H

#include "analyzer/lateness/replay/engine.h"

enum ct_slow_kind { CT_SLOW_RANK, CT_SLOW_HOST, CT_SLOW_GROUP, CT_SLOW_STAGE };

struct ct_slow_row {
	enum ct_slow_kind kind;
	uint32_t which;		    /* slot, host, or stage */
	const struct ct_comm *comm; /* of a group */
	uint32_t *slots;
	uint32_t n;
	uint32_t first, last; /* of the engine's steps: in which it is slow */
	double excess_ns;     /* a step, mean of its ranks, in those */
	double t;	      /* of its ranks the least: excess over its standard error */
	double gain_ns;	      /* if it alone were mended, over all the engine's steps */
	uint32_t singles;     /* of a rank that is late in single steps only, these; 0: it is so
				 steadily */
	uint16_t site_before, site_after; /* call sites around most of the excess, by number
					     (order/sites.h); 0: not known */
};

struct ct_slow_rows {
	struct ct_slow_row *all; /* the largest excess first */
	uint32_t n;
	uint8_t *is_like_peers;	     /* by slot: it computes no longer than others that do the same,
					beyond doubt */
	double gain_ns, gain_err_ns; /* if all of them were mended */
	double singles_ns;	     /* what ranks are late by in single steps, all together ... */
	uint32_t n_stalled;	     /* ... and how many ranks are */
};

/* 0 or CT_NOMEM; ct_slow_rows_fini() in any case. Nothing is found where the engine knows nothing. */
int ct_slow_rows_find(struct ct_slow_rows *rows, struct ct_engine *engine,
		      const struct ct_model *model);
void ct_slow_rows_fini(struct ct_slow_rows *rows);

#endif
