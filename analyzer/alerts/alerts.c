/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/alerts/alerts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/table.h"
#include "analyzer/base/units.h"
#include "analyzer/model/comm_spec.h"

/* size: subjects of a rule, and sets of ranks, that are followed. Of more in one window the rest is
 * not judged */
#define MOST_FOLLOWED 4096u

/* What is followed begins with it. */
struct followed {
	uint64_t seen; /* number of the latest window that named it */
};

/* What a rule is about: a kind of operations, a communicator, a set of ranks. */
struct subject {
	struct followed followed;
	double usual[CT_ALERT_HISTORY]; /* the latest windows that were not over the limit */
	uint32_t n_usual;
	uint32_t over;	 /* windows in a row */
	uint64_t judged; /* number of the latest window that counted */
};

/* A rule, or for stragglers one set of ranks. */
struct firing {
	struct followed followed;
	int is_on, is_silent;
	uint32_t clear; /* windows in a row */
	uint64_t fired_ns;
	uint32_t held_back;
};

struct ct_alerts {
	struct ct_alert_limits limits;
	struct ct_table subjects[CT_ALERT_RULES]; /* struct subject, owned */
	struct ct_table slow_ranks;		  /* struct firing, owned */
	struct firing rules[CT_ALERT_RULES];
	uint64_t windows;
};

/* One call of ct_alerts_take(). */
struct taking {
	struct ct_alerts *alerts;
	const struct ct_report *report;
	uint64_t now_ns;
	struct ct_arena *memory;
	struct ct_alert *events;
	size_t n, cap;
	const struct ct_table *full; /* all that it follows was seen in this window */
};

const char *ct_alert_rule_name(enum ct_alert_rule rule)
{
	static const char *const names[] = {
#define ALERT_RULE(RULE, name) name,
#include "analyzer/alerts/alerts.def"
	};

	return names[rule];
}

/* ---- subjects and firings ---- */

/* Make room: whatever was not seen in this window, and longest not. A job may make new
 * communicators as long as it runs. */
static void forget_longest_unseen(struct taking *t, struct ct_table *table)
{
	uint64_t oldest = t->alerts->windows, key = 0;

	for (size_t i = 0; i < table->cap; i++) {
		const struct followed *followed = table->slots[i].value;

		if (followed && followed->seen < oldest) {
			oldest = followed->seen;
			key = table->slots[i].key;
		}
	}
	if (oldest < t->alerts->windows)
		free(ct_table_remove(table, key));
	else
		t->full = table;
}

/* By key, made at its first use; NULL: out of memory, or there are too many. */
static void *of_key(struct taking *t, struct ct_table *table, uint64_t key, size_t bytes)
{
	struct followed *found = ct_table_get(table, key);

	if (!found) {
		if (table->n >= MOST_FOLLOWED && t->full != table)
			forget_longest_unseen(t, table);
		if (table->n >= MOST_FOLLOWED)
			return NULL;
		found = calloc(1, bytes);
		if (!found || ct_table_put(table, key, found) != CT_OK) {
			free(found);
			return NULL;
		}
	}
	found->seen = t->alerts->windows;
	return found;
}

static struct subject *subject_of(struct taking *t, enum ct_alert_rule rule, uint64_t what)
{
	return of_key(t, &t->alerts->subjects[rule], what, sizeof(struct subject));
}

/* The median of the windows before; NAN: there were too few. */
static double usual_of(const struct subject *subject)
{
	const uint32_t n = subject->n_usual < CT_ALERT_HISTORY ? subject->n_usual
							       : CT_ALERT_HISTORY;
	double sorted[CT_ALERT_HISTORY];

	if (n < CT_FEW_SAMPLES)
		return NAN;
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = subject->usual[i];
	qsort(sorted, n, sizeof(*sorted), ct_by_double);
	return sorted[n / 2];
}

static void note_usual(struct subject *subject, double value)
{
	subject->usual[subject->n_usual++ % CT_ALERT_HISTORY] = value;
}

/* One more window: has it been over often enough in a row? Windows between that say nothing of it
 * do not count, but so many of them begin a new row. */
static int counts_as_over(struct taking *t, struct subject *subject, int is_over, uint32_t unknown)
{
	if (t->alerts->windows - subject->judged > unknown)
		subject->over = 0;
	subject->judged = t->alerts->windows;
	subject->over = is_over ? subject->over + 1 : 0;
	return subject->over >= CT_ALERT_IN_A_ROW;
}

