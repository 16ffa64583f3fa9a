/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/timeline/budget.h"

#include <stdlib.h>

#define FIRST_WIDTH_NS 1024u

struct ct_budget *ct_budget_new(void)
{
	struct ct_budget *budget = calloc(1, sizeof(*budget));

	if (budget)
		budget->width_ns = FIRST_WIDTH_NS;
	return budget;
}

/* Twice the width, half the cells. */
static void widen(struct ct_budget *budget)
{
	for (uint32_t c = 0; c < CT_BUDGET_CELLS; c++) {
		uint64_t n = budget->cells[c];

		budget->cells[c] = 0;
		budget->cells[c / 2] += n;
	}
	budget->width_ns *= 2;
}

void ct_budget_add(struct ct_budget *budget, uint64_t end_ns, uint64_t slices)
{
	budget->total += slices;
	if (end_ns == UINT64_MAX) {
		budget->open += slices;
		return;
	}
	while (end_ns / budget->width_ns >= CT_BUDGET_CELLS)
		widen(budget);
	budget->cells[end_ns / budget->width_ns] += slices;
}

int ct_budget_fit(const struct ct_budget *budget, uint64_t limit, uint64_t *from_ns)
{
	uint64_t n = budget->open;
	uint32_t c = CT_BUDGET_CELLS;

	*from_ns = 0;
	if (budget->total <= limit)
		return 1;
	while (c > 0 && n + budget->cells[c - 1] <= limit)
		n += budget->cells[--c];
	*from_ns = c * budget->width_ns;
	return n > budget->open || (n && n <= limit);
}
