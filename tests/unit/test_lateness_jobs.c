/* SPDX-License-Identifier: Apache-2.0 */
/* Blame: synthetic jobs whose slow ranks are known, and jobs without any. The generator's own
 * what-if is the truth for what a slow rank costs. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/job.h"
#include "tests/unit/seeds.h"
#include "trace/ops.h"

#define SEEDS SOME_SEEDS(25)

static const struct job_loop quiet = {
	.steps = 100,
	.ops = 5,
	.step_ms = 100,
	.noise = 0.01,
	.skew_us = 10,
	.transfer_us = 1500,
};

struct outcome {
	uint64_t blamed; /* mask of ranks */
	double time_lost_ns, err_ns;
	enum ct_verdict_code verdict;
	enum ct_severity severity;
	enum ct_confidence confidence;
	int host; /* named as a host */
	uint64_t truth_ns;
	double begin, end; /* of the first finding, in parts of the run */
	int names_rank;	   /* the verdict's sentence does */
	int tells_stalls;
};

/* Is a rank named: "rank 3", "ranks 1,4"; not "on 4 ranks"? */
static int names_rank(const char *text)
{
	for (const char *at = text; (at = strstr(at, "rank")); at += 4) {
		const char *next = at + 4 + (at[4] == 's');

		if (*next == ' ' && isdigit((unsigned char)next[1]))
			return 1;
	}
	return 0;
}

static struct outcome run(const struct job_loop *loop, int ranks, int per_host)
{
	static struct job job;
	struct outcome out = { 0 };
	struct ct_report *report;
	uint64_t end;
	void *state;

	assert_int_equal(fx_setup(&state), 0);
	job_open(&job,
		 &(struct job_options){ .run = "run", .ranks = ranks, .ranks_per_host = per_host });
	end = job_run(&job, loop, 5000000, &out.truth_ns);
	job_close(&job, end + 1000000);
	report = job_report(&job, -1);
	out.verdict = report->verdict.code;
	out.names_rank = names_rank(report->verdict.text);
	out.tells_stalls = strstr(report->verdict.text, "stall") != NULL;
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct ct_finding *f = &report->findings[i];

		if (f->kind != CT_FINDING_STRAGGLER && f->kind != CT_FINDING_STRAGGLER_HOST)
			continue;
		if (!out.blamed) {
			out.severity = f->severity;
			out.confidence = f->confidence;
			out.begin = (double)f->begin_at_ns / (double)report->run.duration_ns;
			out.end = (double)f->end_at_ns / (double)report->run.duration_ns;
		}
		if (2 * f->time_lost_err_ns > f->time_lost_ns)
			assert_int_equal(f->confidence, CT_CONFIDENCE_LOW);
		else if (4 * f->time_lost_err_ns > f->time_lost_ns)
			assert_true(f->confidence <= CT_CONFIDENCE_MEDIUM);
		out.host |= f->kind == CT_FINDING_STRAGGLER_HOST;
		out.time_lost_ns += (double)f->time_lost_ns;
		out.err_ns += (double)f->time_lost_err_ns;
		for (size_t r = 0; r < f->n_ranks; r++)
			out.blamed |= 1ull << f->ranks[r];
	}
	ct_report_free(report);
	assert_int_equal(fx_teardown(&state), 0);
	return out;
}

/* No rank is slow: none may be named, for any seed. The cost of unevenness may be reported. */
static void nobody_is_blamed(struct job_loop loop, int ranks, int per_host)
{
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		struct outcome out;

		loop.seed = seed;
		out = run(&loop, ranks, per_host);
		/* stalls cost something, on any rank: then that is reported, without a rank */
		if (out.blamed || out.names_rank ||
		    (out.verdict != CT_VERDICT_HEALTHY &&
		     !(loop.noise > quiet.noise && out.verdict == CT_VERDICT_IMBALANCE) &&
		     !(loop.hiccup > 0 &&
		       (out.tells_stalls || out.verdict == CT_VERDICT_IMBALANCE))))
			fail_msg("seed %u, %d ranks: verdict %s, ranks %llx, loss %.3f ms", seed,
				 ranks, ct_verdict_name(out.verdict),
				 (unsigned long long)out.blamed, out.time_lost_ns / 1e6);
	}
}

/* Exactly the slow ones are named, and what they cost is reported within its error, or within `off`
 * of it. */
