/* SPDX-License-Identifier: Apache-2.0 */
/* unevenness.h — what it costs that ranks which do the same work differ, and how long ranks wait
 * for each other. One thread. */
#ifndef CT_ANALYZER_LATENESS_REPLAY_UNEVENNESS_H
#define CT_ANALYZER_LATENESS_REPLAY_UNEVENNESS_H

#include "analyzer/lateness/replay/engine.h"

struct ct_unevenness {
	double ns; /* the engine's steps would gain if all ranks of a stage computed alike, step by
		      step or gap by gap ... */
	double err_ns;	/* ... two standard errors of it, by how the steps differ: no less than it
			   where four steps hold it all */
	double wait_ns; /* a rank waits for others, on average ... */
	double left_ns; /* ... and would wait if they all computed alike; 0 where that gains nothing
			 */
	double steady;	/* of how ranks of a stage differ (variance), the share that is the same in
			   all steps */
};

/* Zeroed before. 0 or CT_NOMEM. */
int ct_unevenness_find(struct ct_engine *engine, struct ct_unevenness *out);

#endif
