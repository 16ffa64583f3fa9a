/* SPDX-License-Identifier: Apache-2.0 */
/* Messages by calls that block, wildcards and probes. */
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/matrix.h"

#define NOTE_SEND(call_, n, peer_, tag_)                                                           \
	NOTE(.call = "MPI_" call_, .op = "Send", .comm = MPI_COMM_WORLD, .count = n,               \
	     .dtype = "int32", .bytes = 4, .peer = peer_, .tag = tag_)
/* `n` were asked for, `got` will come. */
#define NOTE_RECV(call_, n, got, peer_, tag_)                                                      \
	NOTE(.call = "MPI_" call_, .op = "Recv", .comm = MPI_COMM_WORLD, .count = n,               \
	     .dtype = "int32", .bytes = 4, .peer = peer_, .tag = tag_, .arrived = 4 * (got))

typedef int (*send_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm);

static void receive(int n, int got, int tag)
{
	MPI_Status status;
	int count;

	NOTE_RECV("Recv", n, got, job.left, tag);
	MPI_Recv(out_i, n, MPI_INT, job.left, tag, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_INT, &count);
	fold(&count, sizeof(count));
	fold_all();
}

/* Around the ring; with space for more than comes. */
static void around(send_fn send, const char *call, int tag)
{
	for (int turn = 0; turn < 2; turn++) {
		fill();
		if (job.rank % 2 == turn) {
			NOTE(.call = call, .op = "Send", .comm = MPI_COMM_WORLD,
			     .count = 5 + job.rank, .dtype = "int32", .bytes = 4, .peer = job.right,
			     .tag = tag);
			send(in_i, 5 + job.rank, MPI_INT, job.right, tag, MPI_COMM_WORLD);
		} else {
			receive(turn ? 5 + job.left : 40, 5 + job.left, tag);
		}
	}
}

static void buffered(void)
{
	size_t bytes = 4096 + MPI_BSEND_OVERHEAD;
	void *buffer = malloc(bytes);

	MPI_Buffer_attach(buffer, (int)bytes);
	around(MPI_Bsend, "MPI_Bsend", 12);
	MPI_Buffer_detach(&buffer, &(int){ 0 });
	free(buffer);
}

