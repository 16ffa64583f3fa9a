/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/headline.h"

#include <math.h>

#include "analyzer/base/template.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/finding_list.h"
#include "analyzer/model/model.h"
#include "analyzer/model/names.h"

#define MOST_RANKS 4u /* size: that fit the line */

static const char *const patterns[] = {
#define HEADLINE(kind, verdict, text) [CT_FINDING_##kind] = text,
#include "analyzer/findings/headlines.def"
};

/* ---- what it costs ---- */

/* Of the run, ns; 0: there are none. */
static double steps_ns(const struct ct_report *report)
{
	const struct ct_report_steps *c = &report->steps;

	return c->count && c->covered_pct > 0
		       ? (double)report->run.duration_ns * c->covered_pct / 100
		       : 0;
}

const char *ct_share_of(const struct ct_report *report)
{
	return steps_ns(report) > 0 ? "step time" : "the run";
}

/* Of the steps, or of the run. NAN: unknown. */
static double share(const struct ct_report *report, double ns)
{
	double all = steps_ns(report);

	all = all > 0 ? all : (double)report->run.duration_ns;
	return all > 0 ? fmin(100, 100 * ns / all) : NAN;
}

const char *ct_share_text(const struct ct_report *report, uint64_t ns)
{
	return ct_arena_printf(report->memory, "%s of %s",
			       ct_prose_pct(ns == CT_UNKNOWN ? NAN : share(report, (double)ns)).s,
			       ct_share_of(report));
}

/* Was it measured as a share of the steps that are on record, not as a time? */
static int is_measured_share(const struct ct_finding *f, const struct ct_report *report)
{
	return report->exposed.of_steps &&
	       (f->kind == CT_FINDING_EXPOSED_COMM || f->kind == CT_FINDING_COMM_SHARE ||
		f->kind == CT_FINDING_BUCKETS);
}

static double share_of_finding(const struct ct_finding *f, const struct ct_report *report)
{
	if (f->time_lost_ns == CT_UNKNOWN)
		return NAN;
	return is_measured_share(f, report) ? f->time_lost_pct_of_run
					    : share(report, (double)f->time_lost_ns);
}

/* "33.8 % of step time" */
static const char *share_text(const struct ct_finding *f, const struct ct_report *report)
{
	return ct_arena_printf(report->memory, "%s%s of %s", f->at_most ? "at most " : "",
			       ct_prose_pct(share_of_finding(f, report)).s, ct_share_of(report));
}

/* "15.4 ± 2.3 ms/step (33.8 % of step time)"; without steps "1.23 ± 0.18 s (33.8 % of the run)" */
static const char *cost_text(const struct ct_finding *f, const struct ct_report *report)
{
	double pct = share_of_finding(f, report), all = steps_ns(report),
	       loss = (double)f->time_lost_ns;
	double per_step = pct / 100 * all / (double)report->steps.count;
	struct ct_unit_range cost;

	if (f->time_lost_ns == CT_UNKNOWN)
		return "an unknown time";
	if (!isnan(f->per_step_ns))
		per_step = f->per_step_ns;
	if (!(all > 0))
		per_step = loss;
	cost = ct_prose_ns_err(per_step, f->time_lost_err_ns == CT_UNKNOWN || loss <= 0
						 ? NAN
						 : per_step * (double)f->time_lost_err_ns / loss);
	return ct_arena_printf(report->memory, "%s%s%s (%s of %s)", f->at_most ? "at most " : "",
			       cost.s, all > 0 ? "/step" : "", ct_prose_pct(pct).s,
			       ct_share_of(report));
}

/* ---- its words ---- */

static const char *ranks_text(const struct ct_finding *f, struct ct_arena *memory)
{
	return ct_arena_printf(memory, "rank%s %s", f->n_ranks == 1 ? "" : "s",
			       ct_ranks_text(memory, f->ranks, f->n_ranks, MOST_RANKS));
}

static const char *host_text(const struct ct_finding *f, struct ct_arena *memory)
{
	return f->n_hosts == 1 ? ct_host_word(memory, f->hosts[0]) : "";
}

static const char *who_text(const struct ct_finding *f, struct ct_arena *memory)
{
	const char *host = host_text(f, memory);

	return ct_arena_printf(memory, "%s%s%s%s", ranks_text(f, memory), *host ? " (" : "", host,
			       *host ? ")" : "");
}

/* "AllReduce on 6df510e2"; where no communicator is known, the ranks. */
static const char *op_text(const struct ct_finding *f, struct ct_arena *memory)
{
	if (!f->comm_hash || !f->op_name)
		return who_text(f, memory);
	return ct_arena_printf(memory, "%s on %08llx", f->op_name,
			       (unsigned long long)(f->comm_hash >> 32));
}

static const char *fact_ns(const struct ct_finding *f, const char *name, struct ct_arena *memory)
{
	double ns = ct_finding_fact(f, name);

	return ct_arena_printf(memory, "%s", ct_prose_ns(ns >= 0 ? (uint64_t)ns : CT_UNKNOWN).s);
}

static const char *every_text(const struct ct_finding *f, struct ct_arena *memory)
{
	double every = ct_finding_fact(f, "every");

	return every > 0 ? ct_arena_printf(memory, "every %.0f steps", every) : "now and then";
}

void ct_headline(struct ct_finding *f, const struct ct_report *report)
{
	struct ct_arena *memory = report->memory;
	const char *stage = ct_arena_printf(memory, "%.0f", ct_finding_fact(f, "stage"));
	const char *first = ct_arena_printf(memory, "%llu", (unsigned long long)f->step_first);
	const char *text;
	const struct ct_word words[] = {
		{ "{who}", who_text(f, memory) },
		{ "{ranks}", ranks_text(f, memory) },
		{ "{host}", host_text(f, memory) },
		{ "{costs}", f->n_ranks == 1 ? "costs" : "cost" },
		{ "{cost}", cost_text(f, report) },
		{ "{share}", share_text(f, report) },
		{ "{own}", f->headline ? f->headline
			   : f->cause  ? f->cause
				       : "" },
		{ "{stage}", stage },
		{ "{stalls}", fact_ns(f, "stall_mean", memory) },
		{ "{every}", every_text(f, memory) },
		{ "{first}", first },
		{ "{before}", fact_ns(f, "step_before", memory) },
		{ "{after}", fact_ns(f, "step_after", memory) },
		{ "{op}", op_text(f, memory) },
		{ "{at}", f->confidence == CT_CONFIDENCE_LOW ? "at or between" : "at" },
	};

	text = ct_template_fill(memory, patterns[f->kind], words, sizeof(words) / sizeof(words[0]));
	f->headline = text ? text : "";
}
