/* SPDX-License-Identifier: Apache-2.0 */
/* lives.c WAY — two ranks whose life is not the plain one. Each prints what it saw, RANK WHAT.
 *
 *     fork     both have a child that leaves MPI alone and one that becomes another program,
 * between two all-reduces errors   calls fail, and the program goes on abort    rank 1 gives up
 * while rank 0 waits for it */
#include <mpi.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank;

static void all_reduce(void)
{
	int one = 1, sum = 0;

	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("%d sum %d\n", rank, sum);
}

static void child(int becomes_another)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		if (becomes_another)
			execl("/bin/sh", "sh", "-c", "exit 4", (char *)NULL);
		_exit(3);
	}
	waitpid(pid, &status, 0);
	printf("%d child %d\n", rank, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void failed(const char *call, int result)
{
	int class = 0;

	MPI_Error_class(result, &class);
	printf("%d %s %d\n", rank, call, class);
}

static void errors(void)
{
	int data[8] = { 0 };
	MPI_Request request = MPI_REQUEST_NULL;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (rank == 0) {
		MPI_Send(data, 8, MPI_INT, 1, 5, MPI_COMM_WORLD);
		MPI_Send(data, 8, MPI_INT, 1, 6, MPI_COMM_WORLD);
	} else {
		failed("MPI_Recv",
		       MPI_Recv(data, 4, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		MPI_Irecv(data, 4, MPI_INT, 0, 6, MPI_COMM_WORLD, &request);
		failed("MPI_Irecv", MPI_Wait(&request, MPI_STATUS_IGNORE));
	}
	failed("MPI_Bcast", MPI_Bcast(data, 8, MPI_INT, 77, MPI_COMM_WORLD));
}

/* When rank 0 is through, too. */
static void give_up(void)
{
	int token = 0;

	if (rank == 0) {
		MPI_Send(&token, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
	} else {
		MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Abort(MPI_COMM_WORLD, 7);
	}
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	all_reduce();
	if (strcmp(way, "fork") == 0) {
		child(0);
		child(1);
	} else if (strcmp(way, "errors") == 0) {
		errors();
	}
	fflush(stdout);
	if (strcmp(way, "abort") == 0)
		give_up();
	all_reduce();
	MPI_Finalize();
	return 0;
}
