/* SPDX-License-Identifier: Apache-2.0 */
/* A job that decodes with CUDA graphs while NCCL shows its profiler plugin when kernels run: a
 * graph must not cost more than without, although NCCL puts a host node into every plan that is
 * captured while the plugin asks for channels. The program is preloaded (interpose.plugin_graph),
 * or has the plugin alone (interpose.plugin_graph_alone). The length of a launch is computed by the
 * simulator, so that it can be compared between runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/interpose/recorded_lists.h"
#include "tests/must.h"
#include "tools/sim/cudart.h"
#include "tools/sim/driver.h"
#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/job.h"
#include "trace/ops.h"

enum { RANKS = 2, EAGER = 10, CAPTURED = 8, LAUNCHES = 12, COUNT = 5000 };

static struct rank {
	ncclComm_t comm;
	cudaStream_t stream;
	cudaEvent_t begin, end;
	CUgraphExec exec;
	float *data;
} ranks[RANKS];

/* Of the parent, too. */
static struct shared {
	uint64_t launch_ns; /* the shortest */
	uint64_t host_nodes;
} * shared;

static void all_reduce(void)
{
	MUST(ncclGroupStart() == ncclSuccess);
	for (int i = 0; i < RANKS; i++)
		MUST(ncclAllReduce(ranks[i].data, ranks[i].data, COUNT, ncclFloat32, ncclSum,
				   ranks[i].comm, ranks[i].stream) == ncclSuccess);
	MUST(ncclGroupEnd() == ncclSuccess);
}

static void synchronize(void)
{
	for (int i = 0; i < RANKS; i++) {
		MUST(cudaSetDevice(i) == cudaSuccess);
		MUST(cudaStreamSynchronize(ranks[i].stream) == cudaSuccess);
	}
}

static void eager(void)
{
	for (int i = 0; i < EAGER; i++)
		all_reduce();
	synchronize();
}

static void capture(void)
{
	CUgraph graphs[RANKS];

	for (int i = 0; i < RANKS; i++) {
		MUST(cudaSetDevice(i) == cudaSuccess);
		MUST(cuStreamBeginCapture_v2(ranks[i].stream, CU_STREAM_CAPTURE_MODE_RELAXED) ==
		     CUDA_SUCCESS);
	}
	for (int i = 0; i < CAPTURED; i++) {
		/* long beside what differs from one communicator to the next */
		for (int k = 0; k < RANKS; k++) {
			MUST(cudaSetDevice(k) == cudaSuccess);
			MUST(simCompute(ranks[k].stream, 3000000) == CUDA_SUCCESS);
		}
		all_reduce();
	}
	for (int i = 0; i < RANKS; i++) {
		MUST(cudaSetDevice(i) == cudaSuccess);
		MUST(cuStreamEndCapture(ranks[i].stream, &graphs[i]) == CUDA_SUCCESS);
		MUST(cuGraphInstantiateWithFlags(&ranks[i].exec, graphs[i], 0) == CUDA_SUCCESS);
	}
}

static uint64_t launch(void)
{
	uint64_t begin, end, longest = 0;

	for (int i = 0; i < RANKS; i++) {
		MUST(cudaSetDevice(i) == cudaSuccess);
		/* what is between the two launches is not part of the graphs' time */
		MUST(simCompute(ranks[i].stream, 50000000) == CUDA_SUCCESS);
		MUST(cudaEventRecord(ranks[i].begin, ranks[i].stream) == cudaSuccess);
		MUST(cuGraphLaunch(ranks[i].exec, ranks[i].stream) == CUDA_SUCCESS);
		MUST(cudaEventRecord(ranks[i].end, ranks[i].stream) == cudaSuccess);
	}
	synchronize();
	for (int i = 0; i < RANKS; i++) {
		MUST(simEventTime(ranks[i].begin, &begin) == CUDA_SUCCESS);
		MUST(simEventTime(ranks[i].end, &end) == CUDA_SUCCESS);
		longest = end - begin > longest ? end - begin : longest;
	}
	return longest;
}

