/* SPDX-License-Identifier: Apache-2.0 */
/* log.h — the tracer's own messages, in COMMTRACE_LOG_FILE only.
 *
 * Called when recording starts and ends and by the write thread, never on the call path. Without
 * the variable a call costs a load. Lines are appended with one write(2) each, so processes may
 * share a file. Keeps errno.
 */
#ifndef CT_INTERPOSE_LOG_H
#define CT_INTERPOSE_LOG_H

/* Open the file named by COMMTRACE_LOG_FILE (a %p becomes the pid); "" is none. 0, or -1 if it
 * cannot be opened. */
int ct_log_open(const char *path);

/* For good. */
void ct_log_close(void);

void ct_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
