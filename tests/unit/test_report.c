/* SPDX-License-Identifier: Apache-2.0 */
/* From files to reports: what the tables, the sentence, the text and the JSON say about runs whose content is
 * known, whole and damaged, friendly and hostile. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/load.h"
#include "analyzer/render/render.h"
#include "tests/unit/job.h"
#include "trace/ops.h"

static struct job job;

static void open_job(int ranks)
{
	job_open(&job, &(struct job_options){ .run = "run", .ranks = ranks });
}

/* `cycles` all-reduces of 1 MB, 10 ms apart; rank r comes r * 10 us late, all leave after 1 ms. */
static uint64_t steady(int cycles, uint64_t begin)
{
	for (int c = 0; c < cycles; c++) {
		uint64_t at = begin + (uint64_t)c * 10000000;

		for (int r = 0; r < job.o.ranks; r++)
			job_collective(&job, r, CT_OP_AllReduce, 250000, at + (uint64_t)r * 10000,
				       at + 1000000);
	}
	return begin + (uint64_t)cycles * 10000000;
}

static struct ct_report *close_job(uint64_t end)
{
	job_close(&job, end);
	return job_report(&job, -1);
}

/* ---- numbers ---- */

static void tables_hold_what_was_written(void **state)
{
	struct ct_report *report;
	const struct ct_report_op *op;

	(void)state;
	open_job(4);
	report = close_job(steady(50, 1000000));
	assert_int_equal(report->run.ranks_seen, 4);
	assert_int_equal(report->run.ranks_expected, 4);
	assert_int_equal(report->run.n_missing, 0);
	assert_true(report->run.complete);
	assert_int_equal(report->run.timing, CT_TIMING_CALL);
	assert_int_equal(report->run.time_err_ns, 2 * (1 + CT_BLOCK_QUANTUM_NS));
	assert_int_equal(report->run.matched, 50);
	assert_int_equal(report->n_ops, 1);
	op = &report->ops[0];
	assert_string_equal(op->op_name, "AllReduce");
	assert_int_equal(op->instances, 50);
	assert_int_equal(op->bytes, 50000000);
	assert_int_equal(op->bytes_each, 1000000);
	assert_int_equal(op->bytes_class, 524288);
	/* Spans 970, 980, 990, 1000 us; X = 970 us; waits 30 + 20 + 10 us. Quanta and cells are allowed for. */
	assert_true(labs((long)op->span_p50_ns - 980000) <= 980000 / 64 + 66);
	assert_true(labs((long)op->span_p99_ns - 1000000) <= 1000000 / 64 + 66);
	assert_true(labs((long)op->transfer_p50_ns - 970000) <= 970000 / 64 + 66);
	assert_true(labs((long)op->wait_ns - 50 * 60000) <= 50 * 4 * 66);
	assert_true(labs((long)op->transfer_ns - 50 * 970000) <= 50 * 66);
	assert_true(fabs((double)op->algbw_p50_Bps - 1e6 / 970e-6) < 1e6 / 970e-6 / 60);
	assert_true(fabs((double)op->busbw_p50_Bps / (double)op->algbw_p50_Bps - 1.5) < 1e-6);
	assert_int_equal(op->last_rank, 3);
	assert_int_equal(op->last_count, 50);
	assert_true(labs((long)op->last_cost_ns - 50 * 10000) <= 50 * 66);
	assert_int_equal(report->ranks[3].last_count, 50);
	assert_int_equal(report->ranks[0].ops, 50);
	assert_int_equal(report->ranks[0].bytes, 50000000);
	assert_true(labs((long)report->ranks[0].wait_ns - 50 * 30000) <=
		    (long)report->ranks[0].err_ns);
	assert_true(labs((long)report->ranks[3].lateness_ns - 50 * 15000) <=
		    (long)report->ranks[3].err_ns);
	assert_int_equal(report->n_comms, 1);
	assert_true(report->comms[0].key == JOB_COMM);
	assert_int_equal(report->comms[0].first_seq, 0);
	assert_int_equal(report->comms[0].last_seq, 49);
	assert_int_equal(report->comms[0].equal_to_seq, 49);
	assert_int_equal(report->verdict.code, CT_VERDICT_HEALTHY);
	ct_report_free(report);
}

