/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/charts/heat_rows.h"

#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/charts/heat.h"
#include "analyzer/model/host_order.h"
#include "analyzer/model/model.h"

#define FEWEST_COLUMNS 16u

struct ranked_slot {
	int rank;
	uint32_t slot;
};

CT_SORT_BY(by_rank, struct ranked_slot, CT_UP(rank) ?: CT_UP(slot))

static int set_ranks(struct ct_heat_layout *layout, const struct ranked_slot *ranked, uint32_t n,
		     struct ct_arena *memory)
{
	layout->rows.ranks = ct_arena_calloc(memory, n, sizeof(*layout->rows.ranks));
	if (!layout->rows.ranks)
		return CT_NOMEM;
	for (uint32_t r = 0; r < n; r++) {
		layout->rows.ranks[r] = ranked[r].rank;
		layout->row_of[ranked[r].slot] = r;
	}
	layout->rows.n = n;
	return CT_OK;
}

/* In the order of run.hosts, which has those with a slot. */
static int set_hosts(struct ct_heat_layout *layout, const struct ct_model *model,
		     const struct ct_report *report)
{
	uint32_t *row_of_host = malloc(((size_t)model->starts->n_hosts + 1) * sizeof(*row_of_host));
	struct ct_ordered_host *ordered;
	uint32_t n;

	if (!row_of_host)
		return CT_NOMEM;
	if (ct_host_order(model, &ordered, &n) != CT_OK) {
		free(row_of_host);
		return CT_NOMEM;
	}
	for (uint32_t h = 0; h < n; h++)
		row_of_host[ordered[h].host] = h;
	free(ordered);
	for (uint32_t s = 0; s < model->n_slots; s++) {
		if (model->slots[s].rank >= 0)
			layout->row_of[s] = row_of_host[model->slots[s].host];
	}
	free(row_of_host);
	layout->rows.hosts = report->run.hosts;
	layout->rows.n = report->run.n_hosts;
	return CT_OK;
}

int ct_heat_layout_make(const struct ct_model *model, struct ct_report *report,
			struct ct_heat_layout *layout)
{
	struct ranked_slot *ranked = malloc(((size_t)model->n_slots + 1) * sizeof(*ranked));
	uint32_t n = 0, most;
	int st = CT_NOMEM;

	*layout = (struct ct_heat_layout){ 0 };
	layout->row_of = malloc(((size_t)model->n_slots + 1) * sizeof(*layout->row_of));
	if (!ranked || !layout->row_of) {
		free(ranked);
		return st;
	}
	for (uint32_t s = 0; s < model->n_slots; s++) {
		layout->row_of[s] = CT_HEAT_NO_ROW;
		if (model->slots[s].rank >= 0)
			ranked[n++] = (struct ranked_slot){ model->slots[s].rank, s };
	}
	qsort(ranked, n, sizeof(*ranked), by_rank);
	st = n <= CT_HEAT_RANKS ? set_ranks(layout, ranked, n, report->memory)
				: set_hosts(layout, model, report);
	free(ranked);
	most = layout->rows.n ? CT_HEAT_CELLS / (uint32_t)layout->rows.n : CT_HEAT_COLUMNS;
	most = most > FEWEST_COLUMNS ? most : FEWEST_COLUMNS;
	layout->most_columns = most < CT_HEAT_COLUMNS ? most : CT_HEAT_COLUMNS;
	return st;
}

void ct_heat_layout_fini(struct ct_heat_layout *layout)
{
	free(layout->row_of);
	*layout = (struct ct_heat_layout){ 0 };
}

uint64_t *ct_heat_fold(const struct ct_heat_layout *layout, const uint64_t *of_slots,
		       uint32_t n_slots, size_t columns, struct ct_arena *memory)
{
	size_t n = layout->rows.n * columns;
	uint64_t *cells = ct_arena_calloc(memory, n, sizeof(*cells));

	if (!cells)
		return NULL;
	for (size_t i = 0; i < n; i++)
		cells[i] = CT_UNKNOWN;
	for (uint32_t s = 0; s < n_slots; s++) {
		uint64_t *row;

		if (layout->row_of[s] == CT_HEAT_NO_ROW)
			continue;
		row = &cells[layout->row_of[s] * columns];
		for (size_t c = 0; c < columns; c++) {
			uint64_t cell = of_slots[s * columns + c];

			if (cell != CT_UNKNOWN && (row[c] == CT_UNKNOWN || row[c] < cell))
				row[c] = cell;
		}
	}
	return cells;
}
