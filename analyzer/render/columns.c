/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/columns.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/bench/bench.h"
#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/diff/diff.h"
#include "analyzer/model/comm_spec.h"
#include "analyzer/render/deep_link.h"
#include "analyzer/render/hang.h"
#include "analyzer/render/json_value.h"
#include "trace/ops.h"
#include "trace/path.h"

/* ---- words ---- */

static const char *direction(unsigned message)
{
	static const char *const words[] = { [CT_MESSAGE_TO] = "to", [CT_MESSAGE_FROM] = "from" };

	return message < sizeof(words) / sizeof(words[0]) ? words[message] : NULL;
}

/* ---- from more than one member ---- */

/* name() makes `value`, an expression of `row`, which points at the struct; `outer`: what the
 * outermost one is in. */
#define VALUE(name, type, value)                                                                   \
	static json_t *name(const void *at, const void *outer)                                     \
	{                                                                                          \
		const struct ct_report##type *row = at;                                            \
                                                                                                   \
		(void)outer;                                                                       \
		return value;                                                                      \
	}

VALUE(grade, _score, row->grade ? json_string(row->grade) : json_null())
VALUE(order_hash, _comm, row->order_hash == CT_UNKNOWN ? json_null() : ct_json_hex(row->order_hash))

/* What percentages of time are of. */
static json_t *pct_of(const void *at, const void *outer)
{
	const struct ct_report *report = outer;

	(void)at;
	return report->is_outline	     ? json_null()
	       : report->step_time.has_steps ? json_string("steps")
					     : json_string("run");
}
VALUE(hang, , row->hang ? ct_hang_verdicts_json(row->hang) : json_null())
VALUE(ended, ,
      CT_JSON_ARRAY(i, row->n_ended,
		    ct_columns_json(ct_columns_ended(), &row->processes[row->ended[i]], outer)))

/* Where it is seen in what `commtrace open` serves. */
static json_t *timeline(const void *row, const void *outer)
{
	struct ct_deep_range range = ct_deep_range(outer, row);
	struct ct_arena *memory;
	const char *link;
	json_t *value;

	if (range.from_ns == CT_UNKNOWN)
		return json_null();
	memory = ct_arena_new();
	link = memory ? ct_deep_link(memory, CT_DEEP_LINK_PORT, range, row) : NULL;
	value = link && !ct_arena_failed(memory) ? json_string(link) : NULL;
	ct_arena_free(memory);
	return value;
}

/* Nothing is known of steps that were not found, but why; and where they were, that is of no
 * meaning. */
static json_t *steps_found(const void *row, const void *outer)
{
	struct ct_report_steps c = ((const struct ct_report *)row)->steps;

	if (c.anchor_comm_key || c.marker) {
		c.why = NULL;
	} else {
		c.count = c.time_p50_ns = c.time_p99_ns = c.err_ns = CT_UNKNOWN;
		c.covered_pct = NAN;
	}
	return ct_columns_json(ct_columns_steps(), &c, outer);
}

static json_t *maybe_first(const void *row, const void *outer)
{
	const struct ct_report *report = outer;
	size_t i = 0;

	while (i < report->n_ended_first && &report->processes[report->ended[i]] != row)
		i++;
	return json_boolean(i < report->n_ended_first);
}

static json_t *facts_of(const struct ct_report_fact *facts, size_t n)
{
	json_t *o = json_object();
	int failed = !o;

	for (size_t i = 0; i < n; i++)
		ct_json_set(o, facts[i].name, ct_json_text(facts[i].value), &failed);
	return ct_json_done(o, failed);
}

VALUE(env_same, _environment, facts_of(row->same, row->n_same))
VALUE(env_facts, _env_rank, facts_of(row->facts, row->n_facts))

/* By the host's name; machines of one name get a number. */
static json_t *transports(const void *row, const void *outer)
{
	const struct ct_report *report = row;
	json_t *o = json_object();
	int failed = !o;

	for (size_t i = 0; i < report->n_transport; i++) {
		const struct ct_report_transport *t = &report->transport[i];
		char name[128];

		snprintf(name, sizeof(name), "%.100s", t->host);
		for (unsigned n = 2; json_object_get(o, name); n++)
			snprintf(name, sizeof(name), "%.100s#%u", t->host, n);
		ct_json_set(o, name, ct_columns_json(ct_columns_transport(), t, outer), &failed);
	}
	return ct_json_done(o, failed);
}

/* ---- matrices ---- */

/* Exact only where every byte is. */
static const char *model_of(const struct ct_report_traffic *t)
{
	return t->modelled_bytes ? "ring" : "exact";
}