static void the_slow_are_blamed(struct job_loop loop, int ranks, int per_host, double off)
{
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		struct outcome out;
		double miss;

		loop.seed = seed;
		out = run(&loop, ranks, per_host);
		miss = fabs(out.time_lost_ns - (double)out.truth_ns);
		if (out.blamed != loop.slow || out.verdict != CT_VERDICT_STRAGGLER)
			fail_msg("seed %u, %d ranks: verdict %s, ranks %llx instead of %llx", seed,
				 ranks, ct_verdict_name(out.verdict),
				 (unsigned long long)out.blamed, (unsigned long long)loop.slow);
		if (miss > out.err_ns && miss > off * (double)out.truth_ns)
			fail_msg("seed %u, %d ranks: loss %.3f ms +- %.3f instead of %.3f", seed,
				 ranks, out.time_lost_ns / 1e6, out.err_ns / 1e6,
				 (double)out.truth_ns / 1e6);
	}
}

static void equal_ranks_are_not_blamed(void **state)
{
	struct job_loop loop = quiet;

	(void)state;
	nobody_is_blamed(loop, 2, 0);
	nobody_is_blamed(loop, 4, 0);
	nobody_is_blamed(loop, 16, 0);
	nobody_is_blamed(loop, 16, 4);
	nobody_is_blamed(loop, 4, 1); /* each on a host of its own */
}

static void noise_blames_no_rank(void **state)
{
	struct job_loop loop = quiet;

	(void)state;
	loop.noise = 0.05;
	nobody_is_blamed(loop, 2, 0);
	nobody_is_blamed(loop, 4, 0);
	loop.noise = 0.2; /* two cores for four ranks */
	nobody_is_blamed(loop, 4, 0);
	nobody_is_blamed(loop, 8, 2);
}

static void harmless_differences_and_stalls_blame_no_one(void **state)
{
	struct job_loop loop = quiet;

	(void)state;
	loop.spread = 0.003;
	nobody_is_blamed(loop, 4, 0);
	loop.spread = 0.01;
	nobody_is_blamed(loop, 16, 4);
	loop.hiccup = 0.01;
	loop.hiccup_ms = 20;
	nobody_is_blamed(loop, 16, 4);
	loop.spread = 0;
	loop.hiccup = 0.1;
	nobody_is_blamed(loop, 4, 0);
}

static void ends_that_lie_apart_blame_no_one(void **state)
{
	struct job_loop loop = quiet;

	(void)state;
	loop.skew_us = 300;
	nobody_is_blamed(loop, 4, 0);
	nobody_is_blamed(loop, 8, 4);
	nobody_is_blamed(loop, 4, 1);
}

static void rank_that_is_5_percent_slower_is_found(void **state)
{
	struct job_loop loop = quiet;

	(void)state;
	loop.slow = 1 << 2;
	loop.slow_pct = 5;
	the_slow_are_blamed(loop, 4, 0, 0);
	the_slow_are_blamed(loop, 16, 0, 0);
	the_slow_are_blamed(loop, 16, 4, 0);
	the_slow_are_blamed(loop, 4, 1, 0);
	loop.slow = 1;
	the_slow_are_blamed(loop, 2, 0, 0);
}

static void slow_rank_is_found_among_noise_and_stalls(void **state)
{
	struct job_loop loop = quiet;

	(void)state;
	loop.slow = 1 << 1;
	loop.slow_pct = 8;
	loop.noise = 0.05;
	the_slow_are_blamed(loop, 4, 0, 0);
	loop.noise = 0.01;
	loop.spread = 0.01; /* and what the slow rank's own share of these costs */
	loop.hiccup = 0.01;
	loop.hiccup_ms = 20;
	the_slow_are_blamed(loop, 16, 4, 0.3);
}

static void slow_part_of_a_run_is_found_with_its_time(void **state)
{
	struct job_loop loop = quiet;
	struct outcome out;

	(void)state;
	loop.slow = 1 << 3;
	loop.slow_pct = 10;
	loop.from = 0.5;
	the_slow_are_blamed(loop, 8, 0, 0);
	out = run(&loop, 8, 0);
	assert_true(out.begin > 0.4 && out.begin < 0.56);
	assert_true(out.end > 0.97);
	loop.from = 0.25;
	loop.to = 0.5;
	the_slow_are_blamed(loop, 8, 0, 0);
	out = run(&loop, 8, 0);
	assert_true(out.begin > 0.15 && out.begin < 0.31);
	assert_true(out.end > 0.45 && out.end < 0.6);
}

