/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_text.h — the sentences of the verdict: each sets its code, confidence, text and gain.
 * Texts are in the report's memory, which records failed allocations, so nothing here fails. */
#ifndef CT_ANALYZER_FINDINGS_VERDICT_TEXT_H
#define CT_ANALYZER_FINDINGS_VERDICT_TEXT_H

#include "analyzer/base/template.h"
#include "analyzer/findings/finding_list.h"
#include "analyzer/findings/judgement.h"
#include "analyzer/model/model.h"

void ct_verdict_set(struct ct_report *report, enum ct_verdict_code code,
		    enum ct_confidence confidence, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Rows of verdicts.def. */
enum ct_verdict_row {
#define VERDICT(name, code, headline, note, advice, command) CT_SAYS_##name,
#include "analyzer/findings/verdicts.def"
};
enum ct_note {
#define NOTE(name, text) CT_NOTE_##name,
#include "analyzer/findings/verdicts.def"
};

/* The verdict of this row, with its note, advice and command. The words are copied. A doubt has no
 * confidence. */
void ct_verdict_say(struct ct_report *report, enum ct_verdict_row row,
		    enum ct_confidence confidence, const struct ct_word *words, size_t n);

/* Appends this note. */
void ct_verdict_note(struct ct_report *report, enum ct_note note, const struct ct_word *words,
		     size_t n);

/* The text of a row: a part of a sentence that another row takes as a word. */
const char *ct_note_text(const struct ct_report *report, enum ct_note note,
			 const struct ct_word *words, size_t n);

/* "1 operation", "3 operations" */
const char *ct_counted(const struct ct_report *report, uint64_t n, const char *one,
		       const char *several);

/* Appends a note; "": nothing. */
void ct_verdict_add(struct ct_report *report, const char *text);

/* Appends to the sentence only, not to the notes: another finding, which has a headline. */
void ct_verdict_mention(struct ct_report *report, const char *text);

/* ---- findings: verdict_text.c ---- */

/* The verdict of a finding: contradictions, stragglers, links, stalls, a change. Slow transfers
 * without a particular rank are NOT_ENOUGH_EVIDENCE. headlines.def has the verdict of each kind. */
void ct_verdict_of_finding(const struct ct_finding *finding, struct ct_report *report);

/* Last step: links the verdict to this finding (NULL: to none), with its advice and command. A
 * verdict with the finding's own sentence has its title: STRAGGLER may be stalls. The headline is
 * cut where names make it too long. */
void ct_verdict_conclude(struct ct_report *report, const struct ct_finding *about);

/* The same in few words, to add to another sentence. */
const char *ct_finding_in_short(const struct ct_finding *finding, struct ct_report *report);

/* ---- reasons against a judgement: doubt_text.c ---- */

/* The largest exposed time of a rank, with its error; hidden communication costs nothing.
 * UINT64_MAX: not known for all ranks. */
uint64_t ct_most_exposed(const struct ct_model *model);

/* Upper bound of the saving (ns of the run) if these n slots compute like the others. It is the
 * excess of another rank's exposed time over theirs, since a rank computes, or idles, while it does
 * not wait. For several slots it is the sum, because they may be late in turns. UINT64_MAX:
 * unknown. */
uint64_t ct_most_gained(const struct ct_model *model, const uint32_t *slots, uint32_t n);

/* Ranks with a missing or incomplete trace: "only 7 of 8 ranks left a trace"; "": none. */
const char *ct_lacking_text(const struct ct_model *model, const struct ct_report *report);

/* The next step where something lacks: of the reason for which most records were dropped. */
const char *ct_remedy_of_lacking(const struct ct_report *report);

/* Two jobs cannot be judged as one run; `processes`: one of each. */
void ct_verdict_two_jobs(const struct ct_model *model, const uint32_t processes[2],
			 struct ct_report *report);

/* The verdict where the run cannot be judged; 0: it can, and nothing is done. */
int ct_verdict_missing(const struct ct_model *model, struct ct_report *report);

/* The remedy for what dropped most records; NULL: there is none, or none were dropped. */
const char *ct_remedy_text(const struct ct_report *report);

/* The rank with a trace that arrived last, if others left none; "": no rank is clearly last. */
const char *ct_last_arrivals_text(const struct ct_judgement *judgement,
				  const struct ct_report *report);

/* The recorded failures of processes; "": none. */
const char *ct_ends_text(const struct ct_report *report);

/* Did a process end in an unknown way although its end could have been observed? Not for imported
 * runs, nor for cut files. */
int ct_ends_unseen(const struct ct_report *report);

/* Unfinished operations at the end of an imported run, whose exits are not recorded; 0 for other
 * runs. And the sentence about them. */
uint64_t ct_open_unexplained(const struct ct_report *report);
const char *ct_open_text(const struct ct_report *report, uint64_t n);

/* Operations that never completed, and ends of processes. */
void ct_verdict_unclear(struct ct_report *report, const struct ct_stuck_sum *stuck);

/* ---- cost of communication: communication_text.c ---- */

void ct_verdict_exposed(const struct ct_finding *finding, struct ct_report *report);
/* is_pipeline: the run was replayed, and its ranks are pipeline stages. */
void ct_verdict_healthy(const struct ct_model *model, int is_pipeline, struct ct_report *report);

#endif
