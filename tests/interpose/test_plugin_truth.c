/* SPDX-License-Identifier: Apache-2.0 */
/* The preload as NCCL's profiler plugin under the simulated NCCL: every kernel's time is right
 * within the error that is published with it, by the simulator's own record of the kernel; every op
 * has one launch; pools that are full, handles that come late or twice harm nothing. The program
 * itself is preloaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/interpose/recorded_lists.h"
#include "tests/must.h"
#include "tools/sim/cudart.h"
#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/job.h"
#include "tools/sim/nccl/profiler.h"
#include "trace/ops.h"

enum { RANKS = 2, ROUNDS = 40, COUNT = 5000, KERNELS = RANKS * (ROUNDS + 3) };

/* Written by the threads of streams in the child that runs, read by the test. */
static char truth_path[] = "/tmp/ct-plugin-truth-XXXXXX";
static FILE *truth;

static void on_kernel(const struct sim_nccl_span *span)
{
	fprintf(truth, "%d %llu %llu %llu\n", span->rank, (unsigned long long)span->launch,
		(unsigned long long)span->start_ns, (unsigned long long)span->end_ns);
	fflush(truth);
}

struct rank {
	ncclComm_t comm;
	cudaStream_t stream;
	float *data;
};

static void all_reduce(struct rank *ranks)
{
	MUST(ncclGroupStart() == ncclSuccess);
	for (int i = 0; i < RANKS; i++)
		MUST(ncclAllReduce(ranks[i].data, ranks[i].data, COUNT, ncclFloat32, ncclSum,
				   ranks[i].comm, ranks[i].stream) == ncclSuccess);
	MUST(ncclGroupEnd() == ncclSuccess);
}

/* Two kernels of each rank in one launch. */
static void mixed(struct rank *r)
{
	MUST(ncclGroupStart() == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		MUST(ncclAllGather(r[i].data, r[i].data, 8, ncclFloat32, r[i].comm, r[i].stream) ==
		     ncclSuccess);
		MUST(ncclSend(r[i].data, 16, ncclFloat32, 1 - i, r[i].comm, r[i].stream) ==
		     ncclSuccess);
		MUST(ncclRecv(r[i].data + 64, 16, ncclFloat32, 1 - i, r[i].comm, r[i].stream) ==
		     ncclSuccess);
	}
	MUST(ncclGroupEnd() == ncclSuccess);
}

static void job(void)
{
	const struct sim_links links = { .alpha_ns = 300000,
					 .node_Bps = 1000000000,
					 .net_Bps = 1000000000 };
	const struct timespec nap = { .tv_nsec = 4000000 };
	struct rank r[RANKS];
	ncclComm_t comms[RANKS];

	truth = fopen(truth_path, "w");
	MUST(truth != NULL);
	simNcclOnKernel(on_kernel);
	simNcclLinks(&links);
	for (int i = 0; i < RANKS; i++)
		simNcclRank(i, i);
	MUST(ncclCommInitAll(comms, RANKS, NULL) == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		r[i].comm = comms[i];
		MUST(cudaSetDevice(i) == cudaSuccess);
		MUST(cudaStreamCreateWithFlags(&r[i].stream, 1) == cudaSuccess);
		MUST(cudaMalloc((void **)&r[i].data, 2 * COUNT * sizeof(float)) == cudaSuccess);
	}
	for (int round = 0; round < ROUNDS; round++) {
		all_reduce(r);
		if (round % 2)
			nanosleep(&nap, NULL);
		/* the host ahead of the GPU */
		if (round % 5 == 4)
			for (int i = 0; i < RANKS; i++)
				MUST(cudaStreamSynchronize(r[i].stream) == cudaSuccess);
	}
	mixed(r);
	all_reduce(r);
	for (int i = 0; i < RANKS; i++) {
		MUST(cudaStreamSynchronize(r[i].stream) == cudaSuccess);
		MUST(ncclCommDestroy(r[i].comm) == ncclSuccess);
	}
	MUST(simMisuse() == 0);
}

