/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "interpose/recorder.h"
#include "tests/interpose/fake_gloo.h"
#include "tests/interpose/recorded.h"

/* Threads of a child; what it knows goes to the parent through its exit code, the counts through
 * constants. */
#define THREADS 8

static struct fake_context contexts[THREADS];

static struct fake_options make_options(int i)
{
	struct fake_options o = { .context = &contexts[i] };

	contexts[i].rank = 0;
	contexts[i].size = 100 + i;
	return o;
}

static void sleep_us(long us)
{
	struct timespec t = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

static void run_threads(void *(*body)(void *), int n)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, body, (void *)(intptr_t)i) != 0)
			_exit(3);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* ---- paced and unpaced
 * -------------------------------------------------------------------------------- */

/* Under ThreadSanitizer everything is slower by a factor of ten, the write thread too. */
#if defined(__SANITIZE_THREAD__)
#define SLOWER 8
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SLOWER 8
#endif
#endif
#ifndef SLOWER
#define SLOWER 1
#endif

enum { PACED_CALLS = 50000 / SLOWER, PACED_BATCH = 50 };

/* 25 k records/s for two seconds */
static void *paced(void *arg)
{
	struct fake_options o = make_options((int)(intptr_t)arg);

	for (int i = 0; i < PACED_CALLS; i += PACED_BATCH) {
		for (int k = 0; k < PACED_BATCH; k++) {
			o.tag = (uint32_t)(i + k);
			gloo_barrier(&o);
		}
		sleep_us(PACED_BATCH * 40 * SLOWER);
	}
	return NULL;
}

static void paced_job(void)
{
	run_threads(paced, THREADS);
}

static void eight_paced_threads_lose_nothing(void **state)
{
	struct recorded r;

	(void)state;
	assert_int_equal(recorded_run(paced_job, NULL), 0);
	r = recorded_read();
	assert_int_equal(r.ops, THREADS * PACED_CALLS);
	assert_int_equal(r.unreturned, 0);
	assert_int_equal(r.comms, THREADS);
	for (int i = 0; i < CT_LOSS_MAX; i++)
		assert_int_equal(r.losses[i], 0);
	for (uint32_t c = 1; c <= THREADS; c++)
		for (uint32_t seq = 0; seq < PACED_CALLS; seq++)
			assert_int_equal(r.seqs[c << 16 | seq], 1);
	assert_int_equal(recorded_rings_left(), 0);
	recorded_free(&r);
}

enum { UNPACED_CALLS = 150000 };

static void *unpaced(void *arg)
{
	struct fake_options o = make_options((int)(intptr_t)arg);

	for (int i = 0; i < UNPACED_CALLS; i++) {
		o.tag = (uint32_t)i;
		gloo_barrier(&o);
	}
	return NULL;
}

static void unpaced_job(void)
{
	run_threads(unpaced, THREADS);
}

static void unpaced_what_is_not_recorded_is_counted(void **state)
{
	const char *const small[] = { "COMMTRACE_RING_MB=1", NULL };
	struct recorded r;

	(void)state;
	assert_int_equal(recorded_run(unpaced_job, small), 0);
	r = recorded_read();
	assert_int_equal(r.ops + r.losses[CT_LOSS_POOL_EMPTY], THREADS * UNPACED_CALLS);
	assert_true(r.ops > 0);
	recorded_free(&r);
}

/* ---- threads that come and go, or never come back
 * ------------------------------------------------------ */

enum { SHORT_THREADS = 5000 };

static void *one_call(void *arg)
{
	struct fake_options o = make_options(0);

	o.tag = (uint32_t)(intptr_t)arg;
	gloo_barrier(&o);
	return NULL;
}

static void short_threads_job(void)
{
	for (intptr_t i = 0; i < SHORT_THREADS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, one_call, (void *)i) != 0)
			_exit(3);
		pthread_join(thread, NULL);
	}
}

