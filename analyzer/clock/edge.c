/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/clock/edge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/limits.h"
#include "analyzer/base/table.h"
#include "trace/status.h"

/* size: within these the arithmetic is exact: 52 days of a run, clocks that part by 18 minutes. */
#define MOST_X (1ll << 52)
#define MOST_Y (1ll << 40)

struct ct_clock_edge *ct_edge_new(uint32_t first, uint32_t second, uint64_t x0, uint64_t y0)
{
	struct ct_clock_edge *e = calloc(1, sizeof(*e));

	if (e) {
		e->hosts[0] = first;
		e->hosts[1] = second;
		e->x0 = x0;
		e->y0 = y0;
		e->first_x = INT64_MAX;
		e->last_x = INT64_MIN;
	}
	return e;
}

void ct_edge_free(struct ct_clock_edge *e)
{
	if (!e)
		return;
	free(e->bounds);
	free(e->samples);
	free(e->fits);
	free(e);
}

/* Two times as x and y; 0: absurd. */
static int read_pair(struct ct_clock_edge *e, uint64_t first, uint64_t second, int64_t *x,
		     int64_t *y)
{
	*x = (int64_t)(first - e->x0);
	*y = (int64_t)(second - first - e->y0);
	e->seen++;
	if (*x > -MOST_X && *x<MOST_X && * y> - MOST_Y && *y < MOST_Y)
		return 1;
	e->left_out++;
	return 0;
}

static int64_t floor_to(int64_t x, int64_t unit)
{
	int64_t rest = x % unit;

	return x - (rest < 0 ? rest + unit : rest);
}

/* ---- causality ---- */

static int keep_bound(struct ct_clock_edge *e, const struct ct_edge_bound *b)
{
	if (e->skip) {
		e->skip--;
		return CT_OK;
	}
	if (e->n_bounds == CT_EDGE_BOUNDS) {
		for (unsigned i = 0; i < CT_EDGE_BOUNDS / 2; i++)
			e->bounds[i] = e->bounds[2 * i];
		e->n_bounds = CT_EDGE_BOUNDS / 2;
		e->half_bounds++;
	}
	if (ct_grow(&e->bounds, &e->cap_bounds, e->n_bounds + 1, sizeof(*e->bounds)))
		return CT_NOMEM;
	e->bounds[e->n_bounds++] = *b;
	e->skip = (1u << (e->half_bounds < 30 ? e->half_bounds : 30)) - 1;
	return CT_OK;
}

/* What the piece allows, and a new one. */
static int close_piece(struct ct_clock_edge *e)
{
	struct ct_clock_line line;
	struct ct_edge_bound b = { .violation = 0 };
	int known = ct_clock_band_middle(&e->band, &line);

	for (int i = 0; i < 3 && known; i++) {
		double x = (double)(e->first_x - e->piece_from) +
			   (double)(e->last_x - e->first_x) * i / 2;

		b.x[i] = x + (double)e->piece_from;
		if (line.margin >= 0) {
			ct_clock_band_interval(&e->band, &line, x, &b.least[i], &b.most[i]);
			continue;
		}
		b.violation = -line.margin;
		b.least[i] = line.slope * x + line.at_zero - b.violation;
		b.most[i] = line.slope * x + line.at_zero + b.violation;
	}
	e->band.most.n = e->band.least.n = 0;
	e->first_x = INT64_MAX;
	e->last_x = INT64_MIN;
	if (!known)
		return CT_OK;
	if (b.violation > e->violation) {
		e->violation = b.violation;
		e->violation_x = b.x[1];
	}
	return keep_bound(e, &b);
}

int ct_edge_cause(struct ct_clock_edge *e, uint64_t first, uint64_t second, int at_most,
		  uint64_t eps_ns)
{
	int64_t x, y;
	int is_first = !e->has[0] && !e->has[1];
	int st = CT_OK;

	if (!read_pair(e, first, second, &x, &y))
		return CT_OK;
	if (eps_ns > (uint64_t)MOST_Y)
		eps_ns = (uint64_t)MOST_Y;
	if (is_first || x >= e->piece_from + CT_CLOCK_PIECE_NS) {
		st = is_first ? CT_OK : close_piece(e);
		e->piece_from = floor_to(x, CT_CLOCK_PIECE_NS);
	}
	if (x < e->piece_from - CT_EDGE_LATE_NS) {
		e->left_out++;
		return st;
	}
	e->first_x = x < e->first_x ? x : e->first_x;
	e->last_x = x > e->last_x ? x : e->last_x;
	e->has[!at_most] = 1;
	if (at_most)
		ct_clock_band_at_most(&e->band, x - e->piece_from, y + (int64_t)eps_ns);
	else
		ct_clock_band_at_least(&e->band, x - e->piece_from, y - (int64_t)eps_ns);
	return st;
}

/* ---- ends ---- */

static double at(const struct ct_couple_line *l, double x)
{
	return l->y + l->slope * (x - l->x);
}

static double spread_at(const struct ct_couple_line *l, double x)
{
	return hypot(l->se, l->slope_se * (x - l->x));
}

/* Do two fits agree about the moment between them? */
static void compare(struct ct_clock_edge *e, struct ct_edge_fit *before, struct ct_edge_fit *fit)
{
	double x = (before->line.x + fit->line.x) / 2;
	double apart_s = (fit->line.x - before->line.x) / 1e9;
	double jump = fabs(at(&before->line, x) - at(&fit->line, x));
	double limit = 6 * hypot(spread_at(&before->line, x), spread_at(&fit->line, x));
	int by_host = before->line.by_host + fit->line.by_host > 1;

	limit = fmax(limit, CT_CLOCK_JUMP_NS) + (1e9 * CT_CLOCK_WANDER) * apart_s * sqrt(apart_s);
	/* What sets the host's view of an end moves from window to window with its load. */
	if (jump > limit && !by_host && (e->jump == 0 || jump / limit > e->jump / e->jump_limit)) {
		e->jump = jump;
		e->jump_x = x;
		e->jump_limit = limit;
	}
	for (struct ct_edge_fit *f = before; f <= fit && (jump > limit || by_host); f++)
		f->jump = fmax(f->jump, jump);
}