/* What the kernels of one rank's launches did: the two of the mixed one are one launch. */
struct kernel {
	uint64_t start_ns, end_ns;
};
static struct kernel kernels[RANKS][ROUNDS + 3];

static void read_truth(void)
{
	unsigned long long launch, start, end;
	int rank, n = 0;
	FILE *f = fopen(truth_path, "r");

	assert_non_null(f);
	while (fscanf(f, "%d %llu %llu %llu", &rank, &launch, &start, &end) == 4) {
		assert_in_range(rank, 0, RANKS - 1);
		assert_in_range(launch, 0, ROUNDS + 2);
		kernels[rank][launch] = (struct kernel){ start, end };
		n++;
	}
	fclose(f);
	assert_int_equal(n, KERNELS);
}

/* The nth launch of a rank, by its ops. */
static struct kernel true_launch(int rank, int nth)
{
	struct kernel k = kernels[rank][nth <= ROUNDS ? nth : nth + 1];

	if (nth == ROUNDS)
		k.end_ns = kernels[rank][ROUNDS + 1].end_ns;
	return k;
}

static double worst, sum;

static void check_time(uint64_t ns, uint32_t err_ns, uint64_t true_ns)
{
	double off = (double)(int64_t)(ns - true_ns);

	/* what a block rounds to comes on top */
	if ((off < 0 ? -off : off) > (double)err_ns + 64)
		fail_msg("a time is wrong by %.0f ns, its error says %u", off, err_ns);
	worst = err_ns > worst ? err_ns : worst;
	sum += err_ns;
}

static void check_times(const struct recorded_lists *r)
{
	int nth[RANKS] = { 0 };
	uint32_t last[RANKS] = { 0 };

	for (uint32_t i = 0; i < r->n_ops; i++) {
		const struct ct_launch *l = recorded_launch(r, r->ops[i].launch);
		const struct ct_comm_rec *comm = &r->comms[r->ops[i].comm - 1];
		struct kernel k;

		assert_non_null(l);
		if (last[comm->rank] == l->id)
			continue;
		last[comm->rank] = l->id;
		k = true_launch(comm->rank, nth[comm->rank]++);
		assert_int_equal(l->start_source, CT_SOURCE_PLUGIN);
		assert_int_equal(l->end_source, CT_SOURCE_PLUGIN);
		check_time(l->start_ns, l->start_err_ns, k.start_ns);
		check_time(l->end_ns, l->end_err_ns, k.end_ns);
	}
	for (int i = 0; i < RANKS; i++)
		assert_int_equal(nth[i], ROUNDS + 2);
}

static void check(const char *version)
{
	char setting[32];
	const char *const env[] = { setting, "NCCL_PROFILER_PLUGIN=" PLUGIN, NULL };
	const struct recorded_lists *r;

	snprintf(setting, sizeof(setting), "SIM_PROFILER_VERSION=%s", version);
	memset(kernels, 0, sizeof(kernels));
	worst = sum = 0;
	assert_int_equal(recorded_run(job, env), 0);
	r = recorded_lists(0);
	assert_int_equal(r->n_ops, RANKS * (ROUNDS + 1 + 3));
	for (int i = 1; i < CT_LOSS_MAX; i++)
		assert_int_equal(r->losses[i], 0);
	read_truth();
	check_times(r);
	print_message("version %s: errors at most %.1f us, %.1f us on average\n", version,
		      worst / 1e3, sum / 1e3 / (2 * RANKS * (ROUNDS + 2)));
	recorded_remove();
}

static void every_kernel_ran_when_version_4_says(void **state)
{
	(void)state;
	check("4");
}

static void every_kernel_ran_when_version_6_says(void **state)
{
	(void)state;
	check("6");
}

/* ---- nonblocking: NCCL launches in a thread of its own
 * ----------------------------------------------------------------- */

