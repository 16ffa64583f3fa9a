/* SPDX-License-Identifier: Apache-2.0 */
/* hang.h — the verdict on a hang as text for people and as JSON for programs. The FILE stays the
 * caller's. */
#ifndef CT_ANALYZER_RENDER_HANG_H
#define CT_ANALYZER_RENDER_HANG_H

#include "analyzer/hang/hang.h"
#include "analyzer/render/render.h"

/* The headline alone, with its confidence, without its line's end. */
void ct_hang_sentence(const struct ct_hang_run *run, FILE *out);

/* `commtrace hang`: headline, cause, evidence, what to do, stack; then other verdicts, the job,
 * missing data. At most 25 lines of 80 columns, more with style->verbose. `style` may be NULL. */
void ct_hang_text(const struct ct_hang_run *run, const struct ct_text_style *style, FILE *out);

/* The same for scripts: JOB, and a VERDICT for each, followed by key=value. */
void ct_hang_kv(const struct ct_hang_run *run, const struct ct_text_style *style, FILE *out);

/* The same as a message for a chat or a ticket, in Markdown: each verdict's headline, cause,
 * evidence and advice. */
void ct_hang_markdown(const struct ct_hang_run *run, const struct ct_text_style *style, FILE *out);

/* Hosts of the ranks at fault, comma-separated in a line: of verdicts of medium or high confidence,
 * and where the cause may be the host. Nothing is written if there are none. Returns their number,
 * or -1 when out of memory. */
int ct_hang_hosts(const struct ct_hang_run *run, FILE *out);

/* Object "commtrace.hang/1". A new reference, NULL when out of memory. */
json_t *ct_hang_json(const struct ct_hang_run *run);

/* Of that, for a report: {state, verdicts}. A new reference, NULL when out of memory. */
json_t *ct_hang_verdicts_json(const struct ct_hang_run *run);

/* Of that, a rank: its host, how it is, its last operation. Null if the case does not have it. */
json_t *ct_hang_rank_json(const struct ct_hang_run *run, int rank);

struct ct_text;

/* The same as a row of text: "rank 3   node1, pid 4242; in AllReduce #12 (entered), ..." */
void ct_hang_rank_text(struct ct_text *text, const struct ct_hang_run *run, int rank, int verbose);

/*
 * Of threads (hang_stacks.c): of the first ranks of a verdict the most useful one, how it is and
 * its frames, Python's where it has such, in so many lines; for programs a few of each of all its
 * ranks, with all frames.
 */
void ct_hang_stacks_text(struct ct_text *text, const struct ct_hang_run *run,
			 const struct ct_hang_verdict *verdict, int lines);
json_t *ct_hang_stacks_json(const struct ct_hang_run *run, const struct ct_hang_verdict *verdict);

/* "0-3,5 and 500 more" of ranks in ascending order: at most `most` numbers. */
void ct_hang_rank_list(const int *ranks, uint32_t n, uint32_t most, FILE *out);

#endif
