/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>

#include "tests/interpose/waits_job.h"

static void nothing_beside(void)
{
	communicate(10);
	record(job.done, job.streams[0]);
	wait_for(job.compute, job.done);
	compute(1);
}

static void all_hidden(void)
{
	communicate(5);
	record(job.done, job.streams[0]);
	compute(20);
	wait_for(job.compute, job.done);
}

static void partly_hidden(void)
{
	communicate(20);
	record(job.done, job.streams[0]);
	compute(8);
	wait_for(job.compute, job.done);
	compute(2);
}

/* As frameworks do it: inputs come from the computing stream. */
static void fed_by_computing(void)
{
	compute(3);
	record(job.ready, job.compute);
	wait_for(job.streams[0], job.ready);
	communicate(12);
	record(job.done, job.streams[0]);
	compute(4);
	wait_for(job.compute, job.done);
	compute(2);
}

static void one_hop(void)
{
	communicate(12);
	record(job.done, job.streams[0]);
	wait_for(job.copy, job.done);
	record(job.hop, job.copy);
	compute(5);
	wait_for(job.compute, job.hop);
	compute(2);
}

static void two_hops(void)
{
	communicate(12);
	record(job.done, job.streams[0]);
	wait_for(job.copy, job.done);
	record(job.hop, job.copy);
	wait_for(job.other, job.hop);
	record(job.hop2, job.other);
	compute(5);
	wait_for(job.compute, job.hop2);
	compute(2);
}

static void hidden_behind_hops(void)
{
	communicate(4);
	record(job.done, job.streams[0]);
	wait_for(job.copy, job.done);
	record(job.hop, job.copy);
	compute(12);
	wait_for(job.compute, job.hop);
	compute(1);
}

static void recorded_again(void)
{
	record(job.done, job.streams[0]);
	communicate(12);
	record(job.done, job.streams[0]);
	compute(5);
	wait_for(job.compute, job.done);
}

/* It stands for what was there before. */
static void recorded_too_early(void)
{
	record(job.done, job.streams[0]);
	communicate(12);
	wait_for(job.compute, job.done);
	compute(5);
	record(job.done, job.streams[0]);
	wait_for(job.compute, job.done);
	compute(1);
}

static void never_recorded(void)
{
	cudaEvent_t event;

	MUST(cudaEventCreateWithFlags(&event, 2) == cudaSuccess);
	communicate(12);
	wait_for(job.compute, event);
	compute(5);
	record(job.done, job.streams[0]);
	wait_for(job.compute, job.done);
	MUST(cudaEventDestroy(event) == cudaSuccess);
	compute(1);
}

static void own_event(void)
{
	communicate(12);
	record(job.done, job.compute);
	wait_for(job.compute, job.done);
	compute(5);
	record(job.done, job.streams[0]);
	wait_for(job.compute, job.done);
	compute(1);
}

static void twice(void)
{
	communicate(8);
	record(job.done, job.streams[0]);
	compute(2);
	wait_for(job.compute, job.done);
	wait_for(job.compute, job.done);
	compute(1);
}

/* One wait for two operations, and two waits for one each. */
static void several(void)
{
	communicate(8);
	communicate(8);
	record(job.done, job.streams[0]);
	compute(3);
	wait_for(job.compute, job.done);
	compute(1);
}

static void one_after_the_other(void)
{
	communicate(8);
	record(job.done, job.streams[0]);
	communicate(8);
	record(job.hop, job.streams[0]);
	compute(3);
	wait_for(job.compute, job.done);
	wait_for(job.compute, job.hop);
	compute(1);
}

static void host_stream(void)
{
	uint64_t begin = simNow();

	communicate(10);
	begin = simNow();
	MUST(cudaStreamSynchronize(job.streams[0]) == cudaSuccess);
	add_wait(begin, simNow());
}

static void host_event(void)
{
	uint64_t begin;

	communicate(10);
	record(job.done, job.streams[0]);
	usleep(3000);
	begin = simNow();
	MUST(cudaEventSynchronize(job.done) == cudaSuccess);
	add_wait(begin, simNow());
}

static void *wait_on_thread(void *event)
{
	uint64_t begin = simNow();

	MUST(cudaSetDevice(0) == cudaSuccess);
	MUST(cudaEventSynchronize(event) == cudaSuccess);
	add_wait(begin, simNow());
	return NULL;
}

static void host_thread(void)
{
	pthread_t thread;

	communicate(10);
	record(job.done, job.streams[0]);
	MUST(pthread_create(&thread, NULL, wait_on_thread, job.done) == 0);
	MUST(pthread_join(thread, NULL) == 0);
}

/* Stream and host at once: every moment counts once. */
static void stream_and_host(void)
{
	uint64_t begin;

	communicate(12);
	record(job.done, job.streams[0]);
	compute(5);
	wait_for(job.compute, job.done);
	usleep(8000);
	begin = simNow();
	MUST(cudaEventSynchronize(job.done) == cudaSuccess);
	add_wait(begin, simNow());
}

