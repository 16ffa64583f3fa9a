/* SPDX-License-Identifier: Apache-2.0 */
/* draw.h — what the drawing of the job and of its processes share: a pen that hands tracks, slices
 * and counters to the sink and counts them. One thread. */
#ifndef CT_ANALYZER_TIMELINE_DRAW_H
#define CT_ANALYZER_TIMELINE_DRAW_H

#include "analyzer/hang/hang_run.h"
#include "analyzer/timeline/collect.h"
#include "analyzer/timeline/lanes.h"
#include "analyzer/timeline/timeline_index.h"

/* A rank that a finding names. */
struct ct_named {
	int rank;
	uint32_t finding; /* index in pen->findings */
};

/* So many verdicts are drawn: those that most ranks wait for. */
#define CT_HANGS_DRAWN 8u

struct ct_hangs {
	const struct ct_hang_run *run; /* NULL: nothing hangs */
	uint32_t n;		       /* verdicts that are drawn */
	uint64_t end_ns; /* the latest heartbeat of any process, and no earlier than anything drawn
			    of ranks */
	int has_signs; /* something had not ended, or not well: each rank's last tracer heartbeat is
			  drawn */
};

struct ct_pen {
	const struct ct_timeline_sink *sink;
	struct ct_timeline_index *tl_index;
	struct ct_timeline_result *result;
	const struct ct_finding **findings; /* within the drawn range, by time; ct_pen_findings() */
	size_t n_findings;
	enum ct_timeline_kind kind;
	struct ct_named *named; /* by rank, then by time */
	size_t n_named;
	struct ct_hangs hangs;
	uint32_t tracks; /* numbers given out */
};

/* Arguments of a slice under way. What is unknown is left out. */
struct ct_args {
	struct ct_timeline_arg all[CT_TIMELINE_ARGS];
	uint8_t n;
};

/* Chooses the findings within the drawn range. 0 or CT_NOMEM. ct_pen_fini() in any case. */
int ct_pen_findings(struct ct_pen *pen, const struct ct_report *report);
void ct_pen_fini(struct ct_pen *pen);

/* The position of a child of a rank's or the job's group. */
enum ct_draw_order {
	CT_ORDER_COMMS = 0,
	CT_ORDER_MESSAGES = 100000,
	CT_ORDER_THREADS = 200000,
	CT_ORDER_COUNTERS = 300000,
};

/* track->id is set. 0, or what the sink returned. */
int ct_pen_track(struct ct_pen *pen, struct ct_timeline_track *track);
/* With these arguments (NULL: none). CT_NOMEM also where a text of it, or of anything before it,
 * found no space. */
int ct_pen_slice(struct ct_pen *pen, struct ct_timeline_slice *slice, const struct ct_args *args);
int ct_pen_counter(struct ct_pen *pen, uint32_t track, uint64_t at_ns, double gbps);

/* Lay the items out and draw them below `parent`, on as many tracks of one name as it takes;
 * draw(arg, item, track) for each. What finds no lane counts as not drawn. */
typedef int (*ct_draw_fn)(void *arg, const struct ct_lane_item *item, uint32_t track);
struct ct_draw_lanes {
	const char *name, *description;
	uint32_t parent;
	int32_t order;
	int nest;
	ct_draw_fn draw;
	void *arg;
};
int ct_pen_lanes(struct ct_pen *pen, const struct ct_draw_lanes *lanes, struct ct_lane_item *items,
		 uint32_t n);

void ct_args_uint(struct ct_args *args, enum ct_timeline_key key, uint64_t value); /* CT_UNKNOWN */
void ct_args_int(struct ct_args *args, enum ct_timeline_key key, int64_t value);
void ct_args_double(struct ct_args *args, enum ct_timeline_key key, double value); /* 0 or less */
void ct_args_text(struct ct_args *args, enum ct_timeline_key key, uint32_t text);  /* 0 */
/* The first CT_TIMELINE_LIST; none: left out. */
void ct_args_ints(struct ct_args *args, enum ct_timeline_key key, const int *values, size_t n);
void ct_args_word(struct ct_args *args, struct ct_pen *pen, enum ct_timeline_key key,
		  const char *word); /* NULL */

/* Gigabytes per second of `bytes` in `ns`; 0 if that is not defined, or not known. */
double ct_draw_gbps(uint64_t bytes, uint64_t ns);

/* The group of a rank, with its own tracks: its waits for communication, and the findings that name
 * it. gpu: as in struct ct_drawing. */
struct ct_draw_rank {
	uint32_t slot, pid, host;
	int64_t gpu;
};
int ct_draw_rank(struct ct_pen *pen, const struct ct_draw_rank *rank, uint32_t parent,
		 uint32_t *group);

/* An instant on a track that is under way. */
int ct_draw_finding(struct ct_pen *pen, const struct ct_finding *finding, uint32_t track,
		    unsigned depth);
/* Text: the name of a communicator with this key, of several the first; 0: none. */
uint32_t ct_draw_comm_label(const struct ct_timeline_index *tl_index, uint64_t key);

/* No earlier than what is drawn begins. */
uint64_t ct_draw_finding_at(const struct ct_timeline_index *tl_index,
			    const struct ct_finding *finding);

/* The groups of a process's ranks and their lanes. `parent` 0 or the node's. A rank may have
 * several processes: its group is made once, *group is 0 before that. */
int ct_draw_process(struct ct_pen *pen, const struct ct_drawn *drawn, uint32_t parent,
		    uint32_t *group);

/* Nodes and ranks with all they did, or with what they have of their own. 0 or CT_NOMEM, CT_IO. */
int ct_draw_ranks(struct ct_pen *pen, const struct ct_run *run, struct ct_err *err);

/* The begin of the file: what it is, of which run. 0 or what the sink returned. */
int ct_draw_facts(struct ct_pen *pen, const struct ct_report *report);

/* "Findings" and "Job". */
int ct_draw_findings(struct ct_pen *pen);
int ct_draw_job(struct ct_pen *pen);

#endif
