/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads on GPUs, cut into their steps without a marker; what each communicator is there for;
 * when and why ranks come late. The truth is what the workload received to do. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/steps/roles.h"
#include "analyzer/steps/sequence.h"
#include "tests/unit/gpu_job.h"
#include "tools/workload/workload.h"
#include "trace/ops.h"
#include "trace/status.h"

#define STEPS 60

static struct ct_report *report_of(const char *workload, int nodes, const char *fault)
{
	const struct gpu_job options = { .workload = workload,
					 .ranks = 8,
					 .nodes = nodes,
					 .steps = STEPS,
					 .seed = 3,
					 .fault = fault };

	return gpu_job_report(&options, NULL);
}

static const char *const workloads[] = { "ddp", "megatron", "fsdp", "moe", "decode" };
#define N_WORKLOADS (sizeof(workloads) / sizeof(workloads[0]))

static void every_workload_is_cut_into_its_steps(void **state)
{
	(void)state;
	for (size_t w = 0; w < N_WORKLOADS; w++) {
		struct ct_report *report = report_of(workloads[w], 2, NULL);
		const struct ct_report_steps *c = &report->steps;

		if (c->count != STEPS - 1)
			fail_msg("%s: %llu steps: %s", workloads[w], (unsigned long long)c->count,
				 c->why ? c->why : "");
		assert_int_equal(c->n_items, STEPS - 1);
		assert_in_range(c->err_ns, 1000, 20000);
		for (size_t i = 0; i < c->n_items; i++) {
			assert_int_equal(c->items[i].index, i);
			/* no step is half as long as another one, or twice */
			assert_in_range(c->items[i].time_ns, c->time_p50_ns / 2,
					2 * c->time_p50_ns);
			assert_true(c->items[i].wait_ns < c->items[i].time_ns);
			if (i)
				assert_int_equal(c->items[i].begin_at_ns,
						 c->items[i - 1].begin_at_ns +
							 c->items[i - 1].time_ns);
		}
		ct_report_free(report);
		fx_teardown(state);
		fx_setup(state);
	}
}

/* Of those with the same ranks, the one that is split like it. */
static const char *role_in(const struct ct_workload *truth, const struct ct_report_comm *comm)
{
	for (int c = 0; c < ct_workload_n_comms(truth); c++) {
		const struct ct_workload_comm *w = ct_workload_comm(truth, c);
		int same = (uint32_t)w->n == comm->nranks && (w->parent < 0) == !comm->parent;

		for (int i = 0; same && i < w->n; i++)
			same = comm->ranks[i] == w->first + i * w->stride;
		if (same)
			return w->role;
	}
	fail_msg("a communicator that the workload has not");
	return NULL;
}

static void roles_of_communicators_are_those_of_the_workload(void **state)
{
	for (size_t w = 0; w < N_WORKLOADS; w++) {
		const struct ct_workload_config config = {
			.name = workloads[w], .ranks = 8, .nodes = 1, .steps = STEPS, .seed = 3
		};
		struct ct_report *report = report_of(workloads[w], 1, NULL);
		char why[128];
		struct ct_workload *truth = ct_workload_make(&config, why, sizeof(why));

		assert_non_null(truth);
		for (size_t i = 0; i < report->n_comms; i++) {
			const struct ct_report_comm *comm = &report->comms[i];
			const char *role = role_in(truth, comm);

			if (!comm->role || strcmp(comm->role, role) != 0)
				fail_msg("%s: %s instead of %s", workloads[w],
					 comm->role ? comm->role : "nothing", role);
			assert_non_null(comm->role_evidence);
			assert_true(comm->role_confidence > CT_CONFIDENCE_NONE);
		}
		ct_workload_free(truth);
		ct_report_free(report);
		fx_teardown(state);
		fx_setup(state);
	}
}

static double value_of(const struct ct_finding *f, const char *name)
{
	for (size_t i = 0; i < f->n_evidence; i++) {
		if (strcmp(f->evidence[i].name, name) == 0)
			return f->evidence[i].value;
	}
	return NAN;
}

static void a_rank_that_pauses_after_as_many_steps_each_is_periodic(void **state)
{
	struct ct_report *report = report_of("ddp", 1, "pause:rank=3,every=10,ms=60");
	const struct ct_finding *f = job_finding(report, CT_FINDING_PERIODIC_STALLS);

	(void)state;
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 1);
	assert_int_equal(f->ranks[0], 3);
	assert_null(job_finding(report, CT_FINDING_STRAGGLER));
	assert_null(job_finding(report, CT_FINDING_ROTATING_STALLS));
	assert_float_equal(value_of(f, "every"), 10, 0.1);
	assert_in_range((int)value_of(f, "stalls"), 5, 6);
	assert_float_equal((double)f->time_lost_ns, value_of(f, "stalls") * 60e6, 60e6);
	/* seven GPUs wait for it */
	assert_float_equal(f->gpu_seconds, 7 * (double)f->time_lost_ns / 1e9, 0.1);
	assert_non_null(strstr(f->cause, "host-bound"));
	ct_report_free(report);
}

