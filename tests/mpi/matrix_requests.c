/* SPDX-License-Identifier: Apache-2.0 */
/* Messages by requests: every way to begin one, every way to complete it. */
#include <stdlib.h>

#include "tests/mpi/matrix.h"

#define WAYS 9 /* of complete() */

static void note_message(const char *call, const char *op, int n, int peer, int tag)
{
	NOTE(.call = call, .op = op, .comm = MPI_COMM_WORLD, .count = n, .dtype = "int32",
	     .bytes = 4, .peer = peer, .tag = tag);
}

typedef int (*isend_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/* Three in each direction of the ring, of different sizes, received in another order than sent. */
static void exchange(isend_fn isend, const char *call, int tag)
{
	MPI_Request requests[9];
	int n = 0;

	fill();
	for (int i = 3; i-- > 0;) {
		note_message("MPI_Irecv", "Recv", 4 + i, job.left, tag + i);
		MPI_Irecv(out_i + 8 * i, 4 + i, MPI_INT, job.left, tag + i, MPI_COMM_WORLD,
			  &requests[n++]);
	}
	requests[n++] = MPI_REQUEST_NULL;
	if (isend == MPI_Irsend) {
		NOTE(.call = "MPI_Barrier", .op = "Barrier", .comm = MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	for (int i = 0; i < 3; i++) {
		note_message(call, "Send", 4 + i, job.right, tag + i);
		isend(in_i + i, 4 + i, MPI_INT, job.right, tag + i, MPI_COMM_WORLD, &requests[n++]);
	}
	requests[3] = requests[n - 1]; /* none in the middle */
	complete(n - 1, requests, NULL);
	fold_all();
}

typedef int (*init_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void start_pair(MPI_Request *pair, const char *call, int tag, int how)
{
	note_message("MPI_Recv_init", "Recv", 6, job.left, tag);
	if (how != 0) {
		note_message(call, "Send", 6, job.right, tag);
		MPI_Startall(2, pair);
		return;
	}
	MPI_Start(&pair[0]);
	note_message(call, "Send", 6, job.right, tag);
	MPI_Start(&pair[1]);
}

/* The same requests again and again. */
static void persistent(init_fn init, const char *call, int tag)
{
	MPI_Request pair[2];

	MPI_Recv_init(out_i, 6, MPI_INT, job.left, tag, MPI_COMM_WORLD, &pair[0]);
	init(in_i, 6, MPI_INT, job.right, tag, MPI_COMM_WORLD, &pair[1]);
	for (int i = 0; i < WAYS; i++) {
		fill();
		start_pair(pair, call, tag, i % 2);
		complete(2, pair, NULL);
		fold_all();
	}
	MPI_Request_free(&pair[0]);
	MPI_Request_free(&pair[1]);
}

/* What is posted before the other starts to send, as a ready send asks for. */
static void persistent_ready(void)
{
	MPI_Request pair[2];

	MPI_Recv_init(out_i, 6, MPI_INT, job.left, 93, MPI_COMM_WORLD, &pair[0]);
	MPI_Rsend_init(in_i, 6, MPI_INT, job.right, 93, MPI_COMM_WORLD, &pair[1]);
	fill();
	note_message("MPI_Recv_init", "Recv", 6, job.left, 93);
	MPI_Start(&pair[0]);
	NOTE(.call = "MPI_Barrier", .op = "Barrier", .comm = MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	note_message("MPI_Rsend_init", "Send", 6, job.right, 93);
	MPI_Start(&pair[1]);
	complete(2, pair, NULL);
	fold_all();
	MPI_Request_free(&pair[0]);
	MPI_Request_free(&pair[1]);
}

static void buffered(void)
{
	size_t bytes = 8 * (256 + MPI_BSEND_OVERHEAD);
	void *buffer = malloc(bytes);

	MPI_Buffer_attach(buffer, (int)bytes);
	exchange(MPI_Ibsend, "MPI_Ibsend", 80);
	persistent(MPI_Bsend_init, "MPI_Bsend_init", 91);
	MPI_Buffer_detach(&buffer, &(int){ 0 });
	free(buffer);
}

/* No call waits for the send; the answer shows that it has arrived. */
static void let_go(void)
{
	MPI_Request request;

	fill();
	note_message("MPI_Isend", "Send", 3, job.right, 95);
	MPI_Isend(in_i, 3, MPI_INT, job.right, 95, MPI_COMM_WORLD, &request);
	MPI_Request_free(&request);
	note_message("MPI_Recv", "Recv", 3, job.left, 95);
	MPI_Recv(out_i, 3, MPI_INT, job.left, 95, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	NOTE(.call = "MPI_Barrier", .op = "Barrier", .comm = MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	fold_all();
}

/* A receive without a send is cancelled; then a message does arrive on the same channel. */
static void cancelled(void)
{
	MPI_Request request;
	MPI_Status status;
	int flag;
	size_t at;

	fill();
	at = NOTE(.call = "MPI_Irecv", .op = "Recv", .comm = MPI_COMM_WORLD, .count = 2,
		  .dtype = "int32", .bytes = 4, .peer = job.left, .tag = 96);
	MPI_Irecv(out_i, 2, MPI_INT, job.left, 96, MPI_COMM_WORLD, &request);
	MPI_Cancel(&request);
	MPI_Wait(&request, &status);
	MPI_Test_cancelled(&status, &flag);
	fold(&flag, sizeof(flag));
	if (flag)
		note_cancelled(at);
	NOTE(.call = "MPI_Barrier", .op = "Barrier", .comm = MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	note_message("MPI_Sendrecv", "Send", 2, job.right, 96);
	note_message("MPI_Sendrecv", "Recv", 2, job.left, 96);
	MPI_Sendrecv(in_i, 2, MPI_INT, job.right, 96, out_i, 2, MPI_INT, job.left, 96,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	fold_all();
}

/* Polled for a while before the other side begins: a few milliseconds. */
static void polled(void)
{
	MPI_Request request;
	int done = 0;

	fill();
	if (job.rank % 2) {
		double until = MPI_Wtime() + 0.005;

		while (MPI_Wtime() < until)
			;
		note_message("MPI_Send", "Send", 2, job.left, 97);
		MPI_Send(in_i, 2, MPI_INT, job.left, 97, MPI_COMM_WORLD);
	} else if (job.right < job.size) {
		note_message("MPI_Irecv", "Recv", 2, job.right, 97);
		MPI_Irecv(out_i, 2, MPI_INT, job.right, 97, MPI_COMM_WORLD, &request);
		while (!done)
			MPI_Test(&request, &done, MPI_STATUS_IGNORE);
	}
	fold_all();
}

void matrix_requests(void)
{
	for (int i = 0; i < WAYS; i++)
		exchange(MPI_Isend, "MPI_Isend", 70);
	exchange(MPI_Issend, "MPI_Issend", 74);
	exchange(MPI_Irsend, "MPI_Irsend", 77);
	persistent(MPI_Send_init, "MPI_Send_init", 90);
	buffered();
	persistent(MPI_Ssend_init, "MPI_Ssend_init", 92);
	persistent_ready();
	let_go();
	cancelled();
	polled();
}
