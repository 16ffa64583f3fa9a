/* SPDX-License-Identifier: Apache-2.0 */
/* match.h — where the ranks of a communicator made different calls: the judgement of order/ on
 * their listed ops. For the files of hang/ only. Pure, except for the arena. */
#ifndef CT_ANALYZER_HANG_MATCH_H
#define CT_ANALYZER_HANG_MATCH_H

#include "analyzer/hang/hang_result.h"
#include "analyzer/hang/index.h"
#include "analyzer/order/divergence.h"

/* How the ranks of a communicator diverged, or the ends of a message disagree. */
struct ct_hang_mismatch {
	enum ct_hang_code code;
	uint32_t instance;  /* where the difference began: earlier instances are unaffected */
	uint32_t *culprits; /* ranks (index), ascending: the odd ones, or all if the majority is
			       unknown */
	uint32_t n_culprits;
	uint32_t usual, odd;			  /* ops of the one and of the other */
	int tie;				  /* the majority is unknown */
	struct ct_divergence by_call;		  /* of a communicator */
	const struct ct_hang_divergence *by_site; /* by call sites; NULL: none */
};

/* Why `comm` may hang: skipped or extra operations, wherever that began, or else the first
 * difference that not all have passed. *found NULL: none. 0 or CT_NOMEM. */
int ct_hang_match(const struct ct_hang_index *ix, uint32_t comm, struct ct_hang_mismatch **found);

/* How the ends of a message contradict each other where their library requires them to agree: in
 * NCCL count and type. In MPI a receive may be larger, and types may describe the same bytes in two
 * ways. CT_HANG_CODES: they agree, or it is unknown. */
enum ct_hang_code ct_hang_message_between(unsigned backend, const struct ct_hang_op *send,
					  const struct ct_hang_op *recv);

/* The ends of a message disagree in size. As above. */
int ct_hang_match_message(const struct ct_hang_index *ix, uint32_t instance,
			  struct ct_hang_mismatch **found);

#endif
