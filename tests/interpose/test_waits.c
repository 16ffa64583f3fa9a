/* SPDX-License-Identifier: Apache-2.0 */
/* Exposed communication from the calls to the sums: two ranks in a preloaded process on simulated GPUs, one way to wait
 * after the other. The truth is the simulator's, which knows when each stream stood still and when each kernel ran, and
 * the program's own, which knows how long a call kept it. Rank 1 comes late to every operation, so that those of rank 0
 * take as long as the test says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyzer/overlap/overlap.h"
#include "tests/interpose/fake_libnccl.h"
#include "tests/interpose/recorded.h"
#include "tests/must.h"
#include "tools/sim/cudart.h"
#include "tools/sim/nccl_job.h"

enum { RANKS = 2, MOST = 64, MS = 1000000 };
enum { SAME_STREAM = -1, UNKNOWN = -2, UNSEEN = -3 }; /* in place of an exposed time */

struct interval {
	uint64_t begin_ns, end_ns;
};

/* What the job knows, for the test to see. */
static struct truth {
	struct op {
		const char *name;
		struct interval span;
		int what;		     /* 0, or in place of an exposed time */
		struct interval waits[MOST]; /* by begin */
		int n_waits;
	} ops[MOST];
	int n;
	uint64_t misuse;
} * truth;

/* ---- the job ---- */

static struct job {
	ncclComm_t comms[RANKS];
	cudaStream_t streams[RANKS]; /* of communication */
	cudaStream_t compute, copy, other;
	cudaEvent_t ready, done, hop, hop2;
	float *data[RANKS];
	struct interval
		waits[MOST]; /* in which it counts that somebody waited, since the step began */
	int n_waits;
	struct interval spans[MOST]; /* rank 0's kernels */
	int n_spans;
	int n_ops; /* that there should be */
	pthread_mutex_t lock;
} job = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void add_wait(uint64_t begin_ns, uint64_t end_ns)
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
static void communicate(int ms)
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

static void compute(int ms)
{
	MUST(simCompute(job.compute, (uint64_t)ms * MS) == CUDA_SUCCESS);
}

static void record(cudaEvent_t event, cudaStream_t stream)
{
	MUST(cudaEventRecord(event, stream) == cudaSuccess);
}

static void wait_for(cudaStream_t stream, cudaEvent_t event)
{
	MUST(cudaStreamWaitEvent(stream, event, 0) == cudaSuccess);
}

