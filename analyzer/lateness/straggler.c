/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/straggler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "trace/status.h"

int ct_blame_init(struct ct_blame *blame, uint32_t n_seats)
{
	*blame = (struct ct_blame){ .n_seats = n_seats };
	blame->suspects = calloc(n_seats ? n_seats : 1, sizeof(*blame->suspects));
	return blame->suspects ? CT_OK : CT_NOMEM;
}

void ct_blame_fini(struct ct_blame *blame)
{
	for (uint32_t s = 0; blame->suspects && s < blame->n_seats; s++)
		ct_hist_fini(&blame->suspects[s].charges);
	for (uint32_t c = 0; c < blame->n_gaps; c++)
		free(blame->gaps[c]);
	free(blame->gaps);
	ct_carries_fini(&blame->carries);
	ct_charge_log_fini(&blame->charged);
	free(blame->suspects);
	*blame = (struct ct_blame){ 0 };
}

int ct_blame_grow(struct ct_blame *blame, uint32_t n_seats)
{
	struct ct_suspect *suspects = realloc(blame->suspects, n_seats * sizeof(*suspects));

	if (!suspects)
		return CT_NOMEM;
	memset(&suspects[blame->n_seats], 0, (n_seats - blame->n_seats) * sizeof(*suspects));
	blame->suspects = suspects;
	blame->n_seats = n_seats;
	return CT_OK;
}

void ct_blame_acquit(struct ct_blame *blame, uint32_t seat)
{
	ct_hist_fini(&blame->suspects[seat].charges);
	memset(&blame->suspects[seat], 0, sizeof(blame->suspects[seat]));
}

/* The part of a lateness that is the rank's own doing: by which it took longer since its last communication than
 * others did since theirs. Who was held up in that communication, or came late out of it, took no longer. */
static uint64_t own_part(uint64_t late_ns, const struct ct_member *m, uint64_t others_ns)
{
	uint64_t longer = m->free_ns != UINT64_MAX && m->free_ns > others_ns
				  ? m->free_ns - others_ns
				  : 0;

	return late_ns < longer ? late_ns : longer;
}

/* The longest that anybody but member `m` took. */
static uint64_t longest_free(const struct ct_instance *i, const struct ct_member *m)
{
	uint64_t longest = 0;

	for (uint32_t k = 0; k < i->n; k++) {
		const struct ct_member *other = &i->members[k];

		if (other != m && other->free_ns > longest)
			longest = other->free_ns;
	}
	return longest;
}

/* What an ordinary member took; of an even number the lower middle, so that of two it is the quicker one. */
static uint64_t usual_free(const struct ct_instance *i, const struct ct_waits *w)
{
	for (uint32_t m = 0; m < i->n; m++)
		w->scratch[m] = i->members[m].free_ns;
	ct_sort(w->scratch, i->n, sizeof(*w->scratch), ct_by_u64);
	return w->scratch[(i->n - 1) / 2];
}

/* The gaps of a class, `n` of them. */
static struct ct_gap *gaps_of(struct ct_blame *blame, uint32_t class, uint32_t n)
{
	if (ct_grow_zeroed(&blame->gaps, &blame->n_gaps, class + 1, sizeof(struct ct_gap *)))
		return NULL;
	if (!blame->gaps[class])
		blame->gaps[class] = calloc(n, sizeof(struct ct_gap));
	return blame->gaps[class];
}

/* Meetings over which a mean gap is taken. */
#define GAP_MEMORY 32

static void add_gap(struct ct_gap *gap, double gap_ns)
{
	float off = (float)gap_ns - gap->mean_ns;
	float far;

	gap->n++;
	if (gap->n == 1) {
		gap->mean_ns = (float)gap_ns;
		return;
	}
	/* The median goes a step towards each value, so that none has more weight than another. */
	if (gap->n == 2)
		gap->median_off_ns = fabsf(off);
	else
		gap->median_off_ns *= fabsf(off) > gap->median_off_ns ? 1.1f : 1 / 1.1f;
	if (gap->median_off_ns < 1000)
		gap->median_off_ns = 1000;
	far = 4 * gap->median_off_ns;
	off = off > far ? far : off < -far ? -far : off;
	gap->mean_ns += off / (float)(gap->n < GAP_MEMORY ? gap->n : GAP_MEMORY);
}

