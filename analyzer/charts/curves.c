/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/charts/curves.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/model/model.h"
#include "trace/ops.h"

/* Sizes of one curve: as many powers of two as there are, and none. */
#define MOST_POINTS 65u

/* One curve: classes of one communicator and operation, which are neighbours once sorted. */
struct ranked_curve {
	uint32_t first, n;
	uint64_t transfer_ns;
};

static int by_curve(const struct ct_class *x, const struct ct_class *y)
{
	return CT_UP(comm->index) ?: CT_UP(op);
}

CT_SORT_POINTERS_BY(by_size, struct ct_class, by_curve(x, y) ?: CT_UP(size_range) ?: CT_UP(index))

CT_SORT_BY(by_transfer, struct ranked_curve, CT_DOWN(transfer_ns) ?: CT_UP(first))

/* What a class's bytes over its time count on the wire; 0: bus bandwidth is not defined. */
static double bus_factor(const struct ct_class *class)
{
	if (class->grouped == CT_GROUPED_MESSAGES && class->op != CT_OP_AllToAll)
		return 1;
	return ct_op_bus_factor(class->op, class->comm->nranks);
}

/* Is its time that of one operation of this size? Both ends of a message have the same. */
static int has_rate(const struct ct_class *class)
{
	return class->algbw.n && class->bytes && bus_factor(class) > 0 && class->op != CT_OP_Recv &&
	       (class->grouped == CT_ALONE ||
		(class->grouped == CT_GROUPED_MESSAGES && class->op == CT_OP_AllToAll));
}

/* ---- points ---- */

/* The point of the n classes of one size. 0 or CT_NOMEM. */
static int set_point(struct ct_class *const *classes, uint32_t n,
		     struct ct_report_curve_point *point)
{
	struct ct_hist bus = { 0 };
	double bytes = 0, instances = 0;
	int st = CT_OK;

	for (uint32_t c = 0; c < n && st == CT_OK; c++) {
		bytes += (double)classes[c]->bytes;
		instances += (double)classes[c]->instances;
		st = ct_hist_merge_scaled(&bus, &classes[c]->algbw, bus_factor(classes[c]));
	}
	point->bytes = ct_round_whole(bytes / instances);
	point->instances = bus.n;
	point->busbw_Bps = ct_hist_quantile(&bus, 0.5);
	ct_hist_fini(&bus);
	return st;
}

static int set_points(struct ct_class *const *classes, uint32_t n, struct ct_arena *memory,
		      struct ct_report_curve *curve)
{
	int st = CT_OK;

	curve->points = ct_arena_calloc(memory, MOST_POINTS, sizeof(*curve->points));
	if (!curve->points)
		return CT_NOMEM;
	for (uint32_t from = 0, to; from < n && st == CT_OK; from = to) {
		to = from + 1;
		while (to < n && classes[to]->size_range == classes[from]->size_range)
			to++;
		st = set_point(&classes[from], to - from, &curve->points[curve->n_points++]);
	}
	return st;
}

/* ---- the fit ---- */

/* The track of this operation whose times are not bounds; NULL: none. */
static const struct ct_track *track_of(const struct ct_links *links, const struct ct_class *class)
{
	for (uint32_t t = 0; t < links->transfers.n_tracks; t++) {
		const struct ct_track *track = &links->transfers.tracks[t];

		if (!track->is_edge && !track->shared && track->comm == class->comm &&
		    track->op == class->op)
			return track;
	}
	return NULL;
}

/* The line of links[] at the sizes of the points. */
static int set_fit(const struct ct_links *links, const struct ct_class *class,
		   struct ct_arena *memory, struct ct_report_curve *curve)
{
	const struct ct_track *track = track_of(links, class);
	const struct ct_track_rating *of = track ? &links->comparison
							    .of[track - links->transfers.tracks]
						 : NULL;
	double factor = bus_factor(class);

	curve->alpha_ns = curve->beta_Bps = CT_UNKNOWN;
	if (!of || !ct_fit_shows_bandwidth(&of->fit))
		return CT_OK;
	curve->alpha_ns = ct_round_whole(of->fit.has_alpha ? of->fit.lines[0].alpha_ns : NAN);
	curve->beta_Bps = ct_round_whole(of->Bps);
	curve->fit = ct_arena_calloc(memory, curve->n_points, sizeof(*curve->fit));
	if (!curve->fit)
		return CT_NOMEM;
	curve->n_fit = curve->n_points;
	for (size_t p = 0; p < curve->n_points; p++) {
		double wire = factor * (double)curve->points[p].bytes;

		curve->fit[p] = (struct ct_report_curve_point){
			.bytes = curve->points[p].bytes,
			.busbw_Bps = ct_round_whole(wire / ct_fit_expect(&of->fit, wire) * 1e9),
			.instances = CT_UNKNOWN,
		};
	}
	return CT_OK;
}

static int set_curve(const struct ct_links *links, const struct ct_model *model,
		     struct ct_class *const *classes, uint32_t n, struct ct_arena *memory,
		     struct ct_report_curve *curve)
{
	const struct ct_comm *comm = classes[0]->comm;
	int st;

	*curve = (struct ct_report_curve){ .comm_hash = comm->hash, .n_ranks = comm->nranks };
	curve->op_name = ct_arena_printf(memory, "%s",
					 ct_op_names_get(&model->names, classes[0]->op));
	if (comm->name)
		curve->comm_name = ct_arena_printf(memory, "%s", comm->name);
	if (!curve->op_name || (comm->name && !curve->comm_name))
		return CT_NOMEM;
	st = set_points(classes, n, memory, curve);
	return st == CT_OK ? set_fit(links, classes[0], memory, curve) : st;
}

/* ---- which of them ---- */

/* Curves of the sorted classes, those with most time first. Returns how many. */
static uint32_t rank(struct ct_class *const *classes, uint32_t n, struct ranked_curve *curves)
{
	uint32_t found = 0;

	for (uint32_t from = 0, to; from < n; from = to) {
		struct ranked_curve *r = &curves[found++];

		*r = (struct ranked_curve){ .first = from };
		for (to = from; to < n && by_curve(classes[from], classes[to]) == 0; to++) {
			r->transfer_ns = ct_plus(r->transfer_ns, classes[to]->transfer.sum);
		}
		r->n = to - from;
	}
	qsort(curves, found, sizeof(*curves), by_transfer);
	return found;
}

int ct_curves_fill(const struct ct_links *links, const struct ct_model *model,
		   struct ct_report *report)
{
	struct ct_class **classes = malloc(((size_t)model->classes.n + 1) *
					   sizeof(struct ct_class *));
	struct ranked_curve *curves = malloc(((size_t)model->classes.n + 1) * sizeof(*curves));
	uint32_t n = 0, n_curves;
	int st = CT_OK;

	report->curves = ct_arena_calloc(report->memory, CT_CURVES, sizeof(*report->curves));
	if (!classes || !curves || !report->curves) {
		free(classes);
		free(curves);
		return CT_NOMEM;
	}
	for (uint32_t c = 0; c < model->classes.n; c++) {
		if (has_rate(model->classes.all[c]))
			classes[n++] = model->classes.all[c];
	}
	qsort(classes, n, sizeof(struct ct_class *), by_size);
	n_curves = rank(classes, n, curves);
	for (uint32_t c = 0; c < n_curves && c < CT_CURVES && st == CT_OK; c++)
		st = set_curve(links, model, &classes[curves[c].first], curves[c].n, report->memory,
			       &report->curves[report->n_curves++]);
	free(classes);
	free(curves);
	return st;
}
