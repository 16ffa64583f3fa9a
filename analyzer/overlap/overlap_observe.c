/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/overlap/overlap_observe.h"
#include "analyzer/base/limits.h"
#include "analyzer/model/model.h"

#include <string.h>

static int keep(void *arg, const struct ct_overlap_stall *stall)
{
	struct ct_overlap_log *log = arg;
	const struct ct_model *model = &log->stream->model;
	uint32_t host = model->host_of[stall->slot];
	uint64_t err = stall->err_ns, begin_ns = ct_model_host_at(model, host, stall->begin_ns);
	struct ct_exposure exposure;
	int st = CT_OK;

	if (!log->each && !ct_sample_keeps(log->sample, begin_ns))
		return CT_OK;
	exposure = (struct ct_exposure){
		.begin_ns = begin_ns,
		.end_ns = ct_model_host_at(model, host, stall->end_ns),
		.start_ns = ct_model_host_at(model, host, stall->start_ns),
		.slot = stall->slot,
		.comm = stall->comm->index,
		.err_ns = err < UINT32_MAX ? (uint32_t)err : UINT32_MAX,
		.is_known = (uint32_t)stall->is_known,
	};
	if (log->each)
		st = log->each(log->each_arg, log->stream, &exposure);
	return st == CT_OK ? ct_exposures_add(&log->exposures, &exposure) : st;
}

static int on_begin(void *arg, struct ct_stream *stream)
{
	struct ct_overlap_log *log = arg;

	log->stream = stream;
	log->overlap = ct_overlap_new(stream->model.run->n_processes, stream->options.tasks);
	if (!log->overlap)
		return CT_NOMEM;
	ct_exposures_init(&log->exposures, log->sample, 0);
	ct_overlap_stalls(log->overlap, keep, log);
	return CT_OK;
}

static int on_op(void *arg, const struct ct_stream *stream, const struct ct_op_event *event)
{
	struct ct_overlap_log *log = arg;
	const struct ct_member *m = event->member;
	const struct ct_overlap_op first = {
		.op = event->op,
		.comm = event->comm,
		.slot = m->slot,
		.bytes = event->bytes,
	};
	const struct ct_overlap_call call = {
		.comm = event->comm,
		.slot = m->slot,
		.op = m->op,
		.dtype = m->dtype,
		.bytes = event->bytes,
		.start_ns = m->start_ns,
		.asked_ns = m->asked_ns,
		.end_ns = m->end_ns,
		.err_ns = (uint64_t)m->start_err_ns + m->end_err_ns,
	};

	(void)stream;
	if (m->captured || !event->comm || event->op->joined.launch_at)
		return CT_OK;
	if (event->op->joined.start_source == CT_SOURCE_CALL)
		return m->start_ns ? ct_overlap_call(log->overlap, &call) : CT_OK;
	return ct_overlap_add(log->overlap, &first);
}

static int on_wait(void *arg, const struct ct_stream *stream, uint32_t process,
		   const struct ct_wait_rec *rec)
{
	struct ct_overlap_log *log = arg;

	(void)stream;
	(void)process;
	return ct_overlap_wait(log->overlap, rec);
}

/* With one connection to the GPU, and none of the timings that put events on streams, the recorder
 * does not instrument waiting streams (interpose/gpu/time.c). */
static void note_blind(struct ct_overlap *overlap, const struct ct_load *load)
{
	const char *connections = ct_facts_value(ct_load_environment(load),
						 "env.CUDA_DEVICE_MAX_CONNECTIONS");

	if (connections && strcmp(connections, "1") == 0)
		ct_overlap_blind(overlap);
}

static int on_block(void *arg, const struct ct_stream *stream, uint32_t process,
		    const struct ct_load *load, int ended)
{
	struct ct_overlap_log *log = arg;

	(void)stream;
	note_blind(log->overlap, load);
	return ended ? ct_overlap_end(log->overlap, process)
		     : ct_overlap_block(log->overlap, process);
}

int ct_overlap_is_known(const struct ct_rank_state *slot, const struct ct_overlap_row *row)
{
	return !row->by_host || ct_rank_knows_waits(slot, row->comm->backend);
}

static void sum_up(const struct ct_overlap *overlap, uint32_t s, struct ct_rank_state *slot)
{
	struct ct_exposed *sum = &slot->exposed;
	uint64_t all_ns = 0;

	*sum = (struct ct_exposed){ 0 };
	for (const struct ct_overlap_row *row = ct_overlap_of_slot(overlap, s); row;
	     row = ct_overlap_next(overlap, row)) {
		if (!ct_overlap_is_known(slot, row))
			continue;
		all_ns += row->all_ns;
		sum->comm_ns += row->comm_ns;
		sum->exposed_ns += row->exposed_ns;
		/* what is not measured may all have been waited for */
		sum->err_ns += row->err_ns + row->all_ns - row->comm_ns;
	}
	/* an error larger than the communication makes the value meaningless */
	sum->is_known = sum->comm_ns && sum->err_ns <= sum->comm_ns &&
			(double)sum->comm_ns >= CT_NEARLY_ALL * (double)all_ns;
}

static int on_end(void *arg, struct ct_stream *stream)
{
	struct ct_overlap_log *log = arg;
	int st = ct_overlap_close(log->overlap);

	if (st != CT_OK)
		return st;
	for (uint32_t s = 0; s < stream->model.n_slots; s++)
		sum_up(log->overlap, s, &stream->model.slots[s]);
	return ct_exposures_close(&log->exposures, stream->model.n_slots);
}

void ct_overlap_observe(struct ct_overlap_log *log, struct ct_observer *observer)
{
	*observer = (struct ct_observer){
		.begin = on_begin,
		.op = on_op,
		.wait = on_wait,
		.block = on_block,
		.end = on_end,
		.arg = log,
	};
}

void ct_overlap_log_fini(struct ct_overlap_log *log)
{
	ct_overlap_free(log->overlap);
	ct_exposures_fini(&log->exposures);
}
