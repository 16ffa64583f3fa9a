/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_text.h — the texts of a root: headline, cause, notes, advice, command, facts, and reasons
 * for lower confidence, from the rows of hang_texts.def. For the files of hang/ only. The arena
 * owns all texts and remembers failed allocations: no text is NULL. */
#ifndef CT_ANALYZER_HANG_VERDICT_TEXT_H
#define CT_ANALYZER_HANG_VERDICT_TEXT_H

#include "analyzer/base/template.h"
#include "analyzer/hang/hang_result.h"
#include "analyzer/hang/roots.h"

struct ct_verdict_text {
	const struct ct_waiting *w;
	const struct ct_components *c;
	const struct ct_root *root;
	struct ct_hang_verdict *v;
};

/* ---- rows of hang_texts.def ---- */

/* Texts of a code, or of a cause that replaces some of them; NULL: none. */
struct ct_hang_text_row {
	const char *headline, *cause, *advice, *host_advice, *command, *host_command;
};

enum ct_hang_cause {
#define HANG_CAUSE(NAME, headline, cause, advice, command) CT_HANG_CAUSE_##NAME,
#include "analyzer/hang/hang_texts.def"
	CT_HANG_CAUSE_NONE
};

/* The texts of a code, in the light of what more is known. */
struct ct_hang_text_row ct_hang_text_row(enum ct_hang_code code, enum ct_hang_cause cause);

/* ---- names: names_text.c ---- */

/* With tag and communicator, or short for a headline. */
enum ct_name_length { CT_NAME_FULL, CT_NAME_SHORT };

/* "rank 2", "ranks 0,1,3", "ranks 0-7,9 and 500 more"; ranks as numbers, ascending. */
const char *ct_hang_ranks_text(struct ct_arena *a, const int *ranks, uint32_t n);
/* The same of indices. */
const char *ct_hang_rank_indices_text(const struct ct_hang_index *ix, const uint32_t *ranks,
				      uint32_t n);
/* "1f2e3d4c5b6a7988 (TP)", "W", "the job" */
const char *ct_hang_comm_text(const struct ct_hang_index *ix, uint32_t comm);
/* "AllReduce #3 on W", "Recv #0 from rank 0" */
const char *ct_hang_op_text(const struct ct_hang_index *ix, uint32_t op,
			    enum ct_name_length length);
/* "AllReduce" */
const char *ct_hang_op_name(const struct ct_hang_index *ix, uint32_t op);
/* For a message: the op at its other end, "Send #0 to rank 1 on W", "a Send to rank 1 on W" if any
 * rank may send it; otherwise the op itself. */
const char *ct_hang_other_end_text(const struct ct_hang_index *ix, uint32_t op,
				   enum ct_name_length length);
/* "AllReduce(1024 float32 sum)" with where it was called */
const char *ct_hang_called_text(const struct ct_hang_index *ix, uint32_t op);
/* The op or call of a graph node; "": it has none. */
const char *ct_hang_node_text(const struct ct_waiting *w, uint32_t node,
			      enum ct_name_length length);
/* The last op listed for a rank; NONE: it has none. */
uint32_t ct_hang_last_op_index(const struct ct_hang_index *ix, uint32_t rank);

/* ---- texts ---- */

/* How the ranks of the root diverged; NULL: they did not. cause_text.c */
const struct ct_hang_mismatch *ct_hang_mismatch_of(const struct ct_verdict_text *s);
/* Have at least as many ranks of the communicator exited as wait? Then the waiting ranks may be the
 * odd ones. cause_text.c */
int ct_hang_most_exited(const struct ct_verdict_text *s);
/* The cause, where more than the root's code is known. cause_text.c */
enum ct_hang_cause ct_hang_cause(const struct ct_verdict_text *s);
/* "rank 0 waits in ... for rank 1, rank 1 waits in ... for rank 0": circle_text.c */
const char *ct_hang_circle_text(const struct ct_verdict_text *s);
/* Notes of s->v: notes.c. 0 or CT_NOMEM. */
int ct_hang_notes(const struct ct_verdict_text *s);
/* Headline, cause, advice, command and notes of s->v: verdict_text.c. 0 or CT_NOMEM. */
int ct_hang_verdict_texts(const struct ct_verdict_text *s);
/* The op of s->v is an end of a message whose other end was never called: a message of the same two
 * ranks that has only that other end, with another tag or on another communicator; NONE: none is
 * recorded. notes.c */
uint32_t ct_hang_unmatched_op(const struct ct_verdict_text *s);
/* Facts of s->v: facts.c. 0 or CT_NOMEM. */
int ct_hang_facts(const struct ct_verdict_text *s);
/* Confidence and its reasons: confidence.c. 0 or CT_NOMEM. */
int ct_hang_confidence(const struct ct_verdict_text *s);

#endif
