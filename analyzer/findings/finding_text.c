/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/findings/finding_list.h"
#include "analyzer/findings/order_findings.h"
#include "analyzer/findings/verdict_text.h"
#include "analyzer/model/model.h"
#include "analyzer/model/names.h"

/* Ranks in a sentence. */
#define MOST_RANKS 8u

__attribute__((format(printf, 4, 0))) static void say(struct ct_report *report,
						      enum ct_verdict_code code,
						      enum ct_confidence confidence,
						      const char *fmt, va_list ap)
{
	report->verdict.code = code;
	report->verdict.confidence = confidence;
	report->verdict.text = ct_arena_vprintf(report->memory, fmt, ap);
}

void ct_verdict_say(struct ct_report *report, enum ct_verdict_code code,
		    enum ct_confidence confidence, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(report, code, confidence, fmt, ap);
	va_end(ap);
}

void ct_verdict_doubt(struct ct_report *report, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(report, CT_VERDICT_NOT_ENOUGH_EVIDENCE, CT_CONFIDENCE_NONE, fmt, ap);
	va_end(ap);
}

void ct_verdict_add(struct ct_report *report, const char *text)
{
	if (*text)
		report->verdict.text = ct_arena_printf(report->memory, "%s; %s",
						       report->verdict.text, text);
}

/* "up to 94.4ms ± 5.58ms of 2.99s (3.16%)" */
static const char *loss_text(const struct ct_model *model, const struct ct_finding *f, int at_most,
			     struct ct_arena *memory)
{
	return ct_arena_printf(memory, "%s%s ± %s of %s (%s)", at_most ? "up to " : "",
			       ct_text_ns(f->loss_ns).s, ct_text_ns(f->loss_err_ns).s,
			       ct_text_ns(model->duration_ns).s, ct_text_pct(f->loss_pct).s);
}

/* "rank 5 (node1)", "ranks 1,4 (node0)", "ranks 1,9" */
static const char *who_text(const struct ct_finding *f, struct ct_arena *memory)
{
	const char *ranks = ct_ranks_text(memory, f->ranks, f->n_ranks, MOST_RANKS);
	const char *host = f->n_hosts == 1 ? ct_host_word(memory, f->hosts[0]) : "";

	return ct_arena_printf(memory, "rank%s %s%s%s%s", f->n_ranks == 1 ? "" : "s", ranks,
			       *host ? " (" : "", host, *host ? ")" : "");
}

static void say_straggler(const struct ct_model *model, const struct ct_finding *f,
			  struct ct_report *report)
{
	const char *who = who_text(f, report->memory);
	const char *loss = loss_text(model, f, f->at_most, report->memory);

	ct_verdict_say(report, CT_VERDICT_STRAGGLER, f->confidence, "%s cost%s %s%s", who,
		       f->n_ranks == 1 ? "s" : "", loss,
		       f->at_most && !f->is_bounded ? "; overlap may hide part of it" : "");
}

static void say_slow_stage(const struct ct_model *model, const struct ct_finding *f,
			   struct ct_report *report)
{
	const char *ranks = ct_ranks_text(report->memory, f->ranks, f->n_ranks, MOST_RANKS);
	const char *loss = loss_text(model, f, 0, report->memory);

	ct_verdict_say(
		report, CT_VERDICT_SLOW_STAGE, f->confidence,
		"pipeline stage %.0f (rank%s %s) takes longer than the other stages and costs %s",
		ct_finding_fact(f, "stage"), f->n_ranks == 1 ? "" : "s", ranks, loss);
}

static void say_imbalance(const struct ct_model *model, const struct ct_finding *f,
			  struct ct_report *report)
{
	const char *loss = loss_text(model, f, 0, report->memory);

	ct_verdict_say(report, CT_VERDICT_IMBALANCE, f->confidence,
		       "uneven work costs %s; ranks with the same work take turns, and none is "
		       "slow throughout",
		       loss);
}

static void say_slow_link(const struct ct_model *model, const struct ct_finding *f,
			  struct ct_report *report)
{
	const char *ranks = ct_ranks_text(report->memory, f->ranks, f->n_ranks, MOST_RANKS);
	const char *loss = loss_text(model, f, 1, report->memory);

	ct_verdict_say(report, CT_VERDICT_SLOW_LINK, f->confidence,
		       "slow transfers %s rank%s %s cost %s%s",
		       f->confidence == CT_CONFIDENCE_LOW ? "at one of, or between," : "at",
		       f->n_ranks == 1 ? "" : "s", ranks, loss,
		       f->is_bounded ? "" : "; overlap may hide part of it");
}

/* No rank is slow on average, but stalls of one, or of one after the other, follow a rule. Those that move accuse no rank. */
static void say_stalls(const struct ct_model *model, const struct ct_finding *f,
		       struct ct_report *report)
{
	struct ct_arena *memory = report->memory;
	const char *ranks = ct_ranks_text(memory, f->ranks, f->n_ranks, MOST_RANKS);
	const char *loss = loss_text(model, f, f->at_most, memory), *when = "occasionally";
	double every = ct_finding_fact(f, "every");