/* Rows of cells: integers or, where that is NULL, ratios. */
static json_t *row_of(const uint64_t *integers, const double *ratios, size_t from, size_t columns)
{
	return CT_JSON_ARRAY(i, columns,
			     integers ? ct_json_u64(integers[from + i])
				      : ct_json_double(ratios[from + i]));
}

static json_t *cells(const uint64_t *integers, const double *ratios, size_t rows, size_t columns)
{
	return CT_JSON_ARRAY(r, rows, row_of(integers, ratios, r * columns, columns));
}

static json_t *rows_of(const struct ct_report_heat_rows *rows)
{
	return json_string(rows->hosts ? "hosts" : "ranks");
}

static json_t *ids_of(const struct ct_report_heat_rows *rows)
{
	return rows->hosts ? ct_json_texts(rows->hosts, rows->n)
			   : ct_json_ranks(rows->ranks, rows->n);
}

VALUE(traffic_model, _traffic, row->n_ranks ? json_string(model_of(row)) : json_null())
VALUE(traffic_matrix, _traffic, cells(row->matrix, NULL, row->n_ranks, row->n_ranks))
VALUE(waits_rows, _heat_waits, rows_of(&row->rows))
VALUE(waits_ids, _heat_waits, ids_of(&row->rows))
VALUE(waits_wait, _heat_waits, cells(row->wait_ns, NULL, row->rows.n, row->columns))
VALUE(waits_lateness, _heat_waits, cells(row->lateness_ns, NULL, row->rows.n, row->columns))
VALUE(waits_begin, _heat_waits,
      CT_JSON_ARRAY(c, row->columns, ct_json_u64(row->begin_at_ns + c * row->column_ns)))
VALUE(heat_steps_rows, _heat_steps, rows_of(&row->rows))
VALUE(heat_steps_ids, _heat_steps, ids_of(&row->rows))
VALUE(heat_steps_outside, _heat_steps, cells(row->outside_comm_ns, NULL, row->rows.n, row->columns))
VALUE(heat_steps_wait, _heat_steps, cells(row->wait_ns, NULL, row->rows.n, row->columns))
VALUE(heat_steps_lateness, _heat_steps, cells(row->lateness_ns, NULL, row->rows.n, row->columns))
VALUE(heat_steps_ratio, _heat_steps,
      cells(NULL, row->outside_comm_ratio, row->rows.n, row->columns))

/* ---- in text ---- */

/* "3", or "0-3" if it drives several. */
static void ranks_cell(char *to, size_t cap, const void *row)
{
	const struct ct_report_process *p = row;

	if (p->n_ranks > 1)
		snprintf(to, cap, "%d-%d", p->ranks[0], p->ranks[p->n_ranks - 1]);
	else
		snprintf(to, cap, "%s", ct_text_rank(p->rank).s);
}

static void end_cell(char *to, size_t cap, const void *row)
{
	const struct ct_report_process *p = row;

	if (p->how.how == CT_END_SIGNAL)
		snprintf(to, cap, "signal %d", p->how.signal);
	else if ((p->how.how == CT_END_CLEAN || p->how.how == CT_END_EXIT) && p->how.exit_code > 0)
		/* exit handlers ran or not: "clean" would be the word for one thing only */
		snprintf(to, cap, "%s %d", p->how.how == CT_END_EXIT ? "_exit" : "exit",
			 p->how.exit_code);
	else
		snprintf(to, cap, "%s", p->end);
}

/* "[...]": a group, whose operations have one span. */
static void op_cell(char *to, size_t cap, const void *row)
{
	const struct ct_report_op *op = row;
	char dtype[16];

	ct_text_dtype(dtype, op->dtype);
	snprintf(to, cap, "%s%.64s%s%s%s", op->group ? "[" : "",
		 op->op_name ? op->op_name : op->group, op->group ? "]" : "", dtype[0] ? " " : "",
		 dtype);
}

static void op_comm_cell(char *to, size_t cap, const void *row)
{
	const struct ct_report_op *op = row;

	if (op->comm_name)
		ct_text_short_name(to, cap, op->comm_name, 8);
	else
		snprintf(to, cap, "%s", ct_comm_digits(op->comm_hash).s);
}

/* Of many ranks with the same speed one is last most often, too. */
static int has_last(const struct ct_report_op *op)
{
	return op->last_rank >= 0 && op->last_pct >= 50;
}

static void op_last_cell(char *to, size_t cap, const void *row)
{
	const struct ct_report_op *op = row;

	snprintf(to, cap, "%s", has_last(op) ? ct_text_rank(op->last_rank).s : "-");
}

