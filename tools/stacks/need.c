/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/stacks/need.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *there_is(void *memory)
{
	if (memory)
		return memory;
	fputs("commtrace-stacks: out of memory\n", stderr);
	exit(1);
}

void *ct_need(size_t n, size_t bytes)
{
	return there_is(calloc(n ? n : 1, bytes));
}

void *ct_need_more(void *array, size_t n, size_t bytes)
{
	size_t room = n < 8 ? 8 : 2 * n;

	if (n && ((n & (n - 1)) != 0 || n < 8))
		return array;
	array = there_is(reallocarray(array, room, bytes));
	memset((char *)array + n * bytes, 0, (room - n) * bytes);
	return array;
}

char *ct_need_text(const char *fmt, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	return there_is(text);
}
