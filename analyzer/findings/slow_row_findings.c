/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/slow_row_findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/causes.h"
#include "analyzer/findings/finding_text.h"
#include "analyzer/findings/verdict_text.h"
#include "analyzer/lateness/replay/limits.h"
#include "analyzer/model/names.h"
#include "analyzer/model/site_text.h"
#include "trace/status.h"

struct slow_findings {
	const struct ct_replay_judgement *judgement;
	const struct ct_model *model;
	const struct ct_sites *sites;
	const struct ct_report_whatif *whatif;
	int waits_for_cores; /* a machine runs more processes of the job than it has cores for */
	struct ct_findings *list;
	uint32_t ranks, others; /* slow rows that are single ranks, and that are not */
};

static enum ct_finding_kind kind_of(enum ct_slow_kind kind)
{
	switch (kind) {
	case CT_SLOW_HOST:
		return CT_FINDING_STRAGGLER_HOST;
	case CT_SLOW_GROUP:
		return CT_FINDING_STRAGGLER_GROUP;
	case CT_SLOW_STAGE:
		return CT_FINDING_SLOW_STAGE;
	case CT_SLOW_RANK:
		break;
	}
	return CT_FINDING_STRAGGLER;
}

static void put_who(const struct ct_slow_row *row, struct ct_findings *list, struct ct_finding *f)
{
	ct_finding_put_who(list, f);
	if (row->kind == CT_SLOW_GROUP)
		ct_finding_put_comm(list, f, row->comm->hash);
	if (row->kind == CT_SLOW_STAGE)
		ct_finding_put(list, f, "stage", "%u", row->which);
}

/* ---- what the loss is ---- */

/* Moving work to the other stages makes these longer: the gain is at most that of an even job (ns
 * of the run, at most the loss). NAN: unknown. */
static double gain_if_moved(const struct slow_findings *t, const struct ct_slow_row *row,
			    uint64_t loss, double *err)
{
	const struct ct_report_whatif *w = t->whatif;
	const struct ct_replay_judgement *j = t->judgement;
	double share, run;

	*err = NAN;
	if (isnan(w->s) || row->which >= w->n_stages)
		return NAN;
	share = fmax(0, fmin(w->s - 1, w->stages[row->which].s - 1)) / w->s;
	run = (double)ct_replay_of_run(j, share * j->engine.played, t->model->duration_ns);
	*err = (double)ct_replay_of_run(j, w->s_err / (w->s * w->s) * j->engine.played,
					t->model->duration_ns);
	return fmin(run, (double)loss);
}

/* "stage 3", "host node1". */
static const char *others_text(const struct slow_findings *t)
{
	const struct ct_slow_rows *rows = &t->judgement->rows;
	struct ct_arena *memory = t->list->memory;
	const char *text = "";

	for (uint32_t k = 0, n = 0; k < rows->n; k++) {
		const struct ct_slow_row *row = &rows->all[k];
		const char *before = n ? ", " : "";

		if (row->kind == CT_SLOW_RANK)
			continue;
		n++;
		text = ct_arena_printf(
			memory, "%s%s%s", text, before,
			ct_finding_part(memory,
					row->kind == CT_SLOW_STAGE  ? CT_PART_SLOW_STAGE
					: row->kind == CT_SLOW_HOST ? CT_PART_SLOW_HOST
								    : CT_PART_SLOW_GROUP,
					CT_WORDS({ "{stage}", ct_text_exact(row->which).s })));
	}
	return text;
}

/* Has one host just the ranks of this stage? Then more work and a slow host look the same. */
static int is_stage_a_host(const struct ct_model *model, const struct ct_slow_row *row)
{
	uint32_t host = model->host_of[row->slots[0]], on_host = 0, in_row = 0;

	if (row->kind != CT_SLOW_STAGE)
		return 0;
	for (uint32_t s = 0; s < model->n_slots; s++)
		on_host += model->host_of[s] == host;
	for (uint32_t k = 0; k < row->n; k++)
		in_row += model->host_of[row->slots[k]] == host;
	return in_row == row->n && on_host == row->n;
}

#define NOTE_WORDS 4u /* size: of a note on the loss */

static void add_note(const struct slow_findings *t, struct ct_finding *f, enum ct_finding_part part,
		     const struct ct_word words[NOTE_WORDS])
{
	const char *text = ct_finding_part(t->list->memory, part, words, NOTE_WORDS);

	f->note = f->note ? ct_arena_printf(t->list->memory, "%s; %s", f->note, text) : text;
}

