/* SPDX-License-Identifier: Apache-2.0 */
/* Slow links in jobs whose truth is known: found, and reported exactly where the times show whose
 * link it is, as one of several where they do not; and nothing where no link is slow, whatever else
 * is.
 *
 * unit_links --measure SEEDS [WORKLOAD] prints how often each case comes out right. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/job.h"
#include "tools/synth/synth.h"

struct scene {
	const char *workload;
	int ranks, nodes, tp, pp;
	unsigned steps;
	const char *fault; /* NULL: none */
};

/* What the report says of links. */
struct told {
	unsigned slow_rows,
		wrong_rows; /* wrong: without the one or the other end of the slow link */
	unsigned exact_rows;
	unsigned links, ops;	     /* findings */
	uint64_t ranks;		     /* mask, of the first SLOW_LINK */
	double time_lost_ns, err_ns; /* of it */
	enum ct_verdict_code verdict;
	double injected_ns;
};

static int holds(const int *ranks, size_t n, int rank)
{
	for (size_t i = 0; i < n; i++)
		if (ranks[i] == rank)
			return 1;
	return 0;
}

static void read_rows(const struct ct_report *report, int src, int dst, struct told *told)
{
	for (size_t i = 0; i < report->n_links; i++) {
		const struct ct_report_link *l = &report->links[i];
		int both = holds(l->suspects, l->n_suspects, src) &&
			   holds(l->suspects, l->n_suspects, dst);

		if (!l->slow)
			continue;
		told->slow_rows++;
		told->wrong_rows += !both;
		told->exact_rows += both && !l->ambiguous && l->n_suspects == 2;
		assert_true(l->efficiency_ratio < 0.75);
	}
}

static void read_findings(const struct ct_report *report, struct told *told)
{
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct ct_finding *f = &report->findings[i];

		told->ops += f->kind == CT_FINDING_SLOW_OP;
		if (f->kind != CT_FINDING_SLOW_LINK || told->links++)
			continue;
		told->time_lost_ns = (double)f->time_lost_ns;
		told->err_ns = (double)f->time_lost_err_ns;
		for (size_t r = 0; r < f->n_ranks; r++)
			told->ranks |= 1ull << f->ranks[r];
	}
}

/* A line each in the text, and in it what the report holds. */
static void read_text(const struct ct_report *report, const struct told *told)
{
	char *text = job_text(report, 0), score[64];

	assert_true((report->score.why != NULL) == isnan(report->score.total));
	if (report->score.why)
		assert_null(strstr(text, "\nscore "));
	else
		snprintf(score, sizeof(score), "\nscore     total %.0f; grade %s; against",
			 report->score.total, report->score.grade);
	assert_true(report->score.why || strstr(text, score));
	assert_true((strstr(text, "; slow;") != NULL) == (told->slow_rows != 0));
	assert_true((strstr(text, "\nSLOW_LINK ") != NULL) == (told->links != 0));
	free(text);
}

static struct told play(const struct scene *scene, unsigned seed)
{
	struct ct_synth_options o = ct_synth_defaults();
	const struct job job = { .o.run = "run" };
	struct ct_synth_comparison *without;
	struct ct_synth_outcome outcome;
	struct told told = { 0 };
	struct ct_report *report;
	struct ct_err err = { 0 };
	char why[256];
	void *state;
	int dirfd;

	assert_int_equal(fx_setup(&state), 0);
	o.job.name = scene->workload;
	o.job.ranks = scene->ranks;
	o.job.nodes = scene->nodes;
	o.job.tp = scene->tp;
	o.job.pp = scene->pp;
	o.job.steps = scene->steps;
	o.job.seed = seed;
	o.offset_ms = 20;
	o.drift_ppm = 10;
	if (scene->fault && ct_fault_parse(scene->fault, &o.faults[0], why, sizeof(why)))
		fail_msg("%s", why);
	o.job.n_faults = scene->fault != NULL;
	fx_mkdir("run");
	dirfd = open(fx_path("run"), O_RDONLY | O_DIRECTORY);
	without = ct_synth_compare_begin(&o);
	if (ct_synth_write(&o, dirfd, &outcome, &err) ||
	    ct_synth_compare_end(without, &outcome, &err))
		fail_msg("%s", err.text);
	close(dirfd);
	told.injected_ns = scene->fault ? outcome.faults[0].injected_ns : 0;
	ct_synth_outcome_free(&outcome);
	report = job_report(&job, -1);
	assert_true(report->n_links > 0);
	read_rows(report, o.faults[0].src, o.faults[0].dst, &told);
	read_findings(report, &told);
	told.verdict = report->verdict.code;
	read_text(report, &told);
	ct_report_free(report);
	assert_int_equal(fx_teardown(&state), 0);
	return told;
}

