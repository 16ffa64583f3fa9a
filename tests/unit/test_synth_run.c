/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of jobs that never ran: what their clocks show, what a fault costs, and that the analyzer,
 * which knows nothing of the player, comes to the same figures from the records. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/fixture_run.h"
#include "tests/unit/job.h"
#include "tools/synth/clocks.h"
#include "tools/synth/record_private.h"

#define MS 1000000ull
#define RANKS 8

/* ---- clocks ---- */

static void clocks_change_evenly_between_their_knots(void **state)
{
	struct ct_synth_options o = ct_synth_defaults();
	struct ct_synth_clocks *clocks;
	double wandered = 0;

	(void)state;
	o.job.nodes = 4;
	o.offset_ms = 50;
	o.drift_ppm = 20;
	clocks = ct_synth_clocks_make(&o);
	for (int h = 0; h < 4; h++) {
		const int64_t at0 = ct_synth_clock_offset(clocks, h, 0);
		const int64_t at1 = ct_synth_clock_offset(clocks, h, 100000 * MS);
		const int64_t middle = ct_synth_clock_offset(clocks, h, 50000 * MS);
		const int64_t wrong = at0 + (int64_t)ct_synth_clock_real(clocks, h) -
				      (int64_t)CT_SYNTH_UNIX_NS;

		assert_true(llabs(wrong) <= 50 * (int64_t)MS && wrong != 0);
		assert_true(llabs(at1 - at0) <= 2000000 && at1 != at0);
		assert_true(llabs(2 * middle - at0 - at1) <= 2);
		assert_true(at0 > 0);
	}
	ct_synth_clocks_free(clocks);
	o.wander_ppb = 100;
	o.drift_ppm = 0;
	clocks = ct_synth_clocks_make(&o);
	assert_int_equal(ct_synth_clock_step(clocks), 1000 * MS);
	for (uint64_t s = 0; s < 1000; s++) {
		const int64_t a = ct_synth_clock_offset(clocks, 1, s * 1000 * MS);
		const int64_t b = ct_synth_clock_offset(clocks, 1, s * 1000 * MS + 250 * MS);
		const int64_t c = ct_synth_clock_offset(clocks, 1, s * 1000 * MS + 1000 * MS);
		const int64_t d = ct_synth_clock_offset(clocks, 1, s * 1000 * MS + 2000 * MS);

		assert_true(llabs(4 * (b - a) - (c - a)) <= 4);
		wandered += (double)(d - 2 * c + a) * (double)(d - 2 * c + a) / 1000;
		assert_true((uint64_t)llabs(c - ct_synth_clock_offset(clocks, 1, 0)) <
			    ct_synth_clock_maxerror(clocks, s * 1000 * MS + 1000 * MS));
	}
	/* the rate's steps, in ppb: ns a second */
	assert_true(sqrt(wandered) > 90 && sqrt(wandered) < 110);
	ct_synth_clocks_free(clocks);
}

/* ---- what a fault costs ---- */

static int run_dir(void)
{
	int dirfd;

	fx_mkdir("run");
	dirfd = open(fx_path("run"), O_RDONLY | O_DIRECTORY);
	assert_true(dirfd >= 0);
	return dirfd;
}

static void add_fault(struct ct_synth_options *o, const char *text)
{
	char why[256];

	if (ct_fault_parse(text, &o->faults[o->job.n_faults++], why, sizeof(why)))
		fail_msg("%s", why);
}

static struct ct_synth_outcome write_run(const struct ct_synth_options *o)
{
	struct ct_synth_outcome out;
	struct ct_err err = { 0 };
	int dirfd = run_dir();

	struct ct_synth_comparison *comparison = ct_synth_compare_begin(o);

	if (ct_synth_write(o, dirfd, &out, &err) || ct_synth_compare_end(comparison, &out, &err))
		fail_msg("%s", err.text);
	close(dirfd);
	return out;
}

static void a_loss_is_the_difference_that_the_fault_alone_makes(void **state)
{
	struct ct_synth_options o = ct_synth_defaults();
	struct ct_synth_outcome out;
	void *again;

	o.job.steps = 40;
	o.world.noise_pct = 2;
	o.world.hiccup_rate = 0.02;
	o.world.hiccup_ms = 5;
	out = write_run(&o);
	const uint64_t healthy = out.duration_ns;

	assert_int_equal(out.ideal_ns, healthy);
	ct_synth_outcome_free(&out);
	fx_teardown(&again);
	fx_setup(state);

	add_fault(&o, "late-host:rank=3,ms=5");
	out = write_run(&o);
	assert_int_equal(out.ideal_ns, healthy);
	assert_int_equal(out.faults[0].without_ns, healthy);
	assert_true(out.faults[0].injected_ns == 40.0 * 5 * MS);
	assert_in_range(out.duration_ns - healthy, 150 * MS, 200 * MS);
	const uint64_t late = out.duration_ns;

	ct_synth_outcome_free(&out);
	fx_teardown(&again);
	fx_setup(state);

	add_fault(&o, "slow-link:src=0,dst=1,factor=0.1");
	out = write_run(&o);
	assert_int_equal(out.ideal_ns, healthy);
	assert_int_equal(out.faults[1].without_ns, late);
	assert_true(out.faults[0].without_ns > healthy &&
		    out.faults[0].without_ns < out.duration_ns);
	ct_synth_outcome_free(&out);
}

