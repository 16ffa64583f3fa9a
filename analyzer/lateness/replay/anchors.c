/* SPDX-License-Identifier: Apache-2.0 */
/* What computing waits for: see "Lateness" in docs/dev/algorithms/lateness.md.
 *
 * A launch that starts when its rank's computing has come so far starts a fixed time after the end
 * of what that computing waited for. If, rank by rank, the time from the end of an earlier launch
 * is shorter by as much as that one took longer, with all that it had to queue up behind, computing
 * did not wait for it, and the one before is looked at. */
#include "analyzer/lateness/replay/anchors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/lateness/replay/follows.h"
#include "analyzer/lateness/replay/in_queue.h"
#include "analyzer/lateness/replay/limits.h"
#include "analyzer/lateness/replay/schedule_private.h"
#include "trace/status.h"

enum { FURTHER_BACK = 0, FOLLOWS = 254, QUEUED = 255 };

/* What a position's launches count from: how many launches back, or one of the above. */
struct anchor {
	uint8_t lag;
	struct ct_follows follows;
	int is_known_lag; /* 0: too few peers; a launch counts from the end of the one before it */
};

struct anchor_sums {
	double n, x, y, xx, xy, err;
};

struct mean {
	double n, x, y, err, under_way;
};

/* What came to all members alike: sums over occurrences of their means. */
struct common {
	double n, x, y, xx, xy, yy, err;
	double ended, under_way; /* how often it was so with what lies before */
};

/* How often launches of a position queue up. */
struct queue {
	uint32_t n, queued, members;
	uint32_t of[CT_MANY_PEERS]; /* queued, of each member */
};

/* One position that is looked at. */
struct anchor_search {
	struct ct_schedule *s;
	const struct ct_stages *stages;
	const struct ct_positions *positions;
	const struct ct_position *p;
	uint32_t lags; /* how many launches back it is looked */
	struct queue queue;
	struct common common;
	struct anchor_sums sums[CT_MANY_PEERS];
	float slopes[CT_MANY_PEERS];
	uint32_t n_slopes;
};

/* From the start of what the launch queued up behind without a break, to its end. */
static double queued_span(const struct ct_schedule *s, const struct ct_schedule_launch *l)
{
	int64_t end = l->start_ns + l->span_ns;

	for (uint32_t n = 0; n < CT_LAGS && ct_schedule_is_queued(s, l); n++)
		l = &s->launches[l->after];
	return (double)(end - l->start_ns);
}

static uint32_t launch_at(const struct anchor_search *t, uint32_t k)
{
	return t->positions->order[k];
}

/* Index of its rank in the stage: the worker. */
static uint32_t member_of(const struct anchor_search *t, uint32_t launch)
{
	return t->stages->worker_of[t->s->launches[launch].slot];
}

static int is_queue(const struct anchor_search *t)
{
	return 2 * t->queue.queued > t->queue.n;
}

/* Does the member queue up here now and then? Then its launches that do not are those whose ready
 * time was late: in them the gap does not get shorter by what the one before took longer, whether
 * computing waits or not. */
static int queues_up(const struct queue *q, uint32_t member)
{
	return (double)q->of[member] * q->members > CT_HARDLY_ANY * q->n;
}

enum { NOTHING_THERE, UNDER_WAY, ENDED };

/* What lies `lag` launches before the launch: how long it took, and what came between the two. */
static int look_back(const struct anchor_search *t, uint32_t launch, uint32_t lag, double *x,
		     double *y, double *err)
{
	const struct ct_schedule *s = t->s;
	const struct ct_schedule_launch *l = &s->launches[launch], *c = l - lag;
	uint32_t index = launch - s->slot_first[l->slot];
	int64_t between;

	/* the first ones show which ranks were started late */
	if (index < lag || c->stretch != l->stretch || l->is_uncertain)
		return NOTHING_THERE;
	/* when it was ready is not known */
	if (ct_schedule_is_queued(s, l) ||
	    (is_queue(t) && queues_up(&t->queue, member_of(t, launch))))
		return NOTHING_THERE;
	between = l->start_ns - c->start_ns - c->span_ns;
	if (between < -(int64_t)l->err_ns)
		return UNDER_WAY;
	*x = queued_span(s, c);
	*y = (double)between;
	*err = c->err_ns;
	return ENDED;
}

