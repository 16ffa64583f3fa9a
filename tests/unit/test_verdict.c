/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict's sentence on jobs whose truth is known: what it says, and which ranks it does not
 * name.
 *
 * unit_verdict --measure RUNS plays so many healthy jobs and prints which first lines there were. */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/job.h"
#include "tools/synth/synth.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct scene {
	const char *workload;
	int ranks, nodes;
	unsigned steps, seed;
	double noise_pct, hiccup_rate, hiccup_ms;
	const char *faults[2];
};

static struct ct_report *play(const struct scene *scene)
{
	struct ct_synth_options o = ct_synth_defaults();
	const struct job job = { .o.run = "run" };
	struct ct_synth_outcome outcome;
	struct ct_report *report;
	struct ct_err err = { 0 };
	char why[256];
	int dirfd;

	o.job.name = scene->workload;
	o.job.ranks = scene->ranks;
	o.job.nodes = scene->nodes;
	o.job.steps = scene->steps;
	o.job.seed = scene->seed;
	o.world.noise_pct = scene->noise_pct;
	o.world.hiccup_rate = scene->hiccup_rate;
	o.world.hiccup_ms = scene->hiccup_ms;
	for (size_t f = 0; f < 2 && scene->faults[f]; f++, o.job.n_faults++) {
		if (ct_fault_parse(scene->faults[f], &o.faults[f], why, sizeof(why)))
			fail_msg("%s", why);
	}
	fx_mkdir("run");
	dirfd = open(fx_path("run"), O_RDONLY | O_DIRECTORY);
	assert_true(dirfd >= 0);
	if (ct_synth_write(&o, dirfd, &outcome, &err) != CT_OK)
		fail_msg("%s", err.text);
	close(dirfd);
	ct_synth_outcome_free(&outcome);
	report = job_report(&job, -1);
	return report;
}

/* Is a rank named: "rank 3", "ranks 1,4"; not "on 4 ranks", "of rank"? */
static int names_rank(const char *text)
{
	for (const char *at = text; (at = strstr(at, "rank")); at += 4) {
		const char *next = at + 4 + (at[4] == 's');

		if (*next == ' ' && isdigit((unsigned char)next[1]))
			return 1;
	}
	return 0;
}

struct said {
	const char *name;
	struct scene scene;
	enum ct_verdict_code code;
	const char *says[3]; /* parts of the sentence */
	const char *never;
	int names;
};

static void hold(const struct said *s)
{
	struct ct_report *report;
	const char *text;
	void *state;

	assert_int_equal(fx_setup(&state), 0);
	report = play(&s->scene);
	text = report->verdict.text;
	if (report->verdict.code != s->code)
		fail_msg("%s: %s: %s", s->name, ct_verdict_name(report->verdict.code), text);
	if (ct_verdict_level(s->code) >= CT_VERDICT_IS_WARNING && s->code != CT_VERDICT_HANG &&
	    (!report->n_findings || report->verdict.about != report->findings))
		fail_msg("%s: about no finding: %s", s->name, text);
	for (size_t i = 0; i < COUNT(s->says) && s->says[i]; i++) {
		if (!strstr(text, s->says[i]))
			fail_msg("%s: no \"%s\" in: %s", s->name, s->says[i], text);
	}
	if ((s->never && strstr(text, s->never)) || names_rank(text) != s->names)
		fail_msg("%s: %s", s->name, text);
	ct_report_free(report);
	assert_int_equal(fx_teardown(&state), 0);
}

static void hold_all(const struct said *said, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hold(&said[i]);
}

/* ---- no rank is slow ---- */

/* One of the healthy jobs: all workloads, short and long, with noise, stalls of all ranks and a
 * lost trace now and then. */
static struct scene healthy(unsigned i)
{
	static const char *const workloads[] = { "ddp", "megatron", "fsdp", "moe", "decode" };
	static const unsigned steps[] = { 1, 2, 3, 5, 8, 13, 20, 30, 45, 60 };
	static const double noise[] = { 0, 0.5, 1, 2, 5 };
	static const char *const lost[] = { NULL, NULL, NULL, "drop-trace:rank=3" };
	unsigned k = i / COUNT(workloads);