/* Where several are slow: for ranks, the remaining cost when the others are repaired; otherwise
 * each by itself. */
static void say_loss(const struct slow_findings *t, const struct ct_slow_row *row,
		     struct ct_finding *f)
{
	double err = NAN, moved = NAN;
	uint64_t run = t->model->duration_ns,
		 alone = ct_replay_of_run(t->judgement, row->gain_ns, run);

	if (row->kind == CT_SLOW_STAGE)
		moved = gain_if_moved(t, row, f->time_lost_ns, &err);
	const struct ct_word words[] = {
		{ "{others}", others_text(t) },
		{ "{alone}", ct_arena_printf(t->list->memory, "%s", ct_prose_ns(alone).s) },
		{ "{gain}", ct_arena_printf(t->list->memory, "%s", ct_prose_ns_err(moved, err).s) },
		{ "{host}", f->hosts[0] },
	};

	if (row->kind == CT_SLOW_RANK && t->others)
		add_note(t, f, CT_PART_LOSS_AFTER_OTHERS, words);
	else if (row->kind == CT_SLOW_RANK && t->ranks > row->n)
		add_note(t, f, CT_PART_OTHERS_SLOW, words);
	else if (row->kind != CT_SLOW_RANK && t->others + (t->ranks != 0) > 1)
		add_note(t, f, CT_PART_LOSS_ALONE, words);
	if (t->judgement->engine.has_graphs)
		add_note(t, f, CT_PART_GRAPHS_HIDE, words);
	/* otherwise it repeats the loss */
	if (moved < (double)f->time_lost_ns)
		add_note(t, f, CT_PART_IF_MOVED, words);
	if (is_stage_a_host(t->model, row))
		add_note(t, f, CT_PART_STAGE_IS_HOST, words);
	if (row->kind == CT_SLOW_STAGE)
		ct_finding_evidence(t->list, f, "gain_if_moved", moved, "ns", err);
}

/* Around the loss, in the program. */
static void set_where(const struct slow_findings *t, const struct ct_slow_row *row,
		      struct ct_finding *f)
{
	const struct ct_site *before = ct_sites_at(t->sites, row->site_before);
	const struct ct_site *after = ct_sites_at(t->sites, row->site_after);

	if (before && after)
		f->where = ct_sites_between(t->list->memory, before->text, after->text);
}

/* ---- findings ---- */

static enum ct_confidence by_error(double gain, double err)
{
	if (2 * err > gain)
		return CT_CONFIDENCE_LOW;
	return 4 * err > gain ? CT_CONFIDENCE_MEDIUM : CT_CONFIDENCE_HIGH;
}

/* How the loss of a row compares with how long its ranks waited for CPU cores. */
struct cores {
	int are_short;	       /* a core short, or they waited as long as it */
	int are_short_for_all; /* and others do, too: which gets least may be chance */
	int explain_it;	       /* they waited longer than the others by most of it */
};

static struct cores cores_of(const struct slow_findings *t, const struct ct_slow_row *row,
			     struct ct_finding *f)
{
	const double loss = (double)f->time_lost_ns;
	struct cores cores = { .are_short = t->waits_for_cores,
			       .are_short_for_all = t->waits_for_cores };
	struct ct_arena *memory = t->list->memory;
	double theirs, others;

	ct_cores_waited_of(t->model, row->slots, row->n, &theirs, &others);
	if (!(theirs >= loss))
		return cores;
	cores.are_short = 1;
	cores.are_short_for_all |= others >= loss;
	cores.explain_it = theirs - others >= CT_MOST * loss;
	f->waited_for_cores = ct_finding_part(
		memory, CT_PART_WAITED_FOR_CORES,
		CT_WORDS({ "{ranks}",
			   ct_ranks_words(memory, f->ranks, f->n_ranks, CT_RANKS_SHOWN) },
			 { "{theirs}", ct_prose_ns(ct_round_whole(theirs)).s },
			 { "{others}", ct_prose_ns(ct_round_whole(others)).s }));
	ct_finding_evidence(t->list, f, "waited_for_cores", theirs, "ns", NAN);
	ct_finding_evidence(t->list, f, "others_waited_for_cores", others, "ns", NAN);
	return cores;
}

/* By the certainty of the gain. Which rank waits most for cores may be chance for the length of a
 * run; so may a property that several ranks share without being a group. */
