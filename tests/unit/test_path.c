/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of paths, with and without slashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/path.h"

static void slashes_at_the_end_do_not_count(void **state)
{
	static const struct {
		const char *path;
		size_t len;
	} rows[] = {
		{ "", 0 },	    { "run", 3 },  { "run/", 3 }, { "run///", 3 },
		{ "/tmp/run/", 8 }, { "a//b", 4 }, { "/", 1 },	  { "///", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(ct_path_len(rows[i].path), rows[i].len);
}

static void the_name_follows_the_last_slash(void **state)
{
	(void)state;
	assert_string_equal(ct_path_name("/usr/lib/libc.so.6"), "libc.so.6");
	assert_string_equal(ct_path_name("libc.so.6"), "libc.so.6");
	assert_string_equal(ct_path_name("run/"), "");
	assert_string_equal(ct_path_name(""), "");
}

static void an_ending_alone_is_no_name(void **state)
{
	(void)state;
	assert_true(ct_path_ends_with("0.seg", ".seg"));
	assert_false(ct_path_ends_with(".seg", ".seg"));
	assert_false(ct_path_ends_with("seg", ".seg"));
	assert_false(ct_path_ends_with("0.seg.tmp", ".seg"));
}

static void a_link_is_the_same_directory_and_what_is_missing_is_not(void **state)
{
	char dir[] = "/tmp/ct_path.XXXXXX", link[64], missing[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(link, sizeof(link), "%s/link", dir);
	snprintf(missing, sizeof(missing), "%s/missing", dir);
	assert_int_equal(symlink(".", link), 0);
	assert_true(ct_path_is_same(dir, link));
	assert_false(ct_path_is_same(dir, "/"));
	assert_false(ct_path_is_same(dir, missing));
	assert_false(ct_path_is_same(missing, missing));
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slashes_at_the_end_do_not_count),
		cmocka_unit_test(the_name_follows_the_last_slash),
		cmocka_unit_test(an_ending_alone_is_no_name),
		cmocka_unit_test(a_link_is_the_same_directory_and_what_is_missing_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
