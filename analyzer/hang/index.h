/* SPDX-License-Identifier: Apache-2.0 */
/* index.h — an index of a case: members of communicators, kernels of ranks, instances over ranks.
 * For the files of hang/ only. Built once, linear in ops and members except for sorting; all arrays
 * are the arena's. Invalid indices become CT_HANG_NONE here, so later steps need not check. */
#ifndef CT_ANALYZER_HANG_INDEX_H
#define CT_ANALYZER_HANG_INDEX_H

#include "analyzer/base/arena.h"
#include "analyzer/hang/hang_case.h"
#include "analyzer/order/order_call.h"
#include "trace/format.h"
#include "trace/ops.h"

#define CT_HANG_NONE UINT32_MAX

/* How sure it is that a kernel, or a call that is its own kernel, does its work. */
enum ct_hang_progress {
	CT_HANG_OVER,	 /* finished */
	CT_HANG_RUNS,	 /* its stream has reached it; without a stream, the library has it */
	CT_HANG_MAY_RUN, /* issued, and when it starts cannot be seen */
	CT_HANG_QUEUED,	 /* issued and not started */
	CT_HANG_INSIDE,	 /* the call, or the end of its group, has not returned */
	CT_HANG_GAVE_UP, /* its call failed, or the program aborted it */
};

/* The ops of one rank that run together: one launch, or one call. */
struct ct_hang_kernel {
	uint32_t rank;
	uint32_t first, n; /* kernel_ops */
	uint32_t before;   /* the last one before it on its stream that is not finished */
	uint32_t order;	   /* by issue, within its rank */
	uint8_t progress;
	uint8_t by_host;
	uint8_t graph;
	uint8_t grouped; /* INSIDE the end of its group rather than its own call */
	uint8_t stalled; /* the lowest but 0 of its ops' */
};

/* The same op on all its ranks. */
struct ct_hang_instance {
	uint64_t seq;
	uint64_t begin_ns; /* the first that entered it; CT_UNKNOWN */
	uint32_t comm;
	uint32_t tag;
	int32_t src, dst;  /* of a message, in the communicator; -1: a collective */
	uint32_t first, n; /* parts */
	uint8_t p2p;
	uint8_t any;	      /* a receive from any source or with any tag: it has no other part */
	uint8_t sent, taken;  /* this side was issued, though perhaps not listed */
	uint8_t taken_by_any; /* ... by a receive from any source or with any tag */
};

struct ct_hang_member {
	uint32_t rank;	    /* index; NONE unknown */
	uint32_t comm_rank; /* rank in the communicator */
	uint64_t last;	    /* highest collective that is listed ... */
	uint8_t has_last;
	uint8_t takes_any;  /* has an unfinished receive from any source or with any tag ... */
	int32_t takes_from; /* ... from this source; -1: any ... */
	uint32_t takes_tag; /* ... with this tag, or CT_TAG_ANY */
};

struct ct_hang_index {
	const struct ct_hang_case *c;
	struct ct_arena *arena;
	uint64_t latest_ns; /* heartbeat of any rank */

	uint32_t *member_first;		/* by comm, n_comms + 1 */
	struct ct_hang_member *members; /* of a comm by rank index, unknown ones last */
	uint32_t *by_comm_rank; /* of a comm by rank in it: index among the comm's members */
	uint32_t *member_of;	/* by op: index into members; NONE: not a member, or unknown comm */

	struct ct_hang_kernel *kernels; /* of each rank in the order of their issue */
	uint32_t n_kernels;
	uint32_t *kernel_ops;
	uint32_t *kernel_of;	/* by op */
	uint32_t *rank_kernels; /* by rank, n_ranks + 1 */

	struct ct_hang_instance *instances; /* by comm, collectives first by number; then messages
					       by ends, tag, number */
	uint32_t n_instances;
	uint32_t *instance_first; /* by comm, n_comms + 1 */
	uint32_t *parts;	  /* ops of instances, by rank */
	uint32_t *instance_of;	  /* by op; NONE: its members are unknown */

	struct ct_order_call *called; /* by op: what other members may contradict */

	uint32_t *rank_calls; /* by rank, n_ranks + 1: into calls */
	uint32_t *calls;      /* indices of those that have not returned */
	uint8_t *one_thread;  /* by rank: all its records are of one thread */
};

/* 0 or CT_NOMEM. */
int ct_hang_index(const struct ct_hang_case *c, struct ct_arena *arena,
		  struct ct_hang_index **index);

/* The membership of `rank` (index) in `comm`; NULL: not known as a member. */
struct ct_hang_member *ct_hang_member(const struct ct_hang_index *ix, uint32_t comm, uint32_t rank);

/* The member with this rank in `comm`; NULL: there is none. */
static inline struct ct_hang_member *ct_hang_member_at(const struct ct_hang_index *ix,
						       uint32_t comm, int32_t comm_rank)
{
	if (comm_rank < 0 || (uint32_t)comm_rank >= ix->c->comms[comm].n)
		return NULL;
	return &ix->members[ix->member_first[comm] +
			    ix->by_comm_rank[ix->member_first[comm] + (uint32_t)comm_rank]];
}

/* How many parts of an instance have finished: listed ones, and those that a later op of their rank
 * implies. */
uint32_t ct_hang_finished(const struct ct_hang_index *ix, const struct ct_hang_instance *instance);

/* How many of those are not listed. */
uint32_t ct_hang_unlisted(const struct ct_hang_index *ix, const struct ct_hang_instance *instance);

/* The rank (index) of that member; NONE: unknown. */
static inline uint32_t ct_hang_rank_at(const struct ct_hang_index *ix, uint32_t comm,
				       int32_t comm_rank)
{
	const struct ct_hang_member *member = ct_hang_member_at(ix, comm, comm_rank);

	return member ? member->rank : CT_HANG_NONE;
}

/* An issued MPI request whose completion only MPI_Wait* or MPI_Test* reports. */
int ct_hang_is_request(const struct ct_hang_index *ix, uint32_t op);

/* The op of `rank` in an instance, `op` 0: any, else CT_OP_Send or CT_OP_Recv; NONE. */
uint32_t ct_hang_part(const struct ct_hang_index *ix, const struct ct_hang_instance *instance,
		      uint32_t rank, unsigned op);

static inline int ct_hang_is_p2p(unsigned op)
{
	return op == CT_OP_Send || op == CT_OP_Recv;
}

/* An op as order/ compares it; without its site. */
struct ct_order_call ct_hang_called(const struct ct_hang_op *op);

/* The call of an instance's part number `at`. */
static inline const struct ct_order_call *ct_hang_called_by(const struct ct_hang_index *ix,
							    const struct ct_hang_instance *i,
							    uint32_t at)
{
	return &ix->called[ix->parts[i->first + at]];
}

/* ---- the parts of building, in this order ---- */
int ct_hang_index_members(struct ct_hang_index *ix);   /* index_members.c */
int ct_hang_index_kernels(struct ct_hang_index *ix);   /* index_kernels.c */
int ct_hang_index_instances(struct ct_hang_index *ix); /* index_instances.c */
void ct_hang_index_requests(struct ct_hang_index *ix); /* index_requests.c */

#endif
