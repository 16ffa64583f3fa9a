/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h — one line on a terminal for what takes longer than a second, with the time left, gone
 * when it is done. Nothing at all if stderr is not a terminal. Main thread only. */
#ifndef CT_TOOLS_COMMTRACE_BASE_PROGRESS_H
#define CT_TOOLS_COMMTRACE_BASE_PROGRESS_H

#include <stdint.h>

/* `what` is borrowed until ct_progress_end(). */
void ct_progress_begin(const char *what);

/* May be called at any rate; draws at most ten times a second. `total` 0: unknown; then the number
 * itself is shown. */
void ct_progress_at(uint64_t done, uint64_t total);

/* Take the line away, because something else is to be written; the next ct_progress_at() draws it
 * again. */
void ct_progress_clear(void);
void ct_progress_end(void);

#endif
