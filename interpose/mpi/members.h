/* SPDX-License-Identifier: Apache-2.0 */
/* members.h — the members of an MPI communicator, and the key that follows from it.
 *
 * All members of a communicator agree on the list of members, so the key is made of their ranks in
 * MPI_COMM_WORLD, in order, and of how many communicators of just these members this process has
 * had before: made by whatever call, a communicator of A and B is counted by A and B alike. An
 * intercommunicator has the members of both groups, that of the lower rank first, so that both
 * sides agree; a member's index counts through both.
 *
 * Everything is asked of MPI with local calls (MPI_Comm_group and the like, which never block), on
 * handles that MPI has just given or is being given. Processes of another MPI_COMM_WORLD (spawned,
 * connected) have no rank in ours: they count as unknown, and the key is this world's own, since it
 * could not be made of anything that both worlds know. Any thread; no lock; keeps errno.
 */
#ifndef CT_INTERPOSE_MPI_MEMBERS_H
#define CT_INTERPOSE_MPI_MEMBERS_H

#include <stdint.h>

#include "interpose/abi/mpi.h"
#include "trace/format.h"

struct ct_mpi_members {
	uint64_t hash;	   /* of the world ranks, in order */
	uint32_t n;	   /* both groups */
	uint32_t n_remote; /* 0: an intracommunicator, whose peers are members of the same group */
	int32_t rank;	   /* index of this process */
	uint32_t first_peer; /* index of the member that a peer of 0 means */
	int is_foreign;	     /* has members of another world */
	int is_unranked; /* its members' ranks in the world are unknown: the key is this process's
			    own */
};

/* What distinguishes communicators from windows of the same members. */
enum ct_mpi_kind { CT_MPI_KIND_COMM = 1, CT_MPI_KIND_WIN = 2 };

/* Map the table of counts; 0 or CT_NOMEM. Before the gate opens. `job` names the job, `world`
 * identifies this world among those of the job, equal on all its processes, NULL unknown;
 * `process_hash` is this process's own. */
int ct_mpi_members_init(const char *job, const char *world, uint64_t process_hash);

/* Of a communicator or window that MPI knows. 0 if MPI does not report it. */
int ct_mpi_members_of_comm(ct_mpi_handle comm, struct ct_mpi_members *members);
int ct_mpi_members_of_win(ct_mpi_handle win, struct ct_mpi_members *members);

/* The key of the next communicator, or window, of these members: counts. *source says whether it is
 * equal everywhere. */
uint64_t ct_mpi_members_key(const struct ct_mpi_members *members, enum ct_mpi_kind kind,
			    enum ct_key_source *source);

/* The key of one whose creation was not seen: this process's own, and not counted, as others need
 * not have met it. */
uint64_t ct_mpi_members_key_met(const struct ct_mpi_members *members, enum ct_key_source *source);

/* Is there an MPI_COMM_WORLD (MPI is initialised, not only a session, and not finalised)? */
int ct_mpi_has_world(void);

/* How many sessions of the program there are: with one, MPI may be used though MPI_Init was not
 * called. */
uint32_t ct_mpi_sessions(void);
void ct_mpi_sessions_count(int more);

/* One that lives: without MPI_Init its process sets are the only way to the world. And it, or
 * another, is about to end. */
void ct_mpi_sessions_know(ct_mpi_handle session);
void ct_mpi_sessions_forget(ct_mpi_handle session);

#endif
