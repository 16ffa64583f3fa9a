/* SPDX-License-Identifier: Apache-2.0 */
/* collective_args.h — what a rank has in a collective, from the arguments of the call.
 *
 * Recorded counts follow trace/ops.def: of operations that every rank takes an equal part in, the
 * part as it was passed; of those with a count for each peer, the sum of what this rank sends, or
 * the part that is its own. Arguments that are not significant (MPI_IN_PLACE, at the ranks that are
 * not the root, in the root's own group of an intercommunicator) are never looked at. Everything
 * here is local and inlined into the wrapper of one function, where nearly all of it is known to
 * the compiler.
 */
#ifndef CT_INTERPOSE_MPI_COLLECTIVE_ARGS_H
#define CT_INTERPOSE_MPI_COLLECTIVE_ARGS_H

#include "interpose/mpi/comm.h"
#include "trace/ops.h"

#define CT_MPI_EACH_ROW inline __attribute__((always_inline))

/* Counts for peers, of int or MPI_Count; of each with a type of its own if `types` is not NULL. */
struct ct_mpi_counts {
	const void *at; /* NULL: none */
	const void *types;
	ct_mpi_handle type;
	uint32_t n;
	uint32_t first; /* member of the communicator that the first one is about */
	uint8_t is_wide;
	uint8_t is_recorded; /* they are of members, not of neighbors, and are recorded */
};

struct ct_mpi_args {
	uint64_t count;
	ct_mpi_handle type; /* 0: no data, or `parts` has the bytes */
	int32_t root;	    /* member of the communicator, -1 none */
	struct ct_mpi_counts parts;
};

static CT_MPI_EACH_ROW uint64_t ct_mpi_number(int64_t count)
{
	return count > 0 ? (uint64_t)count : 0;
}

/* 0 without counts: MPI reports that to the program. */
static CT_MPI_EACH_ROW uint64_t ct_mpi_count_at(const struct ct_mpi_counts *c, uint32_t i)
{
	if (__builtin_expect(!c->at, 0))
		return 0;
	return ct_mpi_number(c->is_wide ? ((const int64_t *)c->at)[i] : ((const int *)c->at)[i]);
}

static CT_MPI_EACH_ROW int ct_mpi_is_inter(const struct ct_traced_comm *comm)
{
	return comm->n_peers != comm->nranks;
}

/* The own group of an intercommunicator: its first member, and this rank in it. */
static CT_MPI_EACH_ROW uint32_t ct_mpi_first_local(const struct ct_traced_comm *comm)
{
	return ct_mpi_is_inter(comm) && comm->first_peer == 0 ? comm->n_peers : 0;
}

static CT_MPI_EACH_ROW uint32_t ct_mpi_local_rank(const struct ct_traced_comm *comm)
{
	return (uint32_t)comm->rank - ct_mpi_first_local(comm);
}

/* The role of this rank relative to the root. */
enum ct_mpi_side { CT_MPI_AWAY, CT_MPI_IS_ROOT, CT_MPI_NO_PART };

static CT_MPI_EACH_ROW enum ct_mpi_side ct_mpi_root_side(const struct ct_traced_comm *comm,
							 int root)
{
	if (!ct_mpi_is_inter(comm))
		return root == comm->rank ? CT_MPI_IS_ROOT : CT_MPI_AWAY;
	if (root == ct_mpi.is.ROOT)
		return CT_MPI_IS_ROOT;
	return root == ct_mpi.is.PROC_NULL ? CT_MPI_NO_PART : CT_MPI_AWAY;
}

/* The root as a member. The other members of its own group do not know which of them it is. */
static CT_MPI_EACH_ROW int32_t ct_mpi_args_root(const struct ct_traced_comm *comm, int root)
{
	switch (ct_mpi_root_side(comm, root)) {
	case CT_MPI_IS_ROOT:
		return comm->rank;
	case CT_MPI_NO_PART:
		return -1;
	case CT_MPI_AWAY:
		break;
	}
	return (int32_t)comm->first_peer + root;
}

static CT_MPI_EACH_ROW struct ct_mpi_counts ct_mpi_of_peers(const struct ct_traced_comm *comm,
							    const void *at, int is_wide,
							    const void *types, ct_mpi_handle type)
{
	return (struct ct_mpi_counts){ .at = at,
				       .types = types,
				       .type = type,
				       .n = comm->n_peers,
				       .first = comm->first_peer,
				       .is_wide = (uint8_t)is_wide,
				       .is_recorded = 1 };
}