static enum ct_confidence confidence_of(const struct slow_findings *t,
					const struct ct_slow_row *row, struct cores cores,
					double gain, double err, double time_lost_pct)
{
	int is_any_set = row->kind == CT_SLOW_RANK && row->n > 1;
	/* where an even job contradicts itself, the loss may be larger than the replay shows */
	int is_little = time_lost_pct < CT_CORES_BY_CHANCE_PCT && !t->whatif->why_not;

	if ((cores.are_short_for_all && (is_any_set || is_little || cores.explain_it)) ||
	    (t->judgement->engine.is_of_hosts && gain < CT_BUSY_NS))
		return CT_CONFIDENCE_LOW;
	if (2 * err <= gain &&
	    (cores.are_short || t->judgement->engine.has_graphs || is_stage_a_host(t->model, row)))
		return CT_CONFIDENCE_MEDIUM;
	return by_error(gain, err);
}

/* Upper bound of what repairing the row gains (ns of the run). Where hosts time, nothing was hidden
 * from the replay. Where the replay guesses when launches were ready, the bound is how much longer
 * others waited than the row's ranks. */
static uint64_t most_of(const struct slow_findings *t, const struct ct_slow_row *row)
{
	const struct ct_engine *e = &t->judgement->engine;

	if (e->is_of_hosts)
		return UINT64_MAX;
	return ct_engine_guesses(e) ? ct_most_gained(t->model, row->slots, row->n)
				    : ct_most_exposed(t->model);
}

static void add_finding(struct slow_findings *t, const struct ct_slow_row *row, double gain)
{
	const struct ct_replay_judgement *j = t->judgement;
	uint64_t run = t->model->duration_ns, loss, cost_ns;
	uint64_t most = most_of(t, row);
	uint64_t all = ct_replay_of_run(j, gain, run);
	double err = j->rows.gain_err_ns;
	double steps = row->singles ? row->singles : row->last - row->first + 1;
	double in_run = steps * j->engine.n_run / j->engine.n_steps, in_steps;
	const struct ct_class *class = ct_classes_costliest(&t->model->classes, row->slots[0],
							    &cost_ns);
	struct ct_finding *f;
	struct cores cores;

	/* time hidden by compute costs nothing; without a bound, all that is guessed may have been
	 * hidden */
	loss = ct_min(all, most);
	if (most == UINT64_MAX && !j->engine.is_of_hosts)
		err = fmax(err, gain * ct_engine_guessed(&j->engine));
	in_steps = (double)loss * ct_replay_in_steps(j);
	if (!ct_finding_is_worth(t->list, in_steps, 0, CT_LEAST_GAIN))
		return;
	f = ct_findings_add(t->list, kind_of(row->kind));
	ct_finding_slots(t->model, row->slots, row->n, t->list, f);
	f->is_replayed = 1;
	ct_finding_loss(t->list, f, loss, ct_replay_of_run(j, err, run), in_steps);
	cores = cores_of(t, row, f);
	f->confidence = confidence_of(t, row, cores, gain, err, f->time_lost_pct);
	f->comm_hash = row->kind == CT_SLOW_GROUP ? row->comm->hash : class ? class->comm->hash : 0;
	f->op_name = class && class->op ? ct_op_names_get(&t->model->names, class->op) : NULL;
	f->begin_at_ns = row->first ? (uint64_t)j->engine.end_ns[row->first - 1]
				    : t->model->from_ns;
	f->end_at_ns = row->last + 1 < j->engine.n_steps ? (uint64_t)j->engine.end_ns[row->last]
							 : t->model->end_ns;
	ct_finding_set_cause(f, cores.explain_it	     ? CT_WHY_CORES
				: row->kind == CT_SLOW_STAGE ? CT_WHY_LONG_STAGE
				: row->n == 1		     ? CT_WHY_LATE
							     : CT_WHY_LATE_TOGETHER);
	if (row->kind == CT_SLOW_STAGE)
		ct_finding_evidence(t->list, f, "stage", row->which, "", NAN);
	ct_finding_evidence(t->list, f, "steps", steps, "count", NAN);
	if (row->singles)
		ct_finding_evidence(t->list, f, "single_steps", row->singles, "count", NAN);
	ct_finding_evidence(t->list, f, "late_but_hidden",
			    most == UINT64_MAX ? NAN : (double)(all - loss), "ns", NAN);
	ct_finding_evidence(t->list, f, "gain_alone",
			    (double)ct_min(ct_replay_of_run(j, row->gain_ns, run), most), "ns",
			    NAN);
	f->per_step_ns = (double)loss / in_run;
	say_loss(t, row, f);
	set_where(t, row, f);
	put_who(row, t->list, f);
	ct_finding_put_time_lost(t->list, f, "time_lost");
	ct_finding_put(t->list, f, "per_step", "%s", ct_text_ns(ct_round_whole(f->per_step_ns)).s);
	ct_finding_put(t->list, f, "slow_steps", "%u/%u", (unsigned)steps, j->engine.n_steps);
}