static void two_communicators_are_two(void **state)
{
	static const int some[] = { 3, 1 };
	struct ct_report *report;

	(void)state;
	open_job(4);
	job_comm(&job, 2, 0xabc, "pair", some, 2);
	for (uint64_t c = 0; c < 30; c++) {
		for (int i = 0; i < 2; i++)
			job_op(&job, some[i],
			       (struct ct_op){ .enter_ns = 500000 + c * 10000000,
					       .return_ns = 700000 + c * 10000000,
					       .count = 10,
					       .seq = c,
					       .comm = 2,
					       .peer = -1,
					       .op = CT_OP_AllGather,
					       .dtype = CT_DTYPE_int32 });
	}
	report = close_job(steady(30, 1000000));
	assert_int_equal(report->n_comms, 2);
	assert_int_equal(report->n_ops, 2);
	assert_true(report->comms[1].key == 0xabc);
	assert_string_equal(report->comms[1].name, "pair");
	assert_int_equal(report->comms[1].n_ranks, 2);
	assert_int_equal(report->comms[1].ranks[0], 3);
	assert_int_equal(report->comms[1].ranks[1], 1);
	/* AllGather moves both shares. */
	assert_int_equal(report->comms[1].bytes, 30 * 10 * 4 * 2);
	assert_int_equal(report->run.incomplete, 0);
	ct_report_free(report);
}

/* ---- spans that are launches ---- */

static struct ct_op message(unsigned op, int peer, uint64_t seq, uint64_t enter, uint32_t launch)
{
	return (struct ct_op){
		.enter_ns = enter,
		.return_ns = enter + 5000,
		.count = 1000,
		.seq = seq,
		.peer = peer,
		.tag = 3,
		.launch = launch,
		.op = (uint8_t)op,
		.dtype = CT_DTYPE_uint8,
	};
}

static struct ct_launch waited_for(uint32_t id, uint64_t start, uint64_t end)
{
	return (struct ct_launch){
		.id = id,
		.comm = 1,
		.n_ops = 1,
		.start_ns = start,
		.end_ns = end,
		.start_source = start ? CT_SOURCE_CALL : CT_SOURCE_NONE,
		.end_source = CT_SOURCE_WAIT,
	};
}

static void messages_take_their_span_from_the_launch_in_a_later_block(void **state)
{
	struct ct_report *report;
	const struct ct_report_op *send, *recv;

	(void)state;
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 2, .block_ops = 3 });
	for (uint32_t i = 0; i < 30; i++) {
		uint64_t at = 1000000 + i * 10000000ull;

		/* The receiver asks 2 ms before the sender sends; the message takes 1 ms. */
		job_op(&job, 1, message(CT_OP_Recv, 0, i, at, i + 1));
		job_op(&job, 0, message(CT_OP_Send, 1, i, at + 2000000, i + 1));
		if (i >= 8) {
			uint64_t then = at - 8 * 10000000ull;

			job_launch(&job, 1, waited_for(i - 7, then, then + 3000000));
			job_launch(&job, 0, waited_for(i - 7, then + 2000000, then + 3000000));
		}
	}
	report = close_job(400000000);
	assert_int_equal(report->n_ops, 2);
	send = strcmp(report->ops[0].op_name, "Send") == 0 ? &report->ops[0] : &report->ops[1];
	recv = send == &report->ops[0] ? &report->ops[1] : &report->ops[0];
	assert_string_equal(send->op_name, "Send");
	assert_string_equal(recv->op_name, "Recv");
	assert_int_equal(send->instances, 30);
	assert_true(labs((long)recv->span_p50_ns - 3000000) < 3000000 / 60);
	assert_true(labs((long)send->span_p50_ns - 1000000) < 1000000 / 60);
	/* 22 of them ended. */
	assert_true(labs((long)recv->wait_ns - 22 * 2000000) < 22 * 200);
	assert_true(send->wait_ns < 22 * 200);
	assert_true(labs((long)recv->transfer_ns - 22 * 1000000) < 22 * 200);
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_non_null(strstr(report->verdict.text, "point-to-point"));
	ct_report_free(report);
}