/* ---- the analyzer comes to the same ---- */

static void waits_and_exposed_times_are_those_on_record(void **state)
{
	static const char *const workloads[] = { "ddp", "fsdp", "moe", "decode" };
	void *again;

	for (size_t w = 0; w < 4; w++) {
		struct ct_synth_options o = ct_synth_defaults();
		const struct job job = { .o.run = "run" };
		struct ct_synth_outcome out;
		struct ct_report *report;

		o.job.name = workloads[w];
		o.job.steps = 30;
		o.jitter_us = 0;
		out = write_run(&o);
		report = job_report(&job, -1);
		assert_int_equal(report->n_findings, 0);
		assert_int_equal(report->n_dropped, 0);
		assert_int_equal(report->run.ranks_seen, RANKS);
		for (int r = 0; r < RANKS; r++) {
			const struct ct_play_rank_sums *truth = &out.sums.ranks[r];
			const struct ct_report_rank *told = &report->ranks[r];

			assert_true(told->complete);
			assert_int_equal(told->ops, truth->ops);
			/* but for what a launch takes to begin */
			assert_true(fabs((double)told->exposed_ns - (double)truth->exposed_ns) <
				    0.005 * (double)truth->exposed_ns +
					    1000.0 * (double)truth->launches);
			/* where nothing is a message, which is judged apart */
			if (strcmp(workloads[w], "moe") != 0)
				assert_true(fabs((double)told->wait_ns - (double)truth->wait_ns) <
					    0.01 * (double)truth->wait_ns +
						    500.0 * (double)truth->launches);
		}
		ct_report_free(report);
		ct_synth_outcome_free(&out);
		fx_teardown(&again);
		fx_setup(state);
	}
}

/* ---- what was called so far ---- */

/* Of one process: sums that its records show, and those of the blocks before them. Returns how many
 * show operations. */
static unsigned hold_status_against_blocks(const struct ct_run *run, size_t index)
{
	struct ct_order_totals totals = { 0 };
	struct ct_process_reader *reader;
	const struct ct_block *block;
	unsigned n = 0;
	int more;

	assert_int_equal(ct_process_open(run, index, &reader, NULL), CT_OK);
	while ((more = ct_process_next(reader, &block, NULL)) == 1) {
		for (uint32_t i = 0; i < block->n_rares; i++) {
			struct ct_comm_status_rec rec, is;

			if (block->rares[i].kind != CT_KIND_COMM_STATUS)
				continue;
			ct_rare_get(block, &block->rares[i], &rec, sizeof(rec));
			is = (struct ct_comm_status_rec){ .comm = rec.comm };
			ct_order_totals_report(&totals, &is);
			assert_int_equal(rec.called, is.called);
			assert_int_equal(rec.order_hash, is.order_hash);
			assert_true(rec.next_seq >= is.order_end);
			n += rec.called > 1;
		}
		ct_order_totals_add(&totals, block, ct_record_call_name, NULL);
	}
	assert_int_equal(more, 0);
	ct_order_totals_fini(&totals);
	ct_process_close(reader);
	return n;
}

static void heartbeats_report_what_was_called(void **state)
{
	struct ct_synth_options o = ct_synth_defaults();
	struct ct_synth_outcome out;
	struct ct_run *run;

	(void)state;
	o.job.steps = 40;
	o.job.step_ns = 1000 * MS;
	out = write_run(&o);
	run = fx_open_run("run");
	assert_int_equal(run->n_processes, RANKS);
	for (size_t i = 0; i < run->n_processes; i++)
		assert_true(hold_status_against_blocks(run, i) >= 3);
	ct_run_close(run);
	ct_synth_outcome_free(&out);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_change_evenly_between_their_knots),
		ON_DISK(a_loss_is_the_difference_that_the_fault_alone_makes),
		ON_DISK(waits_and_exposed_times_are_those_on_record),
		ON_DISK(heartbeats_report_what_was_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
