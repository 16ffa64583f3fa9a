/* SPDX-License-Identifier: Apache-2.0 */
/* worlds DIRECTORY [child] — two ranks start two more, which have an MPI_COMM_WORLD of their own,
 * and both talk in their world, to the other one and in what both are members of. Each writes its
 * pid to DIRECTORY/parents or DIRECTORY/children. Then the first two connect to each other by a
 * port. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { IN_WORLD = 2, TO_OTHERS = 3, MERGED = 4, BY_PORT = 5 };

static int in[8], out[8];

static void sum(int count, MPI_Comm comm)
{
	MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
}

static void tell(const char *directory, const char *who)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, who);
	f = fopen(path, "a");
	if (!f)
		exit(1);
	fprintf(f, "%d\n", (int)getpid());
	fclose(f);
}

/* One side opens a port, the other one connects to it: two groups of one world. */
static void connect_both(int rank)
{
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm alone, inter;

	MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
	if (rank == 0)
		MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, alone, &inter);
	else
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, alone, &inter);
	sum(BY_PORT, inter);
	MPI_Comm_disconnect(&inter);
	MPI_Comm_free(&alone);
}

int main(int argc, char **argv)
{
	static char preload[8192];
	char *arguments[] = { preload, argv[0], argv[1], NULL };
	MPI_Comm parent, inter, both;
	int rank;

	if (argc < 2)
		return 2;
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_parent(&parent);
	inter = parent;
	tell(argv[1], parent == MPI_COMM_NULL ? "parents" : "children");
	sum(IN_WORLD, MPI_COMM_WORLD);
	if (parent == MPI_COMM_NULL) {
		snprintf(preload, sizeof(preload), "LD_PRELOAD=%s",
			 getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "");
		MPI_Comm_spawn("env", arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
			       MPI_ERRCODES_IGNORE);
	}
	MPI_Sendrecv(in, TO_OTHERS, MPI_INT, rank, 0, out, TO_OTHERS, MPI_INT, rank, 0, inter,
		     MPI_STATUS_IGNORE);
	MPI_Intercomm_merge(inter, parent != MPI_COMM_NULL, &both);
	sum(MERGED, both);
	MPI_Comm_free(&both);
	MPI_Comm_disconnect(&inter);
	if (parent == MPI_COMM_NULL)
		connect_both(rank);
	MPI_Finalize();
	return 0;
}