static void several_slow_ranks_are_named_together(void **state)
{
	struct job_loop loop = quiet;
	struct outcome out;

	(void)state;
	loop.slow_pct = 5;
	loop.slow = 1 << 1 | 1 << 6;
	the_slow_are_blamed(loop, 8, 2, 0);
	loop.slow = 0x3;
	the_slow_are_blamed(loop, 4, 0, 0);
	out = run(&loop, 4, 0);
	assert_false(out.host); /* one host has all ranks: it is not the host */
	loop.slow = 0xf0;
	the_slow_are_blamed(loop, 16, 4, 0);
	out = run(&loop, 16, 4);
	assert_true(out.host);
}

static void severity_follows_the_share_of_the_run(void **state)
{
	struct job_loop loop = quiet;

	(void)state;
	loop.slow = 1;
	loop.slow_pct = 2.5;
	assert_int_equal(run(&loop, 8, 0).severity, CT_SEVERITY_INFO);
	loop.slow_pct = 6;
	assert_int_equal(run(&loop, 8, 0).severity, CT_SEVERITY_WARNING);
	loop.slow_pct = 30;
	assert_int_equal(run(&loop, 8, 0).severity, CT_SEVERITY_CRITICAL);
	/* The gate: below 1 % of the run no rank is named. */
	loop.slow_pct = 0.5;
	assert_int_equal(run(&loop, 8, 0).verdict, CT_VERDICT_HEALTHY);
}

/* A tenth of a second in which one rank is late a hundred times is one busy core, not a slow rank. */
static void a_burst_is_no_evidence(void **state)
{
	struct job_loop loop = quiet;
	struct outcome out;

	(void)state;
	loop.ops = 1;
	loop.step_ms = 1;
	loop.transfer_us = 10;
	loop.skew_us = 5;
	loop.slow = 1;
	loop.slow_pct = 50;
	out = run(&loop, 2, 0);
	assert_int_equal(out.blamed, 0);
	assert_int_equal(out.verdict, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	loop.step_ms = 10;
	out = run(&loop, 2, 0);
	assert_int_equal(out.blamed, 1);
}

/* What a rank computes is on its own clock. */
static void clocks_of_other_hosts_are_not_needed(void **state)
{
	struct job_loop loop = quiet;

	(void)state;
	loop.slow = 1;
	loop.slow_pct = 20;
	for (int per_host = 0; per_host <= 2; per_host++) {
		assert_int_equal(run(&loop, 4, per_host).confidence, CT_CONFIDENCE_HIGH);
		the_slow_are_blamed(loop, 4, per_host, 0.01);
	}
}

/* The louder the noise, the less sure is the loss, and the error says so. */
static void errors_hold_where_noise_is_loud(void **state)
{
	struct job_loop loop = quiet;
	double of_quiet;

	(void)state;
	loop.slow = 1;
	loop.slow_pct = 20;
	of_quiet = run(&loop, 4, 0).err_ns;
	loop.noise = 0.1;
	the_slow_are_blamed(loop, 4, 0, 0);
	loop.noise = 0.2;
	the_slow_are_blamed(loop, 4, 0, 0);
	assert_true(run(&loop, 4, 0).err_ns > of_quiet);
}

/* ---- more than one communicator, more than one operation at a time ---- */

/* One all-reduce among `ranks` on process-local id `comm`: each enters at now[rank] and all leave
 * together. */
static void reduce(struct job *job, uint32_t comm, uint64_t seq, const int *ranks, int n,
		   uint64_t *now)
{
	uint64_t latest = 0;

	for (int i = 0; i < n; i++)
		latest = now[ranks[i]] > latest ? now[ranks[i]] : latest;
	for (int i = 0; i < n; i++) {
		job_op(job, ranks[i],
		       (struct ct_op){
			       .enter_ns = now[ranks[i]],
			       .return_ns = latest + 500000,
			       .count = 1000,
			       .seq = seq,
			       .comm = comm,
			       .peer = -1,
			       .op = CT_OP_AllReduce,
			       .dtype = CT_DTYPE_float32,
		       });
		now[ranks[i]] = latest + 500000;
	}
}

static void a_rank_that_was_held_up_elsewhere_is_not_blamed(void **state)
{
	static const int pairs[2][2] = { { 0, 1 }, { 2, 3 } };
	static const int across[2][2] = { { 0, 2 }, { 1, 3 } };
	static struct job job;
	const struct ct_finding *f;
	struct ct_report *report;
	uint64_t now[4] = { 1000000, 1000000, 1000000, 1000000 };

	(void)state;
	/* Rank 3 computes 30 ms longer. In its pair (2, 3) rank 2 waits for it, so rank 2 comes
	 * late to the operation with rank 0, in which it is always last. */
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 4 });
	for (uint32_t p = 0; p < 2; p++) {
		job_comm(&job, 2 + p, 0x200 + p, "tp", pairs[p], 2);
		job_comm(&job, 4 + p, 0x400 + p, "dp", across[p], 2);
	}
	for (uint64_t c = 0; c < 100; c++) {
		for (int r = 0; r < 4; r++)
			now[r] += 20000000 + (r == 3 ? 30000000 : 0) +
				  (uint64_t)(r * 3 + c % 5) * 1000;
		for (uint32_t p = 0; p < 2; p++)
			reduce(&job, 2 + p, c, pairs[p], 2, now);
		for (int r = 0; r < 4; r++)
			now[r] += 100000 + c % 7 * 1000;
		for (uint32_t p = 0; p < 2; p++)
			reduce(&job, 4 + p, c, across[p], 2, now);
	}
	job_close(&job, now[3] + 1000000);
	report = job_report(&job, -1);
	assert_int_equal(report->n_findings, 1);
	f = &report->findings[0];
	assert_int_equal(f->kind, CT_FINDING_STRAGGLER);
	assert_int_equal(f->n_ranks, 1);
	assert_int_equal(f->ranks[0], 3);
	assert_false(f->at_most); /* the ranks' own threads wait */
	/* 30 ms each time, once, although it is late to two operations. */
	assert_true(fabs((double)f->time_lost_ns - 99 * 30e6) < 0.05 * 99 * 30e6);
	ct_report_free(report);
}

