/* SPDX-License-Identifier: Apache-2.0 */
/* follows.h — launches that start when an earlier one of their rank ends, because they wait for it
 * and for nothing else. The evidence is frequency: nine times of ten within the errors is not
 * chance. A launch that waits for two of them (the gradient norm, for the last bucket and the last
 * message of a pipeline) starts when the later one ends. One thread. */
#ifndef CT_ANALYZER_LATENESS_REPLAY_FOLLOWS_H
#define CT_ANALYZER_LATENESS_REPLAY_FOLLOWS_H

#include "analyzer/lateness/replay/positions.h"

/* How many launches before it: 0 none. `second` only with `first`. */
struct ct_follows {
	uint8_t first, second;
};

/* What launches of the position follow. */
struct ct_follows ct_follows_find(const struct ct_positions *positions,
				  const struct ct_position *position,
				  const struct ct_schedule *schedule);

#endif
