/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/straggler_findings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/findings/causes.h"
#include "analyzer/lateness/lateness.h"
#include "analyzer/model/clocks.h"
#include "analyzer/model/model.h"
#include "analyzer/model/names.h"
#include "trace/ops.h"

/* So many times the distance of ends that are one moment is less than a lateness that it does not decide. */
#define SKEW_BELOW 10

/* Is it known how far apart ends are that are one moment? By a communicator of one host, or by two ranks of a host in a
 * larger one (the clocks' self-test), if that is small beside the lateness. */
static int is_skew_known(const struct ct_lateness *late, const struct ct_suspect *s)
{
	uint64_t late_ns = ct_hist_quantile(&s->charges, 0.5), worst_ns = 0;
	int n = 0;

	for (uint32_t h = 0; h < late->model->attempts->n_hosts; h++) {
		const struct ct_clock_host *host = ct_clocks_host(late->model->attempts->clocks, h);

		if (!host || host->selftest_ns == CT_CLOCK_UNKNOWN)
			continue;
		worst_ns = host->selftest_ns > worst_ns ? host->selftest_ns : worst_ns;
		n++;
	}
	return late->has_skew || (n && SKEW_BELOW * worst_ns < late_ns);
}

/* How sure the order of arrival is, and with it the blame; and how sure the loss, by the size of its error. */
static enum ct_confidence confidence_of(const struct ct_lateness *late, const struct ct_suspect *s,
					const struct ct_charge *charge)
{
	if (2 * charge->err_ns > charge->loss_ns)
		return CT_CONFIDENCE_LOW;
	if (2 * s->loose >= s->hits)
		return is_skew_known(late, s) ? CT_CONFIDENCE_MEDIUM : CT_CONFIDENCE_LOW;
	return 4 * charge->err_ns > charge->loss_ns ? CT_CONFIDENCE_MEDIUM : CT_CONFIDENCE_HIGH;
}

int ct_finding_seats(const struct ct_model *model, const uint32_t *seats, size_t n,
		     struct ct_findings *list, struct ct_finding *f)
{
	struct ct_arena *memory = list->memory;
	int *ranks = ct_arena_calloc(memory, n + 1, sizeof(*ranks));

	f->hosts = ct_arena_calloc(memory, n + 1, sizeof(*f->hosts));
	if (!ranks || !f->hosts)
		return CT_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *name = model->attempts->hosts[model->seats[seats[i]].host].name;
		const char *host = ct_arena_text(memory, name,
						 sizeof(((struct ct_process *)0)->host));
		size_t known = 0;

		if (!host)
			return CT_NOMEM;
		ranks[i] = model->seats[seats[i]].rank;
		while (known < f->n_hosts && strcmp(f->hosts[known], host) != 0)
			known++;
		if (known == f->n_hosts)
			f->hosts[f->n_hosts++] = host;
	}
	return ct_finding_ranks(list, f, ranks, n);
}

/* A bound has to hold what nobody is charged with, too: what came late or transferred slowly, which of the two is not known
 * (of anybody, since where a kernel waits for room the one who came last may be any); the time in operations that did not
 * hold the rank up, where its kernel may have waited for room; and the first round, in which all meet for the first time.
 * But no more than somebody stood waiting. */
static uint64_t upper_bound(const struct ct_lateness *late, const struct ct_charge *c)
{
	uint64_t own = c->by_cycles_ns > c->loss_ns ? c->by_cycles_ns : c->loss_ns;
	uint64_t most = own + late->late_or_slow.spans.total;

	if (c->recurs.rounds)
		most += own / c->recurs.rounds;
	if (c->has_hidden && most > c->most_ns)
		most = c->most_ns > c->loss_ns ? c->most_ns : c->loss_ns;
	return most;
}

/* What it cost, how sure that is, and the evidence. */
static int set_late(const struct ct_lateness *late, uint32_t seat, const struct ct_charge *charge,
		    struct ct_findings *list, struct ct_finding *f)
{
	const struct ct_suspect *s = &late->blame.suspects[seat];
	uint64_t cost_ns;
	const struct ct_class *class = ct_classes_costliest(&late->model->classes, seat, 1,
							    &cost_ns);
	int on_gpu = late->model->seats[seat].timing >= CT_TIMING_HOST;
	enum ct_severity by_charge;

	ct_finding_loss(f, charge->loss_ns, charge->err_ns, late->model->duration_ns);
	by_charge = f->severity;
	f->at_most = on_gpu;
	f->is_bounded = charge->has_hidden;
	if (f->at_most)
		ct_finding_loss(f, upper_bound(late, charge), charge->err_ns,
				late->model->duration_ns);
	/* how severe it is what it is charged with tells; a bound that nothing has cut may be several times the truth */
	if (f->at_most && f->severity > by_charge)
		f->severity = by_charge;
	if (f->at_most && !f->is_bounded && f->severity > CT_SEVERITY_WARN)
		f->severity = CT_SEVERITY_WARN;
	f->confidence = confidence_of(late, s, charge);
	f->comm_key = class ? class->comm->key : 0;
	f->op_name = class && class->op ? ct_op_names_get(&late->model->names, class->op) : NULL;
	ct_timeline_bounds(&s->when, &f->begin_at_ns, &f->end_at_ns);
	if (f->end_at_ns > late->model->duration_ns)
		f->end_at_ns = late->model->duration_ns;
	ct_finding_because(f, CT_WHY_LATE);
	if (ct_finding_evidence(list, f, "times_last", (double)charge->recurs.hits, "count", NAN) ||
	    ct_finding_evidence(list, f, "times_anybody_last", (double)charge->recurs.trials,
				"count", NAN) ||
	    ct_finding_evidence(list, f, "lateness_p50", (double)ct_hist_quantile(&s->charges, 0.5),
				"ns", (double)(s->hits ? s->err_ns / s->hits : 0)) ||
	    ct_finding_evidence(list, f, "log10_chance", charge->recurs.log10_p, "", NAN))
		return CT_NOMEM;
	if (f->at_most && late->late_or_slow.spans.total &&
	    ct_finding_evidence(list, f, "late_or_slow", (double)late->late_or_slow.spans.total,
				"ns", NAN))
		return CT_NOMEM;
	return on_gpu ? ct_finding_evidence(list, f, "hidden_behind_computing",
					    charge->has_hidden ? (double)charge->hidden_ns : NAN,
					    "ns", NAN)
		      : CT_OK;
}

