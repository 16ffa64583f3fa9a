/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/top/top_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/base/units.h"
#include "trace/text.h"

const struct ct_top_column_of ct_top_columns[CT_TOP_COLUMNS] = {
#define COLUMN(NAME, key, heading, width, sort) { key, heading, width, sort },
#include "tools/commtrace/top/top_columns.def"
#undef COLUMN
};

const char *ct_top_state_name(enum ct_top_state state)
{
	static const char *const names[] = { "ended", "runs", "straggler", "not_entered",
					     "stalled" };

	return names[state];
}

enum ct_top_column ct_top_column_named(const char *key)
{
	int c = 0;

	while (c < CT_TOP_COLUMNS && strcmp(ct_top_columns[c].key, key) != 0)
		c++;
	return (enum ct_top_column)c;
}

/* ---- rows ---- */

static double rate(uint64_t before, uint64_t now, double seconds)
{
	return seconds > 0 && now >= before ? (double)(now - before) / seconds : NAN;
}

/* A wait is known when all ranks have come, which may be in the next portion: no share exceeds all
 * of it. */
static double share(uint64_t before, uint64_t now, double seconds)
{
	const double of_time = rate(before, now, seconds) / 1e9;

	return of_time > 1 ? 1 : of_time;
}

static void fill_row(struct ct_top_row *row, const struct ct_live_rank *rank, uint64_t stall_ns)
{
	const struct ct_live_sums *from = &rank->before, *to = &rank->now;
	double seconds = (double)(to->at_ns - from->at_ns) / 1e9;

	*row = (struct ct_top_row){
		.rank = rank,
		.state = CT_TOP_IS_RUNNING,
		.ops = rate(from->ops, to->ops, seconds),
		.bytes = rate(from->bytes, to->bytes, seconds),
		.wait = rank->knows_wait ? share(from->wait_ns, to->wait_ns, seconds) : NAN,
		.exposed = rank->knows_exposed ? share(from->exposed_ns, to->exposed_ns, seconds)
					       : NAN,
	};
	for (uint32_t c = 0; c < rank->n_comms; c++)
		row->behind = ct_max(row->behind, rank->comms[c].behind);
	if (rank->slow > 0)
		row->state = CT_TOP_IS_SLOW;
	if (rank->flight && rank->flight->age_ns > stall_ns)
		row->state = CT_TOP_IS_STALLED;
	if (!rank->runs)
		row->state = CT_TOP_IS_ENDED;
}

static int is_awaited(const struct ct_top_table *table, const struct ct_live_rank *rank)
{
	for (uint32_t c = 0; c < rank->n_comms; c++) {
		for (uint32_t i = 0; rank->comms[c].behind && i < table->n; i++) {
			const struct ct_top_row *row = &table->rows[i];

			if (row->state == CT_TOP_IS_STALLED &&
			    row->rank->flight->hash == rank->comms[c].hash)
				return 1;
		}
	}
	return 0;
}

/* Stalled ranks wait for another rank. It may be one that has not come as far on the same
 * communicator, and is in no operation for long. */
static void mark_not_entered(struct ct_top_table *table)
{
	for (uint32_t i = 0; i < table->n; i++)
		table->n_stalled += table->rows[i].state == CT_TOP_IS_STALLED;
	for (uint32_t i = 0; table->n_stalled && i < table->n; i++) {
		struct ct_top_row *row = &table->rows[i];

		if (row->state != CT_TOP_IS_STALLED && row->state != CT_TOP_IS_ENDED &&
		    is_awaited(table, row->rank))
			row->state = CT_TOP_IS_NOT_ENTERED;
	}
}

struct sort_order {
	enum ct_top_column by;
	int sign;
};

static int compare_numbers(double a, double b)
{
	/* what is not known comes last, whichever way they are sorted */
	if (isnan(a) || isnan(b))
		return 0;
	return (a > b) - (a < b);
}

static double value_of(const struct ct_top_row *row, enum ct_top_column by)
{
	switch (by) {
	case CT_TOP_STATE:
		return row->state;
	case CT_TOP_AGE:
	case CT_TOP_FLIGHT:
		return row->rank->flight ? (double)row->rank->flight->age_ns : 0;
	case CT_TOP_OPS:
		return row->ops;
	case CT_TOP_BYTES:
		return row->bytes;
	case CT_TOP_WAIT:
		return row->wait;
	case CT_TOP_EXPOSED:
		return row->exposed;
	case CT_TOP_SLOW:
		return row->rank->slow;
	case CT_TOP_SEQ:
		return row->rank->n_comms ? (double)row->rank->comms[0].next_seq : NAN;
	case CT_TOP_BEHIND:
		return (double)row->behind;
	case CT_TOP_RANK:
	case CT_TOP_HOST:
	case CT_TOP_COLUMNS:
		break;
	}
	return (unsigned)row->rank->rank;
}

