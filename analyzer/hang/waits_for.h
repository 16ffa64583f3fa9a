/* SPDX-License-Identifier: Apache-2.0 */
/* waits_for.h — the wait-for graph over all unfinished operations. For the files of hang/ only.
 *
 * The graph grows from the stalled operations, so nodes that no one waits for cost nothing. A
 * node's edges are made once. A node without edges is a leaf and has a code. One thread. */
#ifndef CT_ANALYZER_HANG_WAITS_FOR_H
#define CT_ANALYZER_HANG_WAITS_FOR_H

#include "analyzer/hang/hang_result.h"
#include "analyzer/hang/index.h"
#include "analyzer/hang/match.h"

enum ct_wait_kind {
	CT_NODE_KERNEL, /* of a rank: waits for the instances of its ops, or for its predecessor */
	CT_NODE_INSTANCE,   /* waits for ranks that have not entered it */
	CT_NODE_HOST,	    /* of a rank: what prevents its program from issuing operations */
	CT_NODE_LEFT,	    /* a rank that leaves a communicator in which others wait for it */
	CT_NODE_LOST,	    /* a rank whose records end too early */
	CT_NODE_JOINT_CALL, /* a call that all ranks of a communicator have to make */
	CT_NODE_ERROR,	    /* of a communicator: the first of its ranks that got an error from the
			       library */
	CT_NODE_MISMATCH,   /* of a communicator */
	CT_NODE_MISMATCHED, /* an instance whose ends disagree */
	CT_NODE_KINDS
};

/* How an edge is known. */
enum ct_wait_edge_flags {
	CT_EDGE_SOFT = 1,   /* probably: the program may do something else */
	CT_EDGE_ABSENT = 2, /* that rank has not issued it */
	CT_EDGE_ANY = 4,    /* one of several would suffice */
	CT_EDGE_FUSED = 8,  /* of the same launch */
};

struct ct_wait_edge {
	uint32_t to;
	uint32_t flags;
};

struct ct_wait_node {
	uint32_t first, n; /* edges */
	uint32_t about; /* HOST: the call that it is inside; JOINT_CALL: one of its calls; else NONE
			 */
	uint8_t made;
	uint8_t code;  /* enum ct_hang_code of a leaf; CT_HANG_CODES: none */
	uint8_t fused; /* an instance blocked only by other ops of its kernels */
	uint8_t start; /* stalled by itself: 1, or because a process died: 2 */
};

/* A call that all ranks of a communicator have to make. */
struct ct_joint_call {
	enum ct_host_call kind;
	uint32_t comm; /* NONE: the whole job */
	uint32_t call; /* the first of them; the others follow by next_joint */
};

struct ct_waiting {
	const struct ct_hang_index *ix;
	uint32_t base[CT_NODE_KINDS + 1]; /* numbers of nodes by kind */
	struct ct_wait_node *nodes;
	struct ct_wait_edge *edges; /* malloc'ed */
	uint32_t n_edges, cap_edges;
	uint32_t *found; /* nodes that have been made, in that order */
	uint32_t n_found;
	struct ct_joint_call *joint_calls;
	uint32_t n_joint_calls;
	uint32_t *joint_call_of; /* by call of the case; NONE */
	uint32_t *next_joint;
	uint32_t *there;		      /* by rank: 1 + the last joint call that counted it */
	struct ct_hang_mismatch **mismatches; /* by comm */
	uint8_t *matched;		      /* by comm: was examined */
	struct ct_hang_mismatch **mismatched; /* by instance: a message */
};

/* Builds the graph of stalled operations. 0 or CT_NOMEM; ct_waiting_fini() in any case. */
int ct_waiting_make(const struct ct_hang_index *ix, struct ct_waiting **waits);
void ct_waiting_fini(struct ct_waiting *waits); /* NULL is fine */

static inline uint32_t ct_wait_id(const struct ct_waiting *w, enum ct_wait_kind kind, uint32_t at)
{
	return w->base[kind] + at;
}

enum ct_wait_kind ct_wait_kind(const struct ct_waiting *w, uint32_t node);

/* The index of the node's kernel, instance, rank, joint call or comm. */
uint32_t ct_wait_of(const struct ct_waiting *w, uint32_t node);

/* Rank (index) that a node is of; NONE: of no single one. */
uint32_t ct_wait_rank(const struct ct_waiting *w, uint32_t node);

/* ---- for the files that make edges ---- */

int ct_wait_edge(struct ct_waiting *w, uint32_t node, uint32_t to, uint32_t flags);

/* Edges of a node of each kind; they must be added one after the other. 0 or CT_NOMEM. */
int ct_waiting_of_kernel(struct ct_waiting *w, uint32_t node);
int ct_waiting_of_instance(struct ct_waiting *w, uint32_t node);   /* waits_for_instance.c */
int ct_waiting_of_host(struct ct_waiting *w, uint32_t node);	   /* waits_for_host.c */
int ct_waiting_of_joint_call(struct ct_waiting *w, uint32_t node); /* waits_for_host.c */
int ct_waiting_of_error(struct ct_waiting *w, uint32_t node);	   /* waits_for_host.c */

/* When all nodes exist: marks ranks as missing that were killed after others had waited for them
 * (waits_for_host.c). */
void ct_waiting_killed(struct ct_waiting *w);

/* Do the ranks that have not ended this collective disagree with the others on how many messages
 * they exchanged before it? */
int ct_waiting_messages_differ(const struct ct_waiting *w,
			       const struct ct_hang_instance *i); /* tally.c */

/* Make the edges of `node` now, if they have not been made. */
int ct_waiting_visit(struct ct_waiting *w, uint32_t node);

/* Did this rank fail, or get an error, only after a long wait in an op of its own? Then the hang
 * killed it. */
int ct_wait_died_of_it(const struct ct_waiting *w, uint32_t rank);

/* The node of the divergence that an op follows or is part of; NONE: there is none. 0 or CT_NOMEM.
 */
int ct_wait_mismatch_of(struct ct_waiting *w, uint32_t op, uint32_t *node);

/* An op that its rank has not finished and still waits in, or waited in when it gave up. */
int ct_wait_is_open(const struct ct_waiting *w, uint32_t kernel);

#endif
