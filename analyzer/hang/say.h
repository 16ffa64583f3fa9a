/* SPDX-License-Identifier: Apache-2.0 */
/* say.h — the text of a root: its sentence, its facts, the reasons for lower confidence. For the files of hang/ only. All texts
 * are the arena's; functions that give one give NULL when out of memory. */
#ifndef CT_ANALYZER_HANG_SAY_H
#define CT_ANALYZER_HANG_SAY_H

#include "analyzer/hang/hang_result.h"
#include "analyzer/hang/roots.h"

struct ct_say {
	const struct ct_waiting *w;
	const struct ct_components *c;
	const struct ct_root *root;
	struct ct_hang_verdict *v;
};

/* ---- names: say_names.c ---- */

/* "rank 2", "ranks 0, 1 and 3", "ranks 0 to 7, 9 and 500 more"; ranks as numbers, ascending. */
const char *ct_say_ranks(struct ct_arena *a, const int *ranks, uint32_t n);
/* The same of indices. */
const char *ct_say_indices(const struct ct_hang_index *ix, const uint32_t *ranks, uint32_t n);
/* "comm 1f2e3d4c5b6a7988 (TP)", "comm W" */
const char *ct_say_comm(const struct ct_hang_index *ix, uint32_t comm);
/* "AllReduce #3 of comm W", "Recv #0 from rank 0 of comm W" */
const char *ct_say_op(const struct ct_hang_index *ix, uint32_t op);
/* Of a message: the op at its other end, "Send #0 to rank 1 of comm W", "a Send to rank 1 of comm W" if anybody may send it; of
 * others, the op. */
const char *ct_say_other_end(const struct ct_hang_index *ix, uint32_t op);
/* "AllReduce(1024 float32 sum)" with where it was called */
const char *ct_say_called(const struct ct_hang_index *ix, uint32_t op);
/* What a node of the graph is: an op, or a call of a communicator. "": neither. */
const char *ct_say_node(const struct ct_waiting *w, uint32_t node);
/* The op listed last of a rank; NONE: there is none. */
uint32_t ct_say_last_op(const struct ct_hang_index *ix, uint32_t rank);

/* ---- sentences ---- */

/* Additional facts, with their own comma or colon in front; "": none. say_more.c */
const char *ct_say_more(const struct ct_say *s);
/* "rank 0 waits in ... for rank 1, rank 1 waits in ... for rank 0": say_circle.c */
const char *ct_say_circle(const struct ct_say *s);
/* Fills the sentence of s->v from hang_codes.def: say.c. 0 or CT_NOMEM. */
int ct_say_sentence(const struct ct_say *s);
/* Are all ranks of this root stopped by a signal or a debugger? say.c */
int ct_say_is_stopped(const struct ct_waiting *w, const struct ct_root *root);
/* The op of s->v is an end of a message whose other end was never called: a message of the same two ranks that has only that other
 * end, with another tag or on another communicator; NONE: there is none on record. say_unmatched.c */
uint32_t ct_say_unmatched(const struct ct_say *s);
/* Facts of s->v: say_facts.c. 0 or CT_NOMEM. */
int ct_say_facts(const struct ct_say *s);
/* Confidence and its reasons: confidence.c. 0 or CT_NOMEM. */
int ct_say_confidence(const struct ct_say *s);

#endif
