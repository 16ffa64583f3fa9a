/* SPDX-License-Identifier: Apache-2.0 */
/* comm_bench_nccl.c — how long NCCL's operations take, by size; sweep.h has the options.
 *
 *     cc -O2 -I/usr/local/cuda/include -o comm_bench_nccl comm_bench_nccl.c -L/usr/local/cuda/lib64
 * -lnccl -lcudart -lpthread comm_bench_nccl -g 8 one thread for all GPUs comm_bench_nccl -t 8 one
 * thread for each torchrun --no_python --nproc_per_node 8 comm_bench_nccl --id-file /shared/new one
 * process for each mpirun -n 8 comm_bench_nccl --id-file /shared/new srun -N 2 --ntasks-per-node 8
 * comm_bench_nccl --id-file /shared/new
 *
 * alltoall and sendrecv are sends and receives in one group, as in programs for versions
 * before 2.28. gather and scatter need 2.28.3: as messages they would be other operations on other
 * ranks. */
#include <cuda_runtime.h>
#include <nccl.h>

#include <pthread.h>
#include <unistd.h>

#include "sweep.h"

#if NCCL_VERSION_CODE >= 22803
#define HAS_GATHER
#endif

struct gpu {
	int device, rank;
	ncclComm_t comm;
	cudaStream_t stream;
	float *send, *recv;
	double *scalar;
};

/* The GPUs of one thread. */
struct bench {
	const struct sweep_options *options;
	ncclUniqueId id;
	int n, first, size; /* how many GPUs, the rank of the first one, of all */
	int device;	    /* of the first one */
	struct gpu *gpus;
	int wrong;
};

static void check(int failed, const char *call, const char *why)
{
	if (failed) {
		fprintf(stderr, "comm_bench_nccl: %s: %s\n", call, why);
		exit(1);
	}
}

