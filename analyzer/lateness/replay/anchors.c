/* SPDX-License-Identifier: Apache-2.0 */
/* What computing waits for: see "What-if" in docs/ANALYSIS.md.
 *
 * A launch that starts when its rank's computing has come so far starts a fixed time after the end
 * of what that computing waited for. If, rank by rank, the time from the end of an earlier launch is shorter by as much as that
 * one took longer, with all that it had to queue up behind, computing did not wait for it, and the one before is looked at. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/lateness/replay/follows.h"
#include "analyzer/lateness/replay/in_queue.h"
#include "analyzer/lateness/replay/schedule_private.h"
#include "trace/status.h"

/* How many launches back. */
#define LAGS 32u
#define LEAST_TIMES 8u
#define FIRST 16u
/* Positions that come fewer times than that go by one that is alike and comes more often. */
#define SELDOM 16u
#define MOST_MEMBERS 64u
/* Who queues up in less than one of so many launches of a position does not queue up there. */
#define QUEUES_SELDOM 20u
/* Of (change of the gap) / (change of the earlier span): 0 computing waits, -1 it does not. */
#define WAITS_ABOVE (-0.4)

enum { FURTHER_BACK = 0, FOLLOWS = 254, QUEUED = 255 };

struct sums {
	double n, x, y, xx, xy, err;
};

struct mean {
	double n, x, y, err, under_way;
};

/* What came to all members alike: sums over places of their means. */
struct common {
	double n, x, y, xx, xy, yy, err;
	double ended, under_way; /* how often it was so with what lies before */
};

/* How often launches of a position queue up. */
struct queue {
	uint32_t n, queued, members;
	uint32_t of[MOST_MEMBERS]; /* queued, of each member */
};

struct telling {
	struct ct_schedule *s;
	const struct ct_peers *peers;
	const struct ct_peer_group *g;
	/* by position: found; FURTHER_BACK than it was looked, QUEUED: it waits for its stream only, FOLLOWS: what `follows` says */
	uint8_t *lag;
	struct ct_follows *follows; /* by position */
	struct sums *sums;	    /* by position, of one member */
	struct mean *means;	    /* by place */
	float *slopes;		    /* by position x member */
	uint32_t *n_slopes;	    /* by position */
	uint32_t *anchors;	    /* by place, of one member */
	double *values;		    /* of a median, by member */
	struct common *common;	    /* by position */
	struct queue *queues;	    /* likewise */
};

/* From the start of what the launch queued up behind without a break, to its end. */
static double queued_span(const struct ct_schedule *s, const struct ct_schedule_launch *l)
{
	int64_t end = l->start_ns + l->span_ns;

	for (uint32_t n = 0; n < LAGS && ct_schedule_is_queued(s, l); n++)
		l = &s->launches[l->after];
	return (double)(end - l->start_ns);
}

static int is_queue(const struct telling *t, uint32_t position)
{
	return 2 * t->queues[position].queued > t->queues[position].n;
}

/* Does the member queue up here now and then? Then its launches that do not are those whose ready time was late: in them the gap
 * does not get shorter by what the one before took longer, whether computing waits or not. */
static int queues_up(const struct queue *q, uint32_t member)
{
	return (uint64_t)QUEUES_SELDOM * q->of[member] * q->members > q->n;
}

enum { NOTHING_THERE, UNDER_WAY, ENDED };