static void spans_without_a_start_never_enter_waits(void **state)
{
	struct ct_report *report;

	(void)state;
	open_job(2);
	for (uint32_t i = 0; i < 40; i++) {
		for (int r = 0; r < 2; r++) {
			struct ct_op op = message(CT_OP_AllReduce, -1, i, 1000000 + i * 1000000ull,
						  i + 1);

			job_op(&job, r, op);
			job_launch(&job, r,
				   waited_for(i + 1, r ? op.enter_ns : 0, op.enter_ns + 100000));
		}
	}
	report = close_job(100000000);
	assert_int_equal(report->run.matched, 0);
	assert_int_equal(report->n_ops, 1);
	assert_true(report->ops[0].wait_ns == CT_UNKNOWN);
	assert_true(report->ops[0].transfer_ns == CT_UNKNOWN);
	assert_true(report->ops[0].busbw_p50_Bps == CT_UNKNOWN);
	assert_true(report->ranks[0].wait_ns == CT_UNKNOWN);
	assert_true(report->ranks[0].comm_ns == CT_UNKNOWN);
	assert_true(isnan(report->run.comm_share_pct));
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	ct_report_free(report);
}

/* ---- what is missing ---- */

static void rank_without_trace_is_named(void **state)
{
	struct ct_report *report;

	(void)state;
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 4, .absent = 1 << 2 });
	report = close_job(steady(50, 1000000));
	assert_int_equal(report->run.ranks_expected, 4);
	assert_int_equal(report->run.ranks_seen, 3);
	assert_int_equal(report->run.n_missing, 1);
	assert_int_equal(report->run.ranks_missing[0], 2);
	assert_false(report->run.complete);
	assert_int_equal(report->comms[0].ranks[2], -1);
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_non_null(strstr(report->verdict.text, "3 of 4 ranks"));
	/* What each rank did is known all the same. */
	assert_int_equal(report->ops[0].instances, 50);
	assert_true(report->ops[0].span_p50_ns != CT_UNKNOWN);
	assert_true(report->ops[0].wait_ns == CT_UNKNOWN);
	ct_report_free(report);
}

static void lost_records_are_told_and_nobody_is_judged_by_the_rest(void **state)
{
	struct ct_loss_rec loss = { .reason = CT_LOSS_POOL_EMPTY, .records = 25 };
	const struct ct_finding *f;
	struct ct_report *report;

	(void)state;
	open_job(3);
	for (int c = 0; c < 50; c++) {
		for (int r = 0; r < 3; r++) {
			uint64_t at = 1000000 + (uint64_t)c * 10000000;

			if (r == 1 && c >= 20 && c < 45)
				job.seq[r]++; /* not recorded */
			else
				job_collective(&job, r, CT_OP_AllReduce, 250000, at, at + 1000000);
		}
	}
	loss.begin_ns = job.clock[1] + 201000000;
	loss.end_ns = job.clock[1] + 450000000;
	job_rare(&job, 1, CT_KIND_LOSS, &loss, sizeof(loss));
	report = close_job(600000000);
	assert_int_equal(report->lost_records, 25);
	assert_int_equal(report->n_losses, 1);
	assert_string_equal(report->losses[0].reason, "POOL_EMPTY");
	assert_int_equal(report->losses[0].rank, 1);
	assert_int_equal(report->losses[0].begin_at_ns, 201000000);
	assert_false(report->run.complete);
	assert_false(report->ranks[1].complete);
	assert_int_equal(report->ranks[1].lost_records, 25);
	assert_true(report->ranks[0].complete);
	assert_int_equal(report->run.matched, 25);
	assert_int_equal(report->run.incomplete, 25);
	f = job_finding(report, CT_FINDING_LOSSES);
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 1);
	assert_int_equal(f->ranks[0], 1);
	assert_int_equal(report->verdict.code, CT_VERDICT_HEALTHY);
	assert_int_equal(report->verdict.confidence, CT_CONFIDENCE_MEDIUM);
	ct_report_free(report);
}

