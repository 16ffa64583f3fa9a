/* SPDX-License-Identifier: Apache-2.0 */
/* How processes ended, as their last blocks and the notes in their rings show it. */
#include "tests/unit/fixture.h"
#include "tests/unit/fixture_run.h"

#include <signal.h>

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
	run = fx_open_run("run");
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
	run = fx_open_run("run");
	end = run->processes[0].end;
	assert_int_equal(end.kill_ns, 550);
	assert_int_equal(end.kill_by, 99);
	assert_int_equal(end.kill_signal, SIGTERM);
	ct_run_close(run);
	fx_teardown(NULL);
	fx_setup(NULL);
	return end;
}

/* With this counter before and, + 1, after. */
static int died_for_memory(uint64_t before, uint64_t after, uint64_t kill_ns, int status)
{
	struct ct_process p;
	struct fx_ring r;
	struct ct_run *run;
	int told;

	fx_mkdir("run");
	p = fx_process(0, "run");
	fx_ring_open(&r, &p, "run");
	atomic_store(&r.ring.header->death_note, 321ull << 32 | (uint32_t)status);
	atomic_store(&r.ring.header->death_seen_ns, 700);
	atomic_store(&r.ring.header->kill_ns, kill_ns);
	atomic_store(&r.ring.header->oom_where, 5);
	atomic_store(&r.ring.header->oom_kills, before);
	atomic_store(&r.ring.header->oom_seen, after);
	fx_ring_leave(&r);
	run = fx_open_run("run");
	told = run->processes[0].end.for_memory;
	ct_run_close(run);
	fx_teardown(NULL);
	fx_setup(NULL);
	return told;
}

static void a_kill_while_the_kernel_kills_is_for_memory(void **state)
{
	(void)state;
	assert_true(died_for_memory(3, 5, 0, SIGKILL));
	assert_false(died_for_memory(3, 4, 0, SIGKILL));   /* it has not killed since */
	assert_false(died_for_memory(3, 0, 0, SIGKILL));   /* not known */
	assert_false(died_for_memory(3, 5, 650, SIGKILL)); /* recorded sender */
	assert_false(died_for_memory(3, 5, 0, SIGSEGV));
}

static void notes_in_the_ring_report_the_end(void **state)
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

	/* as a parent would see what a program gives as -61 */
	end = end_of(CT_RING_LIVE, 0, 0, 650, (uint64_t)CT_EXIT_NORMAL << 32 | (uint32_t)-61);
	assert_int_equal(end.how, CT_END_CLEAN);
	assert_int_equal(end.exit_code, 195);

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
	p = fx_put_process(0, "run");
	p.start_ns += 5000000;
	fx_open(&w, &p, "run");
	fx_next_segment(&w);
	fx_end(&w, CT_EXIT_NORMAL, 0);
	fx_close(&w);
	run = fx_open_run("run");
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
	run = fx_open_run("run");
	assert_int_equal(run->processes[0].last_beat_ns, 777000000);
	assert_int_equal(run->processes[0].end.after_ns, 777000000);
	ct_run_close(run);
}

#define READER_TEST(f) cmocka_unit_test_setup_teardown(f, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		READER_TEST(an_end_block_is_a_clean_end),
		READER_TEST(a_kill_while_the_kernel_kills_is_for_memory),
		READER_TEST(notes_in_the_ring_report_the_end),
		READER_TEST(a_program_that_replaced_another_ends_it),
		READER_TEST(a_status_block_is_a_sign_of_life),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
