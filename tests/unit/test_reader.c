/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: segments and rings put together per process, each record once, and what is missing told. */
#include "tests/unit/fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/drain.h"
#include "trace/reader.h"
#include "trace/ring_dir.h"

static struct ct_run *open_run_with(const char *a, const char *b, const char *rings)
{
	const char *paths[2] = { fx_path(a), b ? fx_path(b) : NULL };
	const char *dirs[2] = { rings ? fx_path(rings) : NULL, NULL };
	struct ct_run_options options = { .ring_dirs = rings ? dirs : NULL };
	struct ct_err err = { 0 };
	struct ct_run *run;

	if (ct_run_open(paths, b ? 2 : 1, &options, &run, &err) != CT_OK)
		fail_msg("%s", err.text);
	return run;
}

static struct ct_run *open_run(const char *a)
{
	return open_run_with(a, NULL, NULL);
}

static int has_warning(const struct ct_run *run, const char *a, const char *b)
{
	for (size_t i = 0; i < run->n_warnings; i++)
		if (strstr(run->warnings[i], a) && strstr(run->warnings[i], b))
			return 1;
	return 0;
}

/* Read a process: bit n of the result for each op n < 64 that came, failing if one comes twice. */
static uint64_t read_ops(const struct ct_run *run, size_t index, struct ct_gaps *gaps)
{
	struct ct_process_reader *r;
	const struct ct_block *block;
	struct ct_err err = { 0 };
	uint64_t seen = 0;
	int st;

	assert_int_equal(ct_process_open(run, index, &r, &err), CT_OK);
	while ((st = ct_process_next(r, &block, &err)) == 1) {
		for (uint32_t i = 0; i < block->n_ops; i++) {
			uint64_t n = block->ops[i].seq;

			assert_true(n < 64);
			assert_int_equal(seen >> n & 1, 0);
			seen |= 1ull << n;
			if (!(block->ops[i].flags & CT_OP_UNRETURNED))
				fx_assert_op(&block->ops[i], n);
		}
	}
	assert_int_equal(st, 0);
	assert_int_equal(ct_process_next(r, &block, &err), 0);
	if (gaps)
		*gaps = *ct_process_gaps(r);
	ct_process_close(r);
	return seen;
}

static uint64_t bits(int from, int to)
{
	uint64_t all = 0;

	for (int i = from; i < to; i++)
		all |= 1ull << i;
	return all;
}

/* A process with one segment of two blocks (ops 0..19) in run directory `run`. */
static struct ct_process put_process(int rank, const char *run)
{
	struct ct_process p = fx_process(rank, run);
	struct fx_writer w;

	fx_open(&w, &p, run);
	fx_next_segment(&w);
	fx_ops(&w, 1, 0, 0, 10);
	fx_ops(&w, 1, 10, 10, 10);
	fx_close(&w);
	return p;
}

/* The files are looked for by what they end in, so a test can reach into a run. */
static void segment_path(char *to, const char *run, const struct ct_process *p, uint32_t number)
{
	char name[CT_SEGMENT_NAME_MAX];

	ct_segment_name(name, p, number);
	strcpy(to, run);
	strcat(to, "/");
	strcat(to, name);
}

/* ---- which files are a run --------------------------------------------------------------------------- */

static void processes_come_by_host_rank_and_start(void **state)
{
	struct ct_process p;
	struct fx_writer w;
	struct ct_run *run;

	(void)state;
	fx_mkdir("run");
	put_process(2, "run");
	put_process(0, "run");
	p = fx_process(1, "run");
	strcpy(p.host, "a-host");
	fx_open(&w, &p, "run");
	fx_next_segment(&w);
	fx_close(&w);
	run = open_run("run/");
	assert_int_equal(run->n_processes, 3);
	assert_int_equal(run->n_warnings, 0);
	assert_int_equal(run->processes[0].id.rank, 1);
	assert_int_equal(run->processes[1].id.rank, 0);
	assert_int_equal(run->processes[2].id.rank, 2);
	assert_int_equal(run->processes[2].n_segments, 1);
	assert_true(run->processes[2].segment_bytes > sizeof(struct ct_segment_header));
	assert_int_equal(read_ops(run, 0, NULL), 0);
	assert_int_equal(read_ops(run, 1, NULL), bits(0, 20));
	assert_int_equal(read_ops(run, 2, NULL), bits(0, 20));
	ct_run_close(run);
}

