/* SPDX-License-Identifier: Apache-2.0 */
/* text.h — a Python string of the interpreter's memory as UTF-8, and the line of an instruction.
 * Stateless; see python.h. */
#ifndef CT_INTERPOSE_PYTHON_TEXT_H
#define CT_INTERPOSE_PYTHON_TEXT_H

#include "interpose/python/python.h"

/* Which end of a text that is too long is kept. */
enum ct_python_keep { CT_PYTHON_KEEP_FRONT, CT_PYTHON_KEEP_END };

/* The text of a PyUnicodeObject, without control characters. 0, or -1: it is none, or cannot be
 * read. */
int ct_python_text(const struct ct_python *py, ct_python_read read, uintptr_t object, char *to,
		   size_t room, enum ct_python_keep keep);

/* The line of the instruction at byte `at` of the code object's; 0: not known. */
uint32_t ct_python_line(const struct ct_python *py, ct_python_read read, uintptr_t code,
			int64_t at);

/* From a table of the given version (as 0x030b), its bytes in memory, for tests. */
uint32_t ct_python_line_in(uint32_t version, ct_python_read read, uintptr_t table, uint64_t bytes,
			   uint32_t first, int64_t at);

#endif
