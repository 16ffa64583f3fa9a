/* SPDX-License-Identifier: Apache-2.0 */
/* communication_text.c — what communication costs a run: exposed, or nothing to speak of. */
#include "analyzer/base/limits.h"
#include "analyzer/findings/verdict_text.h"

#include <math.h>

#include "analyzer/base/units.h"
#include "analyzer/findings/gain.h"
#include "analyzer/findings/headline.h"
#include "analyzer/model/model.h"

/* Could it all be hidden? Not where moving the data takes longer than computing does: the rest
 * stays however well the two overlap. What is waited for others is no part of it. */
void ct_verdict_exposed(const struct ct_finding *f, struct ct_report *report)
{
	const struct ct_report_exposed *e = &report->exposed;
	double computing = 100 - e->median_pct, stays = e->transferring_pct - computing;
	/* of waits and of transfers */
	double err = e->err_pct + ct_gain_times_err_pct(report);
	const char *of = e->of_steps ? "step time" : "the run";
	int bound = f->kind != CT_FINDING_BUCKETS && stays - err >= CT_NOTABLE_PCT;

	report->verdict.gain_max_pct = f->time_lost_pct_of_run;
	if (bound) {
		ct_verdict_set(report, CT_VERDICT_COMM_BOUND, f->confidence,
			       "at best %s of %s stays exposed", ct_prose_pct_err(stays, err).s,
			       of);
		ct_verdict_add(report,
			       ct_arena_printf(report->memory,
					       "even with perfect overlap: of %s transfers "
					       "take %s, compute %s; now %s is exposed: %s "
					       "waiting for other ranks, %s transfer",
					       of, ct_prose_pct(e->transferring_pct).s,
					       ct_prose_pct(computing).s,
					       ct_prose_pct(e->median_pct).s,
					       ct_prose_pct(e->wait_pct).s,
					       ct_prose_pct(e->median_pct - e->wait_pct).s));
	} else if (isnan(e->median_pct))
		ct_verdict_set(report, CT_VERDICT_POOR_OVERLAP, f->confidence,
			       "at most %s of %s can be saved",
			       ct_prose_pct(f->time_lost_pct_of_run).s, of);
	else
		ct_verdict_set(report, CT_VERDICT_POOR_OVERLAP, f->confidence,
			       "%s of %s is exposed, at most %s can be saved",
			       ct_prose_pct_err(e->median_pct, e->err_pct).s, of,
			       ct_prose_pct(f->time_lost_pct_of_run).s);
	if (!bound)
		ct_verdict_mention(report, f->cause);
}

static int is_link_compared(const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_links; i++) {
		if (!isnan(report->links[i].efficiency_ratio))
			return 1;
	}
	return 0;
}

/* Waits that no single rank caused may be the order of a pipeline, or stalls too short or too rare
 * for a rule. */
static enum ct_confidence sure_of_health(const struct ct_report *report, double wait_pct)
{
	int is_open = wait_pct >= CT_NOTABLE_PCT ||
		      (!(report->run.comm_share_pct < CT_LINKS_MATTER_PCT) &&
		       !is_link_compared(report));

	return report->run.complete && !is_open ? CT_CONFIDENCE_HIGH : CT_CONFIDENCE_MEDIUM;
}

/* Stages wait because of the order of their pipeline: no rank is late. */
static const char *bubble_text(const struct ct_report *report, double wait_pct)
{
	const struct ct_report_stage *s = ct_gain_schedule(report);
	struct ct_arena *memory = report->memory;
	double ideal = ct_gain_bubble_pct(report);
	const char *of = report->exposed.of_steps ? "step time" : "the run";

	if (!s)
		return ct_arena_printf(memory, "waits are the pipeline's bubble: %s of %s",
				       ct_prose_pct(wait_pct).s, of);
	if (wait_pct < ideal + CT_NOTABLE_PCT)
		return ct_arena_printf(memory,
				       "waits are the pipeline's bubble: %s of %s, as "
				       "expected for %d stages and %.0f microbatches",
				       ct_prose_pct(wait_pct).s, of, s->n_stages, s->microbatches);
	return ct_arena_printf(
		memory,
		"waits are the pipeline's bubble: %s of %s; %d stages and %.0f microbatches make "
		"%s unavoidable",
		ct_prose_pct(wait_pct).s, of, s->n_stages, s->microbatches, ct_prose_pct(ideal).s);
}

/* The cost of communication where no rank is slow. */
static void add_costs(int is_pipeline, double wait, struct ct_report *report)
{
	struct ct_arena *memory = report->memory;
	double share = report->run.comm_share_pct, gain = ct_gain_pct(report);

	if (!(gain < share) && isnan(ct_gain_exposed_pct(report)))
		ct_verdict_add(report, ct_arena_printf(memory,
						       "how much of the %s in communication is "
						       "overlapped is not known",
						       ct_prose_pct(share).s));
	else if (!isnan(gain))
		ct_verdict_add(report,
			       ct_arena_printf(memory,
					       "if transfers took no time, at most %s faster",
					       ct_prose_pct(gain).s));
	if (wait >= CT_NOTABLE_PCT && is_pipeline)
		ct_verdict_add(report, bubble_text(report, wait));
	else if (wait >= CT_NOTABLE_PCT)
		ct_verdict_add(report,
			       ct_arena_printf(memory,
					       "ranks wait for each other for %s of %s, for no "
					       "single one",
					       ct_prose_pct(wait).s,
					       report->exposed.of_steps ? "step time" : "the run"));
	if (!(share < CT_LINKS_MATTER_PCT) && !is_link_compared(report))
		ct_verdict_add(report, "no link had a peer to be compared with");
}

void ct_verdict_healthy(const struct ct_model *model, int is_pipeline, struct ct_report *report)
{
	double share = report->run.comm_share_pct, most = ct_gain_exposed_pct(report);
	double gain = ct_gain_pct(report), wait = ct_gain_wait_pct(report);

	report->verdict.gain_max_pct = most < CT_NOTABLE_PCT	? most
				       : share < CT_NOTABLE_PCT ? share
								: gain;
	if (most < CT_NOTABLE_PCT)
		ct_verdict_set(report, CT_VERDICT_NOT_COMMUNICATION, CT_CONFIDENCE_HIGH,
			       "it is exposed for at most %s of the run on any rank",
			       ct_prose_pct(most).s);
	else if (share < CT_NOTABLE_PCT)
		ct_verdict_set(report, CT_VERDICT_NOT_COMMUNICATION, CT_CONFIDENCE_HIGH,
			       "no rank spent more than %s of %s in communication",
			       ct_prose_pct(share).s, ct_prose_ns(model->duration_ns).s);
	else if (gain < CT_NOTABLE_PCT && wait < CT_NOTABLE_PCT)
		/* the smaller one was mentioned above */
		ct_verdict_set(report, CT_VERDICT_NOT_COMMUNICATION, CT_CONFIDENCE_MEDIUM,
			       "without communication the run takes at most %s less, by replay",
			       ct_prose_pct(gain).s);
	else {
		ct_verdict_set(report, CT_VERDICT_HEALTHY, sure_of_health(report, wait),
			       "no straggler above 1 %% of %s, in %s operations",
			       ct_share_of(report), ct_text_count(model->matched).s);
		add_costs(is_pipeline, wait, report);
	}
}