static CT_MPI_EACH_ROW struct ct_mpi_args ct_mpi_whole(int64_t count, ct_mpi_handle type)
{
	return (struct ct_mpi_args){ .count = ct_mpi_number(count), .type = type, .root = -1 };
}

static CT_MPI_EACH_ROW struct ct_mpi_args ct_mpi_rooted(const struct ct_traced_comm *comm,
							int64_t count, ct_mpi_handle type, int root)
{
	struct ct_mpi_args share = ct_mpi_whole(count, type);

	share.root = ct_mpi_args_root(comm, root);
	if (ct_mpi_root_side(comm, root) == CT_MPI_NO_PART)
		share.count = share.type = 0;
	return share;
}

static CT_MPI_EACH_ROW struct ct_mpi_args ct_mpi_own(const void *buffer, int64_t count,
						     ct_mpi_handle type, int64_t other_count,
						     ct_mpi_handle other_type)
{
	return ct_mpi_is_in_place(buffer) ? ct_mpi_whole(other_count, other_type)
					  : ct_mpi_whole(count, type);
}

/* Gather and scatter: `buffer` with count and type is this rank's part, the others are what the
 * root has for all. */
static CT_MPI_EACH_ROW struct ct_mpi_args ct_mpi_to_or_from(const struct ct_traced_comm *comm,
							    int root, const void *buffer,
							    int64_t count, ct_mpi_handle type,
							    int64_t other_count,
							    ct_mpi_handle other_type)
{
	enum ct_mpi_side stands = ct_mpi_root_side(comm, root);
	int of_root = stands == CT_MPI_IS_ROOT &&
		      (ct_mpi_is_inter(comm) || ct_mpi_is_in_place(buffer));
	struct ct_mpi_args share = of_root ? ct_mpi_whole(other_count, other_type)
					   : ct_mpi_whole(count, type);

	share.root = ct_mpi_args_root(comm, root);
	if (stands == CT_MPI_NO_PART)
		share.count = share.type = 0;
	return share;
}

/* The same with a count for each peer, which only the root has. */
static CT_MPI_EACH_ROW struct ct_mpi_args ct_mpi_to_or_from_v(const struct ct_traced_comm *comm,
							      int root, const void *buffer,
							      int64_t count, ct_mpi_handle type,
							      const void *counts, int is_wide,
							      ct_mpi_handle counts_type)
{
	struct ct_mpi_args share = ct_mpi_to_or_from(comm, root, buffer, count, type, 0,
						     counts_type);

	if (ct_mpi_root_side(comm, root) != CT_MPI_IS_ROOT)
		return share;
	share.parts = ct_mpi_of_peers(comm, counts, is_wide, NULL, counts_type);
	if (!ct_mpi_is_inter(comm) && ct_mpi_is_in_place(buffer))
		share.count = ct_mpi_count_at(&share.parts, (uint32_t)comm->rank);
	return share;
}

/* Every rank passes what each contributes. */
static CT_MPI_EACH_ROW struct ct_mpi_args ct_mpi_own_v(const struct ct_traced_comm *comm,
						       const void *buffer, int64_t count,
						       ct_mpi_handle type, const void *counts,
						       int is_wide, ct_mpi_handle counts_type)
{
	struct ct_mpi_args share = ct_mpi_own(buffer, count, type, 0, counts_type);

	share.parts = ct_mpi_of_peers(comm, counts, is_wide, NULL, counts_type);
	if (ct_mpi_is_in_place(buffer))
		share.count = ct_mpi_count_at(&share.parts, (uint32_t)comm->rank);
	return share;
}

/* Of the own group's members each gets so much of the result. */
static CT_MPI_EACH_ROW struct ct_mpi_args ct_mpi_of_local(const struct ct_traced_comm *comm,
							  const void *counts, int is_wide,
							  ct_mpi_handle type)
{
	struct ct_mpi_args share = { .type = type, .root = -1 };

	share.parts = ct_mpi_of_peers(comm, counts, is_wide, NULL, type);
	share.parts.first = ct_mpi_first_local(comm);
	if (ct_mpi_is_inter(comm))
		share.parts.n = comm->nranks - comm->n_peers;
	share.count = ct_mpi_count_at(&share.parts, ct_mpi_local_rank(comm));
	return share;
}

/* A sum over counts of one type. */
static CT_MPI_EACH_ROW struct ct_mpi_args ct_mpi_sum(struct ct_mpi_counts parts)
{
	struct ct_mpi_args share = { .type = parts.type, .root = -1, .parts = parts };

	for (uint32_t i = 0; i < parts.n; i++)
		share.count += ct_mpi_count_at(&parts, i);
	return share;
}