	if (every > 0)
		when = ct_arena_printf(memory, "every %.0f steps", every);
	ct_verdict_say(report,
		       f->kind == CT_FINDING_ROTATING_STALLS ? CT_VERDICT_IMBALANCE
							     : CT_VERDICT_STRAGGLER,
		       f->confidence, "rank%s %s %s %s and cost%s %s", f->n_ranks == 1 ? "" : "s",
		       ranks, f->n_ranks == 1 ? "stalls" : "stall by turns", when,
		       f->n_ranks == 1 ? "s" : "", loss);
}

/* Of what a step takes longer, for it to be said that communication does. That it does not, one rank's operations do not
 * prove: a pipeline behind a slow link stands still outside of them. */
#define MOSTLY 0.7

static void say_change(const struct ct_model *model, const struct ct_finding *f,
		       struct ct_report *report)
{
	double before = ct_finding_fact(f, "step_before"), after = ct_finding_fact(f, "step_after");
	double inside = ct_finding_fact(f, "in_communication_after") -
			ct_finding_fact(f, "in_communication_before");
	const char *loss = loss_text(model, f, f->at_most, report->memory);

	ct_verdict_say(report, CT_VERDICT_CHANGE_POINT, f->confidence,
		       "from step %llu on a step takes %s instead of %s, which costs %s%s",
		       (unsigned long long)f->step_first, ct_text_ns((uint64_t)after).s,
		       ct_text_ns((uint64_t)before).s, loss,
		       inside >= MOSTLY * (after - before)
			       ? "; the extra time is inside communication"
			       : "");
}

/* "AllReduce on 6df510e2"; where no communicator is told, the ranks. */
static const char *what_text(const struct ct_finding *f, struct ct_arena *memory)
{
	if (!f->comm_key || !f->op_name)
		return who_text(f, memory);
	return ct_arena_printf(memory, "%s on %08llx", f->op_name,
			       (unsigned long long)(f->comm_key >> 32));
}

/* A stretch of one communicator's transfers: nobody can be told from it. */
static void say_slow_op(const struct ct_model *model, const struct ct_finding *f,
			struct ct_report *report)
{
	const char *what = what_text(f, report->memory);
	const char *loss = loss_text(model, f, 1, report->memory);

	ct_verdict_doubt(report,
			 "transfers of %s became slow at %s..%s: %s; these timings cannot "
			 "distinguish a slow link from a slow rank",
			 what, ct_text_ns(f->begin_at_ns).s, ct_text_ns(f->end_at_ns).s, loss);
}

void ct_say_finding(const struct ct_model *model, const struct ct_finding *f,
		    struct ct_report *report)
{
	report->verdict.gain_max_pct = f->loss_pct;
	switch (f->kind) {
	case CT_FINDING_STRAGGLER:
	case CT_FINDING_STRAGGLER_HOST:
	case CT_FINDING_STRAGGLER_GROUP:
		say_straggler(model, f, report);
		break;
	case CT_FINDING_SLOW_STAGE:
		say_slow_stage(model, f, report);
		break;
	case CT_FINDING_IMBALANCE:
		say_imbalance(model, f, report);
		break;
	case CT_FINDING_SLOW_LINK:
		say_slow_link(model, f, report);
		break;
	case CT_FINDING_PERIODIC_STALLS:
	case CT_FINDING_ROTATING_STALLS:
		say_stalls(model, f, report);
		break;
	case CT_FINDING_CHANGE_POINT:
		say_change(model, f, report);
		break;
	case CT_FINDING_SLOW_OP:
		say_slow_op(model, f, report);
		break;
	case CT_FINDING_UNEVEN_INPUT:
		ct_verdict_say(report, CT_VERDICT_UNEVEN_INPUT, f->confidence, "%s",
			       ct_order_sentence(report->memory, f));
		break;
	default:
		ct_verdict_say(report, CT_VERDICT_MISMATCH, f->confidence, "%s",
			       ct_order_sentence(report->memory, f));
		break;
	}
}

/* "is late": one; "are late": several. */
static const char *does_text(const struct ct_finding *f)
{
	int one = f->n_ranks == 1;

	switch (f->kind) {
	case CT_FINDING_SLOW_LINK:
		return one ? "has slow transfers" : "have slow transfers";
	case CT_FINDING_PERIODIC_STALLS:
	case CT_FINDING_ROTATING_STALLS:
		return one ? "stalls occasionally" : "stall occasionally";
	default:
		return one ? "is late" : "are late";
	}
}

const char *ct_finding_in_short(const struct ct_finding *f, struct ct_report *report)
{
	struct ct_arena *memory = report->memory;
	const char *what;

	if (f->kind == CT_FINDING_CHANGE_POINT)
		return ct_arena_printf(memory, "steps take longer from step %llu on (%s)",
				       (unsigned long long)f->step_first,
				       ct_text_pct(f->loss_pct).s);
	if (f->kind == CT_FINDING_IMBALANCE)
		return ct_arena_printf(memory, "uneven work costs another %s",
				       ct_text_pct(f->loss_pct).s);
	what = f->kind == CT_FINDING_SLOW_OP ? what_text(f, memory) : who_text(f, memory);
	if (f->kind == CT_FINDING_SLOW_OP)
		return ct_arena_printf(memory, "transfers of %s became slow (up to %s)", what,
				       ct_text_pct(f->loss_pct).s);
	return ct_arena_printf(memory, "also, %s %s (%s%s)", what, does_text(f),
			       f->at_most ? "up to " : "", ct_text_pct(f->loss_pct).s);
}
