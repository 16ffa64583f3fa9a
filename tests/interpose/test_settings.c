/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "trace/settings.h"

static struct ct_settings settings;
static struct ct_notes notes;

static void read_env(const char *const *env)
{
	memset(&notes, 0, sizeof(notes));
	ct_settings_read(&settings, (char *const *)(uintptr_t)env, &notes);
}

static void without_variables_the_table_holds(void **state)
{
	(void)state;
	read_env((const char *const[]){ "PATH=/bin", "COMMTRACE=1", NULL });
	assert_int_equal(notes.n, 0);
	assert_string_equal(settings.RING_DIR, "/dev/shm");
	assert_string_equal(settings.DIR, "");
	assert_int_equal(settings.RING_MB, 4 << 20);
	assert_int_equal(settings.RANK, -1);
	assert_int_equal(settings.FLUSH, 10000000000ll);
	assert_int_equal(settings.HANG_AFTER, 30000000000ll);
	assert_int_equal(settings.MAX_BYTES, 2ll << 30);
	assert_int_equal(settings.SEGMENT_BYTES, 64 << 20);
	assert_true(ct_settings_lists(settings.BACKENDS, "gloo"));
}

static void units_are_understood(void **state)
{
	(void)state;
	read_env((const char *const[]){ "COMMTRACE_FLUSH=500ms", "COMMTRACE_HANG_AFTER=2m",
					"COMMTRACE_MAX_BYTES=3M", "COMMTRACE_SEGMENT_BYTES=128K",
					"COMMTRACE_RING_MB=16", "COMMTRACE_QUIET=1",
					"COMMTRACE_DIR=/a b", NULL });
	assert_int_equal(notes.n, 0);
	assert_int_equal(settings.FLUSH, 500000000);
	assert_int_equal(settings.HANG_AFTER, 120000000000ll);
	assert_int_equal(settings.MAX_BYTES, 3 << 20);
	assert_int_equal(settings.SEGMENT_BYTES, 128 << 10);
	assert_int_equal(settings.RING_MB, 16 << 20);
	assert_int_equal(settings.QUIET, 1);
	assert_string_equal(settings.DIR, "/a b");
	read_env((const char *const[]){ "COMMTRACE_RING_MB=0.25", NULL });
	assert_int_equal(settings.RING_MB, 256 << 10);
	read_env((const char *const[]){ "COMMTRACE_RING_MB=1.5000000000000000000001", NULL });
	assert_int_equal(settings.RING_MB, 3 << 19);
	assert_int_equal(notes.n, 0);
}

static void a_bad_value_keeps_the_default_and_is_reported(void **state)
{
	static const char *const bad[] = {
		"COMMTRACE_FLUSH=10",
		"COMMTRACE_FLUSH=",
		"COMMTRACE_FLUSH=ms",
		"COMMTRACE_FLUSH=-1s",
		"COMMTRACE_FLUSH=1h",
		"COMMTRACE_RING_MB=0",
		"COMMTRACE_RING_MB=1025",
		"COMMTRACE_RING_MB=4MB",
		"COMMTRACE_RING_MB=0.2",
		"COMMTRACE_RING_MB=.5",
		"COMMTRACE_RING_MB=1024.1",
		"COMMTRACE_RING_MB=1.x",
		"COMMTRACE_RANK=x",
		"COMMTRACE_QUIET=yes",
		"COMMTRACE_MAX_BYTES=2T",
		"COMMTRACE_MAX_BYTES=-1G",
		"COMMTRACE_HANG_AFTER=99999999999999999999s",
		"COMMTRACE_MAX_BYTES=9999999999G",
		NULL,
	};

	(void)state;
	for (const char *const *b = bad; *b; b++) {
		int empty = (*b)[strlen(*b) - 1] == '=';

		read_env((const char *const[]){ *b, NULL });
		if (notes.n != (empty ? 0 : 1))
			fail_msg("%s: %u notes", *b, notes.n);
		if (!empty && !strstr(notes.text[0], "using "))
			fail_msg("%s: %s", *b, notes.text[0]);
		assert_int_equal(settings.FLUSH, 10000000000ll);
		assert_int_equal(settings.RING_MB, 4 << 20);
		assert_int_equal(settings.RANK, -1);
		assert_int_equal(settings.QUIET, 0);
		assert_int_equal(settings.MAX_BYTES, 2ll << 30);
		assert_int_equal(settings.HANG_AFTER, 30000000000ll);
	}
}