static void one_rank_has_nobody_to_wait_for(void **state)
{
	struct ct_report *report;

	(void)state;
	open_job(1);
	report = close_job(steady(50, 1000000));
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_non_null(strstr(report->verdict.text, "one rank"));
	assert_int_equal(report->ops[0].instances, 50);
	assert_true(report->ops[0].transfer_ns == CT_UNKNOWN);
	assert_true(report->ranks[0].wait_ns == CT_UNKNOWN);
	ct_report_free(report);
}

static void run_without_operations_is_a_report(void **state)
{
	struct ct_report *report;
	json_t *json;

	(void)state;
	open_job(2);
	report = close_job(5000000);
	assert_int_equal(report->n_ops, 0);
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_non_null(strstr(report->verdict.text, "no communication"));
	json = ct_report_json(report);
	assert_non_null(json);
	json_decref(json);
	ct_report_free(report);
}

static void no_such_attempt_is_an_error(void **state)
{
	struct ct_analyze_options options = { .attempt = 3 };
	const char *path;
	struct ct_report *report;
	struct ct_run *run;
	struct ct_err err;

	(void)state;
	open_job(2);
	job_close(&job, 1000);
	path = fx_path("run");
	assert_int_equal(ct_run_open(&path, 1, NULL, &run, &err), CT_OK);
	assert_int_equal(ct_analyze(run, &options, &report, &err), CT_NOTFOUND);
	assert_null(report);
	ct_run_close(run);
}

/* ---- attempts ---- */

static void restarted_job_is_reported_by_its_last_attempt(void **state)
{
	struct ct_report *report;

	(void)state;
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 3 });
	steady(30, 1000000);
	job_close(&job, 0); /* all ranks were killed */
	job_open(&job, &(struct job_options){ .run = "run",
					      .ranks = 3,
					      .restart = 1,
					      .start_ns = 5000000000,
					      .pid = 4001000 });
	report = close_job(steady(40, 5001000000));
	assert_int_equal(report->run.attempt, 1);
	assert_int_equal(report->run.attempts, 2);
	assert_int_equal(report->run.ranks_seen, 3);
	assert_int_equal(report->run.matched, 40);
	assert_int_equal(report->n_processes, 6);
	assert_int_equal(report->verdict.code, CT_VERDICT_HEALTHY);
	assert_int_equal(report->ranks[0].pid, 4001000);
	ct_report_free(report);
	report = job_report(&job, 0);
	assert_int_equal(report->run.matched, 30);
	assert_false(report->run.complete); /* no ring, no orderly end */
	assert_int_equal(report->n_ended, 3);
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_non_null(strstr(report->verdict.text, "3 processes did not end well"));
	ct_report_free(report);
}

static void second_run_into_the_same_directory_is_an_attempt_of_its_own(void **state)
{
	struct ct_report *report;

	(void)state;
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 2 });
	job_close(&job, steady(30, 1000000));
	job_open(&job, &(struct job_options){
			       .run = "run", .ranks = 2, .start_ns = 9000000000, .pid = 4001000 });
	report = close_job(steady(25, 9001000000));
	assert_int_equal(report->run.attempts, 2);
	assert_int_equal(report->run.matched, 25);
	assert_true(report->run.duration_ns < 1000000000);
	ct_report_free(report);
}

/* ---- in flight and ends ---- */

