/* SPDX-License-Identifier: Apache-2.0 */
/* unattributed_wait.h — waits for other ranks that no finding explains: how much, and the evidence.
 * A rank is named only if it stands out among all, since one of equal ranks is always the worst. */
#ifndef CT_ANALYZER_FINDINGS_UNATTRIBUTED_WAIT_H
#define CT_ANALYZER_FINDINGS_UNATTRIBUTED_WAIT_H

#include "analyzer/findings/judgement.h"
#include "analyzer/lateness/stalled_steps.h"

struct ct_waited {
	uint64_t ns;	    /* of the run */
	double in_steps_ns; /* of that, in the steps */
	double pct;	    /* of step time, at most; 0: negligible */
	uint32_t slot;	 /* the last rank, which the others waited for alone; CT_STALLED_UNKNOWN */
	int is_stalls;	 /* half of it or more are stalls */
	int in_messages; /* mostly in messages without a record of the delaying side */
	struct ct_stalled stalled;
};

/* The report must have the results of the replay. 0 or CT_NOMEM. */
int ct_waited_find(const struct ct_judgement *judgement, const struct ct_report *report,
		   struct ct_waited *waited);

/* Makes the verdict NOT_ENOUGH_EVIDENCE. `lacks`: missing records, "" none. */
void ct_verdict_waited(const struct ct_judgement *judgement, const struct ct_waited *waited,
		       const char *lacks, struct ct_report *report);

/* Which rank stands out, and by how much; "": none does, or little is waited for it. */
const char *ct_waited_last_text(const struct ct_judgement *judgement,
				const struct ct_waited *waited, struct ct_report *report);

/* The same in few words, to add to another sentence. */
const char *ct_waited_in_short(const struct ct_waited *waited, struct ct_report *report);

#endif
