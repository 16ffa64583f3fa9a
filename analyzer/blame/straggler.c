/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/blame/straggler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/status.h"

int ct_blame_init(struct ct_blame *blame, uint32_t n_seats, uint32_t n_hosts, const uint8_t *in_set)
{
	*blame = (struct ct_blame){ .n_seats = n_seats, .in_set = in_set };
	blame->suspects = calloc(n_seats ? n_seats : 1, sizeof(*blame->suspects));
	if (!blame->suspects)
		return CT_NOMEM;
	if (!in_set)
		return CT_OK;
	for (uint32_t s = 0; s < n_seats; s++)
		blame->set_size += in_set[s] != 0;
	blame->set_lost = calloc(2 * (size_t)n_hosts + 1, sizeof(*blame->set_lost));
	blame->set_share_ns = calloc(n_seats ? n_seats : 1, sizeof(*blame->set_share_ns));
	return blame->set_lost && blame->set_share_ns ? CT_OK : CT_NOMEM;
}

void ct_blame_fini(struct ct_blame *blame)
{
	for (uint32_t s = 0; blame->suspects && s < blame->n_seats; s++)
		ct_hist_fini(&blame->suspects[s].charges);
	ct_hist_fini(&blame->set.charges);
	for (uint32_t c = 0; c < blame->n_gaps; c++)
		free(blame->gaps[c]);
	free(blame->gaps);
	ct_carries_fini(&blame->carries);
	free(blame->suspects);
	free(blame->set_lost);
	free(blame->set_share_ns);
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

uint64_t ct_blame_skew(const struct ct_blame *blame)
{
	return blame->skew_n ? blame->skew_sum_ns / blame->skew_n : 0;
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

/* The longest that anybody but member `m` took, in a second reading anybody of the other side. */
static uint64_t longest_free(const struct ct_blame *blame, const struct ct_instance *i,
			     const struct ct_member *m)
{
	uint64_t longest = 0;

	for (uint32_t k = 0; k < i->n; k++) {
		const struct ct_member *other = &i->members[k];

		if (other == m ||
		    (blame->in_set && !blame->in_set[other->seat] == !blame->in_set[m->seat]))
			continue;
		longest = other->free_ns > longest ? other->free_ns : longest;
	}
	return longest;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* What an ordinary member took; of an even number the lower middle, so that of two it is the quicker one. */
static uint64_t usual_free(const struct ct_instance *i, const struct ct_waits *w)
{
	for (uint32_t m = 0; m < i->n; m++)
		w->scratch[m] = i->members[m].free_ns;
	qsort(w->scratch, i->n, sizeof(*w->scratch), by_value);
	return w->scratch[(i->n - 1) / 2];
}

/* The gaps of a class, `n` of them. */
static struct ct_gap *gaps_of(struct ct_blame *blame, uint32_t class, uint32_t n)
{
	if (class >= blame->n_gaps) {
		uint32_t cap = 2 * class + 16;
		struct ct_gap **gaps = realloc(blame->gaps, cap * sizeof(struct ct_gap *));

		if (!gaps)
			return NULL;
		for (uint32_t c = blame->n_gaps; c < cap; c++)
			gaps[c] = NULL;
		blame->gaps = gaps;
		blame->n_gaps = cap;
	}
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

		suspect->late_ns += lateness(arrival, (double)w->median_ns, member, usual);
		add_gap(&gaps[member->index],
			lateness(arrival, (sum - arrival) / (i->n - 1), member, usual));
		suspect->met++;
	}
}

/* The mean of the set's arrivals after the mean of the rest's; both have members here. */
static double set_lateness(const struct ct_blame *blame, const struct ct_instance *i,
			   const struct ct_waits *w, const struct ct_member *last)
{
	double sum[2] = { 0, 0 };
	uint32_t n[2] = { 0, 0 };

	for (uint32_t m = 0; m < i->n; m++) {
		int side = blame->in_set[i->members[m].seat] != 0;

		sum[side] += (double)w->arrival_ns[m];
		n[side]++;
	}
	return lateness(sum[1] / n[1], sum[0] / n[0], last, longest_free(blame, i, last));
}

static struct ct_band *band_of(struct ct_suspect *suspect, uint64_t lost_ns)
{
	unsigned band = lost_ns ? 63u - (unsigned)__builtin_clzll(lost_ns) : 0;

	return &suspect->bands[band < CT_BLAME_BANDS ? band : CT_BLAME_BANDS - 1];
}

/* One more time that somebody was clear last: everybody could have been it. */
static void add_trial(struct ct_blame *blame, const struct ct_instance *i, uint64_t lost_ns)
{
	for (uint32_t m = 0; m < i->n; m++) {
		struct ct_band *band = band_of(&blame->suspects[i->members[m].seat], lost_ns);

		band->trials++;
		band->expected += 1.0 / i->n;
	}
}

static int add_hit(struct ct_suspect *suspect, const struct ct_member *m, uint64_t lost_ns,
		   uint64_t err_ns, int loose, const struct ct_gap *gap, uint64_t at_ns)
{
	struct ct_band *band = band_of(suspect, lost_ns);

	band->hits++;
	band->lost_ns += lost_ns;
	suspect->hits++;
	suspect->jitter_ns += jitter(gap, lost_ns);
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

static int add_to_set(struct ct_blame *blame, const struct ct_instance *i, const struct ct_waits *w,
		      uint32_t class, const uint32_t *hosts, const uint64_t *shift)
{
	struct ct_gap *gap = gaps_of(blame, 2 * class + (w->is_window != 0), 1);
	const struct ct_member *m;
	uint64_t solo;
	struct ct_band *band;
	struct ct_last last;
	uint32_t members = 0, host;
	uint64_t lost;
	int side = ct_waits_last_of_set(i, w, blame->in_set, &last);

	if (!gap || (!w->is_window && ct_carry_add(&blame->carries, i, w, class) != CT_OK))
		return CT_NOMEM;
	if (side == 0)
		return CT_OK;
	m = &i->members[last.last];
	solo = w->is_window ? last.solo_ns
			    : ct_carry_take(&blame->carries, i, m->index, side > 0, last.solo_ns);
	add_gap(gap, set_lateness(blame, i, w, m));
	blame->set.met++;
	if (!counts(i, &last))
		return CT_OK;
	host = hosts[m->seat];
	lost = charge(&blame->set_lost[2 * host + (side > 0)], w, m, solo,
		      longest_free(blame, i, m));
	if (lost <= least_solo(m))
		return CT_OK;
	for (uint32_t k = 0; k < i->n; k++)
		members += blame->in_set[i->members[k].seat] != 0;
	band = band_of(&blame->set, lost);
	band->trials++;
	band->expected += (double)members / i->n;
	if (side < 0)
		return CT_OK;
	blame->set.lost.total += lost;
	blame->set_share_ns[m->seat] += lost;
	return add_hit(&blame->set, m, lost, last.err_ns, !w->one_clock, gap,
		       m->start_ns + shift[host]);
}

int ct_blame_add(struct ct_blame *blame, const struct ct_instance *i, const struct ct_waits *w,
		 uint32_t class, const uint32_t *hosts, const uint64_t *shift)
{
	const struct ct_member *m;
	struct ct_gap *gaps;
	struct ct_last last;
	uint64_t lost, solo;

	if (w->exit_skew_ns != UINT64_MAX) {
		blame->skew_sum_ns += w->exit_skew_ns;
		blame->skew_n++;
	}
	if (blame->in_set)
		return add_to_set(blame, i, w, class, hosts, shift);
	gaps = gaps_of(blame, 2 * class + (w->is_window != 0), i->comm->nranks);
	if (!gaps || (!w->is_window && ct_carry_add(&blame->carries, i, w, class) != CT_OK))
		return CT_NOMEM;
	ct_waits_last(i, w, &last);
	/* A window begins when all have left the one before: nobody brings anything along. */
	solo = w->is_window ? last.solo_ns
			    : ct_carry_take(&blame->carries, i, i->members[last.last].index,
					    i->members[last.last].index, last.solo_ns);
	add_lateness(blame, i, w, gaps);
	if (!counts(i, &last))
		return CT_OK;
	m = &i->members[last.last];
	lost = charge(&blame->suspects[m->seat].lost, w, m, solo, longest_free(blame, i, m));
	if (lost <= least_solo(m))
		return CT_OK;
	add_trial(blame, i, lost);
	return add_hit(&blame->suspects[m->seat], m, lost, last.err_ns, !w->one_clock,
		       &gaps[m->index], m->start_ns + shift[hosts[m->seat]]);
}

double ct_binomial_tail(uint64_t k, uint64_t n, double p)
{
	double log_first, sum = 0, term = 1;

	if (k == 0 || p >= 1)
		return 0;
	if (k > n || p <= 0)
		return -300;
	log_first = lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1) +
		    (double)k * log(p) + (double)(n - k) * log1p(-p);
	/* Each term from the one before it; beyond the mean they fall fast. */
	for (uint64_t x = k; x <= n && term > 1e-17 * sum; x++) {
		sum += term;
		term *= (double)(n - x) / (double)(x + 1) * p / (1 - p);
		if (sum > 1e280) {
			log_first += log(sum);
			term /= sum;
			sum = 1;
		}
	}
	log_first += log(sum);
	return log_first > 0 ? 0 : log_first / log(10);
}

/* How unlikely its hits are among all that are about as large as those that make three quarters of its loss. */
static void weigh_hits(const struct ct_suspect *s, uint64_t duration_ns, struct ct_charge *charge)
{
	double expected = 0, share = 1;
	uint64_t lost = 0;

	charge->hits = charge->trials = 0;
	for (unsigned b = CT_BLAME_BANDS; b-- > 0 && 4 * lost < 3 * s->lost.total;) {
		lost += s->bands[b].lost_ns;
		charge->hits += s->bands[b].hits;
		charge->trials += s->bands[b].trials;
		expected += s->bands[b].expected;
	}
	charge->log10_p = 0;
	if (!charge->trials)
		return;
	if (!s->on_gpu && charge->trials > duration_ns / CT_BLAME_BURST_NS)
		share = (double)(duration_ns / CT_BLAME_BURST_NS) / (double)charge->trials;
	charge->log10_p = ct_binomial_tail((uint64_t)(share * (double)charge->hits),
					   (uint64_t)(share * (double)charge->trials),
					   expected / (double)charge->trials);
}

void ct_blame_weigh(const struct ct_suspect *s, uint64_t duration_ns, uint64_t chance_ns,
		    double family, struct ct_charge *charge)
{
	double gate = (double)duration_ns * CT_BLAME_GATE_PCT / 100;
	/* A stall or two is no slow rank: the loss must stand without its largest hits. */
	uint64_t usual = ct_hist_sum_without_largest(&s->charges, 1 + s->hits / 20);
	double loss = (double)s->lost.total;

	weigh_hits(s, duration_ns, charge);
	charge->loss_ns = s->lost.total;
	charge->err_ns = s->err_ns + chance_ns;
	if (s->jitter_ns > (double)chance_ns)
		charge->err_ns = s->err_ns + (uint64_t)s->jitter_ns;
	charge->guilty = duration_ns > 0 && loss - (double)chance_ns >= gate &&
			 loss - (double)charge->err_ns >= gate / 2 && 2 * (double)usual >= loss &&
			 charge->log10_p < log10(CT_BLAME_ALPHA / family);
}

uint64_t ct_blame_chance(const struct ct_blame *blame, uint32_t but, const uint8_t *in_set)
{
	uint64_t *losses = malloc((blame->n_seats + 1) * sizeof(*losses));
	uint32_t n = 0;
	uint64_t median;

	if (!losses)
		return UINT64_MAX; /* nobody is guilty then */
	for (uint32_t s = 0; s < blame->n_seats; s++) {
		if (s != but && !(in_set && in_set[s]) && blame->suspects[s].met)
			losses[n++] = blame->suspects[s].lost.total;
	}
	qsort(losses, n, sizeof(*losses), by_value);
	median = n ? losses[n / 2] : 0;
	free(losses);
	return median;
}

struct lateness {
	double mean_ns;
	uint32_t seat;
};

static int by_lateness(const void *a, const void *b)
{
	const struct lateness *x = a, *y = b;

	if (x->mean_ns != y->mean_ns)
		return x->mean_ns > y->mean_ns ? -1 : 1;
	return x->seat < y->seat ? -1 : x->seat > y->seat;
}

int ct_blame_propose_set(const struct ct_blame *blame, uint64_t duration_ns, uint8_t *in_set)
{
	struct lateness *order = malloc((blame->n_seats + 1) * sizeof(*order));
	uint32_t n = 0, size = 0;
	double step = 0;
	uint64_t met = 0;

	if (!order)
		return CT_NOMEM;
	for (uint32_t s = 0; s < blame->n_seats; s++) {
		const struct ct_suspect *suspect = &blame->suspects[s];

		if (!suspect->met)
			continue;
		order[n++] = (struct lateness){ suspect->late_ns / (double)suspect->met, s };
		met = suspect->met > met ? suspect->met : met;
	}
	qsort(order, n, sizeof(*order), by_lateness);
	for (uint32_t i = 1; i <= n / 2; i++) {
		if (order[i - 1].mean_ns - order[i].mean_ns > step) {
			step = order[i - 1].mean_ns - order[i].mean_ns;
			size = i;
		}
	}
	/* The step is what the set's earliest costs at each meeting; without it the set cannot cost enough. */
	if (size < 2 || step * (double)met < (double)duration_ns * CT_BLAME_GATE_PCT / 100)
		size = 0;
	memset(in_set, 0, blame->n_seats);
	for (uint32_t i = 0; i < size; i++)
		in_set[order[i].seat] = 1;
	free(order);
	return (int)size;
}

void ct_charge_settle(struct ct_charge *c, uint64_t duration_ns)
{
	double gate = (double)duration_ns * CT_BLAME_GATE_PCT / 100;
	double loss = (double)c->replayed.loss_ns, err = (double)c->replayed.err_ns;

	c->by_arrivals_ns = c->loss_ns;
	if (!c->replayed.is_known)
		return;
	/* The rule and the play contradict each other: then the loss is what it was, a bound, unless the play knows
	 * that it is less however much others cover of it. */
	if (c->guilty && (loss < gate || loss - err < gate / 2)) {
		c->replayed.is_known = 0;
		if (c->replayed.alone_ns + c->replayed.alone_err_ns >= c->loss_ns)
			return;
		c->loss_ns = c->replayed.alone_ns;
		c->err_ns = c->replayed.alone_err_ns;
		c->guilty = (double)c->loss_ns >= gate;
		return;
	}
	c->loss_ns = c->replayed.loss_ns;
	c->err_ns = c->replayed.err_ns;
	c->guilty = c->guilty || c->replayed.names_it;
	if (c->has_hidden && c->loss_ns > c->most_ns) {
		c->hidden_ns = c->loss_ns - c->most_ns;
		c->loss_ns = c->most_ns;
		c->guilty = c->guilty && (double)c->most_ns >= gate && (double)c->most_ns > err;
	}
}