static void job(void)
{
	ncclComm_t comms[RANKS];
	uint64_t ns;

	for (int i = 0; i < RANKS; i++)
		simNcclRank(i, i);
	MUST(ncclCommInitAll(comms, RANKS, NULL) == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		ranks[i].comm = comms[i];
		MUST(cudaSetDevice(i) == cudaSuccess);
		MUST(cudaStreamCreateWithFlags(&ranks[i].stream, 1) == cudaSuccess);
		MUST(cudaEventCreateWithFlags(&ranks[i].begin, 2) == cudaSuccess);
		MUST(cudaEventCreateWithFlags(&ranks[i].end, 2) == cudaSuccess);
		MUST(cudaMalloc((void **)&ranks[i].data, COUNT * sizeof(float)) == cudaSuccess);
	}
	eager();
	capture();
	shared->host_nodes = simNcclHostNodes();
	shared->launch_ns = UINT64_MAX;
	for (int i = 0; i < LAUNCHES; i++) {
		ns = launch();
		shared->launch_ns = ns < shared->launch_ns ? ns : shared->launch_ns;
	}
	eager();
	for (int i = 0; i < RANKS; i++)
		MUST(ncclCommDestroy(ranks[i].comm) == ncclSuccess);
	if (simFirstMisuse())
		fprintf(stderr, "misuse: %s\n", simFirstMisuse());
	MUST(simMisuse() == 0);
}

static struct shared run(const char *version, const char *timing)
{
	const char *const env[] = { "NCCL_PROFILER_PLUGIN=" PLUGIN, version, timing, NULL };

	memset(shared, 0, sizeof(*shared));
	assert_int_equal(recorded_run(job, env), 0);
	return *shared;
}

/* How many launches the plugin got both times of. */
static uint32_t told(const struct recorded_lists *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_launches; i++)
		n += r->launches[i].start_source == CT_SOURCE_PLUGIN &&
		     r->launches[i].end_source == CT_SOURCE_PLUGIN;
	return n;
}

static uint32_t count(const struct recorded_lists *r, uint8_t op, uint8_t flag)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_ops; i++)
		n += r->ops[i].op == op && (!flag || r->ops[i].flags & flag);
	return n;
}

static void check(const char *version, uint64_t host_nodes, uint32_t timed)
{
	struct shared bare = run(version, "COMMTRACE=0");
	struct shared traced = run(version, getenv("LD_PRELOAD") ? "COMMTRACE_TIMING=plugin"
								 : "COMMTRACE_TIMING=auto");
	const struct recorded_lists *r = recorded_lists(0);

	print_message("%s: a launch takes %.1f us bare, %.1f traced; %u host nodes, %u of %u "
		      "launches timed\n",
		      version, (double)bare.launch_ns / 1e3, (double)traced.launch_ns / 1e3,
		      (unsigned)traced.host_nodes, told(r), r->n_launches);
	assert_int_equal(bare.host_nodes, 0);
	assert_int_equal(traced.host_nodes, host_nodes);
	assert_int_equal(count(r, CT_OP_AllReduce, 0), RANKS * (2 * EAGER + CAPTURED));
	assert_int_equal(count(r, CT_OP_AllReduce, CT_OP_CAPTURED),
			 strcmp(version, "SIM_PROFILER_VERSION=4") || getenv("LD_PRELOAD")
				 ? RANKS * CAPTURED
				 : 0);
	assert_int_equal(told(r), timed);
	assert_int_equal(r->losses[CT_LOSS_PLUGIN_UNLINKED], 0);
	if (!host_nodes)
		assert_true((double)traced.launch_ns <= 1.005 * (double)bare.launch_ns);
	recorded_remove();
}

static void beside_the_wrappers_no_graph_has_a_host_node(void **state)
{
	(void)state;
	check("SIM_PROFILER_VERSION=6", 0, RANKS * 2 * EAGER);
}

static void nor_has_it_in_version_4(void **state)
{
	(void)state;
	check("SIM_PROFILER_VERSION=4", 0, RANKS * 2 * EAGER);
}

/* The first captured call is how the plugin learns of graphs: the one host node, and no times from
 * then on. */
static void alone_it_asks_no_more_after_the_first_captured_call(void **state)
{
	(void)state;
	check("SIM_PROFILER_VERSION=6", 1, RANKS * EAGER);
}

/* It is not reported which calls are captured. */
static void alone_in_version_4_it_does_not_ask(void **state)
{
	(void)state;
	check("SIM_PROFILER_VERSION=4", 0, 0);
}

int main(void)
{
	const struct CMUnitTest preloaded[] = {
		cmocka_unit_test(beside_the_wrappers_no_graph_has_a_host_node),
		cmocka_unit_test(nor_has_it_in_version_4),
	};
	const struct CMUnitTest alone[] = {
		cmocka_unit_test(alone_it_asks_no_more_after_the_first_captured_call),
		cmocka_unit_test(alone_in_version_4_it_does_not_ask),
	};

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	MUST(shared != MAP_FAILED);
	return getenv("LD_PRELOAD") ? cmocka_run_group_tests(preloaded, NULL, NULL)
				    : cmocka_run_group_tests(alone, NULL, NULL);
}