static void five_thousand_short_threads_leave_nothing_behind(void **state)
{
	struct recorded r;

	(void)state;
	assert_int_equal(recorded_run(short_threads_job, NULL), 0);
	r = recorded_read();
	assert_int_equal(r.ops + r.losses[CT_LOSS_POOL_EMPTY], SHORT_THREADS);
	/* the pool has some 950 chunks: they come back */
	assert_true(r.ops > 4500);
	recorded_free(&r);
}

static _Atomic int stuck;

static void stay(void *options)
{
	if (((struct fake_options *)options)->own) {
		atomic_store(&stuck, 1);
		for (;;)
			sleep_us(1000000);
	}
}

static void *never_returns(void *arg)
{
	struct fake_options o = make_options(7);

	o.own = &o;
	(void)arg;
	gloo_barrier(&o);
	return NULL;
}

static void stuck_job(void)
{
	struct fake_options o = make_options(0);
	pthread_t thread;

	fake_set_body(stay);
	if (pthread_create(&thread, NULL, never_returns, NULL) != 0)
		_exit(3);
	while (!atomic_load(&stuck))
		sleep_us(1000);
	/* more than the ring holds */
	for (int i = 0; i < 100000; i++) {
		o.tag = (uint32_t)i;
		gloo_barrier(&o);
		if (i % 500 == 0)
			sleep_us(5000);
	}
}

static void a_call_that_never_returns_stops_no_one(void **state)
{
	const char *const small[] = { "COMMTRACE_RING_MB=2", NULL };
	struct recorded r;

	(void)state;
	assert_int_equal(recorded_run(stuck_job, small), 0);
	r = recorded_read();
	assert_int_equal(r.ops, 100001);
	assert_int_equal(r.unreturned, 1);
	assert_int_equal(r.losses[CT_LOSS_POOL_EMPTY], 0);
	recorded_free(&r);
}

/* ---- starts and ends
 * ----------------------------------------------------------------------------------- */

static pthread_barrier_t at_once;

static void *start_at_once(void *arg)
{
	struct fake_options o = make_options((int)(intptr_t)arg);

	pthread_barrier_wait(&at_once);
	for (int i = 0; i < 100; i++) {
		o.tag = (uint32_t)i;
		gloo_barrier(&o);
	}
	return NULL;
}

static void start_job(void)
{
	pthread_barrier_init(&at_once, NULL, THREADS);
	run_threads(start_at_once, THREADS);
}

static void threads_that_start_at_once_are_all_recorded(void **state)
{
	struct recorded r;

	(void)state;
	assert_int_equal(recorded_run(start_job, NULL), 0);
	r = recorded_read();
	assert_int_equal(r.processes, 1);
	assert_int_equal(r.ops, THREADS * 100);
	assert_int_equal(r.losses[CT_LOSS_STARTING], 0);
	recorded_free(&r);
}

static void call_once(uint32_t tag)
{
	struct fake_options o = make_options(0);

	o.tag = tag;
	gloo_barrier(&o);
}

static void off_job(void)
{
	call_once(0);
	exit(5);
}

static void switched_off_nothing_happens(void **state)
{
	const char *const off[] = { "COMMTRACE=0", NULL };
	int status;

	(void)state;
	status = recorded_run(off_job, off);
	assert_int_equal(WEXITSTATUS(status), 5);
	assert_int_not_equal(access(recorded_dir(), F_OK), 0);
	assert_int_equal(recorded_rings_left(), 0);
}

static void killed_job(void)
{
	for (uint32_t i = 0; i < 1000; i++)
		call_once(i);
	kill(getpid(), SIGKILL);
}

static void what_a_killed_process_returned_from_is_there(void **state)
{
	struct recorded r;
	int status;

	(void)state;
	status = recorded_run(killed_job, NULL);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	r = recorded_read();
	assert_int_equal(r.ops, 1000);
	assert_int_equal(recorded_rings_left(), 1);
	recorded_free(&r);
}

