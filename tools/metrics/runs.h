/* SPDX-License-Identifier: Apache-2.0 */
/* runs.h — the runs that are watched: those that were named, or else those whose rings are on this
 * machine, as they come and go. */
#ifndef CT_TOOLS_METRICS_RUNS_H
#define CT_TOOLS_METRICS_RUNS_H

#include "tools/metrics/exposition.h"

#define CT_RUNS 16u /* at a time; of more, the first found */

struct ct_runs {
	const char *const *named; /* borrowed */
	size_t n_named;
	double peak_Bps; /* declared; 0: not */
	/* private */
	struct ct_watched_run {
		char *path;
		struct ct_live *live;
		const struct ct_live_view *view;
		uint64_t ended_ns; /* 0: it has not */
	} * all[CT_RUNS]; /* each stays where it is: its reading keeps the address of its path */
	unsigned n;
	uint64_t searched_ns;
	const char *ring_dirs[4];
	char complaint[160];
};

/* Look at all of them. *exposed gets those that have been read up to now, equal labels once;
 * `is_behind`: some have not. */
void ct_runs_look(struct ct_runs *runs, struct ct_exposed_run exposed[CT_RUNS],
		  struct ct_exposed_all *all);

void ct_runs_close(struct ct_runs *runs);

#endif
