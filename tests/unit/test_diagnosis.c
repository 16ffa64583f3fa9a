/* SPDX-License-Identifier: Apache-2.0 */
/* The decision tree on reports that the test fills in: each node passes, fails, and is unknown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/diagnosis/nccl_log.h"
#include "analyzer/render/render.h"

static struct ct_report report;
static struct ct_diagnosis d;
static struct ct_arena *memory;
static struct ct_finding findings[2];
static struct ct_report_process processes[2];
static size_t ended[1];
static struct ct_report_comm comms[1];
static struct ct_report_transport transport[2];
static struct ct_report_link links[1];
static struct ct_report_overhead costs[1];
static struct ct_report_expectation expected[1];
static const struct ct_diagnosis_node *failed;

/* A run of two ranks on two hosts of which everything is known, and in order. */
static int set_up(void **state)
{
	(void)state;
	memset(&report, 0, sizeof(report));
	memset(findings, 0, sizeof(findings));
	memset(processes, 0, sizeof(processes));
	memory = ct_arena_new();
	report.memory = memory;
	report.findings = findings;
	report.verdict.code = CT_VERDICT_HEALTHY;
	report.run.ranks_expected = report.run.n_hosts = 2;
	report.run.complete = 1;
	report.processes = processes;
	report.n_processes = 2;
	report.ended = ended;
	for (int i = 0; i < 2; i++) {
		processes[i].manner = CT_MANNER_WELL;
		transport[i] = (struct ct_report_transport){ .ib_bytes = 1000, .nic_bytes = 10 };
	}
	comms[0] = (struct ct_report_comm){ .equal_to_seq = 7 };
	report.comms = comms;
	report.n_comms = 1;
	report.transport = transport;
	report.n_transport = 2;
	report.environment.n_ranks = 2;
	for (int i = 0; i < CT_TOPOLOGY_CHECKS; i++)
		report.environment.topology[i] = (struct ct_report_topology){
			.known = 2, .right = "node1 gpu.0: fine"
		};
	links[0] = (struct ct_report_link){ .expected_Bps = 10 };
	report.links = links;
	report.n_links = 1;
	expected[0] = (struct ct_report_expectation){
		.name = "gradients",
		.metric = "busbw",
		.unit = "Bps",
		.scope = "cross",
		.source = "the posts",
		.not_for = "sockets",
		.result = CT_EXPECT_PASS,
		.value = 90e9,
		.err = 1e9,
		.limit = 80e9,
	};
	report.expect = (struct ct_report_expect){ .items = expected, .n = 1, .passed = 1 };
	report.whatif.s = 1.01;
	report.steps.time_p50_ns = report.steps.time_p99_ns = report.steps.count = 100;
	report.exposed.median_pct = 4;
	report.overhead = costs;
	report.n_overhead = 1;
	report.overhead_pct = 0.1;
	return memory ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	ct_arena_free(memory);
	return 0;
}

static void ask(int whole)
{
	ct_diagnosis_init(&d, memory);
	ct_diagnosis_of_run(&d, &report);
	failed = ct_diagnosis_conclude(&d, whole);
}

static const struct ct_diagnosis_node *node(const char *name)
{
	for (size_t l = 0; l < d.n_levels; l++)
		for (size_t i = 0; i < d.levels[l].n_nodes; i++)
			if (strcmp(d.levels[l].nodes[i].name, name) == 0)
				return &d.levels[l].nodes[i];
	fail_msg("no node %s", name);
	return NULL;
}

/* The only node that does not pass is this one, with this answer; the evidence has these words. */
static void expect_one(const char *name, enum ct_diagnosis_answer answer, const char *words)
{
	ask(1);
	for (size_t l = 0; l < d.n_levels; l++)
		for (size_t i = 0; i < d.levels[l].n_nodes; i++) {
			const struct ct_diagnosis_node *n = &d.levels[l].nodes[i];

			if (strcmp(n->name, name) != 0 && n->answer != CT_DIAGNOSIS_PASS)
				fail_msg("%s beside %s: %s", n->name, name, n->evidence);
		}
	if (node(name)->answer != answer || !strstr(node(name)->evidence, words))
		fail_msg("%s: %s %s", name, ct_diagnosis_answer_name(node(name)->answer),
			 node(name)->evidence);
	assert_non_null(node(name)->advice);
	assert_ptr_equal(failed, answer == CT_DIAGNOSIS_FAIL ? node(name) : NULL);
}

