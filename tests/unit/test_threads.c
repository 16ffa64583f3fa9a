/* SPDX-License-Identifier: Apache-2.0 */
/* However many threads share an analysis, the report is the same, to the last byte: also where some
 * cannot be created, or are out of memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/render/render.h"
#include "analyzer/report/analyze.h"
#include "tests/unit/fixture.h"
#include "tests/unit/synth_job.h"

static const unsigned numbers[] = { 2, 4 };

/* ---- threads and memory that there are not (--wrap) ---- */

#define ALL INT_MAX

static struct {
	int threads;		    /* that may be created */
	_Atomic int own, of_others; /* allocations of the test's thread that succeed, and of those
				       that it created */
	_Atomic int refused, created;
} limits = { .threads = ALL, .own = ALL, .of_others = ALL };

static __thread int is_other;

struct start {
	void *(*run)(void *arg);
	void *arg;
};

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);

static void *start_other(void *arg)
{
	struct start start = *(struct start *)arg;

	free(arg);
	is_other = 1;
	return start.run(start.arg);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg)
{
	struct start *start;
	int st;

	if (limits.created >= limits.threads)
		return EAGAIN;
	start = __real_malloc(sizeof(*start));
	assert_non_null(start);
	*start = (struct start){ run, arg };
	st = __real_pthread_create(thread, attr, start_other, start);
	if (st)
		free(start);
	else
		limits.created++;
	return st;
}

static int is_refused(void)
{
	_Atomic int *left = is_other ? &limits.of_others : &limits.own;

	if (*left == ALL)
		return 0;
	if (*left > 0) {
		(*left)--;
		return 0;
	}
	limits.refused++;
	return 1;
}

void *__wrap_malloc(size_t size)
{
	return is_refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return is_refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return is_refused() ? NULL : __real_realloc(old, size);
}

static void lift_limits(void)
{
	limits.threads = ALL;
	limits.own = ALL;
	limits.of_others = ALL;
	limits.refused = limits.created = 0;
}

/* ---- reports ---- */

static void record(const struct ct_synth_options *o)
{
	struct ct_synth_outcome outcome;
	struct ct_err err = { 0 };
	int dirfd;

	fx_mkdir("run");
	dirfd = open(fx_path("run"), O_RDONLY | O_DIRECTORY);
	assert_true(dirfd >= 0);
	if (ct_synth_write(o, dirfd, &outcome, &err) != CT_OK)
		fail_msg("%s", err.text);
	close(dirfd);
	ct_synth_outcome_free(&outcome);
}

/* The report as text, to be freed; NULL: there was no memory for it. With these limits, which are
 * lifted afterwards. */
static char *report_within(unsigned threads, int own, int of_others)
{
	struct ct_analyze_options how = CT_ANALYZE_DEFAULTS;
	const char *path = fx_path("run");
	struct ct_report *report;
	struct ct_err err = { 0 };
	struct ct_run *run;
	json_t *json;
	char *text;
	int st;

	how.threads = threads;
	if (ct_run_open(&path, 1, NULL, &run, &err) != CT_OK)
		fail_msg("%s", err.text);
	limits.own = own;
	limits.of_others = of_others;
	st = ct_analyze(run, &how, &report, &err);
	limits.own = limits.of_others = ALL;
	if (st == CT_NOMEM) {
		assert_null(report);
		assert_string_equal(err.text, ct_status_text(CT_NOMEM));
		ct_run_close(run);
		return NULL;
	}
	if (st != CT_OK)
		fail_msg("%s", err.text);
	json = ct_report_json(report);
	text = json_dumps(json, JSON_INDENT(1));
	assert_non_null(text);
	json_decref(json);
	ct_report_free(report);
	ct_run_close(run);
	return text;
}

static char *report_by(unsigned threads)
{
	char *text = report_within(threads, ALL, ALL);

	assert_non_null(text);
	return text;
}

static void assert_same_report(void)
{
	char *alone = report_by(1);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char *shared = report_by(numbers[i]);

		assert_string_equal(shared, alone);
		free(shared);
	}
	free(alone);
}

static void add_fault(struct ct_synth_options *o, const char *text)
{
	char why[128];

	assert_int_equal(ct_fault_parse(text, &o->faults[o->job.n_faults++], why, sizeof(why)), 0);
	o->job.faults = o->faults;
}