static void set_up(int on_default)
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
static void step(const char *name, void (*way)(void), int n, int what)
{
	job.n_waits = 0;
	way();
	if (what != UNSEEN)
		MUST(cudaStreamSynchronize(job.compute) == cudaSuccess);
	/* also of what nobody waited for */
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

static void tear_down(void)
{
	truth->misuse = simMisuse();
	for (int i = 0; i < RANKS; i++)
		ncclCommDestroy(job.comms[i]);
}

/* ---- ways to wait ---- */

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

static void every_way(void)
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

static void same_stream(void)
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

static void static_runtime(void)
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

static void library_of_theirs(void)
{
	set_up(0);
	step("by a library of theirs", theirs, 1, UNSEEN);
	step("by a library of theirs", theirs, 1, UNSEEN);
	tear_down();
}

/* ---- what the analyzer says ---- */

static struct told {
	struct ct_overlap_launch all[4 * MOST];
	int n;
} told;

static int tell(void *arg, const struct ct_overlap_launch *launch)
{
	(void)arg;
	assert_true(told.n < 4 * MOST);
	told.all[told.n++] = *launch;
	return 0;
}

struct reading {
	struct ct_overlap *overlap;
	struct ct_comm comm;
};

static int on_op(void *arg, const struct ct_load_op *op)
{
	struct reading *r = arg;
	const struct ct_overlap_op first = {
		.op = op, .comm = &r->comm, .seat = (uint32_t)op->joined.comm_rank, .bytes = 400
	};

	return op->joined.launch_at ? 0 : ct_overlap_add(r->overlap, 0, &first);
}

static int on_wait(void *arg, const struct ct_wait_rec *rec)
{
	return ct_overlap_wait(((struct reading *)arg)->overlap, 0, rec);
}

static void analyze(void)
{
	struct ct_err err = { .status = 0 };
	struct reading r = { .overlap = ct_overlap_new(1) };
	struct ct_load_sink sink = { .op = on_op, .wait = on_wait, .arg = &r };
	struct ct_op_names names = { .memory = ct_arena_new() };
	const char *dir = recorded_dir();
	struct ct_load *load;
	struct ct_run *run;
	int st;

	told.n = 0;
	assert_non_null(r.overlap);
	ct_overlap_tell(r.overlap, tell, NULL);
	if (ct_run_open(&dir, 1, NULL, &run, &err) != CT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(ct_load_open(run, 0, &sink, &names, &load, &err), CT_OK);
	while ((st = ct_load_next(load, &err)) > 0)
		assert_int_equal(ct_overlap_block(r.overlap, 0), CT_OK);
	assert_int_equal(st, CT_OK);
	assert_int_equal(ct_overlap_end(r.overlap, 0), CT_OK);
	assert_int_equal(ct_load_facts(load)->losses[CT_LOSS_WAITS_FULL].records, 0);
	ct_load_close(load);
	ct_run_close(run);
	ct_overlap_free(r.overlap);
	ct_arena_free(names.memory);
}

/* Its events lie around it: the machine may have held the thread up between them and the call that launched it. Kernels
 * take several times as long as this, and come one after the other. */
#define NEAR_NS 1000000
static const struct ct_overlap_launch *find(const struct op *op)
{
	for (int k = 0; k < told.n; k++) {
		const struct ct_overlap_launch *l = &told.all[k];

		if (l->seat == 0 && l->start_ns < op->span.begin_ns + NEAR_NS &&
		    l->end_ns + NEAR_NS > op->span.end_ns)
			return l;
	}
	return NULL;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* How much of it, as long as its events say it was, lies in what was waited. */
static int64_t exposed(const struct op *op, const struct ct_overlap_launch *l)
{
	uint64_t reached = l->start_ns;
	int64_t sum = 0;

	for (int i = 0; i < op->n_waits; i++) {
		uint64_t begin = later(op->waits[i].begin_ns, reached);
		uint64_t end = op->waits[i].end_ns < l->end_ns ? op->waits[i].end_ns : l->end_ns;

		if (end > begin) {
			sum += (int64_t)(end - begin);
			reached = end;
		}
	}
	return sum;
}

static int is_wrong(const struct op *op, const struct ct_overlap_launch *l)
{
	int64_t true_ns, off, allowed;

	if (!l)
		return 1;
	/* what had ended before was not waited for */
	if (op->what == UNKNOWN && op->n_waits && op->waits[0].begin_ns + 20000 > l->end_ns)
		return l->is_known && l->exposed_ns;
	if (op->what == UNKNOWN || op->what == UNSEEN)
		return l->is_known;
	if (op->what == SAME_STREAM)
		return !l->is_known || !l->is_same_stream ||
		       l->exposed_ns != l->end_ns - l->start_ns;
	true_ns = exposed(op, l);
	off = (int64_t)l->exposed_ns - true_ns;
	allowed = true_ns / 20 + (true_ns ? 20000 : 0);
	return !l->is_known || l->is_same_stream || off > allowed || off < -allowed;
}

static int check(const struct op *op)
{
	const struct ct_overlap_launch *l = find(op);

	if (!is_wrong(op, l))
		return 1;
	print_message("%s: %lld ns of %lld are exposed, told: %s %lld ± %lld\n", op->name,
		      l ? (long long)exposed(op, l) : 0,
		      (long long)(op->span.end_ns - op->span.begin_ns),
		      !l		  ? "nothing of it"
		      : l->is_same_stream ? "same stream,"
		      : l->is_known	  ? "known,"
					  : "not known,",
		      l ? (long long)l->exposed_ns : 0, l ? (long long)l->err_ns : 0);
	return 0;
}

static int count_right(void (*body)(void), const char *const *env, int n)
{
	int right = 0;

	memset(truth, 0, sizeof(*truth));
	assert_int_equal(recorded_run(body, env), 0);
	analyze();
	assert_int_equal(truth->misuse, 0);
	assert_int_equal(truth->n, n);
	for (int i = 0; i < truth->n; i++)
		right += check(&truth->ops[i]);
	recorded_remove();
	return right;
}

/* Where the machine holds a thread up, times are told with a larger error than find() and is_wrong() allow: three tries. */
static void assert_told(void (*body)(void), const char *const *env, int n)
{
	int right = 0;

	for (int tries = 0; tries < 3 && right < n; tries++)
		right = count_right(body, env, n);
	assert_int_equal(right, n);
}

static const char *const events[] = { "COMMTRACE_TIMING=events", NULL };
static const char *const no_dlsym[] = { "COMMTRACE_TIMING=events", "COMMTRACE_NO_DLSYM=1", NULL };

static void every_way_to_wait_costs_what_it_costs(void **state)
{
	(void)state;
	assert_told(every_way, events, 24);
}

static void on_the_stream_that_computes_all_is_exposed(void **state)
{
	(void)state;
	assert_told(same_stream, events, 2);
}

static void what_is_not_seen_is_not_known(void **state)
{
	(void)state;
	assert_told(static_runtime, no_dlsym, 2);
}

static void what_libraries_wait_for_is_theirs(void **state)
{
	(void)state;
	assert_told(library_of_theirs, events, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way_to_wait_costs_what_it_costs),
		cmocka_unit_test(on_the_stream_that_computes_all_is_exposed),
		cmocka_unit_test(what_is_not_seen_is_not_known),
		cmocka_unit_test(what_libraries_wait_for_is_theirs),
	};

	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	return truth == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
