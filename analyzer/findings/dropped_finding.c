/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/dropped_finding.h"

#include <math.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/finding_text.h"
#include "analyzer/findings/verdict_text.h"
#include "analyzer/model/model.h"
#include "analyzer/model/names.h"

/* What to do, and what is known of the loss. Where missing records were not counted, no setting of
 * the tracer is responsible. */
static const char *remedy_of(const struct ct_report *report, struct ct_arena *memory,
			     struct ct_finding *f)
{
	const struct ct_report_process *damaged = NULL;
	const char *remedy = ct_remedy_text(report);
	int is_dead;

	for (size_t p = 0; p < report->n_processes && !damaged; p++)
		damaged = report->processes[p].damage_why ? &report->processes[p] : NULL;
	if (remedy)
		return remedy;
	if (!damaged) {
		f->note = ct_finding_part(memory, CT_PART_UNKNOWN_LOSS, CT_NO_WORDS);
		return ct_finding_part(memory, CT_PART_CHECK_COPIES, CT_NO_WORDS);
	}
	/* A file that its own machine has cut off by itself is not a bad copy. */
	is_dead = strcmp(damaged->ring, "lost") == 0 && !damaged->skipped_bytes;
	f->note = ct_finding_part(memory, is_dead ? CT_PART_DIED_WRITING : CT_PART_DAMAGED,
				  CT_WORDS({ "{damage}", damaged->damage_why }));
	return ct_finding_part(memory, is_dead ? CT_PART_SEE_MISSING_RECORDS : CT_PART_COPY_AGAIN,
			       CT_NO_WORDS);
}

void ct_finding_dropped_records(const struct ct_model *model, const struct ct_report *report,
				struct ct_findings *list)
{
	struct ct_arena *memory = list->memory;
	uint32_t *slots = ct_arena_calloc(memory, model->n_slots + 1, sizeof(*slots));
	double share = 100.0 * (double)report->dropped_records /
		       fmax(1, (double)report->dropped_records + (double)model->ops);
	struct ct_finding *f;
	const char *reason = NULL, *records;
	uint32_t n = 0, unknown = 0;

	for (size_t i = 0; i < report->n_dropped; i++) {
		const struct ct_report_dropped *loss = &report->dropped[i];

		if (!loss->is_loss_of_records)
			continue;
		unknown += loss->records == CT_UNKNOWN;
		if (!reason)
			reason = loss->reason;
	}
	if (!reason)
		return;
	f = ct_findings_add(list, CT_FINDING_DROPPED_RECORDS);
	for (uint32_t s = 0; slots && s < model->n_slots; s++) {
		if (report->ranks[s].dropped_records)
			slots[n++] = s;
	}
	if (!slots)
		return;
	ct_finding_slots(model, slots, n, list, f);
	f->severity = share > CT_NOTABLE_PCT			    ? CT_SEVERITY_CRITICAL
		      : share > 100 * CT_WORTH_REPORTING || unknown ? CT_SEVERITY_WARNING
								    : CT_SEVERITY_INFO;
	f->confidence = CT_CONFIDENCE_HIGH;
	ct_finding_evidence(list, f, "records",
			    unknown && !report->dropped_records ? NAN
								: (double)report->dropped_records,
			    "count", NAN);
	records = unknown && !report->dropped_records
			  ? "unknown"
			  : ct_arena_printf(memory, "%llu%s",
					    (unsigned long long)report->dropped_records,
					    unknown ? "+" : "");
	ct_finding_say(
		list, f, CT_TEXT_DROPPED,
		CT_WORDS({ "{records}",
			   unknown && !report->dropped_records
				   ? ct_finding_part(memory, CT_PART_UNKNOWN_NUMBER, CT_NO_WORDS)
				   : records },
			 { "{ranks}",
			   n ? ct_ranks_words(memory, f->ranks, n, CT_RANKS_SHOWN)
			     : ct_finding_part(memory, CT_PART_UNKNOWN_RANKS, CT_NO_WORDS) },
			 { "{reason}", reason }, { "{remedy}", remedy_of(report, memory, f) }));
	ct_finding_put(list, f, "records", "%s", records);
	ct_finding_put_who(list, f);
	ct_finding_put(list, f, "reason", "%s", reason);
	ct_finding_put(list, f, "pct_of_records", "%s", ct_text_pct(unknown ? NAN : share).s);
}