static void await(ncclComm_t comm)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	ncclResult_t state = ncclInProgress;

	while (state == ncclInProgress) {
		MUST(ncclCommGetAsyncError(comm, &state) == ncclSuccess);
		nanosleep(&nap, NULL);
	}
	MUST(state == ncclSuccess);
}

static void put_off(void)
{
	ncclConfig_t config = { .size = sizeof(config),
				.magic = NCCL_CONFIG_MAGIC,
				.version = 22809,
				.blocking = 0,
				.splitShare = NCCL_CONFIG_UNDEF_INT };
	struct rank r[RANKS];
	ncclUniqueId id;

	MUST(ncclGetUniqueId(&id) == ncclSuccess);
	MUST(ncclGroupStart() == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		MUST(cudaSetDevice(i) == cudaSuccess);
		MUST(cudaStreamCreateWithFlags(&r[i].stream, 1) == cudaSuccess);
		MUST(cudaMalloc((void **)&r[i].data, COUNT * sizeof(float)) == cudaSuccess);
		MUST(ncclCommInitRankConfig(&r[i].comm, RANKS, id, i, &config) <= ncclInProgress);
	}
	MUST(ncclGroupEnd() == ncclInProgress);
	for (int i = 0; i < RANKS; i++)
		await(r[i].comm);
	for (int round = 0; round < 5; round++) {
		MUST(ncclGroupStart() == ncclSuccess);
		for (int i = 0; i < RANKS; i++) {
			ncclResult_t result = ncclAllReduce(r[i].data, r[i].data, COUNT,
							    ncclFloat32, ncclSum, r[i].comm,
							    r[i].stream);

			MUST(result == ncclSuccess || result == ncclInProgress);
		}
		MUST(ncclGroupEnd() == ncclInProgress);
		for (int i = 0; i < RANKS; i++)
			await(r[i].comm);
	}
	for (int i = 0; i < RANKS; i++) {
		MUST(cudaStreamSynchronize(r[i].stream) == cudaSuccess);
		MUST(ncclCommDestroy(r[i].comm) == ncclSuccess);
	}
	MUST(simMisuse() == 0);
}

static uint32_t timed_launches(const struct recorded_lists *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_launches; i++)
		n += r->launches[i].end_source == CT_SOURCE_PLUGIN;
	return n;
}

static void what_is_launched_later_is_linked_to_its_call(void **state)
{
	const char *const env[] = { "SIM_PROFILER_VERSION=5", "NCCL_PROFILER_PLUGIN=" PLUGIN,
				    NULL };
	const struct recorded_lists *r;

	(void)state;
	assert_int_equal(recorded_run(put_off, env), 0);
	r = recorded_lists(0);
	assert_int_equal(r->n_ops, 5 * RANKS);
	assert_int_equal(r->n_launches, 5 * RANKS);
	assert_int_equal(timed_launches(r), 5 * RANKS);
	assert_int_equal(r->losses[CT_LOSS_PLUGIN_UNLINKED], 0);
	recorded_remove();
}

static void what_cannot_be_linked_is_counted_and_not_recorded_twice(void **state)
{
	const char *const env[] = { "SIM_PROFILER_VERSION=4", "NCCL_PROFILER_PLUGIN=" PLUGIN,
				    NULL };
	const struct recorded_lists *r;

	(void)state;
	assert_int_equal(recorded_run(put_off, env), 0);
	r = recorded_lists(0);
	assert_int_equal(r->n_ops, 5 * RANKS);
	assert_int_equal(r->n_launches, 5 * RANKS);
	assert_int_equal(timed_launches(r), 0);
	assert_int_equal(r->losses[CT_LOSS_PLUGIN_UNLINKED], 5 * RANKS);
	recorded_remove();
}

/* ---- what no NCCL should do, by hand
 * --------------------------------------------------------------------------------- */

