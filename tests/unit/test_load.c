/* SPDX-License-Identifier: Apache-2.0 */
/* What one process told, put together. */
#include "tests/unit/job.h"

#include "analyzer/load.h"

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

/* As the ring does, which is copied before the segments are read and handed out behind them. */
static void what_has_ended_stays_so_when_older_news_come_last(void **state)
{
	const struct job_options options = { .run = "run", .ranks = 1 };
	struct ct_comm_rec rec = { .id = 2, .nranks = 1, .key = 5, .ended_ns = 700 };
	struct ct_op_names names = { .memory = ct_arena_new() };
	struct ct_load_comm *comm = NULL;
	const struct ct_load_sink sink = { .op = no_op, .comm = keep_comm, .arg = &comm };
	struct ct_load *load;
	struct ct_run *run;
	struct job job;
	const char *path;

	(void)state;
	job_open(&job, &options);
	job_rare(&job, 0, CT_KIND_COMM, &rec, sizeof(rec));
	rec.ended_ns = 0;
	job_rare(&job, 0, CT_KIND_COMM, &rec, sizeof(rec));
	job_close(&job, 1000);
	path = fx_path("run");
	assert_int_equal(ct_run_open(&path, 1, NULL, &run, NULL), CT_OK);
	assert_int_equal(ct_load_open(run, 0, &sink, &names, &load, NULL), CT_OK);
	while (ct_load_next(load, NULL) == 1)
		;
	assert_non_null(comm);
	assert_int_equal(comm->rec.id, 2);
	assert_int_equal(comm->rec.ended_ns, 700);
	ct_load_close(load);
	ct_run_close(run);
	ct_arena_free(names.memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_has_ended_stays_so_when_older_news_come_last,
						fx_setup, fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
