/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/stats.h"
#include "analyzer/findings/score.h"

static int is_measured(const struct ct_track *t, const struct ct_track_rating *s)
{
	return !t->shared && t->n >= CT_LEAST_SAMPLES && s->err <= CT_RATE_ERR && !isnan(s->Bps);
}

/* Within hosts or between them, by the same kind of transfer. */
static int is_alike(const struct ct_track *a, const struct ct_track *b)
{
	return a->is_edge == b->is_edge && a->on_gpu == b->on_gpu &&
	       (a->n_hosts > 1) == (b->n_hosts > 1);
}

/* Between the same ranks. */
static int is_same_path(const struct ct_track *a, const struct ct_track *b)
{
	return a->is_edge ? a->src == b->src && a->dst == b->dst : a->comm == b->comm;
}

/* The best of similar links; NAN: all of them connect the same ranks, so that a slow rank slows all
 * of them. */
static double best_alike(const struct ct_links *links, const struct ct_track *t)
{
	const struct ct_transfers *all = &links->transfers;
	double bytes = 0, best = NAN;
	uint32_t others = 0;

	for (uint32_t k = 0; k < all->n_tracks; k++) {
		if (is_alike(&all->tracks[k], t))
			bytes += all->tracks[k].bytes;
	}
	for (uint32_t k = 0; k < all->n_tracks; k++) {
		const struct ct_track_rating *s = &links->comparison.of[k];

		/* the best of little is an accident */
		if (!is_alike(&all->tracks[k], t) || !is_measured(&all->tracks[k], s) ||
		    all->tracks[k].bytes < CT_WORTH_REPORTING * bytes)
			continue;
		others += !is_same_path(&all->tracks[k], t);
		if (!(s->Bps <= best))
			best = s->Bps;
	}
	return others ? best : NAN;
}

/* NULL: not known. */
static const struct ct_peak *peak_of(const struct ct_report *report, const struct ct_track *t)
{
	for (size_t c = 0; c < report->n_comms && !t->is_edge; c++) {
		if (report->comms[c].hash == t->comm->hash && report->comms[c].peak.Bps > 0)
			return &report->comms[c].peak;
	}
	return NULL;
}

struct ct_score_mean ct_score_bandwidth(const struct ct_links *links,
					const struct ct_report *report,
					struct ct_score_references *by)
{
	const struct ct_transfers *all = &links->transfers;
	struct ct_score_mean mean = { 0 };

	*by = (struct ct_score_references){ 0 };
	for (uint32_t k = 0; k < all->n_tracks; k++) {
		const struct ct_track *t = &all->tracks[k];
		const struct ct_peak *peak;
		double reference;

		if (!is_measured(t, &links->comparison.of[k]))
			continue;
		peak = peak_of(report, t);
		reference = peak ? peak->Bps : best_alike(links, t);
		if (isnan(reference))
			continue;
		for (uint32_t i = t->first; i < t->first + t->n; i++) {
			const struct ct_moved *m = &all->moved[i];

			mean.sum += m->bytes * fmin(1, m->bytes / m->ns * 1e9 / reference);
			mean.weight += m->bytes;
		}
		*(!peak		      ? &by->own_best
		  : peak->is_declared ? &by->declared
				      : &by->hardware) += t->bytes;
	}
	return mean;
}

/* fact: us; LL protocol, NVLink within hosts. */
#define RING_BASE_US 6.6
#define TREE_BASE_US 6.8
#define STEP_US 0.6
#define RING_NET_US 2.7
#define TREE_NET_US 5.0

double ct_score_nccl_alpha_ns(unsigned op, uint32_t n, uint32_t n_hosts)
{
	double steps, across, ring, tree;

	if (n < 2 || !n_hosts)
		return 0;
	switch (op) {
	case CT_OP_AllReduce:
		steps = 2.0 * (n - 1);
		across = n_hosts > 1 ? fmin(steps, 2.0 * n_hosts) : 0;
		ring = RING_BASE_US + (steps - across) * STEP_US + across * RING_NET_US;
		tree = TREE_BASE_US + 2 * ((ceil((double)n / n_hosts) - 1) * STEP_US +
					   floor(log2(n_hosts)) * TREE_NET_US);
		return 1000 * fmin(ring, tree);
	case CT_OP_AllGather:
	case CT_OP_ReduceScatter:
		steps = n - 1;
		across = n_hosts - 1;
		return 1000 * (RING_BASE_US + (steps - across) * STEP_US + across * RING_NET_US);
	default:
		return 0;
	}
}

struct ct_score_mean ct_score_latency(const struct ct_links *links)
{
	const struct ct_transfers *all = &links->transfers;
	struct ct_score_mean mean = { 0 };

	for (uint32_t k = 0; k < all->n_tracks; k++) {
		const struct ct_track *t = &all->tracks[k];
		const struct ct_track_rating *s = &links->comparison.of[k];
		double alpha = s->fit.lines[0].alpha_ns, expected;

		if (t->is_edge || !t->on_gpu || t->comm->backend != CT_BACKEND_NCCL ||
		    !is_measured(t, s) || !s->fit.has_alpha || alpha <= 0 ||
		    !(s->fit.lines[0].alpha_err_ns <= CT_MOST * alpha))
			continue;
		expected = ct_score_nccl_alpha_ns(t->op, t->comm->nranks, t->n_hosts);
		if (expected <= 0)
			continue;
		mean.sum += t->n * fmin(1, expected / alpha);
		mean.weight += t->n;
	}
	return mean;
}

/* CV of a track; NAN: it has no line. */
static double variation(const struct ct_links *links, uint32_t track, double *scratch)
{
	const struct ct_track *t = &links->transfers.tracks[track];
	const struct ct_fit *fit = &links->comparison.of[track].fit;
	double median;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct ct_moved *m = &links->transfers.moved[t->first + i];

		scratch[i] = m->ns / ct_fit_expect(fit, m->bytes);
	}
	if (!fit->regimes)
		return NAN;
	median = ct_median(scratch, t->n);
	return ct_spread(scratch, t->n, median) / median;
}

struct ct_score_mean ct_score_stability(const struct ct_links *links)
{
	const struct ct_transfers *all = &links->transfers;
	double *scratch = malloc(((size_t)all->n + 1) * sizeof(*scratch));
	struct ct_score_mean mean = { 0 };

	if (!scratch)
		return (struct ct_score_mean){ 0, NAN };
	for (uint32_t k = 0; k < all->n_tracks; k++) {
		const struct ct_track *t = &all->tracks[k];
		double cv;

		if (!is_measured(t, &links->comparison.of[k]))
			continue;
		cv = variation(links, k, scratch);
		if (isnan(cv))
			continue;
		mean.sum += t->ns * fmax(0, 1 - 2 * cv);
		mean.weight += t->ns;
	}
	free(scratch);
	return mean;
}
