/* SPDX-License-Identifier: Apache-2.0 */
/* score.h — how well a job communicates, by four views of 0 to 100 and their weighted mean (docs/dev/algorithms/scorecard.md).
 *
 * A view of which nothing can be said is left out, and the others weigh more. Each part says what it comes from, or why
 * it is left out. Figures of a part are computed by pure functions; one thread. */
#ifndef CT_SCORE_H
#define CT_SCORE_H

#include "analyzer/link/links.h"

/* A view in the making: a mean of ratios, each with its weight. */
struct ct_score_mean {
	double sum, weight;
};

/* Bytes-weighted min(1, bus bandwidth / reference). The reference: what the members' GPUs and networks allow where that
 * is on record (peaks), else the best of those with the same reach, if there is another to compare with.
 * *from_peak: share of the bytes that were held against peaks. */
struct ct_score_mean ct_score_bandwidth(const struct ct_links *links,
					const struct ct_report *report, double *from_peak);

/* min(1, reference / alpha) where alpha is known, by the number of operations: NCCL's own model of collectives. */
struct ct_score_mean ct_score_latency(const struct ct_links *links);

/* max(0, 1 - 2 CV), CV = 1.4826 MAD / median of a track's times against its line, by time. A weight of NAN: out of
 * memory. */
struct ct_score_mean ct_score_stability(const struct ct_links *links);

/* Latency of NCCL's fastest protocol by NCCL's model, src/graph/tuning.cc: base + steps of a ring or tree. 0: none. */
double ct_score_nccl_alpha_ns(unsigned op, uint32_t n, uint32_t n_hosts);

/* report->score; after ranks, steps and links. ideal_ratio: what the run would have taken with equally fast ranks, of
 * what it took; NAN: not known, then the ranks' waits tell. 0 or CT_NOMEM. */
int ct_score_fill(const struct ct_links *links, double ideal_ratio, struct ct_report *report);

#endif
