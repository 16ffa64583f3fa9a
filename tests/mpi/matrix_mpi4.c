/* SPDX-License-Identifier: Apache-2.0 */
/* What came with MPI 4: large counts, persistent collectives, partitioned messages, sessions. Where
 * the library has none of it (Open MPI 4.1), nothing. */
#include "tests/mpi/matrix_forms.h"

#if MPI_VERSION < 4
void matrix_mpi4(void)
{
}
#else
static void persistent(MPI_Comm comm)
{
	FORM_VARIABLES(int, int, comm, 0);
#define X FORM_PERSISTENT
#include "tests/mpi/collectives.def"
#undef X
}

#define MATRIX_LARGE
static void large(MPI_Comm comm)
{
	FORM_VARIABLES(MPI_Count, MPI_Aint, comm, 0);
#define X FORM_LARGE
#include "tests/mpi/collectives.def"
#undef X
#define X FORM_LARGE_NONBLOCKING
#include "tests/mpi/collectives.def"
#undef X
#define X FORM_LARGE_PERSISTENT
#include "tests/mpi/collectives.def"
#undef X
}

static void neighbours(MPI_Comm comm)
{
	{
		FORM_VARIABLES(int, int, comm, 2);
#define X FORM_PERSISTENT
#include "tests/mpi/neighbours.def"
#undef X
	}
	{
		FORM_VARIABLES(MPI_Count, MPI_Aint, comm, 2);
#define X FORM_LARGE
#include "tests/mpi/neighbours.def"
#undef X
#define X FORM_LARGE_NONBLOCKING
#include "tests/mpi/neighbours.def"
#undef X
	}
}

static void note_message(const char *call, const char *op, int n, int peer, int tag)
{
	NOTE(.call = call, .op = op, .comm = MPI_COMM_WORLD, .count = n, .dtype = "int32",
	     .bytes = 4, .peer = peer, .tag = tag);
}

static void large_messages(void)
{
	MPI_Request requests[2];

	fill();
	note_message("MPI_Irecv_c", "Recv", 5, job.left, 120);
	MPI_Irecv_c(out_i, 5, MPI_INT, job.left, 120, MPI_COMM_WORLD, &requests[0]);
	note_message("MPI_Send_c", "Send", 5, job.right, 120);
	MPI_Send_c(in_i, 5, MPI_INT, job.right, 120, MPI_COMM_WORLD);
	complete(1, requests, NULL);
	note_message("MPI_Isend_c", "Send", 3, job.right, 121);
	MPI_Isend_c(in_i, 3, MPI_INT, job.right, 121, MPI_COMM_WORLD, &requests[0]);
	note_message("MPI_Recv_c", "Recv", 3, job.left, 121);
	MPI_Recv_c(out_i + 8, 3, MPI_INT, job.left, 121, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	complete(1, requests, NULL);
	note_message("MPI_Sendrecv_c", "Send", 3, job.right, 122);
	note_message("MPI_Sendrecv_c", "Recv", 3, job.left, 122);
	MPI_Sendrecv_c(in_i, 3, MPI_INT, job.right, 122, out_i, 3, MPI_INT, job.left, 122,
		       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Recv_init_c(out_i + 20, 4, MPI_INT, job.left, 123, MPI_COMM_WORLD, &requests[0]);
	MPI_Send_init_c(in_i, 4, MPI_INT, job.right, 123, MPI_COMM_WORLD, &requests[1]);
	for (int i = 0; i < 2; i++) {
		note_message("MPI_Recv_init_c", "Recv", 4, job.left, 123);
		note_message("MPI_Send_init_c", "Send", 4, job.right, 123);
		MPI_Startall(2, requests);
		complete(2, requests, NULL);
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
	fold_all();
}

/* A send and a receive behind one request. */
static void both_ways(void)
{
	MPI_Request requests[2];

	fill();
	note_message("MPI_Isendrecv", "Send", 4, job.right, 124);
	note_message("MPI_Isendrecv", "Recv", 4, job.left, 124);
	MPI_Isendrecv(in_i, 4, MPI_INT, job.right, 124, out_i, 4, MPI_INT, job.left, 124,
		      MPI_COMM_WORLD, &requests[0]);
	note_message("MPI_Isendrecv_replace", "Send", 3, job.right, 125);
	note_message("MPI_Isendrecv_replace", "Recv", 3, job.left, 125);
	MPI_Isendrecv_replace(out_i + 20, 3, MPI_INT, job.right, 125, job.left, 125, MPI_COMM_WORLD,
			      &requests[1]);
	complete(2, requests, NULL);
	fold_all();
}

/* A message in 4 parts of 3 elements that become ready one by one. */
static void partitioned(void)
{
	int parts[2] = { 3, 1 };
	MPI_Request pair[2];
	int there;

	MPI_Precv_init(out_i, 4, 3, MPI_INT, job.left, 126, MPI_COMM_WORLD, MPI_INFO_NULL,
		       &pair[0]);
	MPI_Psend_init(in_i, 4, 3, MPI_INT, job.right, 126, MPI_COMM_WORLD, MPI_INFO_NULL,
		       &pair[1]);
	for (int i = 0; i < 3; i++) {
		fill();
		note_message("MPI_Precv_init", "Recv", 12, job.left, 126);
		note_message("MPI_Psend_init", "Send", 12, job.right, 126);
		MPI_Startall(2, pair);
		MPI_Pready(0, pair[1]);
		MPI_Pready_list(2, parts, pair[1]);
		MPI_Pready_range(2, 2, pair[1]);
		for (there = 0; !there;)
			MPI_Parrived(pair[0], 3, &there);
		complete(2, pair, NULL);
		fold_all();
	}
	MPI_Request_free(&pair[0]);
	MPI_Request_free(&pair[1]);
}

static void sessions(void)
{
	MPI_Session session;
	MPI_Request request;
	MPI_Group group;
	MPI_Comm comm;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "matrix", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	name_comm(comm, "of_session");
	forget_comm(comm);
	MPI_Comm_free(&comm);
	MPI_Group_free(&group);
	MPI_Session_finalize(&session);

	MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	name_comm(comm, "idup_with_info");
	forget_comm(comm);
	MPI_Comm_free(&comm);
}

static void large_transfers(void)
{
	int memory[16] = { 0 };
	MPI_Win win;

	fill();
	MPI_Win_create_c(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	name_win(win, "large");
	for (int i = 0; i < 2; i++) {
		NOTE(.call = "MPI_Win_fence", .op = "Fence", .on = "large");
		MPI_Win_fence(0, win);
		if (i == 1)
			break;
		NOTE(.call = "MPI_Put_c", .op = "Put", .on = "large", .count = 3, .dtype = "int32",
		     .bytes = 4, .peer = job.right);
		MPI_Put_c(in_i, 3, MPI_INT, job.right, 0, 3, MPI_INT, win);
	}
	fold(memory, sizeof(memory));
	MPI_Win_free(&win);
}

void matrix_mpi4(void)
{
	const int periodic = 1;
	MPI_Comm ring;

	persistent(MPI_COMM_WORLD);
	large(MPI_COMM_WORLD);
	MPI_Cart_create(MPI_COMM_WORLD, 1, &job.size, &periodic, 0, &ring);
	name_comm(ring, "ring4");
	neighbours(ring);
	forget_comm(ring);
	MPI_Comm_free(&ring);
	large_messages();
	both_ways();
	partitioned();
	sessions();
	large_transfers();
}
#endif
