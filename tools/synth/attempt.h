/* SPDX-License-Identifier: Apache-2.0 */
/* attempt.h — what commtrace-synth has begun and not finished is taken away again: when it fails,
 * and when it is ended by SIGINT, SIGTERM or SIGHUP. Main thread only; one attempt at a time;
 * before any other thread is started, which inherits that these signals are blocked. */
#ifndef CT_TOOLS_SYNTH_ATTEMPT_H
#define CT_TOOLS_SYNTH_ATTEMPT_H

#include "trace/status.h"

/* Make the directory, in which everything is the attempt's from now on, and note whether `truth` is
 * there already. Both names are borrowed until it ends. *dirfd is the caller's to close. CT_OK, or
 * CT_IO with *err. */
int ct_attempt_begin(const char *run, const char *truth, int *dirfd, struct ct_err *err);

/* Keep what was written, or take it away. From then on signals do what they did before. */
void ct_attempt_end(int is_kept);

#endif