static void lateness_to_operations_at_the_same_time_costs_once(void **state)
{
	static struct job job;
	const struct ct_finding *f;
	struct ct_report *report;
	uint64_t now = 1000000;

	(void)state;
	/* Two buckets in flight at once on two threads; rank 1 comes 20 ms late to both. */
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 3 });
	for (int c = 0; c < 100; c++) {
		uint64_t leave = now + 20000000 + 3000000;

		for (int r = 0; r < 3; r++) {
			uint64_t late = r == 1 ? 20000000 : (uint64_t)r * 1000;

			job_collective(&job, r, CT_OP_AllReduce, 5000, now + late, leave);
			job_collective(&job, r, CT_OP_AllReduce, 5000, now + late + 1000000,
				       leave + 200000);
		}
		now = leave + 10000000;
	}
	job_close(&job, now);
	report = job_report(&job, -1);
	f = job_finding(report, CT_FINDING_STRAGGLER);
	assert_non_null(f);
	assert_int_equal(f->ranks[0], 1);
	/* [+0, +20] and [+1, +21] ms of each step but the first: 21 ms. */
	assert_true(fabs((double)f->time_lost_ns - 99 * 21e6) < 0.03 * 99 * 21e6);
	ct_report_free(report);
}

static void late_start_of_a_rank_is_no_slowness(void **state)
{
	static struct job job;
	struct job_loop loop = quiet;
	struct ct_report *report;
	uint64_t end;

	(void)state;
	/* Rank 2 imports its libraries for 3 s longer, once. */
	loop.steps = 30;
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 4 });
	for (int r = 0; r < 4; r++)
		job_collective(&job, r, CT_OP_Barrier, 0, r == 2 ? 3000000000 : 1000000,
			       3000100000);
	end = job_run(&job, &loop, 3000200000, NULL);
	job_close(&job, end);
	report = job_report(&job, -1);
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_COMMUNICATION);
	/* It is in the waits all the same, but not of the steps. */
	assert_true(report->ranks[0].wait_pct < 5);
	assert_true(report->ranks[0].wait_ns > 2900000000);
	ct_report_free(report);
}

static void a_few_long_stalls_are_no_slow_rank(void **state)
{
	static struct job job;
	struct ct_report *report;
	uint64_t now = 1000000;

	(void)state;
	/* Rank 1 is 60 us late each time, which is nothing, and twice in the run 2 s, which is no
	 * slowness. */
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 4 });
	for (int c = 0; c < 200; c++) {
		uint64_t late = c == 50 || c == 150 ? 2000000000 : 70000;

		for (int r = 0; r < 4; r++)
			job_collective(&job, r, CT_OP_AllReduce, 5000,
				       now + (r == 1 ? late : (uint64_t)r * 500),
				       now + late + 500000);
		now += late + 10000000;
	}
	job_close(&job, now);
	report = job_report(&job, -1);
	assert_null(job_finding(report, CT_FINDING_STRAGGLER));
	/* ... but the others did wait for it: not healthy either */
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	ct_report_free(report);
}

