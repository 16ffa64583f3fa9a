/* SPDX-License-Identifier: Apache-2.0 */
/* score.h — the scorecard: four views of 0 to 100 and their weighted mean
 * (docs/dev/algorithms/scorecard.md).
 *
 * A view that cannot be computed is omitted, and the others have more weight. Each part names its
 * source, or the reason for its absence. The functions that compute a part are pure; one thread. */
#ifndef CT_ANALYZER_FINDINGS_SCORE_H
#define CT_ANALYZER_FINDINGS_SCORE_H

#include "analyzer/link/links.h"

/* An unfinished view: a weighted mean of ratios. */
struct ct_score_mean {
	double sum, weight;
};

/* Bytes-weighted min(1, bus bandwidth / reference). The reference is the peak that was declared,
 * else that of the members' GPUs and networks if recorded, else the best of those with the same
 * reach, if there are several. *by: bytes that were compared with each. */
struct ct_score_references {
	double declared, hardware, own_best;
};
struct ct_score_mean ct_score_bandwidth(const struct ct_links *links,
					const struct ct_report *report,
					struct ct_score_references *by);

/* min(1, reference / alpha) for known alpha, weighted by the number of operations; the reference is
 * NCCL's own model. */
struct ct_score_mean ct_score_latency(const struct ct_links *links);

/* max(0, 1 - 2 CV), CV = 1.4826 MAD / median of a track's times against its line, by time. A weight
 * of NAN: out of memory. */
struct ct_score_mean ct_score_stability(const struct ct_links *links);

/* Latency of NCCL's fastest protocol by NCCL's model, src/graph/tuning.cc: base + steps of a ring
 * or tree. 0: none. */
double ct_score_nccl_alpha_ns(unsigned op, uint32_t n, uint32_t n_hosts);

/* report->score; after ranks, steps and links. ideal_ratio: duration with equally fast ranks
 * divided by the actual one; NAN: unknown, then the ranks' waits are used. 0 or CT_NOMEM. */
int ct_score_fill(const struct ct_links *links, double ideal_ratio, struct ct_report *report);

#endif
