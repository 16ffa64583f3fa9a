/* SPDX-License-Identifier: Apache-2.0 */
/* Captures and graphs: what ends up in one, in which order it runs, and what spoils a capture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "tests/sim/kernels.h"
#include "tools/sim/driver.h"
#include "tools/sim/graph_structs.h"

#define MS 1000000u

static int set_up(void **state)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

	(void)state;
	use_device(0);
	OK(cuThreadExchangeStreamCaptureMode(&mode));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	OK(cuCtxSynchronize());
	return 0;
}

/* A kernel that may run more than once, and says in which order kernels ran. */
struct again {
	int runs, order[8];
	uint64_t start_ns, end_ns, done;
};
static _Atomic int turn; /* branches of a graph run at a time */

static uint64_t run_again(void *arg, uint64_t start_ns, CUresult *error)
{
	struct again *k = arg;

	(void)error;
	k->order[k->runs++ % 8] = turn++;
	k->start_ns = start_ns;
	k->end_ns = start_ns + 1 * MS;
	return k->end_ns;
}

static void again_done(void *arg)
{
	((struct again *)arg)->done++;
}

static void launch(CUstream s, struct again *k)
{
	OK(simLaunch(s, &(struct sim_kernel){ run_again, again_done, k }));
}

static void begin(CUstream s)
{
	OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
}

static CUevent new_event(void)
{
	CUevent e;

	OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	return e;
}

static CUgraph end(CUstream s)
{
	CUgraph g = NULL;

	OK(cuStreamEndCapture(s, &g));
	assert_non_null(g);
	return g;
}

static CUgraphExec instantiate(CUgraph g)
{
	CUgraphExec e = NULL;

	OK(cuGraphInstantiateWithFlags(&e, g, 0));
	return e;
}

static void captured_work_runs_at_each_launch_and_not_before(void **state)
{
	uint64_t misuse = simMisuse();
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	struct again a = { 0 }, b = { 0 };
	CUgraph g, clone;
	CUgraphExec e;
	size_t n = 0;

	(void)state;
	begin(s);
	launch(s, &a);
	OK(simCompute(s, 2 * MS));
	launch(s, &b);
	g = end(s);
	OK(cuGraphGetNodes(g, NULL, &n));
	assert_int_equal(n, 3);
	OK(cuStreamSynchronize(s));
	assert_int_equal(a.runs, 0);
	OK(cuGraphClone(&clone, g));
	OK(cuGraphDestroy(g));
	e = instantiate(clone);
	OK(cuGraphDestroy(clone));
	for (int i = 0; i < 3; i++)
		OK(cuGraphLaunch(e, s));
	OK(cuStreamSynchronize(s));
	assert_int_equal(a.runs, 3);
	assert_int_equal(b.runs, 3);
	assert_int_equal(b.start_ns, a.end_ns + 2 * MS);
	assert_int_equal(a.done, 0);
	OK(cuGraphExecDestroy(e));
	assert_int_equal(a.done, 1);
	assert_int_equal(b.done, 1);
	OK(cuStreamDestroy_v2(s));
	assert_int_equal(simMisuse(), misuse);
}

static void forks_run_beside_one_another_and_joins_wait(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING), t = new_stream(CU_STREAM_NON_BLOCKING);
	CUevent fork = new_event(), join = new_event();
	struct again a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
	CUstreamCaptureStatus status;
	CUgraphExec e;

	(void)state;
	begin(s);
	launch(s, &a);
	OK(cuEventRecord(fork, s));
	OK(cuStreamWaitEvent(t, fork, 0));
	OK(cuStreamIsCapturing(t, &status));
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	launch(t, &b);
	launch(s, &c);
	OK(cuEventRecord(join, t));
	OK(cuStreamWaitEvent(s, join, 0));
	launch(s, &d);
	e = instantiate(end(s));
	OK(cuStreamIsCapturing(t, &status));
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
	OK(cuGraphLaunch(e, s));
	OK(cuGraphLaunch(e, t)); /* after the first: the same executable */
	OK(cuStreamSynchronize(t));
	assert_int_equal(a.runs, 2);
	assert_int_equal(b.start_ns, a.end_ns);
	assert_int_equal(c.start_ns, a.end_ns);
	assert_int_equal(d.start_ns, c.end_ns);
	assert_true(a.order[1] > d.order[0]);
}