/* The rank whose repair alone gains at least half of what repairing all slow ranks gains, or NULL.
 */
static const struct ct_slow_row *slowest_by_far(const struct slow_findings *t, double gain)
{
	const struct ct_slow_rows *rows = &t->judgement->rows;

	for (uint32_t k = 0; k < rows->n; k++) {
		if (rows->all[k].kind == CT_SLOW_RANK && rows->all[k].gain_ns >= gain / 2)
			return &rows->all[k];
	}
	return NULL;
}

/* Are they late at one stretch of the program? */
static void join_sites(struct ct_slow_row *all, const struct ct_slow_row *row)
{
	if (!all->n) {
		all->site_before = row->site_before;
		all->site_after = row->site_after;
	} else if (all->site_before != row->site_before || all->site_after != row->site_after) {
		all->site_before = all->site_after = 0;
	}
}

/* Several ranks that are neither a host nor a group are reported together: each alone gains little
 * while the others are slow. Where ranks wait for cores, the others may be slow by chance, so the
 * slowest by far is reported alone. */
static int add_ranks(struct slow_findings *t, double gain)
{
	const struct ct_slow_rows *rows = &t->judgement->rows;
	const struct ct_slow_row *slowest = t->waits_for_cores && t->ranks > 1 && !t->others
						    ? slowest_by_far(t, gain)
						    : NULL;
	struct ct_slow_row all = { .kind = CT_SLOW_RANK, .first = UINT32_MAX, .t = INFINITY };

	if (slowest) {
		add_finding(t, slowest, slowest->gain_ns);
		return CT_OK;
	}
	all.slots = malloc(((size_t)rows->n + 1) * sizeof(*all.slots));
	if (!all.slots)
		return CT_NOMEM;
	for (uint32_t k = 0; k < rows->n; k++) {
		const struct ct_slow_row *row = &rows->all[k];

		if (row->kind != CT_SLOW_RANK)
			continue;
		join_sites(&all, row);
		all.slots[all.n++] = row->slots[0];
		all.singles = rows->n == 1 ? row->singles : 0;
		all.excess_ns += row->excess_ns;
		all.gain_ns = fmax(all.gain_ns, row->gain_ns);
		all.t = fmin(all.t, row->t);
		all.first = row->first < all.first ? row->first : all.first;
		all.last = row->last > all.last ? row->last : all.last;
	}
	all.excess_ns /= all.n ? all.n : 1;
	qsort(all.slots, all.n, sizeof(*all.slots), ct_by_u32);
	if (all.n)
		add_finding(t, &all, gain);
	free(all.slots);
	return CT_OK;
}

/* Longer than the mean of its stage, of that; NAN: unknown. */
static double longer_by(const struct ct_engine *e, uint32_t slot)
{
	double mean = ct_engine_stage_mean(e, e->stages.stage_of[slot]);

	return mean > 0 ? e->mean_ns[slot] / mean - 1 : NAN;
}

/* Which ranks compute longest, where the differences are the same in all steps. */
static const char *slowest_text(const struct slow_findings *t)
{
	const struct ct_engine *e = &t->judgement->engine;
	struct ct_arena *memory = t->list->memory;
	int *ranks = ct_arena_calloc(memory, e->schedule.n_slots + 1, sizeof(*ranks));
	double most = 0;
	size_t n = 0;

	for (uint32_t s = 0; s < e->schedule.n_slots; s++)
		most = fmax(most, longer_by(e, s));
	for (uint32_t s = 0; ranks && s < e->schedule.n_slots; s++) {
		if (longer_by(e, s) >= CT_NEARLY_ALL * most)
			ranks[n++] = t->model->slots[s].rank;
	}
	if (!n)
		return NULL;
	qsort(ranks, n, sizeof(*ranks), ct_by_int);
	return ct_finding_part(
		memory, CT_PART_SLOWEST_IN_ALL,
		CT_WORDS({ "{ranks}", ct_ranks_words(memory, ranks, n, CT_RANKS_SHOWN) }));
}

