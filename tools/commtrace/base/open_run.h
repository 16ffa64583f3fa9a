/* SPDX-License-Identifier: Apache-2.0 */
/* open_run.h — what all commands that look at a run do first: open it, say what is wrong with it,
 * analyze it. */
#ifndef CT_TOOLS_COMMTRACE_BASE_OPEN_RUN_H
#define CT_TOOLS_COMMTRACE_BASE_OPEN_RUN_H

#include "analyzer/report/analyze.h"
#include "tools/commtrace/base/options.h"
#include "trace/reader.h"

/* The number of threads in the options; default, also for NULL: one for each core that this process
 * may run on, 8 at most. */
unsigned ct_open_threads(const struct ct_cli *args);

/* Open the paths as one run and say on stderr what could not be read of it. `command` for usage
 * errors. 0, or an exit status after it was said why. */
int ct_open_run(const char *command, const struct ct_paths *paths, struct ct_run **run);

/* The run as the user typed it, for commands to paste: `paths`, or what is in CT_TYPED_RUNS. */
const struct ct_paths *ct_open_typed(const struct ct_paths *paths);

/* Analyze it, with a progress bar; freed with ct_report_free(). 0, or an exit status after it was
 * said why. */
int ct_open_report(const struct ct_paths *paths, const struct ct_run *run,
		   struct ct_report **report);

/* The same without its operations (ct_outline). */
int ct_open_outline(const struct ct_paths *paths, const struct ct_run *run,
		    struct ct_report **report);

/* The same, as options of `command` ask for it; zeroed: as they are without. */
struct ct_report_wishes {
	const char *anchor;		    /* --step-anchor; NULL: steps are found */
	uint32_t skip_steps;		    /* --skip-steps; 0: none */
	uint64_t last_ns;		    /* --last; 0: the whole run */
	unsigned threads;		    /* --threads; 0: ct_open_threads(NULL) */
	const struct ct_expect *expect;	    /* --expect, for its peaks; may be NULL */
	const struct ct_observer *observer; /* of the reading; may be NULL */
};
int ct_open_report_as(const char *command, const struct ct_paths *paths, const struct ct_run *run,
		      const struct ct_report_wishes *wishes, struct ct_report **report);

#endif