static void an_unknown_variable_is_named_with_its_neighbour(void **state)
{
	(void)state;
	read_env((const char *const[]){ "COMMTRACE_RNIG_MB=4", "COMMTRACE_QUITE=1",
					"COMMTRACE_WHATEVER_ELSE=1", "COMMTRACER=1", NULL });
	assert_int_equal(notes.n, 3);
	assert_string_equal(notes.text[0],
			    "unknown COMMTRACE_RNIG_MB, did you mean COMMTRACE_RING_MB?");
	assert_string_equal(notes.text[1],
			    "unknown COMMTRACE_QUITE, did you mean COMMTRACE_QUIET?");
	assert_string_equal(notes.text[2], "unknown COMMTRACE_WHATEVER_ELSE");
}

static void backends_are_checked(void **state)
{
	(void)state;
	read_env((const char *const[]){ "COMMTRACE_BACKENDS=nccl,glue", NULL });
	assert_int_equal(notes.n, 1);
	assert_true(ct_settings_lists(settings.BACKENDS, "nccl"));
	assert_false(ct_settings_lists(settings.BACKENDS, "gloo"));
	assert_false(ct_settings_lists(settings.BACKENDS, "glu"));
}

static void timing_is_one_of_five_words(void **state)
{
	static const char *const good[] = { "auto", "events", "plugin", "host", "off" };
	char variable[64];

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		snprintf(variable, sizeof(variable), "COMMTRACE_TIMING=%s", good[i]);
		read_env((const char *const[]){ variable, NULL });
		assert_int_equal(notes.n, 0);
		assert_string_equal(settings.TIMING, good[i]);
	}
	read_env((const char *const[]){ "COMMTRACE_TIMING=clock", NULL });
	assert_int_equal(notes.n, 1);
	assert_string_equal(notes.text[0],
			    "COMMTRACE_TIMING=clock is not auto, events, plugin, host or off: "
			    "using auto");
	assert_string_equal(settings.TIMING, "auto");
}

static void graphs_are_listed_or_not(void **state)
{
	(void)state;
	read_env((const char *const[]){ "COMMTRACE_GRAPH=off", NULL });
	assert_int_equal(notes.n, 0);
	assert_string_equal(settings.GRAPH, "off");
	read_env((const char *const[]){ "COMMTRACE_GRAPH=no", NULL });
	assert_int_equal(notes.n, 1);
	assert_string_equal(notes.text[0], "COMMTRACE_GRAPH=no is not list or off: using list");
	assert_string_equal(settings.GRAPH, "list");
}

static void a_name_of_any_length_does_no_harm(void **state)
{
	char variable[4000];

	(void)state;
	memset(variable, 'A', sizeof(variable));
	memcpy(variable, "COMMTRACE_", 10);
	variable[sizeof(variable) - 1] = '\0';
	read_env((const char *const[]){ variable, NULL });
	variable[70] = '=';
	read_env((const char *const[]){ variable, NULL });
	memcpy(variable, "COMMTRACE_DIR=", 14);
	variable[70] = 'A';
	read_env((const char *const[]){ variable, NULL });
	assert_int_equal(notes.n, 1);
	assert_string_equal(settings.DIR, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_variables_the_table_holds),
		cmocka_unit_test(units_are_understood),
		cmocka_unit_test(a_bad_value_keeps_the_default_and_is_reported),
		cmocka_unit_test(an_unknown_variable_is_named_with_its_neighbour),
		cmocka_unit_test(backends_are_checked),
		cmocka_unit_test(timing_is_one_of_five_words),
		cmocka_unit_test(graphs_are_listed_or_not),
		cmocka_unit_test(a_name_of_any_length_does_no_harm),
	};

	return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
