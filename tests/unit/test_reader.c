/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: which files belong to one, each record once, and what is missing reported. */
#include "tests/unit/fixture.h"
#include "tests/unit/fixture_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which files are a run
 * --------------------------------------------------------------------------- */

static void processes_come_by_host_rank_and_start(void **state)
{
	struct ct_process p;
	struct fx_writer w;
	struct ct_run *run;

	(void)state;
	fx_mkdir("run");
	fx_put_process(2, "run");
	fx_put_process(0, "run");
	p = fx_process(1, "run");
	strcpy(p.host, "a-host");
	fx_open(&w, &p, "run");
	fx_next_segment(&w);
	fx_close(&w);
	run = fx_open_run("run/");
	assert_int_equal(run->n_processes, 3);
	assert_int_equal(run->n_warnings, 0);
	assert_int_equal(run->processes[0].id.rank, 1);
	assert_int_equal(run->processes[1].id.rank, 0);
	assert_int_equal(run->processes[2].id.rank, 2);
	assert_int_equal(run->processes[2].n_segments, 1);
	assert_true(run->processes[2].segment_bytes > sizeof(struct ct_segment_header));
	assert_int_equal(fx_read_ops(run, 0, NULL), 0);
	assert_int_equal(fx_read_ops(run, 1, NULL), fx_bits(0, 20));
	assert_int_equal(fx_read_ops(run, 2, NULL), fx_bits(0, 20));
	ct_run_close(run);
}

static void several_paths_are_one_run(void **state)
{
	struct ct_run *run;

	(void)state;
	fx_mkdir("a");
	fx_mkdir("b");
	fx_put_process(0, "a");
	fx_put_process(1, "b");
	run = fx_open_runs("a", "b", NULL);
	assert_int_equal(run->n_processes, 2);
	ct_run_close(run);
	run = fx_open_runs("a", "a/", NULL);
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(run->n_warnings, 0);
	assert_int_equal(fx_read_ops(run, 0, NULL), fx_bits(0, 20));
	ct_run_close(run);
}

static void a_single_file_is_a_run(void **state)
{
	struct ct_process p;
	struct ct_run *run;
	char path[300];

	(void)state;
	fx_mkdir("run");
	p = fx_put_process(0, "run");
	fx_put_process(1, "run");
	fx_segment_path(path, "run", &p, 0);
	run = fx_open_run(path);
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(fx_read_ops(run, 0, NULL), fx_bits(0, 20));
	ct_run_close(run);
	assert_int_equal(rename(fx_path(path), fx_path("renamed")), 0);
	run = fx_open_run("renamed"); /* what it is, not what it is called */
	assert_int_equal(run->n_processes, 1);
	ct_run_close(run);
}

static void a_copied_segment_is_read_once_the_longer_one(void **state)
{
	struct ct_process p;
	struct ct_gaps gaps;
	struct ct_run *run;
	char path[300];
	size_t bytes;
	char *data;

	(void)state;
	fx_mkdir("run");
	fx_mkdir("copy");
	p = fx_put_process(0, "run");
	fx_segment_path(path, "run", &p, 0);
	data = fx_read(path, &bytes);
	fx_write("copy/early.seg", data, bytes - 30);
	free(data);
	run = fx_open_runs("copy", "run", NULL);
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(run->processes[0].n_segments, 1);
	assert_int_equal(run->n_warnings, 1);
	assert_true(fx_has_warning(run, "copy/early.seg", "read once"));
	assert_int_equal(fx_read_ops(run, 0, &gaps), fx_bits(0, 20));
	assert_int_equal(gaps.damage.torn_bytes, 0);
	ct_run_close(run);
}

static void two_jobs_in_one_directory_are_named(void **state)
{
	struct ct_process p;
	struct fx_writer w;
	struct ct_run *run;

	(void)state;
	fx_mkdir("run");
	fx_put_process(0, "run");
	fx_put_process(1, "run");
	for (int rank = 2; rank < 4; rank++) {
		p = fx_process(rank, "run");
		strcpy(p.job, "job-2");
		fx_open(&w, &p, "run");
		fx_next_segment(&w);
		fx_close(&w);
	}
	run = fx_open_run("run");
	assert_int_equal(run->n_processes, 4);
	assert_int_equal(run->n_warnings, 1);
	assert_true(fx_has_warning(run, "\"job-1\"", "\"job-2\""));
	ct_run_close(run);
}