static void whole_device(void)
{
	uint64_t begin;

	communicate(10);
	begin = simNow();
	MUST(cudaDeviceSynchronize() == cudaSuccess);
	add_wait(begin, simNow());
}

/* The driver's own functions, and the runtime's as ctypes and stubs get them. */
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags);

static void by_the_driver(void)
{
	communicate(10);
	MUST(cuEventRecord(job.done, job.streams[0]) == CUDA_SUCCESS);
	compute(3);
	MUST(cuStreamWaitEvent(job.compute, job.done, 0) == CUDA_SUCCESS);
	compute(1);
}

static void looked_up(void)
{
	void *runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_NOLOAD);
	cudaError_t (*found)(cudaStream_t, cudaEvent_t, unsigned int);

	MUST(runtime != NULL);
	MUST(dlsym(runtime, "cudaStreamWaitEvent_ptsz") == NULL);
	found = (cudaError_t(*)(cudaStream_t, cudaEvent_t,
				unsigned int))dlsym(runtime, "cudaStreamWaitEvent");
	MUST(found != NULL);
	communicate(10);
	record(job.done, job.streams[0]);
	compute(3);
	MUST(found(job.compute, job.done, 0) == cudaSuccess);
	compute(1);
}

void every_way(void)
{
	set_up(0);
	step("nothing beside it", nothing_beside, 1, 0);
	step("all hidden", all_hidden, 1, 0);
	step("partly hidden", partly_hidden, 1, 0);
	step("fed by computing", fed_by_computing, 1, 0);
	step("one hop", one_hop, 1, 0);
	step("two hops", two_hops, 1, 0);
	step("hidden behind hops", hidden_behind_hops, 1, 0);
	step("recorded again", recorded_again, 1, 0);
	step("recorded too early", recorded_too_early, 1, 0);
	step("never recorded", never_recorded, 1, 0);
	step("own event", own_event, 1, 0);
	step("waited for twice", twice, 1, 0);
	step("several at once", several, 2, 0);
	step("one after the other", one_after_the_other, 2, 0);
	step("host, stream", host_stream, 1, 0);
	step("host, event", host_event, 1, 0);
	step("host, another thread", host_thread, 1, 0);
	step("stream and host", stream_and_host, 1, 0);
	step("by the driver", by_the_driver, 1, 0);
	step("looked up", looked_up, 1, 0);
	step("whole device", whole_device, 1, UNKNOWN);
	step("nothing beside it, again", nothing_beside, 1, 0);
	tear_down();
}

/* ---- other jobs ---- */

/* On the default stream, where the program computes, too. */
static void on_the_computing_stream(void)
{
	communicate(6);
	MUST(cudaStreamSynchronize(job.streams[0]) == cudaSuccess);
}

void same_stream(void)
{
	set_up(1);
	MUST(cudaStreamSynchronize(job.streams[0]) == cudaSuccess);
	step("same stream", on_the_computing_stream, 1, SAME_STREAM);
	step("same stream", on_the_computing_stream, 1, SAME_STREAM);
	tear_down();
}

/* Like a runtime that is linked statically: what it calls of the driver is not seen. */
static CUresult (*unseen_record)(CUevent event, CUstream stream);
static CUresult (*unseen_wait)(CUstream stream, CUevent event, unsigned int flags);

static void unseen(void)
{
	communicate(6);
	MUST(unseen_record(job.done, job.streams[0]) == CUDA_SUCCESS);
	MUST(unseen_wait(job.compute, job.done, 0) == CUDA_SUCCESS);
	compute(1);
}

void static_runtime(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	MUST(driver != NULL);
	unseen_record = (CUresult(*)(CUevent, CUstream))dlsym(driver, "cuEventRecord");
	unseen_wait = (CUresult(*)(CUstream, CUevent, unsigned int))dlsym(driver,
									  "cuStreamWaitEvent");
	set_up(0);
	step("not seen", unseen, 1, UNSEEN);
	step("not seen", unseen, 1, UNSEEN);
	tear_down();
}

/* What NCCL and the runtime call for themselves is none of the program's. */
cudaError_t quiet_record(cudaEvent_t event, cudaStream_t stream);
cudaError_t quiet_wait(cudaStream_t stream, cudaEvent_t event);

static void theirs(void)
{
	communicate(6);
	MUST(quiet_record(job.done, job.streams[0]) == cudaSuccess);
	MUST(quiet_wait(job.compute, job.done) == cudaSuccess);
	compute(1);
}

void library_of_theirs(void)
{
	set_up(0);
	step("by a library of theirs", theirs, 1, UNSEEN);
	step("by a library of theirs", theirs, 1, UNSEEN);
	tear_down();
}