	return (struct scene){ .workload = workloads[i % COUNT(workloads)],
			       .ranks = k % 3 ? 8 : 4,
			       .nodes = 1 + (int)(k % 2),
			       .steps = steps[(k * 7 + i) % COUNT(steps)],
			       .seed = 1000 + i,
			       .noise_pct = noise[(i + k) % COUNT(noise)],
			       .hiccup_rate = i % 2 ? 0.02 : 0,
			       .hiccup_ms = 20,
			       .faults = { lost[(i + k) % COUNT(lost)] } };
}

static void in_healthy_jobs_no_rank_is_named(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 65; i++) {
		struct scene scene = healthy(i);
		struct ct_report *report;
		void *fixture;

		assert_int_equal(fx_setup(&fixture), 0);
		report = play(&scene);
		if (names_rank(report->verdict.text))
			fail_msg("%u, %s, %u steps: %s: %s", i, scene.workload, scene.steps,
				 ct_verdict_name(report->verdict.code), report->verdict.text);
		ct_report_free(report);
		assert_int_equal(fx_teardown(&fixture), 0);
	}
}

static void stalls_of_equal_ranks_are_counted_and_no_rank_is_named(void **state)
{
	static const struct said said = { "stalls of all",
					  { "ddp", 8, 2, 60, 3, 2, 0.03, 40, { NULL } },
					  CT_VERDICT_IMBALANCE,
					  { "costs ", "no single rank causes it" },
					  NULL,
					  0 };

	struct ct_report *report;
	void *fixture;

	(void)state;
	hold(&said);
	/* for stalls that hit any rank, a busy machine may be the reason as well as the work */
	assert_int_equal(fx_setup(&fixture), 0);
	report = play(&said.scene);
	assert_int_equal(report->findings[0].kind, CT_FINDING_IMBALANCE);
	assert_int_equal(report->findings[0].confidence, CT_CONFIDENCE_LOW);
	assert_non_null(strstr(report->findings[0].cause, "a busy machine"));
	/* the cause and the finding's note say so */
	assert_null(report->verdict.note);
	assert_null(strstr(report->findings[0].advice, "pack sequences"));
	ct_report_free(report);
	assert_int_equal(fx_teardown(&fixture), 0);
}

/* Each hides what the other one costs, and of so few steps there is no replay. */
static void equally_slow_ranks_are_no_health_where_there_is_no_replay(void **state)
{
	static const struct said said = {
		"six steps with a slow host",
		{ "ddp", 8, 2, 6, 1, 0, 0, 0, { "slow-host:host=0,pct=40" } },
		CT_VERDICT_NOT_ENOUGH_EVIDENCE,
		{ "ranks wait for each other for ",
		  "no single rank causes it; these timings do not show which" },
		NULL,
		0
	};

	(void)state;
	hold(&said);
}

/* ---- something is missing ---- */

static void a_lost_trace_is_what_is_said_first(void **state)
{
	static const struct said said[] = {
		{ "pipeline, nobody slow",
		  { "megatron", 8, 1, 30, 1, 2, 0, 0, { "drop-trace:rank=4" } },
		  CT_VERDICT_NOT_ENOUGH_EVIDENCE,
		  { "only 7 of 8 ranks left a trace; the others waited for each other" },
		  "too unevenly",
		  0 },
		{ "one communicator",
		  { "ddp", 8, 1, 30, 1, 2, 0, 0, { "drop-trace:rank=4" } },
		  CT_VERDICT_NOT_ENOUGH_EVIDENCE,
		  { "only 7 of 8 ranks left a trace" },
		  NULL,
		  0 },
	};

	(void)state;
	hold_all(said, COUNT(said));
}

/* Whose trace is lost may have come later still: who came last of the others is said, and not that
 * they waited for it. */