int ct_finding_straggler(const struct ct_lateness *late, uint32_t seat,
			 const struct ct_charge *charge, struct ct_findings *list)
{
	struct ct_finding *f = ct_findings_add(list, CT_FINDING_STRAGGLER);
	const char *host;

	if (!f || ct_finding_seats(late->model, &seat, 1, list, f) ||
	    set_late(late, seat, charge, list, f))
		return CT_NOMEM;
	host = ct_host_word(list->memory, f->hosts[0]);
	if (!host)
		return CT_NOMEM;
	/* When that was follows, as cycles tell it (findings/time_structure.c). */
	f->line = ct_arena_printf(
		list->memory, "rank=%d host=%s loss%s%s±%s share=%s last=%llu/%llu", f->ranks[0],
		host, f->at_most ? "<=" : "=", ct_text_ns(f->loss_ns).s,
		ct_text_ns(f->loss_err_ns).s, ct_text_pct(f->loss_pct).s,
		(unsigned long long)charge->recurs.hits, (unsigned long long)charge->recurs.trials);
	return f->line ? CT_OK : CT_NOMEM;
}

/* What to do about it. Where nobody counted what is missing, no setting of the recorder is to blame. */
static const char *advice_on_losses(const struct ct_report *report, struct ct_arena *memory)
{
	const struct ct_report_process *damaged = NULL;
	const char *what;

	for (size_t p = 0; p < report->n_processes && !damaged; p++)
		damaged = report->processes[p].damage_why ? &report->processes[p] : NULL;
	if (report->lost_records)
		return "see `commtrace info` for reasons; a larger COMMTRACE_RING_MB or a faster "
		       "COMMTRACE_DIR keeps more";
	if (damaged) {
		/* A file that its own machine has cut off by itself is no bad copy. */
		what = strcmp(damaged->ring, "lost") == 0 && !damaged->skipped_bytes
			       ? "its process died while it wrote, and its ring is gone"
			       : "if it was copied before its job had ended, or not whole, "
				 "copy the file again";
		return ct_arena_printf(memory, "%s: %s; what is missing is unknown",
				       damaged->damage_why, what);
	}
	return "what is missing is unknown; see `commtrace info` for reasons, and whether the "
	       "files of "
	       "all hosts were copied whole";
}

int ct_finding_losses(const struct ct_model *model, const struct ct_report *report,
		      struct ct_findings *list)
{
	struct ct_arena *memory = list->memory;
	uint32_t *seats = ct_arena_calloc(memory, model->n_seats, sizeof(*seats));
	double share = 100.0 * (double)report->lost_records /
		       ((double)report->lost_records + (double)model->ops + 1e-9);
	struct ct_finding *f = ct_findings_add(list, CT_FINDING_LOSSES);
	const char *reason = "?", *ranks, *records;
	uint32_t n = 0, unknown = 0;

	for (size_t i = 0; i < report->n_losses; i++) {
		const struct ct_report_loss *loss = &report->losses[i];

		if (!loss->is_loss_of_records)
			continue;
		unknown += loss->records == CT_UNKNOWN;
		if (reason[0] == '?')
			reason = loss->reason;
	}
	for (uint32_t s = 0; seats && s < model->n_seats; s++) {
		if (report->ranks[s].lost_records)
			seats[n++] = s;
	}
	if (!f || !seats || ct_finding_seats(model, seats, n, list, f))
		return CT_NOMEM;
	f->severity = share > 5		       ? CT_SEVERITY_SEVERE
		      : share > 0.1 || unknown ? CT_SEVERITY_WARN
					       : CT_SEVERITY_INFO;
	f->confidence = CT_CONFIDENCE_HIGH;
	f->cause = "records are missing; operations without them are left out of every judgement";
	f->advice = advice_on_losses(report, memory);
	ranks = ct_ranks_text(memory, f->ranks, f->n_ranks, 8);
	if (!ranks || !f->advice ||
	    ct_finding_evidence(list, f, "records",
				unknown && !report->lost_records ? NAN
								 : (double)report->lost_records,
				"count", NAN))
		return CT_NOMEM;
	records = unknown && !report->lost_records
			  ? "unknown"
			  : ct_arena_printf(memory, "%llu%s",
					    (unsigned long long)report->lost_records,
					    unknown ? "+" : "");
	if (!records)
		return CT_NOMEM;
	f->line = ct_arena_printf(memory, "records=%s ranks=%s reason=%s share=%s", records,
				  n ? ranks : "?", reason, ct_text_pct(unknown ? NAN : share).s);
	return f->line ? CT_OK : CT_NOMEM;
}