/* What the hits in a class hold beyond the sum of all latenesses there: how often it came early, by as much as it came late. */
static double early_part(const struct ct_gap *gap)
{
	return fmin(gap->jitter_ns, fmax(0, gap->lost_ns - gap->sum_ns));
}

/* A gap of the suspect, which its sum of early parts follows. */
static void note_gap(struct ct_suspect *suspect, struct ct_gap *gap, double gap_ns)
{
	suspect->early_ns -= early_part(gap);
	add_gap(gap, gap_ns);
	gap->sum_ns += gap_ns;
	suspect->early_ns += early_part(gap);
}

/* What a hit of `lost_ns` holds beyond the rank's mean lateness, and a quarter more for what a sample leaves open;
 * half of the hit as long as there is no sample. */
static double jitter(const struct ct_gap *gap, uint64_t lost_ns)
{
	double lost = (double)lost_ns;
	double mean = gap->mean_ns > 0 ? (double)gap->mean_ns : 0;

	if (gap->n < 8)
		return lost / 2;
	return lost > mean ? fmin(1.25 * (lost - mean), lost) : 0;
}

/* By how much a rank came after the mean of `others`; how much earlier, negative. */
static double lateness(double arrival, double others, const struct ct_member *m, uint64_t others_ns)
{
	double late = arrival - others;

	return late > 0 ? (double)own_part((uint64_t)late, m, others_ns) : late;
}

static void add_lateness(struct ct_blame *blame, const struct ct_instance *i,
			 const struct ct_waits *w, struct ct_gap *gaps)
{
	uint64_t usual = usual_free(i, w);
	double sum = 0;

	for (uint32_t m = 0; m < i->n; m++)
		sum += (double)w->arrival_ns[m];
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];
		struct ct_suspect *suspect = &blame->suspects[member->seat];
		double arrival = (double)w->arrival_ns[m];
		double gap = lateness(arrival, (sum - arrival) / (i->n - 1), member, usual);

		suspect->late_ns += lateness(arrival, (double)w->median_ns, member, usual);
		note_gap(suspect, &gaps[member->index], gap);
		suspect->met++;
	}
}

static int add_hit(struct ct_suspect *suspect, const struct ct_member *m, uint64_t lost_ns,
		   uint64_t err_ns, int loose, struct ct_gap *gap, double odds, uint64_t at_ns)
{
	double jitters = jitter(gap, lost_ns);

	suspect->hits++;
	suspect->odds_ns += (double)lost_ns * odds;
	suspect->jitter_ns += jitters;
	suspect->early_ns -= early_part(gap);
	gap->jitter_ns += jitters;
	gap->lost_ns += (double)lost_ns;
	suspect->early_ns += early_part(gap);
	suspect->loose += loose != 0;
	suspect->on_gpu += m->on_gpu;
	suspect->err_ns += err_ns < lost_ns ? err_ns : lost_ns;
	ct_timeline_add(&suspect->when, at_ns, lost_ns);
	return ct_hist_add(&suspect->charges, lost_ns);
}

/* What counts at all. */
static uint64_t least_solo(const struct ct_member *m)
{
	return m->on_gpu ? CT_BLAME_MIN_GPU_SOLO_NS : CT_BLAME_MIN_SOLO_NS;
}

static int counts(const struct ct_instance *i, const struct ct_last *last)
{
	return last->clear && last->solo_ns > least_solo(&i->members[last->last]) &&
	       last->waited_for;
}

/* What is new of the time for which member `m` was waited for alone; the interval lies right before its arrival
 * on its own clock. Of a window it is not known when in it that was: what is charged already counts as part of it. */
static uint64_t charge(struct ct_cover *cover, const struct ct_waits *w, const struct ct_member *m,
		       uint64_t solo_ns, uint64_t others_ns)
{
	uint64_t late = own_part(solo_ns, m, others_ns);

	if (w->is_window)
		return ct_cover_fill(cover, m->since_ns, m->end_ns, late);
	return ct_cover_add(cover, m->start_ns > late ? m->start_ns - late : 0, m->start_ns);
}

