/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.h — the timeline of a run as plain values: which tracks there are and which slices they
 * have. What is drawn where is decided here; a sink writes it down and decides nothing.
 *
 * The run is read twice: once by the analysis, which separates wait from transfer, and once process
 * by process to draw. Memory follows the largest process and the limit of slices, not the length of
 * the run. One thread.
 */
#ifndef CT_ANALYZER_TIMELINE_TIMELINE_H
#define CT_ANALYZER_TIMELINE_TIMELINE_H

#include "analyzer/model/report.h"
#include "analyzer/timeline/texts.h"
#include "trace/reader.h"

#define CT_TIMELINE_OPEN UINT64_MAX /* end of what had not ended when recording ended */

/* Times are ns since the run began, on the host's own clock moved by its CLOCK_REALTIME. */

enum ct_timeline_key {
#define ARG(name) CT_ARG_##name,
#include "analyzer/timeline/timeline_args.def"
#undef ARG
	CT_ARG_MAX
};
const char *ct_timeline_key_name(enum ct_timeline_key key);

enum ct_timeline_category {
	CT_CATEGORY_GPU,     /* comm.gpu: on a stream */
	CT_CATEGORY_HOST,    /* comm.host: an operation that the host times */
	CT_CATEGORY_API,     /* comm.api: a call */
	CT_CATEGORY_WAIT,    /* comm.wait: a part, in which it waits for others */
	CT_CATEGORY_JOB,     /* comm.job: an operation over all its ranks */
	CT_CATEGORY_FINDING, /* finding */
	CT_CATEGORY_EXPOSED, /* comm.exposed: a rank waited for communication */
	CT_CATEGORY_HANG,    /* hang: why the job does not continue, and which ranks wait */
	CT_CATEGORY_MAX
};
const char *ct_timeline_category_name(enum ct_timeline_category category);

/* One op of several that share a slice. */
struct ct_timeline_part {
	uint32_t op; /* text */
	int32_t peer;
	uint64_t seq, bytes;
};

enum ct_timeline_type {
	CT_VALUE_UINT,
	CT_VALUE_INT,
	CT_VALUE_DOUBLE,
	CT_VALUE_TEXT,
	CT_VALUE_PARTS,
	CT_VALUE_INTS
};
struct ct_timeline_arg {
	uint8_t key;  /* enum ct_timeline_key */
	uint8_t type; /* enum ct_timeline_type */
	uint16_t n;   /* of the last two types, at most CT_TIMELINE_LIST */
	union {
		uint64_t u;
		int64_t i;
		double d;
		uint32_t text;
		const struct ct_timeline_part *parts;
		const int *ints;
	};
};
#define CT_TIMELINE_LIST 16u
#define CT_TIMELINE_ARGS 24u

enum ct_timeline_track_kind { CT_TRACK_GROUP, CT_TRACK_SLICES, CT_TRACK_COUNTER };
struct ct_timeline_track {
	uint32_t id;	 /* from 1, in order of appearance */
	uint32_t parent; /* 0: a root; roots are sorted by name */
	const char *name;
	const char *description; /* NULL none */
	int32_t order;		 /* among its parent's children */
	uint8_t kind;
	uint8_t merged; /* one of several that are shown as one: equal name and parent */
};

struct ct_timeline_slice {
	uint32_t track;
	uint32_t name; /* text */
	uint64_t begin_ns, end_ns;
	uint64_t flows[2];    /* slices with an equal one are joined by an arrow; 0 none */
	uint64_t correlation; /* slices with an equal one have one colour; 0: that of their name */
	const uint64_t *ends; /* arrows with these numbers end here; at most CT_TIMELINE_LIST */
	const struct ct_timeline_frame *frames; /* outermost first; at most CT_TIMELINE_FRAMES */
	uint8_t depth;
	uint8_t category;
	uint8_t instant; /* begin_ns only */
	uint8_t n_args;
	uint8_t n_ends, n_frames;
	const struct ct_timeline_arg *args;
};

/* A fact about the whole; value NULL: the number. */
struct ct_timeline_fact {
	const char *name;
	const char *text;
	uint64_t number;
};