/* ---- events ---- */

static struct ct_alert *add(struct taking *t, const struct ct_alert *alert)
{
	struct ct_alert *to = &t->events[t->n];

	if (t->n == t->cap)
		return NULL;
	*to = *alert;
	t->n++;
	return to;
}

/* The rule, or one of its sets of ranks, is over its limit in this window: report it, unless that
 * was done. */
static void fire(struct taking *t, struct firing *firing, const struct ct_alert *alert)
{
	const uint64_t again_ns = t->alerts->limits.again_ns;
	struct ct_alert *event;

	firing->clear = 0;
	if (firing->is_on)
		return;
	firing->is_on = 1;
	firing->is_silent = firing->fired_ns && t->now_ns - firing->fired_ns < again_ns;
	if (firing->is_silent) {
		firing->held_back++;
		return;
	}
	firing->fired_ns = t->now_ns;
	event = add(t, alert);
	if (event && firing->held_back)
		event->text = ct_arena_printf(t->memory,
					      "%s; %" PRIu32 " more since the last report",
					      event->text, firing->held_back);
	firing->held_back = 0;
}

/* It is not over its limit in this window, which had enough to say so. */
static void calm(struct taking *t, struct firing *firing, enum ct_alert_rule rule, const char *text)
{
	const struct ct_alert over = {
		.rule = rule, .is_over = 1, .text = text, .value = NAN, .limit = NAN
	};

	if (!firing->is_on || ++firing->clear < CT_ALERT_CLEAR)
		return;
	if (!firing->is_silent)
		add(t, &over);
	firing->is_on = 0;
}

/* The outcome of a rule that has one firing. `worst` is the worst subject that is over its limit,
 * if n_over. */
static void conclude(struct taking *t, enum ct_alert_rule rule, int has_evidence,
		     const struct ct_alert *worst, uint32_t n_over)
{
	struct firing *firing = &t->alerts->rules[rule];
	struct ct_alert alert = { 0 };

	if (n_over) {
		alert = *worst;
		if (n_over > 1)
			alert.text = ct_arena_printf(t->memory, "%s; %" PRIu32 " more like it",
						     alert.text, n_over - 1);
		fire(t, firing, &alert);
	} else if (has_evidence) {
		calm(t, firing, rule,
		     ct_arena_printf(t->memory, "%s is as usual again", ct_alert_rule_name(rule)));
	}
}

/* ---- the rules ---- */

static const char *comm_text(struct taking *t, uint64_t hash, const char *name)
{
	return name ? name : ct_arena_printf(t->memory, "communicator %s", ct_comm_digits(hash).s);
}

static uint64_t what_of(const struct ct_report_op *op)
{
	uint64_t what = ct_mix(op->comm_hash + op->op);

	what = ct_mix(what + op->dtype);
	what = ct_mix(what + op->size_range);
	return ct_mix(what + (op->group ? (uint64_t)op->group[0] : 0));
}

static void judge_latency(struct taking *t)
{
	const double times = t->alerts->limits.latency_times;
	struct ct_alert worst = { 0 };
	double worst_ratio = 0;
	uint32_t n_over = 0, n_judged = 0;

	for (size_t i = 0; i < t->report->n_ops; i++) {
		const struct ct_report_op *op = &t->report->ops[i];
		struct subject *subject;
		double value, err, usual;
		int is_over;

		if (op->transfer_p50_ns == CT_UNKNOWN || op->instances < CT_LEAST_SAMPLES)
			continue;
		subject = subject_of(t, CT_ALERT_LATENCY, what_of(op));
		if (!subject)
			continue;
		value = (double)op->transfer_p50_ns;
		err = op->time_err_ns == CT_UNKNOWN ? 0 : (double)op->time_err_ns;
		usual = usual_of(subject);
		is_over = value - err > times * (usual + err);
		if (!is_over)
			note_usual(subject, value);
		n_judged += !isnan(usual);
		if (!counts_as_over(t, subject, is_over, CT_ALERT_CLEAR))
			continue;
		n_over++;
		if (value / usual <= worst_ratio)
			continue;
		worst_ratio = value / usual;
		worst = (struct ct_alert){
			.rule = CT_ALERT_LATENCY,
			.comm_hash = op->comm_hash,
			.value = value,
			.limit = times * usual,
			.unit = "ns",
			.text = ct_arena_printf(t->memory,
						"%s of %s on %s takes %s, %.1f times the usual %s",
						op->op_name ? op->op_name : "a group",
						ct_prose_bytes(op->bytes_each).s,
						comm_text(t, op->comm_hash, op->comm_name),
						ct_prose_ns(op->transfer_p50_ns).s, value / usual,
						ct_prose_ns((uint64_t)usual).s)
		};
	}
	conclude(t, CT_ALERT_LATENCY, n_judged > 0, &worst, n_over);
}