static void op_cost_cell(char *to, size_t cap, const void *row)
{
	const struct ct_report_op *op = row;

	snprintf(to, cap, "%s", has_last(op) ? ct_prose_ns(op->last_cost_ns).s : "-");
}

static void diff_op_cell(char *to, size_t cap, const void *row)
{
	const struct ct_diff_row *r = row;
	char dtype[16];

	ct_text_dtype(dtype, r->dtype);
	snprintf(to, cap, "%.64s%s%s", r->op, dtype[0] ? " " : "", dtype);
}

static void diff_comm_cell(char *to, size_t cap, const void *row)
{
	const struct ct_diff_row *r = row;

	to[0] = '\0';
	if (r->comm)
		ct_text_short_name(to, cap, r->comm, 9);
}

static void diff_size_cell(char *to, size_t cap, const void *row)
{
	const struct ct_diff_row *r = row;

	snprintf(to, cap, "%s", r->comm ? ct_prose_bytes(r->size_range).s : "");
}

/* "+5.20 % (4.80 to 5.60)", "not significant" */
static void diff_change_cell(char *to, size_t cap, const void *row)
{
	const struct ct_diff_row *r = row;

	if (r->result == CT_DIFF_SLOWER || r->result == CT_DIFF_FASTER)
		snprintf(to, cap, "%s", ct_prose_change(r->change_pct, r->low_pct, r->high_pct).s);
	else if (r->result == CT_DIFF_SAME)
		snprintf(to, cap, "not significant");
	else
		snprintf(to, cap, "%s", ct_diff_result_name(r->result));
}

/* "fastest", "+5.20 % (4.80 to 5.60)", "not significant" */
static void bench_cell(char *to, size_t cap, const void *row)
{
	const struct ct_bench_row *r = row;

	if (r->result == CT_BENCH_SLOWER)
		snprintf(to, cap, "%s", ct_prose_change(r->slower_pct, r->low_pct, r->high_pct).s);
	else if (r->result == CT_BENCH_SAME)
		snprintf(to, cap, "not significant");
	else
		snprintf(to, cap, "%s",
			 r->result == CT_BENCH_ALONE ? "" : ct_bench_result_name(r->result));
}

static void grade_cell(char *to, size_t cap, const void *row)
{
	const struct ct_report_score *score = row;

	snprintf(to, cap, "%s", score->grade ? score->grade : "n/a");
}

static void offset_cell(char *to, size_t cap, const void *row)
{
	snprintf(to, cap, "%" PRId64 " ns", ((const struct ct_report_clock *)row)->offset_ns);
}

/* ---- the table ---- */

#define MEMBER(member) ((row_t *)0)->member
#define SCALAR(value)                                                                              \
	_Generic((value),                                                                          \
		int: CT_STORE_INT,                                                                 \
		uint32_t: CT_STORE_U32,                                                            \
		uint64_t: CT_STORE_U64,                                                            \
		int64_t: CT_STORE_I64,                                                             \
		double: CT_STORE_DOUBLE,                                                           \
		const char *: CT_STORE_TEXT)
#define UNIT(name) .unit = CT_UNIT_##name
#define FROM(member) .at = offsetof(row_t, member), .store = SCALAR(MEMBER(member))
/* read as what it is, a size_t */
#define HOW_MANY(n)                                                                                \
	.n_at = offsetof(row_t, n) + 0 * sizeof(char[_Generic(MEMBER(n), size_t : 1, default : -1)])
#define FROM_LIST(member, n)                                                                       \
	.at = offsetof(row_t, member), .store = SCALAR(MEMBER(member)[0]), HOW_MANY(n)
#define INSIDE(how, member) .at = offsetof(row_t, member), .store = CT_STORE_##how
#define ONLY(member) .only_at = offsetof(row_t, member), .only_len = sizeof(MEMBER(member))
#define UNLESS(member) ONLY(member), .is_unless = 1
#define ROWS(name, type, keys)                                                                     \
	const struct ct_columns *ct_columns_##name(void)                                           \
	{                                                                                          \
		typedef type row_t;                                                                \
		static const char page[] = keys;                                                   \
		static const struct ct_report_column all[] = {
#define COLUMN(...) { __VA_ARGS__ },
#define END                                                                                        \
	}                                                                                          \
	;                                                                                          \
	static const struct ct_columns columns = { all, sizeof(all) / sizeof(all[0]),              \
						   sizeof(row_t), page };                          \
	return &columns;                                                                           \
	}
#include "analyzer/render/columns.def"

json_t *ct_report_json(const struct ct_report *report)
{
	return ct_columns_json(ct_columns_report(), report, report);
}

json_t *ct_info_json(const struct ct_report *report)
{
	return ct_columns_json(ct_columns_info(), report, report);
}