/* Every two become one. */
static void halve(struct ct_clock_edge *e)
{
	for (unsigned i = 0; i + 1 < e->n_fits; i += 2) {
		const struct ct_edge_fit *a = &e->fits[i], *b = &e->fits[i + 1];
		struct ct_edge_fit one = *a;

		one.line.x = (a->line.x + b->line.x) / 2;
		one.line.y = (a->line.y + b->line.y) / 2;
		one.line.slope = (b->line.y - a->line.y) / (b->line.x - a->line.x);
		one.line.se = fmax(a->line.se, b->line.se);
		one.line.slope_se = fmax(a->line.slope_se, b->line.slope_se);
		one.line.spread = fmax(a->line.spread, b->line.spread);
		one.line.err = fmax(a->line.err, b->line.err);
		one.line.by_host = fmax(a->line.by_host, b->line.by_host);
		one.jump = fmax(a->jump, b->jump);
		e->fits[i / 2] = one;
	}
	e->n_fits /= 2;
}

static int keep_fit(struct ct_clock_edge *e, const struct ct_couple_line *line)
{
	struct ct_edge_fit *fits;

	if (e->n_fits && line->x <= e->fits[e->n_fits - 1].line.x)
		return CT_OK;
	if (e->n_fits == CT_EDGE_FITS)
		halve(e);
	if (ct_grow(&e->fits, &e->cap_fits, e->n_fits + 1, sizeof(*e->fits)))
		return CT_NOMEM;
	e->fits[e->n_fits++] = (struct ct_edge_fit){ .line = *line };
	fits = &e->fits[e->n_fits - 1];
	if (e->n_fits > 1)
		compare(e, fits - 1, fits);
	/* The window in which a clock is set fits neither side, and has an error that shows it. */
	if (e->n_fits > 2)
		compare(e, fits - 2, fits);
	return CT_OK;
}

static int close_window(struct ct_clock_edge *e)
{
	double scratch[CT_COUPLE_MAX];
	struct ct_couple_line line;

	if (!e->n_samples)
		return CT_OK;
	ct_couple_fit(e->samples, e->n_samples, scratch, &line);
	for (unsigned i = 0; i < e->n_samples; i++) {
		const struct ct_couple_sample *s = &e->samples[i];
		struct ct_edge_stratum *stratum = &e->strata[s->stratum];

		if (s->is_out)
			continue;
		stratum->n++;
		stratum->sum += (double)s->y - at(&line, (double)s->x);
	}
	e->n_samples = 0;
	e->offered = 0;
	return keep_fit(e, &line);
}

/* Its index in the table; kinds beyond its size share the last one. */
static uint16_t stratum_of(struct ct_clock_edge *e, uint64_t key)
{
	uint16_t i = 0;

	key = key ? key : 1;
	while (i < CT_EDGE_STRATA - 1 && e->strata[i].key && e->strata[i].key != key)
		i++;
	if (!e->strata[i].key)
		e->strata[i].key = key;
	return i;
}

/* Which sample gives way to the newest one; CT_COUPLE_MAX: none does. By chance, so that what
 * recurs in a job does not meet what recurs in the choice; but always the same in the same run. */
static uint64_t choose(const struct ct_clock_edge *e)
{
	uint64_t any = ct_mix(e->coupled ^ (uint64_t)e->hosts[1] << 40) % e->offered;

	return any < CT_COUPLE_MAX ? any : CT_COUPLE_MAX;
}

int ct_edge_couple(struct ct_clock_edge *e, const struct ct_edge_end *end)
{
	int64_t x, y;
	uint64_t i;
	int st = CT_OK;

	if (!read_pair(e, end->at[0], end->at[1], &x, &y))
		return CT_OK;
	if (!e->samples) {
		e->samples = malloc(CT_COUPLE_MAX * sizeof(*e->samples));
		if (!e->samples)
			return CT_NOMEM;
		e->window_from = floor_to(x, CT_CLOCK_WINDOW_NS);
	}
	if (x < e->window_from - CT_EDGE_LATE_NS) {
		e->left_out++;
		return CT_OK;
	}
	if (x >= e->window_from + CT_CLOCK_WINDOW_NS &&
	    (e->n_samples >= CT_LEAST_SAMPLES || x >= e->window_from + CT_CLOCK_LONGEST_NS)) {
		st = close_window(e);
		e->window_from = floor_to(x, CT_CLOCK_WINDOW_NS);
	}
	e->coupled++;
	e->offered++;
	e->parts[0] += 1.0 / end->parts[0];
	e->parts[1] += 1.0 / end->parts[1];
	i = e->n_samples < CT_COUPLE_MAX ? e->n_samples++ : choose(e);
	if (i < CT_COUPLE_MAX)
		e->samples[i] = (struct ct_couple_sample){
			.x = x,
			.y = y,
			.err_ns = end->err_ns,
			.stratum = stratum_of(e, end->stratum),
			.by_host = end->by_host != 0,
		};
	return st;
}

int ct_edge_finish(struct ct_clock_edge *e)
{
	int st = CT_OK;

	/* A last one with few operations says less than the line that leads there. */
	if (e->n_samples >= CT_LEAST_SAMPLES || !e->n_fits)
		st = close_window(e);
	e->n_samples = 0;
	if (st == CT_OK && e->first_x <= e->last_x)
		st = close_piece(e);
	return st;
}
