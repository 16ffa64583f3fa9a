/* SPDX-License-Identifier: Apache-2.0 */
/* check_messages plain|any|lost|short: 200 rounds of two messages from rank 0 to rank 1; the receives have more room
 * than is sent, and say bytes where integers are sent. any: one of them is from any; lost: at the end one message
 * that is never received; short: in round 50 there is less room than is sent. */
#include <mpi.h>
#include <string.h>

enum { ROUNDS = 200, LONG = 3, SHORT = 4, NOBODYS = 9 };

static int room[256];

static void receive(int round, const char *way)
{
	MPI_Request one, other;
	int any = strcmp(way, "any") == 0, less = strcmp(way, "short") == 0 && round == 50;

	MPI_Irecv(room, less ? 8 : 512, MPI_BYTE, 0, LONG, MPI_COMM_WORLD, &one);
	MPI_Irecv(room + 128, 20, MPI_INT, any ? MPI_ANY_SOURCE : 0, SHORT, MPI_COMM_WORLD, &other);
	MPI_Wait(&other, MPI_STATUS_IGNORE);
	MPI_Wait(&one, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "plain";
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < ROUNDS; i++) {
		if (rank == 1)
			receive(i, way);
		if (rank == 0) {
			MPI_Send(room, 10 + i % 7, MPI_INT, 1, LONG, MPI_COMM_WORLD);
			MPI_Send(room, 5, MPI_INT, 1, SHORT, MPI_COMM_WORLD);
		}
	}
	if (strcmp(way, "lost") == 0 && rank == 0)
		MPI_Send(room, 5, MPI_INT, 1, NOBODYS, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