/* What lies `lag` launches before the place: how long it took, and what came between the two. */
static int look_back(const struct telling *t, uint32_t member, uint32_t place, uint32_t lag,
		     double *x, double *y, double *err)
{
	const struct ct_schedule *s = t->s;
	uint32_t first = s->seat_first[t->peers->seats[t->g->first + member]];
	const struct ct_schedule_launch *l = &s->launches[first + place], *c = l - lag;
	uint32_t position = t->peers->positions[t->g->first_position + place];
	int64_t between;

	/* the first ones tell who was started late */
	if (place < lag || place < FIRST || c->stretch != l->stretch)
		return NOTHING_THERE;
	/* when it was ready is not known */
	if (ct_schedule_is_queued(s, l) ||
	    (is_queue(t, position) && queues_up(&t->queues[position], member)))
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

/* Do the members' means say clearly that computing waits: by a slope that is above at two standard errors? */
static int all_wait(const struct common *c)
{
	double xx, xy, yy, err, slope;

	if (c->n < LEAST_TIMES)
		return 0;
	xx = c->xx - c->x * c->x / c->n;
	xy = c->xy - c->x * c->y / c->n;
	yy = c->yy - c->y * c->y / c->n;
	err = c->err / c->n;
	if (xx <= c->n * err * err)
		return 0;
	slope = xy / xx;
	err = (yy - slope * xy) / (c->n - 2) / xx;
	return slope - 2 * sqrt(err > 0 ? err : 0) > WAITS_ABOVE;
}

/* Means over the members at each place that is still looked for: what comes to all alike tells nothing of a place. */
static void add_up(struct telling *t, uint32_t members, uint32_t lag)
{
	for (uint32_t p = 0; p < t->g->n_positions; p++)
		t->common[p] = (struct common){ 0 };
	for (uint32_t k = 0; k < t->g->len; k++) {
		struct mean *mean = &t->means[k];
		struct common *common = &t->common[t->peers->positions[t->g->first_position + k]];

		*mean = (struct mean){ 0 };
		if (t->lag[t->peers->positions[t->g->first_position + k]])
			continue;
		for (uint32_t m = 0; m < members; m++) {
			double x, y, err;
			int found = look_back(t, m, k, lag, &x, &y, &err);

			mean->under_way += found == UNDER_WAY;
			if (found != ENDED)
				continue;
			mean->n++;
			mean->x += x;
			mean->y += y;
			mean->err += err;
		}
		common->ended += mean->n;
		common->under_way += mean->under_way;
		if (mean->n > 0)
			add_common(common, mean);
	}
}

/* One member's times at the positions that are still looked for. */
static void add_member(struct telling *t, uint32_t member, uint32_t lag)
{
	for (uint32_t p = 0; p < t->g->n_positions; p++)
		t->sums[p] = (struct sums){ 0 };
	for (uint32_t k = 0; k < t->g->len; k++) {
		uint32_t p = t->peers->positions[t->g->first_position + k];
		struct sums *sum = &t->sums[p];
		double x, y, err;

		if (t->lag[p] || look_back(t, member, k, lag, &x, &y, &err) != ENDED)
			continue;
		x -= t->means[k].x;
		y -= t->means[k].y;
		sum->n++;
		sum->x += x;
		sum->y += y;
		sum->xx += x * x;
		sum->xy += x * y;
		sum->err += err;
	}
	for (uint32_t p = 0; p < t->g->n_positions; p++) {
		const struct sums *sum = &t->sums[p];
		double xx, xy, err;

		if (t->lag[p] || sum->n < LEAST_TIMES)
			continue;
		xx = sum->xx / sum->n - sum->x / sum->n * (sum->x / sum->n);
		xy = sum->xy / sum->n - sum->x / sum->n * (sum->y / sum->n);
		err = sum->err / sum->n;
		/* an error of the end is in both, with opposite signs */
		if (xx > err * err)
			t->slopes[p * MOST_MEMBERS + t->n_slopes[p]++] = (float)(xy / xx);
	}
}

struct bounds {
	double least, most;
};

/* Of the members' slopes: the median, give or take two standard errors of a median (1.253 sigma / sqrt n, sigma = 1.4826 times the
 * median distance). Uses the slopes up. Of too few anything is possible. */
static struct bounds bounds_of(float *slopes, uint32_t n)
{
	float median;
	double off;

	if (n < CT_PEERS_LEAST)
		return (struct bounds){ -INFINITY, INFINITY };
	qsort(slopes, n, sizeof(*slopes), ct_by_float);
	median = slopes[n / 2];
	for (uint32_t k = 0; k < n; k++)
		slopes[k] = fabsf(slopes[k] - median);
	qsort(slopes, n, sizeof(*slopes), ct_by_float);
	off = 2 * 1.253 * 1.4826 * slopes[n / 2] / sqrt(n);
	return (struct bounds){ median - off, median + off };
}

/* Positions at which most launches queue up: there it takes evidence that they wait for anything else. */
static void find_queues(struct telling *t, uint32_t members)
{
	for (uint32_t m = 0; m < members; m++) {
		uint32_t first = t->s->seat_first[t->peers->seats[t->g->first + m]];

		for (uint32_t k = 0; k < t->g->len; k++) {
			struct queue *q = &t->queues[t->peers->positions[t->g->first_position + k]];

			q->n++;
			q->of[m] += ct_schedule_is_queued(t->s, &t->s->launches[first + k]);
		}
	}
	for (uint32_t p = 0; p < t->g->n_positions; p++) {
		struct queue *q = &t->queues[p];
		uint32_t tell = 0;

		q->members = members;
		for (uint32_t m = 0; m < members; m++)
			q->queued += q->of[m];
		for (uint32_t m = 0; m < members; m++)
			tell += !queues_up(q, m);
		if (!t->lag[p] && is_queue(t, p) &&
		    (tell < CT_PEERS_LEAST || q->n - q->queued < LEAST_TIMES))
			t->lag[p] = QUEUED;
	}
}

/* Did computing wait for what lies `lag` launches before? 0: it is known that it did not; else the lag, or QUEUED where most
 * launches queue up and it is not known that it did: then nothing tells. */
static uint8_t waits_at(struct telling *t, uint32_t p, uint32_t lag)
{
	const struct common *c = &t->common[p];
	struct bounds slope = bounds_of(&t->slopes[p * MOST_MEMBERS], t->n_slopes[p]);
	int all = all_wait(c);

	/* what mostly was still under way was not waited for */
	if (10 * c->under_way > c->ended || (!all && slope.most <= WAITS_ABOVE))
		return 0;
	if (is_queue(t, p) && !all && slope.least <= WAITS_ABOVE)
		return QUEUED;
	return (uint8_t)lag;
}

/* Where it is known that computing did not wait at this lag the search goes on; all else ends it. */
static uint32_t decide(struct telling *t, uint32_t lag)
{
	uint32_t open = 0;

	for (uint32_t p = 0; p < t->g->n_positions; p++) {
		if (!t->lag[p])
			t->lag[p] = waits_at(t, p, lag);
		t->n_slopes[p] = 0;
		open += !t->lag[p];
	}
	return open;
}

/* Of the two that launches of its position follow: what had ended when this one started. CT_NO_LAUNCH: this time none. */
static uint32_t ended_before(const struct ct_schedule *s, uint32_t first, uint32_t place,
			     uint32_t lag)
{
	const struct ct_schedule_launch *l = &s->launches[first + place], *c = l - lag;

	if (!lag || lag > place || c->stretch != l->stretch ||
	    ct_schedule_end(c) > l->start_ns + l->err_ns)
		return CT_NO_LAUNCH;
	return first + place - lag;
}

/* A launch counts from the later of the two, and cannot start before the other one has ended. */
static uint32_t follow(const struct telling *t, uint32_t first, uint32_t place, uint32_t *also)
{
	const struct ct_schedule *s = t->s;
	struct ct_follows f = t->follows[t->peers->positions[t->g->first_position + place]];
	uint32_t one = ended_before(s, first, place, f.first);
	uint32_t other = ended_before(s, first, place, f.second);

	*also = CT_NO_LAUNCH;
	if (one == CT_NO_LAUNCH || other == CT_NO_LAUNCH)
		return one != CT_NO_LAUNCH     ? one
		       : other != CT_NO_LAUNCH ? other
					       : s->launches[first + place].from;
	if (ct_schedule_end(&s->launches[one]) < ct_schedule_end(&s->launches[other])) {
		*also = one;
		return other;
	}
	*also = other;
	return one;
}

/* What the launch's computing waited for. Where it was none of those looked at it is what those waited for; CT_NO_LAUNCH: that lies
 * before what is on record, and the launch starts as it was measured. */
static uint32_t anchor_of(const struct telling *t, uint32_t first, uint32_t place)
{
	const struct ct_schedule_launch *l = &t->s->launches[first + place];
	uint32_t lag = t->lag[t->peers->positions[t->g->first_position + place]];
	uint32_t back = lag == QUEUED ? first + place - l->after : lag == FURTHER_BACK ? LAGS : lag;
	const struct ct_schedule_launch *c;

	if (lag == FOLLOWS)
		return follow(t, first, place, &t->s->launches[first + place].also);
	if (lag == QUEUED && l->after == CT_NO_LAUNCH)
		return l->from;
	if (place < back || l[-(int64_t)back].stretch != l->stretch)
		return CT_NO_LAUNCH;
	if (lag == QUEUED || lag == FURTHER_BACK)
		return t->anchors[place - back];
	c = l - back;
	/* for once it had not ended */
	return c->start_ns + c->span_ns > l->start_ns + l->err_ns ? l->from : first + place - back;
}

static void apply(struct telling *t, uint32_t seat)
{
	struct ct_schedule *s = t->s;
	uint32_t first = s->seat_first[seat];

	for (uint32_t k = 0; k < t->g->len; k++)
		t->anchors[k] = anchor_of(t, first, k);
	for (uint32_t k = 0; k < t->g->len; k++) {
		if (t->anchors[k] != s->launches[first + k].from)
			ct_schedule_anchor(s, first + k, t->anchors[k]);
	}
}

/* What comes too seldom to be told (after a pause, say) waits for what the same launch waits for elsewhere. */
static int inherit(struct telling *t)
{
	size_t n = (size_t)t->g->n_positions + 1;
	uint32_t *alike = malloc(n * sizeof(*alike)), *times = malloc(n * sizeof(*times));
	int st = CT_NOMEM;

	if (alike && times)
		st = ct_peers_alike(t->peers, t->g, t->s, alike, times);
	for (uint32_t p = 0; p < t->g->n_positions && st == CT_OK; p++) {
		if (times[p] >= SELDOM || times[alike[p]] < SELDOM)
			continue;
		t->lag[p] = t->lag[alike[p]];
		t->follows[p] = t->follows[alike[p]];
	}
	free(alike);
	free(times);
	return st;
}

static int tell(struct telling *t)
{
	uint32_t members = t->g->n < MOST_MEMBERS ? t->g->n : MOST_MEMBERS, open = 1;
	struct ct_in_queue queue = { .s = t->s, .peers = t->peers, .g = t->g };
	size_t n = t->g->n_positions;

	t->lag = calloc(n + 1, 1);
	t->sums = malloc((n + 1) * sizeof(*t->sums));
	t->slopes = malloc((n + 1) * MOST_MEMBERS * sizeof(*t->slopes));
	t->n_slopes = calloc(n + 1, sizeof(*t->n_slopes));
	t->anchors = malloc(((size_t)t->g->len + 1) * sizeof(*t->anchors));
	t->means = malloc(((size_t)t->g->len + 1) * sizeof(*t->means));
	queue.values = t->values = malloc(((size_t)t->g->n + 1) * sizeof(*t->values));
	t->common = malloc((n + 1) * sizeof(*t->common));
	t->queues = calloc(n + 1, sizeof(*t->queues));
	t->follows = malloc((n + 1) * sizeof(*t->follows));
	if (!t->lag || !t->sums || !t->means || !t->slopes || !t->n_slopes || !t->anchors ||
	    !t->values || !t->common || !t->queues || !t->follows)
		return CT_NOMEM;
	if (ct_follows_find(t->peers, t->g, t->s, t->follows) != CT_OK)
		return CT_NOMEM;
	for (uint32_t p = 0; p < n; p++)
		t->lag[p] = t->follows[p].first ? FOLLOWS : 0;
	find_queues(t, members);
	for (uint32_t lag = 1; lag <= LAGS && open; lag++) {
		add_up(t, members, lag);
		for (uint32_t m = 0; m < members; m++)
			add_member(t, m, lag);
		open = decide(t, lag);
	}
	if (inherit(t) != CT_OK)
		return CT_NOMEM;
	for (uint32_t m = 0; m < t->g->n; m++)
		apply(t, t->peers->seats[t->g->first + m]);
	for (uint32_t k = 0; k < t->g->len; k++)
		ct_in_queue_ready(&queue, k,
				  t->lag[t->peers->positions[t->g->first_position + k]] == FOLLOWS);
	return CT_OK;
}

int ct_peers_anchor(const struct ct_peers *peers, struct ct_schedule *s)
{
	int st = CT_OK;

	for (uint32_t g = 0; g < peers->n_groups && st == CT_OK; g++) {
		struct telling t = { .s = s, .peers = peers, .g = &peers->groups[g] };

		if (t.g->n < CT_PEERS_LEAST)
			continue;
		st = tell(&t);
		free(t.lag);
		free(t.sums);
		free(t.means);
		free(t.slopes);
		free(t.n_slopes);
		free(t.anchors);
		free(t.values);
		free(t.common);
		free(t.queues);
		free(t.follows);
	}
	return st;
}
