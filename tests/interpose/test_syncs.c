/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of the host for a GPU: one that lasts is on record while it lasts, so also when it never
 * ends; short ones are not. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/interpose/fake_libnccl.h"
#include "tests/interpose/recorded_lists.h"
#include "tests/must.h"
#include "tools/sim/cudart.h"
#include "tools/sim/nccl/job.h"

enum { MS = 1000000, FOR_EVER = 600000 };

static cudaStream_t stream;

static void busy_for(int ms)
{
	MUST(simCompute(stream, (uint64_t)ms * MS) == CUDA_SUCCESS);
}

/* Recording begins with the communicator; its launch names the stream. */
static void begin(void)
{
	ncclComm_t comm;
	float *data;

	MUST(ncclCommInitAll(&comm, 1, NULL) == ncclSuccess);
	MUST(cudaSetDevice(0) == cudaSuccess);
	MUST(cudaStreamCreateWithFlags(&stream, 1) == cudaSuccess);
	MUST(cudaMalloc((void **)&data, 4096) == cudaSuccess);
	for (int i = 0; i < 2; i++) {
		MUST(ncclAllReduce(data, data, 100, ncclFloat32, ncclSum, comm, stream) ==
		     ncclSuccess);
		usleep(i ? 0 : 400000); /* events are there for the next one */
	}
	MUST(cudaStreamSynchronize(stream) == cudaSuccess);
}

static void short_and_long(void)
{
	begin();
	for (int i = 0; i < 20; i++) {
		busy_for(1);
		MUST(cudaStreamSynchronize(stream) == cudaSuccess);
	}
	busy_for(1700);
	MUST(cudaStreamSynchronize(stream) == cudaSuccess);
	busy_for(1700);
	MUST(cudaDeviceSynchronize() == cudaSuccess);
}

static int is_call(const struct recorded_lists *r, const struct ct_host_rec *rec, const char *call)
{
	return strcmp(recorded_name(r, rec->call), call) == 0;
}

static const struct ct_host_rec *only(const struct recorded_lists *r,
				      const struct ct_host_rec *recs, uint32_t n, const char *call)
{
	const struct ct_host_rec *found = NULL;

	for (uint32_t i = 0; i < n; i++) {
		if (!is_call(r, &recs[i], call))
			continue;
		assert_null(found);
		found = &recs[i];
	}
	return found;
}

static void one_that_lasts_has_begin_and_end(void **state)
{
	const struct ct_host_rec *begin, *end;
	const struct recorded_lists *r;
	const char *site;

	(void)state;
	assert_int_equal(recorded_run(short_and_long, NULL), 0);
	r = recorded_lists(0);
	begin = only(r, r->begins, r->n_begins, "cudaStreamSynchronize");
	end = only(r, r->ends, r->n_ends, "cudaStreamSynchronize");
	assert_non_null(begin);
	assert_non_null(end);
	assert_int_equal(begin->enter_ns, end->enter_ns);
	assert_int_equal(begin->tid, end->tid);
	assert_int_equal(begin->return_ns, 0);
	assert_in_range(end->return_ns - end->enter_ns, 1500ull * MS, 60000ull * MS);
	assert_int_not_equal(begin->nranks, 0);
	assert_int_equal(begin->nranks, r->launches[1].stream);
	site = recorded_name(r, ct_host_site(begin));
	assert_int_equal(strncmp(site, "interpose_syncs+0x", 18), 0);
	assert_int_equal(end->result, 0);
	begin = only(r, r->begins, r->n_begins, "cudaDeviceSynchronize");
	assert_non_null(begin);
	assert_non_null(only(r, r->ends, r->n_ends, "cudaDeviceSynchronize"));
	assert_int_equal(begin->nranks, 0);
	assert_string_not_equal(recorded_name(r, ct_host_site(begin)), site);
	recorded_remove();
}

static void *kill_it(void *arg)
{
	(void)arg;
	usleep(1800000);
	kill(getpid(), SIGKILL);
	return NULL;
}

static void for_ever(void)
{
	cudaEvent_t event;
	pthread_t thread;

	begin();
	MUST(cudaEventCreateWithFlags(&event, 2) == cudaSuccess);
	busy_for(FOR_EVER);
	MUST(cudaEventRecord(event, stream) == cudaSuccess);
	MUST(pthread_create(&thread, NULL, kill_it, NULL) == 0);
	cudaEventSynchronize(event);
}

static void one_that_never_returns_is_on_record_when_the_process_is_killed(void **state)
{
	const struct ct_host_rec *begin;
	const struct recorded_lists *r;
	int status;

	(void)state;
	status = recorded_run(for_ever, NULL);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	r = recorded_lists(0);
	begin = only(r, r->begins, r->n_begins, "cudaEventSynchronize");
	assert_non_null(begin);
	assert_int_equal(begin->nranks, r->launches[1].stream);
	assert_null(only(r, r->ends, r->n_ends, "cudaEventSynchronize"));
	recorded_remove();
}

/* The thread of a wait that was left this way does not wait. */
static sigjmp_buf out;

static void jump(int sig)
{
	(void)sig;
	siglongjmp(out, 1);
}

static void left(void)
{
	begin();
	signal(SIGALRM, jump);
	busy_for(FOR_EVER);
	if (sigsetjmp(out, 1) == 0) {
		ualarm(50000, 0);
		cudaStreamSynchronize(stream);
	}
	for (int i = 0; i < 3; i++)
		cudaStreamQuery(stream);
	MUST(cudaEventSynchronize(NULL) != cudaSuccess); /* another wait, which is over */
	usleep(1800000);
	_exit(0);
}

static void one_that_was_left_is_forgotten_with_the_next(void **state)
{
	const struct recorded_lists *r;

	(void)state;
	assert_int_equal(recorded_run(left, NULL), 0);
	r = recorded_lists(0);
	assert_null(only(r, r->begins, r->n_begins, "cudaStreamSynchronize"));
	assert_null(only(r, r->begins, r->n_begins, "cudaEventSynchronize"));
	recorded_remove();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_lasts_has_begin_and_end),
		cmocka_unit_test(one_that_never_returns_is_on_record_when_the_process_is_killed),
		cmocka_unit_test(one_that_was_left_is_forgotten_with_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