static void operations_inside_their_call_are_listed(void **state)
{
	struct ct_report *report;
	uint64_t end;
	char *text;

	(void)state;
	open_job(3);
	end = steady(30, 1000000);
	for (int r = 0; r < 3; r++) {
		if (r != 1)
			job_collective(&job, r, CT_OP_AllReduce, 250000, end + (uint64_t)r, 0);
	}
	report = close_job(0);
	assert_int_equal(report->n_inflight, 2);
	assert_int_equal(report->inflight[0].rank, 0);
	assert_int_equal(report->inflight[1].rank, 2);
	assert_int_equal(report->inflight[0].seq, 30);
	assert_true(labs((long)report->inflight[0].since_at_ns - (long)end) <= 64);
	assert_string_equal(report->inflight[0].call, "gloo::allreduce");
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	text = job_text(report, 0);
	assert_non_null(strstr(text, "2 ops had not returned when recording ended (ranks 0,2)"));
	free(text);
	ct_report_free(report);
}

static void open_op_of_the_last_status_counts_unless_its_record_came(void **state)
{
	struct ct_open_op_rec open = { .tid = 9, .slot = 0 };
	struct ct_op op = { .count = 5, .seq = 30, .comm = 1, .peer = -1, .op = CT_OP_Barrier };
	struct ct_report *report;
	uint64_t end;

	(void)state;
	open_job(2);
	end = steady(30, 1000000);
	for (int r = 0; r < 2; r++) {
		op.enter_ns = job.clock[r] + end;
		ct_op_pack(&op, open.words);
		open.words[0] = CT_TAG(1, CT_KIND_OP, 7);
		open.words[CT_OP_W_END] = 0;
		job_flush(&job, r);
		/* Rank 1's is the slot that will be written next. */
		open.lap = r == 1 ? 1 + job.slots[1] : 999999;
		job_rare(&job, r, CT_KIND_OPEN_OP, &open, sizeof(open));
		job_flush(&job, r);
	}
	job_collective(&job, 1, CT_OP_Barrier, 0, end, end + 1000000);
	report = close_job(0);
	assert_int_equal(report->n_inflight, 1);
	assert_int_equal(report->inflight[0].rank, 0);
	assert_string_equal(report->inflight[0].op_name, "Barrier");
	ct_report_free(report);
}

/* ---- findings ---- */

static void contradiction_comes_first(void **state)
{
	const struct ct_finding *f;
	struct ct_report *report;

	(void)state;
	open_job(4);
	for (int c = 0; c < 60; c++) {
		uint64_t at = 1000000 + (uint64_t)c * 20000000;

		for (int r = 0; r < 4; r++) {
			unsigned op = c == 50 && r == 2 ? CT_OP_Barrier : CT_OP_AllReduce;

			job_collective(&job, r, op, 100, at + (r == 3 ? 9000000u : 0),
				       at + 10000000);
		}
	}
	report = close_job(1300000000);
	assert_int_equal(report->verdict.code, CT_VERDICT_MISMATCH);
	assert_int_equal(report->n_findings, 2);
	f = &report->findings[0];
	assert_int_equal(f->kind, CT_FINDING_MISMATCH);
	assert_int_equal(f->n_ranks, 1);
	assert_int_equal(f->ranks[0], 2);
	assert_non_null(strstr(f->line, "seq=50 field=op theirs=Barrier others=AllReduce"));
	assert_int_equal(report->comms[0].first_difference, 50);
	f = &report->findings[1];
	assert_int_equal(f->kind, CT_FINDING_STRAGGLER);
	assert_int_equal(f->ranks[0], 3);
	ct_report_free(report);
}

