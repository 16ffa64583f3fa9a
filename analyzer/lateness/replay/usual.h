/* SPDX-License-Identifier: Apache-2.0 */
/* usual.h — gaps as they would be if a rank were like its peers.
 *
 * Usual at a place is the median of the other peers' gaps there. A rank's own gaps, brought to the usual pace, keep their
 * unevenness: at each position and in each window of the run, as multiples of the usual ones they are divided by their median,
 * and what is left is limited to three standard deviations of all peers, but for stalls that are rare. So no rank that is like the others is made faster by it. With fewer
 * than three peers nothing is usual but the rank's own pace in most windows; who is always slow is usual to himself then. One
 * thread. */
#ifndef CT_WHATIF_USUAL_H
#define CT_WHATIF_USUAL_H

#include "analyzer/lateness/replay/peers.h"

struct ct_usual {
	int64_t *usual_ns; /* by launch; its own gap where nothing is known */
	int64_t *paced_ns; /* by launch: own gaps at the usual pace */
	double *excess_ns; /* by seat: what its gaps hold beyond those of peers */
	uint8_t *by_peers; /* by seat: held against others, not only against itself */
};

/* 0 or CT_NOMEM; ct_usual_fini() in any case. */
int ct_usual_find(struct ct_usual *usual, const struct ct_schedule *schedule,
		  const struct ct_peers *peers);

/* The same for ranks that may be slow together: each held against the peers that are none of them, two at least; as above where
 * fewer are left. in: by seat. Sets paced_ns (by launch) of their launches only. 0 or CT_NOMEM. */
int ct_usual_together(const struct ct_usual *usual, const struct ct_schedule *schedule,
		      const struct ct_peers *peers, const uint8_t *in, int64_t *paced_ns);
void ct_usual_fini(struct ct_usual *usual);

#endif