static void what_is_not_ours_is_named_and_the_rest_is_read(void **state)
{
	struct ct_run *run;
	struct ct_process p;
	char path[300];
	size_t bytes;
	char *data;

	(void)state;
	fx_mkdir("run");
	fx_put_process(0, "run");
	fx_write("run/foreign.seg", "hello, this is not a segment", 28);
	fx_write("run/empty.seg", "", 0);
	fx_mkdir("run/dir.seg");
	assert_int_equal(mkfifo(fx_path("run/fifo.seg"), 0600), 0);
	assert_int_equal(mkfifo(fx_path("run/fifo.ring.zst"), 0600), 0);
	assert_int_equal(symlink("loop.seg", fx_path("run/loop.seg")), 0);
	fx_write("run/foreign.ring", "x", 1);
	fx_write("run/notes.txt", "not asked", 9);
	p = fx_put_process(1, "run");
	fx_segment_path(path, "run", &p, 0);
	data = fx_read(path, &bytes);
	((struct ct_segment_header *)(void *)data)->version = 9;
	fx_write("run/newer.seg", data, bytes);
	free(data);
	run = fx_open_run("run");
	assert_int_equal(run->n_processes, 2);
	assert_int_equal(run->n_warnings, 8);
	assert_true(fx_has_warning(run, "run/foreign.seg", "offset 0: not a commtrace segment"));
	assert_true(fx_has_warning(run, "run/empty.seg", "empty file"));
	assert_true(fx_has_warning(run, "run/dir.seg", "not a regular file"));
	assert_true(fx_has_warning(run, "run/fifo.seg", "not a regular file"));
	assert_true(fx_has_warning(run, "run/loop.seg", "symbolic links"));
	assert_true(fx_has_warning(run, "run/newer.seg",
				   "made by a newer version of commtrace (format 9"));
	assert_true(fx_has_warning(run, "run/foreign.ring", "too short"));
	assert_int_equal(fx_read_ops(run, 0, NULL), fx_bits(0, 20));
	ct_run_close(run);
}

static void a_segment_that_is_just_being_made_is_no_news(void **state)
{
	struct ct_process p;
	struct ct_run *run;
	char path[300];

	(void)state;
	fx_mkdir("run");
	p = fx_put_process(0, "run");
	fx_segment_path(path, "run", &p, 1);
	fx_write(path, "", 0);
	run = fx_open_run("run");
	assert_int_equal(run->n_warnings, 0);
	assert_int_equal(fx_read_ops(run, 0, NULL), fx_bits(0, 20));
	ct_run_close(run);
	fx_segment_path(path, "run", &p, 7); /* but this is */
	fx_write(path, "1CT", 3);
	run = fx_open_run("run");
	assert_int_equal(run->n_warnings, 1);
	assert_true(fx_has_warning(run, ".7.seg", "ends within the segment header"));
	ct_run_close(run);
}

static void nothing_to_read_says_why(void **state)
{
	const char *path = fx_path("run");
	struct ct_run *run;
	struct ct_err err;

	(void)state;
	assert_int_equal(ct_run_open(&path, 1, NULL, &run, &err), CT_IO);
	assert_non_null(strstr(err.text, "run: No such file"));
	fx_mkdir("run");
	assert_int_equal(ct_run_open(&path, 1, NULL, &run, &err), CT_EMPTY);
	assert_null(run);
	fx_write("run/x.seg", "garbage", 7);
	assert_int_equal(ct_run_open(&path, 1, NULL, &run, &err), CT_FORMAT);
	assert_non_null(strstr(err.text, "run/x.seg: offset 7"));
	path = fx_path("run/x.seg");
	assert_int_equal(ct_run_open(&path, 1, NULL, &run, &err), CT_FORMAT);
	assert_int_equal(ct_run_open(NULL, 0, NULL, &run, &err), CT_EMPTY);
}

