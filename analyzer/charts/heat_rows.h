/* SPDX-License-Identifier: Apache-2.0 */
/* heat_rows.h — which row of the heatmaps shows which slot: ranks in order, or hosts where there
 * are many ranks. Pure. */
#ifndef CT_ANALYZER_CHARTS_HEAT_ROWS_H
#define CT_ANALYZER_CHARTS_HEAT_ROWS_H

#include "analyzer/model/model.h"
#include "analyzer/model/report_heat.h"

#define CT_HEAT_NO_ROW UINT32_MAX

struct ct_heat_layout {
	struct ct_report_heat_rows rows; /* the report's */
	uint32_t *row_of;		 /* by slot; CT_HEAT_NO_ROW: its rank is unknown */
	uint32_t most_columns;
};

/* 0 or CT_NOMEM; ct_heat_layout_fini() in any case. */
int ct_heat_layout_make(const struct ct_model *model, struct ct_report *report,
			struct ct_heat_layout *layout);
void ct_heat_layout_fini(struct ct_heat_layout *layout);

/* Fold cells of slots into those of rows: the largest that is known. of_slots: n_slots x columns;
 * the result, of the report's, rows x columns, CT_UNKNOWN where none is. NULL: out of memory. */
uint64_t *ct_heat_fold(const struct ct_heat_layout *layout, const uint64_t *of_slots,
		       uint32_t n_slots, size_t columns, struct ct_arena *memory);

#endif
