/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of processes that were killed, or that live: segments and rings put together. */
#include "tests/unit/fixture.h"
#include "tests/unit/fixture_run.h"

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
#include "trace/ring_dir.h"

/* A process whose ring holds ops 0..49, of which its segment holds the first 20: it died before it
 * could mark them drained. */
static struct ct_process put_killed(int rank, const char *run, const char *rings)
{
	struct ct_process p = fx_put_process(rank, run);
	struct fx_ring r;

	fx_ring_open(&r, &p, rings);
	for (uint64_t n = 0; n < 50; n++)
		fx_ring_op(&r, n, n < 49);
	atomic_store(&r.ring.header->blocks, 2);
	atomic_store(&r.ring.header->beat_ns, 500000000);
	atomic_store(&r.ring.header->late_ns, 30000000);
	atomic_store(&r.ring.header->looked_ns, 490000000);
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
	run = fx_open_runs("run", NULL, "rings");
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(run->processes[0].ring, CT_RING_PRESENT);
	assert_non_null(strstr(run->processes[0].ring_path, "/rings/commtrace."));
	assert_int_equal(run->processes[0].last_beat_ns, 500000000);
	assert_int_equal(run->processes[0].late_ns, 30000000);
	assert_int_equal(run->processes[0].looked_ns, 490000000);
	assert_int_equal(run->processes[0].end.how, CT_END_UNKNOWN);
	assert_int_equal(run->processes[0].end.after_ns, 500000000);
	assert_true(run->processes[0].end.before_ns == UINT64_MAX);
	assert_int_equal(fx_read_ops(run, 0, &gaps), fx_bits(0, 50));
	assert_int_equal(gaps.losses[CT_LOSS_POOL_EMPTY], 7);
	assert_int_equal(gaps.missing_blocks, 0);
	ct_run_close(run);

	/* without looking at this host: the segment alone */
	run = fx_open_run("run");
	assert_int_equal(run->processes[0].ring, CT_RING_NOT_FOUND);
	assert_int_equal(fx_read_ops(run, 0, NULL), fx_bits(0, 20));
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
	fx_put_process(0, "run");
	p = fx_process(1, "run");
	fx_ring_open(&r, &p, "rings");
	for (uint64_t n = 0; n < 5; n++)
		fx_ring_op(&r, n, 1);
	fx_ring_leave(&r);
	run = fx_open_runs("run", NULL, "rings");
	assert_int_equal(run->n_processes, 2);
	assert_int_equal(run->processes[1].n_segments, 0);
	assert_int_equal(fx_read_ops(run, 1, &gaps), fx_bits(0, 5));
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
	run = fx_open_runs("run", NULL, "rings");
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(run->n_warnings, 0);
	ct_run_close(run);
	/* a run copied elsewhere is not the run that the ring names */
	assert_int_equal(rename(fx_path("run"), fx_path("gone")), 0);
	fx_mkdir("run");
	fx_put_process(3, "run");
	run = fx_open_runs("run", NULL, "rings");
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(run->processes[0].id.rank, 3);
	ct_run_close(run);
	/* but a run renamed is */
	run = fx_open_runs("gone", NULL, "rings");
	assert_int_equal(run->processes[0].ring, CT_RING_PRESENT);
	assert_int_equal(fx_read_ops(run, 0, NULL), fx_bits(0, 50));
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
	run = fx_open_runs("run", NULL, "rings");
	ct_ring_dir_collect(dirs, NULL, &collected);
	assert_int_equal(collected.moved, 1);
	/* opened before it was moved, read after */
	assert_int_equal(fx_read_ops(run, 0, NULL), fx_bits(0, 50));
	ct_run_close(run);

	run = fx_open_run("run");
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(run->processes[0].ring, CT_RING_ARCHIVED);
	assert_int_equal(fx_read_ops(run, 0, &gaps), fx_bits(0, 50));
	assert_int_equal(gaps.losses[CT_LOSS_POOL_EMPTY], 7);
	ct_run_close(run);

	/* the collector died between moving and removing: both are there */
	assert_int_equal(unlink(fx_path(fx_only("run", ".seg"))), 0);
	put_killed(0, "run", "rings");
	run = fx_open_runs("run", NULL, "rings");
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(run->processes[0].ring, CT_RING_PRESENT);
	assert_int_equal(run->n_warnings, 0);
	assert_int_equal(fx_read_ops(run, 0, NULL), fx_bits(0, 50));
	ct_run_close(run);
}

static void a_ring_that_is_gone_costs_only_itself(void **state)
{
	struct ct_run *run;

	(void)state;
	fx_mkdir("run");
	fx_mkdir("rings");
	put_killed(0, "run", "rings");
	run = fx_open_runs("run", NULL, "rings");
	assert_int_equal(unlink(fx_path(fx_only("rings", ".ring"))), 0);
	assert_int_equal(fx_read_ops(run, 0, NULL), fx_bits(0, 20));
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
	fx_segment_path(path, "run", &p, 0);
	assert_int_equal(unlink(fx_path(path)), 0);
	run = fx_open_runs("run", NULL, "rings");
	fx_read_ops(run, 0, &gaps);
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
	atomic_store(&ct_lane_chunk(&r.lane)->drained, 10);
	run = fx_open_runs("run", NULL, "rings");
	assert_int_equal(run->processes[0].end.how, CT_END_RUNNING);
	/* goes on, into a segment that was not there when the run was opened */
	fx_next_segment(&w);
	fx_ops(&w, 1, 10, 10, 10);
	atomic_store(&ct_lane_chunk(&r.lane)->drained, 20);
	assert_int_equal(ct_process_open(run, 0, &reader, NULL), CT_OK);
	/* and even while it is read */
	fx_ops(&w, 1, 20, 20, 10);
	atomic_store(&ct_lane_chunk(&r.lane)->drained, 30);
	while (ct_process_next(reader, &block, NULL) == 1) {
		for (uint32_t i = 0; i < block->n_ops; i++) {
			assert_int_equal(seen >> block->ops[i].seq & 1, 0);
			seen |= 1ull << block->ops[i].seq;
		}
	}
	assert_int_equal(seen, fx_bits(0, 30));
	assert_int_equal(ct_process_gaps(reader)->missing_blocks, 0);
	ct_process_close(reader);
	ct_run_close(run);
	fx_ring_leave(&r);
	fx_close(&w);
}

/* A process that records as fast as it can and writes a block every 300 records; never returns.
 * *done is how many of its ops it knows to be recorded. */
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
	struct ct_run *run = fx_open_runs("run", NULL, "rings");
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

#define READER_TEST(f) cmocka_unit_test_setup_teardown(f, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		READER_TEST(what_is_in_segment_and_ring_comes_once),
		READER_TEST(a_ring_without_segments_is_a_process),
		READER_TEST(rings_of_other_runs_are_left_alone),
		READER_TEST(an_archived_ring_belongs_to_its_run),
		READER_TEST(a_ring_that_is_gone_costs_only_itself),
		READER_TEST(blocks_that_the_ring_counted_and_no_segment_has_are_missing),
		READER_TEST(a_live_process_loses_nothing_between_ring_and_segment),
		READER_TEST(a_process_is_read_whole_while_it_records_and_after_it_was_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
