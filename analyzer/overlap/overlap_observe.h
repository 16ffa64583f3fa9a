/* SPDX-License-Identifier: Apache-2.0 */
/* overlap_observe.h — exposed communication out of a stream: launches and waits go to overlap.h,
 * and when ranks waited for communication is kept one by one (exposures.h). One thread. */
#ifndef CT_ANALYZER_OVERLAP_OVERLAP_OBSERVE_H
#define CT_ANALYZER_OVERLAP_OVERLAP_OBSERVE_H

#include "analyzer/model/model.h"
#include "analyzer/overlap/exposures.h"
#include "analyzer/overlap/overlap.h"
#include "analyzer/stream/stream.h"

/* Each moment that a rank waited for communication, also those that `exposures` has no space for.
 * Nonzero stops. */
typedef int (*ct_exposure_fn)(void *arg, const struct ct_stream *stream,
			      const struct ct_exposure *exposure);

struct ct_overlap_log {
	struct ct_overlap *overlap;
	struct ct_exposures exposures;
	ct_exposure_fn each; /* may be NULL */
	void *each_arg;
	struct ct_sample *sample; /* that the exposures keep */
	/* private */
	const struct ct_stream *stream;
};

/* A log that is zeroed but for `each` and `sample` takes in all that a stream reads, and at its end
 * reports to the model how long each rank waited (struct ct_rank_state, exposed). */
void ct_overlap_observe(struct ct_overlap_log *log, struct ct_observer *observer);
/* Does the row have the waits of its slot? Where no waits of a rank are on record, its threads may
 * do nothing but communicate: it is not known which of them waited. Once all is read. */
int ct_overlap_is_known(const struct ct_rank_state *slot, const struct ct_overlap_row *row);

void ct_overlap_log_fini(struct ct_overlap_log *log);

/* How much of the communication was hidden behind computing. After the ranks and operations of the
 * report. 0 or CT_NOMEM. */
int ct_fill_overlap(const struct ct_model *model, const struct ct_overlap *overlap,
		    struct ct_report *report);

#endif
