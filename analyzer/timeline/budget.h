/* SPDX-License-Identifier: Apache-2.0 */
/* budget.h — how many slices there are to draw, by the time at which they end: gives the time from
 * which the rest of a run fits a limit. 64 Ki cells whose width doubles when the run turns out
 * longer. One thread. */
#ifndef CT_ANALYZER_TIMELINE_BUDGET_H
#define CT_ANALYZER_TIMELINE_BUDGET_H

#include <stdint.h>

#define CT_BUDGET_CELLS 65536u

struct ct_budget {
	uint64_t width_ns;
	uint64_t total;
	uint64_t open; /* of `total`, those that do not end */
	uint64_t cells[CT_BUDGET_CELLS];
};

struct ct_budget *ct_budget_new(void); /* free() it; NULL: out of memory */

/* `slices` that end at `end_ns`; UINT64_MAX: never. */
void ct_budget_add(struct ct_budget *budget, uint64_t end_ns, uint64_t slices);

/* The earliest time, a multiple of the cells' width, from which on at most `limit` slices end. 1
 * and *from_ns, or 0: even the last cell, with all that does not end, holds more. */
int ct_budget_fit(const struct ct_budget *budget, uint64_t limit, uint64_t *from_ns);

#endif
