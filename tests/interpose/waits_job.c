/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interpose/waits_job.h"

#include <stdlib.h>
#include <string.h>

struct truth *truth;
struct job job = { .lock = PTHREAD_MUTEX_INITIALIZER };

void add_wait(uint64_t begin_ns, uint64_t end_ns)
{
	pthread_mutex_lock(&job.lock);
	MUST(job.n_waits < MOST);
	job.waits[job.n_waits++] = (struct interval){ begin_ns, end_ns };
	pthread_mutex_unlock(&job.lock);
}

static void on_stall(const struct sim_stall *stall)
{
	if (stall->device == 0 && stall->stream == job.compute)
		add_wait(stall->begin_ns, stall->end_ns);
}

static void on_kernel(const struct sim_nccl_span *span)
{
	if (span->rank != 0)
		return;
	pthread_mutex_lock(&job.lock);
	MUST(job.n_spans < MOST);
	job.spans[job.n_spans++] = (struct interval){ span->start_ns, span->end_ns };
	pthread_mutex_unlock(&job.lock);
}

/* Rank 0's part takes `ms`: so late is rank 1. */
void communicate(int ms)
{
	MUST(cudaSetDevice(1) == cudaSuccess);
	MUST(simCompute(job.streams[1], (uint64_t)ms * MS) == CUDA_SUCCESS);
	MUST(cudaSetDevice(0) == cudaSuccess);
	MUST(ncclGroupStart() == ncclSuccess);
	for (int i = 0; i < RANKS; i++)
		MUST(ncclAllReduce(job.data[i], job.data[i], 100, ncclFloat32, ncclSum,
				   job.comms[i], job.streams[i]) == ncclSuccess);
	MUST(ncclGroupEnd() == ncclSuccess);
}

void compute(int ms)
{
	MUST(simCompute(job.compute, (uint64_t)ms * MS) == CUDA_SUCCESS);
}

void record(cudaEvent_t event, cudaStream_t stream)
{
	MUST(cudaEventRecord(event, stream) == cudaSuccess);
}

void wait_for(cudaStream_t stream, cudaEvent_t event)
{
	MUST(cudaStreamWaitEvent(stream, event, 0) == cudaSuccess);
}

void set_up(int on_default)
{
	MUST(ncclCommInitAll(job.comms, RANKS, NULL) == ncclSuccess);
	simNcclOnKernel(on_kernel);
	simOnStall(on_stall);
	for (int i = 0; i < RANKS; i++) {
		MUST(cudaSetDevice(i) == cudaSuccess);
		if (!on_default || i)
			MUST(cudaStreamCreateWithFlags(&job.streams[i], 1) == cudaSuccess);
		MUST(cudaMalloc((void **)&job.data[i], 4096) == cudaSuccess);
	}
	MUST(cudaSetDevice(0) == cudaSuccess);
	MUST(cudaStreamCreateWithFlags(&job.compute, 1) == cudaSuccess);
	MUST(cudaStreamCreateWithFlags(&job.copy, 1) == cudaSuccess);
	MUST(cudaStreamCreateWithFlags(&job.other, 1) == cudaSuccess);
	MUST(cudaEventCreateWithFlags(&job.ready, 2) == cudaSuccess);
	MUST(cudaEventCreateWithFlags(&job.done, 2) == cudaSuccess);
	MUST(cudaEventCreateWithFlags(&job.hop, 2) == cudaSuccess);
	MUST(cudaEventCreateWithFlags(&job.hop2, 2) == cudaSuccess);
	/* events and anchors are there for the next launch */
	communicate(1);
	usleep(400000);
	communicate(1);
	usleep(20000);
	job.n_ops = 2;
}

static int by_begin(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* One way to wait, for `n` operations. */
void step(const char *name, void (*way)(void), int n, int what)
{
	job.n_waits = 0;
	way();
	if (what != UNSEEN)
		MUST(cudaStreamSynchronize(job.compute) == cudaSuccess);
	/* also of operations that nothing waited for */
	job.n_ops += n;
	while (__atomic_load_n(&job.n_spans, __ATOMIC_ACQUIRE) < job.n_ops)
		usleep(200);
	usleep(what == UNSEEN ? 20000 : 3000);
	pthread_mutex_lock(&job.lock);
	qsort(job.waits, (size_t)job.n_waits, sizeof(*job.waits), by_begin);
	MUST(job.n_spans == job.n_ops);
	for (int i = job.n_ops - n; i < job.n_ops; i++) {
		struct op *op = &truth->ops[truth->n++];

		MUST(truth->n <= MOST);
		op->name = name;
		op->span = job.spans[i];
		op->what = what;
		memcpy(op->waits, job.waits, sizeof(op->waits));
		op->n_waits = job.n_waits;
	}
	pthread_mutex_unlock(&job.lock);
}

void tear_down(void)
{
	truth->misuse = simMisuse();
	for (int i = 0; i < RANKS; i++)
		ncclCommDestroy(job.comms[i]);
}
