/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/score.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/stats.h"
#include "analyzer/findings/gain.h"

enum { BANDWIDTH, LATENCY, BALANCE, STABILITY };

/* Rows of score_texts.def. */
enum score_text {
#define SCORE_TEXT(name, text) SCORE_##name,
#include "analyzer/findings/score_texts.def"
};
static const char *const texts[] = {
#define SCORE_TEXT(name, text) [SCORE_##name] = text,
#include "analyzer/findings/score_texts.def"
};

static const struct ct_score_part views[CT_SCORE_PARTS] = {
	[BANDWIDTH] = { "bandwidth", 30, NAN, NULL },
	[LATENCY] = { "latency", 25, NAN, NULL },
	[BALANCE] = { "balance", 25, NAN, NULL },
	[STABILITY] = { "stability", 20, NAN, NULL },
};

static void set(struct ct_score_part *part, double ratio, enum score_text from)
{
	part->score = 100 * fmin(1, fmax(0, ratio));
	part->from = texts[from];
}

/* The one with most bytes. */
static const char *name_reference(const struct ct_score_references *by)
{
	if (by->own_best > by->declared && by->own_best > by->hardware)
		return texts[SCORE_BEST_OF_RUN];
	return texts[by->declared >= by->hardware ? SCORE_DECLARED : SCORE_HARDWARE];
}

static void set_bandwidth(const struct ct_links *links, struct ct_report *report,
			  struct ct_score_part *part)
{
	struct ct_score_references by;
	struct ct_score_mean mean = ct_score_bandwidth(links, report, &by);
	int has_peak = by.declared + by.hardware > CT_WORTH_REPORTING * mean.weight;
	int has_own = by.own_best > CT_WORTH_REPORTING * mean.weight;

	part->from = texts[SCORE_NO_BANDWIDTH];
	report->score.reference = NULL;
	if (mean.weight <= 0)
		return;
	report->score.reference = name_reference(&by);
	set(part, mean.sum / mean.weight,
	    !has_own	? SCORE_BUSBW_OF_PEAK
	    : !has_peak ? SCORE_BUSBW_OF_BEST
			: SCORE_BUSBW_OF_BOTH);
}

static void set_latency(const struct ct_links *links, struct ct_score_part *part)
{
	struct ct_score_mean mean = ct_score_latency(links);

	part->from = texts[SCORE_NO_LATENCY];
	if (mean.weight > 0)
		set(part, mean.sum / mean.weight, SCORE_LATENCY);
}

/* Without a replay: the part of the time in which the mean rank did not wait for others. */
static void set_balance(double ideal_ratio, const struct ct_report *report,
			struct ct_score_part *part)
{
	double waited_pct = 0;
	size_t n = 0;

	part->from = texts[SCORE_NO_BALANCE];
	if (!isnan(ideal_ratio)) {
		set(part, ideal_ratio, SCORE_REPLAYED);
		return;
	}
	for (size_t r = 0; r < report->n_ranks; r++) {
		if (isnan(report->ranks[r].wait_pct))
			continue;
		waited_pct += report->ranks[r].wait_pct;
		n++;
	}
	if (n < 2 || !report->run.matched)
		return;
	set(part, 1 - waited_pct / (double)n / 100,
	    report->step_time.has_steps ? SCORE_NOT_WAITING_IN_STEPS : SCORE_NOT_WAITING);
}

static int set_stability(const struct ct_links *links, const struct ct_report *report,
			 struct ct_score_part *part)
{
	struct ct_score_mean mean = ct_score_stability(links);
	const struct ct_report_steps *steps = &report->steps;
	double *times, median;

	part->from = texts[SCORE_NO_STABILITY];
	if (isnan(mean.weight))
		return CT_NOMEM;
	if (mean.weight > 0) {
		set(part, mean.sum / mean.weight, SCORE_TRANSFER_TIMES);
		return CT_OK;
	}
	if ((!steps->anchor_comm_key && !steps->marker) || steps->n_items < CT_SCORE_STEPS)
		return CT_OK;
	times = malloc(steps->n_items * sizeof(*times));
	if (!times)
		return CT_NOMEM;
	for (size_t i = 0; i < steps->n_items; i++)
		times[i] = (double)steps->items[i].time_ns;
	median = ct_median(times, steps->n_items);
	if (median > 0)
		set(part, 1 - 2 * ct_spread(times, steps->n_items, median) / median,
		    SCORE_STEP_TIMES);
	free(times);
	return CT_OK;
}

/* Why there is no total; NULL: there is one. */
static const char *no_total(const struct ct_report *report)
{
	const char *why;
	size_t n = 0;

	for (size_t i = 0; i < report->score.n_parts; i++)
		n += !isnan(report->score.parts[i].score);
	if (report->run.is_two_jobs)
		return texts[SCORE_TWO_JOBS];
	if (report->n_stuck)
		return texts[SCORE_IN_FLIGHT];
	why = ct_gain_why_not(report);
	if (why)
		return why;
	if (isnan(report->score.parts[BANDWIDTH].score))
		return texts[SCORE_NO_REFERENCE];
	return n < 2 ? texts[SCORE_FEW_PARTS] : NULL;
}

static void weigh(struct ct_report *report)
{
	struct ct_report_score *score = &report->score;
	double weight = 0, sum = 0;

	for (size_t i = 0; i < score->n_parts; i++) {
		if (isnan(score->parts[i].score))
			continue;
		weight += score->parts[i].weight_pct;
		sum += score->parts[i].weight_pct * score->parts[i].score;
	}
	/* omitted parts have no weight, the others proportionally more */
	for (size_t i = 0; i < score->n_parts; i++)
		score->parts[i].weight_pct = isnan(score->parts[i].score)
						     ? NAN
						     : 100 * score->parts[i].weight_pct / weight;
	score->why = no_total(report);
	score->total = score->why ? NAN : sum / weight;
	score->reference = score->why ? NULL : score->reference;
	score->grade = score->why		      ? NULL
		       : score->total >= CT_EXCELLENT ? "excellent"
		       : score->total >= CT_GOOD      ? "good"
						      : "needs improvement";
}

int ct_score_fill(const struct ct_links *links, double ideal_ratio, struct ct_report *report)
{
	struct ct_report_score *score = &report->score;

	score->n_parts = CT_SCORE_PARTS;
	for (size_t i = 0; i < CT_SCORE_PARTS; i++)
		score->parts[i] = views[i];
	set_bandwidth(links, report, &score->parts[BANDWIDTH]);
	set_latency(links, &score->parts[LATENCY]);
	set_balance(ideal_ratio, report, &score->parts[BALANCE]);
	if (set_stability(links, report, &score->parts[STABILITY]) != CT_OK)
		return CT_NOMEM;
	weigh(report);
	return CT_OK;
}
