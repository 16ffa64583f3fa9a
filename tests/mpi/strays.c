/* SPDX-License-Identifier: Apache-2.0 */
/* strays.c WAY — calls that do not end or begin as others do. Each rank prints what it saw, RANK
 * WHAT.
 *
 *     freed    calls on a communicator that was freed, and on a handle that never was one (MPICH
 * only, which looks) error    an error handler leaves a send of rank 0 by longjmp, a probe, and a
 * call that is not recorded crowd    more communicators than there is space for, and rank 0 asks
 * some of them more often; then two more */
#include <mpi.h>

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CROWD 1100
#define AFTER 10

static int rank, size;
static int handled;
static jmp_buf out;

static void count(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	handled++;
}

static void leave(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	longjmp(out, 1);
}

static void all_reduce(void)
{
	for (int i = 0; i < AFTER; i++) {
		int one = 1, sum = 0;

		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		if (sum != size)
			printf("%d sum %d\n", rank, sum);
	}
}

static void told(const char *call)
{
	printf("%d %s: handled %d\n", rank, call, handled);
	handled = 0;
}

static void freed(void)
{
	MPI_Comm copy, gone;
	MPI_Errhandler handler;
	int data[4] = { 0 };

	MPI_Comm_create_errhandler(count, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	gone = copy;
	MPI_Comm_free(&copy);
	MPI_Barrier(gone);
	told("barrier");
	MPI_Send(data, 1, MPI_INT, rank, 1, gone);
	told("send");
	MPI_Sendrecv(data, 1, MPI_INT, rank, 1, data + 2, 1, MPI_INT, rank, 1, gone,
		     MPI_STATUS_IGNORE);
	told("sendrecv");
	MPI_Comm_dup(gone, &copy);
	told("dup");
	all_reduce();
}

static void error(void)
{
	MPI_Errhandler handler;
	MPI_Comm copy;
	int data[4] = { 0 };

	MPI_Comm_create_errhandler(leave, &handler);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_set_errhandler(copy, handler);
	if (rank == 0 && !setjmp(out))
		MPI_Send(data, 1, MPI_INT, size + 5, 0, copy);
	all_reduce();
	if (rank == 0 && !setjmp(out))
		MPI_Probe(size + 5, 0, copy, MPI_STATUS_IGNORE);
	all_reduce();
	/* to MPI_PROC_NULL: not recorded, but its tag is wrong */
	if (rank == 0 && !setjmp(out))
		MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, -5, copy);
	all_reduce();
}

static void crowd(void)
{
	static MPI_Comm comms[CROWD];
	MPI_Comm more[2];
	int flag;

	for (int i = 0; i < CROWD; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int i = 0; rank == 0 && i < 3; i++)
		MPI_Iprobe(0, 1, comms[CROWD - 1], &flag, MPI_STATUS_IGNORE);
	for (int i = 0; i < CROWD; i++)
		MPI_Comm_free(&comms[i]);
	sleep(2); /* their entries are free again when they have been written */
	for (int i = 0; i < 2; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &more[i]);
	for (int i = 0; i < AFTER; i++) {
		MPI_Barrier(more[0]);
		MPI_Barrier(more[1]);
		MPI_Barrier(more[1]);
	}
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (strcmp(way, "freed") == 0)
		freed();
	else if (strcmp(way, "error") == 0)
		error();
	else if (strcmp(way, "crowd") == 0)
		crowd();
	printf("%d ends\n", rank);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
