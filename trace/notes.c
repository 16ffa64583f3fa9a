/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/notes.h"

#include <stdarg.h>
#include <stdio.h>

void ct_notes_add(struct ct_notes *notes, const char *fmt, ...)
{
	va_list ap;

	if (notes->n >= CT_NOTES_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(notes->text[notes->n++], sizeof(notes->text[0]), fmt, ap);
	va_end(ap);
}
