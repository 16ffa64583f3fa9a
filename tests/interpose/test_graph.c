/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA graphs under the preload: which list each executable has, what its launches are recorded as,
 * and that the communicators' orders go on behind them. The truth is what the program does; the
 * program itself is preloaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/interpose/fake_libnccl.h"
#include "tests/interpose/recorded_lists.h"
#include "tools/sim/cudart.h"
#include "tools/sim/sim.h"
#include "trace/ops.h"

#define MUST(condition) ((condition) ? (void)0 : must_not(__LINE__))
static void must_not(int line)
{
	fprintf(stderr, "line %d is not so (%s)\n", line,
		simFirstMisuse() ? simFirstMisuse() : "no misuse");
	_exit(1);
}

enum { COUNT = 256 };

static ncclComm_t a,
	b; /* of one rank each: what a graph holds and when is the same for any number */
static cudaStream_t stream, side;
static float *data;

static void all_reduce(ncclComm_t comm)
{
	MUST(!ncclAllReduce(data, data + COUNT, COUNT, ncclFloat32, ncclSum, comm, stream));
}

static void broadcast(ncclComm_t comm)
{
	MUST(!ncclBroadcast(data, data + COUNT, COUNT, ncclFloat32, 0, comm, stream));
}

static void to_oneself(ncclComm_t comm)
{
	MUST(!ncclGroupStart());
	MUST(!ncclSend(data, COUNT, ncclFloat32, 0, comm, stream));
	MUST(!ncclRecv(data + COUNT, COUNT, ncclFloat32, 0, comm, stream));
	MUST(!ncclGroupEnd());
}

static enum cudaStreamCaptureMode mode;

static void begin_capture(void)
{
	MUST(!cudaStreamBeginCapture(stream, mode));
}

static cudaGraph_t end_capture(void)
{
	cudaGraph_t graph = NULL;

	MUST(!cudaStreamEndCapture(stream, &graph));
	return graph;
}

static cudaGraphExec_t instantiate(cudaGraph_t graph)
{
	cudaGraphExec_t exec = NULL;

	MUST(!cudaGraphInstantiate(&exec, graph, 0));
	return exec;
}

static void launch(cudaGraphExec_t exec, cudaStream_t on)
{
	MUST(!cudaGraphLaunch(exec, on));
	MUST(!cudaStreamSynchronize(on));
}

