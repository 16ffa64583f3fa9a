/* SPDX-License-Identifier: Apache-2.0 */
/* dump_line.h — one op as one line: for people, or as the JSON object that import reads back. Write
 * errors are found by ferror() of the FILE. */
#ifndef CT_TOOLS_COMMTRACE_JSONL_DUMP_LINE_H
#define CT_TOOLS_COMMTRACE_JSONL_DUMP_LINE_H

#include <stdio.h>

#include "analyzer/report/analyze.h"

/* Heading of the lines for people. */
void ct_dump_text_head(FILE *out);

/* `zero_ns`: what the time column counts from; `lane`: number of the thread within its process,
 * from 0. */
void ct_dump_text(const struct ct_joined_op *op, uint64_t zero_ns, FILE *out);
void ct_dump_json(const struct ct_joined_op *op, uint32_t lane, FILE *out);

#endif