static void the_last_rank_of_those_that_left_a_trace_is_reported(void **state)
{
	static const struct said said[] = {
		{ "rank 2 is slow",
		  { "ddp", 8, 1, 40, 1, 2, 0, 0, { "slow-rank:rank=2,pct=10", "drop-trace:rank=5" } },
		  CT_VERDICT_NOT_ENOUGH_EVIDENCE,
		  { "only 7 of 8 ranks left a trace; of the recorded ranks, rank 2 was last in " },
		  "waiting",
		  1 },
		{ "it is rank 5 that is slow",
		  { "ddp", 8, 1, 40, 1, 2, 0, 0, { "slow-rank:rank=5,pct=10", "drop-trace:rank=5" } },
		  CT_VERDICT_NOT_ENOUGH_EVIDENCE,
		  { "only 7 of 8 ranks left a trace; too few" },
		  NULL,
		  0 },
	};

	(void)state;
	hold_all(said, COUNT(said));
}

static void the_end_of_a_file_that_is_cut_is_no_bad_end(void **state)
{
	static const struct said said = {
		"cut",
		{ "megatron", 8, 1, 30, 1, 2, 0, 0, { "truncate:rank=4,keep=0.5" } },
		CT_VERDICT_NOT_ENOUGH_EVIDENCE,
		{ "records of rank 4 are missing" },
		"end",
		1
	};

	(void)state;
	hold(&said);
}

/* ---- something happened ---- */

static void how_a_rank_was_seen_to_end_is_said(void **state)
{
	static const struct said said[] = {
		{ "exit",
		  { "ddp", 8, 1, 30, 1, 0, 0, 0, { "exit:rank=3,op=90,code=7" } },
		  CT_VERDICT_HANG,
		  { "rank 3 (node0) died: exit status 7; 7 ranks waiting" },
		  NULL,
		  1 },
		{ "silent",
		  { "ddp", 8, 1, 30, 1, 0, 0, 0, { "kill:rank=2,op=77" } },
		  CT_VERDICT_NOT_ENOUGH_EVIDENCE,
		  /* without its ring, its last second is not on record (unit.exit_order) */
		  { "operations in flight", "the reason is not known" },
		  "heartbeat",
		  0 },
	};

	(void)state;
	hold_all(said, COUNT(said));
}

static void one_long_stall_is_reported_and_held_against_no_one(void **state)
{
	static const char *const workloads[] = { "ddp", "megatron", "fsdp", "moe", "decode" };
	struct said said = { "one stall",
			     { NULL, 8, 1, 30, 1, 2, 0, 0, { "gpu-pause:rank=3,ms=300" } },
			     CT_VERDICT_NOT_ENOUGH_EVIDENCE,
			     { "one stall of 300 ms at step ", "; by rank 3; ",
			       "no rank is steadily late" },
			     "keep",
			     1 };

	(void)state;
	for (size_t w = 0; w < COUNT(workloads); w++) {
		said.scene.workload = workloads[w];
		hold(&said);
	}
}

/* Its kernel had no SMs: that the transfers were not slow these times do not show. */
static void what_is_held_against_no_one_is_not_healthy(void **state)
{
	static const struct said said[] = {
		{ "decode",
		  { "decode", 8, 2, 30, 1, 2, 0, 0, { "starve-sm:rank=2,ms=10" } },
		  CT_VERDICT_NOT_ENOUGH_EVIDENCE,
		  { "late ranks or slow links cost at most ", "cannot distinguish" },
		  NULL,
		  0 },
		{ "megatron",
		  { "megatron", 8, 2, 30, 1, 2, 0, 0, { "starve-sm:rank=2,ms=10" } },
		  CT_VERDICT_NOT_ENOUGH_EVIDENCE,
		  { "late ranks or slow links cost at most ", "cannot distinguish" },
		  NULL,
		  0 },
	};

	(void)state;
	hold_all(said, COUNT(said));
}

/* ---- what leads ---- */

static void stalls_say_how_often(void **state)
{
	static const struct said said = {
		"every 10",
		{ "ddp", 8, 2, 60, 1, 1, 0, 0, { "pause:rank=3,every=10,ms=100" } },
		CT_VERDICT_STRAGGLER,
		{ "rank 3 (node0), ", " every 10 steps" },
		"now and then",
		1
	};

	(void)state;
	hold(&said);
}

