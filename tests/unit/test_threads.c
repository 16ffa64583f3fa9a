/* SPDX-License-Identifier: Apache-2.0 */
/* However many threads share an analysis, the report is the same, to the last byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/render/render.h"
#include "analyzer/report/analyze.h"
#include "tests/unit/fixture.h"
#include "tests/unit/synth_job.h"

static const unsigned numbers[] = { 2, 4 };

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

/* The report as text, to be freed. */
static char *report_by(unsigned threads)
{
	struct ct_analyze_options how = CT_ANALYZE_DEFAULTS;
	const char *path = fx_path("run");
	struct ct_report *report;
	struct ct_err err = { 0 };
	struct ct_run *run;
	json_t *json;
	char *text;

	how.threads = threads;
	if (ct_run_open(&path, 1, NULL, &run, &err) != CT_OK ||
	    ct_analyze(run, &how, &report, &err) != CT_OK)
		fail_msg("%s", err.text);
	json = ct_report_json(report);
	text = json_dumps(json, JSON_INDENT(1));
	assert_non_null(text);
	json_decref(json);
	ct_report_free(report);
	ct_run_close(run);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_is_for_hosts_whose_clocks_differ, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(it_is_for_a_slow_rank, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(it_is_for_a_job_that_dies_and_files_that_are_damaged,
						fx_setup, fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
