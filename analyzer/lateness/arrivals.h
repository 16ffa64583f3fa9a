/* SPDX-License-Identifier: Apache-2.0 */
/* arrivals.h — arrival order by rank and by operation, for the tables of the report. It is not
 * evidence against a rank: the last one may have been delayed elsewhere. The replay blames ranks
 * (replay/engine.h); this is used if a run cannot be replayed. One thread. */
#ifndef CT_ANALYZER_LATENESS_ARRIVALS_H
#define CT_ANALYZER_LATENESS_ARRIVALS_H

#include "analyzer/match/waits.h"
#include "analyzer/model/model.h"
#include "analyzer/stream/stream.h"

/* One rank, over collectives with known waits, except the first one of each communicator, which
 * shows which rank started late. */
struct ct_arrival {
	uint64_t met;	   /* collectives that it took part in */
	uint64_t last;	   /* it came last, by more than the error */
	uint64_t alone_ns; /* the others waited for it alone, no longer than it had been in no
			    * communication for longer than anyone else */
};

struct ct_arrivals {
	struct ct_arrival *all; /* by slot */
	uint32_t n;
	struct ct_waits waits; /* space for those of operations that lack members */
};

/* Arrivals that are zeroed take in all that a stream reads; they fill the counts of the model's
 * slots and classes, too. */
void ct_arrivals_observe(struct ct_arrivals *arrivals, struct ct_observer *observer);
void ct_arrivals_fini(struct ct_arrivals *arrivals);

/* The slot that the others waited longest for alone, if it was last in half of its operations; the
 * number of slots: none. */
uint32_t ct_arrivals_latest(const struct ct_arrivals *arrivals, const struct ct_model *model);

#endif
