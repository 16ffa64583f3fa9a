/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that reduce gradients behind their backward pass, played by the rule in buckets.h and
 * written as traces: what the report says of exposed time, of gaps and of the size of buckets is
 * held against the play. A size that is suggested is played as well: it has to gain what was
 * reported.
 *
 * unit_study --measure SEEDS prints, for jobs of many shapes, how far reported and true figures are
 * apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/table.h"
#include "analyzer/findings/overhead_finding.h"
#include "tests/unit/job.h"
#include "trace/ops.h"

#define US 1000.0
#define MS (1000 * US)
#define MIB 1048576.0
enum { RANKS = 4, COMMS = 1, COMPUTE = 2, MOST = 600, ERR = 500 };

/* All ranks alike but for noise. */
struct shape {
	int steps;
	double forward_ms, backward_ms, optimizer_ms;
	int n; /* buckets */
	double bytes[MOST];
	double alpha_us, GBps; /* X = alpha + 1.5 * bytes / B */
	int at_the_end;	       /* nothing is reduced before the backward pass is done */
	int unseen;	       /* number of a step whose waits are not on record; 0 none */
	int no_waits;	       /* on record */
	unsigned seed;
	double late_us; /* the host calls each bucket so long after it was ready; 0: long ahead */
};

/* What happened, summed over the steps but the first, of rank 0. */
struct truth {
	double exposed_ns, wait_ns;
	double most_ns; /* of the rank that was exposed most in each step */
	double gaps_ns, late_ns;
	double step_ns; /* mean */
};

static struct job job;

static double chance(uint64_t a, uint64_t b)
{
	return (double)(ct_mix(a ^ ct_mix(b)) >> 11) / 9007199254740992.0;
}

static void put(int rank, uint32_t id, double bytes, double enter, double start, double end)
{
	job_op(&job, rank,
	       (struct ct_op){ .op = CT_OP_AllReduce,
			       .count = (uint64_t)(bytes / 4),
			       .peer = -1,
			       .dtype = CT_DTYPE_float32,
			       .seq = id - 1,
			       .comm = 1,
			       .enter_ns = (uint64_t)enter,
			       .return_ns = (uint64_t)enter + 400,
			       .launch = id });
	job_launch(&job, rank,
		   (struct ct_launch){ .id = id,
				       .comm = 1,
				       .stream = COMMS,
				       .n_ops = 1,
				       .start_ns = (uint64_t)start,
				       .end_ns = (uint64_t)end,
				       .start_err_ns = ERR,
				       .end_err_ns = ERR,
				       .start_source = CT_SOURCE_EVENT,
				       .end_source = CT_SOURCE_EVENT });
}

static void wait(int rank, uint32_t id, double begin)
{
	const struct ct_wait_rec rec = {
		.begin_ns = (uint64_t)begin + job.clock[rank],
		.issued_ns = (uint64_t)begin + job.clock[rank] - 3000000,
		.begin_err_ns = ERR,
		.launch = id,
		.after = id - 1,
		.waiter = COMPUTE,
		.via = COMMS,
	};

	job_rare(&job, rank, CT_KIND_WAIT, &rec, sizeof(rec));
}