static void several_paths_are_one_run(void **state)
{
	struct ct_run *run;

	(void)state;
	fx_mkdir("a");
	fx_mkdir("b");
	put_process(0, "a");
	put_process(1, "b");
	run = open_run_with("a", "b", NULL);
	assert_int_equal(run->n_processes, 2);
	ct_run_close(run);
	run = open_run_with("a", "a/", NULL);
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(run->n_warnings, 0);
	assert_int_equal(read_ops(run, 0, NULL), bits(0, 20));
	ct_run_close(run);
}

static void a_single_file_is_a_run(void **state)
{
	struct ct_process p;
	struct ct_run *run;
	char path[300];

	(void)state;
	fx_mkdir("run");
	p = put_process(0, "run");
	put_process(1, "run");
	segment_path(path, "run", &p, 0);
	run = open_run(path);
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(read_ops(run, 0, NULL), bits(0, 20));
	ct_run_close(run);
	assert_int_equal(rename(fx_path(path), fx_path("renamed")), 0);
	run = open_run("renamed"); /* what it is, not what it is called */
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
	p = put_process(0, "run");
	segment_path(path, "run", &p, 0);
	data = fx_read(path, &bytes);
	fx_write("copy/early.seg", data, bytes - 30);
	free(data);
	run = open_run_with("copy", "run", NULL);
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(run->processes[0].n_segments, 1);
	assert_int_equal(run->n_warnings, 1);
	assert_true(has_warning(run, "copy/early.seg", "read once"));
	assert_int_equal(read_ops(run, 0, &gaps), bits(0, 20));
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
	put_process(0, "run");
	put_process(1, "run");
	for (int rank = 2; rank < 4; rank++) {
		p = fx_process(rank, "run");
		strcpy(p.job, "job-2");
		fx_open(&w, &p, "run");
		fx_next_segment(&w);
		fx_close(&w);
	}
	run = open_run("run");
	assert_int_equal(run->n_processes, 4);
	assert_int_equal(run->n_warnings, 1);
	assert_true(has_warning(run, "\"job-1\"", "\"job-2\""));
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
	put_process(0, "run");
	fx_write("run/foreign.seg", "hello, this is not a segment", 28);
	fx_write("run/empty.seg", "", 0);
	fx_mkdir("run/dir.seg");
	assert_int_equal(mkfifo(fx_path("run/fifo.seg"), 0600), 0);
	assert_int_equal(mkfifo(fx_path("run/fifo.ring.zst"), 0600), 0);
	assert_int_equal(symlink("loop.seg", fx_path("run/loop.seg")), 0);
	fx_write("run/foreign.ring", "x", 1);
	fx_write("run/notes.txt", "not asked", 9);
	p = put_process(1, "run");
	segment_path(path, "run", &p, 0);
	data = fx_read(path, &bytes);
	((struct ct_segment_header *)(void *)data)->version = 9;
	fx_write("run/newer.seg", data, bytes);
	free(data);
	run = open_run("run");
	assert_int_equal(run->n_processes, 2);
	assert_int_equal(run->n_warnings, 8);
	assert_true(has_warning(run, "run/foreign.seg", "offset 0: not a commtrace segment"));
	assert_true(has_warning(run, "run/empty.seg", "empty file"));
	assert_true(has_warning(run, "run/dir.seg", "not a regular file"));
	assert_true(has_warning(run, "run/fifo.seg", "not a regular file"));
	assert_true(has_warning(run, "run/loop.seg", "symbolic links"));
	assert_true(has_warning(run, "run/newer.seg", "made by a newer commtrace (format 9"));
	assert_true(has_warning(run, "run/foreign.ring", "too short"));
	assert_int_equal(read_ops(run, 0, NULL), bits(0, 20));
	ct_run_close(run);
}

