/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_plays.c — mpi_plays PLAY DIR: jobs over MPI that come to a stop, one rank of each. What is
 * true of them stands in mpi_hang.py.
 *
 * Before a rank does the last thing that it will do it makes the file DIR/at.RANK. */
#include <mpi.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/hang_real/mpi_plays.h"

int rank, size;
char here[LARGE], there[LARGE];
static const char *folder;

void mark(void)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/at.%d", folder, rank);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	if (fd >= 0)
		close(fd);
}

void nap(double s)
{
	struct timespec rest = { .tv_sec = (time_t)s,
				 .tv_nsec = (long)((s - (double)(time_t)s) * 1e9) };

	while (nanosleep(&rest, &rest) != 0)
		;
}

void rest(void)
{
	mark();
	for (;;)
		nap(3600);
}

void sum(int count)
{
	static int mine[4096], all[4096];

	MPI_Allreduce(mine, all, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* ---- someone does not come -------------------------------------------------------------------- */

static void missing(void)
{
	if (rank == 1)
		rest();
	mark();
	sum(4);
}

/* Someone has enough of it, and kills that one. */
static void missing_then_killed(void)
{
	missing();
}

static void missing_at_the_end(void)
{
	if (rank == 1)
		rest();
	mark();
	MPI_Finalize();
	rest();
}

static void missing_in_split(void)
{
	MPI_Comm half;

	if (rank == 1)
		rest();
	mark();
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
}

/* ---- messages ---------------------------------------------------------------------------------- */

static void receive_without_send(void)
{
	mark();
	if (rank == 1)
		MPI_Recv(here, SMALL, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	nap(0.3); /* what was waited for first is what is reported */
	sum(4);
}

static void receive_from_a_sleeper(void)
{
	if (rank == 0)
		rest();
	mark();
	if (rank == 1)
		MPI_Recv(here, SMALL, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	sum(4);
}

static void both_send(int bytes)
{
	if (rank < 2) {
		MPI_Send(here, bytes, MPI_CHAR, 1 - rank, TAG, MPI_COMM_WORLD);
		MPI_Recv(there, bytes, MPI_CHAR, 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	sum(4);
}

static void both_send_large(void)
{
	mark();
	both_send(LARGE);
}

/* Small ones are on their way when the call returns: this comes to its end. */
static void both_send_small(void)
{
	both_send(SMALL);
	rest();
}

static void another_tag(void)
{
	mark();
	if (rank == 0)
		MPI_Send(here, LARGE, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Recv(there, LARGE, MPI_CHAR, 0, OTHER_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	sum(4);
}

/* ---- someone does something else --------------------------------------------------------------- */

static void another_operation(void)
{
	mark();
	if (rank == 1)
		MPI_Barrier(MPI_COMM_WORLD);
	else
		sum(4);
	rest();
}

static void another_root(void)
{
	mark();
	MPI_Bcast(here, LARGE, MPI_CHAR, rank == 1 ? 1 : 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	rest();
}

static void another_count(void)
{
	mark();
	sum(rank == 1 ? 4096 : 4);
	MPI_Barrier(MPI_COMM_WORLD);
	rest();
}

static void skipped(void)
{
	for (int step = 0; step < 3; step++) {
		if (step == 1)
			mark();
		if (rank != 1 || step != 1)
			sum(4);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	rest();
}

static void order_of_two_communicators(void)
{
	MPI_Comm comms[2];

	for (int i = 0; i < 2; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	mark();
	MPI_Barrier(comms[rank == 0]);
	MPI_Barrier(comms[rank != 0]);
}

/* Each pair makes its communicator when it first needs it, and each rank begins with another one. */
static void pairs_in_a_circle(void)
{
	int next = (rank + 1) % size;
	int members[2] = { rank < next ? rank : next, rank < next ? next : rank };
	MPI_Group world, pair;
	MPI_Comm made;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, members, &pair);
	mark();
	MPI_Comm_create_group(MPI_COMM_WORLD, pair, TAG, &made);
}

/* ---- someone is no more ------------------------------------------------------------------------ */

static void segfault(void)
{
	mark();
	if (rank == 1) {
		nap(0.3);
		raise(SIGSEGV);
	}
	sum(4);
}

static void aborted(void)
{
	mark();
	if (rank == 1) {
		nap(0.3);
		MPI_Abort(MPI_COMM_WORLD, 5);
	}
	sum(4);
}

static void exited(void)
{
	mark();
	if (rank == 1) {
		nap(0.3);
		_exit(0);
	}
	sum(4);
}

static void asked_to_end(int sig)
{
	(void)sig;
	_exit(0);
}

/* Someone ends the job, and one rank obeys before the others are killed. */
static void asked(void)
{
	if (rank == 1)
		signal(SIGTERM, asked_to_end);
	for (int step = 0;; step++) {
		if (step == 3)
			mark();
		sum(4);
		nap(0.01);
	}
}

/* ---- no rank is to blame
 * ------------------------------------------------------------------------- */

static void slow(void)
{
	for (int step = 0;; step++) {
		if (step == 3)
			mark();
		if (rank == 1)
			nap(0.2);
		sum(4);
	}
}

/* Someone kills one rank of a job that gets on. */
static void killed(void)
{
	slow();
}

#define PLAYS                                                                                      \
	PLAY(missing)                                                                              \
	PLAY(missing_then_killed)                                                                  \
	PLAY(missing_at_the_end)                                                                   \
	PLAY(missing_in_split)                                                                     \
	PLAY(receive_without_send)                                                                 \
	PLAY(receive_from_a_sleeper)                                                               \
	PLAY(both_send_large)                                                                      \
	PLAY(both_send_small)                                                                      \
	PLAY(another_tag)                                                                          \
	PLAY(another_operation)                                                                    \
	PLAY(another_root)                                                                         \
	PLAY(another_count)                                                                        \
	PLAY(skipped)                                                                              \
	PLAY(order_of_two_communicators)                                                           \
	PLAY(pairs_in_a_circle)                                                                    \
	PLAY(segfault)                                                                             \
	PLAY(aborted)                                                                              \
	PLAY(exited)                                                                               \
	PLAY(killed)                                                                               \
	PLAY(asked)                                                                                \
	PLAY(slow)                                                                                 \
	MORE_PLAYS

static const struct {
	const char *name;
	void (*act)(void);
} plays[] = {
#define PLAY(name) { #name, name },
	PLAYS
#undef PLAY
};

int main(int argc, char **argv)
{
	int many = argc == 3 && strcmp(argv[1], "threads") == 0, level;

	MPI_Init_thread(&argc, &argv, many ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (size_t i = 0; argc == 3 && i < sizeof(plays) / sizeof(plays[0]); i++) {
		if (strcmp(argv[1], plays[i].name) != 0)
			continue;
		folder = argv[2];
		for (int step = 0; step < 3; step++)
			sum(4);
		plays[i].act();
		rest();
	}
	fprintf(stderr, "usage: mpi_plays PLAY DIR\n");
	return 2;
}
