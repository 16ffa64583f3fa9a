/* SPDX-License-Identifier: Apache-2.0 */
/* What one process reported, put together. */
#include "tests/unit/job.h"

#include "analyzer/load/load.h"

static int keep_comm(void *arg, struct ct_load_comm *comm)
{
	*(struct ct_load_comm **)arg = comm;
	return 0;
}

static int no_op(void *arg, const struct ct_load_op *op)
{
	(void)arg;
	(void)op;
	return 0;
}

/* Process 0 of "run", read to its end. */
struct loaded {
	struct ct_op_names names;
	struct ct_run *run;
	struct ct_load *load;
};

static void load_all(struct loaded *l, const struct ct_load_sink *sink)
{
	const char *path = fx_path("run");

	l->names = (struct ct_op_names){ .memory = ct_arena_new() };
	assert_int_equal(ct_run_open(&path, 1, NULL, &l->run, NULL), CT_OK);
	assert_int_equal(ct_load_open(l->run, 0, sink, &l->names, &l->load, NULL), CT_OK);
	while (ct_load_next(l->load, NULL) == 1)
		;
}

static void loaded_close(struct loaded *l)
{
	ct_load_close(l->load);
	ct_run_close(l->run);
	ct_arena_free(l->names.memory);
}

/* As the ring does, which is copied before the segments are read and handed out behind them. */
static void what_has_ended_stays_so_when_older_news_come_last(void **state)
{
	const struct job_options options = { .run = "run", .ranks = 1 };
	struct ct_comm_rec rec = { .id = 2, .nranks = 1, .key = 5, .ended_ns = 700 };
	struct ct_load_comm *comm = NULL;
	const struct ct_load_sink sink = { .op = no_op, .comm = keep_comm, .arg = &comm };
	struct loaded loaded;
	struct job job;

	(void)state;
	job_open(&job, &options);
	job_rare(&job, 0, CT_KIND_COMM, &rec, sizeof(rec));
	rec.ended_ns = 0;
	job_rare(&job, 0, CT_KIND_COMM, &rec, sizeof(rec));
	job_close(&job, 1000);
	load_all(&loaded, &sink);
	assert_non_null(comm);
	assert_int_equal(comm->rec.id, 2);
	assert_int_equal(comm->rec.ended_ns, 700);
	loaded_close(&loaded);
}

static int count_host(void *arg, const struct ct_host_rec *rec, const char *call, const char *site)
{
	(void)rec;
	(void)call;
	(void)site;
	++*(int *)arg;
	return 0;
}

static void times_that_no_clock_shows_are_left_out(void **state)
{
	const struct job_options options = { .run = "run", .ranks = 1 };
	struct ct_host_rec rec = { .enter_ns = 500, .return_ns = 600, .tid = 1 };
	int calls = 0;
	const struct ct_load_sink sink = { .op = no_op, .host = count_host, .arg = &calls };
	struct loaded loaded;
	struct job job;

	(void)state;
	job_open(&job, &options);
	job_rare(&job, 0, CT_KIND_HOST_END, &rec, sizeof(rec));
	rec.enter_ns = UINT64_MAX;
	job_rare(&job, 0, CT_KIND_HOST_BEGIN, &rec, sizeof(rec));
	rec = (struct ct_host_rec){ .enter_ns = 700, .return_ns = 1ull << 63, .tid = 1 };
	job_rare(&job, 0, CT_KIND_HOST_END, &rec, sizeof(rec));
	job_close(&job, 1000);
	load_all(&loaded, &sink);
	assert_int_equal(calls, 1);
	loaded_close(&loaded);
}

static int see_error(void *arg, const struct ct_error_rec *rec, const char *call, const char *text)
{
	int *seen = arg;

	assert_int_equal(rec->result, 6);
	assert_int_equal(rec->comm, 3);
	assert_string_equal(call, "ncclCommGetAsyncError");
	assert_string_equal(text, "remote error");
	++*seen;
	return 0;
}

static void an_error_comes_with_the_names_that_its_record_refers_to(void **state)
{
	const struct job_options options = { .run = "run", .ranks = 1 };
	struct ct_error_rec rec = {
		.reported_ns = 500, .result = 6, .comm = 3, .call = 70, .text = 71
	};
	static const char call[] = "\106\0\0\0ncclCommGetAsyncError",
			  text[] = "\107\0\0\0remote error";
	int seen = 0;
	const struct ct_load_sink sink = { .op = no_op, .error = see_error, .arg = &seen };
	struct loaded loaded;
	struct job job;

	(void)state;
	job_open(&job, &options);
	job_rare(&job, 0, CT_KIND_ERROR, &rec, sizeof(rec));
	job_rare(&job, 0, CT_KIND_STRING, call, sizeof(call) - 1);
	job_rare(&job, 0, CT_KIND_STRING, text, sizeof(text) - 1);
	rec.reported_ns = UINT64_MAX; /* no clock shows that */
	job_rare(&job, 0, CT_KIND_ERROR, &rec, sizeof(rec));
	job_close(&job, 1000);
	load_all(&loaded, &sink);
	assert_int_equal(seen, 1);
	loaded_close(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_has_ended_stays_so_when_older_news_come_last,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(
			an_error_comes_with_the_names_that_its_record_refers_to, fx_setup,
			fx_teardown),
		cmocka_unit_test_setup_teardown(times_that_no_clock_shows_are_left_out, fx_setup,
						fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
