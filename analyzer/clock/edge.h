/* SPDX-License-Identifier: Apache-2.0 */
/* edge.h — two hosts that communicate: what is kept of it to tell how their clocks stand.
 *
 * x is the time on the first host's clock, y what the second one's shows more at that moment, both in ns since the
 * edge's first operation. Causality is kept in pieces of CT_EDGE_PIECE_NS, short enough for a line although clocks
 * wander, of which what they allow is left over; ends in windows of CT_EDGE_WINDOW_NS, of which a fit is left over. When
 * there are too many, neighbours become one: memory does not follow the length of the run. One thread. */
#ifndef CT_CLOCK_EDGE_H
#define CT_CLOCK_EDGE_H

#include "analyzer/clock/couple.h"
#include "analyzer/clock/hull.h"

#define CT_EDGE_PIECE_NS 60000000000ll
#define CT_EDGE_WINDOW_NS 10000000000ll
#define CT_EDGE_FITS 1024u
#define CT_EDGE_BOUNDS 256u
#define CT_EDGE_STRATA 16u

/* Operations are read about in order of time; what comes later than this is left out. */
#define CT_EDGE_LATE_NS CT_EDGE_WINDOW_NS

/* What causality left of a piece: at its begin, middle and end. The least of lines is concave and the most convex in
 * x, so that straight lines between these are on the safe side. */
struct ct_edge_bound {
	double x[3], least[3], most[3];
	double violation; /* 0; else no line satisfies it, and this is by how much the best one fails */
};

struct ct_edge_fit {
	struct ct_couple_line line;
	double jump; /* by how much it and its neighbours disagree about where they meet */
};

struct ct_edge_stratum {
	uint64_t key, n;
	double sum; /* of what is left of y */
};

struct ct_clock_edge {
	uint32_t hosts[2];
	uint64_t x0, y0; /* CLOCK_MONOTONIC of hosts[0]; difference of the clocks, modulo 2^64 */
	/* causality */
	struct ct_clock_band band; /* x since piece_from */
	int64_t piece_from, first_x, last_x;
	struct ct_edge_bound *bounds;
	unsigned n_bounds, cap_bounds;
	unsigned half_bounds;	       /* how often every second one was dropped */
	unsigned skip;		       /* of the coming pieces until one is kept */
	double violation, violation_x; /* the worst */
	/* ends */
	struct ct_couple_sample *samples;
	unsigned n_samples;
	uint64_t offered; /* to the open window */
	int64_t window_from;
	struct ct_edge_fit *fits;
	unsigned n_fits, cap_fits;
	double jump, jump_x, jump_limit; /* the worst, for its limit */
	struct ct_edge_stratum strata[CT_EDGE_STRATA];
	double parts[2]; /* sum over the samples of 1 / ranks whose ends were taken together, of either host */
	uint64_t coupled;
	uint64_t seen, left_out; /* operations; too late, or absurd */
	int has[2];		 /* points that say: at most, at least */
};

/* hosts[0] < hosts[1]. x0 and y0: about where both clocks stand. NULL: out of memory. */
struct ct_clock_edge *ct_edge_new(uint32_t first, uint32_t second, uint64_t x0, uint64_t y0);
void ct_edge_free(struct ct_clock_edge *edge);

/* The second host's clock stood at `second` or later when (`at_most`: at `second` or earlier, when) the first one's
 * showed `first`, if both times are wrong by at most eps_ns in sum. 0 or CT_NOMEM. */
int ct_edge_cause(struct ct_clock_edge *edge, uint64_t first, uint64_t second, int at_most,
		  uint64_t eps_ns);

/* Both left an operation at these times. `parts`: of how many ranks each is taken. 0 or CT_NOMEM. */
struct ct_edge_end {
	uint64_t at[2];
	unsigned parts[2];
	uint32_t err_ns; /* of both times */
	uint64_t stratum;
	int by_host;
};
int ct_edge_couple(struct ct_clock_edge *edge, const struct ct_edge_end *end);

/* All was read. 0 or CT_NOMEM. */
int ct_edge_finish(struct ct_clock_edge *edge);

#endif
