/* SPDX-License-Identifier: Apache-2.0 */
/* unevenness.h — what it costs that ranks which do the same work differ, and how long ranks wait for each other. One thread. */
#ifndef CT_UNEVENNESS_H
#define CT_UNEVENNESS_H

#include "analyzer/lateness/replay/engine.h"

struct ct_unevenness {
	double ns; /* the engine's steps would gain if all ranks of a stage computed alike, step by step or gap by gap ... */
	double steps; /* ... and in how many steps that lies, as if they all held as much: (sum)^2 / sum of squares */
	double wait_ns; /* of a rank, on average, in operations for others to come */
};

/* Zeroed before. 0 or CT_NOMEM. */
int ct_unevenness_find(struct ct_engine *engine, struct ct_unevenness *out);

#endif