static void a_segment_that_is_just_being_made_is_no_news(void **state)
{
	struct ct_process p;
	struct ct_run *run;
	char path[300];

	(void)state;
	fx_mkdir("run");
	p = put_process(0, "run");
	segment_path(path, "run", &p, 1);
	fx_write(path, "", 0);
	run = open_run("run");
	assert_int_equal(run->n_warnings, 0);
	assert_int_equal(read_ops(run, 0, NULL), bits(0, 20));
	ct_run_close(run);
	segment_path(path, "run", &p, 7); /* but this is */
	fx_write(path, "1CT", 3);
	run = open_run("run");
	assert_int_equal(run->n_warnings, 1);
	assert_true(has_warning(run, ".7.seg", "ends within the segment header"));
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

/* ---- gaps -------------------------------------------------------------------------------------------- */

/* Five segments of one block of 10 ops each; the last block tells of `lost` records trimmed. */
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

	segment_path(path, "run", p, number);
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
	run = open_run("run");
	assert_int_equal(read_ops(run, 0, &gaps), bits(10, 20) | bits(30, 50));
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
	run = open_run("run");
	assert_int_equal(read_ops(run, 0, &gaps), bits(10, 20) | bits(30, 50));
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
	p = put_process(0, "run");
	segment_path(path, "run", &p, 0);
	data = fx_read(path, &bytes);
	data[sizeof(struct ct_segment_header) + 70] ^= 1; /* content of the first block */
	fx_write(path, data, bytes - 1);
	free(data);
	run = open_run("run");
	assert_int_equal(read_ops(run, 0, &gaps), 0);
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
	run = open_run("run");
	drop_segment(&p, 1);
	segment_path(path, "run", &p, 3);
	fx_write(path, "now something else", 18);
	assert_int_equal(read_ops(run, 0, &gaps), bits(0, 10) | bits(20, 30) | bits(40, 50));
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
	run = open_run("run");
	assert_int_equal(read_ops(run, 0, &gaps), bits(0, 20));
	assert_int_equal(gaps.damage.damaged_blocks, 1);
	assert_int_equal(gaps.missing_blocks, 0);
	ct_run_close(run);
}

/* ---- rings ------------------------------------------------------------------------------------------- */

/* A process whose ring holds ops 0..49, of which its segment holds the first 20: it died before it could mark
 * them drained. */
static struct ct_process put_killed(int rank, const char *run, const char *rings)
{
	struct ct_process p = put_process(rank, run);
	struct fx_ring r;

	fx_ring_open(&r, &p, rings);
	for (uint64_t n = 0; n < 50; n++)
		fx_ring_op(&r, n, n < 49);
	atomic_store(&r.ring.header->blocks, 2);
	atomic_store(&r.ring.header->beat_ns, 500000000);
	ct_ring_lose(&r.ring, CT_LOSS_POOL_EMPTY, 7);
	fx_ring_leave(&r);
	return p;
}

static void what_is_in_segment_and_ring_comes_once(void **state)
{
	struct ct_gaps gaps;
	struct ct_run *run;

	(void)state;
	fx_mkdir("run");
	fx_mkdir("rings");
	put_killed(0, "run", "rings");
	run = open_run_with("run", NULL, "rings");
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(run->processes[0].ring, CT_RING_PRESENT);
	assert_non_null(strstr(run->processes[0].ring_path, "/rings/commtrace."));
	assert_int_equal(run->processes[0].last_beat_ns, 500000000);
	assert_int_equal(run->processes[0].end.how, CT_END_UNKNOWN);
	assert_int_equal(run->processes[0].end.after_ns, 500000000);
	assert_true(run->processes[0].end.before_ns == UINT64_MAX);
	assert_int_equal(read_ops(run, 0, &gaps), bits(0, 50));
	assert_int_equal(gaps.losses[CT_LOSS_POOL_EMPTY], 7);
	assert_int_equal(gaps.missing_blocks, 0);
	ct_run_close(run);

	/* without looking at this host: the segment alone */
	run = open_run("run");
	assert_int_equal(run->processes[0].ring, CT_RING_NOT_FOUND);
	assert_int_equal(read_ops(run, 0, NULL), bits(0, 20));
	ct_run_close(run);
}

