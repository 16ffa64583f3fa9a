/* SPDX-License-Identifier: Apache-2.0 */
/* order_call.h — one call of a member, reduced to what other members can contradict; the field in
 * which two calls differ, and the call of the majority.
 *
 * The only code that compares calls: the report fills the struct from members of instances,
 * hang/ from the last operations of a rank. An unknown field contradicts nothing. Pure functions;
 * any thread. */
#ifndef CT_ANALYZER_ORDER_ORDER_CALL_H
#define CT_ANALYZER_ORDER_ORDER_CALL_H

#include <stdint.h>

struct ct_member;
struct ct_site;

struct ct_order_call {
	const struct ct_site *site; /* NULL unknown */
	uint64_t count, bytes;
	int32_t root; /* -1 none, or not known to this member */
	uint8_t op;   /* 0 unknown; CT_OP_GraphLaunch: a graph with unknown operations */
	uint8_t dtype, redop;
	uint8_t varying; /* a v-collective: counts may differ between members */
};

enum ct_mismatch_field {
	CT_MISMATCH_NONE,
	CT_MISMATCH_OP,
	CT_MISMATCH_BYTES,
	CT_MISMATCH_DTYPE,
	CT_MISMATCH_REDOP,
	CT_MISMATCH_ROOT,
};

/* "op", "count", ... as spelled in JSON; "none". */
const char *ct_mismatch_field_name(enum ct_mismatch_field field);

struct ct_order_call ct_order_call_of(const struct ct_member *member);

/* Must all members state the same size in such a call? */
int ct_order_sizes_agree(const struct ct_order_call *call);

/* The field in which two calls of one collective contradict each other. */
enum ct_mismatch_field ct_order_differ(const struct ct_order_call *a,
				       const struct ct_order_call *b);

/* The field in which the ends of a message contradict each other, as far as their library (enum
 * ct_backend) requires them to agree: in NCCL count and type; in MPI a receive may be larger, and
 * types may describe the same bytes in two ways. */
enum ct_mismatch_field ct_order_message_differ(unsigned backend, const struct ct_order_call *send,
					       const struct ct_order_call *recv);

/* Are both sites known and equal; known and different? A call may be NULL: unknown. */
int ct_order_same_site(const struct ct_order_call *a, const struct ct_order_call *b);
int ct_order_other_site(const struct ct_order_call *a, const struct ct_order_call *b);

/* Do `a` and `b`, of 0 .. n - 1, agree? */
typedef int (*ct_order_agree_fn)(const void *arg, uint32_t a, uint32_t b);

/* The one with which more than half of n > 0 agree, if there is one (Boyer and Moore's vote); else
 * any. *agree gets how many agree with it, itself included. */
uint32_t ct_order_vote(uint32_t n, ct_order_agree_fn agree_fn, const void *arg, uint32_t *agree);

#endif
