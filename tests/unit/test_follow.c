/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a job while it is being written: in pieces, with the same result as a reading of the
 * whole. */
#include "tests/unit/fixture_run.h"
#include "tests/unit/job.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/stream/follow.h"

#define MS 1000000ull
#define SOON_NS 1000000000ull

static struct ct_follow *follow(struct ct_run *run, struct ct_starts *starts)
{
	const struct ct_stream_options options = { 0 };
	struct ct_follow *f;
	struct ct_err err = { .text = "" };

	assert_int_equal(ct_starts_find(run, starts), CT_OK);
	assert_int_equal(ct_follow_open(run, starts, &options, NULL, &f, &err), CT_OK);
	return f;
}

static enum ct_follow_state more(struct ct_follow *f)
{
	enum ct_follow_state state;
	struct ct_err err = { .text = "" };

	assert_int_equal(ct_follow_read(f, SOON_NS, &state, &err), CT_OK);
	return state;
}

static uint64_t waited(const struct ct_model *model)
{
	uint64_t sum = 0;

	for (uint32_t s = 0; s < model->n_slots; s++)
		sum += model->slots[s].waited.total;
	return sum;
}

/* Rank 1 comes 3 ms late to each. */
static void put_round(struct job *job, int n)
{
	uint64_t at = (uint64_t)n * 20 * MS;

	job_collective(job, 0, CT_OP_AllReduce, 1000, at, at + 5 * MS);
	job_collective(job, 1, CT_OP_AllReduce, 1000, at + 3 * MS, at + 5 * MS);
}

static void what_is_appended_is_read_once(void **state)
{
	const struct job_options o = { .run = "run", .ranks = 2, .alive = 1 };
	struct ct_starts starts = { 0 };
	struct ct_model *model;
	struct ct_follow *f;
	struct ct_run *run;
	struct job job;

	(void)state;
	job_open(&job, &o);
	for (int n = 0; n < 10; n++)
		put_round(&job, n);
	job_flush(&job, 0);
	job_flush(&job, 1);
	run = fx_open_run("run");
	f = follow(run, &starts);
	model = &ct_follow_stream(f)->model;
	assert_int_equal(more(f), CT_FOLLOW_LATEST);
	assert_int_equal(model->ops, 20);
	assert_int_equal(waited(model) / MS, 10 * 3);
	assert_int_equal(more(f), CT_FOLLOW_LATEST);
	assert_int_equal(model->ops, 20);
	/* one rank's part of the next ones comes first, and waits for the other's */
	for (int n = 10; n < 20; n++)
		put_round(&job, n);
	job_flush(&job, 1);
	assert_int_equal(more(f), CT_FOLLOW_LATEST);
	assert_int_equal(model->ops, 30);
	assert_int_equal(waited(model) / MS, 10 * 3);
	job_flush(&job, 0);
	assert_int_equal(more(f), CT_FOLLOW_LATEST);
	assert_int_equal(model->ops, 40);
	assert_int_equal(waited(model) / MS, 20 * 3);
	/* a next segment */
	fx_next_segment(&job.writers[0]);
	for (int n = 20; n < 30; n++)
		put_round(&job, n);
	job_flush(&job, 0);
	job_flush(&job, 1);
	assert_int_equal(more(f), CT_FOLLOW_LATEST);
	assert_int_equal(model->ops, 60);
	assert_int_equal(waited(model) / MS, 30 * 3);
	ct_follow_close(f);
	ct_starts_fini(&starts);
	ct_run_close(run);
	job_close(&job, 0);
}

static void half_a_block_is_waited_for(void **state)
{
	const struct job_options o = { .run = "run", .ranks = 2, .alive = 1 };
	struct ct_starts starts = { 0 };
	struct ct_follow *f;
	struct ct_run *run;
	struct job job;
	char path[300];
	size_t bytes;
	char *data;

	(void)state;
	job_open(&job, &o);
	for (int n = 0; n < 10; n++)
		put_round(&job, n);
	job_flush(&job, 0);
	job_flush(&job, 1);
	fx_segment_path(path, "run", &job.ids[0], 0);
	data = fx_read(path, &bytes);
	/* all cuts of the file, from its header on; the rest of it comes later */
	for (size_t cut = sizeof(struct ct_segment_header); cut < bytes; cut += 37) {
		fx_write(path, data, cut);
		run = fx_open_run("run");
		f = follow(run, &starts);
		assert_int_equal(more(f), CT_FOLLOW_LATEST);
		fx_write(path, data, bytes);
		assert_int_equal(more(f), CT_FOLLOW_LATEST);
		assert_int_equal(ct_follow_stream(f)->model.ops, 20);
		assert_int_equal(ct_load_gaps(ct_follow_load(f, 0))->damage.torn_bytes, 0);
		ct_follow_close(f);
		ct_starts_fini(&starts);
		ct_run_close(run);
	}
	free(data);
	job_close(&job, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_appended_is_read_once, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(half_a_block_is_waited_for, fx_setup, fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
