/* SPDX-License-Identifier: Apache-2.0 */
/* heat.h — when which rank waited for others, and they for it alone, over the whole run, in bounded
 * memory: a row of CT_HEAT_COLUMNS cells for each slot, whose width doubles when the run turns out
 * longer. An observer of the stream; what it becomes is in model/report_heat.h.
 *
 * Widths are powers of two, so that a cell is the sum of those that it was made of, and a row does
 * not depend on the order in which its parts came. Times are ns since the run began. One thread; a
 * zeroed struct is an empty one. */
#ifndef CT_ANALYZER_CHARTS_HEAT_H
#define CT_ANALYZER_CHARTS_HEAT_H

#include <stdint.h>

#include "analyzer/match/match.h"
#include "analyzer/stream/stream.h"

struct ct_model;
struct ct_observer;
struct ct_report;

#define CT_HEAT_COLUMNS 512u
/* A report shows ranks up to so many, beyond that their hosts. */
#define CT_HEAT_RANKS 512u
/* Cells of a report's heatmap: of many rows columns are wider, but there are 16 of them at least. */
#define CT_HEAT_CELLS (1u << 17)

/* What is known of a rank in a cell. */
#define CT_HEAT_KNOWN 1u   /* it was in an operation whose waits are known */
#define CT_HEAT_UNKNOWN 2u /* in one whose waits are not */

struct ct_heat_row {
	unsigned shift; /* a cell is 2^shift ns wide */
	uint64_t wait_ns[CT_HEAT_COLUMNS];
	uint64_t late_ns[CT_HEAT_COLUMNS]; /* the others waited for it alone, right before it came */
	uint32_t err_ns[CT_HEAT_COLUMNS];  /* of the known waits that begin in it, and what may be
					    * waiting in the others;  UINT32_MAX: that or more */
	uint32_t late_err_ns[CT_HEAT_COLUMNS]; /* the same for late_ns that ends in it */
	uint8_t seen[CT_HEAT_COLUMNS];	       /* CT_HEAT_ */
};

struct ct_heat {
	struct ct_heat_row **rows; /* by slot; NULL: nothing is known of it */
	uint32_t n_rows;
	uint64_t known, unknown; /* operations of ranks whose waits are known, and others */
};

void ct_heat_fini(struct ct_heat *heat);

/* The slot waited in [begin, end), of which nothing has been added yet; or the others waited for it
 * alone. Known to err_ns. 0 or CT_NOMEM. */
int ct_heat_wait(struct ct_heat *heat, uint32_t slot, uint64_t begin_ns, uint64_t end_ns);
int ct_heat_late(struct ct_heat *heat, uint32_t slot, uint64_t begin_ns, uint64_t end_ns,
		 uint64_t err_ns);

/* The slot was in an operation from begin to end, whose wait is known (with this error) or not. 0
 * or CT_NOMEM. */
int ct_heat_see(struct ct_heat *heat, uint32_t slot, uint64_t begin_ns, uint64_t end_ns,
		int is_known, uint64_t err_ns);

/* Make all rows' cells equally wide, and so wide that no more than `most` (at most CT_HEAT_COLUMNS)
 * are needed for what is in them and for a run of duration_ns. Returns how many are, and their
 * width. */
uint32_t ct_heat_level(struct ct_heat *heat, uint64_t duration_ns, uint32_t most,
		       uint64_t *width_ns);

/* Takes in all that a stream reads. */
void ct_heat_observe(struct ct_heat *heat, struct ct_observer *observer);

/* report->heat.waits. After the other tables of a report, whose ranks are still indexed by slot. 0
 * or CT_NOMEM. */
int ct_heat_fill_waits(const struct ct_model *model, struct ct_heat *heat,
		       struct ct_report *report);

#endif