/* One step from `at` on; returns when it is over. */
static double step(const struct shape *s, int c, double at, struct truth *t)
{
	double free_at[RANKS], done[RANKS], reached[RANKS], entered[RANKS], exposed[RANKS] = { 0 };
	double last = 0, total = 0, sum = 0, most = 0;

	for (int i = 0; i < s->n; i++)
		total += s->bytes[i];
	for (int r = 0; r < RANKS; r++) {
		double noise = 1 + 0.004 * (chance(s->seed, (uint64_t)(c * RANKS + r)) - 0.5);

		free_at[r] = at;
		done[r] = reached[r] = at + (s->forward_ms + s->backward_ms * noise) * MS;
		entered[r] = at - 8 * MS;
	}
	for (int i = 0; i < s->n; i++) {
		uint32_t id = (uint32_t)(c * s->n + i) + 1;
		double start[RANKS], x = s->alpha_us * US + 1.5 * s->bytes[i] / s->GBps, come = 0;

		sum += s->bytes[i];
		x *= 0.99 + 0.02 * chance(s->seed + 1, id);
		for (int r = 0; r < RANKS; r++) {
			double backward = done[r] - at - s->forward_ms * MS;
			double ready = s->at_the_end ? done[r]
						     : done[r] - backward * (1 - sum / total);

			entered[r] = s->late_us ? ready + s->late_us * US - 8 * US
						: entered[r] + 5 * US;
			ready += s->late_us * US;
			start[r] = ready > free_at[r] ? ready : free_at[r];
			come = start[r] > come ? start[r] : come;
		}
		for (int r = 0; r < RANKS; r++) {
			double end = come + x +
				     2 * US * chance(s->seed + 2, id * RANKS + (uint64_t)r);

			if (r == 0 && i > 0 && c > 0)
				t->gaps_ns += start[0] - free_at[0];
			if (c > 0 && end > reached[r]) {
				double from = start[r] > reached[r] ? start[r] : reached[r];

				exposed[r] += end - from;
				t->wait_ns += r == 0 && come > from ? come - from : 0;
			}
			put(r, id, s->bytes[i], entered[r], start[r], end);
			if (!s->no_waits && (!s->unseen || c != s->unseen))
				wait(r, id, reached[r]);
			reached[r] = end > reached[r] ? end : reached[r];
			free_at[r] = end;
			last = end > last ? end : last;
			last = done[r] > last ? done[r] : last;
		}
	}
	for (int r = 0; r < RANKS; r++)
		most = exposed[r] > most ? exposed[r] : most;
	t->exposed_ns += exposed[0];
	t->most_ns += most;
	return last + s->optimizer_ms * MS;
}

static struct ct_report *play(const struct shape *s, struct truth *t)
{
	const int all[RANKS] = { 0, 1, 2, 3 };
	double at = 10 * MS, first = 0;

	*t = (struct truth){ 0 };
	job_open(&job,
		 &(struct job_options){ .run = "run", .ranks = RANKS, .backend = CT_BACKEND_NCCL });
	job_comm(&job, 1, JOB_COMM, "world", all, RANKS);
	for (int c = 0; c < s->steps; c++) {
		at = step(s, c, at, t);
		first = c ? first : at;
	}
	t->step_ns = (at - first) / (s->steps - 1);
	job_close(&job, (uint64_t)at);
	return job_report(&job, -1);
}

/* A play of its own directory, for tests of several. */
static struct ct_report *play_alone(const struct shape *s, struct truth *t)
{
	struct ct_report *report;
	void *state;

	assert_int_equal(fx_setup(&state), 0);
	report = play(s, t);
	assert_int_equal(fx_teardown(&state), 0);
	return report;
}

/* ---- shapes ---- */

/* 100 MB in buckets of about 25 behind a backward pass of 20 ms: as DistributedDataParallel does
 * it, and all is well. */
static struct shape usual(unsigned seed)
{
	struct shape s = { .steps = 40,
			   .forward_ms = 10,
			   .backward_ms = 20,
			   .optimizer_ms = 2,
			   .n = 5,
			   .bytes = { 8e6, 31e6, 26e6, 27e6, 9e6 },
			   .alpha_us = 20,
			   .GBps = 150,
			   .seed = seed };

	return s;
}

static void equal_sizes(struct shape *s, double total, int n)
{
	s->n = n;
	for (int i = 0; i < n; i++) {
		/* not quite equal: that is what shows buckets from layers */
		s->bytes[i] = 4 * floor(total / n *
					(i % 4 < 2 ? 1 - 0.2 * (i % 2) : 1 + 0.2 * (i % 2)) / 4);
	}
}

