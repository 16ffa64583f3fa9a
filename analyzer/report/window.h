/* SPDX-License-Identifier: Apache-2.0 */
/* window.h — the latest part of a run, for a report of that alone: where in the files it begins.
 * Blocks of before are not decoded. Either that part was asked for, or operations of the earlier
 * part were left out of the files. */
#ifndef CT_ANALYZER_REPORT_WINDOW_H
#define CT_ANALYZER_REPORT_WINDOW_H

#include "analyzer/model/starts.h"
#include "trace/reader.h"

struct ct_window {
	uint32_t *from;	  /* by process of the run, as in struct ct_stream_options; owned */
	uint64_t from_ns; /* since the run began, likewise */
};

/* The last `last_ns` of one start of the job, 0: of all that has operations on record. 0, CT_NOMEM
 * or CT_IO; ct_window_fini() in any case. */
int ct_window_find(const struct ct_run *run, const struct ct_starts *starts, int restart,
		   uint64_t last_ns, struct ct_window *window, struct ct_err *err);
void ct_window_fini(struct ct_window *window);

#endif