static void what_is_known_and_in_order_passes(void **state)
{
	(void)state;
	ask(0);
	assert_null(failed);
	for (size_t l = 0; l < d.n_levels; l++) {
		assert_int_equal(d.levels[l].answer, CT_DIAGNOSIS_PASS);
		assert_true(d.levels[l].n_nodes > 0 && d.levels[l].is_asked);
		for (size_t i = 0; i < d.levels[l].n_nodes; i++)
			assert_true(d.levels[l].nodes[i].evidence[0] &&
				    !d.levels[l].nodes[i].advice);
	}
}

/* Each kind of finding, and the node that it answers; NULL: none. */
static void a_finding_that_is_grave_and_sure_fails_its_node(void **state)
{
	static const char *const nodes[] = {
		[CT_FINDING_STRAGGLER] = "ranks",
		[CT_FINDING_STRAGGLER_HOST] = "ranks",
		[CT_FINDING_STRAGGLER_GROUP] = "ranks",
		[CT_FINDING_SLOW_STAGE] = "ranks",
		[CT_FINDING_IMBALANCE] = "ranks",
		[CT_FINDING_ROTATING_STALLS] = "ranks",
		[CT_FINDING_PERIODIC_STALLS] = "ranks",
		[CT_FINDING_CHANGE_POINT] = "steadiness",
		[CT_FINDING_SLOW_LINK] = "links",
		[CT_FINDING_SLOW_OP] = "links",
		[CT_FINDING_SOCKET_FALLBACK] = "transport",
		[CT_FINDING_LINK_ERRORS] = "port errors",
		[CT_FINDING_EXPOSED_COMM] = "overlap",
		[CT_FINDING_BUCKETS] = "overlap",
		[CT_FINDING_COMM_SHARE] = "overlap",
		[CT_FINDING_MISMATCH] = "calls",
		[CT_FINDING_SKIPPED_OP] = "calls",
		[CT_FINDING_EXTRA_OP] = "calls",
		[CT_FINDING_UNEVEN_INPUT] = "calls",
		[CT_FINDING_CLOCK_CONFLICT] = "records",
		[CT_FINDING_DROPPED_RECORDS] = "records",
		[CT_FINDING_TRACER_OVERHEAD] = "overhead",
		[CT_FINDING_ENVIRONMENT_DIFFERS] = "settings",
		[CT_FINDING_SETTING_NOT_READ] = "settings",
		[CT_FINDING_SETTING_CONFLICT] = "settings",
		[CT_FINDING_ADVICE] = NULL,
	};

	(void)state;
	report.n_findings = 1;
	for (size_t kind = 0; kind < sizeof(nodes) / sizeof(nodes[0]); kind++) {
		findings[0] = (struct ct_finding){
			.kind = (enum ct_finding_kind)kind,
			.severity = CT_SEVERITY_WARNING,
			.confidence = CT_CONFIDENCE_MEDIUM,
			.headline = "what is wrong",
			.advice = "what to do",
		};
		if (!nodes[kind]) {
			ask(1);
			assert_null(failed);
			continue;
		}
		expect_one(nodes[kind], CT_DIAGNOSIS_FAIL, "what is wrong");
		assert_string_equal(failed->advice, "what to do");
		/* a doubtful one neither fails nor passes; one that matters little passes */
		findings[0].confidence = CT_CONFIDENCE_LOW;
		expect_one(nodes[kind], CT_DIAGNOSIS_UNKNOWN, "what is wrong");
		findings[0].confidence = CT_CONFIDENCE_HIGH;
		findings[0].severity = CT_SEVERITY_INFO;
		ask(1);
		assert_int_equal(node(nodes[kind])->answer, CT_DIAGNOSIS_PASS);
	}
}