/* 8 MB in 160 pieces of 12 to 96 kB. */
static struct shape crumbs(unsigned seed)
{
	struct shape s = { .steps = 40,
			   .forward_ms = 2,
			   .backward_ms = 4,
			   .optimizer_ms = 0.5,
			   .alpha_us = 30,
			   .GBps = 150,
			   .seed = seed };

	s.n = 160;
	for (int i = 0; i < s.n; i++)
		s.bytes[i] = 4 * floor(3000 * exp2(3 * chance(99, (uint64_t)i)));
	return s;
}

/* A small one and a large one that is ready last. */
static struct shape late_last(unsigned seed)
{
	struct shape s = { .steps = 40,
			   .forward_ms = 5,
			   .backward_ms = 10,
			   .optimizer_ms = 1,
			   .n = 3,
			   .bytes = { 1e6, 20e6, 180e6 },
			   .alpha_us = 20,
			   .GBps = 100,
			   .seed = seed };

	return s;
}

/* ---- tests ---- */

static void assert_near(double told, double truth, double off)
{
	if (!(fabs(told - truth) <= off))
		fail_msg("told %g, true %g, more than %g apart", told, truth, off);
}

static void compare(const struct shape *s, const struct ct_report *report, const struct truth *t)
{
	const struct ct_report_stream_idle *g = report->stream_idle;
	double steps = (double)report->steps.count;
	uint64_t sum = 0;

	assert_in_range(report->steps.count, s->steps - 2, s->steps);
	assert_int_equal(report->n_stream_idle, RANKS);
	assert_int_equal(g->rank, 0);
	assert_int_equal(g->steps, report->steps.count);
	/* steps are cut somewhere else than in the play, so that one in forty may be missing on
	 * either side */
	assert_near((double)g->exposed_ns / steps, t->exposed_ns / (s->steps - 1),
		    (double)g->exposed_err_ns / steps + 2 * US);
	assert_near((double)g->exposed_wait_ns / steps, t->wait_ns / (s->steps - 1), 3 * US);
	assert_int_equal(g->exposed_wait_ns + g->exposed_transfer_ns, g->exposed_ns);
	assert_near((double)g->steps_ns / steps, t->step_ns, 10 * US);
	for (size_t i = 0; i < report->steps.n_items; i++)
		sum += report->steps.items[i].exposed_ns;
	assert_near((double)sum / steps, t->most_ns / (s->steps - 1), 15 * US);
	/* one communicator: all its members' */
	sum = 0;
	for (size_t r = 0; r < report->n_stream_idle; r++)
		sum += report->stream_idle[r].exposed_ns;
	assert_int_equal(report->comms[0].steps_exposed_ns, sum);
	assert_true(report->comms[0].steps_exposed_wait_ns < sum);
	/* the host is long ahead: what the stream stood idle, its input was not ready */
	assert_int_equal(g->idle_host_bound_ns, 0);
	assert_true(report->step_time.has_steps);
	assert_near(report->exposed.median_pct, 100 * t->exposed_ns / (s->steps - 1) / t->step_ns,
		    0.1);
}

static void exposed_time_and_gaps_are_those_of_the_play(void **state)
{
	const double rates[] = { 150, 30, 6 };

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct shape s = usual(1);
		struct ct_report *report;
		struct truth t;

		s.GBps = rates[k];
		report = play_alone(&s, &t);
		compare(&s, report, &t);
		/* of 30 GB/s the stream is busy for a sixth of the time, and a fortieth is exposed */
		if (k < 2) {
			assert_int_equal(report->verdict.code, CT_VERDICT_NOT_COMMUNICATION);
			assert_int_equal(report->n_findings, 0);
			assert_true(report->verdict.gain_max_pct ==
				    report->exposed.max_pct + report->exposed.err_pct);
		}
		ct_report_free(report);
	}
}

