/* SPDX-License-Identifier: Apache-2.0 */
/* align.h — converts an operation of several hosts to one clock, for waits of rooted operations and
 * of messages, which compare starts of different hosts. One thread. */
#ifndef CT_ANALYZER_MATCH_ALIGN_H
#define CT_ANALYZER_MATCH_ALIGN_H

#include "analyzer/match/waits.h"
#include "analyzer/model/clocks.h"

struct ct_aligned {
	struct ct_instance instance; /* the same with times of the reference's clock, and its error
					in theirs */
	uint32_t *hosts;	     /* by slot: one host */
	uint32_t cap, cap_hosts;
};

/* Does the operation need it, and are its members' clocks synchronized? Returns 1 and fills
 * *aligned; 0; CT_NOMEM. host_of by slot, of n_slots. */
int ct_align(const struct ct_clocks *clocks, const struct ct_instance *instance,
	     const uint32_t *host_of, uint32_t n_slots, struct ct_aligned *aligned);

/* Corrects waits of an aligned instance: a wait within the clocks' error is none, and a transfer
 * shorter than twice that error is unknown. */
void ct_align_doubt(const struct ct_instance *instance, const struct ct_aligned *aligned,
		    struct ct_waits *waits);

void ct_aligned_fini(struct ct_aligned *aligned);

#endif