static void a_fork_that_is_not_joined_is_an_error(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING), t = new_stream(CU_STREAM_NON_BLOCKING);
	CUevent fork = new_event();
	struct again a = { 0 };
	CUgraph g;

	(void)state;
	begin(s);
	OK(cuEventRecord(fork, s));
	OK(cuStreamWaitEvent(t, fork, 0));
	launch(t, &a);
	assert_int_equal(cuStreamEndCapture(t, &g), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
	assert_int_equal(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	begin(s);
	OK(cuEventRecord(fork, s));
	OK(cuStreamWaitEvent(t, fork, 0));
	launch(t, &a);
	assert_int_equal(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
	assert_null(g);
	assert_int_equal(a.done, 2);
	assert_int_equal(cuStreamEndCapture(s, &g), CUDA_ERROR_ILLEGAL_STATE);
}

static void captures_depend_on_nothing_outside(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING), t = new_stream(CU_STREAM_NON_BLOCKING);
	CUevent before = record_new(t), inside = new_event();
	CUgraph g;

	(void)state;
	begin(s);
	assert_int_equal(cuStreamWaitEvent(s, before, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
	assert_int_equal(simCompute(s, 1), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	assert_int_equal(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	begin(s);
	begin(t);
	OK(cuEventRecord(inside, s));
	assert_int_equal(cuStreamWaitEvent(t, inside, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
	assert_int_equal(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	assert_int_equal(cuStreamEndCapture(t, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void captured_events_cannot_be_asked(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	CUevent plain = record_new(s), inside = record_new(s);
	CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
	float ms;
	CUgraph g;

	(void)state;
	OK(cuStreamSynchronize(s));
	OK(cuThreadExchangeStreamCaptureMode(&relaxed));
	begin(s);
	OK(cuEventRecord(inside, s));
	OK(cuEventQuery(plain));
	OK(simCompute(s, 1));
	OK(cuStreamEndCapture(s, &g));
	assert_int_equal(cuEventQuery(inside), CUDA_ERROR_CAPTURED_EVENT);
	assert_int_equal(cuEventElapsedTime(&ms, plain, inside), CUDA_ERROR_CAPTURED_EVENT);
	assert_int_equal(cuEventSynchronize(inside), CUDA_ERROR_CAPTURED_EVENT);
	OK(cuEventRecord(inside, s));
	OK(cuEventSynchronize(inside));
	begin(s);
	OK(cuEventRecord(inside, s));
	assert_int_equal(cuEventQuery(inside), CUDA_ERROR_CAPTURED_EVENT);
	assert_int_equal(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void external_events_are_recorded_by_each_launch(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	CUevent e = new_event();
	struct again a = { 0 };
	CUgraphExec exec;

	(void)state;
	assert_int_equal(cuEventRecordWithFlags(e, s, CU_EVENT_RECORD_EXTERNAL),
			 CUDA_ERROR_INVALID_VALUE);
	begin(s);
	launch(s, &a);
	OK(cuEventRecordWithFlags(e, s, CU_EVENT_RECORD_EXTERNAL));
	exec = instantiate(end(s));
	for (int i = 0; i < 2; i++) {
		OK(cuGraphLaunch(exec, s));
		OK(cuEventSynchronize(e));
		assert_int_equal(a.runs, i + 1);
		assert_int_equal(time_of(e), a.end_ns);
	}
}

/* What another thread does while this one captures; and what its mode is. */
struct other {
	CUstreamCaptureMode mode;
	CUevent event;
	CUresult created, queried, allocated;
};

static void *do_unsafe_things(void *arg)
{
	struct other *o = arg;
	CUdeviceptr p = 0;
	CUevent e;

	use_device(0);
	cuThreadExchangeStreamCaptureMode(&o->mode);
	o->created = cuEventCreate(&e, CU_EVENT_DISABLE_TIMING);
	o->queried = cuEventQuery(o->event);
	o->allocated = cuMemAlloc_v2(&p, 64);
	return NULL;
}

static CUresult in_modes(CUstreamCaptureMode capture, CUstreamCaptureMode thread,
			 struct other *other)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	pthread_t t;
	CUgraph g;

	*other = (struct other){ .mode = thread, .event = record_new(s) };
	OK(cuStreamSynchronize(s));
	OK(cuStreamBeginCapture_v2(s, capture));
	OK(simCompute(s, 1));
	assert_int_equal(pthread_create(&t, NULL, do_unsafe_things, other), 0);
	pthread_join(t, NULL);
	return cuStreamEndCapture(s, &g);
}

static void modes_say_that_a_capture_forbids_what(void **state)
{
	static const CUstreamCaptureMode modes[] = { CU_STREAM_CAPTURE_MODE_GLOBAL,
						     CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
						     CU_STREAM_CAPTURE_MODE_RELAXED };
	struct other o;

	(void)state;
	for (int capture = 0; capture < 3; capture++) {
		for (int thread = 0; thread < 3; thread++) {
			bool both = modes[capture] == CU_STREAM_CAPTURE_MODE_GLOBAL &&
				    modes[thread] == CU_STREAM_CAPTURE_MODE_GLOBAL;
			CUresult result = in_modes(modes[capture], modes[thread], &o);

			assert_int_equal(result, both ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : 0);
			assert_int_equal(o.created,
					 both ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : 0);
			assert_int_equal(o.queried, o.created);
			assert_int_equal(o.allocated, o.created);
		}
	}
}

static void the_thread_that_captures_may_not_wait(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING), t = new_stream(CU_STREAM_NON_BLOCKING);
	CUgraph g;

	(void)state;
	for (CUstreamCaptureMode mode = 0; mode < 3; mode++) {
		OK(cuStreamBeginCapture_v2(s, mode));
		assert_int_equal(cuStreamSynchronize(t),
				 mode == CU_STREAM_CAPTURE_MODE_RELAXED
					 ? 0
					 : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
		assert_int_equal(cuStreamEndCapture(s, &g),
				 mode == CU_STREAM_CAPTURE_MODE_RELAXED
					 ? 0
					 : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
		OK(cuStreamBeginCapture_v2(s, mode));
		assert_int_equal(cuStreamQuery(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
		assert_int_equal(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	}
}

static void the_default_stream_and_captures_stay_apart(void **state)
{
	CUstream blocking = new_stream(CU_STREAM_DEFAULT);
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	CUstreamCaptureStatus status;
	uint64_t misuse;
	CUgraph g;

	(void)state;
	assert_int_equal(cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_RELAXED),
			 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	begin(s);
	OK(cuStreamIsCapturing(NULL, &status));
	OK(simCompute(NULL, 1));
	end(s);
	begin(blocking);
	misuse = simMisuse();
	assert_int_equal(cuStreamIsCapturing(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	assert_int_equal(simMisuse(), misuse);
	OK(simCompute(blocking, 1));
	assert_int_equal(simCompute(NULL, 1), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	assert_int_equal(cuStreamEndCapture(blocking, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void *end_elsewhere(void *arg)
{
	CUgraph g;

	use_device(0);
	return (void *)(uintptr_t)cuStreamEndCapture(arg, &g);
}

static void the_thread_that_began_ends_a_capture(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	pthread_t t;
	void *result;

	(void)state;
	for (CUstreamCaptureMode mode = 0; mode < 3; mode++) {
		CUgraph g;

		OK(cuStreamBeginCapture_v2(s, mode));
		assert_int_equal(pthread_create(&t, NULL, end_elsewhere, s), 0);
		pthread_join(t, &result);
		assert_int_equal((uintptr_t)result,
				 mode == CU_STREAM_CAPTURE_MODE_RELAXED
					 ? 0
					 : CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
		if (mode != CU_STREAM_CAPTURE_MODE_RELAXED)
			OK(cuStreamEndCapture(s, &g));
	}
}

static void captures_report_what_they_are(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	CUstreamCaptureStatus status;
	const CUgraphNode *after;
	CUgraph inside = NULL, g;
	uint64_t first = 0, second = 0;
	size_t n = 9;

	(void)state;
	begin(s);
	OK(cuStreamGetCaptureInfo_v2(s, &status, &first, &inside, &after, &n));
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	assert_int_equal(n, 0);
	OK(simCompute(s, 1));
	OK(cuStreamGetCaptureInfo_v3(s, &status, NULL, NULL, &after, NULL, &n));
	assert_int_equal(n, 1);
	g = end(s);
	assert_ptr_equal(g, inside);
	OK(cuStreamGetCaptureInfo_v2(s, &status, NULL, NULL, NULL, NULL));
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
	begin(s);
	OK(cuStreamGetCaptureInfo_v2(s, &status, &second, NULL, NULL, NULL));
	end(s);
	assert_true(second && second != first);
}

static CUgraph graph_of(CUstream s, struct again *k, int n)
{
	begin(s);
	for (int i = 0; i < n; i++)
		launch(s, k);
	return end(s);
}

static void an_executable_takes_over_a_graph_of_its_form(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	struct CUgraphExecUpdateResultInfo_st info;
	struct again a = { 0 }, b = { 0 };
	CUgraphExec e = instantiate(graph_of(s, &a, 2));

	(void)state;
	OK(cuGraphExecUpdate_v2(e, graph_of(s, &b, 2), &info));
	OK(cuGraphLaunch(e, s));
	OK(cuStreamSynchronize(s));
	assert_int_equal(a.runs, 0);
	assert_int_equal(b.runs, 2);
	assert_int_equal(cuGraphExecUpdate_v2(e, graph_of(s, &b, 3), &info),
			 CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	OK(cuGraphLaunch(e, s));
	OK(cuStreamSynchronize(s));
	assert_int_equal(b.runs, 4);
}

static void children_are_part_of_their_graph(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	struct again a = { 0 }, b = { 0 };
	CUgraph child = graph_of(s, &a, 2), parent;
	CUgraphExec inner = instantiate(child), outer;
	CUgraphNode nodes[2];

	(void)state;
	OK(cuGraphCreate(&parent, 0));
	OK(cuGraphAddChildGraphNode(&nodes[0], parent, NULL, 0, child));
	OK(cuGraphAddChildGraphNode(&nodes[1], parent, nodes, 1, graph_of(s, &b, 1)));
	OK(cuGraphLaunch(instantiate(parent), s));
	OK(cuStreamSynchronize(s));
	assert_int_equal(a.runs, 2);
	assert_int_equal(b.start_ns, a.end_ns);
	begin(s);
	launch(s, &b);
	OK(cuGraphLaunch(inner, s));
	outer = instantiate(end(s));
	assert_int_equal(a.runs, 2);
	OK(cuGraphLaunch(outer, s));
	OK(cuStreamSynchronize(s));
	assert_int_equal(a.runs, 4);
	assert_true(a.start_ns > b.start_ns);
}

static void destroyed_graphs_are_known_as_such(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	struct again a = { 0 };
	CUgraph g = graph_of(s, &a, 1);
	CUgraphExec e = instantiate(g), more;

	(void)state;
	OK(cuGraphDestroy(g));
	assert_int_equal(cuGraphInstantiateWithFlags(&more, g, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphExecDestroy(e));
	assert_int_equal(cuGraphLaunch(e, s), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(a.done, 1);
}

/* The capture asks for nothing that would have to wait, and the memory is the program's when the
 * graph runs. */
static void copies_are_captured_if_their_memory_stays(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	char *pinned, pageable[4] = "abc";
	CUdeviceptr to;
	CUgraphExec e;
	CUgraph g;

	(void)state;
	OK(cuMemHostAlloc((void **)&pinned, 4, 0));
	OK(cuMemAlloc_v2(&to, 4));
	begin(s);
	OK(cuMemcpyHtoDAsync_v2(to, pinned, 4, s));
	e = instantiate(end(s));
	memcpy(pinned, "xyz", 4);
	OK(cuGraphLaunch(e, s));
	OK(cuStreamSynchronize(s));
	assert_string_equal((char *)(uintptr_t)to, "xyz");
	begin(s);
	assert_int_equal(cuMemcpyHtoDAsync_v2(to, pageable, 4, s),
			 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	assert_int_equal(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(captured_work_runs_at_each_launch_and_not_before,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(forks_run_beside_one_another_and_joins_wait, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_fork_that_is_not_joined_is_an_error, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(captures_depend_on_nothing_outside, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(captured_events_cannot_be_asked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(external_events_are_recorded_by_each_launch, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(modes_say_that_a_capture_forbids_what, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_thread_that_captures_may_not_wait, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_default_stream_and_captures_stay_apart, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_thread_that_began_ends_a_capture, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(captures_report_what_they_are, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_executable_takes_over_a_graph_of_its_form,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(children_are_part_of_their_graph, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(destroyed_graphs_are_known_as_such, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(copies_are_captured_if_their_memory_stays, set_up,
						tear_down),
	};

	OK(cuInit(0));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