/* ---- gaps
 * -------------------------------------------------------------------------------------------- */

/* Five segments of one block of 10 ops each; the last block shows `lost` records trimmed. */
static struct ct_process put_segments(uint64_t lost)
{
	struct ct_process p;
	struct ct_loss_rec loss = { .reason = CT_LOSS_MAX_BYTES, .records = lost };
	struct fx_writer w;

	fx_mkdir("run");
	p = fx_process(0, "run");
	fx_open(&w, &p, "run");
	for (uint32_t i = 0; i < 5; i++) {
		fx_next_segment(&w);
		fx_ops(&w, 1, 10 * i, 10 * i, 10);
	}
	if (lost) {
		fx_begin(&w, CT_BLOCK_STATUS);
		assert_int_equal(ct_block_add_rare(&w.block, CT_KIND_LOSS, &loss, sizeof(loss)),
				 CT_OK);
		fx_commit(&w);
	}
	fx_close(&w);
	return p;
}

static void drop_segment(const struct ct_process *p, uint32_t number)
{
	char path[300];

	fx_segment_path(path, "run", p, number);
	assert_int_equal(unlink(fx_path(path)), 0);
}

static void a_missing_segment_is_a_gap_in_the_block_numbers(void **state)
{
	struct ct_process p = put_segments(0);
	struct ct_gaps gaps;
	struct ct_run *run;

	(void)state;
	drop_segment(&p, 0);
	drop_segment(&p, 2);
	run = fx_open_run("run");
	assert_int_equal(fx_read_ops(run, 0, &gaps), fx_bits(10, 20) | fx_bits(30, 50));
	assert_int_equal(gaps.missing_blocks, 2);
	ct_run_close(run);
}

static void trimmed_segments_are_a_loss_and_no_gap(void **state)
{
	struct ct_process p = put_segments(10);
	struct ct_gaps gaps;
	struct ct_run *run;

	(void)state;
	drop_segment(&p, 0);
	drop_segment(&p, 2);
	run = fx_open_run("run");
	assert_int_equal(fx_read_ops(run, 0, &gaps), fx_bits(10, 20) | fx_bits(30, 50));
	assert_int_equal(gaps.missing_blocks, 1);
	assert_int_equal(gaps.losses[CT_LOSS_MAX_BYTES], 10);
	ct_run_close(run);
}

static void damage_is_counted_and_named(void **state)
{
	struct ct_process p;
	struct ct_gaps gaps;
	struct ct_run *run;
	char path[300];
	size_t bytes;
	char *data;

	(void)state;
	fx_mkdir("run");
	p = fx_put_process(0, "run");
	fx_segment_path(path, "run", &p, 0);
	data = fx_read(path, &bytes);
	data[sizeof(struct ct_segment_header) + 70] ^= 1; /* content of the first block */
	fx_write(path, data, bytes - 1);
	free(data);
	run = fx_open_run("run");
	assert_int_equal(fx_read_ops(run, 0, &gaps), 0);
	assert_int_equal(gaps.damage.damaged_blocks, 1);
	assert_true(gaps.damage.skipped_bytes > 64);
	assert_true(gaps.damage.torn_bytes > 64);
	assert_int_equal(gaps.damage.first_at, sizeof(struct ct_segment_header));
	assert_non_null(
		strstr(gaps.damage.first_why, ".seg: offset 1280: block content is damaged"));
	ct_run_close(run);
}

static void a_segment_that_goes_away_or_bad_after_opening_is_no_crash(void **state)
{
	struct ct_process p = put_segments(0);
	struct ct_gaps gaps;
	struct ct_run *run;
	char path[300];

	(void)state;
	run = fx_open_run("run");
	drop_segment(&p, 1);
	fx_segment_path(path, "run", &p, 3);
	fx_write(path, "now something else", 18);
	assert_int_equal(fx_read_ops(run, 0, &gaps),
			 fx_bits(0, 10) | fx_bits(20, 30) | fx_bits(40, 50));
	assert_int_equal(gaps.missing_blocks, 2);
	assert_non_null(strstr(gaps.damage.first_why, ".3.seg: offset 0"));
	ct_run_close(run);
}

