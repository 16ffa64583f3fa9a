/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_jobs.c — mpi_jobs JOB [--steps N] [--base MS] [--slow RANK] [--extra MS] [--spin]: one rank
 * of a small job over MPI that measures itself what it loses, for jobs.py.
 *
 * A rank works for --base ms between its calls, by sleeping (ranks may be more than cores) or with
 * --spin by computing; what makes it slow (--extra ms) is computed always: a fixed amount of CPU
 * time, of which the wall time is measured. At the end each thread prints away RANK SECONDS STEPS
 * time between its calls of MPI, from the first step to the last lost RANK SECONDS           wall
 * time of what was extra */
#define _GNU_SOURCE
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROW 1024	/* numbers in a message: sent without waiting for the receiver */
#define LARGE (1 << 18) /* numbers in one for which it is waited */

static int rank, size, steps = 120, slow = -1, spins;
static double base_ms = 4, extra_ms = 4;
static double numbers[LARGE], others[LARGE];

/* Of one thread. */
static __thread double left_at, away, lost;
static __thread int counts;

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Every call of MPI within the steps, so that the time between them is known. */
#define CALL(call)                                                                                 \
	do {                                                                                       \
		if (counts)                                                                        \
			away += now(CLOCK_MONOTONIC) - left_at;                                    \
		call;                                                                              \
		left_at = now(CLOCK_MONOTONIC);                                                    \
		counts = 1;                                                                        \
	} while (0)