static void a_host_that_calls_late_is_distinguished_from_input_that_is_not_ready(void **state)
{
	struct shape s = usual(2);
	const struct ct_report_stream_idle *g;
	struct ct_report *report;
	struct truth t;
	double steps, late, idle;

	(void)state;
	s.late_us = 200;
	report = play(&s, &t);
	g = report->stream_idle;
	steps = (double)report->steps.count;
	assert_true(steps > 0);
	idle = (double)(g->idle_host_bound_ns + g->idle_waiting_for_compute_ns + g->idle_launch_ns);
	/* the host comes when all is ready: nothing is waited for but its call */
	late = (double)g->idle_host_bound_ns;
	assert_true(late > 0.99 * idle);
	/* within steps that end with a bucket, one gap is between the last of a step and the first
	 * of the next */
	assert_true(idle >= 0.99 * t.gaps_ns * steps / (s.steps - 1));
	ct_report_free(report);
}

static void without_waits_on_record_exposed_time_is_not_known(void **state)
{
	struct shape s = usual(3);
	struct ct_report *report;
	struct truth t;

	(void)state;
	s.at_the_end = 1;
	s.no_waits = 1;
	report = play(&s, &t);
	assert_true(isnan(report->exposed.median_pct));
	assert_true(report->steps.items[0].exposed_ns == CT_UNKNOWN);
	assert_true(report->stream_idle[0].exposed_ns == CT_UNKNOWN);
	assert_true(report->comms[0].steps_exposed_ns == CT_UNKNOWN);
	assert_true(report->stream_idle[0].idle_waiting_for_compute_ns != CT_UNKNOWN);
	assert_null(job_finding(report, CT_FINDING_COMM_SHARE));
	assert_null(job_finding(report, CT_FINDING_EXPOSED_COMM));
	assert_null(job_finding(report, CT_FINDING_BUCKETS));
	ct_report_free(report);
}

static void a_step_without_waits_on_record_is_not_known_alone(void **state)
{
	struct shape s = usual(6);
	struct ct_report *report;
	uint64_t unknown = 0, sum = 0;
	struct truth t;

	(void)state;
	s.unseen = 20;
	report = play(&s, &t);
	for (size_t k = 0; k < report->steps.n_items; k++)
		unknown += report->steps.items[k].exposed_ns == CT_UNKNOWN;
	/* steps are cut somewhere within the play's */
	assert_in_range(unknown, 1, 2);
	assert_int_equal(report->stream_idle[0].steps + unknown, report->steps.count);
	for (size_t r = 0; r < report->n_stream_idle; r++)
		sum += report->stream_idle[r].exposed_ns;
	assert_int_equal(report->comms[0].steps_exposed_ns, sum);
	assert_near(report->exposed.median_pct, 100 * t.exposed_ns / (s.steps - 1) / t.step_ns,
		    0.1);
	ct_report_free(report);
}

static void good_overlap_is_no_finding_in_100_seeds(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 100; seed++) {
		struct shape s = usual(100 + seed);
		struct ct_report *report;
		struct truth t;

		s.steps = 12;
		report = play_alone(&s, &t);
		if (report->n_findings)
			fail_msg("seed %u: %s %s", seed, ct_finding_name(report->findings[0].kind),
				 job_pairs(&report->findings[0]));
		assert_int_equal(report->verdict.code, CT_VERDICT_NOT_COMMUNICATION);
		ct_report_free(report);
	}
}

static double evidence(const struct ct_finding *f, const char *name)
{
	for (size_t i = 0; i < f->n_evidence; i++)
		if (strcmp(f->evidence[i].name, name) == 0)
			return f->evidence[i].value;
	fail_msg("no evidence %s", name);
	return 0;
}