static void a_ring_without_segments_is_a_process(void **state)
{
	struct ct_gaps gaps;
	struct ct_process p;
	struct fx_ring r;
	struct ct_run *run;

	(void)state;
	fx_mkdir("run");
	fx_mkdir("rings");
	put_process(0, "run");
	p = fx_process(1, "run");
	fx_ring_open(&r, &p, "rings");
	for (uint64_t n = 0; n < 5; n++)
		fx_ring_op(&r, n, 1);
	fx_ring_leave(&r);
	run = open_run_with("run", NULL, "rings");
	assert_int_equal(run->n_processes, 2);
	assert_int_equal(run->processes[1].n_segments, 0);
	assert_int_equal(read_ops(run, 1, &gaps), bits(0, 5));
	assert_int_equal(gaps.missing_blocks, 0);
	ct_run_close(run);
}

static void rings_of_other_runs_are_left_alone(void **state)
{
	struct ct_run *run;

	(void)state;
	fx_mkdir("run");
	fx_mkdir("other");
	fx_mkdir("rings");
	put_killed(0, "run", "rings");
	put_killed(1, "other", "rings");
	fx_write("rings/commtrace.1.2.ring", "nothing", 7);
	fx_write("rings/nvidia.ring", "nothing", 7);
	run = open_run_with("run", NULL, "rings");
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(run->n_warnings, 0);
	ct_run_close(run);
	/* a run copied elsewhere is not the run that the ring names */
	assert_int_equal(rename(fx_path("run"), fx_path("gone")), 0);
	fx_mkdir("run");
	put_process(3, "run");
	run = open_run_with("run", NULL, "rings");
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(run->processes[0].id.rank, 3);
	ct_run_close(run);
	/* but a run renamed is */
	run = open_run_with("gone", NULL, "rings");
	assert_int_equal(run->processes[0].ring, CT_RING_PRESENT);
	assert_int_equal(read_ops(run, 0, NULL), bits(0, 50));
	ct_run_close(run);
}

static void an_archived_ring_belongs_to_its_run(void **state)
{
	const char *dirs[] = { NULL, NULL };
	struct ct_collected collected;
	struct ct_gaps gaps;
	struct ct_run *run;

	(void)state;
	fx_mkdir("run");
	fx_mkdir("rings");
	put_killed(0, "run", "rings");
	dirs[0] = fx_path("rings");
	run = open_run_with("run", NULL, "rings");
	ct_ring_dir_collect(dirs, 0, 0, &collected);
	assert_int_equal(collected.moved, 1);
	/* opened before it was moved, read after */
	assert_int_equal(read_ops(run, 0, NULL), bits(0, 50));
	ct_run_close(run);

	run = open_run("run");
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(run->processes[0].ring, CT_RING_ARCHIVED);
	assert_int_equal(read_ops(run, 0, &gaps), bits(0, 50));
	assert_int_equal(gaps.losses[CT_LOSS_POOL_EMPTY], 7);
	ct_run_close(run);

	/* the collector died between moving and removing: both are there */
	assert_int_equal(unlink(fx_path(fx_only("run", ".seg"))), 0);
	put_killed(0, "run", "rings");
	run = open_run_with("run", NULL, "rings");
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(run->processes[0].ring, CT_RING_PRESENT);
	assert_int_equal(run->n_warnings, 0);
	assert_int_equal(read_ops(run, 0, NULL), bits(0, 50));
	ct_run_close(run);
}

static void a_ring_that_is_gone_costs_only_itself(void **state)
{
	struct ct_run *run;

	(void)state;
	fx_mkdir("run");
	fx_mkdir("rings");
	put_killed(0, "run", "rings");
	run = open_run_with("run", NULL, "rings");
	assert_int_equal(unlink(fx_path(fx_only("rings", ".ring"))), 0);
	assert_int_equal(read_ops(run, 0, NULL), bits(0, 20));
	ct_run_close(run);
}