static void ends_and_hangs_fail_and_a_job_that_runs_is_unknown(void **state)
{
	(void)state;
	report.verdict.code = CT_VERDICT_HANG;
	report.verdict.headline = "rank 1 never entered";
	report.verdict.advice = "look at rank 1";
	expect_one("hang", CT_DIAGNOSIS_FAIL, "rank 1 never entered");
	report.verdict.code = CT_VERDICT_HEALTHY;
	report.run.processes_running = 1;
	expect_one("hang", CT_DIAGNOSIS_UNKNOWN, "still run");
	report.run.processes_running = 0;
	report.n_in_flight = 1;
	expect_one("hang", CT_DIAGNOSIS_UNKNOWN, "under way");
	report.n_in_flight = 0;
	processes[1].manner = CT_MANNER_VANISHED;
	expect_one("exits", CT_DIAGNOSIS_UNKNOWN, "1 of 2");
	processes[1] = (struct ct_report_process){ .rank = 1, .host = "node7", .end = "signal" };
	report.n_ended = 1;
	ended[0] = 1;
	/* as hang, which sees no evidence then */
	expect_one("exits", CT_DIAGNOSIS_UNKNOWN, "not recorded");
	processes[1].how = (struct ct_end){ .how = CT_END_SIGNAL };
	expect_one("exits", CT_DIAGNOSIS_FAIL, "rank 1 on node7 ended badly: signal");
	processes[1].how = (struct ct_end){ .how = CT_END_SIGNAL, .signal = 9 };
	expect_one("exits", CT_DIAGNOSIS_FAIL, "badly: signal 9");
	processes[1].how = (struct ct_end){ .how = CT_END_EXIT, .exit_code = 3 };
	expect_one("exits", CT_DIAGNOSIS_FAIL, "badly: exit status 3");
}

static void what_was_not_measured_is_unknown(void **state)
{
	(void)state;
	comms[0].equal_to_seq = CT_UNKNOWN;
	expect_one("calls", CT_DIAGNOSIS_UNKNOWN, "compared");
	comms[0].equal_to_seq = 7;
	report.run.complete = 0;
	expect_one("records", CT_DIAGNOSIS_UNKNOWN, "missing");
	report.run.complete = 1;
	report.environment.n_ranks = 1;
	expect_one("settings", CT_DIAGNOSIS_UNKNOWN, "1 of 2");
	report.environment.n_ranks = 2;
	transport[1].ib_errors = CT_UNKNOWN;
	expect_one("port errors", CT_DIAGNOSIS_UNKNOWN, "1 of 2");
	transport[1].ib_errors = 0;
	transport[0].nic_bytes = 5000;
	expect_one("transport", CT_DIAGNOSIS_UNKNOWN, "counters");
	transport[0].nic_bytes = 10;
	report.environment.topology[CT_TOPOLOGY_PCIE].known = 0;
	expect_one("PCIe", CT_DIAGNOSIS_UNKNOWN, "no such device");
	report.environment.topology[CT_TOPOLOGY_PCIE].known = 2;
	links[0].expected_Bps = CT_UNKNOWN;
	expect_one("links", CT_DIAGNOSIS_UNKNOWN, "compared");
	links[0].expected_Bps = 10;
	expected[0].result = CT_EXPECT_NA;
	expected[0].why = "the run has no such operations";
	expect_one("gradients", CT_DIAGNOSIS_UNKNOWN, "no such operations");
	expected[0].result = CT_EXPECT_PASS;
	report.verdict.code = CT_VERDICT_NOT_ENOUGH_EVIDENCE;
	report.verdict.headline = "too few steps";
	expect_one("ranks", CT_DIAGNOSIS_UNKNOWN, "too few steps");
	report.verdict.code = CT_VERDICT_HEALTHY;
	report.whatif.why_not = "CUDA graphs";
	expect_one("ranks", CT_DIAGNOSIS_UNKNOWN, "CUDA graphs");
	report.whatif.why_not = NULL;
	report.steps.time_p50_ns = CT_UNKNOWN;
	expect_one("steadiness", CT_DIAGNOSIS_UNKNOWN, "no steps");
	report.steps.time_p50_ns = 100;
	report.exposed.median_pct = NAN;
	expect_one("overlap", CT_DIAGNOSIS_UNKNOWN, "not known");
	report.exposed.median_pct = 4;
	report.n_overhead = 0;
	expect_one("overhead", CT_DIAGNOSIS_UNKNOWN, "not on record");
}