static void operations_that_lack_members_blame_no_one(void **state)
{
	static struct job job;
	struct job_loop loop = quiet;
	struct ct_report *report;
	uint64_t end;

	(void)state;
	loop.slow = 1 << 1;
	loop.slow_pct = 50;
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 4, .absent = 1 << 3 });
	end = job_run(&job, &loop, 1000000, NULL);
	job_close(&job, end);
	report = job_report(&job, -1);
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_int_equal(report->run.matched, 0);
	assert_int_equal(report->run.incomplete, 500);
	assert_null(job_finding(report, CT_FINDING_STRAGGLER));
	ct_report_free(report);
}

enum { BUCKET_STEPS = 30 };

/* Two ranks of DDP over Gloo, rank 1 late by so much in each step: two buckets, of which the second
 * one begins now before the first one has ended, and now after that; and it moves for five times as
 * long in every fourth step, on a busy machine. */
static struct ct_report *two_ranks_with_buckets(struct job *job, uint64_t late_ns)
{
	const uint64_t us = 1000;
	uint64_t at = 10000 * us;

	job_open(job, &(struct job_options){ .run = late_ns ? "late" : "even",
					     .ranks = 2,
					     .backend = CT_BACKEND_GLOO });
	for (uint64_t k = 0; k < BUCKET_STEPS; k++) {
		uint64_t first = at + 20000 * us + late_ns, second = first + 300 * us;
		uint64_t first_end = first + (k % 2 ? 200 : 400) * us;
		uint64_t second_end = second + (k % 4 ? 300 : 1500) * us;

		for (int r = 0; r < 2; r++) {
			uint64_t early = r == 0 ? late_ns : 0;

			job_collective(job, r, CT_OP_AllReduce, 10000, first - early, first_end);
			job_collective(job, r, CT_OP_AllReduce, 20000, second - early, second_end);
			job_collective(job, r, CT_OP_AllReduce, 1, second_end + 3000 * us,
				       second_end + 3100 * us);
		}
		at = second_end + 3200 * us;
	}
	job_close(job, at);
	return job_report(job, -1);
}

static void late_rank_of_two_is_named_though_transfers_vary(void **state)
{
	const uint64_t late_ns = 40000000;
	static struct job job;
	struct ct_report *report = two_ranks_with_buckets(&job, late_ns);
	const struct ct_finding *f = job_finding(report, CT_FINDING_STRAGGLER);
	const double true_ns = BUCKET_STEPS * (double)late_ns;

	(void)state;
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 1);
	assert_int_equal(f->ranks[0], 1);
	assert_true(fabs((double)f->time_lost_ns - true_ns) < (double)f->time_lost_err_ns);
	assert_true((double)f->time_lost_err_ns < 0.25 * true_ns);
	ct_report_free(report);
	report = two_ranks_with_buckets(&job, 0);
	assert_null(job_finding(report, CT_FINDING_STRAGGLER));
	ct_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_ranks_are_not_blamed),
		cmocka_unit_test(noise_blames_no_rank),
		cmocka_unit_test(harmless_differences_and_stalls_blame_no_one),
		cmocka_unit_test(ends_that_lie_apart_blame_no_one),
		cmocka_unit_test(rank_that_is_5_percent_slower_is_found),
		cmocka_unit_test(slow_rank_is_found_among_noise_and_stalls),
		cmocka_unit_test(slow_part_of_a_run_is_found_with_its_time),
		cmocka_unit_test(several_slow_ranks_are_named_together),
		cmocka_unit_test(severity_follows_the_share_of_the_run),
		cmocka_unit_test(a_burst_is_no_evidence),
		cmocka_unit_test(clocks_of_other_hosts_are_not_needed),
		cmocka_unit_test(errors_hold_where_noise_is_loud),
		cmocka_unit_test_setup_teardown(a_rank_that_was_held_up_elsewhere_is_not_blamed,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(lateness_to_operations_at_the_same_time_costs_once,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(late_rank_of_two_is_named_though_transfers_vary,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(late_start_of_a_rank_is_no_slowness, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(a_few_long_stalls_are_no_slow_rank, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(operations_that_lack_members_blame_no_one, fx_setup,
						fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
