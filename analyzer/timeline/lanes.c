/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/timeline/lanes.h"

#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"

/* Deeper than calls ever are in each other; what is deeper goes to the next lane. */
#define MAX_DEPTH 64u

struct frame {
	uint64_t end_ns, slack_ns;
};

struct lane {
	struct frame frames[MAX_DEPTH];
	uint32_t n;
	uint64_t reached_ns; /* latest time of anything on it that is not open */
};

CT_SORT_BY(by_begin, struct ct_lane_item, CT_UP(begin_ns) ?: CT_DOWN(end_ns) ?: CT_UP(what))

CT_SORT_BY(by_lane, struct ct_lane_item, CT_UP(lane) ?: CT_UP(order))

/* Put the item on the lane if it fits there. */
static int fits(struct lane *lane, struct ct_lane_item *item, int nest)
{
	uint64_t begin = item->begin_ns, end = item->end_ns;
	uint32_t n = lane->n;
	const struct frame *top;

	for (; n > 0; n--) {
		top = &lane->frames[n - 1];
		if (top->end_ns <= begin)
			continue;
		/* An interval inside it is a child, or elsewhere, but not a successor. */
		if (end < top->end_ns || (nest && end == top->end_ns) ||
		    top->end_ns > ct_plus(begin, top->slack_ns + item->slack_ns))
			break;
	}
	if (n > 0 && !nest)
		return 0;
	top = n > 0 ? &lane->frames[n - 1] : NULL;
	if (top && (n == MAX_DEPTH || end > ct_plus(top->end_ns, top->slack_ns + item->slack_ns)))
		return 0;
	for (uint32_t popped = n; popped < lane->n; popped++) {
		if (lane->frames[popped].end_ns > lane->reached_ns)
			lane->reached_ns = lane->frames[popped].end_ns;
	}
	begin = begin > lane->reached_ns ? begin : lane->reached_ns;
	if (top && end > top->end_ns)
		end = top->end_ns;
	end = end > begin ? end : begin;
	item->begin_ns = lane->reached_ns = begin;
	item->end_ns = end;
	item->depth = n;
	lane->frames[n] = (struct frame){ end, item->slack_ns };
	lane->n = n + 1;
	return 1;
}

int64_t ct_lanes_lay(struct ct_lane_item *items, uint32_t n, int nest, uint32_t *n_lanes)
{
	struct lane *lanes = NULL;
	uint32_t used = 0, cap = 0, kept = 0;

	ct_sort(items, n, sizeof(*items), by_begin);
	for (uint32_t i = 0; i < n; i++) {
		struct ct_lane_item item = items[i];
		uint32_t l = 0;

		while (l < used && !fits(&lanes[l], &item, nest))
			l++;
		if (l == CT_LANES_MAX)
			continue;
		if (l == used) {
			if (ct_grow(&lanes, &cap, used + 1, sizeof(*lanes))) {
				free(lanes);
				return -1;
			}
			lanes[used++] = (struct lane){ 0 };
			fits(&lanes[l], &item, nest);
		}
		item.lane = l;
		item.order = kept;
		items[kept++] = item;
	}
	ct_sort(items, kept, sizeof(*items), by_lane);
	*n_lanes = used;
	free(lanes);
	return kept;
}