static void stalls_by_turns_are_found_though_no_rank_is_slow(void **state)
{
	struct ct_report *report = report_of("ddp", 1, "rotating:every=8,ms=60");
	const struct ct_finding *f = job_finding(report, CT_FINDING_ROTATING_STALLS);

	(void)state;
	assert_non_null(f);
	assert_true(f->n_ranks >= 2);
	assert_null(job_finding(report, CT_FINDING_STRAGGLER));
	assert_null(job_finding(report, CT_FINDING_PERIODIC_STALLS));
	assert_float_equal(value_of(f, "every"), 8, 0.1);
	assert_float_equal(value_of(f, "stall_mean"), 60e6, 10e6);
	assert_float_equal((double)f->time_lost_ns, 7 * 60e6, 60e6);
	assert_int_equal(report->verdict.code, CT_VERDICT_IMBALANCE);
	ct_report_free(report);
}

static void a_slow_rank_is_distinguished_from_a_late_host(void **state)
{
	struct ct_report *report = report_of("ddp", 1, "slow-rank:rank=5,pct=20");
	const struct ct_finding *f = job_finding(report, CT_FINDING_STRAGGLER);

	assert_non_null(f);
	assert_non_null(strstr(f->cause, "launched on time"));
	assert_true(value_of(f, "late_by_stream") > 5 * value_of(f, "late_by_host"));
	ct_report_free(report);
	fx_teardown(state);
	fx_setup(state);
	report = report_of("ddp", 1, "late-host:rank=5,ms=8");
	f = job_finding(report, CT_FINDING_STRAGGLER);
	assert_non_null(f);
	assert_non_null(strstr(f->cause, "host-bound"));
	assert_true(value_of(f, "late_by_host") > 5 * value_of(f, "late_by_stream"));
	ct_report_free(report);
}

/* A third of what it costs looks as if its host were late, of the rest nothing is known: no reason
 * is reported, and the advice holds for all. */
static void a_reason_for_a_small_part_of_the_loss_is_none(void **state)
{
	struct ct_report *report = report_of("fsdp", 2, "slow-rank:rank=3,pct=15");
	const struct ct_finding *f = job_finding(report, CT_FINDING_STRAGGLER);

	(void)state;
	assert_non_null(f);
	assert_int_equal(f->ranks[0], 3);
	assert_true(value_of(f, "late_by_host") < 0.4 * (double)f->time_lost_ns);
	assert_non_null(strstr(f->advice, "GPU clocks"));
	ct_report_free(report);
}

static void when_all_become_slower_that_is_a_change_point(void **state)
{
	struct ct_report *report = report_of("ddp", 1, "slow-host:host=0,pct=15,from=30");
	const struct ct_finding *f = job_finding(report, CT_FINDING_CHANGE_POINT);

	(void)state;
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 0);
	assert_in_range(f->step_first, 28, 32);
	assert_int_equal(f->step_last, STEPS - 2);
	assert_true(value_of(f, "step_after") > 1.1 * value_of(f, "step_before"));
	assert_non_null(strstr(f->cause, "outside communication"));
	assert_non_null(strstr(f->command, "nvidia-smi"));
	assert_null(job_finding(report, CT_FINDING_STRAGGLER));
	ct_report_free(report);
}

/* Of what it waits for in messages nothing is charged: that explains less than half of the change,
 * its loss does. */
static void a_rank_that_becomes_slow_is_no_change_of_all(void **state)
{
	struct ct_report *report = report_of("moe", 1, "slow-rank:rank=5,pct=15,from=25");
	const struct ct_finding *f = job_finding(report, CT_FINDING_STRAGGLER);

	(void)state;
	assert_non_null(f);
	assert_in_range(f->step_first, 23, 28);
	assert_null(job_finding(report, CT_FINDING_CHANGE_POINT));
	ct_report_free(report);
}

/* ---- names ---- */

