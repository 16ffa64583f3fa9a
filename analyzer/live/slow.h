/* SPDX-License-Identifier: Apache-2.0 */
/* slow.h — which ranks slow a running job down: the replay of `report` (lateness/replay), over what
 * came since it was asked last. Arrival order is not evidence, so there is no score without the
 * replay. What it finds with low confidence is not reported. */
#ifndef CT_ANALYZER_LIVE_SLOW_H
#define CT_ANALYZER_LIVE_SLOW_H

#include "analyzer/steps/step_log.h"
#include "analyzer/stream/instance_log.h"

struct ct_slow_watch {
	struct ct_instance_log log;
	struct ct_step_log steps;
	uint64_t from_ns;    /* what is in the logs begins here, since the run began */
	uint64_t tried_ns;   /* they were judged up to here */
	uint64_t until_ns;   /* what share[] is of ends here; 0: nothing was judged */
	double *share, *err; /* by slot, of step time: what it costs the job; NAN: not judged */
	uint32_t n;
	const char *why_not; /* a static text or this one's; NULL: judged, or too early */
	char why[160];
};

void ct_slow_watch_init(struct ct_slow_watch *watch, struct ct_observer observers[2]);
void ct_slow_watch_fini(struct ct_slow_watch *watch);

/* Judge if it is time. 0 or CT_NOMEM. */
int ct_slow_watch_judge(struct ct_slow_watch *watch, struct ct_stream *stream);

#endif
