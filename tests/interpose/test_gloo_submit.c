/* SPDX-License-Identifier: Apache-2.0 */
/* When a collective was asked for that another thread carries out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/report/analyze.h"
#include "tests/interpose/fake_c10d.h"
#include "tests/interpose/fake_gloo.h"
#include "tests/interpose/recorded.h"
#include "trace/block.h"

enum { WORKS = 40, TOO_MANY = 3000 };

/* What the job itself knows, by the tag of the collective. */
struct truth {
	uint64_t before_ns, after_ns; /* it was asked for in between; 0: never */
	uint32_t asked_by, done_by;
};
static struct truth *truth;

static struct fake_context context = { .rank = 0, .size = 2 };

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static void collective(struct fake_work *work)
{
	struct fake_options o = { .context = &context, .tag = (uint32_t)work->number };

	truth[work->number].done_by = own_tid();
	gloo_barrier(&o);
}

static void ask(struct fake_work *work)
{
	struct truth *t = &truth[work->number];

	t->before_ns = now_ns();
	c10d_enqueue(NULL, &work);
	t->after_ns = now_ns();
	t->asked_by = own_tid();
}

/* Recording begins. */
static void begin(void)
{
	struct fake_work first = { .run = collective };

	collective(&first);
}

static void *carry_out(void *arg)
{
	struct fake_work *works = arg, *work;

	for (int i = 0; i < WORKS; i++) {
		work = &works[i];
		(i % 2 ? c10d_execute : c10d_execute_const)(&work);
	}
	return NULL;
}

static void on_another_thread(struct fake_work *works)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, carry_out, works) != 0)
		_exit(3);
	pthread_join(thread, NULL);
}

/* Every fourth is carried out without having been asked for. */
static void queued_job(void)
{
	static struct fake_work works[WORKS];

	begin();
	for (int i = 0; i < WORKS; i++) {
		works[i] = (struct fake_work){ .run = collective, .number = i + 1 };
		if (i % 4 != 3)
			ask(&works[i]);
	}
	on_another_thread(works);
}

/* One address for all of them, and some of them never carried out. */
static void same_address_job(void)
{
	struct fake_work work = { .run = collective }, *at = &work;

	begin();
	for (int i = 1; i <= WORKS; i++) {
		work.number = i;
		ask(&work);
		if (i % 3)
			c10d_execute(&at);
	}
}

/* More than there is space for; what was asked for first is carried out. */
static void crowded_job(void)
{
	static struct fake_work works[TOO_MANY];

	begin();
	for (int i = 0; i < TOO_MANY; i++) {
		works[i] = (struct fake_work){ .run = collective, .number = i + 1 };
		if (i < WORKS)
			ask(&works[i]);
		else
			c10d_enqueue(NULL, &(struct fake_work *){ &works[i] });
		if (!works[i].queued)
			_exit(4);
	}
	on_another_thread(works);
}

struct seen {
	uint32_t ops, submitted;
};

static int check_op(const struct ct_joined_op *j, void *arg)
{
	struct seen *seen = arg;
	const struct truth *t = &truth[j->op->seq];

	seen->ops++;
	assert_int_equal(j->op->tid, t->done_by);
	if (!j->submit_ns) {
		assert_int_equal(t->before_ns, 0);
		return 0;
	}
	seen->submitted++;
	/* blocks round times down */
	assert_true(t->before_ns < j->submit_ns + CT_BLOCK_QUANTUM_NS &&
		    j->submit_ns <= t->after_ns);
	assert_int_equal(j->submit_tid, t->asked_by);
	return 0;
}

static struct seen run(void (*job)(void))
{
	const char *dir;
	struct seen seen = { 0, 0 };
	struct ct_run *trace;

	memset(truth, 0, (TOO_MANY + 1) * sizeof(*truth));
	assert_int_equal(recorded_run(job, NULL), 0);
	dir = recorded_dir();
	assert_int_equal(ct_run_open(&dir, 1, NULL, &trace, NULL), CT_OK);
	assert_int_equal(ct_ops_each(trace, check_op, &seen, NULL), 0);
	ct_run_close(trace);
	return seen;
}

static void each_op_has_the_time_at_which_it_was_asked_for(void **state)
{
	struct seen seen = run(queued_job);

	(void)state;
	assert_int_equal(seen.ops, WORKS + 1);
	assert_int_equal(seen.submitted, WORKS - WORKS / 4);
}

static void an_address_that_comes_again_is_another_work(void **state)
{
	struct seen seen = run(same_address_job);

	(void)state;
	assert_int_equal(seen.ops, 1 + WORKS - WORKS / 3);
	assert_int_equal(seen.submitted, WORKS - WORKS / 3);
}

static void what_finds_no_room_is_counted(void **state)
{
	struct seen seen = run(crowded_job);
	struct recorded r = recorded_read();

	(void)state;
	assert_int_equal(seen.ops, WORKS + 1);
	assert_int_equal(seen.submitted, WORKS);
	assert_true(r.losses[CT_LOSS_OPEN_TABLE_FULL] >= TOO_MANY - 1024);
	recorded_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_op_has_the_time_at_which_it_was_asked_for),
		cmocka_unit_test(an_address_that_comes_again_is_another_work),
		cmocka_unit_test(what_finds_no_room_is_counted),
	};
	int failed;

	truth = mmap(NULL, (TOO_MANY + 1) * sizeof(*truth), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (truth == MAP_FAILED)
		return 2;
	failed = cmocka_run_group_tests_name("gloo_submit", tests, NULL, NULL);
	recorded_remove();
	return failed;
}