static void blocks_that_the_ring_counted_and_no_segment_has_are_missing(void **state)
{
	struct ct_gaps gaps;
	struct ct_process p;
	struct ct_run *run;
	char path[300];

	(void)state;
	fx_mkdir("run");
	fx_mkdir("rings");
	p = put_killed(0, "run", "rings");
	segment_path(path, "run", &p, 0);
	assert_int_equal(unlink(fx_path(path)), 0);
	run = open_run_with("run", NULL, "rings");
	read_ops(run, 0, &gaps);
	assert_int_equal(gaps.missing_blocks, 2);
	ct_run_close(run);
}

static void a_live_process_loses_nothing_between_ring_and_segment(void **state)
{
	struct ct_process p;
	struct ct_process_reader *reader;
	const struct ct_block *block;
	struct fx_writer w;
	struct fx_ring r;
	struct ct_run *run;
	uint64_t seen = 0;

	(void)state;
	fx_mkdir("run");
	fx_mkdir("rings");
	p = fx_process(0, "run");
	fx_become(&p, fx_child());
	fx_open(&w, &p, "run");
	fx_next_segment(&w);
	fx_ring_open(&r, &p, "rings");
	for (uint64_t n = 0; n < 30; n++)
		fx_ring_op(&r, n, 1);
	fx_ops(&w, 1, 0, 0, 10);
	atomic_store(&r.lane.chunk->drained, 10);
	run = open_run_with("run", NULL, "rings");
	assert_int_equal(run->processes[0].end.how, CT_END_RUNNING);
	/* goes on, into a segment that was not there when the run was opened */
	fx_next_segment(&w);
	fx_ops(&w, 1, 10, 10, 10);
	atomic_store(&r.lane.chunk->drained, 20);
	assert_int_equal(ct_process_open(run, 0, &reader, NULL), CT_OK);
	/* and even while it is read */
	fx_ops(&w, 1, 20, 20, 10);
	atomic_store(&r.lane.chunk->drained, 30);
	while (ct_process_next(reader, &block, NULL) == 1) {
		for (uint32_t i = 0; i < block->n_ops; i++) {
			assert_int_equal(seen >> block->ops[i].seq & 1, 0);
			seen |= 1ull << block->ops[i].seq;
		}
	}
	assert_int_equal(seen, bits(0, 30));
	assert_int_equal(ct_process_gaps(reader)->missing_blocks, 0);
	ct_process_close(reader);
	ct_run_close(run);
	fx_ring_leave(&r);
	fx_close(&w);
}

/* A process that records as fast as it can and writes a block every 300 records; never returns. *done is how many
 * of its ops it knows to be recorded. */
static void record_for_ever(_Atomic uint64_t *done)
{
	struct ct_process p = fx_process(0, "run");
	struct ct_drain drain = { 0 };
	struct fx_writer w;
	struct fx_ring r;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fx_become(&p, getpid());
	fx_ring_open(&r, &p, "rings");
	fx_open(&w, &p, "run");
	fx_next_segment(&w);
	for (uint64_t n = 0;; n++) {
		fx_ring_op(&r, n, 1);
		atomic_store(done, n + 1);
		if (n % 300 != 299)
			continue;
		if (n % 30000 == 29999)
			fx_next_segment(&w);
		fx_begin(&w, CT_BLOCK_DATA);
		if (ct_drain_begin(&drain, &r.ring) != CT_OK ||
		    ct_drain_next(&drain, &r.ring, &w.block, 4096, CT_DRAIN_RETURNED) != 0)
			_exit(1);
		fx_commit(&w);
		ct_drain_done(&drain, &r.ring);
		atomic_fetch_add(&r.ring.header->blocks, 1);
	}
}

/* Read the process from its first op: each must be the next one. How many there are. */
static uint64_t read_in_order(void)
{
	struct ct_process_reader *reader;
	const struct ct_block *block;
	struct ct_run *run = open_run_with("run", NULL, "rings");
	uint64_t n = 0;

	assert_int_equal(run->n_processes, 1);
	assert_int_equal(run->n_warnings, 0);
	assert_int_equal(ct_process_open(run, 0, &reader, NULL), CT_OK);
	while (ct_process_next(reader, &block, NULL) == 1)
		for (uint32_t i = 0; i < block->n_ops; i++)
			fx_assert_op(&block->ops[i], n++);
	assert_int_equal(ct_process_gaps(reader)->missing_blocks, 0);
	assert_int_equal(ct_process_gaps(reader)->damage.skipped_bytes, 0);
	if (ct_process_gaps(reader)->damage.torn_bytes == 0)
		assert_string_equal(ct_process_gaps(reader)->damage.first_why, "");
	ct_process_close(reader);
	ct_run_close(run);
	return n;
}

