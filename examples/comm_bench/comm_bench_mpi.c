/* SPDX-License-Identifier: Apache-2.0 */
/* comm_bench_mpi.c — how long MPI's operations take, by size; sweep.h has the options.
 *
 *     mpicc -O2 -o comm_bench_mpi comm_bench_mpi.c -lpthread
 *     mpirun -n 4 comm_bench_mpi -b 8 -e 64M --ops all_reduce,alltoall
 */
#include <mpi.h>

#include <pthread.h>

#include "sweep.h"

struct bench {
	int rank, size;
	float *send, *recv;
};

static void once(void *with, enum op op, size_t count, enum redop redop)
{
	const MPI_Op by[REDOPS] = { MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX };
	struct bench *b = with;
	int n = (int)count, share = n / b->size, last = b->size - 1;

	switch (op) {
	case ALL_REDUCE:
		MPI_Allreduce(b->send, b->recv, n, MPI_FLOAT, by[redop], MPI_COMM_WORLD);
		break;
	case BROADCAST:
		MPI_Bcast(b->rank ? b->recv : b->send, n, MPI_FLOAT, 0, MPI_COMM_WORLD);
		break;
	case REDUCE:
		MPI_Reduce(b->send, b->recv, n, MPI_FLOAT, by[redop], 0, MPI_COMM_WORLD);
		break;
	case ALL_GATHER:
		MPI_Allgather(b->send, share, MPI_FLOAT, b->recv, share, MPI_FLOAT, MPI_COMM_WORLD);
		break;
	case REDUCE_SCATTER:
		MPI_Reduce_scatter_block(b->send, b->recv, share, MPI_FLOAT, by[redop],
					 MPI_COMM_WORLD);
		break;
	case ALLTOALL:
		MPI_Alltoall(b->send, share, MPI_FLOAT, b->recv, share, MPI_FLOAT, MPI_COMM_WORLD);
		break;
	case GATHER:
		MPI_Gather(b->send, share, MPI_FLOAT, b->recv, share, MPI_FLOAT, 0, MPI_COMM_WORLD);
		break;
	case SCATTER:
		MPI_Scatter(b->send, share, MPI_FLOAT, b->recv, share, MPI_FLOAT, 0,
			    MPI_COMM_WORLD);
		break;
	case SENDRECV:
		MPI_Sendrecv(b->send, n, MPI_FLOAT, (b->rank + 1) % b->size, 1, b->recv, n,
			     MPI_FLOAT, (b->rank + last) % b->size, 1, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		break;
	default: /* one buffer, which comes back */
		if (!b->rank) {
			MPI_Send(b->send, n, MPI_FLOAT, last, 2, MPI_COMM_WORLD);
			MPI_Recv(b->send, n, MPI_FLOAT, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else if (b->rank == last) {
			MPI_Recv(b->recv, n, MPI_FLOAT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(b->recv, n, MPI_FLOAT, 0, 2, MPI_COMM_WORLD);
		}
	}
}

static void finish(void *with)
{
	(void)with; /* all calls block */
}

static void barrier(void *with)
{
	(void)with;
	MPI_Barrier(MPI_COMM_WORLD);
}

static double sum(void *with, double mine)
{
	double all = 0;

	(void)with;
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

static void put(void *with, int local, const float *values, size_t count)
{
	(void)local;
	memcpy(((struct bench *)with)->send, values, count * sizeof(*values));
}

static void get(void *with, int local, float *values, size_t count)
{
	struct bench *b = with;

	(void)local;
	memcpy(values, b->recv, count * sizeof(*values));
}

/* --under-load: copies between the buffers of this thread, until the process ends. */
static void *load(void *unused)
{
	enum { BYTES = 32 << 20 };
	char *from = calloc(1, BYTES), *to = malloc(BYTES);

	while (from && to)
		memcpy(to, from, BYTES);
	return unused;
}

int main(int argc, char **argv)
{
	struct sweep_options options;
	struct bench b;
	struct transport t = { .local = 1,
			       .with = &b,
			       .once = once,
			       .finish = finish,
			       .barrier = barrier,
			       .sum = sum,
			       .put = put,
			       .get = get };
	pthread_t thread;
	int provided, wrong;

	sweep_parse(&options, argc, argv);
	/* Open MPI's messages take up to a tenth longer in a program that announces threads. */
	MPI_Init_thread(&argc, &argv, options.under_load ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE,
			&provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &b.size);
	t.rank = b.rank;
	t.size = b.size;
	t.can = b.size > 1 ? (1u << OPS) - 1 : (1u << PINGPONG) - 1;
	b.send = malloc(options.most);
	b.recv = calloc(1, options.most);
	if (!b.send || !b.recv || options.most / sizeof(float) > INT32_MAX) {
		fprintf(stderr, "comm_bench_mpi: -e is too large\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	if (options.under_load)
		pthread_create(&thread, NULL, load, NULL);
	wrong = sweep_run(&options, &t);
	MPI_Finalize();
	return wrong;
}
