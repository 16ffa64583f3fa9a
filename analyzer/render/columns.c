/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/columns.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/render/deep_link.h"
#include "analyzer/render/hang.h"
#include "analyzer/render/json_value.h"
#include "trace/ops.h"

/* ---- words ---- */

static const char *exposed_of(unsigned of_cycles)
{
	return of_cycles ? "cycles" : "run";
}

static const char *direction(unsigned message)
{
	static const char *const words[] = { [CT_MESSAGE_TO] = "to", [CT_MESSAGE_FROM] = "from" };

	return message < sizeof(words) / sizeof(words[0]) ? words[message] : NULL;
}

static json_t *grade(const void *row, const void *whole)
{
	const struct ct_report_score *score = row;

	(void)whole;
	return json_string(score->grade ? score->grade : "n/a");
}

/* ---- from more than one member ---- */

static json_t *order_hash(const void *row, const void *whole)
{
	const struct ct_report_comm *comm = row;

	(void)whole;
	return comm->order_hash == CT_UNKNOWN ? json_null() : ct_json_hex(comm->order_hash);
}

/* Where it is seen in what `commtrace open` serves. */
static json_t *timeline(const void *row, const void *whole)
{
	struct ct_deep_range range = ct_deep_range(whole, row);
	struct ct_arena *memory;
	const char *link;
	json_t *value;

	if (range.from_ns == CT_UNKNOWN)
		return json_null();
	memory = ct_arena_new();
	link = memory ? ct_deep_link(memory, CT_DEEP_LINK_PORT, range, row) : NULL;
	value = link ? json_string(link) : NULL;
	ct_arena_free(memory);
	return value;
}

static json_t *hang(const void *row, const void *whole)
{
	const struct ct_report *report = row;

	(void)whole;
	return report->hang ? ct_hang_verdicts_json(report->hang) : json_null();
}

/* Nothing is known of cycles that were not found, but why; and where they were, that is of no meaning. */
static json_t *cycles_found(const void *row, const void *whole)
{
	struct ct_report_cycles c = ((const struct ct_report *)row)->cycles;

	if (c.anchor_comm_key || c.marker) {
		c.why = NULL;
	} else {
		c.count = c.time_p50_ns = c.time_p99_ns = c.err_ns = CT_UNKNOWN;
		c.covered_pct = NAN;
	}
	return ct_columns_json(ct_columns_cycles(), &c, whole);
}

static json_t *ended(const void *row, const void *whole)
{
	const struct ct_report *report = row;
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < report->n_ended; i++)
		ct_json_append(array,
			       ct_columns_json(ct_columns_ended(),
					       &report->processes[report->ended[i]], whole),
			       &failed);
	return ct_json_done(array, failed);
}

static json_t *maybe_first(const void *row, const void *whole)
{
	const struct ct_report *report = whole;
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

static json_t *env_same(const void *row, const void *whole)
{
	const struct ct_report_environment *e = row;

	(void)whole;
	return facts_of(e->same, e->n_same);
}

static json_t *env_facts(const void *row, const void *whole)
{
	const struct ct_report_env_rank *rank = row;

	(void)whole;
	return facts_of(rank->facts, rank->n_facts);
}

/* By the host's name; machines of one name are told apart by a number. */
static json_t *transports(const void *row, const void *whole)
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
		ct_json_set(o, name, ct_columns_json(ct_columns_transport(), t, whole), &failed);
	}
	return ct_json_done(o, failed);
}

/* ---- matrices ---- */

/* The matrix's model: exact only where every byte is. */
static json_t *traffic_model(const void *row, const void *whole)
{
	const struct ct_report_traffic *t = row;

	(void)whole;
	if (!t->n_ranks)
		return json_null();
	return json_string(t->modelled_bytes ? ct_traffic_model_name(t->model) : "exact");
}

/* Rows of cells: one of these is not NULL. */
static json_t *cells(const uint64_t *integers, const double *ratios, size_t rows, size_t columns)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t r = 0; r < rows; r++) {
		json_t *row = json_array();

		for (size_t i = r * columns; i < (r + 1) * columns; i++)
			ct_json_append(row,
				       integers ? ct_json_u64(integers[i])
						: ct_json_double(ratios[i]),
				       &failed);
		ct_json_append(array, row, &failed);
	}
	return ct_json_done(array, failed);
}

static json_t *traffic_matrix(const void *row, const void *whole)
{
	const struct ct_report_traffic *t = row;

	(void)whole;
	return cells(t->matrix, NULL, t->n_ranks, t->n_ranks);
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

#define HEAT(name, type, value)                                                                    \
	static json_t *name(const void *row, const void *whole)                                    \
	{                                                                                          \
		const struct ct_report_heat_##type *h = row;                                       \
                                                                                                   \
		(void)whole;                                                                       \
		return value;                                                                      \
	}
HEAT(waits_rows, waits, rows_of(&h->rows))
HEAT(waits_ids, waits, ids_of(&h->rows))
HEAT(waits_wait, waits, cells(h->wait_ns, NULL, h->rows.n, h->columns))
HEAT(waits_lateness, waits, cells(h->lateness_ns, NULL, h->rows.n, h->columns))
HEAT(heat_cycles_rows, cycles, rows_of(&h->rows))
HEAT(heat_cycles_ids, cycles, ids_of(&h->rows))
HEAT(heat_cycles_gap, cycles, cells(h->gap_ns, NULL, h->rows.n, h->columns))
HEAT(heat_cycles_ratio, cycles, cells(NULL, h->gap_ratio, h->rows.n, h->columns))

static json_t *waits_begin(const void *row, const void *whole)
{
	const struct ct_report_heat_waits *w = row;
	json_t *array = json_array();
	int failed = !array;

	(void)whole;
	for (size_t c = 0; c < w->columns; c++)
		ct_json_append(array, ct_json_u64(w->begin_at_ns + c * w->column_ns), &failed);
	return ct_json_done(array, failed);
}

/* ---- in text ---- */

/* "3", or "0..3" if it drives several. */
static void ranks_cell(char *to, size_t cap, const void *row)
{
	const struct ct_report_process *p = row;

	if (p->n_ranks > 1)
		snprintf(to, cap, "%d..%d", p->ranks[0], p->ranks[p->n_ranks - 1]);
	else
		snprintf(to, cap, "%d", p->rank);
}

static void attempt_cell(char *to, size_t cap, const void *row)
{
	snprintf(to, cap, "%d", ((const struct ct_report_process *)row)->attempt + 1);
}

static void program_cell(char *to, size_t cap, const void *row)
{
	const char *exe = ((const struct ct_report_process *)row)->exe;
	const char *slash = strrchr(exe, '/');

	snprintf(to, cap, "%s", slash ? slash + 1 : exe);
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
		snprintf(to, cap, "%08" PRIx64, op->comm_key >> 32);
}

static void op_last_cell(char *to, size_t cap, const void *row)
{
	const struct ct_report_op *op = row;

	if (op->last_rank >= 0)
		snprintf(to, cap, "%d %.0f%% %s", op->last_rank, op->last_pct,
			 ct_text_ns(op->last_cost_ns).s);
	else
		snprintf(to, cap, "n/a");
}

static void offset_cell(char *to, size_t cap, const void *row)
{
	snprintf(to, cap, "%" PRId64, ((const struct ct_report_clock *)row)->offset_ns);
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
