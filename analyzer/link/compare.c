/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/link/compare.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/base/table.h"
#include "trace/status.h"

/* How long a transfer took against the line, and how much that counts. */
struct weighed {
	double value, weight;
};

CT_SORT_BY(by_value, struct weighed, CT_UP(value))

static double quantile(const struct weighed *sorted, uint32_t n, double q)
{
	double all = 0, sum = 0;

	for (uint32_t i = 0; i < n; i++)
		all += sorted[i].weight;
	for (uint32_t i = 0; i < n; i++) {
		sum += sorted[i].weight;
		if (sum >= q * all)
			return sorted[i].value;
	}
	return n ? sorted[n - 1].value : NAN;
}

/* ---- classes of tracks ---- */

static uint64_t class_key(const struct ct_track *t)
{
	return ct_mix(t->shape ^ ct_mix((uint64_t)t->is_edge << 16 | (uint64_t)t->shared << 17 |
					(uint64_t)t->on_gpu << 18 | (t->is_edge ? 0 : t->op)));
}

/* Of its times, relative. *n: how many of them are measures of a rate. */
static double err_of(const struct ct_transfers *all, const struct ct_track *t, uint32_t *n)
{
	double err = 0, ns = 0;

	*n = 0;
	for (uint32_t i = t->first; i < t->first + t->n; i++) {
		if (all->moved[i].had_begun)
			continue;
		err += all->moved[i].err_ns;
		ns += all->moved[i].ns;
		++*n;
	}
	return ns > 0 ? err / ns : INFINITY;
}

static int sort_into_classes(const struct ct_transfers *all, struct ct_comparison *out)
{
	struct ct_table by_key = { 0 };
	int st = CT_OK;

	for (uint32_t t = 0; t < all->n_tracks && st == CT_OK; t++) {
		uint64_t key = class_key(&all->tracks[t]);
		uintptr_t class;
		uint32_t n;

		out->of[t].class = UINT32_MAX;
		out->of[t].err = err_of(all, &all->tracks[t], &n);
		if (!all->tracks[t].shape ||
		    n < (all->tracks[t].on_gpu ? CT_LEAST_SAMPLES : CT_LEAST_HOST_SAMPLES) ||
		    out->of[t].err > CT_RATE_ERR)
			continue;
		class = (uintptr_t)ct_table_get(&by_key, key);
		if (!class) {
			class = (uintptr_t)++out->n_classes;
			st = ct_table_put(&by_key, key, (void *)class);
		}
		out->of[t].class = (uint32_t) class - 1;
	}
	ct_table_fini(&by_key);
	return st;
}

/* ---- one track ---- */

/* Its transfers against the line; of an edge the large ones alone. Messages with company have
 * bounds for times: what they reached, however large they were. Returns how many. */
static uint32_t weigh(const struct ct_transfers *all, const struct ct_track *t,
		      const struct ct_fit *line, struct weighed *w, double *sizes)
{
	double least = 0;
	uint32_t n = 0, measured = 0;

	if (t->is_edge) {
		for (uint32_t i = 0; i < t->n; i++) {
			if (!all->moved[t->first + i].had_begun)
				sizes[measured++] = all->moved[t->first + i].bytes;
		}
		ct_sort(sizes, measured, sizeof(*sizes), ct_by_double);
		least = measured ? sizes[(uint32_t)(CT_MOSTLY * (measured - 1))] : 0;
	}
	for (uint32_t i = t->first; i < t->first + t->n; i++) {
		const struct ct_moved *m = &all->moved[i];
		double expected = t->shared ? m->bytes : ct_fit_expect(line, m->bytes);

		if (m->bytes >= least && !m->had_begun)
			w[n++] = (struct weighed){ m->ns / expected, t->is_edge ? 1 : expected };
	}
	ct_sort(w, n, sizeof(*w), by_value);
	return n;
}

/* Of its large transfers, by its own line, or by what they moved in their time. */
static void find_rate(const struct ct_track *t, struct ct_track_rating *s)
{
	const struct ct_line *line = &s->fit.lines[s->fit.regimes == 2];

	s->Bps = s->Bps_err = NAN;
	if (t->shared || !ct_fit_shows_bandwidth(&s->fit))
		return;
	if (s->fit.has_alpha && line->ns_per_byte > 0) {
		s->Bps = 1e9 / line->ns_per_byte;
		s->Bps_err = s->Bps * line->ns_per_byte_err / line->ns_per_byte;
	} else if (t->ns > 0) {
		s->Bps = 1e9 * t->bytes / t->ns;
	}
}