/* Each returns 0 or a negative status, which ends the drawing. A group may have slices of its own.
 * A track comes before its slices and after its parent. The slices of a track come in one go:
 * parents before children, each after the end of its elder sibling. */
struct ct_timeline_sink {
	int (*begin)(void *arg, const struct ct_texts *texts, uint64_t begin_unix_ns,
		     const struct ct_timeline_fact *facts, size_t n);
	int (*track)(void *arg, const struct ct_timeline_track *track);
	int (*slice)(void *arg, const struct ct_timeline_slice *slice);
	int (*counter)(void *arg, uint32_t track, uint64_t at_ns, double gbps);
	int (*end)(void *arg);
	void *arg;
};

enum ct_timeline_flows {
	CT_FLOWS_NONE,
	CT_FLOWS_LAUNCH, /* from the call to its work on the GPU */
	CT_FLOWS_BLAME,	 /* and from waiting ranks to the awaited ones, for findings */
	CT_FLOWS_ALL,	 /* and through all ranks of each collective, of which there are few */
};

enum ct_timeline_color {
	CT_COLOR_BY_OP,	      /* by name */
	CT_COLOR_BY_INSTANCE, /* what is one operation has one colour on all ranks */
};
#define CT_FLOWS_ALL_RANKS 16u

/* What a file shows. */
enum ct_timeline_kind {
	CT_TIMELINE_WHOLE,    /* all of the selection, or its end */
	CT_TIMELINE_OVERVIEW, /* all ranks and times: findings, waits of ranks, the longest
				 operations */
};

struct ct_timeline_options {
	int restart;		 /* -1: the last */
	unsigned threads;	 /* as struct ct_analyze_options */
	const char *boot_id;	 /* likewise */
	uint64_t from_ns, to_ns; /* UINT64_MAX: to the end */
	const int *ranks;	 /* NULL: all */
	size_t n_ranks;
	uint64_t max_slices;
	int keeps_end; /* where there is more: its end, for hangs are there; 0: an overview of all */
	enum ct_timeline_flows flows;
	enum ct_timeline_color color;
	/* Bytes that a reading for the analysis has read, then processes that were drawn. May be
	 * NULL. */
	void (*reading)(void *arg, uint64_t done, uint64_t total);
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
};

struct ct_timeline_result {
	uint64_t duration_ns; /* of the run, with what is drawn of a hang after its last operation */
	uint64_t from_ns, to_ns; /* what is drawn; CT_TIMELINE_OPEN: to the end */
	int cut;		 /* from_ns is later than selected: max_slices */
	uint64_t slices, flows, counters, unfinished;
	uint64_t not_drawn; /* ops on the GPU of which no start was measured */
	uint32_t ranks, hosts;
	uint32_t unrelated; /* of the hosts: their times differ from others' by an unknown error */
	uint64_t clock_err_ns; /* the largest error that relating the others adds to their times */
	int missing_rank;      /* CT_NOTFOUND: the rank that is not there, else -1 */
};

struct ct_timeline;

/* Read the run and decide what is drawn. The options, and what they point to, live as long as the
 * timeline. 0; CT_NOTFOUND (restart, a rank, or nothing in the window); CT_FULL (one moment alone,
 * or the overview, holds more than max_slices); CT_NOMEM; CT_IO. *result is filled as far as it
 * went. */
int ct_timeline_open(const struct ct_run *run, const struct ct_timeline_options *options,
		     struct ct_timeline **timeline, struct ct_timeline_result *result,
		     struct ct_err *err);
void ct_timeline_close(struct ct_timeline *timeline); /* NULL is fine */

enum ct_timeline_kind ct_timeline_kind(const struct ct_timeline *timeline);
/* The whole turned out too large for a file: from now on it is an overview. As ct_timeline_open(). */
int ct_timeline_summarize(struct ct_timeline *timeline, struct ct_err *err);
const struct ct_report *ct_timeline_report(const struct ct_timeline *timeline);

/* Draw it into `sink`. 0; CT_RANGE (too many ranks for all arrows); CT_NOMEM; CT_IO; what the sink
 * returned. */
int ct_timeline_draw(struct ct_timeline *timeline, const struct ct_timeline_sink *sink,
		     struct ct_timeline_result *result, struct ct_err *err);

#endif