/* ---- the cases ---- */

static const struct scene healthy[] = {
	{ "ddp", 8, 1, 0, 0, 30, NULL },       { "ddp", 8, 2, 0, 0, 30, NULL },
	{ "megatron", 8, 1, 2, 2, 30, NULL },  { "megatron", 8, 2, 2, 2, 30, NULL },
	{ "megatron", 16, 4, 2, 2, 30, NULL }, { "fsdp", 8, 2, 0, 0, 30, NULL },
	{ "moe", 8, 1, 0, 0, 30, NULL },       { "moe", 8, 2, 0, 0, 30, NULL },
	{ "decode", 8, 1, 0, 0, 30, NULL },
};

/* Everything but a link is slow. */
static const struct scene others[] = {
	{ "megatron", 8, 2, 2, 2, 30, "starve-sm:rank=2,ms=30" },
	{ "megatron", 8, 2, 2, 2, 30, "slow-rank:rank=2,pct=30" },
	{ "megatron", 8, 1, 2, 2, 30, "gpu-pause:rank=3,ms=200" },
	{ "moe", 8, 1, 0, 0, 30, "slow-rank:rank=5,pct=30" },
	{ "moe", 8, 2, 0, 0, 30, "slow-rank:rank=5,pct=10" },
	{ "moe", 3, 1, 0, 0, 30, "slow-rank:rank=2,pct=50" },
	{ "moe", 3, 3, 0, 0, 30, "slow-rank:rank=2,pct=50" },
	{ "moe", 4, 2, 0, 0, 30, "slow-rank:rank=2,pct=50" },
	{ "moe", 8, 2, 0, 0, 30, "starve-sm:rank=2,ms=10" },
	{ "ddp", 8, 2, 0, 0, 30, "starve-sm:rank=2,ms=30" },
	{ "fsdp", 8, 2, 0, 0, 30, "slow-host:host=1,pct=30" },
	{ "decode", 8, 1, 0, 0, 30, "starve-sm:rank=2,ms=10" },
};

/* The link lies in a communicator of two, or messages go over it. */
static const struct scene identifiable[] = {
	{ "megatron", 8, 1, 2, 2, 30, "slow-link:src=0,dst=1,factor=0.5" },
	{ "megatron", 8, 2, 2, 2, 30, "slow-link:src=6,dst=7,factor=0.5" },
	{ "megatron", 8, 2, 2, 2, 30, "slow-link:src=1,dst=3,factor=0.5" },
	{ "megatron", 8, 2, 2, 2, 30, "slow-link:src=0,dst=4,factor=0.5" },
	{ "megatron", 8, 2, 2, 2, 30, "slow-link:src=5,dst=1,factor=0.6" },
	{ "megatron", 16, 2, 2, 2, 30, "slow-link:src=10,dst=2,factor=0.5" },
	{ "moe", 8, 1, 0, 0, 30, "slow-link:src=0,dst=1,factor=0.4" },
	{ "moe", 8, 2, 0, 0, 30, "slow-link:src=0,dst=5,factor=0.4" },
};