static int in_order(const void *a, const void *b, void *arg)
{
	const struct ct_top_row *x = a, *y = b;
	const struct sort_order *order = arg;
	double vx = value_of(x, order->by), vy = value_of(y, order->by);
	int way = order->by == CT_TOP_HOST ? strcmp(x->rank->host, y->rank->host)
					   : compare_numbers(vx, vy);

	if (isnan(vx) != isnan(vy))
		return isnan(vx) - isnan(vy);
	return order->sign * way ?: CT_CMP((unsigned)x->rank->rank, (unsigned)y->rank->rank);
}

static int fits(const struct ct_top_row *row, const char *filter)
{
	const struct ct_live_rank *rank = row->rank;
	char number[16];

	if (!filter || !*filter)
		return 1;
	snprintf(number, sizeof(number), "%d", rank->rank);
	if (strcmp(number, filter) == 0 || strstr(rank->host, filter) ||
	    strstr(ct_top_state_name(row->state), filter))
		return 1;
	if (rank->flight && strstr(rank->flight->op, filter))
		return 1;
	for (uint32_t c = 0; c < rank->n_comms; c++) {
		if (strstr(rank->comms[c].name, filter))
			return 1;
	}
	return 0;
}

int ct_top_fill(struct ct_top_table *table, const struct ct_live_view *view, uint64_t stall_ns,
		enum ct_top_column sort, int reverse, const char *filter)
{
	struct sort_order order = { sort, -ct_top_columns[sort].sort };
	uint32_t kept = 0;

	*table = (struct ct_top_table){ .n = view->n_ranks,
					.stall_ns = stall_ns ? stall_ns : view->stall_ns };
	table->rows = calloc(view->n_ranks + 1u, sizeof(*table->rows));
	if (!table->rows)
		return CT_NOMEM;
	for (uint32_t i = 0; i < view->n_ranks; i++)
		fill_row(&table->rows[i], &view->ranks[i], table->stall_ns);
	mark_not_entered(table);
	for (uint32_t i = 0; i < table->n; i++) {
		if (fits(&table->rows[i], filter))
			table->rows[kept++] = table->rows[i];
	}
	table->n = kept;
	if (reverse)
		order.sign = -order.sign;
	qsort_r(table->rows, table->n, sizeof(*table->rows), in_order, &order);
	return CT_OK;
}

/* ---- text ---- */

static void put_share(char text[CT_TOP_CELL], double value)
{
	if (isnan(value))
		snprintf(text, CT_TOP_CELL, "?");
	else
		snprintf(text, CT_TOP_CELL, "%.1f %%", 100 * value);
}

static void put_rate(char text[CT_TOP_CELL], double value, double unit)
{
	if (isnan(value))
		snprintf(text, CT_TOP_CELL, "?");
	else
		snprintf(text, CT_TOP_CELL, "%.3g", value / unit);
}

void ct_top_cell(const struct ct_top_row *row, enum ct_top_column column, char text[CT_TOP_CELL])
{
	const struct ct_live_rank *rank = row->rank;
	const struct ct_live_flight *flight = rank->flight;
	char name[40];

	text[0] = '\0';
	switch (column) {
	case CT_TOP_RANK:
		snprintf(text, CT_TOP_CELL, "%s", ct_text_rank(rank->rank).s);
		break;
	case CT_TOP_HOST:
		ct_text_clean(text, CT_TOP_CELL, rank->host, strlen(rank->host));
		break;
	case CT_TOP_STATE:
		snprintf(text, CT_TOP_CELL, "%s", ct_top_state_name(row->state));
		break;
	case CT_TOP_AGE:
		if (flight)
			snprintf(text, CT_TOP_CELL, "%s", ct_prose_ns(flight->age_ns).s);
		break;
	case CT_TOP_FLIGHT:
		if (!flight)
			break;
		snprintf(text, CT_TOP_CELL, "%s %.24s", flight->op, flight->comm);
		if (rank->n_flights > 1)
			snprintf(text + strlen(text), CT_TOP_CELL - strlen(text), " +%" PRIu32,
				 rank->n_flights - 1);
		break;
	case CT_TOP_OPS:
		put_rate(text, row->ops, 1);
		break;
	case CT_TOP_BYTES:
		put_rate(text, row->bytes, 1e9);
		break;
	case CT_TOP_WAIT:
		put_share(text, row->wait);
		break;
	case CT_TOP_EXPOSED:
		put_share(text, row->exposed);
		break;
	case CT_TOP_SLOW:
		put_share(text, rank->slow);
		break;
	case CT_TOP_SEQ:
		if (!rank->n_comms)
			break;
		snprintf(name, sizeof(name), "%.32s", rank->comms[0].name);
		snprintf(text, CT_TOP_CELL, "%s #%" PRIu64, name,
			 rank->comms[0].next_seq ? rank->comms[0].next_seq - 1 : 0);
		break;
	case CT_TOP_BEHIND:
		if (row->behind)
			snprintf(text, CT_TOP_CELL, "%" PRIu64, row->behind);
		break;
	case CT_TOP_COLUMNS:
		break;
	}
}