/* The gain that is reported, and what the suggested size gains when it is played. */
static void try_it(const struct shape *s, double *told, double *err, double *gained, double *cap)
{
	struct shape better = *s;
	struct ct_report *report;
	const struct ct_finding *f;
	struct truth before, after;
	double total = 0;

	report = play_alone(s, &before);
	f = job_finding(report, CT_FINDING_BUCKETS);
	*told = *gained = NAN;
	if (f) {
		*cap = evidence(f, "suggested_bucket_cap_mb") * MIB;
		*told = evidence(f, "gain_in_a_step");
		for (size_t i = 0; i < f->n_evidence; i++)
			if (strcmp(f->evidence[i].name, "gain_in_a_step") == 0)
				*err = f->evidence[i].err;
		for (int i = 0; i < s->n; i++)
			total += s->bytes[i];
		equal_sizes(&better, total, (int)ceil(total / *cap));
	}
	ct_report_free(report);
	if (!f)
		return;
	report = play_alone(&better, &after);
	ct_report_free(report);
	*gained = before.step_ns - after.step_ns;
}

static void the_suggested_size_gains_what_is_reported(void **state)
{
	struct shape (*const shapes[])(unsigned) = { crumbs, late_last };
	const char *const problems[] = { "problem=too-small", "problem=last-late" };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct shape s = shapes[k](7);
		double told, err, gained, cap;
		struct ct_report *report;
		const struct ct_finding *f;
		struct truth t;

		report = play_alone(&s, &t);
		f = job_finding(report, CT_FINDING_BUCKETS);
		assert_non_null(f);
		assert_non_null(strstr(job_pairs(f), problems[k]));
		assert_int_equal(report->verdict.code, CT_VERDICT_POOR_OVERLAP);
		assert_true(f->time_lost_pct > 2);
		ct_report_free(report);
		try_it(&s, &told, &err, &gained, &cap);
		assert_near(told, gained, err + 0.15 * gained);
		assert_true(gained > 0.02 * t.step_ns);
	}
}

static void communication_that_is_not_hidden_is_poor_overlap(void **state)
{
	struct shape s = usual(4);
	const struct ct_finding *f;
	struct ct_report *report;
	struct truth t;

	(void)state;
	s.at_the_end = 1;
	s.GBps = 10;
	report = play(&s, &t);
	f = job_finding(report, CT_FINDING_COMM_SHARE);
	assert_non_null(f);
	assert_near(f->time_lost_pct, 100 * (t.exposed_ns - t.wait_ns) / (s.steps - 1) / t.step_ns,
		    0.5);
	assert_int_equal(f->severity, CT_SEVERITY_WARNING);
	assert_int_equal(f->n_ranks, 0);
	assert_int_equal(report->verdict.code, CT_VERDICT_POOR_OVERLAP);
	ct_report_free(report);
}

static void communication_that_takes_longer_than_computing_is_the_bound(void **state)
{
	struct shape s = usual(5);
	struct ct_report *report;
	struct truth t;

	(void)state;
	s.GBps = 2.5;
	report = play(&s, &t);
	assert_non_null(job_finding(report, CT_FINDING_COMM_SHARE));
	assert_null(job_finding(report, CT_FINDING_BUCKETS));
	assert_int_equal(report->verdict.code, CT_VERDICT_COMM_BOUND);
	assert_true(report->verdict.gain_max_pct > 30);
	ct_report_free(report);
}

/* ---- what recording costs ---- */

/* The findings of one process that took this much in wrappers, and halved what it timed that often.
 */
static size_t cost_findings(double pct, uint64_t wrapper_ns, uint64_t halved, double timed,
			    enum ct_severity *severity)
{
	struct ct_report_overhead cost = { .rank = 3,
					   .wrapper_pct = pct,
					   .wrapper_ns = wrapper_ns,
					   .on_gpu = 1,
					   .coarsest = halved };
	struct ct_report report = { .overhead = &cost, .n_overhead = 1, .overhead_pct = pct };
	struct ct_arena *memory = ct_arena_new();
	struct ct_findings list = { .memory = memory };
	size_t n;

