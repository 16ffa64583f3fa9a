/* SPDX-License-Identifier: Apache-2.0 */
/* columns.def: its rows are whole, and what is unknown is null in JSON and n/a in text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/columns.h"
#include "tests/unit/fixture.h"

static const struct {
	const char *name;
	const struct ct_columns *(*columns)(void);
} rows[] = {
#define ROWS(name, type, page) { #name, ct_columns_##name },
#define COLUMN(...)
#define END
#include "analyzer/render/columns.def"
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct ct_report_column *find(const struct ct_columns *columns, const char *key)
{
	const struct ct_report_column *c = ct_columns_next(columns, &key);

	return c && !*key ? c : NULL;
}

static void every_key_is_there_once(void **state)
{
	(void)state;
	for (size_t r = 0; r < N_ROWS; r++) {
		const struct ct_columns *columns = rows[r].columns();

		for (size_t i = 0; i < columns->n; i++) {
			if (find(columns, columns->all[i].key) != &columns->all[i])
				fail_msg("%s: %s twice", rows[r].name, columns->all[i].key);
		}
	}
}

static void every_column_of_the_page_has_a_title_and_its_error(void **state)
{
	(void)state;
	for (size_t r = 0; r < N_ROWS; r++) {
		const struct ct_columns *columns = rows[r].columns();
		const struct ct_report_column *c;
		const char *keys = columns->page;
		size_t n = 0, titles = 0;

		for (; (c = ct_columns_next(columns, &keys)); n++) {
			if (!c->title || c->is_for_text || (c->err && !find(columns, c->err)))
				fail_msg("%s: %s", rows[r].name, c->key);
		}
		if (*keys)
			fail_msg("%s: no column %s", rows[r].name, keys);
		for (size_t i = 0; i < columns->n; i++)
			titles += columns->all[i].title != NULL;
		/* one that is in no list of keys would not be seen */
		if (n != titles)
			fail_msg("%s: %zu titles, %zu columns", rows[r].name, titles, n);
	}
}

static char *json_of(const struct ct_columns *columns, const void *row)
{
	json_t *json = ct_columns_json(columns, row, NULL);
	char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));

	json_decref(json);
	assert_non_null(text);
	return text;
}

static void what_is_unknown_is_null(void **state)
{
	const struct ct_report_overhead cpu = { .wrapper_ns = CT_UNKNOWN, .wrapper_pct = NAN };
	const struct ct_report_overhead gpu = { .on_gpu = 1, .timed_by = 2, .level = 3 };
	const struct ct_report_stage stage = { .rank = -1, .microbatches = NAN, .n_stages = 4 };
	const struct ct_report_process process = { .imported = 1, .how.exit_code = -1 };
	char *text = json_of(ct_columns_overhead(), &cpu);

	(void)state;
	assert_non_null(strstr(text, "{\"rank\":0,\"wrapper_ns\":null,\"calls\":0,"));
	assert_non_null(
		strstr(text, "\"wrapper_pct\":null,\"threads_cpu_pct\":0.0,\"timing\":null,"));
	assert_non_null(
		strstr(text, "\"halvings\":null,\"halvings_max\":null,\"timing_why\":null,"));
	free(text);
	text = json_of(ct_columns_overhead(), &gpu);
	assert_non_null(strstr(text, "\"timing\":\"events\","));
	assert_non_null(strstr(text, "\"halvings\":3,\"halvings_max\":0,\"timing_why\":null,"));
	free(text);
	text = json_of(ct_columns_stages(), &stage);
	assert_non_null(strstr(text, "{\"comm\":null,\"rank\":null,\"stage\":0,\"stages\":4,"
				     "\"microbatches\":null,"));
	assert_non_null(strstr(text, "\"at_most\":false}"));
	free(text);
	text = json_of(ct_columns_processes(), &process);
	assert_non_null(strstr(text, "\"signal\":null,\"oom_killed\":null,\"exit_code\":null,"
				     "\"last_heartbeat_ns\":null}"));
	free(text);
}

static void text_has_the_same_values(void **state)
{
	const struct ct_report_comm comm = { .hash = 0xabc,
					     .backend = 999,
					     .nranks = 4,
					     .instances = 12,
					     .first_seq = CT_UNKNOWN,
					     .bytes = 26200000 };
	const struct ct_report_clock clock = { .host = "node1",
					       .drift_ppb = NAN,
					       .err_ns = 4040,
					       .quality = "ABSENT",
					       .selftest_ns = CT_UNKNOWN };
	static const char keys[] = "comm backend nranks op_count first_seq bytes name";
	struct ct_text text = { 0 };
	char pairs[256], *lines;
	size_t size;

	(void)state;
	text.out = open_memstream(&lines, &size);
	assert_non_null(text.out);
	ct_columns_head(&text, ct_columns_comms(), keys);
	ct_columns_row(&text, CT_COLOR_NONE, ct_columns_comms(), keys, &comm);
	assert_int_equal(fclose(text.out), 0);
	assert_string_equal(lines,
			    "comm             backend  ranks operations  first seq    bytes name\n"
			    "0000000000000abc ?            4         12        n/a 25.0 MiB\n");
	free(lines);
	ct_columns_pairs(pairs, sizeof(pairs), ct_columns_clocks(),
			 "host ref_host offset_ns drift_ppb err_ns selftest_ns", &clock);
	assert_string_equal(pairs,
			    "host node1, against n/a, offset n/a, drift (ppb) n/a, error 4.04 us, "
			    "selftest n/a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_there_once),
		cmocka_unit_test(every_column_of_the_page_has_a_title_and_its_error),
		cmocka_unit_test(what_is_unknown_is_null),
		cmocka_unit_test(text_has_the_same_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
