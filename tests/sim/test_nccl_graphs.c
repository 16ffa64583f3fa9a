/* SPDX-License-Identifier: Apache-2.0 */
/* Communication in graphs: captured by the simulated NCCL, carried out at each launch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/sim/ranks.h"
#include "tools/sim/driver.h"

enum { N = 1000, LAUNCHES = 5 };

static CUgraphExec capture_end(struct rank *r, CUstream stream)
{
	CUgraphExec exec = NULL;
	CUgraph graph = NULL;

	CHECK(r, !cuStreamEndCapture(stream, &graph));
	CHECK(r, graph && !cuGraphInstantiateWithFlags(&exec, graph, 0));
	if (graph)
		cuGraphDestroy(graph);
	return exec;
}

static void capture_begin(struct rank *r, CUstream stream)
{
	/* ranks are threads of a process here */
	CHECK(r, !cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
}

static void replays(struct rank *r)
{
	int *a = device_memory(r, N * sizeof(*a)), *b = device_memory(r, N * sizeof(*b));
	int *c = device_memory(r, (size_t)r->n * sizeof(*c)), *d = device_memory(r, sizeof(*d));
	CUstream side = NULL;
	CUgraphExec exec;

	join(r);
	CHECK(r, !cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
	capture_begin(r, r->stream);
	CHECK(r, !ncclAllReduce(a, b, N, ncclInt32, ncclSum, r->comm, r->stream));
	ncclGroupStart();
	/* two streams of one group are joined by it */
	CHECK(r, !ncclSend(a, 1, ncclInt32, (r->rank + 1) % r->n, r->comm, r->stream));
	CHECK(r, !ncclRecv(d, 1, ncclInt32, (r->rank + r->n - 1) % r->n, r->comm, r->stream));
	CHECK(r, !ncclGroupEnd());
	CHECK(r, !ncclAllGather(d, c, 1, ncclInt32, r->comm, r->stream));
	exec = capture_end(r, r->stream);
	finish(r);
	CHECK(r, b[0] == 0);
	for (int i = 1; i <= LAUNCHES; i++) {
		for (int k = 0; k < N; k++)
			a[k] = i * (r->rank + 1);
		/* eager ones in between, on another stream: NCCL keeps its kernels in order */
		CHECK(r, !cuGraphLaunch(exec, i % 2 ? r->stream : side));
		finish(r);
		CHECK(r, !cuStreamSynchronize(side));
		CHECK(r, b[0] == i * r->n * (r->n + 1) / 2 && b[N - 1] == b[0]);
		CHECK(r, d[0] == i * ((r->rank + r->n - 1) % r->n + 1));
		CHECK(r, c[0] == i * r->n);
	}
	CHECK(r, !cuGraphExecDestroy(exec));
}

/* Without waiting for the last ones, two graphs and eager operations between them. */
static void mixes(struct rank *r)
{
	int *a = device_memory(r, sizeof(*a)), *b = device_memory(r, sizeof(*b));
	CUgraphExec one, two;
	CUstream side = NULL;

	join(r);
	CHECK(r, !cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
	*a = *b = 1;
	capture_begin(r, r->stream);
	CHECK(r, !ncclAllReduce(a, a, 1, ncclInt32, ncclSum, r->comm, r->stream));
	one = capture_end(r, r->stream);
	capture_begin(r, side);
	CHECK(r, !ncclAllReduce(b, b, 1, ncclInt32, ncclSum, r->comm, side));
	two = capture_end(r, side);
	for (int i = 0; i < 4; i++) {
		CHECK(r, !cuGraphLaunch(one, r->stream));
		CHECK(r, !cuGraphLaunch(two, side));
		CHECK(r, !ncclAllReduce(a, a, 1, ncclInt32, ncclSum, r->comm, r->stream));
	}
	finish(r);
	CHECK(r, !cuStreamSynchronize(side));
	CHECK(r, *a == 6561 && *b == 81); /* 3^8, 3^4 */
	cuGraphExecDestroy(one);
	cuGraphExecDestroy(two);
}

static void captures_with_other_streams(struct rank *r)
{
	int *a = device_memory(r, 3 * sizeof(*a));
	CUstream side = NULL;
	CUevent fork;
	CUgraph graph;
	CUgraphExec exec;

	join(r);
	CHECK(r, !cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
	CHECK(r, !cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
	/* one of them captured, the other one not */
	capture_begin(r, r->stream);
	ncclGroupStart();
	CHECK(r, !ncclAllReduce(a, a, 1, ncclInt32, ncclSum, r->comm, r->stream));
	CHECK(r, !ncclAllReduce(a, a, 1, ncclInt32, ncclSum, r->comm, side));
	CHECK(r, ncclGroupEnd() == ncclInvalidUsage);
	cuStreamEndCapture(r->stream, &graph);
	/* both */
	a[0] = a[1] = 1;
	capture_begin(r, r->stream);
	cuEventRecord(fork, r->stream);
	CHECK(r, !cuStreamWaitEvent(side, fork, 0));
	ncclGroupStart();
	CHECK(r, !ncclAllReduce(a, a, 1, ncclInt32, ncclSum, r->comm, r->stream));
	CHECK(r, !ncclAllReduce(a + 1, a + 1, 1, ncclInt32, ncclSum, r->comm, side));
	CHECK(r, !ncclGroupEnd());
	cuEventRecord(fork, side);
	CHECK(r, !cuStreamWaitEvent(r->stream, fork, 0));
	exec = capture_end(r, r->stream);
	CHECK(r, !cuGraphLaunch(exec, side));
	CHECK(r, !cuStreamSynchronize(side));
	CHECK(r, a[0] == r->n && a[1] == r->n);
	cuGraphExecDestroy(exec);
}

static void mixes_communicators(struct rank *r)
{
	int *a = device_memory(r, sizeof(*a));
	CUstream side = NULL;
	ncclComm_t other;
	CUgraph graph = NULL;

	join(r);
	CHECK(r, !cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
	CHECK(r, !ncclCommSplit(r->comm, 0, r->rank, &other, NULL));
	capture_begin(r, r->stream);
	ncclGroupStart();
	CHECK(r, !ncclAllReduce(a, a, 1, ncclInt32, ncclSum, r->comm, r->stream));
	CHECK(r, !ncclAllReduce(a, a, 1, ncclInt32, ncclSum, other, side));
	CHECK(r, ncclGroupEnd() == ncclInvalidUsage);
	CHECK(r, !cuStreamEndCapture(r->stream, &graph));
	cuGraphDestroy(graph);
	CHECK(r, !ncclCommDestroy(other));
}

static void graphs_carry_out_communication_at_each_launch(void **state)
{
	(void)state;
	/* a child of a process that has used CUDA has none */
	assert_int_equal(in_processes(3, replays), 0);
	assert_int_equal(in_threads(4, replays), 0);
	assert_null(simFirstMisuse());
}

static void graphs_and_eager_operations_keep_their_order(void **state)
{
	(void)state;
	assert_int_equal(in_threads(3, mixes), 0);
	assert_null(simFirstMisuse());
}

static void a_group_is_captured_as_a_whole_or_not_at_all(void **state)
{
	(void)state;
	assert_int_equal(in_threads(2, captures_with_other_streams), 0);
	assert_int_equal(in_threads(2, mixes_communicators), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(graphs_carry_out_communication_at_each_launch),
		cmocka_unit_test(graphs_and_eager_operations_keep_their_order),
		cmocka_unit_test(a_group_is_captured_as_a_whole_or_not_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
