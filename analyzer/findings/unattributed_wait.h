/* SPDX-License-Identifier: Apache-2.0 */
/* unattributed_wait.h — ranks waited for each other, and nobody is named: how much, and what is known of it.
 Nobody but who
 * stands out among all ranks is named, since of equals one always comes out worst. */
#ifndef CT_VERDICT_WAITED_H
#define CT_VERDICT_WAITED_H

#include "analyzer/findings/judgement.h"
#include "analyzer/lateness/stalled_steps.h"

struct ct_waited {
	double pct; /* of the run, at most; 0: not worth telling */
	uint64_t ns;
	uint32_t seat;	 /* who came last, and the others waited for it alone; CT_STALLED_NOBODY */
	int is_stalls;	 /* half of it or more are stalls */
	int in_messages; /* mostly in messages of which nobody knows who held up whom */
	struct ct_stalled stalled;
};

/* The report has what came of the replay. 0 or CT_NOMEM. */
int ct_waited_find(const struct ct_judgement *judgement, const struct ct_report *report,
		   struct ct_waited *waited);

/* The sentence; makes the verdict NOT_ENOUGH_EVIDENCE. `lacks`: what is not on record, "" nothing. */
void ct_waited_say(const struct ct_judgement *judgement, const struct ct_waited *waited,
		   const char *lacks, struct ct_report *report);

/* The same in few words, beside something else. */
const char *ct_waited_in_short(const struct ct_waited *waited, struct ct_report *report);

#endif
