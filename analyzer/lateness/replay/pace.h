/* SPDX-License-Identifier: Apache-2.0 */
/* pace.h — a rank's gaps as they would be at the pace of its peers, with the unevenness that is its own.
 *
 * A pace is the median of a rank's gaps as multiples of the usual ones, at one position and in one window of the run. Where the
 * rank became slow or recovered within a window, which all its positions together tell, it has two paces there. One thread. */
#ifndef CT_WHATIF_PACE_H
#define CT_WHATIF_PACE_H

#include "analyzer/lateness/replay/peers.h"

struct ct_pacing {
	const struct ct_schedule *schedule;
	const struct ct_peers *peers;
	const struct ct_peer_group *group; /* whose members ... */
	const uint8_t *
		in; /* ... are paced, by seat: these, and the others are the measure of unevenness; NULL: all */
	const int64_t *usual_ns; /* by launch */
	int64_t *paced_ns;	 /* by launch: set where there is a pace, else left alone */
};

/* Is the member one of the set? */
int ct_pacing_is_in(const struct ct_pacing *pacing, uint32_t member);

uint32_t ct_pacing_launch(const struct ct_pacing *pacing, uint32_t member, uint32_t place);

/* 0 or CT_NOMEM. */
int ct_pace(const struct ct_pacing *pacing);

#endif