static void a_process_is_read_whole_while_it_records_and_after_it_was_killed(void **state)
{
	_Atomic uint64_t *done = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(done != MAP_FAILED);
	for (int round = 0; round < 10; round++) {
		uint64_t recorded = 0;
		int status;
		int pid;

		fx_mkdir("run");
		fx_mkdir("rings");
		atomic_store(done, 0);
		pid = fork();
		if (pid == 0)
			record_for_ever(done);
		while (atomic_load(done) < 1000)
			usleep(100);
		for (int i = 0; i < 5; i++) {
			recorded = atomic_load(done);
			assert_true(read_in_order() >= recorded);
		}
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		recorded = atomic_load(done);
		assert_in_range(read_in_order(), recorded, recorded + 1);
		fx_teardown(state);
		fx_setup(state);
	}
	munmap((void *)(uintptr_t)done, 4096);
}

/* ---- ends -------------------------------------------------------------------------------------------- */

static void an_end_block_is_a_clean_end(void **state)
{
	struct ct_process p;
	struct fx_writer w;
	struct ct_run *run;

	(void)state;
	fx_mkdir("run");
	for (int rank = 0; rank < 3; rank++) {
		p = fx_process(rank, "run");
		fx_open(&w, &p, "run");
		fx_next_segment(&w);
		fx_ops(&w, 1, 0, 0, 10);
		fx_end(&w,
		       rank == 0   ? CT_EXIT_NORMAL
		       : rank == 1 ? CT_EXIT_UNDERSCORE
				   : CT_EXIT_ABORT,
		       3);
		fx_next_segment(&w); /* nothing came into it any more */
		fx_close(&w);
	}
	run = open_run("run");
	assert_int_equal(run->processes[0].end.how, CT_END_CLEAN);
	assert_int_equal(run->processes[0].end.exit_code, 3);
	assert_int_equal(run->processes[0].end.after_ns, 900000000);
	assert_int_equal(run->processes[1].end.how, CT_END_EXIT);
	assert_int_equal(run->processes[1].end.exit_code, 3);
	assert_int_equal(run->processes[2].end.how, CT_END_SIGNAL);
	assert_int_equal(run->processes[2].end.signal, SIGABRT);
	ct_run_close(run);
}

/* The end of a process whose ring carries these notes. */
static struct ct_end end_of(uint64_t state, uint64_t death_ns, int status, uint64_t exit_ns,
			    uint64_t exit_note)
{
	struct ct_process p;
	struct ct_end end;
	struct fx_ring r;
	struct ct_run *run;

	fx_mkdir("run");
	p = fx_process(0, "run");
	fx_ring_open(&r, &p, "run");
	atomic_store(&r.ring.header->beat_ns, 600);
	atomic_store(&r.ring.header->state, state);
	atomic_store(&r.ring.header->death_note, death_ns ? 321ull << 32 | (uint32_t)status : 0);
	atomic_store(&r.ring.header->death_seen_ns, death_ns);
	atomic_store(&r.ring.header->exit_ns, exit_ns);
	atomic_store(&r.ring.header->exit_note, exit_note);
	atomic_store(&r.ring.header->kill_ns, 550);
	atomic_store(&r.ring.header->kill_note, 99ull << 32 | SIGTERM);
	fx_ring_leave(&r);
	run = open_run("run");
	end = run->processes[0].end;
	assert_int_equal(end.kill_ns, 550);
	assert_int_equal(end.kill_by, 99);
	assert_int_equal(end.kill_signal, SIGTERM);
	ct_run_close(run);
	fx_teardown(NULL);
	fx_setup(NULL);
	return end;
}