static void spin(double ms)
{
	double end = now(CLOCK_THREAD_CPUTIME_ID) + ms / 1e3;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void work(double ms)
{
	struct timespec rest = { .tv_sec = (time_t)(ms / 1e3),
				 .tv_nsec = (long)((ms - (double)(time_t)(ms / 1e3) * 1e3) * 1e6) };

	if (spins)
		spin(ms);
	else
		nanosleep(&rest, NULL);
}

static void slowed(int is_slow)
{
	double begin = now(CLOCK_MONOTONIC);

	if (!is_slow)
		return;
	spin(extra_ms);
	lost += now(CLOCK_MONOTONIC) - begin;
}

static void sum(int count, MPI_Comm comm)
{
	CALL(MPI_Allreduce(numbers, others, count, MPI_DOUBLE, MPI_SUM, comm));
}

static void say(void)
{
	printf("away %d %.6f %d\nlost %d %.6f\n", rank, away, steps, rank, lost);
}

/* ---- jobs: each is one rank's steps ------------------------------------------------------------ */

static void allreduce(void)
{
	for (int step = 0; step < steps; step++) {
		work(base_ms);
		slowed(rank == slow);
		sum(ROW, MPI_COMM_WORLD);
	}
}

/* Computes between Iallreduce and Wait. */
static void nonblocking_sum(void)
{
	for (int step = 0; step < steps; step++) {
		MPI_Request request;

		CALL(MPI_Iallreduce(numbers, others, ROW, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
				    &request));
		work(base_ms);
		slowed(rank == slow);
		CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
	}
}

/* Computes between Isend, Irecv and Waitall; messages go round a ring and wait for their receivers.
 */
static void nonblocking_ring(void)
{
	for (int step = 0; step < steps; step++) {
		MPI_Request requests[2];

		CALL(MPI_Irecv(others, LARGE, MPI_DOUBLE, (rank + size - 1) % size, 1,
			       MPI_COMM_WORLD, &requests[0]));
		CALL(MPI_Isend(numbers, LARGE, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD,
			       &requests[1]));
		work(base_ms);
		slowed(rank == slow);
		CALL(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
	}
}

/* Every five steps another rank is slow. */
static void moving(void)
{
	for (int step = 0; step < steps; step++) {
		work(base_ms);
		slowed(slow >= 0 && step / 5 % size == rank);
		sum(ROW, MPI_COMM_WORLD);
	}
}

/* Blocks run through the ranks one after the other, then all reduce. */
static void wavefront(void)
{
	for (int step = 0; step < steps; step++) {
		for (int block = 0; block < 4; block++) {
			if (rank > 0)
				CALL(MPI_Recv(others, ROW, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD,
					      MPI_STATUS_IGNORE));
			work(base_ms / 4);
			slowed(rank == slow && block == 0);
			if (rank < size - 1)
				CALL(MPI_Send(numbers, ROW, MPI_DOUBLE, rank + 1, 1,
					      MPI_COMM_WORLD));
		}
		sum(1, MPI_COMM_WORLD);
	}
}

/* One rank is late in every evaluation, each tenth step. */
static void evaluation(void)
{
	for (int step = 0; step < steps; step++) {
		work(base_ms);
		sum(ROW, MPI_COMM_WORLD);
		if (step % 10 != 9)
			continue;
		work(base_ms);
		slowed(rank == slow);
		sum(2, MPI_COMM_WORLD);
	}
}

struct part {
	MPI_Comm comm;
	int number;
};

static void *part(void *pointer)
{
	const struct part *mine = pointer;
	double in[ROW] = { 0 }, out[ROW];

	for (int step = 0; step < steps; step++) {
		work(base_ms);
		slowed(rank == slow && mine->number == 1);
		CALL(MPI_Allreduce(in, out, ROW, MPI_DOUBLE, MPI_SUM, mine->comm));
	}
	say();
	return NULL;
}

/* Two threads of a rank reduce, each on a communicator of its own; of the slow rank one of them is
 * slow. */
static void threads(void)
{
	pthread_t thread;
	struct part parts[2] = { { .number = 0 }, { .number = 1 } };

	MPI_Comm_dup(MPI_COMM_WORLD, &parts[0].comm);
	MPI_Comm_dup(MPI_COMM_WORLD, &parts[1].comm);
	if (pthread_create(&thread, NULL, part, &parts[1]) != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
	part(&parts[0]);
	pthread_join(thread, NULL);
	counts = 0;
}

/* A leaf of the Bcast is late; it costs at the sum that ends the step. */
static void bcast_leaf(void)
{
	for (int step = 0; step < steps; step++) {
		CALL(MPI_Bcast(numbers, ROW, MPI_DOUBLE, 0, MPI_COMM_WORLD));
		work(base_ms);
		slowed(rank == slow);
		sum(1, MPI_COMM_WORLD);
	}
}

/* The root of the Reduce is late, and what it sends after it. */
static void reduce_root(void)
{
	for (int step = 0; step < steps; step++) {
		work(base_ms);
		slowed(rank == slow);
		CALL(MPI_Reduce(numbers, others, ROW, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
		CALL(MPI_Bcast(numbers, ROW, MPI_DOUBLE, 0, MPI_COMM_WORLD));
	}
}

/* Put and Get between fences. */
static void windows(void)
{
	static double shown[2 * ROW];
	MPI_Win window;

	MPI_Win_create(shown, sizeof(shown), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
		       &window);
	for (int step = 0; step < steps; step++) {
		CALL(MPI_Win_fence(0, window));
		CALL(MPI_Put(numbers, ROW, MPI_DOUBLE, (rank + 1) % size, 0, ROW, MPI_DOUBLE,
			     window));
		CALL(MPI_Get(others, ROW, MPI_DOUBLE, (rank + 1) % size, ROW, ROW, MPI_DOUBLE,
			     window));
		work(base_ms);
		slowed(rank == slow);
		CALL(MPI_Win_fence(0, window));
	}
	counts = 0;
	MPI_Win_free(&window);
}

/* A grid of two columns: sums along rows, then along columns; the whole row of the slow rank is
 * slow. */
static void grid(void)
{
	MPI_Comm row, column;

	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
	for (int step = 0; step < steps; step++) {
		work(base_ms);
		slowed(slow >= 0 && rank / 2 == slow / 2);
		sum(ROW, row);
		sum(2 * ROW, column);
	}
}

/* The last rank is in no collective: it feeds rank 0. */
static void outside(void)
{
	MPI_Comm inner;

	MPI_Comm_split(MPI_COMM_WORLD, rank == size - 1 ? MPI_UNDEFINED : 0, rank, &inner);
	for (int step = 0; step < steps; step++) {
		if (rank == 0)
			CALL(MPI_Recv(others, LARGE, MPI_DOUBLE, size - 1, 1, MPI_COMM_WORLD,
				      MPI_STATUS_IGNORE));
		work(base_ms);
		slowed(rank == slow);
		if (rank == size - 1)
			CALL(MPI_Send(numbers, LARGE, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD));
		else
			sum(ROW, inner);
	}
}

#define JOB(name)                                                                                  \
	{                                                                                          \
#name, name                                                                        \
	}
static const struct {
	const char *name;
	void (*steps)(void);
} jobs[] = {
	JOB(allreduce),
	JOB(nonblocking_sum),
	JOB(nonblocking_ring),
	JOB(moving),
	JOB(wavefront),
	JOB(evaluation),
	JOB(threads),
	JOB(bcast_leaf),
	JOB(reduce_root),
	JOB(windows),
	JOB(grid),
	JOB(outside),
};

static int option(const char *name, const char *value)
{
	if (strcmp(name, "--steps") == 0)
		steps = atoi(value);
	else if (strcmp(name, "--slow") == 0)
		slow = atoi(value);
	else if (strcmp(name, "--base") == 0)
		base_ms = atof(value);
	else if (strcmp(name, "--extra") == 0)
		extra_ms = atof(value);
	else
		return 0;
	return 1;
}

int main(int argc, char **argv)
{
	size_t job = 0;
	int wanted, given;

	while (job < sizeof(jobs) / sizeof(*jobs) &&
	       (argc < 2 || strcmp(argv[1], jobs[job].name) != 0))
		job++;
	if (job == sizeof(jobs) / sizeof(*jobs))
		return 2;
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--spin") == 0)
			spins = 1;
		else if (i + 1 == argc || !option(argv[i], argv[i + 1]))
			return 2;
		else
			i++;
	}
	wanted = strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
	MPI_Init_thread(&argc, &argv, wanted, &given);
	if (given < wanted)
		MPI_Abort(MPI_COMM_WORLD, 3);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_WORLD);
	jobs[job].steps();
	if (strcmp(argv[1], "threads") != 0) /* those have said it each */
		say();
	fflush(stdout);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
