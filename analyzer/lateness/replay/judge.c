/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/judge.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/lateness/lateness.h"
#include "analyzer/lateness/outlier_set.h"
#include "analyzer/model/model.h"
#include "analyzer/stream/instance_log.h"
#include "trace/ops.h"
#include "trace/status.h"

/* Of the parts, timed on a GPU: where the host times, a span may hold the rank's own computing. */
#define LEAST_ON_GPU 0.99
/* Of a loss: what the play itself may be off by (docs/ANALYSIS.md, "What-if": accuracy). */
#define MODEL_ERROR 0.05
/* Likewise, where so many launches wait in queues, so that nobody knows when they were ready. */
#define MODEL_ERROR_IN_QUEUES 0.1
#define MANY_IN_QUEUES 0.05
/* Who is named by the play alone: windows, and what is left of the excess without its largest twentieth. */
#define LEAST_WINDOWS 3u
#define STEADY 0.5
#define MOST_SLOW 0.05

static int is_on_gpu(const struct ct_tape *tape)
{
	uint64_t n = 0;

	for (uint32_t p = 0; p < tape->n_parts; p++)
		n += tape->parts[p].on_gpu;
	return tape->n_parts && (double)n >= LEAST_ON_GPU * tape->n_parts;
}

/* A launch of a graph computes and communicates in one span: what of it is which nobody knows. */
static int has_graphs(const struct ct_tape *tape)
{
	for (uint32_t i = 0; i < tape->n_instances; i++) {
		if (tape->instances[i].op == CT_OP_GraphLaunch)
			return 1;
	}
	return 0;
}

/* Members that are missing leave gaps that were waited in. */
static int is_whole(const struct ct_model *model)
{
	double all = (double)(model->matched + model->messages + model->incomplete);

	return 100 * (double)model->incomplete <= CT_WHATIF_LEFT_OUT_PCT * all;
}

int ct_whatif_judge(struct ct_whatif *w, const struct ct_model *model, const struct ct_tape *log,
		    const struct ct_charge *charges)
{
	uint8_t *asked;
	int st;

	if (!is_on_gpu(log) || has_graphs(log) || !is_whole(model))
		return CT_OK;
	asked = calloc((size_t)model->n_seats + 1, 1);
	if (!asked)
		return CT_NOMEM;
	for (uint32_t s = 0; s < model->n_seats; s++)
		asked[s] = charges[s].guilty != 0;
	st = ct_whatif_run(w, log, &model->comms, model->host_of, asked);
	free(asked);
	return st;
}

/* ---- losses ---- */