static void little_communication_is_not_the_matter(void **state)
{
	struct ct_report *report;

	(void)state;
	open_job(2);
	for (int c = 0; c < 40; c++) {
		for (int r = 0; r < 2; r++)
			job_collective(&job, r, CT_OP_AllReduce, 10,
				       1000000 + (uint64_t)c * 100000000,
				       1200000 + (uint64_t)c * 100000000);
	}
	report = close_job(4000000000);
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_COMMUNICATION);
	assert_true(report->verdict.gain_max_pct < 1);
	ct_report_free(report);
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
	if (lines > 40)
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
	text = job_text(report, 0);
	assert_printable(text);
	assert_fits(text);
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

			job_collective(&job, r, op, 1ull << (c % 8 + 4),
				       at + (r == 3 ? 9000000u : 0), at + 10000000);
		}
	}
	for (int r = 0; r < 4; r++)
		job_collective(&job, r, CT_OP_AllReduce, 1, 1300000000, 0);
	return close_job(0);
}

static void json_has_exactly_the_keys_of_the_contract(void **state)
{
	struct ct_report *report = full_report();
	json_t *o = ct_report_json(report);

	(void)state;
	assert_keys(
		o,
		"schema run verdict findings ranks comms ops cycles overlap links traffic clocks "
		"losses scorecard cost");
	assert_string_equal(json_string_value(json_object_get(o, "schema")), "commtrace.report/1");
	assert_keys(json_object_get(o, "run"),
		    "dir job attempt attempts begin_unix_ns duration_ns ranks_expected ranks_seen "
		    "ranks_missing hosts backends complete timing");
	assert_keys(json_object_get(o, "verdict"), "code text confidence gain_max_pct");
	assert_keys(first(o, "findings"),
		    "id kind severity ranks hosts comm op cycle_first cycle_last begin_ns end_ns "
		    "loss_ns "
		    "loss_err_ns loss_pct gpu_seconds cause confidence evidence advice command");
	assert_keys(first(first(o, "findings"), "evidence"), "name value unit err");
	assert_keys(
		first(o, "ranks"),
		"rank host pid device ops bytes wait_ns lateness_ns last_count exposed_ns err_ns "
		"lost_records timing complete");
	assert_keys(first(o, "comms"), "comm parent backend role role_confidence nranks ranks name "
				       "instances first_seq last_seq bytes");
	assert_keys(
		first(o, "ops"),
		"comm backend op dtype bytes_class instances bytes span_p50_ns span_p99_ns "
		"transfer_p50_ns transfer_p99_ns wait_ns transfer_ns algbw_p50_Bps busbw_p50_Bps "
		"time_err_ns");
	assert_keys(json_object_get(o, "cycles"), "anchor count time_p50_ns time_p99_ns items");
	assert_keys(json_object_get(o, "traffic"), "unit model ranks matrix");
	assert_keys(first(o, "losses"), "rank reason records begin_ns end_ns");
	assert_keys(json_object_get(o, "scorecard"), "total grade parts");
	assert_keys(
		first(o, "cost"),
		"rank wrapper_ns calls events poll_cpu_ns write_cpu_ns beat_cpu_ns bytes_written "
		"budget_backoffs");
	json_decref(o);
	o = ct_info_json(report);
	assert_keys(o, "schema run processes comms losses clocks cost order invisible environment "
		       "transport");
	assert_keys(
		first(o, "processes"),
		"host hostkey pid start_unix_ns restart ranks exe segments bytes ring end signal "
		"exit_code last_heartbeat_ns");
	assert_keys(first(o, "order"), "comm equal_to_seq first_difference");
	assert_keys(first(o, "invisible"), "what why remedy");
	assert_keys(json_object_get(o, "environment"), "same differs");
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
	assert_true(json_is_null(json_object_get(json_object_get(o, "cycles"), "count")));
	json_decref(o);
	ct_report_free(report);
}

