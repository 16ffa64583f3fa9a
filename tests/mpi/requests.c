/* SPDX-License-Identifier: Apache-2.0 */
/* requests DIRECTORY — messages in all the ways that are hard to follow: thousands at once, from
 * any source, shorter than their space, freed, cancelled, cut off, by several threads, polled. Each
 * rank writes DIRECTORY/RANK.journal, a line for each side of a message that it took part in:
 *
 *   S|R PEER TAG BYTES finished|error|aborted
 *
 * as the program and the statuses of MPI show it. Sizes differ from message to message wherever the
 * order is MPI's, so that two which were taken for each other show. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STORM = 2000, ROOM = 256, POOL = 8, THREADS = 4 };

static int rank, size, left, right;
static FILE *journal;
static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static int failures;

static void note(char side, int peer, int tag, int bytes, const char *end)
{
	pthread_mutex_lock(&journal_lock);
	fprintf(journal, "%c %d %d %d %s\n", side, peer, tag, bytes, end);
	pthread_mutex_unlock(&journal_lock);
}

static void came(const MPI_Status *status)
{
	int bytes;

	MPI_Get_count(status, MPI_BYTE, &bytes);
	note('R', status->MPI_SOURCE, status->MPI_TAG, bytes, "finished");
}

static void check(int is_right, const char *what)
{
	if (is_right)
		return;
	fprintf(stderr, "rank %d: %s\n", rank, what);
	failures++;
}

static int bytes_of(int i)
{
	return 1 + i * 7 % 61;
}

static char *buffer(int n)
{
	return calloc((size_t)n, ROOM);
}

static void send_to(char *buf, int bytes, int peer, int tag)
{
	MPI_Send(buf, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
	note('S', peer, tag, bytes, "finished");
}

/* All of them outstanding at once, and waited for without a look at what came. */
static void storm(void)
{
	char *in = buffer(STORM), *out = buffer(STORM);
	MPI_Request *requests = calloc(2 * STORM, sizeof(MPI_Request));

	for (int i = 0; i < STORM; i++) {
		MPI_Irecv(in + (size_t)i * ROOM, ROOM, MPI_BYTE, left, 10 + i % 3, MPI_COMM_WORLD,
			  &requests[i]);
		note('R', left, 10 + i % 3, bytes_of(i), "finished");
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < STORM; i++) {
		memset(out + (size_t)i * ROOM, i, (size_t)bytes_of(i));
		MPI_Isend(out + (size_t)i * ROOM, bytes_of(i), MPI_BYTE, right, 10 + i % 3,
			  MPI_COMM_WORLD, &requests[STORM + i]);
		note('S', right, 10 + i % 3, bytes_of(i), "finished");
	}
	MPI_Waitall(2 * STORM, requests, MPI_STATUSES_IGNORE);
	check(memcmp(in, out, (size_t)STORM * ROOM) == 0, "storm: data");
	for (int i = 0; i < 2 * STORM; i++)
		check(requests[i] == MPI_REQUEST_NULL, "storm: a request is left");
	free(in);
	free(out);
	free(requests);
}

