/* SPDX-License-Identifier: Apache-2.0 */
/* lateness.h — the state of the lateness analysis: what a stream's instances come to as evidence against ranks. Later steps
 * weigh it (weigh.h), hold it against steps (step_blame.h) and replay the run (replay/). One thread. */
#ifndef CT_LATENESS_H
#define CT_LATENESS_H

#include "analyzer/lateness/late_or_slow.h"
#include "analyzer/lateness/oversubscribed.h"
#include "analyzer/lateness/partial_instances.h"
#include "analyzer/lateness/straggler.h"
#include "analyzer/lateness/windows.h"
#include "analyzer/model/model.h"
#include "analyzer/stream/instance_log.h"
#include "analyzer/stream/stream.h"

struct ct_lateness {
	const struct ct_model *model; /* the stream's */
	const struct ct_tape *log;    /* of the same stream; borrowed */
	struct ct_blame blame;
	struct ct_rest rest;	 /* of operations that lack ranks without a trace */
	struct ct_rounds rounds; /* once the steps are known; likewise: */
	struct ct_oversubscribed oversubscribed;
	struct ct_window window;
	int has_skew; /* of ends on one clock it is known how simultaneous they are */
	struct ct_late_or_slow late_or_slow;
};

/* A lateness that is zeroed but for log takes in all that a stream reads. */
void ct_lateness_observe(struct ct_lateness *late, struct ct_observer *observer);
void ct_lateness_fini(struct ct_lateness *late);

#endif