static void text_begins_with_the_verdict_and_fits_the_screen(void **state)
{
	struct ct_report *report = full_report();
	char *text = job_text(report, 0);

	(void)state;
	assert_fits(text);
	assert_memory_equal(text, "MISMATCH: rank 2 ", 17);
	assert_non_null(strstr(text, "\nSTRAGGLER rank=3 host=host0 loss="));
	assert_non_null(strstr(text, "\nLOSSES records=3"));
	assert_non_null(strstr(text, "4 of 4 ranks on 1 host, gloo"));
	assert_non_null(strstr(text, "timing    call"));
	assert_non_null(
		strstr(text, "4 ops had not returned when recording ended (ranks 0,1,2,3)"));
	assert_non_null(strstr(text, "ended     rank 0 (pid 4000000)"));
	assert_non_null(strstr(text, "commtrace info "));
	free(text);
	text = job_text(report, 1);
	assert_non_null(strstr(text, "not complete: 4 of 4 ranks"));
	assert_non_null(strstr(text, "reason=WRITE_FAILED records=3"));
	assert_non_null(strstr(text, "rank 0: beware"));
	free(text);
	ct_report_free(report);
}

/* ---- dump ---- */

struct counted {
	unsigned ops, finished, entered, stop_after;
	uint64_t last_enter;
	int ordered;
};

static int count_op(const struct ct_joined_op *op, void *arg)
{
	struct counted *c = arg;

	c->ordered &= op->op->enter_ns >= c->last_enter || op->op->enter_ns < 1000000000;
	c->ops++;
	c->finished += op->state == CT_STATE_FINISHED;
	c->entered += op->state == CT_STATE_ENTERED;
	assert_string_equal(op->call, "gloo::allreduce");
	assert_true(op->comm_key == JOB_COMM);
	assert_int_equal(op->comm_rank, (int)op->process->id.rank);
	assert_int_equal(op->bytes, 1000000);
	return c->stop_after && c->ops == c->stop_after ? 42 : 0;
}

static void every_op_is_yielded_with_its_names(void **state)
{
	struct counted c = { .ordered = 1 }, stopped = { .stop_after = 7 };
	struct ct_run *run;
	const char *path;

	(void)state;
	open_job(3);
	steady(40, 1000000);
	job_collective(&job, 2, CT_OP_AllReduce, 250000, 900000000, 0);
	job_close(&job, 0);
	path = fx_path("run");
	assert_int_equal(ct_run_open(&path, 1, NULL, &run, NULL), CT_OK);
	assert_int_equal(ct_ops_each(run, count_op, &c, NULL), 0);
	assert_int_equal(c.ops, 121);
	assert_int_equal(c.finished, 120);
	assert_int_equal(c.entered, 1);
	assert_int_equal(ct_ops_each(run, count_op, &stopped, NULL), 42);
	assert_int_equal(stopped.ops, 7);
	ct_run_close(run);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_DISK(tables_hold_what_was_written),
		ON_DISK(two_communicators_are_two),
		ON_DISK(messages_take_their_span_from_the_launch_in_a_later_block),
		ON_DISK(spans_without_a_start_never_enter_waits),
		ON_DISK(rank_without_trace_is_named),
		ON_DISK(lost_records_are_told_and_nobody_is_judged_by_the_rest),
		ON_DISK(one_rank_has_nobody_to_wait_for),
		ON_DISK(run_without_operations_is_a_report),
		ON_DISK(no_such_attempt_is_an_error),
		ON_DISK(restarted_job_is_reported_by_its_last_attempt),
		ON_DISK(second_run_into_the_same_directory_is_an_attempt_of_its_own),
		ON_DISK(operations_inside_their_call_are_listed),
		ON_DISK(open_op_of_the_last_status_counts_unless_its_record_came),
		ON_DISK(contradiction_comes_first),
		ON_DISK(little_communication_is_not_the_matter),
		ON_DISK(hostile_names_harm_neither_terminal_nor_json),
		ON_DISK(impossible_records_are_taken_for_what_they_are),
		ON_DISK(json_has_exactly_the_keys_of_the_contract),
		ON_DISK(unknown_is_null_in_json),
		ON_DISK(text_begins_with_the_verdict_and_fits_the_screen),
		ON_DISK(every_op_is_yielded_with_its_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
