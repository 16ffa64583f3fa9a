/* SPDX-License-Identifier: Apache-2.0 */
/* edge.h — two hosts that communicate, and the evidence on the difference of their clocks.
 *
 * x is the time on the first host's clock, y the second clock minus the first at that moment, both
 * in ns since the edge's first operation. Causality is kept in pieces of CT_CLOCK_PIECE_NS, short
 * enough for a line although clocks wander; each keeps its bounds. Ends are kept in windows of
 * CT_CLOCK_WINDOW_NS; each keeps a fit. If there are too many, neighbors are merged, so memory does
 * not follow the length of the run. One thread. */
#ifndef CT_ANALYZER_CLOCK_EDGE_H
#define CT_ANALYZER_CLOCK_EDGE_H

#include "analyzer/base/limits.h"
#include "analyzer/clock/couple.h"
#include "analyzer/clock/hull.h"

#define CT_EDGE_FITS 1024u  /* size: fits of a pair of hosts; of more, neighbors are merged */
#define CT_EDGE_BOUNDS 256u /* size: pieces, likewise */
#define CT_EDGE_STRATA 16u  /* size: kinds of operations of a pair of hosts */

/* Operations are read almost in order of time; later ones than this are excluded. */
#define CT_EDGE_LATE_NS CT_CLOCK_WINDOW_NS

/* The bounds of a piece: at its begin, middle and end. The minimum of lines is concave and the
 * maximum convex in x, so straight lines between these are conservative. */
struct ct_edge_bound {
	double x[3], least[3], most[3];
	double violation; /* 0; otherwise no line satisfies it, and the best one violates it by this
			   */
};

struct ct_edge_fit {
	struct ct_couple_line line;
	double jump; /* the disagreement with its neighbors at their common ends */
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
	double parts[2]; /* sum over the samples of 1 / ranks whose ends were taken together, of
			    either host */
	uint64_t coupled;
	uint64_t seen, left_out; /* operations; too late, or absurd */
	int has[2];		 /* points with upper and lower bounds */
};

/* hosts[0] < hosts[1]. x0 and y0: approximate values of both clocks. NULL: out of memory. */
struct ct_clock_edge *ct_edge_new(uint32_t first, uint32_t second, uint64_t x0, uint64_t y0);
void ct_edge_free(struct ct_clock_edge *edge);

/* The second host's clock was at `second` or later (`at_most`: or earlier) when the first one's was
 * at `first`, with at most eps_ns as the sum of both errors. 0 or CT_NOMEM. */
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

/* After reading. 0 or CT_NOMEM. */
int ct_edge_finish(struct ct_clock_edge *edge);

#endif
