/* SPDX-License-Identifier: Apache-2.0 */
/* reason.h — where launchers look for the reason of an end: the error file of torchrun
 * (TORCHELASTIC_ERROR_FILE) and the termination message of a pod. Neither is ever overwritten: what
 * the program itself wrote says more. One thread. */
#ifndef CT_TOOLS_COMMTRACE_WATCH_REASON_H
#define CT_TOOLS_COMMTRACE_WATCH_REASON_H

#include <stddef.h>

/* Write both, where they exist or may be created. `details` goes into the error file; NULL: none.
 * What cannot be written is said. */
void ct_reason_write(const char *sentence, const char *details, const char *termination_log);

/* Take back what was written, unless someone has changed it since. */
void ct_reason_withdraw(const char *termination_log);

/* All of the bytes; 0, or -1 with errno. */
int ct_reason_put(int fd, const char *text, size_t n);

#endif
