/* SPDX-License-Identifier: Apache-2.0 */
/* More requests than there is space for, on two ranks. many MODE:
 * persistent  a receive of each message of 1 to 20 bytes is started that was made after 70000
 * others; 50 plain ones follow startall    20000 receives and as many sends are started by one
 * call, three times open        2000 receives are open at once, three times threads     eight
 * threads wait for 200 requests each at the same time */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OTHERS = 70000, STARTED = 20, PLAIN = 50, BYTES = 4096, THREADS = 8, EACH = 100 };
static int rank;
static char data[BYTES];

static void receive_all(void)
{
	MPI_Request *requests = malloc((OTHERS + STARTED) * sizeof(*requests));

	for (int i = 0; i < OTHERS + STARTED; i++)
		MPI_Recv_init(data, BYTES, MPI_CHAR, 0, i < OTHERS ? 99 : 5, MPI_COMM_WORLD,
			      &requests[i]);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = OTHERS; i < OTHERS + STARTED / 2; i++)
		MPI_Start(&requests[i]);
	MPI_Startall(STARTED - STARTED / 2, &requests[OTHERS + STARTED / 2]);
	MPI_Waitall(STARTED, &requests[OTHERS], MPI_STATUSES_IGNORE);
	for (int i = 0; i < PLAIN; i++)
		MPI_Recv(data, BYTES, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < OTHERS + STARTED; i++)
		MPI_Request_free(&requests[i]);
	free(requests);
}

static void send_all(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < STARTED + PLAIN; i++)
		MPI_Send(data, i + 1, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
}

static void start_all(void)
{
	enum { N = 20000 };
	static MPI_Request requests[2 * N];

	for (int i = 0; i < N; i++) {
		MPI_Recv_init(data, 1, MPI_CHAR, 1 - rank, i % 100, MPI_COMM_WORLD, &requests[i]);
		MPI_Send_init(&data[1], 1, MPI_CHAR, 1 - rank, i % 100, MPI_COMM_WORLD,
			      &requests[N + i]);
	}
	for (int i = 0; i < 3; i++) {
		MPI_Startall(2 * N, requests);
		MPI_Waitall(2 * N, requests, MPI_STATUSES_IGNORE);
	}
}

static void open_many(void)
{
	enum { N = 2000 };
	static MPI_Request requests[N];
	static char received[N];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++)
			MPI_Irecv(&received[i], 1, MPI_CHAR, 1 - rank, i, MPI_COMM_WORLD,
				  &requests[i]);
		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < N; i++)
			MPI_Send(data, 1, MPI_CHAR, 1 - rank, i, MPI_COMM_WORLD);
		MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
	}
}

static void *wait_for_many(void *comm)
{
	static char received[THREADS * EACH];
	MPI_Request requests[2 * EACH];

	if (rank == 1)
		usleep(200000);
	for (int i = 0; i < EACH; i++)
		MPI_Irecv(&received[i], 1, MPI_CHAR, MPI_ANY_SOURCE, i, *(MPI_Comm *)comm,
			  &requests[i]);
	for (int i = 0; i < EACH; i++)
		MPI_Isend(data, 1, MPI_CHAR, 1 - rank, i, *(MPI_Comm *)comm, &requests[EACH + i]);
	MPI_Waitall(2 * EACH, requests, MPI_STATUSES_IGNORE);
	return NULL;
}

static void wait_in_threads(void)
{
	MPI_Comm comms[THREADS];
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, wait_for_many, &comms[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc > 1 && strcmp(argv[1], "threads") == 0)
		wait_in_threads();
	else if (argc > 1 && strcmp(argv[1], "startall") == 0)
		start_all();
	else if (argc > 1 && strcmp(argv[1], "open") == 0)
		open_many();
	else if (rank == 0)
		send_all();
	else
		receive_all();
	MPI_Finalize();
	return 0;
}
