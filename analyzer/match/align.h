/* SPDX-License-Identifier: Apache-2.0 */
/* align.h — an operation of several hosts on one clock, for what needs starts of different hosts: waits of rooted
 * operations and of messages. One thread. */
#ifndef CT_CLOCK_ALIGN_H
#define CT_CLOCK_ALIGN_H

#include "analyzer/match/waits.h"
#include "analyzer/model/clocks.h"

struct ct_aligned {
	struct ct_instance
		instance; /* the same with times of the reference's clock, and its error in theirs */
	uint32_t *hosts;  /* by seat: one host */
	uint32_t cap, cap_hosts;
};

/* Does the operation need it, and are its members' clocks related? Returns 1 and fills *aligned; 0; CT_NOMEM. host_of by
 * seat, of n_seats. */
int ct_align(const struct ct_clocks *clocks, const struct ct_instance *instance,
	     const uint32_t *host_of, uint32_t n_seats, struct ct_aligned *aligned);

/* Of waits judged on the aligned instance: what the clocks' error could have made is none, and a transfer that is not
 * twice as long as that error is not known. */
void ct_align_doubt(const struct ct_instance *instance, const struct ct_aligned *aligned,
		    struct ct_waits *waits);

void ct_aligned_fini(struct ct_aligned *aligned);

#endif
