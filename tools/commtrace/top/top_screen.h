/* SPDX-License-Identifier: Apache-2.0 */
/* top_screen.h — `commtrace top` on a terminal, by ncurses. The terminal is restored on every end.
 * Main thread only. */
#ifndef CT_TOOLS_COMMTRACE_TOP_TOP_SCREEN_H
#define CT_TOOLS_COMMTRACE_TOP_TOP_SCREEN_H

#include "tools/commtrace/top/top_table.h"

struct ct_top {
	const char *path; /* of the run, as it was given first */
	enum ct_top_column sort;
	const char *filter; /* NULL: none */
	uint64_t interval_ns;
	uint64_t stall_ns; /* 0: not given */
	uint64_t slice_ns; /* of reading at once */
};

/* Until q or a signal. Returns the exit status. */
int ct_top_screen(const struct ct_top *top, struct ct_live *live);

#endif