static CT_MPI_EACH_ROW struct ct_mpi_args ct_mpi_parts(const struct ct_traced_comm *comm,
						       const void *buffer, const void *counts,
						       int is_wide, ct_mpi_handle type,
						       const void *other_counts,
						       ct_mpi_handle other_type)
{
	int other = ct_mpi_is_in_place(buffer);

	return ct_mpi_sum(ct_mpi_of_peers(comm, other ? other_counts : counts, is_wide, NULL,
					  other ? other_type : type));
}

/* With a type for each peer there are only bytes. */
struct ct_mpi_args ct_mpi_sum_w(struct ct_mpi_counts parts);

static CT_MPI_EACH_ROW struct ct_mpi_args ct_mpi_parts_w(const struct ct_traced_comm *comm,
							 const void *buffer, const void *counts,
							 int is_wide, const void *types,
							 const void *other_counts,
							 const void *other_types)
{
	int other = ct_mpi_is_in_place(buffer);

	return ct_mpi_sum_w(ct_mpi_of_peers(comm, other ? other_counts : counts, is_wide,
					    other ? other_types : types, 0));
}

/* Neighbours that this rank sends to. 0: not known. */
uint32_t ct_mpi_neighbours(ct_mpi_handle comm, const struct ct_traced_comm *known);

/* A column of mpi_calls.def. In scope are the call's parameters and `known`, its communicator. */
#define ARGS_WIDE(counts) (sizeof(*(counts)) == sizeof(ct_mpi_count))
#define ARGS_NOTHING ((struct ct_mpi_args){ .root = -1 })
#define ARGS_WHOLE(count, type) ct_mpi_whole(count, type)
#define ARGS_ROOTED(count, type, root) ct_mpi_rooted(known, count, type, root)
#define ARGS_OWN(buffer, count, type, other_count, other_type)                                     \
	ct_mpi_own(buffer, count, type, other_count, other_type)
#define ARGS_OWN_V(buffer, count, type, counts, counts_type)                                       \
	ct_mpi_own_v(known, buffer, count, type, counts, ARGS_WIDE(counts), counts_type)
#define ARGS_TO_OR_FROM(root, buffer, count, type, other_count, other_type)                        \
	ct_mpi_to_or_from(known, root, buffer, count, type, other_count, other_type)
#define ARGS_TO_OR_FROM_V(root, buffer, count, type, counts, counts_type)                          \
	ct_mpi_to_or_from_v(known, root, buffer, count, type, counts, ARGS_WIDE(counts),           \
			    counts_type)
#define ARGS_OF_LOCAL(counts, type) ct_mpi_of_local(known, counts, ARGS_WIDE(counts), type)
#define ARGS_PARTS(buffer, counts, type, other_counts, other_type)                                 \
	ct_mpi_parts(known, buffer, counts, ARGS_WIDE(counts), type, other_counts, other_type)
#define ARGS_PARTS_W(buffer, counts, types, other_counts, other_types)                             \
	ct_mpi_parts_w(known, buffer, counts, ARGS_WIDE(counts), types, other_counts, other_types)
#define ARGS_NEIGHBOURS(counts, type_)                                                             \
	ct_mpi_sum((struct ct_mpi_counts){ .at = (counts),                                         \
					   .type = (type_),                                        \
					   .n = ct_mpi_neighbours(comm, known),                    \
					   .is_wide = ARGS_WIDE(counts) })
#define ARGS_NEIGHBOURS_W(counts, types_)                                                          \
	ct_mpi_sum_w((struct ct_mpi_counts){ .at = (counts),                                       \
					     .types = (types_),                                    \
					     .n = ct_mpi_neighbours(comm, known),                  \
					     .is_wide = ARGS_WIDE(counts) })

/* VCOUNTS records of an op, whose elements have `unit` bytes. Before the op's own, which stays the
 * last of its thread while it is inside. For very large communicators only the first peers are
 * recorded. (By value: a share whose address is nowhere taken never exists in memory.) */
void ct_mpi_record_parts(struct ct_mpi_counts parts, uint32_t comm, uint64_t seq, uint64_t unit);

/* Its two halves: the counts of the first peers, CT_RECORDED_PEERS at most, and how many; the
 * records of them. */
uint32_t ct_mpi_part_counts(const struct ct_mpi_counts *parts, uint64_t unit, uint32_t *counts);
void ct_mpi_record_counts(const uint32_t *counts, uint32_t n, uint32_t first_member, uint32_t comm,
			  uint64_t seq);

#endif
