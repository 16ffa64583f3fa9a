/* SPDX-License-Identifier: Apache-2.0 */
/* What people and programs see of a report: the text fits a screen, the JSON has its keys, and no
 * name from a foreign program harms either. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/render.h"
#include "tests/unit/job.h"
#include "trace/ops.h"

static struct job job;

static void open_job(int ranks)
{
	job_open(&job, &(struct job_options){ .run = "run", .ranks = ranks });
}

/* `steps` all-reduces of 1 MB, 10 ms apart; rank r comes r * 10 us late, all leave after 1 ms. */
static uint64_t steady(int steps, uint64_t begin)
{
	for (int c = 0; c < steps; c++) {
		uint64_t at = begin + (uint64_t)c * 10000000;

		for (int r = 0; r < job.o.ranks; r++)
			job_collective(&job, r, CT_OP_AllReduce, 250000, at + (uint64_t)r * 10000,
				       at + 1000000);
	}
	return begin + (uint64_t)steps * 10000000;
}

static struct ct_report *close_job(uint64_t end)
{
	job_close(&job, end);
	return job_report(&job, -1);
}

/* ---- hostile input ---- */

static void assert_printable(const char *text)
{
	for (; *text; text++)
		assert_true((unsigned char)*text >= 0x20 || *text == '\n');
}

static unsigned columns(const char *line, size_t len)
{
	unsigned n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)line[i] & 0xc0) != 0x80;
	return n;
}

/* What `commtrace report` writes without --verbose. */
static char *screen_of(const struct ct_report *report)
{
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	assert_non_null(f);
	ct_report_text(report, NULL, f);
	fclose(f);
	return text;
}

static void assert_fits(const char *text)
{
	unsigned lines = 0;

	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");

		if (columns(line, len) > 100)
			fail_msg("%u columns: %.*s", columns(line, len), (int)len, line);
		lines++;
		line += len + (line[len] == '\n');
	}
	if (lines > 48)
		fail_msg("%u lines:\n%s", lines, text);
}

static void hostile_names_harm_neither_terminal_nor_json(void **state)
{
	static const int all[] = { 0, 1, 2, 3 };
	static const char
		evil[] = "</script>\033[2J\xff\xe2\x80\xae\n\"\\ and so on and so on and so on "
			 "and so on and so on and so on and so on and so on and so on";
	uint32_t call = 9;
	struct ct_report *report;
	char *text, *dump;
	json_t *json;

	(void)state;
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 4, .host = evil });
	job_comm(&job, 2, 0xe1, evil, all, 4);
	for (int r = 0; r < 4; r++) {
		uint64_t note = 1;
		uint8_t name[] = { 0, 0, 200, 0 };

		ct_block_add_text(&job.writers[r].block, CT_KIND_STRING, &call, sizeof(call), evil);
		ct_block_add_text(&job.writers[r].block, CT_KIND_NOTE, &note, sizeof(note), evil);
		ct_block_add_text(&job.writers[r].block, CT_KIND_NAME, name, sizeof(name), evil);
		for (uint64_t c = 0; c < 30; c++)
			job_op(&job, r,
			       (struct ct_op){ .enter_ns = 1000000 * (c + 1) +
							   (r == 2 ? 500000u : 0),
					       .return_ns = c < 29 ? 1000000 * (c + 1) + 600000 : 0,
					       .seq = c,
					       .comm = 2,
					       .peer = -1,
					       .call = 9,
					       .op = c % 10 ? CT_OP_AllReduce : 200 });
	}
	report = close_job(0);
	json = ct_report_json(report);
	assert_non_null(json);
	dump = json_dumps(json, JSON_PRESERVE_ORDER);
	assert_non_null(dump);
	assert_null(strchr(dump, '\033'));
	free(dump);
	json_decref(json);
	json = ct_info_json(report);
	assert_non_null(json);
	json_decref(json);
	text = screen_of(report);
	assert_printable(text);
	assert_fits(text);
	free(text);
	text = job_text(report, 0);
	assert_printable(text);
	free(text);
	text = job_text(report, 1);
	assert_printable(text);
	free(text);
	ct_report_free(report);
}

