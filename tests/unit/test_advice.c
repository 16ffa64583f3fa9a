/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of a finding beside its numbers: the cause, advice that follows from it, how
 * sure and how grave it is; and that the verdict's own finding is the first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/causes.h"
#include "analyzer/render/render.h"
#include "tests/unit/job.h"

/* Two ranks of two hosts, with GPUs or without. */
static struct ct_report_rank ranks[2];
static struct ct_report report;
static struct ct_findings list;

static void open_report(int on_gpu)
{
	report = (struct ct_report){ .memory = ct_arena_new(), .ranks = ranks, .n_ranks = 2 };
	report.run.n_hosts = 2;
	report.verdict.title = "Healthy";
	report.verdict.text = report.verdict.headline = "as told below";
	list = (struct ct_findings){ .memory = report.memory };
	for (int r = 0; r < 2; r++)
		ranks[r] = (struct ct_report_rank){
			.rank = r,
			.host = r ? "node8" : "node7",
			.device = on_gpu ? r : -1,
			.timing = on_gpu ? CT_TIMING_EVENTS : CT_TIMING_CALL,
			.exposed_ns = CT_UNKNOWN,
		};
}

static void close_report(void)
{
	ct_findings_fini(&list);
	ct_arena_free(report.memory);
}

static struct ct_finding *add(enum ct_finding_kind kind, enum ct_why why, int n)
{
	static const int both[] = { 0, 1 };
	static const char *hosts[] = { "node7", "node8" };
	struct ct_finding *f = ct_findings_add(&list, kind);

	assert_non_null(f);
	ct_finding_ranks(&list, f, both, (size_t)n);
	f->hosts = hosts;
	f->n_hosts = (size_t)n;
	f->headline = "somebody";
	ct_finding_set_cause(f, why);
	return f;
}

static int says(const char *text, const char *words)
{
	return text && strstr(text, words) != NULL;
}

static void a_rank_that_is_late_by_its_gpu_is_not_sent_to_its_input(void **state)
{
	struct ct_finding *f;

	(void)state;
	open_report(1);
	f = add(CT_FINDING_STRAGGLER, CT_WHY_STREAM_LATE, 1);
	ct_findings_advise(&list, &report);
	assert_true(says(f->cause, "launched on time"));
	assert_true(says(f->advice, "rank 0") && says(f->advice, "node7"));
	assert_true(says(f->advice, "clocks") && says(f->advice, "other processes on"));
	assert_false(says(f->advice, "Python") || says(f->advice, "data loading"));
	assert_string_equal(f->command, "ssh node7 nvidia-smi -i 0 -q -d CLOCK,PERFORMANCE");
	close_report();
}

/* What a process calls its device 0 may be any GPU of the host. */
static void the_gpu_is_named_as_the_host_knows_it(void **state)
{
	static struct ct_report_fact facts[] = { { .name = "gpu.0.device", .value = "0" },
						 { .name = "gpu.0.uuid", .value = "GPU-1a2b" } };
	static struct ct_report_env_rank own = { .rank = 0, .facts = facts };
	struct ct_finding *f;

	(void)state;
	for (size_t n_facts = 0; n_facts <= 2; n_facts += 2) {
		open_report(1);
		ranks[0].host = ranks[1].host = "node7";
		ranks[1].device = 0;
		own.n_facts = n_facts;
		report.environment.ranks = &own;
		report.environment.n_ranks = 1;
		f = add(CT_FINDING_STRAGGLER, CT_WHY_STREAM_LATE, 1);
		ct_findings_advise(&list, &report);
		assert_string_equal(
			f->command,
			n_facts ? "ssh node7 nvidia-smi -i GPU-1a2b -q -d CLOCK,PERFORMANCE"
				: "ssh node7 nvidia-smi -q -d CLOCK,PERFORMANCE");
		close_report();
	}
}

static void a_rank_that_is_late_by_its_host_is_not_sent_to_its_gpu(void **state)
{
	struct ct_finding *f;

	(void)state;
	open_report(1);
	f = add(CT_FINDING_STRAGGLER, CT_WHY_LATE, 2);
	ct_finding_set_cause(f, CT_WHY_HOST_LATE); /* what is learnt later holds */
	ranks[0].pid = 4711;
	ranks[1].pid = 4712;
	ct_findings_advise(&list, &report);
	assert_null(f->command); /* the process has ended, and with it its pid */
	ct_finding_set_cause(f, CT_WHY_HOST_LATE);
	report.run.words = "run1";
	ct_findings_advise(&list, &report);
	assert_string_equal(f->command, "commtrace timeline run1 -o run.pftrace");
	ct_finding_set_cause(f, CT_WHY_HOST_LATE);
	report.run.processes_running = 2;
	ct_findings_advise(&list, &report);
	assert_string_equal(f->command,
			    "ssh node7 commtrace stacks 4711; ssh node8 commtrace stacks 4712");
	assert_true(says(f->cause, "host-bound"));
	assert_true(says(f->advice, "ranks 0,1") && says(f->advice, "node7,node8"));
	assert_true(says(f->advice, "data loading"));
	assert_false(says(f->advice, "clocks") || says(f->command, "nvidia-smi"));
	close_report();
}

static void a_job_without_gpus_is_asked_nothing_of_them(void **state)
{
	(void)state;
	open_report(0);
	/* of streams nothing is known there */
	for (int why = CT_WHY_OWN + 1; why <= CT_WHY_LONGER_BOTH; why++) {
		const struct ct_finding *f = add(CT_FINDING_CHANGE_POINT, (enum ct_why)why, 2);

		ct_findings_advise(&list, &report);
		assert_non_null(f->advice);
		assert_null(strchr(f->advice, '{'));
		if (!says(f->cause, "stream") && !says(f->cause, "compute") &&
		    (says(f->advice, "GPU") || says(f->command, "nvidia")))
			fail_msg("%s: %s; %s", f->cause, f->advice, f->command);
	}
	close_report();
}