/* ---- one class ---- */

struct compare_work {
	struct weighed *w;
	struct ct_transfer *pool;
	double *sizes, *ratios;
	uint32_t *members;
};

/* Of those that are measures of a rate, or of all. */
static int draw_line(const struct ct_transfers *all, uint32_t n, struct compare_work *k, int of_all,
		     struct ct_fit *line)
{
	uint32_t pooled = 0;

	for (uint32_t m = 0; m < n; m++) {
		const struct ct_track *t = &all->tracks[k->members[m]];

		for (uint32_t i = t->first; i < t->first + t->n; i++) {
			if (of_all || !all->moved[i].had_begun)
				k->pool[pooled++] = (struct ct_transfer){ all->moved[i].bytes,
									  all->moved[i].ns };
		}
	}
	return ct_fit(k->pool, pooled, line);
}

/* What those alike reach, and how far they differ: of edges the median, of communicators the 75th
 * percentile, since several share whatever is slow. Where the host times, those that seem slow may
 * be so by its noise: they count too. */
static double reference_of(struct compare_work *k, uint32_t n, const struct ct_track *one,
			   double *spread)
{
	double reference = one->is_edge ? ct_median(k->ratios, n) : ct_tomo_reference(k->ratios, n);
	uint32_t kept = 0;

	for (uint32_t m = 0; m < n; m++) {
		if (one->is_edge || !one->on_gpu || k->ratios[m] >= CT_SLOW_LINK * reference)
			k->ratios[kept++] = fabs(log(k->ratios[m] / reference));
	}
	*spread = CT_SD_OF_MAD * ct_median(k->ratios, kept);
	return reference;
}

static enum ct_tomo_state state_of(const struct ct_track *t, const struct ct_track_rating *s)
{
	enum ct_tomo_state state = ct_tomo_state_of(s->ratio, s->reference);
	double spread = s->spread > CT_LINK_SPREAD ? s->spread : CT_LINK_SPREAD;

	/* one of many ways that is as fast as they are, as far as they differ, clears its ends */
	if (t->is_edge && state == CT_TOMO_UNKNOWN &&
	    s->ratio >= (1 - CT_STEADY_T * spread) * s->reference &&
	    s->ratio > (1 - CT_RATE_ERR) * s->reference)
		return CT_TOMO_GOOD_ONE;
	if (state != CT_TOMO_SLOW_ONE)
		return state;
	if (s->ratio * (1 + s->err) > (1 - CT_RATE_ERR) * s->reference ||
	    s->best > (t->on_gpu ? (1 - CT_RATE_ERR) : CT_SLOW_LINK) * s->reference ||
	    log(s->ratio / s->reference) > -CT_STEADY_T * spread)
		return CT_TOMO_UNKNOWN;
	return state;
}

static int compare_class(const struct ct_transfers *all, uint32_t class, uint32_t n,
			 struct compare_work *k, struct ct_comparison *out)
{
	const struct ct_track *one = &all->tracks[k->members[0]];
	struct ct_fit *line = &out->lines[class];
	uint32_t slow = 0;
	double reference, spread;
	int st = draw_line(all, n, k, 0, line);

	if (st != CT_OK || !line->regimes)
		return st;
	for (uint32_t m = 0; m < n; m++) {
		struct ct_track_rating *s = &out->of[k->members[m]];
		uint32_t weighed = weigh(all, &all->tracks[k->members[m]], line, k->w, k->sizes);

		s->ratio = k->ratios[m] = 1 / quantile(k->w, weighed, 0.5);
		/* Even the fastest tenth of a slow one is slow. Where the host times, what else
		 * runs on it makes most of its operations slow, but not all: there it is the
		 * fastest one. */
		s->best = 1 / quantile(k->w, weighed, one->on_gpu ? CT_A_FEW : 0);
	}
	reference = reference_of(k, n, one, &spread);
	for (uint32_t m = 0; m < n; m++) {
		struct ct_track_rating *s = &out->of[k->members[m]];

		s->reference = reference;
		s->spread = spread;
		s->line_err = fmax(CT_LINK_SPREAD, spread);
		s->peers = n - 1;
		if (n >= (one->is_edge ? CT_LEAST_EDGES : CT_LEAST_PEERS))
			s->state = state_of(&all->tracks[k->members[m]], s);
		slow += s->state == CT_TOMO_SLOW_ONE;
	}
	/* Where most are slow, they differ in something else. */
	for (uint32_t m = 0; m < n && 2 * slow > n; m++)
		out->of[k->members[m]].state = CT_TOMO_UNKNOWN;
	return CT_OK;
}