/* One of more members. */
static const struct scene ambiguous[] = {
	{ "megatron", 16, 2, 4, 2, 30, "slow-link:src=0,dst=1,factor=0.5" },
	{ "megatron", 32, 4, 4, 2, 20, "slow-link:src=17,dst=18,factor=0.5" },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int is_silent(const struct told *told)
{
	return !told->slow_rows && !told->links && !told->ops &&
	       told->verdict != CT_VERDICT_SLOW_LINK;
}

/* Every slow row is about the two ends alone, and no other rank is reported to those who pay for
 * it. */
static int is_exact(const struct told *told, const struct scene *scene)
{
	struct ct_fault fault;
	char why[256];
	uint64_t ends;

	assert_int_equal(ct_fault_parse(scene->fault, &fault, why, sizeof(why)), 0);
	ends = 1ull << fault.src | 1ull << fault.dst;
	return told->exact_rows && !told->wrong_rows && told->exact_rows == told->slow_rows &&
	       (!told->links || (told->links == 1 && told->ranks == ends));
}

static int is_among(const struct told *told)
{
	return told->slow_rows && !told->wrong_rows && !told->exact_rows;
}

static void nothing_is_found_in_healthy_jobs(void **state)
{
	(void)state;
	for (size_t s = 0; s < COUNT(healthy); s++) {
		struct told told = play(&healthy[s], 1);

		if (!is_silent(&told))
			fail_msg("%s: rows %u findings %u %u", healthy[s].workload, told.slow_rows,
				 told.links, told.ops);
	}
}

static void a_rank_that_is_late_or_has_no_room_is_no_slow_link(void **state)
{
	(void)state;
	for (size_t s = 0; s < COUNT(others); s++) {
		struct told told = play(&others[s], 2);

		if (told.slow_rows || told.links || told.verdict == CT_VERDICT_SLOW_LINK)
			fail_msg("%s %s: rows %u findings %u", others[s].workload, others[s].fault,
				 told.slow_rows, told.links);
	}
}

static void a_slow_link_is_reported_exactly_where_it_can_be(void **state)
{
	(void)state;
	for (size_t s = 0; s < COUNT(identifiable); s++) {
		struct told told = play(&identifiable[s], 3);

		if (!is_exact(&told, &identifiable[s]))
			fail_msg("%s %s: slow rows %u, exact %u, wrong %u, findings %u",
				 identifiable[s].workload, identifiable[s].fault, told.slow_rows,
				 told.exact_rows, told.wrong_rows, told.links);
	}
}

static void a_slow_link_of_many_is_reported_as_one_of_them(void **state)
{
	(void)state;
	for (size_t s = 0; s < COUNT(ambiguous); s++) {
		struct told told = play(&ambiguous[s], 4);

		if (!is_among(&told))
			fail_msg("%s %s: slow rows %u, exact %u, wrong %u", ambiguous[s].workload,
				 ambiguous[s].fault, told.slow_rows, told.exact_rows,
				 told.wrong_rows);
	}
}

/* Where nothing hides it, what is reported is what it costs; and it is the verdict. */
static void what_a_slow_link_costs_is_reported(void **state)
{
	struct told told = play(&identifiable[3], 5);

	(void)state;
	assert_int_equal(told.links, 1);
	assert_int_equal(told.verdict, CT_VERDICT_SLOW_LINK);
	assert_true(told.time_lost_ns > 0.9 * told.injected_ns);
	assert_true(told.time_lost_ns < 1.25 * told.injected_ns);
	assert_true(told.err_ns < 0.1 * told.time_lost_ns);
}

/* One communicator: only its own past shows. */
static void what_becomes_slow_is_found_without_others(void **state)
{
	struct scene scene = { "fsdp", 8, 1, 0, 0, 40, "slow-link:src=0,dst=1,factor=0.4,from=28" };
	struct told told = play(&scene, 6);

	(void)state;
	assert_int_equal(told.slow_rows, 0);
	assert_int_equal(told.links, 0);
	assert_int_equal(told.ops, 1);
}

/* ---- figures for docs/dev/algorithms/links.md ---- */

static void measure(const struct scene *scene, unsigned seeds)
{
	unsigned exact = 0, among = 0, wrong = 0, silent = 0, links = 0;
	double loss = 0, injected = 0;

	for (unsigned seed = 0; seed < seeds; seed++) {
		struct told told = play(scene, 1000 + seed);
		int is_link = scene->fault && strncmp(scene->fault, "slow-link", 9) == 0;

		exact += is_link && is_exact(&told, scene);
		among += is_link && is_among(&told);
		wrong += is_link ? told.wrong_rows != 0 : told.slow_rows || told.links;
		silent += is_silent(&told) != 0;
		links += told.links != 0;
		loss += told.time_lost_ns / seeds / 1e6;
		injected += told.injected_ns / seeds / 1e6;
	}
	printf("%-9s %2d ranks %d nodes %-36s exact %u among %u wrong %u silent %u SLOW_LINK %u of "
	       "%u; "
	       "loss told %.1f injected %.1f ms\n",
	       scene->workload, scene->ranks, scene->nodes, scene->fault ? scene->fault : "-",
	       exact, among, wrong, silent, links, seeds, loss, injected);
	fflush(stdout);
}

static void measure_all(const struct scene *scenes, size_t n, unsigned seeds, const char *only)
{
	for (size_t s = 0; s < n; s++) {
		if (!only || strcmp(scenes[s].workload, only) == 0)
			measure(&scenes[s], seeds);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_found_in_healthy_jobs),
		cmocka_unit_test(a_rank_that_is_late_or_has_no_room_is_no_slow_link),
		cmocka_unit_test(a_slow_link_is_reported_exactly_where_it_can_be),
		cmocka_unit_test(a_slow_link_of_many_is_reported_as_one_of_them),
		cmocka_unit_test(what_a_slow_link_costs_is_reported),
		cmocka_unit_test(what_becomes_slow_is_found_without_others),
	};

	if (argc >= 3 && strcmp(argv[1], "--measure") == 0) {
		unsigned seeds = (unsigned)atoi(argv[2]);
		const char *only = argc > 3 ? argv[3] : NULL;

		measure_all(identifiable, COUNT(identifiable), seeds, only);
		measure_all(ambiguous, COUNT(ambiguous), seeds, only);
		measure_all(others, COUNT(others), seeds, only);
		measure_all(healthy, COUNT(healthy), seeds, only);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