static void add_common(struct common *common, struct mean *mean)
{
	double x = mean->x /= mean->n, y = mean->y /= mean->n;

	common->n++;
	common->x += x;
	common->y += y;
	common->xx += x * x;
	common->xy += x * y;
	common->yy += y * y;
	common->err += mean->err / mean->n;
}

/* Do the members' means say clearly that computing waits: by a slope that is above at two standard
 * errors? */
static int all_wait(const struct common *c)
{
	double xx, xy, yy, err, slope;

	if (c->n < CT_LEAST_TIMES)
		return 0;
	xx = c->xx - c->x * c->x / c->n;
	xy = c->xy - c->x * c->y / c->n;
	yy = c->yy - c->y * c->y / c->n;
	err = c->err / c->n;
	if (xx <= c->n * err * err)
		return 0;
	slope = xy / xx;
	err = (yy - slope * xy) / (c->n - 2) / xx;
	return slope - 2 * sqrt(err > 0 ? err : 0) > -CT_MOST;
}

/* The members of one occurrence, order[from] .. order[end - 1]. Their mean goes to what is common:
 * what comes to all alike shows nothing of an occurrence; what is left is each member's own. */
static void add_occurrence(struct anchor_search *t, uint32_t from, uint32_t end, uint32_t lag)
{
	struct mean mean = { 0 };
	double x, y, err;

	for (uint32_t k = from; k < end; k++) {
		uint32_t l = launch_at(t, k);
		int found;

		if (member_of(t, l) >= CT_MANY_PEERS)
			continue;
		found = look_back(t, l, lag, &x, &y, &err);
		mean.under_way += found == UNDER_WAY;
		if (found != ENDED)
			continue;
		mean.n++;
		mean.x += x;
		mean.y += y;
		mean.err += err;
	}
	t->common.ended += mean.n;
	t->common.under_way += mean.under_way;
	if (mean.n == 0)
		return;
	add_common(&t->common, &mean);
	for (uint32_t k = from; k < end; k++) {
		uint32_t l = launch_at(t, k);
		struct anchor_sums *sum;

		if (member_of(t, l) >= CT_MANY_PEERS || look_back(t, l, lag, &x, &y, &err) != ENDED)
			continue;
		sum = &t->sums[member_of(t, l)];
		x -= mean.x;
		y -= mean.y;
		sum->n++;
		sum->x += x;
		sum->y += y;
		sum->xx += x * x;
		sum->xy += x * y;
		sum->err += err;
	}
}

static void add_up(struct anchor_search *t, uint32_t lag)
{
	uint32_t last = t->p->first + t->p->n;

	t->common = (struct common){ 0 };
	memset(t->sums, 0, sizeof(t->sums));
	t->n_slopes = 0;
	for (uint32_t k = t->p->first, end; k < last; k = end) {
		end = ct_occurrence_end(t->positions, t->p, k);
		add_occurrence(t, k, end, lag);
	}
	for (uint32_t m = 0; m < CT_MANY_PEERS; m++) {
		const struct anchor_sums *sum = &t->sums[m];
		double xx, xy, err;

		if (sum->n < CT_LEAST_TIMES)
			continue;
		xx = sum->xx / sum->n - sum->x / sum->n * (sum->x / sum->n);
		xy = sum->xy / sum->n - sum->x / sum->n * (sum->y / sum->n);
		err = sum->err / sum->n;
		/* an error of the end is in both, with opposite signs */
		if (xx > err * err)
			t->slopes[t->n_slopes++] = (float)(xy / xx);
	}
}

struct slope {
	double median, err; /* one standard error */
};

/* Of the members' slopes: the median, and the standard error of a median (1.253 sigma / sqrt n,
 * sigma = 1.4826 times the median distance). Uses the slopes up. Of too few anything is possible.
 */
static struct slope slope_of(float *slopes, uint32_t n)
{
	float median;

	if (n < CT_LEAST_PEERS)
		return (struct slope){ 0, INFINITY };
	qsort(slopes, n, sizeof(*slopes), ct_by_float);
	median = slopes[n / 2];
	for (uint32_t k = 0; k < n; k++)
		slopes[k] = fabsf(slopes[k] - median);
	qsort(slopes, n, sizeof(*slopes), ct_by_float);
	return (struct slope){ median, CT_SE_OF_MEDIAN * CT_SD_OF_MAD * slopes[n / 2] / sqrt(n) };
}