	assert_non_null(memory);
	report.run.timed_ratio = timed;
	ct_finding_tracer_overhead(&report, &list);
	n = list.n;
	if (n) {
		assert_int_equal(list.all[0].kind, CT_FINDING_TRACER_OVERHEAD);
		assert_int_equal(list.all[0].n_ranks, 1);
		assert_int_equal(list.all[0].ranks[0], 3);
		*severity = list.all[0].severity;
	}
	ct_findings_fini(&list);
	ct_arena_free(memory);
	return n;
}

static void recording_that_costs_more_than_it_promises_is_reported(void **state)
{
	enum ct_severity severity = CT_SEVERITY_INFO;

	(void)state;
	assert_int_equal(cost_findings(1.5, 3000000000u, 0, 1, &severity), 1);
	assert_int_equal(severity, CT_SEVERITY_WARNING);
	assert_int_equal(cost_findings(0.9, 3000000000u, 0, 1, &severity), 0);
	assert_int_equal(cost_findings(30, 1000000, 0, 1, &severity), 0); /* a short run's start */
	assert_int_equal(cost_findings(NAN, CT_UNKNOWN, 0, 1, &severity), 0);
	assert_int_equal(cost_findings(0.1, 1000000, 2, 0.25, &severity), 1);
	assert_int_equal(severity, CT_SEVERITY_INFO);
	assert_int_equal(cost_findings(0.1, 1000000, 2, 0.95, &severity), 0);
}

/* ---- figures for docs/dev/algorithms/overlap.md ---- */

static int measure(unsigned seeds)
{
	struct shape (*const shapes[])(unsigned) = { usual, crumbs, late_last };
	const char *const names[] = { "usual", "crumbs", "late last" };

	for (int k = 0; k < 3; k++) {
		double ratio_least = INFINITY, ratio_most = 0, off = 0;
		unsigned found = 0;

		for (unsigned seed = 0; seed < seeds; seed++) {
			struct shape s = shapes[k](1000 + seed);
			double told, err, gained, cap, share;
			struct ct_report *report;
			struct truth t;

			s.GBps *= 0.5 + chance(seed, 1);
			s.alpha_us *= 0.5 + chance(seed, 2);
			s.backward_ms *= 0.5 + chance(seed, 3);
			report = play_alone(&s, &t);
			share = 100 * t.exposed_ns / (s.steps - 1) / t.step_ns;
			off = fmax(off, fabs(report->exposed.median_pct - share));
			ct_report_free(report);
			try_it(&s, &told, &err, &gained, &cap);
			if (isnan(told))
				continue;
			found++;
			ratio_least = fmin(ratio_least, told / gained);
			ratio_most = fmax(ratio_most, told / gained);
			if (fabs(told - gained) > err + 0.15 * gained)
				printf("    seed %u: %d buckets, cap %.1f MiB: told %.0f±%.0f us, "
				       "gained %.0f us of %.2f ms\n",
				       1000 + seed, s.n, cap / MIB, told / US, err / US,
				       gained / US, t.step_ns / MS);
		}
		printf("%-10s exposed share off by %.3f points at most; sizes suggested in %u of "
		       "%u, told / gained %.2f .. %.2f\n",
		       names[k], off, found, seeds, ratio_least, ratio_most);
	}
	return 0;
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exposed_time_and_gaps_are_those_of_the_play),
		ON_DISK(a_host_that_calls_late_is_distinguished_from_input_that_is_not_ready),
		ON_DISK(without_waits_on_record_exposed_time_is_not_known),
		ON_DISK(a_step_without_waits_on_record_is_not_known_alone),
		cmocka_unit_test(good_overlap_is_no_finding_in_100_seeds),
		cmocka_unit_test(the_suggested_size_gains_what_is_reported),
		ON_DISK(communication_that_is_not_hidden_is_poor_overlap),
		ON_DISK(communication_that_takes_longer_than_computing_is_the_bound),
		cmocka_unit_test(recording_that_costs_more_than_it_promises_is_reported),
	};

	if (argc == 3 && strcmp(argv[1], "--measure") == 0)
		return measure((unsigned)strtoul(argv[2], NULL, 10));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