/* The members of each class side by side: first[class] .. first[class + 1] - 1 of the result. NULL:
 * out of memory. */
static uint32_t *side_by_side(const struct ct_transfers *all, const struct ct_comparison *out,
			      uint32_t *first)
{
	uint32_t *members = malloc(((size_t)all->n_tracks + 1) * sizeof(*members));

	for (uint32_t t = 0; t < all->n_tracks; t++) {
		if (out->of[t].class != UINT32_MAX)
			first[out->of[t].class + 2]++;
	}
	for (uint32_t class = 2; class < out->n_classes + 2; class ++)
		first[class] += first[class - 1];
	/* Counted two entries ahead, so that filling moves each class's first to where the next
	 * one's belongs. */
	for (uint32_t t = 0; t < all->n_tracks && members; t++) {
		if (out->of[t].class != UINT32_MAX)
			members[first[out->of[t].class + 1]++] = t;
	}
	return members;
}

static int compare_classes(const struct ct_transfers *all, struct compare_work *k,
			   struct ct_comparison *out)
{
	uint32_t *first = calloc((size_t)out->n_classes + 3, sizeof(*first));
	uint32_t *members = first ? side_by_side(all, out, first) : NULL;
	uint32_t *own = k->members;
	int st = members ? CT_OK : CT_NOMEM;

	for (uint32_t class = 0; class < out->n_classes && st == CT_OK; class ++) {
		k->members = members + first[class];
		st = compare_class(all, class, first[class + 1] - first[class], k, out);
	}
	k->members = own;
	free(members);
	free(first);
	return st;
}

static int fit_tracks(const struct ct_transfers *all, struct compare_work *k,
		      struct ct_comparison *out)
{
	int st = CT_OK;

	for (uint32_t t = 0; t < all->n_tracks && st == CT_OK; t++) {
		struct ct_track_rating *s = &out->of[t];

		s->ratio = s->best = s->reference = s->spread = s->line_err = NAN;
		k->members[0] = t;
		st = draw_line(all, 1, k, 1, &s->fit);
		find_rate(&all->tracks[t], s);
	}
	return st;
}

int ct_compare(const struct ct_transfers *all, struct ct_comparison *out)
{
	struct compare_work k = { 0 };
	int st = CT_NOMEM;

	*out = (struct ct_comparison){ 0 };
	out->of = calloc((size_t)all->n_tracks + 1, sizeof(*out->of));
	k.w = malloc(((size_t)all->n + 1) * sizeof(*k.w));
	k.pool = malloc(((size_t)all->n + 1) * sizeof(*k.pool));
	k.sizes = malloc(((size_t)all->n + 1) * sizeof(*k.sizes));
	k.ratios = malloc(((size_t)all->n_tracks + 1) * sizeof(*k.ratios));
	k.members = malloc(((size_t)all->n_tracks + 1) * sizeof(*k.members));
	if (out->of && k.w && k.pool && k.sizes && k.ratios && k.members)
		st = fit_tracks(all, &k, out);
	st = st ?: sort_into_classes(all, out);
	if (st == CT_OK) {
		out->lines = calloc((size_t)out->n_classes + 1, sizeof(*out->lines));
		st = out->lines ? compare_classes(all, &k, out) : CT_NOMEM;
	}
	free(k.w);
	free(k.pool);
	free(k.sizes);
	free(k.ratios);
	free(k.members);
	return st;
}

void ct_comparison_fini(struct ct_comparison *comparison)
{
	free(comparison->of);
	free(comparison->lines);
	*comparison = (struct ct_comparison){ 0 };
}

double ct_compare_expect(const struct ct_transfers *transfers,
			 const struct ct_comparison *comparison, uint32_t track, double bytes)
{
	const struct ct_track_rating *s = &comparison->of[track];

	if (s->class == UINT32_MAX || isnan(s->reference))
		return NAN;
	if (transfers->tracks[track].shared)
		return bytes / s->reference;
	return ct_fit_expect(&comparison->lines[s->class], bytes) / s->reference;
}
