/* SPDX-License-Identifier: Apache-2.0 */
/* comms.h — the communicators of this process, found by the pointers that the library's calls
 * carry.
 *
 * A fixed pool and a hash table over it, mapped once when recording starts; looking up takes no
 * lock and allocates nothing, creating and ending take a short spin lock. Pool memory is never
 * unmapped, so a stale pointer in a thread's block is checked, not feared. The library reuses
 * addresses of dead communicators: creating one under a known pointer ends the old one.
 */
#ifndef CT_INTERPOSE_COMMS_H
#define CT_INTERPOSE_COMMS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/sequence.h"
#include "trace/ring.h"

#define CT_COMMS_MAX 1024u /* size: as many as the largest ring has entries for */

struct ct_traced_comm {
	_Atomic(const void *) handle[2]; /* what calls name it by; NULL: none. Gloo's collectives
					    pass one pointer and its transfers another */
	struct ct_ring_comm *entry;	 /* never NULL while in use */
	uint64_t key;
	uint32_t id;
	uint32_t nranks;
	int32_t rank;
	uint32_t first_peer; /* MPI: what calls name as rank 0 is this member, ... */
	uint32_t n_peers;    /* ... and so many can be named: an intercommunicator's remote group */
	_Atomic uint32_t children; /* NCCL: how often it was split or grown */
	uint32_t device;	   /* CUDA device + 1, 0 none or unknown */
	uint64_t nccl_hash;	   /* NCCL: of nccl/key.h, like nccl_magic */
	uint64_t nccl_magic;
	_Atomic uint64_t pick[2]; /* gpu/choice/sampling.c, of collectives, of messages: block + 1
				     << 32 | share */
	struct ct_seq tags;
};

/* What is known of a communicator when it is created. */
struct ct_comm_spec {
	const void *handle[2]; /* the second may be NULL */
	uint64_t key;	       /* 0: guess one */
	uint64_t parent;       /* key of the parent communicator, 0: none */
	uint64_t members;      /* hash of the members' global ranks, in order; 0: not known */
	uint64_t nccl_hash, nccl_magic;
	enum ct_key_source source;
	enum ct_backend backend;
	uint32_t nranks;
	int32_t rank;
	uint32_t first_peer, n_peers; /* 0: calls name all members by their numbers */
	uint32_t name;		      /* string id */
	uint16_t device;	      /* CUDA device + 1, 0 none or unknown */
};

/* Map the tables; 0 or CT_NOMEM. Before the gate opens. `job` goes into guessed keys. */
int ct_comms_init(const char *job, uint64_t process_hash);

/* The communicator of a handle, NULL if unknown. Any thread. */
struct ct_traced_comm *ct_comms_find(const void *handle);

/* Make one known. NULL if the tables are full or locked for too long (a counted loss); keys that
 * are guessed after that are this process's own, since it cannot count any more as the other
 * members do. Any thread. */
struct ct_traced_comm *ct_comms_create(const struct ct_comm_spec *spec);

/* Is there space for another one at the moment? Any thread. */
int ct_comms_has_room(void);

/* A second handle of a communicator that was created with one. Any thread. */
void ct_comms_alias(struct ct_traced_comm *comm, const void *handle);

/* How many have ended: their entries in the ring are free again when they are in a segment. Any
 * thread. */
uint64_t ct_comms_ended(void);

/* It has another name from now on. Any thread. */
void ct_comms_name(struct ct_traced_comm *comm, const char *name);

/* All of one backend have ended. Any thread. */
void ct_comms_end_all(enum ct_backend backend);

/* The library destroys the handle's communicator; nothing happens if it is unknown. If the tables
 * are locked for too long it stays, until its handle is another's (a counted loss). Any thread. */
void ct_comms_end(const void *handle);

#endif
