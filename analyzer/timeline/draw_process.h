/* SPDX-License-Identifier: Apache-2.0 */
/* draw_process.h — what the parts of the drawing of a process share: one of its ranks while it is
 * drawn. */
#ifndef CT_ANALYZER_TIMELINE_DRAW_PROCESS_H
#define CT_ANALYZER_TIMELINE_DRAW_PROCESS_H

#include "analyzer/timeline/draw.h"

/* Bandwidth of one operation: value from begin to end. */
struct ct_bandwidth_level {
	uint64_t begin_ns, end_ns;
	double gbps;
	uint32_t comm; /* as in the ops */
};

struct ct_drawing {
	struct ct_pen *pen;
	const struct ct_drawn *d;
	uint32_t local;			   /* which of the process's ranks */
	int rank;			   /* -1 unknown */
	uint32_t group;			   /* track */
	int64_t gpu;			   /* of its work; -1 none, -2 several */
	char pid[24];			   /* "pid 123 " where the rank has several processes */
	struct ct_lane_item *items;	   /* space for all ops and calls, and for all works */
	struct ct_bandwidth_level *levels; /* one a work at most */
	uint32_t n_levels;
};

/* NULL: never recorded. */
const struct ct_drawn_comm *ct_drawing_comm(const struct ct_drawing *x, uint32_t comm);
const char *ct_drawing_label(const struct ct_drawing *x, uint32_t comm);

/* Where a slice ends. What had not ended does not end, unless its process was gone long before the
 * others: then with that. Its state and age are added to `args`. */
void ct_drawing_end(const struct ct_drawing *x, struct ct_args *args,
		    struct ct_timeline_slice *slice, enum ct_op_state state);

/* What was called. */
void ct_drawing_what(const struct ct_drawing *x, struct ct_args *args,
		     const struct ct_drawn_op *op);

/* Names the rank's part of the instance that an op belongs to, or the exchange of messages with
 * this number + 1 (0: none). 0: it cannot be judged. */
int ct_drawing_member(const struct ct_drawing *x, const struct ct_drawn_op *op, uint64_t exchange,
		      struct ct_cached_key *key);

/* Numbers of arrows, 0 none: from a call to its work; through all ranks of a collective. */
uint64_t ct_drawing_launch_flow(const struct ct_drawing *x, uint32_t launch);
uint64_t ct_drawing_instance_flow(const struct ct_drawing *x, const struct ct_drawn_op *op);

/* Tracks below x->group. 0, CT_NOMEM or what the sink returned. ct_draw_works() leaves the levels
 * behind. */
int ct_draw_threads(struct ct_drawing *x);
int ct_draw_works(struct ct_drawing *x);
int ct_draw_levels(struct ct_drawing *x);

#endif
