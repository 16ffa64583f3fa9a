/* SPDX-License-Identifier: Apache-2.0 */
/* Windows, requests, probes, groups and threads: rarer ways of MPI to come to a stop. */
#include <mpi.h>

#include <pthread.h>
#include <stdlib.h>

#include "tests/hang_real/mpi_plays.h"

void missing_in_fence(void)
{
	MPI_Win win;

	MPI_Win_create(here, LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_fence(0, win);
	if (rank == 1)
		rest();
	mark();
	MPI_Put(there, SMALL, MPI_CHAR, (rank + 1) % size, 0, SMALL, MPI_CHAR, win);
	MPI_Win_fence(0, win);
}

/* Rank 1 has the lock and never gives it back. */
void lock_that_is_kept(void)
{
	MPI_Win win;

	MPI_Win_create(here, LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	if (rank == 1) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Put(there, SMALL, MPI_CHAR, 0, 0, SMALL, MPI_CHAR, win);
		MPI_Win_flush(0, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		rest();
	mark();
	if (rank == 2) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Put(there, SMALL, MPI_CHAR, 0, 0, SMALL, MPI_CHAR, win);
		MPI_Win_unlock(0, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Both make persistent requests; in the last step rank 1 starts none. */
void persistent_without_partner(void)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];
	int other = 1 - rank;

	if (rank < 2) {
		MPI_Send_init(here, LARGE, MPI_CHAR, other, TAG, MPI_COMM_WORLD, &requests[0]);
		MPI_Recv_init(there, LARGE, MPI_CHAR, other, TAG, MPI_COMM_WORLD, &requests[1]);
		for (int step = 0; step < 4; step++) {
			if (step == 3)
				mark();
			if (step == 3 && rank == 1)
				rest();
			MPI_Startall(2, requests);
			MPI_Waitall(2, requests, statuses);
		}
	}
	mark();
	sum(4);
}

/* Rank 0 waits for whichever comes; of two one has come, and the other one is of a sleeper. */
void one_of_several(void)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];
	int n, indices[2], done = 0;

	if (rank == 1)
		rest();
	mark();
	if (rank == 0) {
		for (int i = 0; i < 2; i++)
			MPI_Irecv(&there[i * SMALL], SMALL, MPI_CHAR, i + 1, TAG, MPI_COMM_WORLD,
				  &requests[i]);
		while (done < 2) {
			MPI_Waitsome(2, requests, &n, indices, statuses);
			done += n;
		}
	} else {
		MPI_Send(here, SMALL, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
	}
	sum(4);
}

void circle_without_one(void)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;

	for (int step = 0; step < 4; step++) {
		if (step == 3)
			mark();
		if (step == 3 && rank == 1)
			rest();
		MPI_Sendrecv(here, LARGE, MPI_CHAR, next, TAG, there, LARGE, MPI_CHAR, before, TAG,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

/* Messages between the others are on their way, and MPI_Waitall reports none before all are
 * complete. */
void ring_of_requests(void)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	MPI_Request requests[2];
	MPI_Status statuses[2];

	for (int step = 0; step < 4; step++) {
		if (step == 3)
			mark();
		if (step == 3 && rank == 1)
			rest();
		MPI_Irecv(there, LARGE, MPI_CHAR, before, TAG, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(here, LARGE, MPI_CHAR, next, TAG, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, statuses);
	}
}

void probe_of_a_sleeper(void)
{
	MPI_Status status;

	if (rank == 0)
		rest();
	mark();
	if (rank == 1)
		MPI_Probe(0, TAG, MPI_COMM_WORLD, &status);
	sum(4);
}

/* All others go on to a collective, and no one has sent. */
void probe_without_send(void)
{
	MPI_Status status;

	mark();
	if (rank == 1)
		MPI_Probe(0, TAG, MPI_COMM_WORLD, &status);
	sum(4);
}

/* Ranks 0 and 1 on the one side, 2 on the other, which never comes. */
void missing_in_intercomm(void)
{
	MPI_Comm side, both;

	MPI_Comm_split(MPI_COMM_WORLD, rank == 2, rank, &side);
	if (rank == 2)
		rest();
	mark();
	MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 2, TAG, &both);
}

void missing_in_group(void)
{
	int members[2] = { 0, 1 };
	MPI_Group world, pair;
	MPI_Comm made;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, members, &pair);
	if (rank != 0)
		rest();
	mark();
	MPI_Comm_create_group(MPI_COMM_WORLD, pair, TAG, &made);
}

/* Rank 1 is done one step before the others. */
void leaves_early(void)
{
	mark();
	if (rank == 1) {
		MPI_Finalize();
		rest();
	}
	sum(4);
}

static MPI_Comm of_threads[2];

static void *second(void *unused)
{
	(void)unused;
	if (rank != 1)
		MPI_Barrier(of_threads[1]);
	return NULL;
}

/* Two threads with a communicator each. On rank 1 the second one does not come. */
void threads(void)
{
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &of_threads[i]);
	mark();
	pthread_create(&thread, NULL, second, NULL);
	for (int step = 0; step < 5; step++)
		MPI_Barrier(of_threads[0]);
	pthread_join(thread, NULL);
	if (rank == 1)
		rest();
	MPI_Barrier(of_threads[0]);
}