void ct_top_headline(const struct ct_top_table *table, const struct ct_live_view *view, char *text,
		     size_t size)
{
	char job[96], slow[32] = "stragglers not judged";
	uint32_t n_slow = 0;

	for (uint32_t i = 0; i < view->n_ranks; i++)
		n_slow += view->ranks[i].slow > 0;
	if (view->slow_until_ns)
		snprintf(slow, sizeof(slow), "%" PRIu32 " straggler%s", n_slow,
			 n_slow == 1 ? "" : "s");
	ct_text_clean(job, sizeof(job), view->job, strlen(view->job));
	snprintf(text, size,
		 "%s: %" PRIu32 " rank%s here, %s recorded%s, %" PRIu32 " stalled, %s%s", job,
		 view->n_ranks, view->n_ranks == 1 ? "" : "s", ct_prose_ns(view->duration_ns).s,
		 view->has_ended ? ", ended" : "", table->n_stalled, slow,
		 view->is_behind ? ", still reading" : "");
}

/* ---- JSON ---- */

static json_t *number(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *seconds(uint64_t ns)
{
	return ns == CT_UNKNOWN ? json_null() : json_real((double)ns / 1e9);
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *comms_json(const struct ct_live_rank *rank)
{
	json_t *list = json_array();

	for (uint32_t c = 0; c < rank->n_comms; c++) {
		const struct ct_live_comm *comm = &rank->comms[c];

		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:i, s:I, s:o, s:o, s:I}", "name", comm->name, "role",
				  comm->role, "nranks", (int)comm->nranks, "next_seq",
				  (json_int_t)comm->next_seq, "op", text_or_null(comm->op), "age_s",
				  seconds(comm->age_ns), "behind", (json_int_t)comm->behind));
	}
	return list;
}

static json_t *flight_json(const struct ct_live_flight *flight)
{
	if (!flight)
		return json_null();
	return json_pack("{s:s, s:s, s:I, s:o, s:b}", "op", flight->op, "comm", flight->comm, "seq",
			 (json_int_t)flight->seq, "age_s", seconds(flight->age_ns), "on_gpu",
			 flight->on_gpu);
}

static json_t *row_json(const struct ct_top_row *row)
{
	const struct ct_live_rank *rank = row->rank;
	json_t *o = json_object();

	json_object_set_new(o, "rank", rank->rank < 0 ? json_null() : json_integer(rank->rank));
	json_object_set_new(o, "host", json_string(rank->host));
	json_object_set_new(o, "pid", json_integer(rank->pid));
	json_object_set_new(o, "state", json_string(ct_top_state_name(row->state)));
	json_object_set_new(o, "in_flight", flight_json(rank->flight));
	json_object_set_new(o, "n_in_flight", json_integer(rank->n_flights));
	json_object_set_new(o, "idle_s", seconds(rank->idle_ns));
	json_object_set_new(o, "ops_per_s", number(row->ops));
	json_object_set_new(o, "bytes_per_s", number(row->bytes));
	json_object_set_new(o, "wait_ratio", number(row->wait));
	json_object_set_new(o, "exposed_ratio", number(row->exposed));
	json_object_set_new(o, "straggler_cost_ratio", number(rank->slow));
	json_object_set_new(o, "straggler_cost_ratio_err", number(rank->slow_err));
	json_object_set_new(o, "ops", json_integer((json_int_t)rank->now.ops));
	json_object_set_new(o, "bytes", json_integer((json_int_t)rank->now.bytes));
	json_object_set_new(o, "behind", json_integer((json_int_t)row->behind));
	json_object_set_new(o, "comms", comms_json(rank));
	return o;
}

json_t *ct_top_json(const struct ct_top_table *table, const struct ct_live_view *view)
{
	json_t *ranks = json_array();

	for (uint32_t i = 0; i < table->n; i++)
		json_array_append_new(ranks, row_json(&table->rows[i]));
	return json_pack("{s:s, s:i, s:b, s:b, s:o, s:o, s:o, s:o}", "job", view->job, "restart",
			 view->restart, "ended", view->has_ended, "reader_behind", view->is_behind,
			 "duration_s", seconds(view->duration_ns), "stalled_after_s",
			 seconds(table->stall_ns), "straggler_why",
			 text_or_null(view->slow_why_not), "ranks", ranks);
}
