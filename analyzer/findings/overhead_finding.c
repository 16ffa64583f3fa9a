/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/overhead_finding.h"

#include <math.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/finding_text.h"
#include "analyzer/model/names.h"
#include "trace/status.h"

#define PROMISED_PCT 1.0 /* fact: the share of a run that recording may cost, as documented */

static int is_dear(const struct ct_report_overhead *c)
{
	return c->wrapper_ns != CT_UNKNOWN && c->wrapper_ns >= CT_OVERHEAD_NS &&
	       c->wrapper_pct > PROMISED_PCT;
}

static int is_halved(const struct ct_report *report, const struct ct_report_overhead *c)
{
	return c->on_gpu && c->coarsest > 0 && report->run.timed_ratio < CT_NEARLY_ALL;
}

static void add(const struct ct_report *report, const int *ranks, size_t n, int dear, int halved,
		struct ct_findings *list)
{
	struct ct_finding *f = ct_findings_add(list, CT_FINDING_TRACER_OVERHEAD);

	ct_finding_ranks(list, f, ranks, n);
	ct_finding_evidence(list, f, "wrappers", report->overhead_pct, "%", NAN);
	ct_finding_evidence(list, f, "promised", PROMISED_PCT, "%", NAN);
	ct_finding_evidence(list, f, "timed", 100 * report->run.timed_ratio, "%", NAN);
	f->severity = dear ? CT_SEVERITY_WARNING : CT_SEVERITY_INFO;
	f->confidence = CT_CONFIDENCE_MEDIUM;
	ct_finding_say(
		list, f, dear ? CT_TEXT_OVERHEAD : CT_TEXT_UNTIMED_LAUNCHES,
		CT_WORDS({ "{share}",
			   ct_prose_pct(dear ? report->overhead_pct : 100 * report->run.timed_ratio)
				   .s },
			 { "{ranks}", ct_ranks_words(list->memory, f->ranks, n, CT_RANKS_SHOWN) }));
	ct_finding_put_who(list, f);
	ct_finding_put(list, f, "wrappers", "%s", ct_text_pct(report->overhead_pct).s);
	ct_finding_put(list, f, "promised", "1%%");
	ct_finding_put(list, f, "timed", "%s", ct_text_pct(100 * report->run.timed_ratio).s);
	ct_finding_put(list, f, "budget_halved", halved ? "yes" : "no");
}

void ct_finding_tracer_overhead(const struct ct_report *report, struct ct_findings *list)
{
	int *ranks = ct_arena_calloc(list->memory, report->n_overhead + 1, sizeof(*ranks));
	int dear = 0, halved = 0;
	size_t n = 0;

	if (!ranks)
		return;
	for (size_t i = 0; i < report->n_overhead; i++) {
		int costs = is_dear(&report->overhead[i]),
		    half = is_halved(report, &report->overhead[i]);

		dear |= costs;
		halved |= half;
		if (costs || half)
			ranks[n++] = report->overhead[i].rank;
	}
	if (n)
		add(report, ranks, n, dear, halved, list);
}