static void the_verdict_is_the_first_finding(void **state)
{
	static const struct scene scenes[] = {
		{ "fsdp", 8, 2, 60, 1, 1, 0, 0, { "slow-rank:rank=5,pct=50" } },
		{ "fsdp", 8, 2, 60, 1, 1, 0, 0, { "slow-rank:rank=5,pct=10" } },
	};

	(void)state;
	for (size_t s = 0; s < COUNT(scenes); s++) {
		struct ct_report *report;
		void *fixture;
		int names;

		assert_int_equal(fx_setup(&fixture), 0);
		report = play(&scenes[s]);
		assert_true(report->n_findings >= 2);
		names = report->findings[0].kind == CT_FINDING_STRAGGLER;
		assert_int_equal(report->findings[0].id, 1);
		assert_true(report->verdict.gain_max_pct == report->findings[0].time_lost_pct);
		/* communication costs more than the one that is hardly worth a look, and less than
		 * the other */
		assert_int_equal(report->verdict.code == CT_VERDICT_STRAGGLER, names);
		assert_int_equal(names, s == 0);
		assert_true(names_rank(report->verdict.text));
		ct_report_free(report);
		assert_int_equal(fx_teardown(&fixture), 0);
	}
}

static void what_became_much_slower_goes_before_how_it_overlaps(void **state)
{
	static const struct said said = {
		"slow from step 40 on",
		{ "ddp", 8, 2, 80, 1, 1, 0, 0, { "slow-link:src=3,dst=4,factor=0.2,from=40" } },
		CT_VERDICT_CHANGE_POINT,
		{ "from step ", " to ", "inside communication is longer" },
		NULL,
		0
	};

	(void)state;
	hold(&said);
}

/* One communicator: only its own past is evidence, and not about a particular rank. */
static void transfers_that_became_slow_are_not_healthy(void **state)
{
	static const struct said said = {
		"slow from step 28 on",
		{ "fsdp", 8, 1, 40, 6, 0, 0, 0, { "slow-link:src=0,dst=1,factor=0.4,from=28" } },
		CT_VERDICT_NOT_ENOUGH_EVIDENCE,
		{ " on ", "at most ", "a slow link" },
		NULL,
		0
	};

	(void)state;
	hold(&said);
}

/* ---- figures ---- */

static int measure(unsigned runs)
{
	unsigned named = 0;

	for (unsigned i = 0; i < runs; i++) {
		struct scene scene = healthy(i);
		struct ct_report *report;
		void *fixture;

		assert_int_equal(fx_setup(&fixture), 0);
		report = play(&scene);
		named += names_rank(report->verdict.text) != 0;
		printf("%s %s %u: %s: %s\n", names_rank(report->verdict.text) ? "NAMED" : "-",
		       scene.workload, scene.steps, ct_verdict_name(report->verdict.code),
		       report->verdict.text);
		ct_report_free(report);
		assert_int_equal(fx_teardown(&fixture), 0);
	}
	printf("a rank is named in %u of %u healthy runs\n", named, runs);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_healthy_jobs_no_rank_is_named),
		cmocka_unit_test(stalls_of_equal_ranks_are_counted_and_no_rank_is_named),
		cmocka_unit_test(equally_slow_ranks_are_no_health_where_there_is_no_replay),
		cmocka_unit_test(a_lost_trace_is_what_is_said_first),
		cmocka_unit_test(the_last_rank_of_those_that_left_a_trace_is_reported),
		cmocka_unit_test(the_end_of_a_file_that_is_cut_is_no_bad_end),
		cmocka_unit_test(how_a_rank_was_seen_to_end_is_said),
		cmocka_unit_test(one_long_stall_is_reported_and_held_against_no_one),
		cmocka_unit_test(what_is_held_against_no_one_is_not_healthy),
		cmocka_unit_test(stalls_say_how_often),
		cmocka_unit_test(the_verdict_is_the_first_finding),
		cmocka_unit_test(what_became_much_slower_goes_before_how_it_overlaps),
		cmocka_unit_test(transfers_that_became_slow_are_not_healthy),
	};

	if (argc == 3 && strcmp(argv[1], "--measure") == 0)
		return measure((unsigned)atoi(argv[2]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
