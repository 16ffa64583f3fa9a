/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/hung.h"

#include "analyzer/hang/hang.h"

/* A dead rank that no one waits for is not a hang. In a hang of all ranks, all are named and none is a victim. */
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

void ct_hung_find(const struct ct_report *report, struct ct_hung *hung)
{
	const struct ct_hang_verdict *first = report->hang ? first_of(report->hang->result) : NULL;

	*hung = (struct ct_hung){ .text = NULL };
	if (!first)
		return;
	hung->confidence = first->confidence;
	hung->text = ct_arena_printf(report->memory, "%s: %s", ct_hang_code_name(first->code),
				     first->sentence);
}
