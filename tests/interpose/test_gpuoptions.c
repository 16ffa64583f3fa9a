/* SPDX-License-Identifier: Apache-2.0 */
/* COMMTRACE_TIMING, _SAMPLE, _BUDGET and _DUTY: what is understood, and what becomes of what is
 * not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "interpose/gpu/choice/options.h"

static struct ct_settings settings;
static struct ct_notes notes;
static struct ct_gpu_options options;

/* With one variable set, or none (NULL). */
static void read_with(const char *variable, const char *connections)
{
	char text[200];
	char *env[] = { text, NULL };

	memset(&notes, 0, sizeof(notes));
	snprintf(text, sizeof(text), "COMMTRACE_%s", variable ? variable : "QUIET=1");
	ct_settings_read(&settings, env, &notes);
	ct_gpu_options_read(&options, &settings, connections, &notes);
}

static void by_default_events_come_when_they_may_for_one_per_cent(void **state)
{
	(void)state;
	read_with(NULL, NULL);
	assert_int_equal(options.timing, CT_GPU_HOST);
	assert_int_equal(options.why, CT_TIMED_WHY_EARLY);
	assert_int_equal(options.may_rise, 1);
	assert_int_equal(options.guard_after_ms, 120000);
	assert_int_equal(options.guard_off_ms, 10000);
	assert_int_equal(options.guard_ms, 120000);
	assert_true(options.sample == CT_GPU_ALL);
	assert_int_equal(options.budget_millionths, 10000);
	assert_int_equal(options.duty_ms, 0);
	assert_int_equal(notes.n, 0);
}

