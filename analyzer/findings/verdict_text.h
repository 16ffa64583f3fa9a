/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_text.h — the sentences of the verdict: each sets its code, confidence, text and gain. Texts are in the
 * report's memory, which remembers that it was too little: nothing here fails. */
#ifndef CT_VERDICT_SAY_H
#define CT_VERDICT_SAY_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/lateness/arrivals.h"
#include "analyzer/model/model.h"

/* Collectives with times on every rank that make "nobody is slow" an answer. */
#define CT_VERDICT_MIN_MATCHED 20u
/* Less of the run inside communication than this, and communication is not the matter. */
#define CT_VERDICT_COMM_PCT 5.0

void ct_verdict_say(struct ct_report *report, enum ct_verdict_code code,
		    enum ct_confidence confidence, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* NOT_ENOUGH_EVIDENCE, without any confidence. */
void ct_verdict_doubt(struct ct_report *report, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* One more thing to know, behind what has been said; "": nothing. */
void ct_verdict_add(struct ct_report *report, const char *text);

/* ---- findings: finding_text.c ---- */

/* A finding that makes the verdict by itself: contradictions, stragglers, links, stalls, a change. Slow transfers of nobody in
 * particular are NOT_ENOUGH_EVIDENCE. */
void ct_say_finding(const struct ct_model *model, const struct ct_finding *finding,
		    struct ct_report *report);

/* The same in few words, beside something else. */
const char *ct_finding_in_short(const struct ct_finding *finding, struct ct_report *report);

/* ---- what keeps from judging: doubt_text.c ---- */

/* The longest that a rank stood waiting for communication in all, with its error: what is hidden costs nothing. UINT64_MAX: not
 * known of all. */
uint64_t ct_most_exposed(const struct ct_model *model);

/* The most that is gained (ns of the run) if these n seats compute like the others: how much longer than they one of these stood waiting
 * for communication, since a rank computes, or idles, while it does not wait. Of several it is the sum, for they may be late by turns.
 * UINT64_MAX: not known. */
uint64_t ct_most_gained(const struct ct_model *model, const uint32_t *seats, uint32_t n);

/* Of which ranks nothing, or not all, is there: "only 7 of 8 ranks left a trace"; "": all is there. */
const char *ct_say_what_lacks(const struct ct_model *model, const struct ct_report *report);

/* Nothing holds of two jobs together; `processes`: one of each. */
void ct_say_two_jobs(const struct ct_model *model, const uint32_t processes[2],
		     struct ct_report *report);

/* Why there is nothing to judge by; "": there is. */
const char *ct_say_what_is_missing(const struct ct_model *model, const struct ct_report *report);

/* Of the ranks that left a trace, who came last where others left none; "": nobody stands out. */
const char *ct_say_last_of_rest(const struct ct_arrivals *arrivals, const struct ct_model *model,
				const struct ct_report *report);

/* How processes were seen to end that did not end well; "": none was. */
const char *ct_say_ends(const struct ct_report *report);

/* Did a process end that nobody knows the end of, though it was there to be seen? Not of lines that were imported, nor where the
 * file is cut. */
int ct_ends_unseen(const struct ct_report *report);

/* Operations that are unfinished where the trace ends, of a run whose exits are not recorded (imported): 0 of others, which tell by
 * their ends what became of them. What there is to say of them. */
uint64_t ct_open_unexplained(const struct ct_report *report);
const char *ct_open_text(const struct ct_report *report, uint64_t n);

/* Operations that never ended, and ends of processes. */
void ct_say_unclear(struct ct_report *report, const struct ct_stuck_sum *stuck);

/* ---- what communication costs: communication_text.c ---- */

void ct_say_exposed(const struct ct_finding *finding, struct ct_report *report);
/* is_pipeline: the run was replayed, and its ranks are pipeline stages. */
void ct_say_healthy(const struct ct_model *model, int is_pipeline, struct ct_report *report);

#endif