/* Receives from any, of one tag and in order: posted together, and one at a time. */
static void from_any(void)
{
	char *in = buffer(POOL), out[ROOM] = { 0 };
	MPI_Request requests[POOL];
	MPI_Status statuses[POOL], status;

	for (int i = 0; i < POOL; i++)
		MPI_Irecv(in + (size_t)i * ROOM, ROOM, MPI_BYTE, MPI_ANY_SOURCE, 20, MPI_COMM_WORLD,
			  &requests[i]);
	for (int i = 0; i < POOL; i++)
		send_to(out, 3 + 5 * i + rank, right, 20);
	MPI_Waitall(POOL, requests, statuses);
	for (int i = 0; i < POOL; i++) {
		came(&statuses[i]);
		check(statuses[i].MPI_SOURCE == left, "from any: source");
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < POOL; i++) {
		MPI_Isend(out, 9 + i, MPI_BYTE, right, 21 + i % 2, MPI_COMM_WORLD, &requests[0]);
		note('S', right, 21 + i % 2, 9 + i, "finished");
		MPI_Recv(in, ROOM, MPI_BYTE, i % 3 ? MPI_ANY_SOURCE : left, MPI_ANY_TAG,
			 MPI_COMM_WORLD, &status);
		came(&status);
		MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
		/* its kind is not queried */
		MPI_Isend(out, 40 + i, MPI_BYTE, right, 23, MPI_COMM_WORLD, &requests[0]);
		note('S', right, 23, 40 + i, "finished");
		MPI_Recv(in, ROOM, MPI_BYTE, MPI_ANY_SOURCE, 23, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		note('R', left, 23, 40 + i, "finished");
		MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	free(in);
}

/* Those of the requests that are done, at least one, found out in some way. Returns how many. */
static int next(int way, MPI_Request *requests, int *indices, MPI_Status *statuses)
{
	int n = 0, flag = 0;

	switch (way % 4) {
	case 0:
		MPI_Waitany(POOL, requests, indices, statuses);
		return 1;
	case 1:
		while (!flag)
			MPI_Testany(POOL, requests, indices, &flag, statuses);
		return 1;
	case 2:
		MPI_Waitsome(POOL, requests, &n, indices, statuses);
		return n;
	default:
		while (!n)
			MPI_Testsome(POOL, requests, &n, indices, statuses);
		return n;
	}
}

/* A server's loop: whichever comes first, then a new one instead of it. A tag of its own for each
 * message. */
static void pool(void)
{
	enum { MESSAGES = 40 };
	char *in = buffer(POOL), out[ROOM] = { 0 };
	MPI_Request requests[POOL], send;
	MPI_Status statuses[POOL];
	int indices[POOL], posted = POOL, got = 0;

	for (int i = 0; i < POOL; i++)
		MPI_Irecv(in + (size_t)i * ROOM, ROOM, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
			  MPI_COMM_WORLD, &requests[i]);
	for (int i = 0; i < MESSAGES || got < MESSAGES; i++) {
		int n;

		if (i < MESSAGES) {
			MPI_Isend(out, bytes_of(i), MPI_BYTE, right, 1000 + i, MPI_COMM_WORLD,
				  &send);
			note('S', right, 1000 + i, bytes_of(i), "finished");
			MPI_Wait(&send, MPI_STATUS_IGNORE);
		}
		n = got < MESSAGES ? next(i, requests, indices, statuses) : 0;
		for (int k = 0; k < n; k++, got++) {
			came(&statuses[k]);
			if (posted++ < MESSAGES)
				MPI_Irecv(in + (size_t)indices[k] * ROOM, ROOM, MPI_BYTE,
					  MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
					  &requests[indices[k]]);
		}
	}
	free(in);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void probed(void)
{
	char in[ROOM], out[ROOM] = { 0 };
	MPI_Request send, receive;
	MPI_Message message;
	MPI_Status status;
	int flag = 0;

	for (int i = 0; i < 6; i++) {
		MPI_Isend(out, 60 + i, MPI_BYTE, right, 30, MPI_COMM_WORLD, &send);
		note('S', right, 30, 60 + i, "finished");
		switch (i % 3) {
		case 0:
			MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
			MPI_Recv(in, ROOM, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG,
				 MPI_COMM_WORLD, &status);
			break;
		case 1:
			MPI_Mprobe(MPI_ANY_SOURCE, 30, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
			MPI_Mrecv(in, ROOM, MPI_BYTE, &message, &status);
			break;
		default:
			for (flag = 0; !flag;)
				MPI_Improbe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message,
					    MPI_STATUS_IGNORE);
			MPI_Imrecv(in, ROOM, MPI_BYTE, &message, &receive);
			MPI_Wait(&receive, &status);
		}
		came(&status);
		MPI_Wait(&send, MPI_STATUS_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

static void persistent(void)
{
	char in[3][ROOM], out[3][ROOM] = { { 0 } };
	MPI_Request requests[6];
	MPI_Status statuses[6];

	for (int i = 0; i < 3; i++) {
		MPI_Recv_init(in[i], ROOM, MPI_BYTE, i ? left : MPI_ANY_SOURCE, 40 + i,
			      MPI_COMM_WORLD, &requests[i]);
		MPI_Send_init(out[i], 70 + i, MPI_BYTE, right, 40 + i, MPI_COMM_WORLD,
			      &requests[3 + i]);
	}
	for (int round = 0; round < 5; round++) {
		MPI_Startall(6, requests);
		for (int i = 0; i < 3; i++)
			note('S', right, 40 + i, 70 + i, "finished");
		MPI_Waitall(6, requests, statuses);
		for (int i = 0; i < 3; i++)
			came(&statuses[i]);
	}
	for (int i = 0; i < 6; i++)
		MPI_Request_free(&requests[i]);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* The handle is freed at once; the message still arrives. When a send has ended is unknown. */
static void freed(void)
{
	static char big[1 << 20], room[1 << 20];
	char in[ROOM], out[ROOM] = { 0 };
	MPI_Request request;

	for (int i = 0; i < 4; i++) {
		MPI_Isend(out, 90 + i, MPI_BYTE, right, 50, MPI_COMM_WORLD, &request);
		if (request != MPI_REQUEST_NULL)
			MPI_Request_free(&request);
		note('S', right, 50, 90 + i, "any");
		MPI_Recv(in, ROOM, MPI_BYTE, left, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		note('R', left, 50, 90 + i, "finished");
	}
	MPI_Isend(big, sizeof(big), MPI_BYTE, right, 51, MPI_COMM_WORLD, &request);
	MPI_Request_free(&request);
	note('S', right, 51, sizeof(big), "any");
	MPI_Recv(room, sizeof(room), MPI_BYTE, left, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	note('R', left, 51, sizeof(big), "finished");
	MPI_Barrier(MPI_COMM_WORLD);
}

/* A receive is taken back, and another one on the same channel gets what comes then. */
static void cancelled(void)
{
	char in[ROOM], out[ROOM] = { 0 };
	MPI_Request request;
	MPI_Status status;
	int flag;

	for (int i = 0; i < 3; i++) {
		MPI_Irecv(in, ROOM, MPI_BYTE, left, 60, MPI_COMM_WORLD, &request);
		MPI_Cancel(&request);
		MPI_Wait(&request, &status);
		MPI_Test_cancelled(&status, &flag);
		check(flag, "cancelled: was not");
		note('R', left, 60, 0, "aborted");
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Sendrecv(out, 11 + i, MPI_BYTE, right, 60, in, ROOM, MPI_BYTE, left, 60,
			     MPI_COMM_WORLD, &status);
		note('S', right, 60, 11 + i, "finished");
		came(&status);
	}
}

/* In Open MPI 4.1 MPI_Waitall never returns if one of its messages was cut off before. */
static int both_done(MPI_Request *requests, MPI_Status *statuses)
{
#ifdef OPEN_MPI
	int result = MPI_SUCCESS;

	for (int flag = 0; !flag && result == MPI_SUCCESS;)
		result = MPI_Testall(2, requests, &flag, statuses);
	return result;
#else
	return MPI_Waitall(2, requests, statuses);
#endif
}

/* Errors come back to the program, and close the op as failed: one message of two is longer than
 * its space. */
static void cut_off(void)
{
	char in[2][ROOM], out[ROOM] = { 0 };
	MPI_Request requests[2];
	MPI_Status statuses[2];
	int class, result;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Irecv(in[0], 4, MPI_BYTE, left, 70, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(in[1], ROOM, MPI_BYTE, left, 71, MPI_COMM_WORLD, &requests[1]);
	MPI_Barrier(MPI_COMM_WORLD);
	send_to(out, 16, right, 70);
	send_to(out, 17, right, 71);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 2; i++)
		statuses[i].MPI_ERROR = MPI_SUCCESS;
	result = both_done(requests, statuses);
	MPI_Error_class(result, &class);
	check(class == MPI_ERR_IN_STATUS, "cut off: Waitall's result");
	MPI_Error_class(statuses[0].MPI_ERROR, &class);
	check(class == MPI_ERR_TRUNCATE, "cut off: the first one's error");
	note('R', left, 70, 4, "error");
	if (statuses[1].MPI_ERROR == MPI_ERR_PENDING)
		MPI_Wait(&requests[1], &statuses[1]);
	came(&statuses[1]);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Isend(out, 16, MPI_BYTE, right, 72, MPI_COMM_WORLD, &requests[0]);
	note('S', right, 72, 16, "finished");
	result = MPI_Recv(in[0], 4, MPI_BYTE, left, 72, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Error_class(result, &class);
	check(class == MPI_ERR_TRUNCATE, "cut off: Recv's result");
	note('R', left, 72, 4, "error");
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* A derived type with gaps, and less of it than there is space for. */
static void derived(void)
{
	double in[64], out[64] = { 0 };
	MPI_Datatype every_other;
	MPI_Status status;

	MPI_Type_vector(5, 1, 2, MPI_DOUBLE, &every_other);
	MPI_Type_commit(&every_other);
	MPI_Sendrecv(out, 1, every_other, right, 80, in, 3, every_other, left, 80, MPI_COMM_WORLD,
		     &status);
	note('S', right, 80, 40, "finished");
	came(&status);
	MPI_Sendrecv(out, 3, MPI_INT, right, 81, in, 20, MPI_DOUBLE, left, 81, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE); /* half an element more than one */
	note('S', right, 81, 12, "finished");
	note('R', left, 81, 12, "finished");
	MPI_Type_free(&every_other);
}

/* Nothing goes anywhere: no op. Nothing to wait for: no wait. */
static void nobody(void)
{
	char in[ROOM], out[ROOM] = { 0 };
	MPI_Request requests[3];

	MPI_Sendrecv(out, 9, MPI_BYTE, MPI_PROC_NULL, 1, in, ROOM, MPI_BYTE, MPI_PROC_NULL, 1,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Isend(out, 9, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(in, 9, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Recv_init(in, 9, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[2]);
	MPI_Start(&requests[2]);
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	MPI_Request_free(&requests[2]);
}

#if MPI_VERSION >= 4
static void newer(void)
{
	char in[ROOM], out[ROOM] = { 0 };
	MPI_Request requests[2];

	/* MPICH 4.0 does not say what came */
	MPI_Isendrecv(out, 33, MPI_BYTE, right, 90, in, 33, MPI_BYTE, left, 90, MPI_COMM_WORLD,
		      &requests[0]);
	note('S', right, 90, 33, "finished");
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	note('R', left, 90, 33, "finished");
	MPI_Isendrecv(out, 34, MPI_BYTE, MPI_PROC_NULL, 90, in, 33, MPI_BYTE, left, 90,
		      MPI_COMM_WORLD, &requests[0]);
	send_to(out, 33, right, 90);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	note('R', left, 90, 33, "finished");
	/* the same bytes, cut differently; others have the same tag and are not matched with them */
	MPI_Psend_init(out, 4, 8, MPI_BYTE, right, 91, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
	MPI_Precv_init(in, 2, 16, MPI_BYTE, left, 91, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
	for (int round = 0; round < 2; round++) {
		MPI_Startall(2, requests);
		MPI_Pready_range(0, 3, requests[0]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		note('S', right, 91, 32, "finished");
		note('R', left, 91, 32, "finished");
		MPI_Sendrecv(out, 5, MPI_BYTE, right, 91, in, 5, MPI_BYTE, left, 91, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		note('S', right, 91, 5, "finished");
		note('R', left, 91, 5, "finished");
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
}
#else
static void newer(void)
{
}
#endif

/* A thread of its own tag, which tests until what it wants is there. */
static void *thread(void *arg)
{
	int tag = 2000 + (int)(intptr_t)arg;
	char in[ROOM], out[ROOM] = { 0 };
	MPI_Request requests[2];
	int flag;

	for (int i = 0; i < 50; i++) {
		MPI_Irecv(in, ROOM, MPI_BYTE, left, tag, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(out, bytes_of(i), MPI_BYTE, right, tag, MPI_COMM_WORLD, &requests[1]);
		note('S', right, tag, bytes_of(i), "finished");
		for (flag = 0; !flag; usleep(50))
			MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
		note('R', left, tag, bytes_of(i), "finished");
	}
	return NULL;
}

static void threads(void)
{
	pthread_t all[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&all[i], NULL, thread, (void *)(intptr_t)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
}

/* One rank is late; the others ask for its message again and again: one wait. */
static void polled(void)
{
	char in[ROOM], out[ROOM] = { 0 };
	MPI_Request request;
	int flag = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		usleep(300000);
		for (int i = 1; i < size; i++)
			send_to(out, 5, i, 100);
		return;
	}
	MPI_Irecv(in, ROOM, MPI_BYTE, 0, 100, MPI_COMM_WORLD, &request);
	while (!flag)
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	note('R', 0, 100, 5, "finished");
}

int main(int argc, char **argv)
{
	char path[4096];
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	left = (rank + size - 1) % size;
	right = (rank + 1) % size;
	snprintf(path, sizeof(path), "%s/%d.journal", argv[argc - 1], rank);
	journal = fopen(path, "w");
	if (!journal)
		MPI_Abort(MPI_COMM_WORLD, 1);
	storm();
	from_any();
	pool();
	probed();
	persistent();
	freed();
	cancelled();
	cut_off();
	derived();
	nobody();
	newer();
	if (provided == MPI_THREAD_MULTIPLE)
		threads();
	polled();
	fclose(journal);
	MPI_Finalize();
	return failures != 0;
}