static void names_give_a_role_only_if_they_have_one(void **state)
{
	static const struct {
		const char *name;
		enum ct_role_id id;
	} cases[] = {
		{ "TENSOR_MODEL_PARALLEL_GROUP", CT_IS_TP },
		{ "DATA_PARALLEL_GROUP", CT_IS_DP },
		{ "PIPELINE_MODEL_PARALLEL_GROUP", CT_IS_PP },
		{ "EXPERT_MODEL_PARALLEL_GROUP", CT_IS_EP },
		{ "mesh_tp", CT_IS_TP },
		{ "mesh_dp_shard", CT_IS_DP },
		{ "dp", CT_IS_DP },
		{ "default_pg", CT_IS_WORLD },
		{ "MPI_COMM_WORLD", CT_IS_WORLD },
		{ "TENSOR_AND_DATA_PARALLEL_GROUP", CT_ROLE_UNKNOWN },
		{ "EXPERT_DATA_PARALLEL_GROUP", CT_ROLE_UNKNOWN },
		{ "MODEL_PARALLEL_GROUP", CT_ROLE_UNKNOWN },
		{ "stripe", CT_ROLE_UNKNOWN },
		{ "", CT_ROLE_UNKNOWN },
		{ NULL, CT_ROLE_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(ct_role_of_name(cases[i].name), cases[i].id);
}

static struct ct_role role_of(struct ct_role_facts facts)
{
	struct ct_arena *memory = ct_arena_new();
	struct ct_role role;

	assert_non_null(memory);
	assert_int_equal(ct_role_of(&facts, memory, &role), CT_OK);
	assert_int_equal(role.id != CT_ROLE_UNKNOWN, role.evidence != NULL);
	role.evidence = NULL;
	ct_arena_free(memory);
	return role;
}

static void what_could_be_either_has_no_role(void **state)
{
	struct ct_role_facts facts = { .n = 4, .stride = 1, .one_host = 1, .steps = 10 };

	(void)state;
	assert_int_equal(role_of(facts).id, CT_ROLE_UNKNOWN); /* carries nothing */
	facts.collectives = 320;
	facts.n_sizes = 1;
	facts.sizes[0] = (struct ct_role_size){ 1 << 20, 320, CT_OP_AllGather };
	assert_int_equal(role_of(facts).id, CT_ROLE_UNKNOWN); /* sharded, or sequence parallel */
	facts.sizes[0].op = CT_OP_AllReduce;
	assert_int_equal(role_of(facts).id, CT_IS_TP);
	facts.stride = 8;
	assert_int_equal(role_of(facts).id, CT_ROLE_UNKNOWN); /* tensor groups lie together */
	facts.stride = 1;
	facts.steps = 0;
	assert_int_equal(role_of(facts).id, CT_ROLE_UNKNOWN); /* how often in a step? */
	/* two ranks that swap in each launch: a pipeline, or an exchange of all */
	facts = (struct ct_role_facts){ .n = 2, .stride = 4, .steps = 10, .swaps = 100, .bytes = 1 };
	assert_int_equal(role_of(facts).id, CT_ROLE_UNKNOWN);
	facts.messages = facts.neighbours = 20;
	assert_int_equal(role_of(facts).id, CT_IS_PP);
	facts.to_self = 10;
	facts.message_bytes = facts.bytes;
	assert_int_equal(role_of(facts).id, CT_IS_EP);
}

/* ---- the sequence ---- */

static void the_commonest_calls_are_forgotten_first(void **state)
{
	struct ct_comm comm = { .nranks = 2 };
	struct ct_sequence s;

	(void)state;
	ct_sequence_init(&s, 0, 1000);
	for (uint64_t step = 0; step < 500; step++) {
		for (uint64_t k = 0; k < 20; k++) {
			const struct ct_call_seen call = { .comm = &comm,
							   .op = CT_OP_AllReduce,
							   .peer = -1,
							   .bytes = k ? 4096 : 8192,
							   .at_ns = 1000 * step + k };

			assert_int_equal(ct_sequence_add(&s, &call), CT_OK);
		}
	}
	ct_sequence_close(&s);
	assert_int_equal(s.n_ops, 10000);
	assert_false(s.cut_short);
	assert_int_equal(s.n_symbols, 2);
	assert_int_equal(s.n, 500);
	assert_true(s.symbols[1].partial);
	assert_int_equal(s.symbols[1].n, 9500);
	for (uint32_t i = 0; i < s.n; i++) {
		assert_int_equal(s.ops[i].symbol, 0);
		assert_int_equal(s.ops[i].index, 20 * i);
	}
	ct_sequence_fini(&s);
}

static void of_one_call_alone_only_the_beginning_is_kept(void **state)
{
	struct ct_comm comm = { .nranks = 2 };
	struct ct_sequence s;

	(void)state;
	ct_sequence_init(&s, 0, 1000);
	for (uint64_t k = 0; k < 5000; k++) {
		const struct ct_call_seen call = { .comm = &comm, .op = CT_OP_Barrier, .at_ns = k };

		assert_int_equal(ct_sequence_add(&s, &call), CT_OK);
	}
	ct_sequence_close(&s);
	assert_true(s.cut_short);
	assert_int_equal(s.n, 1000);
	assert_int_equal(s.n_ops, 1000);
	ct_sequence_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_workload_is_cut_into_its_steps, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(roles_of_communicators_are_those_of_the_workload,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(
			a_rank_that_pauses_after_as_many_steps_each_is_periodic, fx_setup,
			fx_teardown),
		cmocka_unit_test_setup_teardown(stalls_by_turns_are_found_though_no_rank_is_slow,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(a_slow_rank_is_distinguished_from_a_late_host,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(a_reason_for_a_small_part_of_the_loss_is_none,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(when_all_become_slower_that_is_a_change_point,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(a_rank_that_becomes_slow_is_no_change_of_all,
						fx_setup, fx_teardown),
		cmocka_unit_test(names_give_a_role_only_if_they_have_one),
		cmocka_unit_test(what_could_be_either_has_no_role),
		cmocka_unit_test(the_commonest_calls_are_forgotten_first),
		cmocka_unit_test(of_one_call_alone_only_the_beginning_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
