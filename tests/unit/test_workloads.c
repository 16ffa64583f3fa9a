/* SPDX-License-Identifier: Apache-2.0 */
/* The workloads of real training on GPUs, healthy and with a slow rank: exactly that one is named,
 * whatever else is late because of it, and none without it.
 *
 * unit_workloads --measure SEEDS prints how often each case comes out right. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/gpu_job.h"
#include "tests/unit/seeds.h"

struct outcome {
	uint64_t blamed; /* mask of ranks */
	double time_lost_pct;
	uint64_t matched, end_ns;
	double step_ns; /* mean */
	char text[160];
};

static struct outcome run(struct gpu_job options, unsigned seed)
{
	struct outcome out = { 0 };
	struct ct_report *report;
	void *state;

	assert_int_equal(fx_setup(&state), 0);
	options.seed = seed;
	report = gpu_job_report(&options, &out.end_ns);
	snprintf(out.text, sizeof(out.text), "%s", report->verdict.text);
	out.matched = report->run.matched;
	out.step_ns = ct_step_time_ns(&report->step_time) / (double)report->steps.count;
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct ct_finding *f = &report->findings[i];

		/* exposed network time is not the fault of a rank */
		if (f->kind == CT_FINDING_COMM_SHARE || f->kind == CT_FINDING_EXPOSED_COMM)
			continue;
		for (size_t r = 0; r < f->n_ranks; r++)
			out.blamed |= 1ull << (f->ranks[r] >= 0 ? f->ranks[r] : 63);
		if (f->kind == CT_FINDING_STRAGGLER)
			out.time_lost_pct += f->time_lost_pct;
	}
	assert_int_equal(report->run.ranks_seen, (uint64_t)options.ranks);
	assert_int_equal(report->run.incomplete, 0);
	ct_report_free(report);
	assert_int_equal(fx_teardown(&state), 0);
	return out;
}

static void expect(struct gpu_job options, uint64_t blamed, unsigned seeds)
{
	for (unsigned seed = 0; seed < SOME_SEEDS(seeds); seed++) {
		struct outcome out = run(options, seed);

		if (out.blamed != blamed)
			fail_msg("%s, %d to a process, seed %u: ranks %llx instead of %llx: %s",
				 options.workload, options.per_process, seed,
				 (unsigned long long)out.blamed, (unsigned long long)blamed,
				 out.text);
	}
}

static const char *const workloads[] = { "ddp", "megatron", "fsdp", "moe", "decode" };

#define N_WORKLOADS (sizeof(workloads) / sizeof(workloads[0]))

static void no_rank_is_blamed_in_healthy_jobs(void **state)
{
	(void)state;
	for (size_t w = 0; w < N_WORKLOADS; w++) {
		struct gpu_job options = {
			.workload = workloads[w], .ranks = 8, .nodes = 2, .steps = 30
		};

		expect(options, 0, 2);
		options.per_process = 4;
		expect(options, 0, 1);
	}
}

static void exactly_the_slow_rank_is_blamed(void **state)
{
	(void)state;
	for (size_t w = 0; w < N_WORKLOADS; w++) {
		struct gpu_job options = { .workload = workloads[w],
					   .ranks = 8,
					   .nodes = 1,
					   .steps = 30,
					   .fault = "slow-rank:rank=5,pct=6" };

		expect(options, 1 << 5, 2);
		if (strcmp(workloads[w], "fsdp") == 0)
			continue;
		options.nodes = 2;
		options.per_process = 4;
		expect(options, 1 << 5, 2);
	}
}

/* If all ranks wait for the network anyway, a slow rank costs next to nothing: cost decides. */
static void slowness_that_communication_hides_is_not_blamed(void **state)
{
	struct gpu_job options = { .workload = "fsdp",
				   .ranks = 8,
				   .nodes = 2,
				   .steps = 30,
				   .fault = "slow-rank:rank=5,pct=6" };

	(void)state;
	expect(options, 0, 2);
}

/* What the fault costs, in % of step time. */
static double true_pct(const struct outcome *slow, uint64_t healthy_ns, int steps)
{
	return 100 * (double)(slow->end_ns - healthy_ns) / steps / slow->step_ns;
}

