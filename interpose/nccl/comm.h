/* SPDX-License-Identifier: Apache-2.0 */
/* comm.h — the communicators of NCCL. Rank and size come from the arguments of the call that makes
 * one; only a split, whose sizes NCCL alone knows, is asked for them, once it is there. */
#ifndef CT_INTERPOSE_NCCL_COMM_H
#define CT_INTERPOSE_NCCL_COMM_H

#include "interpose/nccl/nccl.h"
#include "interpose/recorder.h"

/* A communicator that is being made: NCCL writes its handle where the program said, perhaps later
 * than the call. */
struct ct_nccl_child {
	ncclComm_t *at;
	ncclComm_t seen;      /* NULL: not there yet; else it is known already */
	ncclComm_t made_from; /* NULL: of a unique id */
	const void *library;  /* an address in the one that makes it */
	uint64_t key;	      /* 0: guess one */
	uint64_t hash;	      /* NCCL's own, 0: the key is */
	uint64_t magic;	      /* key.h; 0 not known */
	uint64_t parent;
	uint32_t nranks; /* 0: ask */
	int32_t rank;
	uint32_t name;
	uint32_t device; /* + 1, 0 not known */
	int source;	 /* enum ct_key_source */
};

/* As reported by the copy of NCCL at this address: 22809 is 2.28.9. 0: unknown. For calls that make
 * communicators. */
int ct_nccl_version(const void *library);

/* A parent while NCCL makes a child of it. Another thread may end it meanwhile. */
struct ct_nccl_parent {
	struct ct_traced_comm *comm; /* never NULL */
	uint32_t id;		     /* of it; 0: nothing is known of it */
	uint32_t nth;		     /* child by splitting or growing, from 1; 0: not counted */
};

/* One more of these, which is counted as NCCL does: when the call begins. */
void ct_nccl_parent_counts(struct ct_nccl_parent *parent);

/* NCCL has refused the call for its arguments: it has not counted it. */
void ct_nccl_parent_refuses(const struct ct_nccl_parent *parent);

static inline int ct_nccl_is_refused(ncclResult_t result)
{
	return result == ncclInvalidArgument || result == ncclInvalidUsage;
}

/* Of one that the recording has not seen made. */
struct ct_traced_comm *ct_nccl_comm_slow(ncclComm_t handle, const void *library);

/* The communicator of a handle, registered if it is older than the recording; `library` is an
 * address in the one that the program called. For an invalid one (NULL, or unknown to NCCL) a
 * stand-in with id 0. Never NULL. Guard held, as below. */
static inline struct ct_traced_comm *ct_nccl_comm(ncclComm_t handle, const void *library)
{
	struct ct_traced_comm *comm = handle ? ct_recorder_comm(handle) : NULL;

	return __builtin_expect(comm != NULL, 1) ? comm : ct_nccl_comm_slow(handle, library);
}

/* The communicator of `handle` is known from now on; NULL without space (a counted loss). */
struct ct_traced_comm *ct_nccl_comm_create(const struct ct_nccl_child *child, ncclComm_t handle);

/* It is there now: read the handle and make it known. Returns it, NULL if NCCL made none for this
 * rank. */
struct ct_traced_comm *ct_nccl_child_arrives(const struct ct_nccl_child *child);

/* It came to nothing. */
void ct_nccl_child_fails(const struct ct_nccl_child *child);

/* String id of the name in a configuration, 0 if it has none, as those of older versions, or is
 * NULL. */
uint32_t ct_nccl_comm_name(const ncclConfig_t *config);

/* The record's fields for a call that may wait, about a communicator or NULL. */
struct ct_host_rec ct_nccl_host_rec(enum ct_nccl_call call, const struct ct_traced_comm *comm);

#endif