static void start(void)
{
	const struct timespec nap = { .tv_nsec = 150000000 };
	int device = 0;

	MUST(!ncclCommInitAll(&a, 1, &device));
	MUST(!ncclCommInitAll(&b, 1, &device));
	MUST(!cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	MUST(!cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
	MUST(!cudaMalloc((void **)&data, 2 * COUNT * sizeof(float)));
	all_reduce(a);
	/* the first launch on a device makes its events be made */
	nanosleep(&nap, NULL);
	all_reduce(a);
	MUST(!cudaStreamSynchronize(stream));
}

static void stop(void)
{
	MUST(!cudaStreamSynchronize(stream));
	MUST(!ncclCommDestroy(a));
	MUST(!ncclCommDestroy(b));
	MUST(!simMisuse());
}

/* Three on a, one on b, two in a group on a, a message on a. */
static cudaGraph_t capture_all(void)
{
	begin_capture();
	for (int i = 0; i < 3; i++)
		all_reduce(a);
	all_reduce(b);
	MUST(!ncclGroupStart());
	all_reduce(a);
	all_reduce(a);
	MUST(!ncclGroupEnd());
	to_oneself(a);
	return end_capture();
}

static void capture_and_launch(void)
{
	cudaGraph_t graph, clone;
	cudaGraphExec_t one, two;

	start();
	graph = capture_all();
	MUST(!cudaGraphClone(&clone, graph));
	one = instantiate(graph);
	two = instantiate(clone);
	MUST(!cudaGraphDestroy(graph));
	MUST(!cudaGraphDestroy(clone));
	launch(one, stream);
	launch(one, side);
	launch(two, NULL);
	all_reduce(a);
	to_oneself(a);
	MUST(!cudaGraphExecDestroy(one));
	MUST(!cudaGraphExecDestroy(two));
	stop();
}

static void in_each_mode(void)
{
	capture_and_launch();
}

static const struct ct_op *nth(const struct recorded_lists *r, unsigned op, int captured, int n)
{
	for (uint32_t i = 0; i < r->n_ops; i++)
		if (r->ops[i].op == op && !(r->ops[i].flags & CT_OP_CAPTURED) == !captured &&
		    n-- == 0)
			return &r->ops[i];
	return NULL;
}

static void check_launch(const struct recorded_lists *r, int n, uint32_t comm, uint64_t seq,
			 uint64_t count, uint32_t list)
{
	const struct ct_op *op = nth(r, CT_OP_GraphLaunch, 0, n);
	const struct ct_launch *l;

	assert_non_null(op);
	assert_int_equal(op->comm, comm);
	assert_int_equal(op->seq, seq);
	assert_int_equal(op->count, count);
	if (list)
		assert_int_equal(op->tag, list);
	assert_string_equal(recorded_name(r, op->call), "cudaGraphLaunch");
	l = recorded_launch(r, op->launch);
	assert_non_null(l);
	assert_int_equal(l->start_source, CT_SOURCE_EVENT);
	assert_int_equal(l->end_source, CT_SOURCE_EVENT);
}

static const struct recorded_lists *run(void (*body)(void), const char *const *env)
{
	assert_int_equal(recorded_run(body, env), 0);
	return recorded_lists(0);
}

static void captured_ops_have_positions_and_launches_have_numbers(void **state)
{
	const struct recorded_lists *r = run(capture_and_launch, NULL);
	uint32_t list = nth(r, CT_OP_AllReduce, 1, 0)->launch;
	uint64_t position = 0;

	(void)state;
	assert_int_not_equal(list, 0);
	for (int i = 0; i < 6; i++) {
		const struct ct_op *op = nth(r, CT_OP_AllReduce, 1, i);

		assert_int_equal(op->launch, list);
		assert_int_equal(op->seq, op->comm == 1 ? position++ : 0);
	}
	assert_null(nth(r, CT_OP_AllReduce, 1, 6));
	assert_int_equal(nth(r, CT_OP_Send, 1, 0)->launch, list);
	/* what was captured has not been launched */
	assert_int_equal(r->n_launches, 2 + 3 * 2 + 2);
	for (int i = 0; i < 3; i++) {
		check_launch(r, 2 * i, 1, 2 + 5 * (uint64_t)i, 5, list);
		check_launch(r, 2 * i + 1, 2, (uint64_t)i, 1, list);
	}
	assert_null(nth(r, CT_OP_GraphLaunch, 0, 6));
	assert_int_equal(nth(r, CT_OP_AllReduce, 0, 2)->seq, 2 + 3 * 5);
	assert_int_equal(nth(r, CT_OP_Send, 0, 0)->seq, 3);
	assert_int_equal(nth(r, CT_OP_Recv, 0, 0)->seq, 3);
	assert_int_equal(r->losses[CT_LOSS_GRAPH_LOST], 0);
}

static void all_modes_of_capture_are_the_same(void **state)
{
	(void)state;
	for (mode = cudaStreamCaptureModeThreadLocal; mode <= cudaStreamCaptureModeRelaxed;
	     mode++) {
		const struct recorded_lists *r = run(in_each_mode, NULL);

		check_launch(r, 4, 1, 2 + 2 * 5, 5, 0);
	}
	mode = cudaStreamCaptureModeGlobal;
}

static void without_times_the_numbers_are_the_same(void **state)
{
	const struct recorded_lists *r = run(capture_and_launch,
					     (const char *const[]){ "COMMTRACE_TIMING=off", NULL });
	const struct ct_op *op = nth(r, CT_OP_GraphLaunch, 0, 4);

	(void)state;
	assert_int_equal(op->seq, 2 + 2 * 5);
	assert_true(op->flags & CT_OP_UNTIMED);
	assert_int_equal(nth(r, CT_OP_AllReduce, 1, 5)->launch, op->tag);
	assert_int_equal(nth(r, CT_OP_AllReduce, 0, 2)->seq, 2 + 3 * 5);
	assert_int_equal(r->n_launches, 0);
}

static void graphs_can_be_left_alone(void **state)
{
	const struct recorded_lists *r = run(capture_and_launch,
					     (const char *const[]){ "COMMTRACE_GRAPH=off", NULL });

	(void)state;
	assert_non_null(nth(r, CT_OP_AllReduce, 1, 5));
	assert_null(nth(r, CT_OP_GraphLaunch, 0, 0));
	assert_int_equal(nth(r, CT_OP_AllReduce, 0, 2)->seq, 2);
	assert_int_equal(r->n_launches, 2 + 2);
}

/* ---- which list ---- */

static cudaGraph_t capture_some(void (*op)(ncclComm_t comm), int n)
{
	begin_capture();
	for (int i = 0; i < n; i++)
		op(a);
	return end_capture();
}

static void update_join_and_nest(void)
{
	struct {
		int result;
		void *nodes[2];
	} info;
	cudaGraph_t graph, other, parent;
	cudaGraphNode_t nodes[2];
	cudaGraphExec_t exec, outer, none;

	start();
	graph = capture_some(all_reduce, 2);
	exec = instantiate(graph);
	launch(exec, stream); /* 2..3 */
	other = capture_some(broadcast, 2);
	MUST(!cudaGraphExecUpdate(exec, other, (struct cudaGraphExecUpdateResultInfo_st *)&info));
	launch(exec, stream); /* 4..5, of the other list */
	MUST(!cudaGraphCreate(&parent, 0));
	MUST(!cudaGraphAddChildGraphNode(&nodes[0], parent, NULL, 0, graph));
	MUST(!cudaGraphAddChildGraphNode(&nodes[1], parent, nodes, 1, other));
	launch(instantiate(parent), stream); /* 6..9 */
	begin_capture();
	all_reduce(a);
	MUST(!cudaGraphLaunch(exec, stream)); /* into the capture */
	outer = instantiate(end_capture());
	launch(outer, stream); /* 10..12 */
	/* one without communication, and a stream that captures without a query */
	begin_capture();
	MUST(!simCompute(stream, 1000));
	none = instantiate(end_capture());
	launch(none, stream);
	/* a graph that fails to launch has used its numbers all the same, as an operation that
	 * fails */
	all_reduce(a); /* 13 */
	stop();
}

static void executables_are_followed_through_all_calls(void **state)
{
	const struct recorded_lists *r = run(update_join_and_nest, NULL);
	uint32_t first = nth(r, CT_OP_AllReduce, 1, 0)->launch;
	uint32_t second = nth(r, CT_OP_Broadcast, 1, 0)->launch;

	(void)state;
	assert_int_not_equal(first, second);
	check_launch(r, 0, 1, 2, 2, first);
	check_launch(r, 1, 1, 4, 2, second);
	check_launch(r, 2, 1, 6, 4, 0);
	check_launch(r, 3, 1, 10, 3, nth(r, CT_OP_AllReduce, 1, 2)->launch);
	assert_null(nth(r, CT_OP_GraphLaunch, 0, 4));
	assert_int_equal(nth(r, CT_OP_AllReduce, 0, 2)->seq, 13);
	assert_int_equal(r->losses[CT_LOSS_GRAPH_LOST], 0);
}

/* The poll thread is at work, and this thread's captures forbid all others what is unsafe. */
static void capture_beside_the_poll_thread(void)
{
	const struct timespec nap = { .tv_nsec = 2000000 };

	start();
	for (int i = 0; i < 60; i++) {
		cudaGraph_t graph;

		all_reduce(a);
		begin_capture();
		all_reduce(b);
		/* several of its rounds */
		nanosleep(&nap, NULL);
		graph = end_capture();
		MUST(graph);
		launch(instantiate(graph), stream);
		MUST(!cudaGraphDestroy(graph));
	}
	stop();
}

static void captures_are_never_spoilt(void **state)
{
	const struct recorded_lists *r = run(capture_beside_the_poll_thread, NULL);

	(void)state;
	check_launch(r, 59, 2, 59, 1, 0);
}

/* More communicators than a list has space for. */
static void capture_too_much(void)
{
	enum { COMMS = 20 };
	ncclComm_t comms[COMMS];
	int device = 0;

	start();
	for (int i = 0; i < COMMS; i++)
		MUST(!ncclCommInitAll(&comms[i], 1, &device));
	begin_capture();
	for (int i = 0; i < COMMS; i++)
		all_reduce(comms[i]);
	launch(instantiate(end_capture()), stream);
	stop();
}

static void what_finds_no_room_is_reported(void **state)
{
	const struct recorded_lists *r = run(capture_too_much, NULL);
	const struct ct_op *op;
	int n = 0;

	(void)state;
	while ((op = nth(r, CT_OP_GraphLaunch, 0, n)) && op->count == 1)
		n++;
	assert_int_equal(n, 16);
	for (int i = 0; i < 20; i++)
		assert_int_equal(nth(r, CT_OP_AllReduce, 1, i)->launch != 0, i < 16);
	/* four ops, and the launch that carries them out */
	assert_int_equal(r->losses[CT_LOSS_GRAPH_LOST], 5);
}

/* Executables come and go, far more than there is space for at a time. */
static void come_and_go(void)
{
	start();
	for (int i = 0; i < 20000; i++) {
		cudaGraph_t graph = capture_some(all_reduce, 1);
		cudaGraphExec_t exec = instantiate(graph);

		MUST(!cudaGraphDestroy(graph));
		if (i == 19999)
			launch(exec, stream);
		MUST(!cudaGraphExecDestroy(exec));
	}
	stop();
}

static void slots_of_destroyed_graphs_are_used_again(void **state)
{
	struct recorded r;

	(void)state;
	assert_int_equal(recorded_run(come_and_go, NULL), 0);
	r = recorded_read();
	assert_int_equal(r.losses[CT_LOSS_GRAPH_LOST], 0);
	assert_int_equal(r.last.op, CT_OP_GraphLaunch);
	assert_int_equal(r.last.tag, 20000);
	recorded_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captured_ops_have_positions_and_launches_have_numbers),
		cmocka_unit_test(all_modes_of_capture_are_the_same),
		cmocka_unit_test(without_times_the_numbers_are_the_same),
		cmocka_unit_test(graphs_can_be_left_alone),
		cmocka_unit_test(executables_are_followed_through_all_calls),
		cmocka_unit_test(captures_are_never_spoilt),
		cmocka_unit_test(what_finds_no_room_is_reported),
		cmocka_unit_test(slots_of_destroyed_graphs_are_used_again),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	recorded_remove();
	return failed;
}
