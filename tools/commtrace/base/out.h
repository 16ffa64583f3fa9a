/* SPDX-License-Identifier: Apache-2.0 */
/* out.h — where results go: standard output, or a file that appears when it is whole.
 *
 * A regular file is written beside its path and moved there at the end; an existing one is
 * replaced only with
 * --force, and none gets a name by which it would be taken for a part of a recording. Pipes and
 * devices are written as they are. Nothing that could not be written passes in silence:
 * ct_out_close() and ct_stdout_close() say so. Main thread only. */
#ifndef CT_TOOLS_COMMTRACE_BASE_OUT_H
#define CT_TOOLS_COMMTRACE_BASE_OUT_H

#include <jansson.h>
#include <stdio.h>

struct ct_out {
	FILE *file;
	char *path; /* NULL: standard output */
	char *temp; /* NULL: written directly */
	int error;  /* errno of a write that is known to have failed; else it is found at the end */
};

/* `path` NULL or "-": standard output. 0, or CT_CODE_FAILED after it was said why. */
int ct_out_open(struct ct_out *out, const char *path, int force);

/* Write out what is left, and move the file to its path. 0, or CT_CODE_FAILED after it was said
 * why. */
int ct_out_close(struct ct_out *out);

/* Give up: no file appears. Twice is once. */
void ct_out_drop(struct ct_out *out);

/* The value, whose reference is taken, and a line's end; NULL: memory was lacking. 0, or
 * CT_CODE_FAILED after it was said why. */
int ct_out_json(struct ct_out *out, json_t *value);

/* Before anything is written to it. */
void ct_stdout_begin(void);

/* Write out what is left of standard output; 0, CT_CODE_PIPE where its reader is gone, or
 * CT_CODE_FAILED after it was said why. Twice is once. */
int ct_stdout_close(void);

#endif