/* Where most launches queue up it takes evidence that they wait for anything else. Is there none? */
static int find_queue(struct anchor_search *t)
{
	struct queue *q = &t->queue;
	uint32_t size = ct_stage_size(t->stages, t->p->stage), find_anchor = 0;

	*q = (struct queue){ .members = size < CT_MANY_PEERS ? size : CT_MANY_PEERS };
	for (uint32_t k = t->p->first; k < t->p->first + t->p->n; k++) {
		uint32_t l = launch_at(t, k), m = member_of(t, l);

		if (m >= CT_MANY_PEERS)
			continue;
		q->n++;
		q->of[m] += ct_schedule_is_queued(t->s, &t->s->launches[l]);
	}
	for (uint32_t m = 0; m < q->members; m++)
		q->queued += q->of[m];
	for (uint32_t m = 0; m < q->members; m++)
		find_anchor += !queues_up(q, m);
	return is_queue(t) && (find_anchor < CT_LEAST_PEERS || q->n - q->queued < CT_LEAST_TIMES);
}

/* What mostly was still under way was not waited for. */
static int is_mostly_under_way(const struct common *c)
{
	return c->under_way > CT_NEAR * c->ended;
}

/* Did computing wait for what lies `lag` launches before? 0: it is known that it did not; else the
 * lag, or QUEUED where most launches queue up and it is not known that it did: then nothing is
 * known. */
static uint8_t waits_at(struct anchor_search *t, uint32_t lag)
{
	const struct common *c = &t->common;
	struct slope slope = slope_of(t->slopes, t->n_slopes);
	int all = all_wait(c);

	/* it is looked at every position of every run */
	if (is_mostly_under_way(c) || (!all && slope.median + CT_STEADY_T * slope.err <= -CT_MOST))
		return 0;
	if (is_queue(t) && !all && slope.median - CT_SEPARATE_ERRORS * slope.err <= -CT_MOST)
		return QUEUED;
	return (uint8_t)lag;
}

/* Without peers only that is known. Where the one before was waited for, as far as that shows,
 * nothing changes. */
static struct anchor find_anchor_alone(struct anchor_search *t)
{
	struct anchor a = { 0, { 0 }, 0 };

	for (uint32_t lag = 1; lag <= t->lags && !a.lag; lag++) {
		add_up(t, lag);
		if (!is_mostly_under_way(&t->common))
			a.lag = (uint8_t)lag;
	}
	a.is_known_lag = a.lag > 1;
	return a;
}

static struct anchor find_anchor(struct anchor_search *t)
{
	struct anchor a = { 0, ct_follows_find(t->positions, t->p, t->s), 1 };

	if (a.follows.first)
		a.lag = FOLLOWS;
	else if (find_queue(t))
		a.lag = QUEUED;
	for (uint32_t lag = 1; lag <= t->lags && !a.lag; lag++) {
		add_up(t, lag);
		a.lag = waits_at(t, lag);
	}
	/* two steps without anything that was waited for: noise hid it */
	a.is_known_lag = a.lag || t->lags == CT_LAGS;
	return a;
}

/* ---- what that makes of each launch ---- */

/* Of the two that launches of its position follow: what had ended when this one started.
 * CT_NO_LAUNCH: this time none. */
static uint32_t ended_before(const struct ct_schedule *s, uint32_t launch, uint32_t lag)
{
	const struct ct_schedule_launch *l = &s->launches[launch], *c = l - lag;

	if (!lag || lag > launch - s->slot_first[l->slot] || c->stretch != l->stretch ||
	    ct_schedule_end(c) > l->start_ns + l->err_ns)
		return CT_NO_LAUNCH;
	return launch - lag;
}

/* A launch counts from the later of the two, and cannot start before the other one has ended. */
static uint32_t follow(const struct ct_schedule *s, struct ct_follows f, uint32_t launch,
		       uint32_t *also)
{
	uint32_t one = ended_before(s, launch, f.first);
	uint32_t other = ended_before(s, launch, f.second);

	*also = CT_NO_LAUNCH;
	if (one == CT_NO_LAUNCH || other == CT_NO_LAUNCH)
		return one != CT_NO_LAUNCH     ? one
		       : other != CT_NO_LAUNCH ? other
					       : s->launches[launch].from;
	if (ct_schedule_end(&s->launches[one]) < ct_schedule_end(&s->launches[other])) {
		*also = one;
		return other;
	}
	*also = other;
	return one;
}