static void notes_in_the_ring_tell_the_end(void **state)
{
	struct ct_end end = end_of(CT_RING_LIVE, 700, SIGKILL, 0, 0);

	(void)state;
	assert_int_equal(end.how, CT_END_SIGNAL);
	assert_int_equal(end.signal, SIGKILL);
	assert_int_equal(end.seen_by, 321);
	assert_int_equal(end.after_ns, 600);
	assert_int_equal(end.before_ns, 700);

	end = end_of(CT_RING_LIVE, 500, SIGSEGV | 0x80, 0,
		     0); /* with a core; clocks read out of order */
	assert_int_equal(end.signal, SIGSEGV);
	assert_int_equal(end.before_ns, 600);

	end = end_of(CT_RING_LIVE, 700, 5 << 8, 650, (uint64_t)CT_EXIT_UNDERSCORE << 32 | 5);
	assert_int_equal(end.how, CT_END_EXIT);
	assert_int_equal(end.exit_code, 5);
	assert_int_equal(end.after_ns, 650);

	end = end_of(CT_RING_ENDED, 700, 1 << 8, 0, 0);
	assert_int_equal(end.how, CT_END_CLEAN);
	assert_int_equal(end.exit_code, 1);

	end = end_of(CT_RING_LIVE, 0, 0, 650, (uint64_t)CT_EXIT_ABORT << 32);
	assert_int_equal(end.how, CT_END_SIGNAL);
	assert_int_equal(end.signal, SIGABRT);
	assert_true(end.before_ns == UINT64_MAX);
	assert_int_equal(end.seen_by, 0);

	end = end_of(CT_RING_LIVE, 0, 0, 0, 0);
	assert_int_equal(end.how, CT_END_UNKNOWN);
	assert_int_equal(end.exit_code, -1);
}

static void a_program_that_replaced_another_ends_it(void **state)
{
	struct ct_process p;
	struct fx_writer w;
	struct ct_run *run;

	(void)state;
	fx_mkdir("run");
	p = put_process(0, "run");
	p.start_ns += 5000000;
	fx_open(&w, &p, "run");
	fx_next_segment(&w);
	fx_end(&w, CT_EXIT_NORMAL, 0);
	fx_close(&w);
	run = open_run("run");
	assert_int_equal(run->n_processes, 2);
	assert_int_equal(run->processes[0].end.how, CT_END_EXEC);
	assert_true(run->processes[0].end.before_ns >= p.start_ns);
	assert_int_equal(run->processes[1].end.how, CT_END_CLEAN);
	ct_run_close(run);
}

static void a_status_block_is_a_sign_of_life(void **state)
{
	struct ct_status_rec status = { .beat_ns = 777000000 };
	struct ct_process p;
	struct fx_writer w;
	struct ct_run *run;

	(void)state;
	fx_mkdir("run");
	p = fx_process(0, "run");
	fx_open(&w, &p, "run");
	fx_next_segment(&w);
	fx_ops(&w, 1, 0, 0, 10);
	fx_begin(&w, CT_BLOCK_STATUS);
	assert_int_equal(ct_block_add_rare(&w.block, CT_KIND_STATUS, &status, sizeof(status)),
			 CT_OK);
	fx_commit(&w);
	fx_close(&w);
	run = open_run("run");
	assert_int_equal(run->processes[0].last_beat_ns, 777000000);
	assert_int_equal(run->processes[0].end.after_ns, 777000000);
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
		READER_TEST(what_is_in_segment_and_ring_comes_once),
		READER_TEST(a_ring_without_segments_is_a_process),
		READER_TEST(rings_of_other_runs_are_left_alone),
		READER_TEST(an_archived_ring_belongs_to_its_run),
		READER_TEST(a_ring_that_is_gone_costs_only_itself),
		READER_TEST(blocks_that_the_ring_counted_and_no_segment_has_are_missing),
		READER_TEST(a_live_process_loses_nothing_between_ring_and_segment),
		READER_TEST(a_process_is_read_whole_while_it_records_and_after_it_was_killed),
		READER_TEST(an_end_block_is_a_clean_end),
		READER_TEST(notes_in_the_ring_tell_the_end),
		READER_TEST(a_program_that_replaced_another_ends_it),
		READER_TEST(a_status_block_is_a_sign_of_life),
		READER_TEST(shorter_and_longer_payloads_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