static void devices_and_rates_fail_with_source_and_exception(void **state)
{
	struct ct_report_topology *t = report.environment.topology;

	(void)state;
	for (int i = 0; i < CT_TOPOLOGY_CHECKS; i++)
		t[i].first = "node2 gpu.1: 8 of 16 lanes";
	t[CT_TOPOLOGY_PCIE].wrong = 2;
	expect_one("PCIe", CT_DIAGNOSIS_FAIL, "8 of 16 lanes, and 1 more of 2");
	t[CT_TOPOLOGY_PCIE].wrong = 0;
	t[CT_TOPOLOGY_PORTS].wrong = 1;
	expect_one("ports", CT_DIAGNOSIS_FAIL, "node2 gpu.1");
	t[CT_TOPOLOGY_PORTS].wrong = 0;
	/* its cost is not known */
	t[CT_TOPOLOGY_NUMA].wrong = 1;
	expect_one("NUMA", CT_DIAGNOSIS_UNKNOWN, "node2 gpu.1");
	t[CT_TOPOLOGY_NUMA].wrong = 0;
	expected[0].result = CT_EXPECT_FAIL;
	expected[0].value = 60e9;
	expect_one("gradients", CT_DIAGNOSIS_FAIL, "60.0 ± 1.0 GB/s");
	assert_non_null(strstr(failed->advice, "The limit: the posts"));
	assert_non_null(strstr(failed->advice, "not for sockets"));
}

static char *text_of(void)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	ct_diagnosis_text(&d, failed, NULL, file);
	fclose(file);
	return text;
}

static void the_tree_ends_at_the_first_level_that_fails(void **state)
{
	char *text;

	(void)state;
	report.environment.topology[CT_TOPOLOGY_PCIE].wrong = 1;
	report.environment.topology[CT_TOPOLOGY_PCIE].first = "node2 gpu.1: 8 of 16 lanes";
	expected[0].result = CT_EXPECT_FAIL;
	ask(0);
	assert_string_equal(failed->name, "PCIe");
	assert_true(d.levels[CT_DIAGNOSIS_ERROR].is_asked &&
		    d.levels[CT_DIAGNOSIS_TOPOLOGY].is_asked);
	assert_false(d.levels[CT_DIAGNOSIS_BANDWIDTH].is_asked);
	assert_false(d.levels[CT_DIAGNOSIS_PATTERN].is_asked);
	text = text_of();
	assert_ptr_equal(strstr(text, "Diagnosis: PCIe: node2"), text);
	assert_non_null(strstr(text, "bandwidth  not checked"));
	assert_null(strstr(text, "gradients"));
	free(text);
	ask(1);
	assert_string_equal(failed->name, "PCIe");
	assert_int_equal(d.levels[CT_DIAGNOSIS_BANDWIDTH].answer, CT_DIAGNOSIS_FAIL);
	assert_int_equal(d.levels[CT_DIAGNOSIS_PATTERN].answer, CT_DIAGNOSIS_PASS);
	text = text_of();
	assert_non_null(strstr(text, "fail     gradients"));
	free(text);
}

