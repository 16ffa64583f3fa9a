/* SPDX-License-Identifier: Apache-2.0 */
/* shared.h — the memory that the members of a communicator share: their identity, where each of
 * them is, and bounded buffers through which the bytes go.
 *
 * It is an anonymous file (memfd) of one process, which the others open below that process's /proc
 * entry, and which is closed as soon as all of them have mapped it. So it has no name that could be
 * left behind, however they die. All members are processes of one user in one pid namespace.
 *
 *     sim_shared, sim_member[n], sim_pair[n][n], slots[n][SIM_SLOTS][SIM_SLOT_BYTES],
 * fifos[n][n][SIM_FIFO_BYTES]
 *
 * The file is sparse: what is not used takes no memory. All of it is zero at first.
 */
#ifndef CT_TOOLS_SIM_NCCL_SHARED_H
#define CT_TOOLS_SIM_NCCL_SHARED_H

#include <stddef.h>
#include <sys/types.h>

#include "interpose/abi/nccl.h"
#include "tools/sim/nccl/wait.h"

#define SIM_SLOTS 4 /* steps of collectives that a rank may be ahead of the slowest */
#define SIM_SLOT_BYTES (256u << 10) /* that a rank puts in for one step */
#define SIM_FIFO_BYTES                                                                             \
	(32u << 10)	/* between two ranks; up to this a send does not wait for its receive */
#define SIM_MESSAGES 16 /* that can be under way between two ranks */
#define SIM_EARLY_BYTES (64u << 10) /* up to this a rank of a rooted collective may leave early */
#define SIM_RANKS_MAX 4096
#define SIM_WINDOWS 8 /* of one communicator */

/* What a rank is about to do in a collective; must be the same on all ranks as far as they look at
 * each other's. */
struct sim_deed {
	uint32_t func, type, redop, root;
	uint64_t count;
	uint64_t arrival_ns, work_ns;
};

struct sim_member {
	_Atomic uint32_t claimed;
	pid_t pid;
	int device, global_rank;
	uint64_t node;

	/* Collectives: written by the member before it adds to `begun`. */
	struct sim_gate begun; /* steps */
	struct sim_deed deeds[SIM_SLOTS];
	uint64_t ended_ns[2 * SIM_SLOTS]; /* before it adds to sim_shared.ended */

	struct sim_gate bell; /* something happened in one of its pairs */

	/* Making children: by turns for odd and even ones. */
	int color[2], key[2];
	ncclUniqueId child[2], shrunk; /* of which it is the first member */
	struct sim_gate children, shrinks;

	struct sim_gate finalized;

	/* In the process's own memory; before it adds to sim_shared.windows. */
	struct {
		uint64_t base, size;
	} windows[SIM_WINDOWS];
};

/* From one rank to another. Left: written by the sender; right: by the receiver. */
struct sim_pair {
	struct {
		uint64_t bytes, arrival_ns, work_ns;
	} sent[SIM_MESSAGES];
	struct {
		uint64_t bytes, arrival_ns;
	} wanted[SIM_MESSAGES];
	uint64_t taken_ns[SIM_MESSAGES];	    /* right: when message i was received */
	_Atomic uint32_t n_sent, n_wanted, n_taken; /* messages */
	_Atomic uint64_t in, out;		    /* bytes through the FIFO */
	uint64_t signal_ns[SIM_MESSAGES];	    /* left: when signal i comes, before it adds */
	struct sim_gate signals;
};

struct sim_shared {
	_Atomic uint64_t magic; /* the unique id's */
	_Atomic uint32_t sized; /* 0; 1: in progress */
	uint32_t n_ranks;
	struct sim_gate ready, attached;
	struct sim_gate begun[SIM_SLOTS],
		ended[SIM_SLOTS];  /* over all ranks, by step % SIM_SLOTS */
	struct sim_gate splits[2]; /* ranks that said what they want */
	struct sim_gate finalized;
	struct sim_gate windows;  /* ranks that have registered one */
	struct sim_gate grow_ids; /* ids for growing, by turns */
	ncclUniqueId grow_id[2];
};

/* One process's view. */
struct sim_view {
	struct sim_shared *shared;
	size_t bytes;
	struct sim_member *members;
	struct sim_pair *pairs;
	unsigned char *slots, *fifos;
};

/* A file for one communicator, not sized yet, in this process. The unique id says where it is and
 * starts with random bytes. */
ncclResult_t sim_shared_create(ncclUniqueId *id);

/* The same with a number of the caller's at the start. */
ncclResult_t sim_shared_create_as(ncclUniqueId *id, uint64_t magic);

/* What an id starts with. */
uint64_t sim_shared_magic(const ncclUniqueId *id);

/* Maps it, once n_ranks are known, and claims the rank; then waits for all others. Errors:
 * ncclRemoteError if it cannot be reached, ncclInvalidArgument if it is for another number of ranks
 * or the rank is taken, ncclInternalError if stopped. The file of an id that this process made is
 * closed when all are there. */
ncclResult_t sim_shared_attach(struct sim_view *view, const ncclUniqueId *id, int rank, int n_ranks,
			       const struct sim_member *self, const struct sim_waiter *who);
void sim_shared_detach(struct sim_view *view);

#endif