static const struct ct_report_comm *comm_of(const struct ct_report *report, uint64_t hash)
{
	for (size_t i = 0; hash && i < report->n_comms; i++)
		if (report->comms[i].hash == hash)
			return &report->comms[i];
	return NULL;
}

static void judge_bandwidth(struct taking *t)
{
	const double limit = t->alerts->limits.bandwidth_pct;
	struct ct_alert worst = { 0 };
	double worst_pct = INFINITY;
	uint32_t n_over = 0, n_judged = 0;

	for (size_t i = 0; i < t->report->n_links; i++) {
		const struct ct_report_link *link = &t->report->links[i];
		const struct ct_report_comm *comm = comm_of(t->report, link->comm_hash);
		struct subject *subject;
		double pct, err;

		if (!comm || !(comm->peak.Bps > 0) || link->beta_Bps == CT_UNKNOWN ||
		    link->beta_err_Bps == CT_UNKNOWN)
			continue;
		subject = subject_of(t, CT_ALERT_BANDWIDTH, comm->hash);
		if (!subject)
			continue;
		n_judged++;
		pct = 100 * (double)link->beta_Bps / comm->peak.Bps;
		err = 100 * (double)link->beta_err_Bps / comm->peak.Bps;
		if (!counts_as_over(t, subject, pct + err < limit, CT_ALERT_CLEAR))
			continue;
		n_over++;
		if (pct >= worst_pct)
			continue;
		worst_pct = pct;
		worst = (struct ct_alert){
			.rule = CT_ALERT_BANDWIDTH,
			.comm_hash = comm->hash,
			.value = pct,
			.limit = limit,
			.unit = "%",
			.text = ct_arena_printf(
				t->memory, "large transfers on %s reach %s, %.0f %% of %s (%s)",
				comm_text(t, comm->hash, comm->name),
				ct_prose_Bps(link->beta_Bps).s, pct,
				ct_prose_Bps((uint64_t)comm->peak.Bps).s, comm->peak.from)
		};
	}
	conclude(t, CT_ALERT_BANDWIDTH, n_judged > 0, &worst, n_over);
}

static void judge_errors(struct taking *t, const struct ct_alert_counts *counts)
{
	struct subject *subject = subject_of(t, CT_ALERT_ERRORS, 0);
	struct ct_alert alert = { .rule = CT_ALERT_ERRORS, .unit = "%" };
	double pct, before;
	int is_over;

	if (!subject || counts->ops < CT_LEAST_SAMPLES)
		return;
	pct = 100 * (double)counts->failed / (double)counts->ops;
	/* a job begins without errors */
	before = usual_of(subject);
	before = isnan(before) ? 0 : before;
	is_over = pct - before > t->alerts->limits.errors_points;
	if (!is_over)
		note_usual(subject, pct);
	alert.value = pct;
	alert.limit = before + t->alerts->limits.errors_points;
	alert.text = ct_arena_printf(t->memory,
				     "%.1f %% of operations failed (%" PRIu64 " of %" PRIu64
				     "), %.1f %% before",
				     pct, counts->failed, counts->ops, before);
	conclude(t, CT_ALERT_ERRORS, 1, &alert, (uint32_t)is_over);
}

/* ---- stragglers ---- */

static int names_slow_ranks(const struct ct_finding *f)
{
	return (f->kind == CT_FINDING_STRAGGLER || f->kind == CT_FINDING_STRAGGLER_HOST ||
		f->kind == CT_FINDING_STRAGGLER_GROUP) &&
	       f->confidence >= CT_CONFIDENCE_MEDIUM && f->n_ranks && !f->is_undecided;
}

static uint64_t ranks_key(const struct ct_finding *f)
{
	uint64_t key = 0;

	for (size_t i = 0; i < f->n_ranks; i++)
		key = ct_mix(key + (uint64_t)f->ranks[i] + 1);
	return key;
}

