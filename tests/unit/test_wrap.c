/* SPDX-License-Identifier: Apache-2.0 */
/* Wrapped lines: no wider than the screen, nothing lost, and no figure is broken between number,
 * error and unit. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/render/text.h"

static const char prose
	[] = "rank 2 costs 60 ± 4 ms/step (16 % of step time), or 1.20 s ± 45 ms in 3 of 60 steps; "
	     "it moved 12.5 MB at 3.40 GB/s, waited 199 us and 7 ns, and has 16 KiB left of 2 GiB";

/* The prose wrapped at `columns`; free() it. */
static char *wrapped(size_t columns)
{
	char *out = NULL;
	size_t size;
	FILE *file = open_memstream(&out, &size);
	struct ct_text text = { .out = file, .columns = columns };

	assert_non_null(file);
	ct_text_wrap(&text, CT_COLOR_NONE, 2, "%s", prose);
	fclose(file);
	return out;
}

static size_t width(const char *line)
{
	size_t n = 0;

	for (; *line; line++)
		n += (*line & 0xc0) != 0x80;
	return n;
}

static void no_figure_is_broken(void **unused)
{
	(void)unused;
	for (size_t columns = 24; columns <= 200; columns++) {
		char *out = wrapped(columns), *rest = out, again[sizeof(prose) + 200] = "";

		for (char *line; (line = strsep(&rest, "\n")) && *line;) {
			const char *begin = line + strspn(line, " ");
			size_t len = strlen(line);

			assert_true(width(line) <= columns);
			if (*again) {
				/* what a line begins with is not a sign, unit or percentage of a
				 * number before it */
				assert_false(strncmp(begin, "±", 2) == 0);
				if (isdigit((unsigned char)again[strlen(again) - 1]))
					assert_null(strstr(" ms/step % s ms MB GB/s us ns KiB GiB ",
							   strndupa(begin, strcspn(begin, " ,;"))));
				strcat(again, " ");
			}
			assert_true(len < 2 || strncmp(line + len - 2, "±", 2) != 0);
			strcat(again, begin);
		}
		assert_string_equal(again, prose);
		free(out);
	}
}

/* The first two lines are as ever; the third is the last, and shows that it is not all. */
static void text_ends_before_the_line_that_it_is_given(void **unused)
{
	char *whole = wrapped(40), *out = NULL;
	size_t size;
	FILE *file = open_memstream(&out, &size);
	struct ct_text text = { .out = file, .columns = 40, .lines = 2, .end = 5 };

	(void)unused;
	ct_text_wrap(&text, CT_COLOR_NONE, 2, "%s", prose);
	fclose(file);
	assert_int_equal(text.lines, 5);
	assert_memory_equal(out, whole, (size_t)(strchr(strchr(out, '\n') + 1, '\n') - out));
	assert_string_equal(out + size - 4, "...\n");
	free(whole);
	whole = wrapped(sizeof(prose));
	assert_null(strstr(whole, "..."));
	free(whole);
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_figure_is_broken),
		cmocka_unit_test(text_ends_before_the_line_that_it_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