int ct_blame_add(struct ct_blame *blame, const struct ct_instance *i, const struct ct_waits *w,
		 uint32_t class, const uint32_t *hosts, const uint64_t *shift)
{
	struct ct_gap *gaps = gaps_of(blame, 2 * class + (w->is_window != 0), i->comm->nranks);
	const struct ct_member *m;
	struct ct_last last;
	uint64_t lost, solo;

	if (!gaps || (!w->is_window && ct_carry_add(&blame->carries, i, w, class) != CT_OK))
		return CT_NOMEM;
	ct_waits_last(i, w, &last);
	/* A window begins when all have left the one before: nobody brings anything along. */
	solo = w->is_window ? last.solo_ns
			    : ct_carry_take(&blame->carries, i, i->members[last.last].index,
					    last.solo_ns);
	add_lateness(blame, i, w, gaps);
	if (!counts(i, &last))
		return CT_OK;
	m = &i->members[last.last];
	lost = charge(&blame->suspects[m->seat].lost, w, m, solo, longest_free(i, m));
	if (lost <= least_solo(m))
		return CT_OK;
	if (ct_charge_log_add(&blame->charged, m->start_ns + shift[hosts[m->seat]], m->seat,
			      lost) != CT_OK)
		return CT_NOMEM;
	return add_hit(&blame->suspects[m->seat], m, lost, last.err_ns, !w->one_clock,
		       &gaps[m->index], 1.0 / i->n, m->start_ns + shift[hosts[m->seat]]);
}

double ct_blame_odds(const struct ct_suspect *s)
{
	return s->lost.total ? s->odds_ns / (double)s->lost.total : 1;
}

/* The first part of the rule that does not hold. */
static enum ct_doubt doubt_of(const struct ct_charge *c, uint64_t duration_ns, uint64_t chance_ns,
			      double alpha, double family)
{
	double gate = (double)duration_ns * CT_BLAME_GATE_PCT / 100;
	double loss = (double)c->loss_ns;

	if (!duration_ns || loss - (double)chance_ns < gate)
		return CT_DOUBT_SMALL;
	if (c->recurs.rounds < CT_ROUNDS_LEAST)
		return CT_DOUBT_FEW;
	/* A stall or two is no slow rank: the loss must stand without its largest rounds. */
	if (2 * c->recurs.rest < loss)
		return CT_DOUBT_STALLS;
	if (c->recurs.log10_p >= log10(alpha / family))
		return c->recurs.hits == c->recurs.trials ? CT_DOUBT_FEW : CT_DOUBT_CHANCE;
	return loss - (double)c->err_ns < gate / 2 ? CT_DOUBT_SMALL : CT_DOUBT_NONE;
}

void ct_blame_weigh(const struct ct_suspect *s, const struct ct_recurrence *recurs,
		    uint64_t duration_ns, uint64_t chance_ns, double family, struct ct_charge *c)
{
	/* in a round of n hits that have nothing to do with each other the square root of n of their jitter is left */
	double hits = recurs->rounds ? (double)s->hits / recurs->rounds : 0;
	double bursts = recurs->bursts_ns * sqrt(fmax(1, hits));
	double jitter = fmin(s->jitter_ns, 1.25 * (s->early_ns + bursts));
	double by_chance = fmax(fmax((double)chance_ns, jitter), recurs->spread_ns);

	c->recurs = *recurs;
	c->loss_ns = s->lost.total;
	c->err_ns = s->err_ns +
		    (by_chance < (double)(UINT64_MAX / 4) ? (uint64_t)by_chance : UINT64_MAX / 4);
	c->doubt = doubt_of(c, duration_ns, chance_ns,
			    2 * s->on_gpu < s->hits ? CT_BLAME_HOST_ALPHA : CT_BLAME_ALPHA, family);
	c->guilty = c->doubt == CT_DOUBT_NONE;
}

uint64_t ct_blame_chance(const struct ct_blame *blame, uint32_t but)
{
	uint64_t *losses = malloc((blame->n_seats + 1) * sizeof(*losses));
	uint32_t n = 0;
	uint64_t median;

	if (!losses)
		return UINT64_MAX; /* nobody is guilty then */
	for (uint32_t s = 0; s < blame->n_seats; s++) {
		if (s != but && blame->suspects[s].met)
			losses[n++] = blame->suspects[s].lost.total;
	}
	qsort(losses, n, sizeof(*losses), ct_by_u64);
	median = n ? losses[n / 2] : 0;
	free(losses);
	return median;
}
