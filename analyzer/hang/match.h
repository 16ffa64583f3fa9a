/* SPDX-License-Identifier: Apache-2.0 */
/* match.h — where the ranks of a communicator made different calls: the judgement of order/ on their listed ops. For the files
 * of hang/ only. Pure, except for the arena. */
#ifndef CT_ANALYZER_HANG_MATCH_H
#define CT_ANALYZER_HANG_MATCH_H

#include "analyzer/hang/hang_result.h"
#include "analyzer/hang/index.h"
#include "analyzer/order/divergence.h"

/* How the ranks of a communicator diverged, or a message whose ends disagree. */
struct ct_hang_mismatch {
	enum ct_hang_code code;
	uint32_t instance; /* where it began: what comes before it is not about that */
	uint32_t *culprits; /* ranks (index), ascending: the odd ones, or all where it cannot be told which are right */
	uint32_t n_culprits;
	uint32_t usual, odd;			     /* ops of the one and of the other */
	int tie;				     /* it cannot be told which are right */
	struct ct_divergence apart;		     /* of a communicator */
	const struct ct_hang_divergence *divergence; /* what its sites tell; NULL: nothing */
};

/* Why `comm` may hang: skipped or extra operations, wherever that began, or else the first difference that not all have passed.
 * *found NULL: none. 0 or CT_NOMEM. */
int ct_hang_match(const struct ct_hang_index *ix, uint32_t comm, struct ct_hang_mismatch **found);

/* In what the ends of a message contradict each other, as far as their library demands that they agree: in NCCL count and type; in
 * MPI a receive may be larger, and types may describe the same bytes in two ways. CT_HANG_CODES: in nothing, or it is not known. */
enum ct_hang_code ct_hang_message_between(unsigned backend, const struct ct_hang_op *send,
					  const struct ct_hang_op *recv);

/* The ends of a message disagree in size. As above. */
int ct_hang_match_message(const struct ct_hang_index *ix, uint32_t instance,
			  struct ct_hang_mismatch **found);

#endif
