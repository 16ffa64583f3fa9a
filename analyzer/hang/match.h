/* SPDX-License-Identifier: Apache-2.0 */
/* match.h — where the ranks of a communicator called different things as the same op, and from different places. For the files
 * of hang/ only. Pure but for the arena. */
#ifndef CT_HANG_MATCH_H
#define CT_HANG_MATCH_H

#include "analyzer/hang/diagnose.h"
#include "analyzer/hang/index.h"

/* The first instance of a communicator on which its ranks disagree, or a message whose ends do. */
struct ct_hang_mismatch {
	enum ct_hang_code code;
	uint32_t instance;
	uint32_t *culprits; /* ranks (index), ascending: the fewer, or all if there are as many of both */
	uint32_t n_culprits;
	uint32_t usual, odd; /* ops: one of the most and one of the fewer */
	int tie;	     /* nobody can say who is right */
	int both; /* the odd ones left one operation out or called one more: the records fit both */
};

/* The first of `comm` that may be why it hangs: one that all have gone past is none, though they disagreed. *found NULL:
 * there is none. 0 or CT_NOMEM. */
int ct_hang_match(const struct ct_hang_index *ix, uint32_t comm, struct ct_hang_mismatch **found);

/* In what the ends of a message contradict each other, as far as their library demands that they agree: in NCCL count and type; in
 * MPI a receive may be larger, and types may describe the same bytes in two ways. CT_HANG_CODES: in nothing, or it is not known. */
enum ct_hang_code ct_hang_message_between(unsigned backend, const struct ct_hang_op *send,
					  const struct ct_hang_op *recv);

/* The ends of a message disagree in size. As above. */
int ct_hang_match_message(const struct ct_hang_index *ix, uint32_t instance,
			  struct ct_hang_mismatch **found);

/* Before instance `upto` of its communicator: the first op that all called alike and some from another place, and from
 * then on. As above. */
int ct_hang_diverge(const struct ct_hang_index *ix, uint32_t upto,
		    const struct ct_hang_divergence **found);

#endif
