/* SPDX-License-Identifier: Apache-2.0 */
/* markers.h — steps that a rank marks itself: recurring NVTX ranges of one name. Ranges are
 * distinguished by their names without numbers ("step 12" is "step") and by thread. Of nested or
 * overlapping ones the first counts. Bounded: after CT_MARKERS ranges no more are kept. One thread.
 */
#ifndef CT_ANALYZER_STEPS_MARKERS_H
#define CT_ANALYZER_STEPS_MARKERS_H

#include <stdint.h>

#include "trace/format.h"

#define CT_MARKERS (1u << 18) /* size: 6 MB */
#define CT_MARKER_LANES 64u   /* size: names and threads; of others nothing is kept */

struct ct_marker_lane {
	char name[32];
	uint32_t tid; /* 0: any thread may have ended them */
	enum ct_marker_kind { CT_MARKER_MARK, CT_MARKER_RANGE, CT_MARKER_STEP } kind;
	uint64_t n, total_ns; /* of their ranges */
};

struct ct_markers {
	struct ct_marker {
		uint64_t begin_ns, end_ns;
		uint32_t lane;
	} * all;
	uint32_t n, cap;
	struct ct_marker_lane lanes[CT_MARKER_LANES];
	uint32_t n_lanes;
	int cut_short; /* there were more */
};

/* One more; `begin_ns` and `end_ns` since the run began. 0 or CT_NOMEM. */
int ct_markers_add(struct ct_markers *markers, const struct ct_nvtx_rec *rec, uint64_t begin_ns,
		   uint64_t end_ns);
void ct_markers_fini(struct ct_markers *markers);

/* The beginnings of the ranges that cut the run: the steps that the program marks (commtrace_mark),
 * else of the name that takes most time in all, marks only where there is no such range. Of the
 * caller (free), in order; *n of them, CT_LEAST_OFTEN at least. *name points into `markers`. 0;
 * CT_NOTFOUND: no name comes so often; CT_NOMEM. */
int ct_markers_cut(const struct ct_markers *markers, uint64_t **cut_ns, uint32_t *n,
		   const char **name);

#endif