static void impossible_records_are_taken_for_what_they_are(void **state)
{
	struct ct_comm_rec comm = { .id = 3, .key = 77, .nranks = 0xffffffff, .rank = 5 };
	struct ct_report *report;

	(void)state;
	open_job(2);
	for (int r = 0; r < 2; r++) {
		job_rare(&job, r, CT_KIND_COMM, &comm, sizeof(comm));
		comm.id = 4;
		comm.nranks = 1 << 20; /* just believable */
		job_rare(&job, r, CT_KIND_COMM, &comm, sizeof(comm));
		job_rare(&job, r, CT_KIND_COMM, &comm, 3);
		job_rare(&job, r, CT_KIND_STRING, "a", 1);
		job_rare(&job, r, CT_KIND_NAME, "", 0);
		job_rare(&job, r, CT_KIND_OPEN_OP, "xx", 2);
		for (uint32_t c = 1; c < 6; c++)
			job_op(&job, r,
			       (struct ct_op){ .enter_ns = c == 2 ? 0 : UINT64_MAX / 2,
					       .return_ns = 5,
					       .count = UINT64_MAX,
					       .seq = UINT64_MAX,
					       .comm = c,
					       .peer = 99,
					       .launch = c == 3 ? 5 : 0,
					       .op = c == 5 ? CT_OP_Send : CT_OP_AllGather,
					       .dtype = CT_DTYPE_complex128 });
		job_launch(&job, r,
			   (struct ct_launch){ .id = 5, .n_ops = UINT32_MAX, .end_ns = 1 });
	}
	report = close_job(1000000);
	for (size_t c = 0; c < report->n_comms; c++)
		assert_true(report->comms[c].nranks <= 1 << 20);
	free(job_text(report, 0));
	ct_report_free(report);
}

/* ---- shapes ---- */

static void assert_keys(const json_t *object, const char *keys)
{
	json_t *o = (json_t *)(uintptr_t)object;
	char found[1024] = "";
	const char *key;
	json_t *value;

	assert_true(json_is_object(object));
	json_object_foreach(o, key, value)
	{
		strcat(found, *found ? " " : "");
		strcat(found, key);
	}
	assert_string_equal(found, keys);
}

static json_t *first(const json_t *object, const char *key)
{
	json_t *array = json_object_get(object, key);

	assert_true(json_is_array(array) && json_array_size(array) > 0);
	return json_array_get(array, 0);
}

/* A run with something in every table. */
static struct ct_report *full_report(void)
{
	struct ct_cost_rec cost = { .calls = 60,
				    .wrapper_ns = 9000,
				    .write_cpu_ns = 1000000,
				    .beat_cpu_ns = 2000,
				    .bytes_written = 4096 };
	struct ct_loss_rec loss = { .reason = CT_LOSS_WRITE_FAILED, .records = 3 };
	uint64_t note = 1;

	open_job(4);
	for (int r = 0; r < 4; r++) {
		job_rare(&job, r, CT_KIND_COST, &cost, sizeof(cost));
		ct_block_add_text(&job.writers[r].block, CT_KIND_NOTE, &note, sizeof(note),
				  "beware");
	}
	job_rare(&job, 1, CT_KIND_LOSS, &loss, sizeof(loss));
	for (int c = 0; c < 60; c++) {
		uint64_t at = 1000000 + (uint64_t)c * 20000000;

		for (int r = 0; r < 4; r++) {
			unsigned op = c == 50 && r == 2 ? CT_OP_Barrier : CT_OP_AllReduce;

			job_collective(&job, r, op, 1ull << (c % 4 + 4),
				       at + (r == 3 ? 9000000u : 0), at + 10000000);
		}
	}
	for (int r = 0; r < 4; r++)
		job_collective(&job, r, CT_OP_AllReduce, 1, 1300000000, 0);
	return close_job(0);
}