/* A receive that is there before the send. */
static void ready(void)
{
	MPI_Request request;

	fill();
	NOTE_RECV("Irecv", 9, 9, job.left, 13);
	MPI_Irecv(out_i, 9, MPI_INT, job.left, 13, MPI_COMM_WORLD, &request);
	NOTE(.call = "MPI_Barrier", .op = "Barrier", .comm = MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	NOTE_SEND("Rsend", 9, job.right, 13);
	MPI_Rsend(in_i, 9, MPI_INT, job.right, 13, MPI_COMM_WORLD);
	complete(1, &request, NULL);
	fold_all();
}

static void both_ways(void)
{
	fill();
	NOTE_SEND("Sendrecv", 6, job.right, 14);
	NOTE_RECV("Sendrecv", 8, 6, job.left, 14);
	MPI_Sendrecv(in_i, 6, MPI_INT, job.right, 14, out_i, 8, MPI_INT, job.left, 14,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	NOTE_SEND("Sendrecv_replace", 4, job.left, 15);
	NOTE_RECV("Sendrecv_replace", 4, 4, job.right, 15);
	MPI_Sendrecv_replace(out_i, 4, MPI_INT, job.left, 15, job.right, 15, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
	fold_all();
}

/* A line is a ring without one edge: nothing is sent past its ends, and nothing arrives. */
static void to_nobody(void)
{
	int last = job.size - 1, first = 0;
	int up = job.rank == last ? MPI_PROC_NULL : job.right;
	int down = job.rank == first ? MPI_PROC_NULL : job.left;
	MPI_Request requests[2];

	fill();
	if (up != MPI_PROC_NULL)
		NOTE_SEND("Sendrecv", 3, up, 16);
	if (down != MPI_PROC_NULL)
		NOTE_RECV("Sendrecv", 3, 3, down, 16);
	MPI_Sendrecv(in_i, 3, MPI_INT, up, 16, out_i, 3, MPI_INT, down, 16, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	MPI_Send(in_i, 3, MPI_INT, MPI_PROC_NULL, 16, MPI_COMM_WORLD);
	MPI_Recv(out_i, 3, MPI_INT, MPI_PROC_NULL, 16, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Isend(in_i, 3, MPI_INT, MPI_PROC_NULL, 16, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(out_i, 3, MPI_INT, MPI_PROC_NULL, 16, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	fold_all();
}

/* The order of senders is the system's choice, so only the sum goes into the result. */
static void add_up(const MPI_Status *status, int *sum)
{
	int count;

	MPI_Get_count(status, MPI_INT, &count);
	*sum += 1000 * status->MPI_SOURCE + status->MPI_TAG + count + out_i[0];
}

static void from_anybody(int sum)
{
	MPI_Status status, statuses[8];
	MPI_Request requests[8];
	int got[8][16], n = job.size - 1;
	size_t at[8];

	for (int i = 0; i < n; i++) {
		at[0] = NOTE_RECV("Recv", 16, 0, -1, -1);
		MPI_Recv(out_i, 16, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		note_match(at[0], &status);
		add_up(&status, &sum);
	}
	NOTE(.call = "MPI_Barrier", .op = "Barrier", .comm = MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < n; i++) {
		at[i] = NOTE_RECV("Irecv", 16, 0, -1, 30);
		MPI_Irecv(got[i], 16, MPI_INT, MPI_ANY_SOURCE, 30, MPI_COMM_WORLD, &requests[i]);
	}
	complete(n, requests, statuses);
	for (int i = 0; i < n; i++) {
		note_match(at[i], &statuses[i]);
		out_i[0] = got[i][0];
		add_up(&statuses[i], &sum);
	}
	/* one sender, any tag */
	for (int i = 0; i < n; i++) {
		at[0] = NOTE_RECV("Recv", 16, 0, i + 1, -1);
		MPI_Recv(out_i, 16, MPI_INT, i + 1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		note_match(at[0], &status);
		add_up(&status, &sum);
	}
	fold(&sum, sizeof(sum));
}

static void wildcards(void)
{
	fill();
	if (job.rank == 0) {
		from_anybody(0);
		return;
	}
	NOTE_SEND("Send", 2 + job.rank, 0, 20 + job.rank);
	MPI_Send(in_i, 2 + job.rank, MPI_INT, 0, 20 + job.rank, MPI_COMM_WORLD);
	NOTE(.call = "MPI_Barrier", .op = "Barrier", .comm = MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	NOTE_SEND("Send", 3 + job.rank, 0, 30);
	MPI_Send(in_i, 3 + job.rank, MPI_INT, 0, 30, MPI_COMM_WORLD);
	NOTE_SEND("Ssend", 1, 0, 40 + job.rank);
	MPI_Ssend(in_i, 1, MPI_INT, 0, 40 + job.rank, MPI_COMM_WORLD);
}

/* Looked at, and then received as what it is. */
static void probed(int sum)
{
	MPI_Status status;
	int there = 0, count;

	MPI_Probe(job.left, 50, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_INT, &count);
	NOTE_RECV("Recv", count, count, job.left, 50);
	MPI_Recv(out_i, count, MPI_INT, job.left, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	sum += count;
	while (!there)
		MPI_Iprobe(MPI_ANY_SOURCE, 51, MPI_COMM_WORLD, &there, &status);
	NOTE_RECV("Recv", 2, 2, status.MPI_SOURCE, 51);
	MPI_Recv(out_i + 10, 2, MPI_INT, status.MPI_SOURCE, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	fold(&sum, sizeof(sum));
	fold_all();
}

static void probed_and_taken(void)
{
	MPI_Message message = MPI_MESSAGE_NULL;
	MPI_Request request;
	MPI_Status status;
	int there = 0;

	MPI_Mprobe(MPI_ANY_SOURCE, 52, MPI_COMM_WORLD, &message, &status);
	NOTE_RECV("Mrecv", 7, 3, job.left, 52);
	MPI_Mrecv(out_i, 7, MPI_INT, &message, &status);
	while (!there)
		MPI_Improbe(job.left, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &message, &status);
	NOTE_RECV("Imrecv", 4, 4, job.left, 53);
	MPI_Imrecv(out_i + 10, 4, MPI_INT, &message, &request);
	complete(1, &request, NULL);
	/* no one sends */
	MPI_Iprobe(job.left, 54, MPI_COMM_WORLD, &there, &status);
	fold(&there, sizeof(there));
	MPI_Mprobe(MPI_PROC_NULL, 52, MPI_COMM_WORLD, &message, &status);
	MPI_Mrecv(out_i, 7, MPI_INT, &message, &status);
	fold_all();
}

static void probes(void)
{
	static const int sizes[] = { 5, 2, 3, 4 };
	MPI_Request requests[4];

	fill();
	for (int i = 0; i < 4; i++) {
		NOTE_SEND("Isend", sizes[i], job.right, 50 + i);
		MPI_Isend(in_i, sizes[i], MPI_INT, job.right, 50 + i, MPI_COMM_WORLD, &requests[i]);
	}
	probed(0);
	probed_and_taken();
	complete(4, requests, NULL);
}

/* To oneself. */
static void alone(void)
{
	MPI_Request request;

	fill();
	NOTE(.call = "MPI_Isend", .op = "Send", .comm = MPI_COMM_SELF, .count = 5,
	     .dtype = "float64", .bytes = 8, .peer = 0, .tag = 60);
	MPI_Isend(in_d, 5, MPI_DOUBLE, 0, 60, MPI_COMM_SELF, &request);
	NOTE(.call = "MPI_Recv", .op = "Recv", .comm = MPI_COMM_SELF, .count = 5,
	     .dtype = "float64", .bytes = 8, .peer = 0, .tag = 60);
	MPI_Recv(out_d, 5, MPI_DOUBLE, 0, 60, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	complete(1, &request, NULL);
	fold_all();
}

/* Larger than what is sent without asking the receiver first. */
static void large(void)
{
	enum { N = 300000 };
	int *from = malloc(N * sizeof(*from)), *to = calloc(N, sizeof(*to));

	for (int i = 0; i < N; i++)
		from[i] = i + job.rank;
	NOTE_SEND("Sendrecv", N, job.right, 61);
	NOTE_RECV("Sendrecv", N, N, job.left, 61);
	MPI_Sendrecv(from, N, MPI_INT, job.right, 61, to, N, MPI_INT, job.left, 61, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	fold(to, N * sizeof(*to));
	free(from);
	free(to);
}

void matrix_messages(void)
{
	char name[16] = "self.";

	name[5] = (char)('0' + job.rank);
	name_comm(MPI_COMM_SELF, name);
	around(MPI_Send, "MPI_Send", 10);
	around(MPI_Ssend, "MPI_Ssend", 11);
	buffered();
	ready();
	both_ways();
	to_nobody();
	wildcards();
	probes();
	alone();
	large();
}
