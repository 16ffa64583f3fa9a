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
 * stays however well the two overlap. What is waited for others is not part of it. */
void ct_verdict_exposed(const struct ct_finding *f, struct ct_report *report)
{
	const struct ct_report_exposed *e = &report->exposed;
	double computing = 100 - e->median_pct, stays = e->transferring_pct - computing;
	/* of waits and of transfers */
	double err = e->err_pct + ct_gain_times_err_pct(report);
	int bound = f->kind != CT_FINDING_BUCKETS && stays - err >= CT_NOTABLE_PCT;

	report->verdict.gain_max_pct = f->time_lost_pct;
	if (bound)
		ct_verdict_say(
			report, CT_SAYS_BOUND, f->confidence,
			CT_WORDS({ "{share}", ct_pct_err_text(report, stays, err) },
				 { "{transfers}", ct_prose_pct(e->transferring_pct).s },
				 { "{compute}", ct_prose_pct(computing).s },
				 { "{exposed}", ct_prose_pct(e->median_pct).s },
				 { "{wait}", ct_prose_pct(e->wait_pct).s },
				 { "{transfer}", ct_prose_pct(e->median_pct - e->wait_pct).s }));
	else if (isnan(e->median_pct))
		ct_verdict_say(report, CT_SAYS_OVERLAP_UNKNOWN, f->confidence,
			       CT_WORDS({ "{share}", ct_pct_text(report, f->time_lost_pct) }));
	else
		ct_verdict_say(
			report, CT_SAYS_OVERLAP, f->confidence,
			CT_WORDS({ "{share}", ct_pct_err_text(report, e->median_pct, e->err_pct) },
				 { "{gain}", ct_prose_pct(f->time_lost_pct).s }));
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
static void add_bubble(struct ct_report *report, double wait_pct)
{
	const struct ct_report_stage *s = ct_gain_schedule(report);
	double ideal = ct_gain_bubble_pct(report);
	enum ct_note note = !s					? CT_NOTE_BUBBLE
			    : wait_pct < ideal + CT_NOTABLE_PCT ? CT_NOTE_BUBBLE_AS_EXPECTED
								: CT_NOTE_BUBBLE_BEYOND;

	ct_verdict_note(
		report, note,
		CT_WORDS({ "{share}", ct_pct_text(report, wait_pct) },
			 { "{stages}", ct_text_count(s ? (uint64_t)s->n_stages : 0).s },
			 { "{microbatches}", ct_text_count(s ? (uint64_t)s->microbatches : 0).s },
			 { "{ideal}", ct_prose_pct(ideal).s }));
}

/* The cost of communication where no rank is slow. */
static void add_costs(int is_pipeline, double wait, struct ct_report *report)
{
	double share = report->run.comm_share_pct, gain = ct_gain_pct(report);

	if (!(gain < share) && isnan(ct_gain_exposed_pct(report)))
		ct_verdict_note(report, CT_NOTE_OVERLAP_NOT_KNOWN,
				CT_WORDS({ "{share}", ct_pct_text(report, share) }));
	else if (!isnan(gain))
		ct_verdict_note(report, CT_NOTE_FASTER,
				CT_WORDS({ "{gain}", ct_prose_pct(gain).s }));
	if (wait >= CT_NOTABLE_PCT && is_pipeline)
		add_bubble(report, wait);
	else if (wait >= CT_NOTABLE_PCT)
		ct_verdict_note(report, CT_NOTE_NO_SINGLE_RANK,
				CT_WORDS({ "{share}", ct_pct_text(report, wait) }));
	if (!(share < CT_LINKS_MATTER_PCT) && !is_link_compared(report))
		ct_verdict_note(report, CT_NOTE_NO_LINK_COMPARED, CT_NO_WORDS);
}

void ct_verdict_healthy(const struct ct_model *model, int is_pipeline, struct ct_report *report)
{
	double share = report->run.comm_share_pct, most = ct_gain_exposed_pct(report);
	double gain = ct_gain_pct(report), wait = ct_gain_wait_pct(report);

	report->verdict.gain_max_pct = most < CT_NOTABLE_PCT	? most
				       : share < CT_NOTABLE_PCT ? share
								: gain;
	if (most < CT_NOTABLE_PCT)
		ct_verdict_say(report, CT_SAYS_LITTLE_EXPOSED, CT_CONFIDENCE_HIGH,
			       CT_WORDS({ "{share}", ct_pct_text(report, most) }));
	else if (share < CT_NOTABLE_PCT)
		ct_verdict_say(report, CT_SAYS_LITTLE_TIME, CT_CONFIDENCE_HIGH,
			       CT_WORDS({ "{share}", ct_pct_text(report, share) }));
	else if (gain < CT_NOTABLE_PCT && wait < CT_NOTABLE_PCT)
		/* the smaller one was mentioned above */
		ct_verdict_say(report, CT_SAYS_LITTLE_GAIN, CT_CONFIDENCE_MEDIUM,
			       CT_WORDS({ "{gain}", ct_prose_pct(gain).s }));
	else {
		ct_verdict_say(report, CT_SAYS_NO_STRAGGLER, sure_of_health(report, wait),
			       CT_WORDS({ "{n}", ct_text_count(model->matched).s }));
		add_costs(is_pipeline, wait, report);
	}
}