/* The loss from differences between ranks with equal work. No rank is at fault. */
static void add_imbalance(struct slow_findings *t, double ns)
{
	const struct ct_replay_judgement *j = t->judgement;
	uint64_t run = t->model->duration_ns, lost = ct_replay_of_run(j, ns, run);
	double err = j->uneven.err_ns + ns * ct_engine_error(&j->engine), waited = 0;
	struct ct_finding *f;

	/* losses of a few steps are stalls */
	if (ns <= err)
		return;
	f = ct_findings_add(t->list, CT_FINDING_IMBALANCE);

	/* stalls explain a part of it */
	if (j->rows.singles_ns >= ns / 2)
		f->note = ct_finding_part(t->list->memory,
					  j->rows.n_stalled > 1 ? CT_PART_STALLS_OF_RANKS
								: CT_PART_SINGLE_STEPS,
					  CT_WORDS({ "{n}", ct_text_exact(j->rows.n_stalled).s }));
	f->is_replayed = 1;
	ct_finding_loss(t->list, f, lost, ct_replay_of_run(j, err, run),
			(double)lost * ct_replay_in_steps(j));
	/* where an even job contradicts itself, not all waited-for work is recorded; and ranks that
	 * share cores take turns */
	for (uint32_t s = 0; s < t->model->n_slots; s++)
		waited += ct_cores_waited(t->model, s) / t->model->n_slots;
	f->confidence = t->whatif->why_not || t->waits_for_cores ||
					waited >= (double)f->time_lost_ns
				? CT_CONFIDENCE_LOW
				: by_error(ns, err);
	f->begin_at_ns = t->model->from_ns;
	f->end_at_ns = t->model->end_ns;
	if (f->confidence == CT_CONFIDENCE_LOW) {
		ct_finding_set_cause(f, CT_WHY_UNEVEN_TIMES);
	} else if (!j->rows.n && j->uneven.steady > CT_MOST) {
		/* GPUs of one model differ by as much, too */
		f->confidence = CT_CONFIDENCE_MEDIUM;
		ct_finding_set_cause(f, CT_WHY_UNEVEN_RANKS);
		f->note = slowest_text(t);
	} else {
		ct_finding_set_cause(f, CT_WHY_UNEVEN_WORK);
	}
	ct_finding_put_time_lost(t->list, f, "time_lost");
}

int ct_slow_row_findings(const struct ct_replay_judgement *j, const struct ct_model *model,
			 const struct ct_sites *sites, const struct ct_report_whatif *whatif,
			 const struct ct_oversubscribed *machine, struct ct_findings *list)
{
	struct slow_findings t = { .judgement = j,
				   .model = model,
				   .sites = sites,
				   .whatif = whatif,
				   .waits_for_cores = machine->processes != 0,
				   .list = list };
	const struct ct_slow_rows *rows = &j->rows;
	double left = rows->gain_ns, uneven = j->uneven.ns;

	for (uint32_t k = 0; k < rows->n; k++) {
		t.ranks += rows->all[k].kind == CT_SLOW_RANK;
		t.others += rows->all[k].kind != CT_SLOW_RANK;
	}
	for (uint32_t k = 0; k < rows->n; k++) {
		const struct ct_slow_row *row = &rows->all[k];
		/* for one row it is all of the gain */
		double gain = t.others == 1 && !t.ranks ? rows->gain_ns : row->gain_ns;

		if (row->kind == CT_SLOW_RANK ||
		    (row->kind == CT_SLOW_STAGE && j->even.s < CT_LEAST_S))
			continue;
		add_finding(&t, row, gain);
		left -= gain;
		if (row->kind != CT_SLOW_STAGE)
			uneven -= gain;
	}
	if (t.ranks) {
		if (add_ranks(&t, left) != CT_OK)
			return CT_NOMEM;
		uneven -= left;
	}
	/* it may explain most waits, which is unknown */
	if (!rows->n && ct_replay_unexplained(j) > 0)
		return CT_OK;
	/* graphs hide compute: a rank that seems even may be slow */
	if (j->engine.has_graphs || !(uneven > CT_UNEVEN * j->engine.played))
		return CT_OK;
	add_imbalance(&t, uneven);
	return CT_OK;
}