static void abuse(void)
{
	extern const struct sim_profiler_v5 ncclProfiler_v6 __attribute__((weak));
	const struct sim_profiler_v5 *p = &ncclProfiler_v6;
	struct sim_event_v5 call = { .type = SIM_EVENT_COLL_API };
	struct sim_event_v5 task = { .type = SIM_EVENT_COLL };
	struct sim_event_v5 channel = { .type = SIM_EVENT_KERNEL_CH };
	union sim_event_state at = { .kernel_ch = { 1000000 } };
	void *context = NULL, *handle = NULL, *first, *kernel = NULL;
	int mask = -1;

	MUST(p != NULL);
	MUST(p->init(&context, 77, &mask, "alone", 1, 2, 0, NULL) == ncclSuccess);
	MUST(context && (mask & SIM_EVENT_COLL));
	call.coll_api.func = "AllReduce";
	call.coll_api.type = "ncclFloat32";
	call.coll_api.count = 10;
	call.parent = (void *)(uintptr_t)0x1234567890;
	MUST(p->start(context, &first, &call) == ncclSuccess && first);
	MUST(p->stop(first) == ncclSuccess);
	MUST(p->stop(first) == ncclSuccess); /* again */
	/* the pool goes round many times */
	task.parent = first;
	task.coll.func = "AllReduce";
	task.coll.type = "ncclFloat32";
	task.coll.count = 10;
	task.coll.n_channels = 1;
	for (int i = 0; i < 20000; i++) {
		call.coll_api.count = (size_t)i;
		MUST(p->start(context, &handle, &call) == ncclSuccess);
		MUST(p->stop(handle) == ncclSuccess);
	}
	/* its parent's entry is another's by now: unlinked */
	MUST(p->start(context, &handle, &task) == ncclSuccess && !handle);
	/* never stopped: entries run out, and are counted */
	for (int i = 0; i < 20000; i++)
		MUST(p->start(context, &handle, &call) == ncclSuccess);
	/* nothing, and what is none of ours */
	channel.parent = (void *)(uintptr_t)0x7fffffffffff;
	MUST(p->start(context, &kernel, &channel) == ncclSuccess && !kernel);
	MUST(p->start(NULL, &handle, &call) == ncclSuccess && !handle);
	MUST(p->stop(NULL) == ncclSuccess);
	MUST(p->state((void *)(uintptr_t)0x40000001, SIM_STATE_KERNEL_CH_STOP, &at) == ncclSuccess);
	MUST(p->state(first, SIM_STATE_GROUP_START_STOP, NULL) == ncclSuccess);
	MUST(p->finalize(context) == ncclSuccess);
	MUST(p->finalize(NULL) == ncclSuccess);
}

static void misuse_is_counted_and_harms_nothing(void **state)
{
	const char *const env[] = { "COMMTRACE_TIMING=off", NULL };
	struct recorded r;

	(void)state;
	assert_int_equal(recorded_run(abuse, env), 0);
	r = recorded_read();
	assert_int_equal(r.ops + r.losses[CT_LOSS_POOL_EMPTY], 40001);
	/* the entries that were held, and one task whose call is forgotten */
	assert_in_range(r.losses[CT_LOSS_PLUGIN_FULL], 20000 - 8192, 20000);
	assert_int_equal(r.losses[CT_LOSS_PLUGIN_UNLINKED], 1);
	/* held to the end: they have not returned; what had no entry returned at once */
	assert_in_range(r.unreturned, 1, 8192);
	recorded_free(&r);
	recorded_remove();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kernel_ran_when_version_4_says),
		cmocka_unit_test(every_kernel_ran_when_version_6_says),
		cmocka_unit_test(what_is_launched_later_is_linked_to_its_call),
		cmocka_unit_test(what_cannot_be_linked_is_counted_and_not_recorded_twice),
		cmocka_unit_test(misuse_is_counted_and_harms_nothing),
	};
	int failed, fd = mkstemp(truth_path);

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(truth_path);
	return failed;
}
