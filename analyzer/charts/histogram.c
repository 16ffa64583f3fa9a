/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/charts/sizes.h"
#include "analyzer/model/model.h"
#include "analyzer/model/report_rows.h"
#include "trace/ops.h"

/* Classes of one row are neighbours, once sorted. */
CT_SORT_POINTERS_BY(by_row, struct ct_class,
		    CT_UP(comm->backend) ?: CT_UP(op) ?: CT_UP(grouped) ?: CT_UP(size_range))
CT_SORT_POINTERS_BY(by_index, struct ct_class, by_row(a, b) ?: CT_UP(index))

double ct_class_bus_factor(const struct ct_class *class)
{
	if (class->grouped == CT_GROUPED_MESSAGES && class->op != CT_OP_AllToAll)
		return 1;
	return ct_op_bus_factor(class->op, class->comm->nranks);
}

/* The median of its instances; NAN: it has none. */
static double bus_Bps(const struct ct_class *class)
{
	double factor = ct_class_bus_factor(class);

	return class->algbw.n && factor > 0 ? factor * (double)ct_hist_quantile(&class->algbw, 0.5)
					    : NAN;
}

/* By communicator, what its classes are held against: what its GPUs and networks allow, else the fastest of several
 * classes; NAN: there is nothing. NULL: out of memory. */
static double *references(const struct ct_model *model, const struct ct_report *report)
{
	double *of = malloc(((size_t)model->comms.n + 1) * sizeof(*of));
	uint32_t *classes = calloc((size_t)model->comms.n + 1, sizeof(*classes));

	for (uint32_t c = 0; of && c < model->comms.n; c++)
		of[c] = NAN;
	for (uint32_t c = 0; of && classes && c < model->classes.n; c++) {
		const struct ct_class *class = model->classes.all[c];
		uint32_t comm = class->comm->index;

		of[comm] = fmax(of[comm], bus_Bps(class));
		classes[comm] += !isnan(bus_Bps(class));
	}
	for (uint32_t c = 0; of && classes && c < model->comms.n; c++) {
		const struct ct_report_comm *comm = ct_report_row_of_comm(
			report, model->comms.all[c]->hash, model->comms.all[c]->nranks);

		of[c] = classes[c] > 1 ? of[c] : NAN;
		if (comm && comm->peak.Bps > 0)
			of[c] = comm->peak.Bps;
	}
	if (!classes) {
		free(of);
		of = NULL;
	}
	free(classes);
	return of;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	a = a == CT_UNKNOWN ? 0 : a;
	return __builtin_add_overflow(a, b, &sum) ? CT_UNKNOWN - 1 : sum;
}

/* What a row's efficiency is made of: by the time that its classes took. */
struct efficiency {
	double sum, weight;
};

static int add_class(const struct ct_class *class, double reference, struct ct_report_size *row,
		     struct ct_hist *bus, struct efficiency *efficiency)
{
	double factor = ct_class_bus_factor(class), time = (double)class->transfer.sum;

	row->instances += class->instances;
	row->bytes = class->bytes == CT_UNKNOWN ? CT_UNKNOWN : plus(row->bytes, class->bytes);
	if (class->transfer.n && class->op != CT_OP_GraphLaunch)
		row->transfer_ns = plus(row->transfer_ns, class->transfer.sum);
	if (class->judged)
		row->wait_ns = plus(row->wait_ns, class->wait_ns);
	if (!class->algbw.n || factor <= 0)
		return CT_OK;
	if (reference > 0) {
		efficiency->sum += time * bus_Bps(class) / reference;
		efficiency->weight += time;
	}
	return ct_hist_merge_scaled(bus, &class->algbw, factor);
}

static int set_row(const struct ct_model *model, struct ct_class *const *classes, uint32_t n,
		   const double *reference, struct ct_arena *memory, struct ct_report_size *row)
{
	const struct ct_class *first = classes[0];
	struct efficiency efficiency = { 0, 0 };
	struct ct_hist bus = { 0 };
	int st = CT_OK;

	*row = (struct ct_report_size){
		.backend = first->comm->backend,
		.group = ct_grouped_name(first->grouped),
		.size_range = first->size_range,
		.transfer_ns = CT_UNKNOWN,
		.wait_ns = CT_UNKNOWN,
	};
	if (first->op || !first->grouped) {
		row->op_name = ct_arena_printf(memory, "%s",
					       ct_op_names_get(&model->names, first->op));
		st = row->op_name ? CT_OK : CT_NOMEM;
	}
	for (uint32_t c = 0; c < n && st == CT_OK; c++)
		st = add_class(classes[c], reference[classes[c]->comm->index], row, &bus,
			       &efficiency);
	row->busbw_p50_Bps = ct_hist_quantile(&bus, 0.5);
	row->efficiency_ratio = efficiency.weight > 0 ? efficiency.sum / efficiency.weight : NAN;
	ct_hist_fini(&bus);
	return st;
}

int ct_histogram_fill(const struct ct_model *model, struct ct_report *report)
{
	uint32_t n = model->classes.n;
	struct ct_class **order = malloc(((size_t)n + 1) * sizeof(struct ct_class *));
	double *reference = references(model, report);
	int st = order && reference ? CT_OK : CT_NOMEM;

	report->histogram = ct_arena_calloc(report->memory, n, sizeof(*report->histogram));
	if (!report->histogram)
		st = CT_NOMEM;
	for (uint32_t c = 0; c < n && st == CT_OK; c++)
		order[c] = model->classes.all[c];
	if (st == CT_OK)
		qsort(order, n, sizeof(struct ct_class *), by_index);
	for (uint32_t from = 0, to; from < n && st == CT_OK; from = to) {
		for (to = from + 1; to < n && by_row(&order[from], &order[to]) == 0; to++) {}
		st = set_row(model, &order[from], to - from, reference, report->memory,
			     &report->histogram[report->n_histogram++]);
	}
	free(order);
	free(reference);
	return st;
}
