/* SPDX-License-Identifier: Apache-2.0 */
/* A trace without its operations: the other tables. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/link/transport.h"
#include "analyzer/report/analyze.h"
#include "analyzer/report/fill.h"

/* Values that need operations. */
static void forget_operations(struct ct_report *report)
{
	for (size_t i = 0; i < report->n_comms; i++) {
		struct ct_report_comm *comm = &report->comms[i];

		comm->instances = comm->incomplete = comm->bytes = CT_UNKNOWN;
		comm->first_seq = comm->last_seq = CT_UNKNOWN;
		comm->equal_to_seq = comm->first_difference = comm->differs_to_seq = CT_UNKNOWN;
		comm->order_hash = CT_UNKNOWN;
		comm->steps_exposed_ns = comm->steps_exposed_wait_ns = CT_UNKNOWN;
		comm->steps_exposed_err_ns = CT_UNKNOWN;
	}
	report->run.timed_ratio = NAN;
	report->run.time_err_ns = report->run.time_err_p50_ns = CT_UNKNOWN;
}

/* How the processes said that they would time launches on GPUs: the best that any of them had. */
static enum ct_timing timing_of(const struct ct_report *report)
{
	enum ct_timing best = CT_TIMING_OFF;

	for (size_t i = 0; i < report->n_overhead; i++) {
		static const enum ct_timing timings[] = {
			[CT_TIMED_BY_EVENTS] = CT_TIMING_EVENTS,
			[CT_TIMED_BY_HOST] = CT_TIMING_HOST,
			[CT_TIMED_BY_PLUGIN] = CT_TIMING_PLUGIN,
		};
		/* what went back to the host had events before */
		const unsigned by = report->overhead[i].raised_ns != CT_UNKNOWN
					    ? CT_TIMED_BY_EVENTS
					    : report->overhead[i].timed_by;

		if (report->overhead[i].on_gpu && by < sizeof(timings) / sizeof(timings[0]) &&
		    timings[by] > best)
			best = timings[by];
	}
	return best;
}

/* The time whose operations were left out on purpose, of the process of which that is longest. */
static uint64_t left_out_ns(const struct ct_model *model)
{
	uint64_t most = 0;

	for (uint32_t p = 0; p < model->run->n_processes; p++) {
		const struct ct_model_process *process = &model->processes[p];
		uint64_t at;

		if (!process->read || !process->facts.left_out_ns)
			continue;
		at = ct_model_at(model, p, process->facts.left_out_ns);
		most = at > most ? at : most;
	}
	return most;
}

static int fill(const struct ct_stream *stream, struct ct_report *report)
{
	const struct ct_model *model = &stream->model;
	int st = ct_fill_trace(model, report);

	st = st ?: ct_fill_job(model, &stream->order, report);
	st = st ?: ct_transport_fill(model, report);
	if (st != CT_OK)
		return st;
	st = ct_fill_timing(model, report);
	if (st != CT_OK)
		return st;
	report->run.timing = timing_of(report);
	report->run.left_out_ns = left_out_ns(model);
	report->is_outline = 1;
	forget_operations(report);
	return CT_OK;
}

int ct_outline(const struct ct_run *run, const struct ct_analyze_options *options,
	       struct ct_report **out, struct ct_err *err)
{
	const struct ct_stream_options reading = { .boot_id = options->boot_id,
						   .only_ops = 1,
						   .skims = 1 };
	struct ct_report *report = calloc(1, sizeof(*report));
	struct ct_starts starts = { 0 };
	struct ct_stream stream = { 0 };
	int st = CT_NOMEM;

	*out = NULL;
	if (report)
		report->memory = ct_arena_new();
	if (report && report->memory)
		st = ct_starts_find(run, &starts);
	if (st == CT_OK && options->restart >= starts.n_starts)
		st = ct_fail(err, CT_NOTFOUND, "restart %d: the run has %d starts",
			     options->restart, starts.n_starts);
	if (st == CT_OK)
		st = ct_stream_run(&stream, run, &starts,
				   options->restart < 0 ? starts.n_starts - 1 : options->restart,
				   &reading, err);
	st = st ?: fill(&stream, report);
	if (st == CT_OK && ct_arena_failed(report->memory))
		st = CT_NOMEM;
	if (st == CT_NOMEM)
		ct_fail(err, st, "%s", ct_status_text(st));
	ct_stream_fini(&stream);
	ct_starts_fini(&starts);
	if (st == CT_OK)
		*out = report;
	else
		ct_report_free(report);
	return st;
}