static void exit_code_job(void)
{
	call_once(0);
	exit(42);
}

static void the_exit_code_is_the_programs(void **state)
{
	int status;

	(void)state;
	status = recorded_run(exit_code_job, NULL);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
}

/* ---- fork
 * ---------------------------------------------------------------------------------------------- */

static void wait_for_child(pid_t pid)
{
	int status = -1;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		_exit(4);
}

static void fork_job(void)
{
	pid_t pid;

	call_once(0);
	pid = fork();
	if (pid == 0) {
		/* inherited communicator: not recorded, and nothing of the parent's is touched */
		for (uint32_t i = 0; i < 10; i++)
			call_once(i);
		exit(0);
	}
	wait_for_child(pid);
	call_once(1);
}

static void a_forked_child_is_off(void **state)
{
	struct recorded r;

	(void)state;
	assert_int_equal(recorded_run(fork_job, NULL), 0);
	r = recorded_read();
	assert_int_equal(r.processes, 1);
	assert_int_equal(r.ops, 2);
	recorded_free(&r);
}

static void fork_comm_job(void)
{
	struct fake_context own = { .rank = 1, .size = 3 };
	struct fake_options o = { .context = &own };
	pid_t pid;

	call_once(0);
	pid = fork();
	if (pid == 0) {
		call_once(7);
		gloo_mesh(&own, NULL, NULL);
		for (o.tag = 0; o.tag < 5; o.tag++)
			gloo_barrier(&o);
		exit(0);
	}
	wait_for_child(pid);
	call_once(1);
}

static void a_forked_child_with_a_communicator_of_its_own_starts_fresh(void **state)
{
	struct recorded r;

	(void)state;
	assert_int_equal(recorded_run(fork_comm_job, NULL), 0);
	r = recorded_read();
	assert_int_equal(r.processes, 2);
	assert_int_equal(r.ops, 2 + 5);
	assert_int_equal(r.nth_sum, 1);
	assert_int_equal(r.hosts_ended, 1);
	assert_int_equal(recorded_rings_left(), 0);
	recorded_free(&r);
}

static void unwanted_job(void)
{
	struct fake_context own = { .rank = 1, .size = 3 };
	struct fake_options o = { .context = &own };

	gloo_mesh(&own, NULL, NULL);
	gloo_barrier(&o);
	call_once(1);
}

static void a_backend_that_is_not_listed_is_not_recorded(void **state)
{
	const char *const nccl[] = { "COMMTRACE_BACKENDS=nccl", NULL };
	struct recorded r;

	(void)state;
	assert_int_equal(recorded_run(unwanted_job, nccl), 0);
	r = recorded_read();
	assert_int_equal(r.ops + r.comms + r.hosts_ended, 0);
	recorded_free(&r);
}

static void child_of_off_job(void)
{
	struct fake_context own = { .rank = 1, .size = 3 };
	pid_t pid;

	call_once(0);
	pid = fork();
	if (pid == 0) {
		gloo_mesh(&own, NULL, NULL);
		exit(0);
	}
	wait_for_child(pid);
}

static void what_is_switched_off_stays_off_in_children(void **state)
{
	const char *const off[] = { "COMMTRACE=0", NULL };

	(void)state;
	assert_int_equal(recorded_run(child_of_off_job, off), 0);
	assert_int_not_equal(access(recorded_dir(), F_OK), 0);
}

/* ---- transfers
 * ------------------------------------------------------------------------------------------ */

static void transfer_job(void)
{
	struct fake_transport transport = { .rank = 0, .size = 2 };
	struct fake_buffer buffer = { .bytes = 4096, .transport = &transport };
	int rank;

	for (int i = 0; i < 3; i++) {
		gloo_send(&buffer, 1, 5, 96, UINT64_MAX);
		if (!gloo_wait_send(&buffer, &rank, -1) || rank != 1)
			_exit(3);
	}
	gloo_send(&buffer, 1, 5, 0, 16); /* never waited for */
}