/* What the launch's computing waited for. Where it was none of those looked at it is what those
 * waited for; CT_NO_LAUNCH: that lies before what is on record, and the launch starts as it was
 * measured. anchors: of the launches before it. */
static uint32_t anchor_of(struct ct_schedule *s, struct anchor a, uint32_t launch,
			  const uint32_t *anchors)
{
	struct ct_schedule_launch *l = &s->launches[launch];
	uint32_t back = a.lag == QUEUED		? launch - l->after
			: a.lag == FURTHER_BACK ? CT_LAGS
						: a.lag;
	const struct ct_schedule_launch *c;

	if (a.lag == FOLLOWS)
		return follow(s, a.follows, launch, &l->also);
	if (a.lag == QUEUED && l->after == CT_NO_LAUNCH)
		return l->from;
	if (launch - s->slot_first[l->slot] < back || l[-(int64_t)back].stretch != l->stretch)
		return CT_NO_LAUNCH;
	if (a.lag == QUEUED || a.lag == FURTHER_BACK)
		return anchors[launch - back];
	c = l - back;
	/* for once it had not ended */
	return c->start_ns + c->span_ns > l->start_ns + l->err_ns ? l->from : launch - back;
}

static void apply(struct ct_schedule *s, const struct ct_positions *positions,
		  const struct anchor *of, uint32_t *anchors)
{
	for (uint32_t l = 0; l < s->n_launches; l++) {
		uint32_t p = positions->position_of[l];

		anchors[l] = p == CT_NO_POSITION || !of[p].is_known_lag
				     ? s->launches[l].from
				     : anchor_of(s, of[p], l, anchors);
	}
	for (uint32_t l = 0; l < s->n_launches; l++) {
		if (anchors[l] != s->launches[l].from)
			ct_schedule_anchor(s, l, anchors[l]);
	}
}

/* Launches that queued up were ready at some other time than they started. */
static int find_ready(struct ct_schedule *s, const struct ct_positions *positions,
		      const struct anchor *of)
{
	double *values = malloc(((size_t)s->n_launches + 1) * sizeof(*values));

	for (uint32_t p = 0; values && p < positions->n; p++) {
		const struct ct_position *position = &positions->all[p];

		if (!of[p].is_known_lag || position->is_surplus)
			continue;
		for (uint32_t k = position->first, end; k < position->first + position->n;
		     k = end) {
			end = ct_occurrence_end(positions, position, k);
			ct_in_queue_ready(s, &positions->order[k], end - k, of[p].lag == FOLLOWS,
					  values);
		}
	}
	free(values);
	return values ? CT_OK : CT_NOMEM;
}

/* Of two steps, and no more than CT_LAGS. */
static uint32_t lags_of(const struct ct_positions *positions, uint32_t stage)
{
	uint32_t lags = 0;

	for (uint32_t p = 0; p < positions->n && lags < CT_LAGS; p++)
		lags += positions->all[p].stage == stage ? 2 : 0;
	return lags < CT_LAGS ? lags : CT_LAGS;
}

/* A host's calls come one after the other: nothing has to be reported. */
static int is_known(const struct anchor_search *t)
{
	return t->s->launches[launch_at(t, t->p->first)].is_in_turn;
}

int ct_anchors_find(struct ct_schedule *s, const struct ct_stages *stages,
		    const struct ct_positions *positions)
{
	struct anchor_search *t = malloc(sizeof(*t));
	struct anchor *of = calloc((size_t)positions->n + 1, sizeof(*of));
	uint32_t *anchors = malloc(((size_t)s->n_launches + 1) * sizeof(*anchors));
	int st = CT_NOMEM;

	if (t && of && anchors) {
		*t = (struct anchor_search){ .s = s, .stages = stages, .positions = positions };
		for (uint32_t p = 0; p < positions->n; p++) {
			t->p = &positions->all[p];
			if (t->p->is_surplus || is_known(t))
				continue;
			t->lags = lags_of(positions, t->p->stage);
			of[p] = ct_stage_size(stages, t->p->stage) < CT_LEAST_PEERS
					? find_anchor_alone(t)
					: find_anchor(t);
		}
		apply(s, positions, of, anchors);
		st = find_ready(s, positions, of);
	}
	free(t);
	free(of);
	free(anchors);
	return st;
}
