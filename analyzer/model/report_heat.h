/* SPDX-License-Identifier: Apache-2.0 */
/* report_heat.h — heatmaps of a run as plain values: which rank waited when, which computed for how
 * long in which step, how large operations were and how fast. A part of report.h, whose conventions
 * hold: CT_UNKNOWN and NAN are not known, all is the report's. How each is computed:
 * docs/dev/algorithms/charts.md, "Heatmaps". */
#ifndef CT_ANALYZER_MODEL_REPORT_HEAT_H
#define CT_ANALYZER_MODEL_REPORT_HEAT_H

#include <stddef.h>
#include <stdint.h>

/* Rows of a heatmap: ranks or, with more than CT_HEAT_RANKS, hosts. */
struct ct_report_heat_rows {
	size_t n;
	int *ranks;	    /* in order; NULL: rows are hosts */
	const char **hosts; /* in the order of run.hosts; NULL: rows are ranks */
};

/* Time x rank. A cell of row r and column c is [r * columns + c]; a host's is the largest of its
 * ranks. */
struct ct_report_heat_waits {
	const char *why; /* nothing is known, or not everything; NULL: it is */
	struct ct_report_heat_rows rows;
	uint64_t begin_at_ns, column_ns;
	size_t columns;
	uint64_t *wait_ns; /* for which the rank waited for others in this time: at most column_ns */
	uint64_t *lateness_ns; /* for which the others waited for it alone, right before it came:
				  likewise */
	uint64_t err_ns, lateness_err_ns; /* of a cell, the largest; CT_UNKNOWN: no cell is known */
};

/* Rank x step. Cells as above. */
struct ct_report_heat_steps {
	const char *why; /* as above */
	struct ct_report_heat_rows rows;
	uint64_t steps_each; /* consecutive steps make one column */
	size_t columns;
	uint64_t *first_step;	    /* by column */
	uint64_t *outside_comm_ns;  /* a step, in no communication: mean of those that are known */
	double *outside_comm_ratio; /* to the median of the column's ranks */
	uint64_t err_ns;   /* of an outside_comm_ns, the largest; CT_UNKNOWN: no cell is known */
	uint64_t *wait_ns; /* of a step, for which the rank waited for others: the mean of those
			      that are known */
	uint64_t *lateness_ns; /* of a step, for which the others waited for it alone: likewise */
	uint64_t wait_err_ns,
		lateness_err_ns; /* of a cell, the largest; CT_UNKNOWN: there are no cells */
};

struct ct_report_heat {
	struct ct_report_heat_waits waits;
	struct ct_report_heat_steps steps;
};

/* Bus bandwidth by size: what one operation of one communicator reaches. */
struct ct_report_curve_point {
	uint64_t bytes;	    /* of the operation: the mean of a power of two */
	uint64_t busbw_Bps; /* median; of the fit: by alpha and beta */
	uint64_t instances;
};

struct ct_report_curve {
	uint64_t comm_hash;
	const char *comm_name; /* NULL none */
	const char *op_name;
	uint32_t n_ranks;
	struct ct_report_curve_point *points; /* by size */
	size_t n_points;
	struct ct_report_curve_point *fit; /* the same sizes; instances CT_UNKNOWN */
	size_t n_fit;			   /* n_points, or 0: nothing is known */
	uint64_t alpha_ns, beta_Bps;	   /* as in struct ct_report_link */
};

#endif