static void longer_communication_sends_to_the_network_and_longer_computing_does_not(void **state)
{
	struct ct_finding *f;

	(void)state;
	open_report(1);
	add(CT_FINDING_CHANGE_POINT, CT_WHY_LONGER_COMMUNICATION, 0);
	add(CT_FINDING_CHANGE_POINT, CT_WHY_LONGER_COMPUTING, 0);
	f = list.all;
	ct_findings_advise(&list, &report);
	assert_true(says(f[0].advice, "network") && !says(f[0].advice, "temperature"));
	assert_true(says(f[0].command, "ibqueryerrors") && !says(f[0].command, "nvidia-smi"));
	report.run.n_hosts = 1;
	f[0].command = NULL;
	ct_findings_advise(&list, &report);
	assert_null(f[0].command);
	assert_true(says(f[1].advice, "temperature") && !says(f[1].advice, "network"));
	close_report();
}

static void what_ranks_share_is_no_host_where_there_is_only_one(void **state)
{
	(void)state;
	open_report(1);
	add(CT_FINDING_STRAGGLER, CT_WHY_LATE, 2);
	ct_findings_advise(&list, &report);
	assert_true(says(list.all[0].advice, "host, switch"));
	report.run.n_hosts = 1;
	ct_findings_advise(&list, &report);
	assert_true(says(list.all[0].advice, "shard of the input"));
	assert_false(says(list.all[0].advice, "host, switch"));
	close_report();
}

static void evidence_of_one_name_is_there_once(void **state)
{
	struct ct_finding *f;

	(void)state;
	open_report(1);
	f = add(CT_FINDING_STRAGGLER, CT_WHY_LATE, 1);
	ct_finding_evidence(&list, f, "windows", 8, "count", NAN);
	ct_finding_evidence(&list, f, "limit", 3, "ns", 1);
	ct_finding_evidence(&list, f, "windows", 4, "count", NAN);
	assert_int_equal(f->n_evidence, 2);
	assert_string_equal(f->evidence[0].name, "windows");
	assert_true(f->evidence[0].value == 4);
	close_report();
}

/* ---- as text ---- */

static char *text_of(int unwrapped)
{
	const struct ct_text_style style = { .unwrapped = unwrapped, .verbose = 1 };
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	ct_report_text(&report, &style, file);
	fclose(file);
	return text;
}

static unsigned count(const char *text, const char *words)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, words)); at++)
		n++;
	return n;
}

static void each_finding_says_how_grave_and_how_sure_it_is_and_why(void **state)
{
	char *text;

	(void)state;
	open_report(1);
	for (int i = 0; i < 5; i++) {
		struct ct_finding *f = add(CT_FINDING_SLOW_OP, CT_WHY_OWN, 1);

		f->severity = CT_SEVERITY_WARNING;
		f->confidence = CT_CONFIDENCE_MEDIUM;
		f->cause = ct_arena_printf(list.memory, "cause %d", i / 4);
		f->advice = "advice";
		f->command = i ? NULL : "command --of=it";
	}
	report.findings = list.all;
	report.n_findings = list.n;
	text = text_of(1);
	assert_int_equal(count(text, "\nSlow operation: somebody\n"), 5);
	assert_int_equal(count(text, "\n  finding      SLOW_OP, warning, confidence medium\n"), 5);
	/* what is the same as above is not repeated */
	assert_int_equal(count(text, "\n  cause        cause 0\n"), 1);
	assert_int_equal(count(text, "\n  cause        cause 1\n"), 1);
	assert_int_equal(count(text, "\n  do           advice\n"), 1);
	assert_int_equal(count(text, "\n  run          command --of=it\n"), 1);
	free(text);
	close_report();
}

static void no_end_of_a_verdict_or_advice_is_cut_on_a_terminal(void **state)
{
	static const char word[] = "a word and another one and ";
	char sentence[400] = "";
	char *text;

	(void)state;
	for (int i = 0; i < 8; i++)
		strcat(sentence, word);
	strcat(sentence, "at last 12.3ms");
	open_report(1);
	report.verdict = (struct ct_report_verdict){ .code = CT_VERDICT_HEALTHY,
						     .confidence = CT_CONFIDENCE_HIGH,
						     .text = sentence,
						     .title = "Healthy",
						     .headline = "one thing",
						     .note = sentence };
	for (int unwrapped = 0; unwrapped < 2; unwrapped++) {
		text = text_of(unwrapped);
		assert_non_null(strstr(text, "12.3ms\n"));
		assert_memory_equal(text, "Healthy: one thing\n", 19);
		for (const char *line = text; *line && *line != '\n';
		     line += strcspn(line, "\n") + 1)
			assert_true(strcspn(line, "\n") <= 80);
		free(text);
	}
	close_report();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_that_is_late_by_its_gpu_is_not_sent_to_its_input),
		cmocka_unit_test(the_gpu_is_named_as_the_host_knows_it),
		cmocka_unit_test(a_rank_that_is_late_by_its_host_is_not_sent_to_its_gpu),
		cmocka_unit_test(a_job_without_gpus_is_asked_nothing_of_them),
		cmocka_unit_test(
			longer_communication_sends_to_the_network_and_longer_computing_does_not),
		cmocka_unit_test(what_ranks_share_is_no_host_where_there_is_only_one),
		cmocka_unit_test(evidence_of_one_name_is_there_once),
		cmocka_unit_test(each_finding_says_how_grave_and_how_sure_it_is_and_why),
		cmocka_unit_test(no_end_of_a_verdict_or_advice_is_cut_on_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
