/* SPDX-License-Identifier: Apache-2.0 */
/* Where the part on record of a run begins, of which earlier operations were left out. */
#include "analyzer/report/window.h"
#include "tests/unit/job.h"

#define RANKS 2
#define S 1000000000ull

/* As the tool that makes parts does it. */
static void leave_out(struct ct_block *block, uint64_t begin_ns)
{
	block->is_left_out = 1;
	block->skimmed_ops = block->n_ops;
	block->begin_ns = begin_ns;
	block->end_ns = begin_ns + S / 2;
	block->n_ops = block->n_extents = 0;
}

/* Blocks of a second, the first `left_out` of them without their operations. With `has_facts` the
 * others hold more than operations. */
static void make(int left_out, int has_facts)
{
	const struct job_options options = { .run = "run", .ranks = RANKS, .block_ops = 100000 };
	const char fact[] = "cpu.waited_ppm=1";
	struct job job;

	job_open(&job, &options);
	for (int k = 0; k < 10; k++) {
		const uint64_t at = (uint64_t)(k + 1) * S;

		for (int r = 0; r < RANKS; r++) {
			job_flush(&job, r);
			for (int i = 0; i < 10; i++)
				job_collective(&job, r, CT_OP_AllReduce, 1000,
					       at + (uint64_t)i * S / 20,
					       at + (uint64_t)i * S / 20 + S / 100);
			if (k < left_out)
				leave_out(&job.writers[r].block, job.clock[r] + at);
			else if (has_facts)
				job_rare(&job, r, CT_KIND_ENV, fact, sizeof(fact) - 1);
			job_flush(&job, r);
		}
	}
	job_close(&job, 12 * S);
}

static struct ct_window find(struct ct_run **run)
{
	const char *path = fx_path("run");
	struct ct_starts starts = { 0 };
	struct ct_window window;

	assert_int_equal(ct_run_open(&path, 1, NULL, run, NULL), CT_OK);
	assert_int_equal(ct_starts_find(*run, &starts), CT_OK);
	assert_int_equal(ct_window_find(*run, &starts, 0, 0, &window, NULL), CT_OK);
	ct_starts_fini(&starts);
	return window;
}

static void hold(int has_facts)
{
	struct ct_window window;
	struct ct_run *run;

	make(6, has_facts);
	window = find(&run);
	/* behind the sixth second, and a quarter of the rest */
	assert_in_range(window.from_ns, 7 * S, 10 * S);
	for (size_t p = 0; p < RANKS; p++)
		assert_in_range(window.from[p], 6, 9);
	ct_window_fini(&window);
	ct_run_close(run);
}

static void the_window_begins_behind_what_was_left_out(void **state)
{
	(void)state;
	hold(0);
}

/* Then a reader that skips operations returns the rest of a block that was left out behind all
 * others. */
static void facts_in_each_block_that_is_kept_change_nothing(void **state)
{
	(void)state;
	hold(1);
}

static void without_anything_left_out_it_is_all_of_the_run(void **state)
{
	struct ct_window window;
	struct ct_run *run;

	(void)state;
	make(0, 1);
	window = find(&run);
	assert_int_equal(window.from_ns, 0);
	for (size_t p = 0; p < RANKS; p++)
		assert_int_equal(window.from[p], 0);
	ct_window_fini(&window);
	ct_run_close(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_window_begins_behind_what_was_left_out,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(facts_in_each_block_that_is_kept_change_nothing,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(without_anything_left_out_it_is_all_of_the_run,
						fx_setup, fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
