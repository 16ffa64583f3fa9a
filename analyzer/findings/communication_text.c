/* SPDX-License-Identifier: Apache-2.0 */
/* communication_text.c — what communication costs a run: exposed, or nothing to speak of. */
#include "analyzer/findings/verdict_text.h"

#include <math.h>

#include "analyzer/base/units.h"
#include "analyzer/findings/gain.h"
#include "analyzer/model/model.h"

/* Could it all be hidden? Not where moving the data takes longer than computing does: the rest stays however well the two
 * overlap. What is waited for others is no part of it. */
void ct_say_exposed(const struct ct_finding *f, struct ct_report *report)
{
	const struct ct_report_exposed *e = &report->exposed;
	double computing = 100 - e->share_pct, stays = e->transferring_pct - computing;
	/* of what stood waiting, and of what moved */
	double err = e->err_pct + ct_gain_times_err_pct(report);
	int bound = f->kind != CT_FINDING_BUCKETS && stays - err >= CT_VERDICT_COMM_PCT;

	report->verdict.gain_max_pct = f->loss_pct;
	if (bound)
		ct_verdict_say(report, CT_VERDICT_COMM_BOUND, f->confidence,
			       "transfers take %s of the time and compute %s: even with perfect "
			       "overlap, %s±%s stays exposed at this speed; now it is %s, %s of it "
			       "waiting for other ranks",
			       ct_text_pct(e->transferring_pct).s, ct_text_pct(computing).s,
			       ct_text_pct(stays).s, ct_text_pct(err).s,
			       ct_text_pct(e->share_pct).s, ct_text_pct(e->wait_pct).s);
	else if (isnan(e->share_pct))
		ct_verdict_say(report, CT_VERDICT_POOR_OVERLAP, f->confidence,
			       "%s; at most %s can be saved", f->cause, ct_text_pct(f->loss_pct).s);
	else
		ct_verdict_say(report, CT_VERDICT_POOR_OVERLAP, f->confidence,
			       "communication is exposed for %s±%s of the time (%s); at most %s "
			       "can be saved",
			       ct_text_pct(e->share_pct).s, ct_text_pct(e->err_pct).s, f->cause,
			       ct_text_pct(f->loss_pct).s);
}

/* Time in communication, %, from which on it matters whether its links are as fast as they could be. */
#define MUCH_PCT 20.0

static int is_link_compared(const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_links; i++) {
		if (!isnan(report->links[i].efficiency_ratio))
			return 1;
	}
	return 0;
}

/* Waits that are nobody's alone may be the order of a pipeline, or stalls too short or too rare for a rule. */
static enum ct_confidence sure_of_health(const struct ct_report *report, double wait_pct)
{
	int is_open = wait_pct >= CT_VERDICT_COMM_PCT ||
		      (!(report->run.comm_share_pct < MUCH_PCT) && !is_link_compared(report));

	return report->run.complete && !is_open ? CT_CONFIDENCE_HIGH : CT_CONFIDENCE_MEDIUM;
}

/* Stages wait by the order of their pipeline: nobody is late. */
static const char *bubble_text(const struct ct_report *report, double wait_pct)
{
	const struct ct_report_stage *s = ct_gain_schedule(report);
	struct ct_arena *memory = report->memory;
	double ideal = ct_gain_bubble_pct(report);

	if (!s)
		return ct_arena_printf(memory, "waits are the pipeline's bubble: %s of the time",
				       ct_text_pct(wait_pct).s);
	if (wait_pct < ideal + CT_VERDICT_COMM_PCT)
		return ct_arena_printf(memory,
				       "waits are the pipeline's bubble: %s of the time, as "
				       "expected for %d stages and %.0f microbatches",
				       ct_text_pct(wait_pct).s, s->n_stages, s->microbatches);
	return ct_arena_printf(
		memory,
		"waits are the pipeline's bubble: %s of the time; %d stages and %.0f "
		"microbatches make %s unavoidable",
		ct_text_pct(wait_pct).s, s->n_stages, s->microbatches, ct_text_pct(ideal).s);
}

/* Nobody is slow, and communication costs this much. */
static const char *health_text(const struct ct_model *model, int is_pipeline, double wait,
			       const struct ct_report *report)
{
	struct ct_arena *memory = report->memory;
	double share = report->run.comm_share_pct, gain = ct_gain_pct(report);
	const char *text = ct_arena_printf(memory,
					   "no straggler above 1 %% of the run, in %s operations",
					   ct_text_count(model->matched).s);

	if (!(gain < share) && isnan(ct_gain_exposed_pct(report)))
		text = ct_arena_printf(
			memory,
			"%s; how much of the %s in communication is overlapped is not known", text,
			ct_text_pct(share).s);
	else if (!isnan(gain))
		text = ct_arena_printf(memory, "%s; if transfers took no time, at most %s faster",
				       text, ct_text_pct(gain).s);
	if (wait >= CT_VERDICT_COMM_PCT && is_pipeline)
		text = ct_arena_printf(memory, "%s; %s", text, bubble_text(report, wait));
	else if (wait >= CT_VERDICT_COMM_PCT)
		text = ct_arena_printf(
			memory,
			"%s; ranks wait for each other for %s of the time, for no single one", text,
			ct_text_pct(wait).s);
	if (!(share < MUCH_PCT) && !is_link_compared(report))
		text = ct_arena_printf(memory, "%s; no link had a peer to be compared with", text);
	return text;
}

void ct_say_healthy(const struct ct_model *model, int is_pipeline, struct ct_report *report)
{
	double share = report->run.comm_share_pct, most = ct_gain_exposed_pct(report);
	double gain = ct_gain_pct(report), wait = ct_gain_wait_pct(report);

	report->verdict.gain_max_pct = most < CT_VERDICT_COMM_PCT    ? most
				       : share < CT_VERDICT_COMM_PCT ? share
								     : gain;
	if (most < CT_VERDICT_COMM_PCT)
		ct_verdict_say(
			report, CT_VERDICT_NOT_COMMUNICATION, CT_CONFIDENCE_HIGH,
			"communication is exposed for at most %s on any rank; look elsewhere",
			ct_text_pct(most).s);
	else if (share < CT_VERDICT_COMM_PCT)
		ct_verdict_say(report, CT_VERDICT_NOT_COMMUNICATION, CT_CONFIDENCE_HIGH,
			       "no rank spent more than %s of %s in communication",
			       ct_text_pct(share).s, ct_text_ns(model->duration_ns).s);
	else if (gain < CT_VERDICT_COMM_PCT && wait < CT_VERDICT_COMM_PCT)
		/* what has less of it by itself was told above */
		ct_verdict_say(report, CT_VERDICT_NOT_COMMUNICATION, CT_CONFIDENCE_MEDIUM,
			       "replayed without communication, the run takes at most %s less; "
			       "look elsewhere",
			       ct_text_pct(gain).s);
	else
		ct_verdict_say(report, CT_VERDICT_HEALTHY, sure_of_health(report, wait), "%s",
			       health_text(model, is_pipeline, wait, report));
}
