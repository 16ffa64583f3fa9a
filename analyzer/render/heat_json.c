/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/json_value.h"
#include "trace/ops.h"

static json_t *ids(const struct ct_report_heat_rows *rows)
{
	return rows->hosts ? ct_json_texts(rows->hosts, rows->n)
			   : ct_json_ranks(rows->ranks, rows->n);
}

/* Rows of cells. */
static json_t *integers(const uint64_t *cells, size_t rows, size_t columns)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t r = 0; r < rows; r++) {
		json_t *row = json_array();

		for (size_t c = 0; c < columns; c++)
			ct_json_append(row, ct_json_u64(cells[r * columns + c]), &failed);
		ct_json_append(array, row, &failed);
	}
	return ct_json_done(array, failed);
}

static json_t *ratios(const double *cells, size_t rows, size_t columns)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t r = 0; r < rows; r++) {
		json_t *row = json_array();

		for (size_t c = 0; c < columns; c++)
			ct_json_append(row, ct_json_double(cells[r * columns + c]), &failed);
		ct_json_append(array, row, &failed);
	}
	return ct_json_done(array, failed);
}

static void set_rows(json_t *o, const struct ct_report_heat_rows *rows, const char *why,
		     int *failed)
{
	ct_json_set(o, "why", ct_json_text(why), failed);
	ct_json_set(o, "rows", json_string(rows->hosts ? "hosts" : "ranks"), failed);
	ct_json_set(o, "ids", ids(rows), failed);
}

static json_t *waits(const struct ct_report_heat_waits *w)
{
	json_t *o = json_object(), *begin = json_array();
	int failed = !o || !begin;

	for (size_t c = 0; c < w->columns; c++)
		ct_json_append(begin, ct_json_u64(w->begin_at_ns + c * w->column_ns), &failed);
	set_rows(o, &w->rows, w->why, &failed);
	ct_json_set(o, "begin_ns", ct_json_u64(w->begin_at_ns), &failed);
	ct_json_set(o, "column_ns", ct_json_u64(w->column_ns), &failed);
	ct_json_set(o, "columns", json_integer((json_int_t)w->columns), &failed);
	ct_json_set(o, "column_begin_ns", begin, &failed);
	ct_json_set(o, "wait_ns", integers(w->wait_ns, w->rows.n, w->columns), &failed);
	ct_json_set(o, "lateness_ns", integers(w->lateness_ns, w->rows.n, w->columns), &failed);
	ct_json_set(o, "err_ns", ct_json_u64(w->err_ns), &failed);
	ct_json_set(o, "lateness_err_ns", ct_json_u64(w->lateness_err_ns), &failed);
	return ct_json_done(o, failed);
}

static json_t *cycles(const struct ct_report_heat_cycles *h)
{
	json_t *o = json_object(), *first = json_array();
	int failed = !o || !first;

	for (size_t c = 0; c < h->columns; c++)
		ct_json_append(first, ct_json_u64(h->first_cycle[c]), &failed);
	set_rows(o, &h->rows, h->why, &failed);
	ct_json_set(o, "first_cycle", first, &failed);
	ct_json_set(o, "cycles_each", ct_json_u64(h->cycles_each), &failed);
	ct_json_set(o, "gap_ns", integers(h->gap_ns, h->rows.n, h->columns), &failed);
	ct_json_set(o, "gap_ratio", ratios(h->gap_ratio, h->rows.n, h->columns), &failed);
	ct_json_set(o, "err_ns", ct_json_u64(h->err_ns), &failed);
	return ct_json_done(o, failed);
}

json_t *ct_json_heat(const struct ct_report *report)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "waits", waits(&report->heat.waits), &failed);
	ct_json_set(o, "cycles", cycles(&report->heat.cycles), &failed);
	return ct_json_done(o, failed);
}

static json_t *size(const struct ct_report_size *s)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "backend", ct_json_text(ct_backend_name(s->backend)), &failed);
	ct_json_set(o, "op", ct_json_text(s->op_name), &failed);
	ct_json_set(o, "group", ct_json_text(s->group), &failed);
	ct_json_set(o, "bytes_class", ct_json_u64(s->bytes_class), &failed);
	ct_json_set(o, "instances", ct_json_u64(s->instances), &failed);
	ct_json_set(o, "bytes", ct_json_u64(s->bytes), &failed);
	ct_json_set(o, "transfer_ns", ct_json_u64(s->transfer_ns), &failed);
	ct_json_set(o, "wait_ns", ct_json_u64(s->wait_ns), &failed);
	ct_json_set(o, "busbw_p50_Bps", ct_json_u64(s->busbw_p50_Bps), &failed);
	ct_json_set(o, "efficiency_ratio", ct_json_double(s->efficiency_ratio), &failed);
	return ct_json_done(o, failed);
}

json_t *ct_json_histogram(const struct ct_report *report)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < report->n_histogram; i++)
		ct_json_append(array, size(&report->histogram[i]), &failed);
	return ct_json_done(array, failed);
}

/* Of what was measured, with how often; of a fit without. */
static json_t *points(const struct ct_report_curve_point *all, size_t n, int is_fit)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object();

		ct_json_set(o, "bytes", ct_json_u64(all[i].bytes), &failed);
		ct_json_set(o, "busbw_Bps", ct_json_u64(all[i].busbw_Bps), &failed);
		if (!is_fit)
			ct_json_set(o, "instances", ct_json_u64(all[i].instances), &failed);
		ct_json_append(array, o, &failed);
	}
	return ct_json_done(array, failed);
}

json_t *ct_json_curves(const struct ct_report *report)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < report->n_curves; i++) {
		const struct ct_report_curve *c = &report->curves[i];
		json_t *o = json_object();

		ct_json_set(o, "comm", ct_json_hex(c->comm_key), &failed);
		ct_json_set(o, "op", ct_json_text(c->op_name), &failed);
		ct_json_set(o, "ranks", json_integer(c->n_ranks), &failed);
		ct_json_set(o, "points", points(c->points, c->n_points, 0), &failed);
		ct_json_set(o, "fit", points(c->fit, c->n_fit, 1), &failed);
		ct_json_set(o, "alpha_ns", ct_json_u64(c->alpha_ns), &failed);
		ct_json_set(o, "beta_Bps", ct_json_u64(c->beta_Bps), &failed);
		ct_json_append(array, o, &failed);
	}
	return ct_json_done(array, failed);
}