static void a_transfer_is_an_op_and_a_launch(void **state)
{
	struct recorded r;

	(void)state;
	assert_int_equal(recorded_run(transfer_job, NULL), 0);
	r = recorded_read();
	assert_int_equal(r.ops, 4);
	assert_int_equal(r.launches, 3);
	assert_int_equal(r.last.op, 10); /* Send, trace/ops.def */
	assert_int_equal(r.last.peer, 1);
	assert_int_equal(r.last.tag, 5);
	assert_int_equal(r.last.count, 16);
	assert_int_equal(r.last.seq, 3);
	assert_int_equal(r.last_launch.start_source, CT_SOURCE_CALL);
	assert_int_equal(r.last_launch.end_source, CT_SOURCE_WAIT);
	recorded_free(&r);
}

/* ---- a call of many ops that is left by longjmp
 * ------------------------------------------------------- */

enum { LEFT_OPS = 3 * CT_CHUNK_SLOTS + 7, EARLIER_CALLS = 20 };
static jmp_buf out;

/* As MPI_Startall does. */
static __attribute__((noinline)) void begin_many_and_leave(struct ct_traced_comm *comm)
{
	char deep[4096]; /* below the frames of the wrappers that are called later */
	struct ct_op op = { .op = CT_OP_Barrier, .peer = -1 };
	struct ct_op_frame f;

	__asm__ volatile("" : : "r"(deep) : "memory");
	if (!ct_guard_enter(CT_CALL_DATA))
		_exit(4);
	for (uint32_t i = 0; i < LEFT_OPS; i++) {
		op.seq = EARLIER_CALLS + i;
		ct_op_begin(&f, comm, &op);
	}
	longjmp(out, 1);
}

static void leaving_job(void)
{
	struct fake_options o = make_options(0);
	int tag = 0;

	for (; tag < EARLIER_CALLS; tag++) {
		o.tag = (uint32_t)tag;
		gloo_barrier(&o);
	}
	if (setjmp(out) == 0)
		begin_many_and_leave(ct_comms_find(&contexts[0]));
	o.tag = EARLIER_CALLS + LEFT_OPS;
	gloo_barrier(&o);
}

static void all_ops_of_a_call_that_is_left_end_whatever_chunks_they_are_in(void **state)
{
	struct recorded r;

	(void)state;
	assert_int_equal(recorded_run(leaving_job, NULL), 0);
	r = recorded_read();
	assert_int_equal(r.ops, EARLIER_CALLS + LEFT_OPS + 1);
	assert_int_equal(r.exceptions, LEFT_OPS);
	assert_int_equal(r.unreturned, 0);
	recorded_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eight_paced_threads_lose_nothing),
		cmocka_unit_test(unpaced_what_is_not_recorded_is_counted),
		cmocka_unit_test(five_thousand_short_threads_leave_nothing_behind),
		cmocka_unit_test(a_call_that_never_returns_stops_no_one),
		cmocka_unit_test(threads_that_start_at_once_are_all_recorded),
		cmocka_unit_test(switched_off_nothing_happens),
		cmocka_unit_test(what_a_killed_process_returned_from_is_there),
		cmocka_unit_test(the_exit_code_is_the_programs),
		cmocka_unit_test(a_backend_that_is_not_listed_is_not_recorded),
		cmocka_unit_test(a_forked_child_is_off),
		cmocka_unit_test(a_forked_child_with_a_communicator_of_its_own_starts_fresh),
		cmocka_unit_test(what_is_switched_off_stays_off_in_children),
		cmocka_unit_test(a_transfer_is_an_op_and_a_launch),
		cmocka_unit_test(all_ops_of_a_call_that_is_left_end_whatever_chunks_they_are_in),
	};
	int failed = cmocka_run_group_tests_name("recorder", tests, NULL, NULL);

	recorded_remove();
	return failed;
}