static void one_connection_changes_what_auto_is_and_nothing_else(void **state)
{
	static const struct {
		const char *setting, *connections;
		enum ct_gpu_timing timing;
		enum ct_timed_why why;
	} cases[] = {
		{ "TIMING=auto", "8", CT_GPU_HOST, CT_TIMED_WHY_EARLY },
		{ "TIMING=auto", "1", CT_GPU_PLUGIN_OR_HOST, CT_TIMED_WHY_ONE_CONNECTION },
		{ "TIMING=auto", "01", CT_GPU_PLUGIN_OR_HOST, CT_TIMED_WHY_ONE_CONNECTION },
		{ "TIMING=auto", "3", CT_GPU_PLUGIN_OR_HOST, CT_TIMED_WHY_STREAMS },
		{ "TIMING=auto", "4", CT_GPU_HOST, CT_TIMED_WHY_EARLY },
		{ "TIMING=auto", "", CT_GPU_HOST, CT_TIMED_WHY_EARLY },
		{ "TIMING=events", "1", CT_GPU_UNANCHORED, CT_TIMED_WHY_ASKED },
		{ "TIMING=events", NULL, CT_GPU_TIMED, CT_TIMED_WHY_ASKED },
		{ "TIMING=host", NULL, CT_GPU_HOST, CT_TIMED_WHY_ASKED },
		{ "TIMING=host", "1", CT_GPU_HOST, CT_TIMED_WHY_ASKED },
		{ "TIMING=plugin", "1", CT_GPU_PLUGIN, CT_TIMED_WHY_ASKED },
		{ "TIMING=off", "1", CT_GPU_UNTIMED, CT_TIMED_WHY_ASKED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		read_with(cases[i].setting, cases[i].connections);
		assert_int_equal(options.timing, cases[i].timing);
		assert_int_equal(options.why, cases[i].why);
		assert_int_equal(options.may_rise, cases[i].why == CT_TIMED_WHY_EARLY);
		assert_int_equal(notes.n, 0);
	}
}

static void connections_are_1_to_32_and_8_if_nothing_is_said(void **state)
{
	(void)state;
	assert_int_equal(ct_gpu_connections(NULL), 8);
	assert_int_equal(ct_gpu_connections(""), 8);
	assert_int_equal(ct_gpu_connections("0"), 8);
	assert_int_equal(ct_gpu_connections("-1"), 8);
	assert_int_equal(ct_gpu_connections("1"), 1);
	assert_int_equal(ct_gpu_connections("12"), 12);
	assert_int_equal(ct_gpu_connections("32"), 32);
	assert_int_equal(ct_gpu_connections("99999999999999999999999"), 32);
}

static void a_sample_is_one_in_so_many_or_a_share(void **state)
{
	static const char *const bad[] = { "SAMPLE=0",
					   "SAMPLE=-3",
					   "SAMPLE=2.5",
					   "SAMPLE=ten",
					   "SAMPLE=10x",
					   "SAMPLE=0.0",
					   "SAMPLE=99999999999999999999" };

	(void)state;
	read_with("SAMPLE=1", NULL);
	assert_true(options.sample == CT_GPU_ALL);
	read_with("SAMPLE=4", NULL);
	assert_true(options.sample == CT_GPU_ALL / 4);
	read_with("SAMPLE=0.25", NULL);
	assert_true(options.sample == CT_GPU_ALL / 4);
	read_with("SAMPLE=1000", NULL);
	assert_true(options.sample == CT_GPU_ALL / 1000);
	assert_int_equal(notes.n, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		read_with(bad[i], NULL);
		assert_true(options.sample == CT_GPU_ALL);
		assert_int_equal(notes.n, 1);
	}
}

static void a_budget_is_a_percentage(void **state)
{
	static const char *const bad[] = { "BUDGET=1", "BUDGET=0%", "BUDGET=101%", "BUDGET=%",
					   "BUDGET=0.00001%" };

	(void)state;
	read_with("BUDGET=0.5%", NULL);
	assert_int_equal(options.budget_millionths, 5000);
	read_with("BUDGET=100%", NULL);
	assert_int_equal(options.budget_millionths, 1000000);
	read_with("BUDGET=off", NULL);
	assert_int_equal(options.budget_millionths, 0);
	assert_int_equal(notes.n, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		read_with(bad[i], NULL);
		assert_int_equal(options.budget_millionths, 10000);
		assert_int_equal(notes.n, 1);
	}
}

static void a_guard_begins_and_leaves_a_window_of_each_block_out(void **state)
{
	static const char *const bad[] = {
		"GUARD=10s/2m",	  "GUARD=2m",	      "GUARD=2m,10s",	  "GUARD=2,10s/2m",
		"GUARD=2m,10/2m", "GUARD=2m,10s/30s", "GUARD=2m,10s/45s", "GUARD=2m,0s/40s",
		"GUARD=,10s/2m",  "GUARD=on",	      "GUARD=2m,10s/2m "
	};

	(void)state;
	read_with("GUARD=0s,250ms/1s", NULL);
	assert_int_equal(options.guard_after_ms, 0);
	assert_int_equal(options.guard_off_ms, 250);
	assert_int_equal(options.guard_ms, 1000);
	read_with("GUARD=off", NULL);
	assert_int_equal(options.guard_ms, 0);
	/* how long auto looks before it decides */
	assert_int_equal(options.guard_off_ms, 10000);
	assert_int_equal(notes.n, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		read_with(bad[i], NULL);
		assert_int_equal(options.guard_after_ms, 120000);
		assert_int_equal(options.guard_ms, 120000);
		assert_int_equal(notes.n, 1);
	}
}

static void a_duty_is_the_first_of_every_so_long(void **state)
{
	static const char *const bad[] = { "DUTY=10s",	   "DUTY=60s/10s", "DUTY=10s/10s",
					   "DUTY=10/60",   "DUTY=0s/10s",  "DUTY=10s/60s ",
					   "DUTY=10s/48h", "DUTY=1m/1500m" };

	(void)state;
	read_with("DUTY=10s/1m", NULL);
	assert_int_equal(options.duty_on_ms, 10000);
	assert_int_equal(options.duty_ms, 60000);
	read_with("DUTY=250ms/1.5s", NULL);
	assert_int_equal(options.duty_on_ms, 250);
	assert_int_equal(options.duty_ms, 1500);
	read_with("DUTY=off", NULL);
	assert_int_equal(options.duty_ms, 0);
	assert_int_equal(notes.n, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		read_with(bad[i], NULL);
		assert_int_equal(options.duty_ms, 0);
		assert_int_equal(options.duty_on_ms, 0);
		assert_int_equal(notes.n, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_default_events_come_when_they_may_for_one_per_cent),
		cmocka_unit_test(one_connection_changes_what_auto_is_and_nothing_else),
		cmocka_unit_test(connections_are_1_to_32_and_8_if_nothing_is_said),
		cmocka_unit_test(a_sample_is_one_in_so_many_or_a_share),
		cmocka_unit_test(a_budget_is_a_percentage),
		cmocka_unit_test(a_guard_begins_and_leaves_a_window_of_each_block_out),
		cmocka_unit_test(a_duty_is_the_first_of_every_so_long),
	};

	return cmocka_run_group_tests_name("gpuoptions", tests, NULL, NULL);
}
