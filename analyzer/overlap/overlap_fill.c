/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "analyzer/model/report_rows.h"
#include "analyzer/report/fill.h"

/* A rank's sum is told if it holds at least this much of what the rank communicated. */
#define ENOUGH_PCT 90

static const char *method_of(const struct ct_overlap_row *row)
{
	if (!row->measured)
		return "n/a";
	if (row->by_host)
		return "host-waits";
	return row->same_stream == row->measured ? "same-stream" : "stream-waits";
}

/* Where no waits of a rank are on record, its threads may do nothing but communicate: nobody knows who stood waiting. */
static int is_told(const struct ct_pass *pass, const struct ct_overlap_row *row)
{
	return !row->by_host || ct_seat_knows_waits(&pass->seats[row->seat], row->comm->backend);
}

static int fill_row(const struct ct_pass *pass, const struct ct_overlap_row *from,
		    struct ct_arena *memory, struct ct_report_overlap *row)
{
	int known = from->measured > 0;
	uint64_t exposed = from->exposed_ns < from->comm_ns ? from->exposed_ns : from->comm_ns;

	row->rank = pass->seats[from->seat].rank;
	row->comm_key = from->comm->key;
	row->launches = from->launches;
	row->measured = from->measured;
	row->comm_ns = known ? from->comm_ns : CT_UNKNOWN;
	row->exposed_ns = known ? exposed : CT_UNKNOWN;
	row->hidden_ns = known ? from->comm_ns - exposed : CT_UNKNOWN;
	row->err_ns = known ? from->err_ns : CT_UNKNOWN;
	row->overlap_ratio = known && from->comm_ns ? 1 - (double)exposed / (double)from->comm_ns
						    : NAN;
	row->method = method_of(from);
	if (from->comm->name) {
		row->comm_name = ct_arena_printf(memory, "%s", from->comm->name);
		return row->comm_name ? CT_OK : CT_NOMEM;
	}
	return CT_OK;
}

static int by_rank(const void *a, const void *b)
{
	const struct ct_report_overlap *x = a, *y = b;

	if (x->rank != y->rank)
		return (unsigned)x->rank < (unsigned)y->rank ? -1 : 1;
	return x->comm_key < y->comm_key ? -1 : x->comm_key > y->comm_key;
}

static void fill_rank(const struct ct_pass *pass, uint32_t seat, struct ct_report_rank *rank)
{
	struct ct_exposed sum;

	rank->exposed_ns = rank->exposed_err_ns = CT_UNKNOWN;
	ct_pass_exposed(pass, seat, &sum);
	if (!sum.is_known)
		return;
	rank->exposed_ns = sum.exposed_ns;
	rank->exposed_err_ns = sum.err_ns;
}

void ct_pass_exposed(const struct ct_pass *pass, uint32_t seat, struct ct_exposed *sum)
{
	const struct ct_overlap_row *row;
	uint64_t all_ns = 0;

	*sum = (struct ct_exposed){ 0 };
	row = pass->overlap ? ct_overlap_of_seat(pass->overlap, seat) : NULL;
	for (; row; row = ct_overlap_next(pass->overlap, row)) {
		if (!is_told(pass, row))
			continue;
		all_ns += row->all_ns;
		sum->comm_ns += row->comm_ns;
		sum->exposed_ns += row->exposed_ns;
		/* what is not measured may all have been waited for */
		sum->err_ns += row->err_ns + row->all_ns - row->comm_ns;
	}
	/* what may be off by more than there is to be exposed tells nothing */
	sum->is_known = sum->comm_ns && sum->err_ns <= sum->comm_ns &&
			(double)sum->comm_ns * 100 >= (double)all_ns * ENOUGH_PCT;
}

/* Do any of its members tell when they wait? What they do alike they tell alike. */
static int is_known(const struct ct_pass *pass, const struct ct_overlap_class *c)
{
	for (uint32_t r = 0; c->by_host && r < c->comm->nranks; r++) {
		uint32_t seat = c->comm->seats[r];

		if (seat && ct_seat_knows_waits(&pass->seats[seat - 1], c->comm->backend))
			return 1;
	}
	return !c->by_host;
}

static void fill_ops(const struct ct_pass *pass, struct ct_report *report)
{
	const struct ct_overlap_class *all;
	size_t n;

	all = ct_overlap_classes(pass->overlap, &n);
	for (size_t k = 0; k < report->n_ops; k++)
		report->ops[k].exposed_ns = report->ops[k].exposed_err_ns = CT_UNKNOWN;
	for (size_t i = 0; i < n; i++) {
		const struct ct_overlap_class *c = &all[i];
		struct ct_report_op **rows;
		size_t n_rows;

		if (c->measured * 100 < c->launches * ENOUGH_PCT || !is_known(pass, c))
			continue;
		rows = ct_report_rows_of_op(report, c->comm->key, c->op, c->dtype, c->bytes_class,
					    &n_rows);
		for (size_t k = 0; k < n_rows; k++) {
			rows[k]->exposed_ns = c->exposed_ns;
			rows[k]->exposed_err_ns = c->err_ns;
		}
	}
}

int ct_fill_overlap(const struct ct_pass *pass, struct ct_report *report)
{
	const struct ct_overlap_row *rows;
	size_t n;
	int st = CT_OK;

	rows = ct_overlap_rows(pass->overlap, &n);
	report->overlap = ct_arena_calloc(report->memory, n, sizeof(*report->overlap));
	if (!report->overlap)
		return CT_NOMEM;
	for (size_t i = 0; i < n && st == CT_OK; i++) {
		if (is_told(pass, &rows[i]))
			st = fill_row(pass, &rows[i], report->memory,
				      &report->overlap[report->n_overlap++]);
	}
	qsort(report->overlap, report->n_overlap, sizeof(*report->overlap), by_rank);
	for (uint32_t s = 0; s < pass->n_seats; s++)
		fill_rank(pass, s, &report->ranks[s]);
	fill_ops(pass, report);
	return st;
}
