/* SPDX-License-Identifier: Apache-2.0 */
/* say.h — the texts of a root: headline, cause, notes, advice, command, facts, and reasons for lower confidence. What they say is in
 * hang_texts.def; this fills it in. For the files of hang/ only. All texts are the arena's; functions that give one give NULL when
 * out of memory. */
#ifndef CT_ANALYZER_HANG_SAY_H
#define CT_ANALYZER_HANG_SAY_H

#include "analyzer/base/template.h"
#include "analyzer/hang/hang_result.h"
#include "analyzer/hang/roots.h"

struct ct_say {
	const struct ct_waiting *w;
	const struct ct_components *c;
	const struct ct_root *root;
	struct ct_hang_verdict *v;
};

/* ---- rows of hang_texts.def ---- */

/* Texts of a code, or of a cause that replaces some of them; NULL: none. */
struct ct_say_row {
	const char *headline, *cause, *advice, *host_advice, *command, *host_command;
};

enum ct_say_cause {
#define HANG_CAUSE(NAME, headline, cause, advice, command) CT_SAY_##NAME,
#include "analyzer/hang/hang_texts.def"
	CT_SAY_NOTHING_MORE
};

/* The texts of a code, in the light of what more is known. */
struct ct_say_row ct_say_row(enum ct_hang_code code, enum ct_say_cause cause);

/* ---- names: say_names.c ---- */

/* With tag and communicator, or as short as a headline needs. */
enum ct_say_length { CT_SAY_FULL, CT_SAY_SHORT };

/* "rank 2", "ranks 0,1,3", "ranks 0-7,9 and 500 more"; ranks as numbers, ascending. */
const char *ct_say_ranks(struct ct_arena *a, const int *ranks, uint32_t n);
/* The same of indices. */
const char *ct_say_indices(const struct ct_hang_index *ix, const uint32_t *ranks, uint32_t n);
/* "1f2e3d4c5b6a7988 (TP)", "W", "the job" */
const char *ct_say_comm(const struct ct_hang_index *ix, uint32_t comm);
/* "AllReduce #3 on W", "Recv #0 from rank 0" */
const char *ct_say_op(const struct ct_hang_index *ix, uint32_t op, enum ct_say_length length);
/* "AllReduce" */
const char *ct_say_name(const struct ct_hang_index *ix, uint32_t op);
/* Of a message: the op at its other end, "Send #0 to rank 1 on W", "a Send to rank 1 on W" if any rank may send it; of others, the op. */
const char *ct_say_other_end(const struct ct_hang_index *ix, uint32_t op,
			     enum ct_say_length length);
/* "AllReduce(1024 float32 sum)" with where it was called */
const char *ct_say_called(const struct ct_hang_index *ix, uint32_t op);
/* What a node of the graph is: an op, or a call of a communicator. "": neither. */
const char *ct_say_node(const struct ct_waiting *w, uint32_t node, enum ct_say_length length);
/* The op listed last of a rank; NONE: there is none. */
uint32_t ct_say_last_op(const struct ct_hang_index *ix, uint32_t rank);

/* ---- texts ---- */

/* How the ranks of the root came apart; NULL: that is not it. say_cause.c */
const struct ct_hang_mismatch *ct_say_mismatch(const struct ct_say *s);
/* Have as many ranks of the communicator exited as wait, or more? Then those that wait may be the odd ones. say_cause.c */
int ct_say_most_exited(const struct ct_say *s);
/* What is known beyond the root's code. say_cause.c */
enum ct_say_cause ct_say_cause(const struct ct_say *s);
/* "rank 0 waits in ... for rank 1, rank 1 waits in ... for rank 0": say_circle.c */
const char *ct_say_circle(const struct ct_say *s);
/* Notes of s->v: say_notes.c. 0 or CT_NOMEM. */
int ct_say_notes(const struct ct_say *s);
/* Headline, cause, advice, command and notes of s->v: say.c. 0 or CT_NOMEM. */
int ct_say_texts(const struct ct_say *s);
/* The op of s->v is an end of a message whose other end was never called: a message of the same two ranks that has only that other
 * end, with another tag or on another communicator; NONE: there is none on record. say_unmatched.c */
uint32_t ct_say_unmatched(const struct ct_say *s);
/* Facts of s->v: say_facts.c. 0 or CT_NOMEM. */
int ct_say_facts(const struct ct_say *s);
/* Confidence and its reasons: confidence.c. 0 or CT_NOMEM. */
int ct_say_confidence(const struct ct_say *s);

#endif