static void it_is_for_hosts_whose_clocks_differ(void **state)
{
	struct ct_synth_options o = synth_job("megatron", 8, 4, 40);

	(void)state;
	o.job.tp = o.job.pp = o.job.dp = 2;
	o.offset_ms = 5;
	o.drift_ppm = 10;
	record(&o);
	assert_same_report();
}

static void it_is_for_a_slow_rank(void **state)
{
	struct ct_synth_options o = synth_job("ddp", 8, 1, 120);

	(void)state;
	add_fault(&o, "slow-rank:rank=5,pct=20");
	record(&o);
	assert_same_report();
}

/* Blocks of one process follow each other faster than threads are done with them. */
static void it_is_for_two_processes_of_many_blocks(void **state)
{
	struct ct_synth_options o = synth_job("ddp", 2, 1, 3000);

	(void)state;
	record(&o);
	assert_same_report();
}

/* In the middle of the file of one process. */
static void damage(void)
{
	uint8_t bytes[64];
	struct stat sb;
	glob_t files;
	int fd;

	assert_int_equal(glob(fx_path("run/*.seg"), 0, NULL, &files), 0);
	fd = open(files.gl_pathv[1], O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0 && fstat(fd, &sb) == 0);
	assert_int_equal(pread(fd, bytes, sizeof(bytes), sb.st_size / 2), sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] ^= 0x5a;
	assert_int_equal(pwrite(fd, bytes, sizeof(bytes), sb.st_size / 2), sizeof(bytes));
	close(fd);
	globfree(&files);
}

static void it_is_for_a_job_that_dies_and_files_that_are_damaged(void **state)
{
	struct ct_synth_options o = synth_job("moe", 8, 2, 60);

	(void)state;
	add_fault(&o, "exit:rank=3,op=200,code=1");
	add_fault(&o, "truncate:rank=6,keep=0.7");
	record(&o);
	damage();
	assert_same_report();
}

/* A job that takes as many blocks as threads can be busy with, in little time. */
static void record_small(void)
{
	struct ct_synth_options o = synth_job("megatron", 8, 2, 6);

	o.job.tp = o.job.pp = o.job.dp = 2;
	o.offset_ms = 5;
	record(&o);
}

static void it_is_where_threads_cannot_be_created(void **state)
{
	char *alone;

	(void)state;
	record_small();
	alone = report_by(1);
	for (int n = 0; n < 3; n++) {
		char *shared;

		limits.threads = n;
		limits.created = 0;
		shared = report_by(4);
		assert_int_equal(limits.created, n);
		assert_string_equal(shared, alone);
		free(shared);
	}
	lift_limits();
	free(alone);
}

/* The others have nothing to do if this thread is always faster, so it is tried until they were
 * refused something. */
static void it_is_where_other_threads_have_no_memory(void **state)
{
	static const int enough_for[] = { 0, 1, 2, 3, 5, 8, 13, 21, 34, 55 };
	int refused = 0;
	char *alone;

	(void)state;
	record_small();
	alone = report_by(1);
	for (int round = 0; round < 20 || !refused; round++) {
		char *shared = report_within(4, ALL, enough_for[round % 10]);

		assert_non_null(shared);
		assert_string_equal(shared, alone);
		free(shared);
		refused += limits.refused;
		limits.refused = 0;
	}
	lift_limits();
	free(alone);
}

/* Alone has no more, either: no report, and it is said why. */
static void want_of_memory_ends_it_with_any_number_of_threads(void **state)
{
	int refused = 1, enough_for = 0, reports = 0;
	char *alone;

	(void)state;
	record_small();
	alone = report_by(1);
	/* 1.4 times as much each time, so that every part of the way is tried */
	for (; refused; enough_for += enough_for / 3 + 1) {
		char *text = report_within(4, enough_for, enough_for);

		if (text) {
			assert_string_equal(text, alone);
			reports++;
		}
		free(text);
		refused = limits.refused;
		limits.refused = 0;
	}
	/* as soon as nothing is refused there is one */
	assert_true(reports > 0);
	free(alone);
	lift_limits();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_is_for_hosts_whose_clocks_differ, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(it_is_for_a_slow_rank, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(it_is_for_two_processes_of_many_blocks, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(it_is_for_a_job_that_dies_and_files_that_are_damaged,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(it_is_where_threads_cannot_be_created, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(it_is_where_other_threads_have_no_memory, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(want_of_memory_ends_it_with_any_number_of_threads,
						fx_setup, fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