static void a_block_that_comes_twice_counts_once(void **state)
{
	struct ct_process p;
	struct ct_gaps gaps;
	struct fx_writer w;
	struct ct_run *run;

	(void)state;
	fx_mkdir("run");
	p = fx_process(0, "run");
	fx_open(&w, &p, "run");
	fx_next_segment(&w);
	fx_ops(&w, 1, 0, 0, 10);
	w.number = 0;
	fx_ops(&w, 1, 0, 0, 10);
	fx_ops(&w, 1, 10, 10, 10);
	fx_close(&w);
	run = fx_open_run("run");
	assert_int_equal(fx_read_ops(run, 0, &gaps), fx_bits(0, 20));
	assert_int_equal(gaps.damage.damaged_blocks, 1);
	assert_int_equal(gaps.missing_blocks, 0);
	ct_run_close(run);
}

static void shorter_and_longer_payloads_are_read(void **state)
{
	struct ct_block block = { 0 };
	struct ct_status_rec rec;

	(void)state;
	ct_block_reset(&block, CT_BLOCK_DATA);
	assert_int_equal(ct_block_add_rare(&block, CT_KIND_STATUS, "\1\0\0\0\0\0\0\0\2", 9), CT_OK);
	memset(&rec, 0xff, sizeof(rec));
	ct_rare_get(&block, &block.rares[0], &rec, sizeof(rec));
	assert_int_equal(rec.beat_ns, 1);
	assert_int_equal(rec.flushed_ns, 2);
	ct_rare_get(&block, &block.rares[0], &rec, 4);
	assert_int_equal(rec.beat_ns, 1);
	block.rares[0].at = 1000; /* never past the end, whatever it says */
	ct_rare_get(&block, &block.rares[0], &rec, sizeof(rec));
	assert_int_equal(rec.beat_ns, 0);
	ct_block_fini(&block);
}

static void readers_that_share_a_decoding_read_by_turns(void **state)
{
	struct ct_decoding *decoding = ct_decoding_new();
	struct ct_process_reader *readers[2];
	uint64_t next[2] = { 0, 0 };
	struct ct_run *run;
	int going = 2;

	(void)state;
	assert_non_null(decoding);
	fx_mkdir("run");
	fx_put_process(0, "run");
	fx_put_process(1, "run");
	run = fx_open_run("run");
	for (size_t p = 0; p < 2; p++)
		assert_int_equal(ct_process_open_in(run, p, decoding, &readers[p], NULL), CT_OK);
	for (int turn = 0; going; turn = !turn) {
		const struct ct_block *block;
		int st = ct_process_next(readers[turn], &block, NULL);

		assert_true(st >= 0);
		going -= !st;
		for (uint32_t i = 0; st && i < block->n_ops; i++)
			fx_assert_op(&block->ops[i], next[turn]++);
	}
	for (size_t p = 0; p < 2; p++) {
		assert_int_equal(next[p], 20);
		ct_process_close(readers[p]);
	}
	ct_run_close(run);
	ct_decoding_free(decoding);
}

#define READER_TEST(f) cmocka_unit_test_setup_teardown(f, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		READER_TEST(processes_come_by_host_rank_and_start),
		READER_TEST(several_paths_are_one_run),
		READER_TEST(a_single_file_is_a_run),
		READER_TEST(a_copied_segment_is_read_once_the_longer_one),
		READER_TEST(two_jobs_in_one_directory_are_named),
		READER_TEST(what_is_not_ours_is_named_and_the_rest_is_read),
		READER_TEST(a_segment_that_is_just_being_made_is_no_news),
		READER_TEST(nothing_to_read_says_why),
		READER_TEST(a_missing_segment_is_a_gap_in_the_block_numbers),
		READER_TEST(trimmed_segments_are_a_loss_and_no_gap),
		READER_TEST(damage_is_counted_and_named),
		READER_TEST(a_segment_that_goes_away_or_bad_after_opening_is_no_crash),
		READER_TEST(a_block_that_comes_twice_counts_once),
		READER_TEST(readers_that_share_a_decoding_read_by_turns),
		READER_TEST(shorter_and_longer_payloads_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