static void nccls_log_is_counted_by_transport(void **state)
{
	static const char *const lines[] = {
		"n1:7:8 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read",
		"n1:7:8 [0] NCCL INFO Channel 01 : 0[0] -> 1[1] via SHM/direct/direct",
		"n1:7:8 [0] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/0/GDRDMA",
		"n1:7:8 [0] NCCL INFO Channel 00/0 : 8[0] -> 7[7] [receive] via "
		"NET/IB/0(PCI)/Shared",
		"n1:7:8 [0] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/Socket/0",
		"n1:7:8 [0] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/AWS "
		"Libfabric/0/GDRDMA",
		"n1:7:8 [0] NCCL INFO Using network Socket",
		"step 3 via NET/IB/ is slow",
		"Channel 3 via ",
		"",
	};
	struct ct_nccl_log log = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		for (size_t len = i ? strlen(lines[i]) : 0; len <= strlen(lines[i]); len++)
			if (len == strlen(lines[i]) || !i)
				ct_nccl_log_line(&log, lines[i], len);
	assert_int_equal(log.p2p, 11); /* the line, and cut anywhere behind "P2P/" */
	assert_int_equal(log.shm, 1);
	assert_int_equal(log.rdma, 2);
	assert_int_equal(log.gdr, 1);
	assert_int_equal(log.sockets, 1);
	assert_int_equal(log.others, 1);
}

static enum ct_diagnosis_answer of_log(struct ct_nccl_log log, int with_run)
{
	ct_diagnosis_init(&d, memory);
	if (with_run)
		ct_diagnosis_of_run(&d, &report);
	ct_diagnosis_nccl_log(&d, &log);
	failed = ct_diagnosis_conclude(&d, 1);
	assert_true(node("NCCL's log")->advice || node("NCCL's log")->answer == CT_DIAGNOSIS_PASS);
	return node("NCCL's log")->answer;
}

static void sockets_fail_only_beside_active_infiniband(void **state)
{
	(void)state;
	assert_int_equal(of_log((struct ct_nccl_log){ .p2p = 8, .rdma = 4, .gdr = 4 }, 1),
			 CT_DIAGNOSIS_PASS);
	assert_int_equal(of_log((struct ct_nccl_log){ .p2p = 8, .rdma = 4, .gdr = 3 }, 1),
			 CT_DIAGNOSIS_UNKNOWN);
	assert_int_equal(of_log((struct ct_nccl_log){ .p2p = 8, .sockets = 4 }, 1),
			 CT_DIAGNOSIS_FAIL);
	assert_int_equal(of_log((struct ct_nccl_log){ .p2p = 8, .sockets = 4 }, 0),
			 CT_DIAGNOSIS_UNKNOWN);
	report.environment.topology[CT_TOPOLOGY_PORTS].right = NULL;
	assert_int_equal(of_log((struct ct_nccl_log){ .p2p = 8, .sockets = 4 }, 1),
			 CT_DIAGNOSIS_UNKNOWN);
	assert_int_equal(of_log((struct ct_nccl_log){ 0 }, 1), CT_DIAGNOSIS_UNKNOWN);
}

static void without_a_run_there_is_no_bandwidth_and_no_pattern(void **state)
{
	char *text;

	(void)state;
	ct_diagnosis_init(&d, memory);
	ct_diagnosis_topology(&d, report.environment.topology);
	assert_null(ct_diagnosis_conclude(&d, 0));
	assert_int_equal(d.levels[CT_DIAGNOSIS_TOPOLOGY].answer, CT_DIAGNOSIS_PASS);
	assert_int_equal(d.levels[CT_DIAGNOSIS_PATTERN].answer, CT_DIAGNOSIS_UNKNOWN);
	failed = NULL;
	text = text_of();
	assert_non_null(strstr(text, "pattern    unknown: needs a recorded run"));
	assert_non_null(strstr(text, "4 of 4 checks"));
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(what_is_known_and_in_order_passes),
		TEST(a_finding_that_is_grave_and_sure_fails_its_node),
		TEST(ends_and_hangs_fail_and_a_job_that_runs_is_unknown),
		TEST(what_was_not_measured_is_unknown),
		TEST(devices_and_rates_fail_with_source_and_exception),
		TEST(the_tree_ends_at_the_first_level_that_fails),
		TEST(nccls_log_is_counted_by_transport),
		TEST(sockets_fail_only_beside_active_infiniband),
		TEST(without_a_run_there_is_no_bandwidth_and_no_pattern),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