/* What is reported of the loss, as a part of the truth; mean of some seeds. */
static double told(const char *workload)
{
	double loss = 0, truth = 0;

	for (unsigned seed = 0; seed < SOME_SEEDS(3); seed++) {
		struct gpu_job options = {
			.workload = workload, .ranks = 8, .nodes = 1, .steps = 40
		};
		uint64_t healthy = run(options, seed).end_ns;
		struct outcome slow;

		options.fault = "slow-rank:rank=5,pct=6";
		slow = run(options, seed);
		loss += slow.time_lost_pct;
		truth += true_pct(&slow, healthy, options.steps);
	}
	return loss / truth;
}

static void loss_is_near_the_truth(void **state)
{
	(void)state;
	for (size_t w = 0; w < N_WORKLOADS; w++) {
		double ratio = told(workloads[w]);

		/* a single seed shows less */
		if (fabs(ratio - 1) > (SOME_SEEDS(3) < 3 ? 0.2 : 0.1))
			fail_msg("%s: told %.2f times the truth", workloads[w], ratio);
	}
}

/* What a rank computed before an operation begins where its GPU left the last one, not where its
 * CPU left a call: in the groups of moe each launch is put there by one. */
static void calls_of_the_host_end_no_gap_of_a_gpu(void **state)
{
	struct gpu_job options = { .workload = "moe",
				   .ranks = 8,
				   .nodes = 1,
				   .steps = 40,
				   .fault = "slow-rank:rank=0,pct=10" };
	double time_lost_pct = 0;

	(void)state;
	for (unsigned seed = 0; seed < 3; seed++)
		time_lost_pct += run(options, seed).time_lost_pct / 3;
	assert_true(time_lost_pct > 2.9);
}

/* ---- figures for docs/dev/algorithms/steps.md ---- */

static void measure(const char *workload, int nodes, const char *fault, uint64_t blamed,
		    unsigned seeds)
{
	struct gpu_job options = {
		.workload = workload, .ranks = 8, .nodes = nodes, .steps = 40, .fault = fault
	};
	struct gpu_job healthy = options;
	unsigned right = 0, wrong = 0, silent = 0;
	double loss = 0, truth = 0;

	for (unsigned seed = 0; seed < seeds; seed++) {
		struct outcome out = run(options, 1000 + seed);

		/* What it would have taken without the fault, all else equal. */
		healthy.fault = NULL;
		truth += true_pct(&out, run(healthy, 1000 + seed).end_ns, options.steps) / seeds;
		right += out.blamed == blamed;
		wrong += (out.blamed & ~blamed) != 0;
		silent += blamed && !out.blamed;
		loss += out.time_lost_pct / seeds;
		if (out.blamed != blamed)
			printf("    seed %u: %llx %s\n", 1000 + seed,
			       (unsigned long long)out.blamed, out.text);
	}
	printf("%-9s %d nodes %-26s right %u/%u wrong %u silent %u loss %.2f%% true %.2f%%\n",
	       workload, nodes, fault ? fault : "-", right, seeds, wrong, silent, loss, truth);
	fflush(stdout);
}

static int measure_all(unsigned seeds)
{
	static const struct {
		const char *fault;
		uint64_t blamed;
	} cases[] = {
		{ NULL, 0 },
		{ "slow-rank:rank=5,pct=3", 1 << 5 },
		{ "slow-rank:rank=5,pct=5", 1 << 5 },
		{ "slow-rank:rank=0,pct=10", 1 << 0 },
	};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		for (size_t w = 0; w < N_WORKLOADS; w++) {
			for (int nodes = 1; nodes <= 2; nodes++)
				measure(workloads[w], nodes, cases[c].fault, cases[c].blamed,
					seeds);
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_rank_is_blamed_in_healthy_jobs),
		cmocka_unit_test(exactly_the_slow_rank_is_blamed),
		cmocka_unit_test(slowness_that_communication_hides_is_not_blamed),
		cmocka_unit_test(loss_is_near_the_truth),
		cmocka_unit_test(calls_of_the_host_end_no_gap_of_a_gpu),
	};

	if (argc == 3 && strcmp(argv[1], "--measure") == 0)
		return measure_all((unsigned)atoi(argv[2]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
