/* SPDX-License-Identifier: Apache-2.0 */
/* points.h — from operations to what they say about the clocks of their hosts.
 *
 * Only measured starts and ends of operations whose members agree go in here. Of each host only the
 * latest start, the earliest end and the median end count. Pairs of hosts become edges: all pairs
 * of an operation of up to CT_CLOCK_PAIRS hosts, else those with one of them, so that an operation
 * costs what it has members. Memory follows hosts and ranks, never the length of the run. One
 * thread. */
#ifndef CT_ANALYZER_CLOCK_POINTS_H
#define CT_ANALYZER_CLOCK_POINTS_H

#include <stdint.h>

#include "analyzer/base/table.h"
#include "analyzer/clock/edge.h"

#define CT_CLOCK_PAIRS 8u /* size: hosts of one operation that are all related with each other */

enum ct_clock_kind {
	CT_CLOCK_SYNC,	   /* no rank ends before all have started, all end at once */
	CT_CLOCK_FROM_ONE, /* no rank ends before `one` has started: a broadcast's root, a sender */
	CT_CLOCK_TO_ONE,   /* `one` does not end before every rank has started */
};

struct ct_clock_member {
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC of its host */
	uint32_t start_err_ns, end_err_ns;
	uint32_t host, slot;
};

struct ct_clock_event {
	enum ct_clock_kind kind;
	const struct ct_clock_member *members;
	uint32_t n;
	uint32_t one;	  /* index of a member */
	int by_host;	  /* timed by the host, which may see an end late */
	int no_ends;	  /* ends are only when someone looked: they are not simultaneous */
	uint64_t stratum; /* which communicator, operation and size */
};

/* What one host has of an operation. */
struct ct_clock_part {
	uint64_t start_ns, end_ns, mid_ns; /* latest start, earliest end, median end */
	uint32_t start_err_ns, end_err_ns, mid_err_ns;
	uint32_t host, from, n; /* members in order of host */
	int has_one;
};

/* How much later than the median of its host's ranks this rank ended: some of the differences, by
 * chance. */
#define CT_CLOCK_SELF 128u /* size: differences of a rank */
struct ct_clock_slot {
	uint32_t host;
	uint64_t seen;
	int64_t late_ns[CT_CLOCK_SELF];
};

struct ct_clock_points {
	uint32_t n_hosts, reference;
	struct ct_table by_pair; /* (first, second) -> edge */
	struct ct_clock_edge **edges;
	uint32_t n_edges, max_edges;
	struct ct_clock_slot **slots;
	uint32_t n_slots;
	/* of the operation at hand */
	struct ct_clock_member *sorted;
	struct ct_clock_part *parts;
	uint32_t cap;
};

/* 0 or CT_NOMEM; ct_clock_points_fini() in any case. */
int ct_clock_points_init(struct ct_clock_points *points, uint32_t n_hosts, uint32_t reference);
void ct_clock_points_fini(struct ct_clock_points *points);

/* hosts below n_hosts; every member has a start, and an end not before it. 0 or CT_NOMEM. */
int ct_clock_points_add(struct ct_clock_points *points, const struct ct_clock_event *event);

#endif
