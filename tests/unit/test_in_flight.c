/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of ranks that never came back: in which call each of them was, also where that
 * only waits, and for what. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/job.h"
#include "trace/ops.h"

enum { CALL_ALLREDUCE = 30, CALL_BARRIER, CALL_WAITALL, CALL_IRECV, CALL_DUP };

static struct job job;

static void name_calls(void)
{
	static const struct {
		uint32_t id;
		const char *name;
	} calls[] = { { CALL_ALLREDUCE, "MPI_Allreduce" },
		      { CALL_BARRIER, "MPI_Barrier" },
		      { CALL_WAITALL, "MPI_Waitall" },
		      { CALL_IRECV, "MPI_Irecv" },
		      { CALL_DUP, "MPI_Comm_dup" } };

	for (int r = 0; r < job.o.ranks; r++) {
		for (size_t c = 0; c < sizeof(calls) / sizeof(calls[0]); c++)
			assert_int_equal(ct_block_add_text(&job.writers[r].block, CT_KIND_STRING,
							   &calls[c].id, sizeof(calls[c].id),
							   calls[c].name),
					 CT_OK);
	}
}

/* 25 all-reduces of all, 10 ms each. */
static uint64_t begin(int ranks)
{
	job_open(&job,
		 &(struct job_options){ .run = "run", .ranks = ranks, .backend = CT_BACKEND_MPI });
	name_calls();
	for (uint64_t k = 0; k < 25; k++) {
		for (int r = 0; r < ranks; r++)
			job_collective(&job, r, CT_OP_AllReduce, 8, 1000000 + k * 10000000,
				       1500000 + k * 10000000);
	}
	return 300000000;
}

static void enter(int rank, unsigned op, uint16_t call, uint64_t at)
{
	job_op(&job, rank,
	       (struct ct_op){ .enter_ns = at,
			       .count = 8,
			       .seq = 25,
			       .peer = -1,
			       .op = (uint8_t)op,
			       .dtype = op == CT_OP_AllReduce ? CT_DTYPE_float32 : 0,
			       .redop = op == CT_OP_AllReduce ? CT_REDOP_sum : 0,
			       .call = call });
}

static void host(int rank, uint32_t call, uint64_t enter_ns, uint64_t return_ns)
{
	struct ct_host_rec rec = { .enter_ns = enter_ns + job.clock[rank],
				   .tid = (uint32_t)rank + 100,
				   .call = call };

	job_rare(&job, rank, CT_KIND_HOST_BEGIN, &rec, sizeof(rec));
	if (!return_ns)
		return;
	rec.return_ns = return_ns + job.clock[rank];
	job_rare(&job, rank, CT_KIND_HOST_END, &rec, sizeof(rec));
}

/* A receive that was begun, and is not over as far as the last tracer heartbeat shows. */
static void receive(int rank, int peer, uint64_t at)
{
	struct ct_ring_open open = { .tag = 77 | CT_OPEN_LAUNCH,
				     .opened_ns = at + job.clock[rank],
				     .comm_op = 1ull << 32 | 1 << 8 | CT_OP_Recv,
				     .peer = (uint32_t)peer };
	struct ct_status_rec status = { .beat_ns = at + 5000000 + job.clock[rank] };
	struct ct_open_launch_rec rec;

	memcpy(&rec, &open, sizeof(rec));
	job_op(&job, rank,
	       (struct ct_op){ .enter_ns = at,
			       .return_ns = at + 700,
			       .count = 4,
			       .seq = 3,
			       .launch = 77,
			       .peer = peer,
			       .op = CT_OP_Recv,
			       .dtype = CT_DTYPE_float32,
			       .call = CALL_IRECV });
	job_rare(&job, rank, CT_KIND_STATUS, &status, sizeof(status));
	job_rare(&job, rank, CT_KIND_OPEN_LAUNCH, &rec, sizeof(rec));
}

static void every_rank_is_reported_where_it_was(void **state)
{
	struct ct_report *report;
	char *text;
	uint64_t at = begin(4);

	(void)state;
	enter(0, CT_OP_AllReduce, CALL_ALLREDUCE, at);
	receive(1, 2, at - 2000000);
	host(1, CALL_WAITALL, at - 1000000, 0);
	receive(3, 0, at - 2000000);
	/* what it came back from is no matter */
	host(2, CALL_DUP, at - 3000000, at - 2000000);
	host(2, CALL_WAITALL, at - 1000000, at + 2000000);
	job_close(&job, 0);
	report = job_report(&job, -1);
	text = job_text(report, 0);
	assert_int_equal(report->n_in_flight, 3);
	assert_non_null(
		strstr(text, "rank 0: MPI_Allreduce #25 on 1122334455667788, entered, for "));
	assert_non_null(strstr(text, "rank 1: MPI_Waitall, entered, for "));
	/* it stands in a wait, perhaps for this one */
	assert_non_null(strstr(text, "rank 1: MPI_Irecv #3 from 2 on "));
	/* this one has not waited for it yet */
	assert_null(strstr(text, "rank 3: "));
	assert_null(strstr(text, "rank 2 inside"));
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	free(text);
	ct_report_free(report);
}

static void another_call_instead_of_one_is_a_mismatch(void **state)
{
	struct ct_report *report;
	uint64_t at = begin(4);

	(void)state;
	enter(0, CT_OP_AllReduce, CALL_ALLREDUCE, at);
	enter(1, CT_OP_Barrier, CALL_BARRIER, at);
	enter(2, CT_OP_AllReduce, CALL_ALLREDUCE, at);
	host(3, CALL_WAITALL, at, 0);
	job_close(&job, 0);
	report = job_report(&job, -1);
	/* they wait in it to the end: what `hang` says leads, and says the same */
	assert_int_equal(report->verdict.code, CT_VERDICT_HANG);
	assert_ptr_equal(strstr(report->verdict.text,
				"rank 1 (host0) called Barrier instead of AllReduce #"),
			 report->verdict.text);
	assert_int_equal(report->findings[0].kind, CT_FINDING_MISMATCH);
	assert_int_equal(report->findings[0].n_ranks, 1);
	assert_int_equal(report->findings[0].ranks[0], 1);
	assert_int_equal(report->n_in_flight, 4);
	ct_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_rank_is_reported_where_it_was, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(another_call_instead_of_one_is_a_mismatch, fx_setup,
						fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