static void what_lacks_details_was_not_dropped(void **state)
{
	struct ct_report *report = full_report();
	const struct ct_text_style style = { 0 };
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	(void)state;
	assert_non_null(f);
	report->dropped[0] = (struct ct_report_dropped){ .rank = 1, .records = 31 };
	report->n_dropped = 1;
	ct_report_text(report, &style, f);
	fclose(f);
	assert_non_null(strstr(text, "no dropped records (31 lack details)"));
	free(text);
	ct_report_free(report);
}

static void json_has_exactly_the_keys_of_the_contract(void **state)
{
	struct ct_report *report = full_report();
	json_t *o = ct_report_json(report);

	(void)state;
	assert_keys(o,
		    "schema run verdict hang findings ranks comms ops steps throughput overlap "
		    "exposed_comm stream_idle "
		    "stages links traffic heatmaps curves clocks "
		    "dropped what_if scorecard overhead expect ended in_flight not_traced omitted");
	assert_string_equal(json_string_value(json_object_get(o, "schema")), "commtrace.report/1");
	assert_keys(
		json_object_get(o, "run"),
		"dir job restart starts begin_unix_ns duration_ns omitted_ns omitted_ops hang_why "
		"ranks_expected ranks_seen "
		"ranks_missing hosts backends complete timing timing_why events_from_ns "
		"events_until_ns step_overhead_pct step_overhead_err_pct step_overhead_why "
		"timed_ratio pct_of");
	assert_keys(json_object_get(o, "verdict"),
		    "code title headline cause note text confidence gain_max_pct advice command");
	assert_keys(
		first(o, "findings"),
		"id kind severity title headline ranks hosts comm op step_first step_last begin_ns "
		"end_ns "
		"time_lost_ns "
		"time_lost_err_ns time_lost_pct gpu_seconds where cause note confidence "
		"evidence advice "
		"command "
		"timeline");
	assert_keys(first(first(o, "findings"), "evidence"), "name value unit err");
	assert_keys(first(o, "ranks"), "rank host pid device ops bytes wait_ns lateness_ns "
				       "last_count exposed_ns exposed_err_ns err_ns "
				       "dropped_records timing timed_ratio complete");
	assert_keys(first(o, "comms"),
		    "comm parent backend role role_confidence role_evidence nranks ranks name "
		    "op_count first_seq last_seq bytes steps_exposed_ns steps_exposed_wait_ns "
		    "steps_exposed_err_ns");
	assert_keys(
		first(o, "ops"),
		"comm backend op group dtype size_range op_count bytes span_p50_ns span_p99_ns "
		"transfer_p50_ns transfer_p99_ns wait_ns transfer_ns algbw_p50_Bps busbw_p50_Bps "
		"time_err_ns exposed_ns exposed_err_ns idle_ns idle_host_bound_ns "
		"idle_waiting_for_compute_ns "
		"idle_err_ns late_or_slow");
	assert_keys(json_object_get(o, "exposed_comm"),
		    "median_pct err_pct wait_pct max_pct transferring_pct covered_pct why");
	assert_keys(json_object_get(o, "steps"),
		    "anchor marker count skipped time_p50_ns time_p99_ns "
		    "err_ns covered_pct why note recurring items");
	assert_keys(json_object_get(o, "traffic"),
		    "unit model ranks matrix why note at_least exact_bytes modeled_bytes "
		    "unattributed_bytes hosts comms_omitted layers");
	assert_keys(first(o, "dropped"), "rank reason records begin_ns end_ns");
	assert_keys(json_object_get(o, "scorecard"), "total grade reference why parts");
	assert_keys(first(o, "overhead"),
		    "rank wrapper_ns calls events poll_cpu_ns write_cpu_ns heartbeat_cpu_ns "
		    "stacks_cpu_ns "
		    "counters_cpu_ns environment_cpu_ns voluntary_switches involuntary_switches "
		    "startup_ns bytes_written budget_backoffs wrapper_pct threads_cpu_pct timing "
		    "sample_ratio budget_ratio "
		    "duty_on_ns duty_period_ns halvings halvings_max timing_why events_from_ns "
		    "events_until_ns "
		    "step_overhead_pct step_overhead_err_pct step_overhead_why untimed_windows "
		    "timed_windows "
		    "step_ns step_collectives step_kind");
	json_decref(o);
	o = ct_info_json(report);
	assert_keys(o, "schema run processes comms dropped clocks overhead call_order not_traced "
		       "environment "
		       "transport");
	assert_keys(first(o, "processes"), "host hostkey pid start_unix_ns restart ranks exe "
					   "program segments bytes ring end signal "
					   "oom_killed exit_code last_heartbeat_ns");
	assert_keys(first(o, "call_order"),
		    "comm same_up_to_seq first_different_seq differs_up_to_seq hash");
	assert_keys(first(o, "not_traced"), "what why advice");
	assert_keys(json_object_get(o, "environment"), "same differs unread conflicts per_rank");
	json_decref(o);
	ct_report_free(report);
}

