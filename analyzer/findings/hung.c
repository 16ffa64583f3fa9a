/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/hung.h"

#include "analyzer/findings/verdict_text.h"
#include "analyzer/hang/hang.h"

/* A dead rank that no one waits for is not a hang. In a hang of all ranks, all are named and none
 * is a victim. */
static const struct ct_hang_verdict *first_of(const struct ct_hang_result *result)
{
	for (uint32_t v = 0; v < result->n_verdicts; v++) {
		const struct ct_hang_verdict *verdict = &result->verdicts[v];

		if (verdict->code != CT_HANG_IS_UNKNOWN &&
		    (verdict->n_victims || verdict->age_ns != CT_UNKNOWN))
			return verdict;
	}
	return NULL;
}

const struct ct_hang_verdict *ct_hung_find(const struct ct_report *report)
{
	return report->hang ? first_of(report->hang->result) : NULL;
}

void ct_verdict_hung(const struct ct_hang_verdict *hung, struct ct_report *report)
{
	ct_verdict_set(report, CT_VERDICT_HANG, hung->confidence, "%s", hung->headline);
	report->verdict.hang_code = ct_hang_code_name(hung->code);
	report->verdict.cause = hung->cause;
	for (uint32_t i = 0; i < hung->n_notes; i++)
		report->verdict.note = ct_arena_printf(report->memory, "%s%s%s",
						       i ? report->verdict.note : "", i ? "; " : "",
						       hung->notes[i]);
	report->verdict.advice = hung->advice;
	report->verdict.command = hung->command;
}