/* Those of the sets on record that this window does not name. */
static void calm_others(struct taking *t)
{
	const struct ct_table *sets = &t->alerts->slow_ranks;

	for (size_t i = 0; i < sets->cap; i++) {
		struct firing *firing = sets->slots[i].value;

		if (firing && firing->followed.seen != t->alerts->windows)
			calm(t, firing, CT_ALERT_STRAGGLER, "the slow ranks keep the pace again");
	}
}

static void judge_straggler(struct taking *t)
{
	const double limit = t->alerts->limits.straggler_pct;

	for (size_t i = 0; i < t->report->n_findings; i++) {
		const struct ct_finding *f = &t->report->findings[i];
		struct ct_alert alert = { .rule = CT_ALERT_STRAGGLER, .unit = "%", .limit = limit };
		struct subject *subject;
		struct firing *firing;

		if (!names_slow_ranks(f) || f->time_lost_pct < limit)
			continue;
		subject = subject_of(t, CT_ALERT_STRAGGLER, ranks_key(f));
		firing = of_key(t, &t->alerts->slow_ranks, ranks_key(f), sizeof(*firing));
		if (!subject || !firing)
			continue;
		alert.ranks = f->ranks;
		alert.n_ranks = f->n_ranks;
		alert.hosts = f->hosts;
		alert.n_hosts = f->n_hosts;
		alert.value = f->time_lost_pct;
		alert.text = ct_arena_printf(t->memory, "%s: %s (confidence %s)",
					     ct_finding_title(f->kind), f->headline,
					     ct_confidence_name(f->confidence));
		/* in a row: the window before named them, too */
		if (counts_as_over(t, subject, 1, 1))
			fire(t, firing, &alert);
	}
	if (t->report->verdict.code != CT_VERDICT_NOT_ENOUGH_EVIDENCE)
		calm_others(t);
}

/* ---- all of them ---- */

int ct_alerts_take(struct ct_alerts *alerts, const struct ct_report *report,
		   const struct ct_alert_counts *counts, uint64_t now_ns, struct ct_arena *memory,
		   struct ct_alert **events, size_t *n_events)
{
	const struct ct_alert_limits *limits = &alerts->limits;
	struct taking t = { .alerts = alerts, .report = report, .now_ns = now_ns, .memory = memory };

	/* each rule reports one event, and each set of slow ranks */
	t.cap = CT_ALERT_RULES + alerts->slow_ranks.n + report->n_findings;
	t.events = ct_arena_calloc(memory, t.cap, sizeof(*t.events));
	*events = t.events;
	*n_events = 0;
	if (!t.events)
		return CT_NOMEM;
	alerts->windows++;
	if (limits->latency_times > 0)
		judge_latency(&t);
	if (limits->bandwidth_pct > 0)
		judge_bandwidth(&t);
	if (limits->errors_points > 0)
		judge_errors(&t, counts);
	if (limits->straggler_pct > 0)
		judge_straggler(&t);
	*n_events = t.n;
	return ct_arena_failed(memory) ? CT_NOMEM : CT_OK;
}

static int on_op(void *arg, const struct ct_stream *stream, const struct ct_op_event *event)
{
	struct ct_alert_counts *counts = arg;

	(void)stream;
	counts->ops++;
	counts->failed += event->op->joined.state == CT_STATE_ERROR;
	return CT_OK;
}

void ct_alert_counts_observe(struct ct_alert_counts *counts, struct ct_observer *observer)
{
	*counts = (struct ct_alert_counts){ 0 };
	*observer = (struct ct_observer){ .op = on_op, .arg = counts };
}

struct ct_alerts *ct_alerts_new(const struct ct_alert_limits *limits)
{
	struct ct_alerts *alerts = calloc(1, sizeof(*alerts));

	if (alerts)
		alerts->limits = *limits;
	return alerts;
}

static void free_table(struct ct_table *table)
{
	for (size_t i = 0; i < table->cap; i++)
		free(table->slots[i].value);
	ct_table_fini(table);
}

void ct_alerts_free(struct ct_alerts *alerts)
{
	if (!alerts)
		return;
	for (int i = 0; i < CT_ALERT_RULES; i++)
		free_table(&alerts->subjects[i]);
	free_table(&alerts->slow_ranks);
	free(alerts);
}