static void unknown_is_null_in_json(void **state)
{
	struct ct_report *report;
	json_t *o;

	(void)state;
	open_job(1);
	report = close_job(steady(5, 1000000));
	o = ct_report_json(report);
	assert_true(json_is_null(json_object_get(first(o, "ops"), "wait_ns")));
	assert_true(json_is_null(json_object_get(first(o, "ops"), "busbw_p50_Bps")));
	assert_true(json_is_null(json_object_get(first(o, "ranks"), "wait_ns")));
	assert_true(json_is_null(json_object_get(first(o, "ranks"), "exposed_ns")));
	assert_true(json_is_null(json_object_get(json_object_get(o, "steps"), "count")));
	json_decref(o);
	ct_report_free(report);
}

static void text_begins_with_the_verdict_and_fits_the_screen(void **state)
{
	struct ct_report *report = full_report();
	char *text = screen_of(report);
	size_t lines = 0;

	(void)state;
	assert_fits(text);
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		lines++;
	if (lines < 15 || lines > 25)
		fail_msg("%zu lines:\n%s", lines, text);
	assert_memory_equal(text, "Mismatched operations: rank 2 ", 30);
	assert_non_null(strstr(text, "\nStraggler: rank 3 (host0) costs "));
	assert_null(strstr(text, "time_lost="));
	free(text);
	text = job_text(report, 0);
	assert_non_null(strstr(text, "\nSTRAGGLER ranks=3 hosts=host0 time_lost="));
	assert_non_null(strstr(text, "\nDROPPED_RECORDS records=3"));
	assert_non_null(strstr(text, "4 of 4 ranks on 1 host, gloo"));
	assert_non_null(strstr(text, "timing    call"));
	assert_non_null(strstr(text, "in flight 4 operations (ranks 0-3) when recording ended"));
	assert_non_null(strstr(text, "ended     4 ranks, how is not recorded: 0-3"));
	assert_non_null(strstr(text, "commtrace info "));
	free(text);
	text = job_text(report, 1);
	assert_non_null(strstr(text, "not complete: 4 of 4 ranks"));
	assert_non_null(strstr(text, "reason WRITE_FAILED, records 3"));
	assert_non_null(strstr(text, "rank 0: beware"));
	free(text);
	ct_report_free(report);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_DISK(hostile_names_harm_neither_terminal_nor_json),
		ON_DISK(impossible_records_are_taken_for_what_they_are),
		ON_DISK(what_lacks_details_was_not_dropped),
		ON_DISK(json_has_exactly_the_keys_of_the_contract),
		ON_DISK(unknown_is_null_in_json),
		ON_DISK(text_begins_with_the_verdict_and_fits_the_screen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
