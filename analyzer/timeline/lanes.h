/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.h — puts intervals on lanes so that on one lane they follow each other or are nested. Pure.
 */
#ifndef CT_ANALYZER_TIMELINE_LANES_H
#define CT_ANALYZER_TIMELINE_LANES_H

#include <stdint.h>

#define CT_LANES_MAX 1024u

struct ct_lane_item {
	uint64_t begin_ns, end_ns; /* moved where clocks jitter; end UINT64_MAX: open */
	uint64_t slack_ns;	   /* error of its two times: so far it gives way */
	uint32_t what;		   /* the caller's */
	uint32_t lane;
	uint32_t order; /* on all lanes, as it was assigned */
	uint32_t depth;
};

/* Sort by lane, then begin, outer ones first, then as they came (`what`). `nest`: intervals may be
 * nested; otherwise any overlap takes the next lane. An overlap not longer than the slack of both
 * does not count: the later one begins where the earlier one ends. Returns the number of items that
 * got a lane, at the front of the array; there are at most CT_LANES_MAX lanes. *n_lanes
 * gets how many were used. -1: out of memory. */
int64_t ct_lanes_lay(struct ct_lane_item *items, uint32_t n, int nest, uint32_t *n_lanes);

#endif