/* From the part of the run that was played to the run. */
static uint64_t of_run(const struct ct_whatif *w, double ns)
{
	ns = w->schedule.share > 0 ? ns / w->schedule.share : 0;
	return ns < 1 ? 0 : ns < (double)INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

/* Whose waits went away in what was played last. */
static void find_victims(const struct ct_whatif *w, const uint32_t *seats, uint32_t n,
			 struct ct_replayed *out)
{
	double sum = 0, most = 0;

	for (uint32_t s = 0, k = 0; s < w->schedule.n_seats; s++) {
		double less;

		if (k < n && seats[k] == s) {
			k++;
			continue;
		}
		less = (double)w->base_span_ns[s] -
		       (double)ct_replay_spans(&w->replay, &w->schedule, s);
		sum += less > 0 ? less : 0;
		if (less > most) {
			most = less;
			out->most_seat = s;
		}
	}
	out->wait_ns = of_run(w, sum);
	out->most_wait_ns = of_run(w, most);
}

static double model_error(const struct ct_whatif *w)
{
	return w->schedule.guessed > MANY_IN_QUEUES * w->schedule.n_launches ? MODEL_ERROR_IN_QUEUES
									     : MODEL_ERROR;
}

/* chance_ns: what ranks cost that are like the others. */
static void replay_set(struct ct_whatif *w, const uint32_t *seats, uint32_t n, int64_t chance_ns,
		       struct ct_replayed *out)
{
	struct ct_whatif_loss loss;
	double off = fabs((double)w->replayed_ns - (double)w->total_ns), ns;

	if (!w->is_close || !ct_whatif_is_known(w, seats, n))
		return;
	loss = ct_whatif_play(w, seats, n);
	ns = loss.loss_ns > 0 ? (double)loss.loss_ns : 0;
	*out = (struct ct_replayed){
		.is_known = 1,
		.loss_ns = of_run(w, ns),
		.err_ns = of_run(w, off + (double)(chance_ns > 0 ? chance_ns : 0) +
					    model_error(w) * ns),
		.windows = loss.windows,
		.n_windows = w->schedule.n_windows,
		.most_seat = UINT32_MAX,
	};
	find_victims(w, seats, n, out);
	ns = (double)ct_whatif_alone(w, seats, n);
	out->alone_ns = of_run(w, ns);
	out->alone_err_ns = of_run(w, off + model_error(w) * ns);
}

/* Where the last one's own transfer was slow too, often, nobody is named by the play alone: it may have been the transfer. */
static int is_worth(const struct ct_lateness *late, const struct ct_replayed *r)
{
	return r->is_known &&
	       late->late_or_slow.slow_transfers <= MOST_SLOW * (double)late->model->matched &&
	       r->windows >= LEAST_WINDOWS && r->loss_ns > r->err_ns &&
	       (double)(r->loss_ns - r->err_ns) >=
		       (double)late->model->duration_ns * CT_BLAME_GATE_PCT / 100;
}

/* Is it late steadily: without its largest excesses at least half of them all remains? 1, 0, CT_NOMEM. */
static int is_steady(const struct ct_whatif *w, uint32_t seat)
{
	const struct ct_schedule *s = &w->schedule;
	uint32_t first = s->seat_first[seat], n = s->seat_first[seat + 1] - first;
	double *all = malloc(((size_t)n + 1) * sizeof(*all)), sum = 0, rest = 0;

	if (!all)
		return CT_NOMEM;
	for (uint32_t k = 0; k < n; k++) {
		double over = (double)s->gap_ns[first + k] - (double)w->usual.usual_ns[first + k];

		all[k] = over > 0 ? over : 0;
		sum += all[k];
	}
	qsort(all, n, sizeof(*all), ct_by_double);
	for (uint32_t k = 0; k < n - n / 20; k++)
		rest += all[k];
	free(all);
	return rest >= STEADY * sum;
}

/* Do they take longest round after round, more often than chance? Then the error holds how much rounds differ. 1, 0,
 * CT_NOMEM. */
static int does_recur(const struct ct_whatif *w, const struct ct_lateness *late,
		      const uint32_t *seats, uint32_t n, int is_chosen, struct ct_replayed *r)
{
	struct ct_recurrence recurs;
	int st = ct_whatif_recurs(w, late, seats, n, is_chosen, &recurs);
	double err;

	if (st != CT_OK)
		return st;
	if (recurs.log10_p >= log10(CT_BLAME_ALPHA))
		return 0;
	err = recurs.spread_ns * (double)r->loss_ns;
	if (err > (double)r->err_ns)
		r->err_ns = err < (double)r->loss_ns ? (uint64_t)err : r->loss_ns;
	return 1;
}

/* Most that somebody costs whom nobody suspects, but this one. */
static int64_t most_of_others(const struct ct_whatif *w, const struct ct_charge *charges,
			      uint32_t seat)
{
	int64_t most = 0;

	for (uint32_t s = 0; s < w->schedule.n_seats; s++) {
		if (s != seat && w->is_asked[s] && !charges[s].guilty && w->ranks[s].loss_ns > most)
			most = w->ranks[s].loss_ns;
	}
	return most;
}

static int weigh_rank(struct ct_whatif *w, const struct ct_lateness *late,
		      const struct ct_charge *charges, uint32_t seat, struct ct_replayed *out)
{
	int steady, recurs;

	replay_set(w, &seat, 1, most_of_others(w, charges, seat), out);
	if (charges[seat].guilty || !is_worth(late, out))
		return CT_OK;
	recurs = does_recur(w, late, &seat, 1, 1, out);
	steady = recurs > 0 ? is_steady(w, seat) : recurs;
	out->names_it = steady > 0 && is_worth(late, out);
	return steady < 0 ? steady : CT_OK;
}

/* Ranks are compared by how long they computed before they came. That means nothing between ranks whose places in the job
 * differ: the first stage of a pipeline ends its backward pass last, and is not slow. */
static void compare_likes(const struct ct_whatif *w, const struct ct_model *model,
			  const uint8_t *alone, struct ct_charge *charges)
{
	double gate = (double)model->duration_ns * CT_BLAME_GATE_PCT / 100;

	for (uint32_t s = 0; s < w->schedule.n_seats; s++) {
		struct ct_charge *c = &charges[s];

		if (alone[s]) {
			c->has_no_peers = 1;
			c->guilty = 0;
		} else if (!c->guilty && w->usual.by_peers[s]) {
			c->is_cleared = !c->replayed.is_known || (double)c->replayed.loss_ns < gate;
		}
	}
}

int ct_whatif_weigh(struct ct_whatif *w, const struct ct_lateness *late, struct ct_charge *charges,
		    struct ct_set_result *set)
{
	uint32_t *seats, n = 0;
	uint8_t *alone_of;
	int alone = 0, st = CT_OK;

	if (!w->is_close)
		return CT_OK;
	/* all before any of them is settled: whom nobody suspects is the measure of the others */
	for (uint32_t s = 0; s < w->schedule.n_seats && st == CT_OK; s++) {
		if (w->is_asked[s])
			st = weigh_rank(w, late, charges, s, &charges[s].replayed);
	}
	for (uint32_t s = 0; s < w->schedule.n_seats; s++)
		ct_charge_settle(&charges[s], late->model->duration_ns);
	alone_of = calloc((size_t)late->model->n_seats + 1, 1);
	seats = malloc(((size_t)late->model->n_seats + 1) * sizeof(*seats));
	if (st == CT_OK && (!alone_of || !seats ||
			    ct_whatif_peerless(w, late->model, late->log, alone_of) != CT_OK))
		st = CT_NOMEM;
	if (st == CT_OK)
		compare_likes(w, late->model, alone_of, charges);
	if (st != CT_OK || !set->in_set) {
		free(alone_of);
		free(seats);
		return st;
	}
	for (uint32_t s = 0; s < w->schedule.n_seats; s++) {
		if (!set->in_set[s])
			continue;
		seats[n++] = s;
		alone |= alone_of[s];
	}
	if (alone)
		set->in_set = NULL;
	replay_set(w, seats, n, 0, &set->replayed);
	free(alone_of);
	free(seats);
	return CT_OK;
}

/* ---- sets ---- */

#define AS_MUCH 0.95

/* The smallest of the sets that come to about as much as the one that costs most; of equal ones the one that has a name. */
static const struct ct_whatif_set *best_set(const struct ct_whatif *w)
{
	const struct ct_whatif_set *best = NULL;
	int64_t most = 0;

	for (uint32_t k = 0; k < w->n_sets; k++)
		most = w->sets[k].loss.loss_ns > most ? w->sets[k].loss.loss_ns : most;
	for (uint32_t k = 0; k < w->n_sets; k++) {
		const struct ct_whatif_set *set = &w->sets[k];

		if ((double)set->loss.loss_ns < AS_MUCH * (double)most)
			continue;
		if (!best || set->n < best->n ||
		    (set->n == best->n && set->kind == CT_WHATIF_HOST) ||
		    (set->n == best->n && best->kind == CT_WHATIF_LATEST))
			best = set;
	}
	return best;
}

/* Each of them is slow, not only some: at least a third of what they hold on average beyond the usual, and steadily. */
static int are_all_slow(const struct ct_whatif *w, const struct ct_whatif_set *set)
{
	double sum = 0;

	for (uint32_t k = 0; k < set->n; k++)
		sum += w->usual.excess_ns[set->seats[k]];
	for (uint32_t k = 0; k < set->n; k++) {
		int steady = is_steady(w, set->seats[k]);

		if (steady < 1)
			return steady;
		if (3 * w->usual.excess_ns[set->seats[k]] * set->n < sum)
			return 0;
	}
	return 1;
}

/* Do they hold more beyond the usual than the others, by more than these differ? 1, 0, CT_NOMEM. */
static int stands_apart(const struct ct_whatif *w, const struct ct_model *model,
			const struct ct_whatif_set *set)
{
	double *excess = malloc(((size_t)model->n_seats + 1) * sizeof(*excess));
	uint8_t *in_set = calloc((size_t)model->n_seats + 1, 1);
	int apart = CT_NOMEM;

	for (uint32_t s = 0; excess && s < model->n_seats; s++)
		excess[s] = s < w->schedule.n_seats && w->usual.by_peers[s] ? w->usual.excess_ns[s]
									    : NAN;
	for (uint32_t k = 0; in_set && k < set->n; k++)
		in_set[set->seats[k]] = 1;
	if (excess && in_set)
		apart = ct_set_stands_apart(model, excess, in_set);
	free(excess);
	free(in_set);
	return apart;
}

/* Healthy ranks that are looked at together cost more than one of them: what sets of the same kind cost that share nobody. */
static int64_t chance_of(const struct ct_whatif *w, const struct ct_whatif_set *set)
{
	int64_t most = 0;

	for (uint32_t k = 0; k < w->n_sets; k++) {
		const struct ct_whatif_set *other = &w->sets[k];
		int shared = 0;

		for (uint32_t x = 0; x < set->n; x++)
			for (uint32_t y = 0; y < other->n; y++)
				shared |= set->seats[x] == other->seats[y];
		if (!shared && other->loss.loss_ns > most)
			most = other->loss.loss_ns;
	}
	return most;
}

int ct_whatif_slow_set(struct ct_whatif *w, const struct ct_lateness *late,
		       const struct ct_whatif_set **best, struct ct_replayed *r)
{
	const struct ct_whatif_set *set = w->is_close ? best_set(w) : NULL;
	int slow;

	*r = (struct ct_replayed){ 0 };
	if (!set || late->oversubscribed.processes)
		return 0;
	replay_set(w, set->seats, set->n, chance_of(w, set), r);
	if (!is_worth(late, r))
		return 0;
	slow = are_all_slow(w, set);
	if (slow > 0)
		slow = stands_apart(w, late->model, set);
	if (slow > 0)
		slow = does_recur(w, late, set->seats, set->n, set->kind == CT_WHATIF_LATEST, r);
	*best = set;
	return slow > 0 ? is_worth(late, r) : slow;
}

/* Of the run: a rank's gaps lie between two measured times each, and all of these may be off the same way. */
static double error_of_times(const struct ct_whatif *w, const struct ct_report *report)
{
	double gaps = (double)w->schedule.n_launches / w->schedule.n_seats;
	double err = report->run.time_err_p50_ns == CT_UNKNOWN
			     ? NAN
			     : (double)report->run.time_err_p50_ns;

	return 100 * gaps * err / (double)w->total_ns;
}

void ct_whatif_fill(const struct ct_whatif *w, struct ct_report *report)
{
	struct ct_report_whatif *to = &report->whatif;

	*to = (struct ct_report_whatif){ .free_gain_pct = NAN, .balance_ratio = NAN };
	if (!w->is_close || w->replayed_ns <= 0)
		return;
	to->free_gain_pct = 100 * (1 - (double)w->free_ns / (double)w->replayed_ns);
	to->error_pct = w->error_pct + error_of_times(w, report);
	to->balance_ratio = (double)w->usual_ns / (double)w->replayed_ns;
	to->is_contradicted = to->free_gain_pct + to->error_pct < 0;
	if (to->is_contradicted)
		to->free_gain_pct = to->balance_ratio = NAN;
}