#define CUDA(call)                                                                                 \
	do {                                                                                       \
		cudaError_t result_ = (call);                                                      \
		check(result_ != cudaSuccess, #call, cudaGetErrorString(result_));                 \
	} while (0)
#define NCCL(call)                                                                                 \
	do {                                                                                       \
		ncclResult_t result_ = (call);                                                     \
		check(result_ != ncclSuccess, #call, ncclGetErrorString(result_));                 \
	} while (0)

static void once_on(const struct gpu *g, int size, enum op op, size_t n, enum redop redop)
{
	const ncclRedOp_t by[REDOPS] = { ncclSum, ncclProd, ncclMin, ncclMax };
	size_t share = n / (size_t)size;
	int last = size - 1;

	switch (op) {
	case ALL_REDUCE:
		NCCL(ncclAllReduce(g->send, g->recv, n, ncclFloat32, by[redop], g->comm,
				   g->stream));
		break;
	case BROADCAST:
		NCCL(ncclBroadcast(g->send, g->recv, n, ncclFloat32, 0, g->comm, g->stream));
		break;
	case REDUCE:
		NCCL(ncclReduce(g->send, g->recv, n, ncclFloat32, by[redop], 0, g->comm,
				g->stream));
		break;
	case ALL_GATHER:
		NCCL(ncclAllGather(g->send, g->recv, share, ncclFloat32, g->comm, g->stream));
		break;
	case REDUCE_SCATTER:
		NCCL(ncclReduceScatter(g->send, g->recv, share, ncclFloat32, by[redop], g->comm,
				       g->stream));
		break;
	case ALLTOALL:
		NCCL(ncclGroupStart());
		for (int r = 0; r < size; r++) {
			NCCL(ncclSend(g->send + (size_t)r * share, share, ncclFloat32, r, g->comm,
				      g->stream));
			NCCL(ncclRecv(g->recv + (size_t)r * share, share, ncclFloat32, r, g->comm,
				      g->stream));
		}
		NCCL(ncclGroupEnd());
		break;
#ifdef HAS_GATHER
	case GATHER:
		NCCL(ncclGather(g->send, g->recv, share, ncclFloat32, 0, g->comm, g->stream));
		break;
	case SCATTER:
		NCCL(ncclScatter(g->send, g->recv, share, ncclFloat32, 0, g->comm, g->stream));
		break;
#endif
	case SENDRECV:
		NCCL(ncclGroupStart());
		NCCL(ncclSend(g->send, n, ncclFloat32, (g->rank + 1) % size, g->comm, g->stream));
		NCCL(ncclRecv(g->recv, n, ncclFloat32, (g->rank + last) % size, g->comm,
			      g->stream));
		NCCL(ncclGroupEnd());
		break;
	default:
		break;
	}
}

static void once(void *with, enum op op, size_t count, enum redop redop)
{
	struct bench *b = with;

	NCCL(ncclGroupStart());
	for (int i = 0; i < b->n; i++)
		once_on(&b->gpus[i], b->size, op, count, redop);
	NCCL(ncclGroupEnd());
}

static void finish(void *with)
{
	struct bench *b = with;

	for (int i = 0; i < b->n; i++) {
		CUDA(cudaSetDevice(b->gpus[i].device));
		CUDA(cudaStreamSynchronize(b->gpus[i].stream));
	}
}

static double sum(void *with, double mine)
{
	struct bench *b = with;
	double all;

	for (int i = 0; i < b->n; i++) {
		double part = i ? 0 : mine;

		CUDA(cudaSetDevice(b->gpus[i].device));
		CUDA(cudaMemcpy(b->gpus[i].scalar, &part, sizeof(part), cudaMemcpyHostToDevice));
	}
	NCCL(ncclGroupStart());
	for (int i = 0; i < b->n; i++)
		NCCL(ncclAllReduce(b->gpus[i].scalar, b->gpus[i].scalar, 1, ncclFloat64, ncclSum,
				   b->gpus[i].comm, b->gpus[i].stream));
	NCCL(ncclGroupEnd());
	finish(b);
	CUDA(cudaSetDevice(b->gpus[0].device));
	CUDA(cudaMemcpy(&all, b->gpus[0].scalar, sizeof(all), cudaMemcpyDeviceToHost));
	return all;
}

static void barrier(void *with)
{
	struct bench *b = with;

	NCCL(ncclGroupStart());
	for (int i = 0; i < b->n; i++)
		NCCL(ncclAllReduce(b->gpus[i].scalar, b->gpus[i].scalar, 1, ncclFloat32, ncclSum,
				   b->gpus[i].comm, b->gpus[i].stream));
	NCCL(ncclGroupEnd());
	finish(b);
}

static void put(void *with, int local, const float *values, size_t count)
{
	struct gpu *g = &((struct bench *)with)->gpus[local];

	CUDA(cudaSetDevice(g->device));
	CUDA(cudaMemcpy(g->send, values, count * sizeof(*values), cudaMemcpyHostToDevice));
}

static void get(void *with, int local, float *values, size_t count)
{
	struct gpu *g = &((struct bench *)with)->gpus[local];

	CUDA(cudaSetDevice(g->device));
	CUDA(cudaMemcpy(values, g->recv, count * sizeof(*values), cudaMemcpyDeviceToHost));
}

/* --under-load: copies on the first GPU of the thread, until the process ends. */
static void *load(void *with)
{
	enum { BYTES = 32 << 20 };
	struct bench *b = with;
	cudaStream_t stream;
	void *from, *to;

	CUDA(cudaSetDevice(b->device));
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA(cudaMalloc(&from, BYTES));
	CUDA(cudaMalloc(&to, BYTES));
	for (;;) {
		CUDA(cudaMemcpyAsync(to, from, BYTES, cudaMemcpyDeviceToDevice, stream));
		CUDA(cudaStreamSynchronize(stream));
	}
	return NULL;
}

static void *run(void *with)
{
	struct bench *b = with;
	size_t bytes = b->options->most;
	struct transport t = { .rank = b->first,
			       .local = b->n,
			       .size = b->size,
			       .with = b,
			       .once = once,
			       .finish = finish,
			       .barrier = barrier,
			       .sum = sum,
			       .put = put,
			       .get = get };
	pthread_t thread;

	t.can = 1u << ALL_REDUCE | 1u << BROADCAST | 1u << REDUCE | 1u << ALL_GATHER |
		1u << REDUCE_SCATTER | 1u << ALLTOALL | 1u << SENDRECV;
#ifdef HAS_GATHER
	t.can |= 1u << GATHER | 1u << SCATTER;
#endif
	b->gpus = calloc((size_t)b->n, sizeof(*b->gpus));
	check(!b->gpus, "calloc", "out of memory");
	NCCL(ncclGroupStart());
	for (int i = 0; i < b->n; i++) {
		struct gpu *g = &b->gpus[i];

		g->device = b->device + i;
		g->rank = b->first + i;
		CUDA(cudaSetDevice(g->device));
		CUDA(cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking));
		CUDA(cudaMalloc((void **)&g->send, bytes));
		CUDA(cudaMalloc((void **)&g->recv, bytes));
		CUDA(cudaMalloc((void **)&g->scalar, sizeof(*g->scalar)));
		NCCL(ncclCommInitRank(&g->comm, b->size, b->id, g->rank));
	}
	NCCL(ncclGroupEnd());
	if (b->options->under_load)
		pthread_create(&thread, NULL, load, b);
	b->wrong = sweep_run(b->options, &t);
	for (int i = 0; i < b->n; i++)
		NCCL(ncclCommDestroy(b->gpus[i].comm));
	free(b->gpus);
	return NULL;
}

/* The first of these variables that is set, else `otherwise`: of torchrun, Open MPI, MPICH, Slurm. */
static int number(const char *const names[4], int otherwise)
{
	for (int i = 0; i < 4; i++) {
		const char *text = getenv(names[i]);

		if (text)
			return atoi(text);
	}
	return otherwise;
}

/* The process of rank 0 makes the id and writes the file, which the others wait for. */
static void exchange(ncclUniqueId *id, const char *path, int process, int processes)
{
	char begun[4096];
	FILE *file = NULL;

	if (!process)
		NCCL(ncclGetUniqueId(id));
	if (processes == 1)
		return;
	check(!path, "--id-file", "several processes need it");
	snprintf(begun, sizeof(begun), "%s.part", path);
	if (!process) {
		file = fopen(begun, "wbx");
		check(!file || fwrite(id, sizeof(*id), 1, file) != 1 || fclose(file) != 0 ||
			      rename(begun, path) != 0,
		      path, "cannot be written");
		return;
	}
	while (!(file = fopen(path, "rb")))
		usleep(10000);
	check(fread(id, sizeof(*id), 1, file) != 1, path, "cannot be read");
	fclose(file);
}

int main(int argc, char **argv)
{
	static const char *const ranks[4] = { "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
					      "SLURM_PROCID" };
	static const char *const sizes[4] = { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
					      "SLURM_NTASKS" };
	static const char *const locals[4] = { "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
					       "MPI_LOCALRANKID", "SLURM_LOCALID" };
	int process = number(ranks, 0), processes = number(sizes, 1), local = number(locals, 0),
	    wrong = 0, each;
	struct sweep_options options;
	struct bench *benches;
	pthread_t *threads;
	ncclUniqueId id;

	sweep_parse(&options, argc, argv);
	each = options.threads * options.gpus;
	benches = calloc((size_t)options.threads, sizeof(*benches));
	threads = calloc((size_t)options.threads, sizeof(*threads));
	check(!benches || !threads, "calloc", "out of memory");
	exchange(&id, options.id_file, process, processes);
	for (int t = 0; t < options.threads; t++) {
		benches[t] = (struct bench){ .options = &options,
					     .id = id,
					     .n = options.gpus,
					     .size = processes * each,
					     .first = process * each + t * options.gpus,
					     .device = local * each + t * options.gpus };
		pthread_create(&threads[t], NULL, run, &benches[t]);
	}
	for (int t = 0; t < options.threads; t++) {
		pthread_join(threads[t], NULL);
		wrong |= benches[t].wrong;
	}
	if (!process && options.id_file)
		unlink(options.id_file);
	free(benches);
	free(threads);
	return wrong;
}
