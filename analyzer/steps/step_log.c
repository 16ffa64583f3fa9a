/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/step_log.h"
#include "analyzer/model/model.h"

#include "trace/ops.h"

/* The slot of the lowest rank; of those without one, the first. */
static uint32_t first_rank(const struct ct_model *model)
{
	uint32_t first = 0;

	for (uint32_t s = 1; s < model->n_slots; s++) {
		if ((unsigned)model->slots[s].rank < (unsigned)model->slots[first].rank)
			first = s;
	}
	return first;
}

static int on_begin(void *arg, struct ct_stream *stream)
{
	struct ct_step_log *log = arg;

	ct_sequence_init(&log->sequence, first_rank(&stream->model), 0);
	return CT_OK;
}

static int on_op(void *arg, const struct ct_stream *stream, const struct ct_op_event *event)
{
	struct ct_step_log *log = arg;
	const struct ct_model *model = &stream->model;
	const struct ct_member *m = event->member;
	struct ct_call_seen call;

	if (m->slot != log->sequence.slot || m->captured || m->alone || !event->comm)
		return CT_OK;
	call = (struct ct_call_seen){
		.comm = event->comm,
		.op = m->op,
		.dtype = m->dtype,
		.peer = ct_op_class(m->op) == CT_CLASS_P2P ? m->root : -1,
		.bytes = event->op->joined.bytes,
		.varies = m->varying,
	};

	call.at_ns = ct_model_at(model, event->process, m->enter_ns);
	if (m->end_ns) {
		call.end_ns = ct_model_at(model, event->process, m->end_ns);
		call.err_ns = m->end_err_ns;
	}
	return ct_sequence_add(&log->sequence, &call);
}

static int on_nvtx(void *arg, const struct ct_stream *stream, uint32_t process, uint32_t slot,
		   const struct ct_nvtx_rec *rec)
{
	struct ct_step_log *log = arg;

	if (slot != log->sequence.slot || rec->end_ns > INT64_MAX)
		return CT_OK;
	return ct_markers_add(&log->markers, rec,
			      ct_model_at(&stream->model, process, rec->begin_ns),
			      ct_model_at(&stream->model, process, rec->end_ns));
}

static int on_end(void *arg, struct ct_stream *stream)
{
	struct ct_step_log *log = arg;

	(void)stream;
	ct_sequence_close(&log->sequence);
	return CT_OK;
}

void ct_step_log_observe(struct ct_step_log *log, struct ct_observer *observer)
{
	*observer = (struct ct_observer){
		.begin = on_begin,
		.op = on_op,
		.nvtx = on_nvtx,
		.end = on_end,
		.arg = log,
	};
}

void ct_step_log_fini(struct ct_step_log *log)
{
	ct_sequence_fini(&log->sequence);
	ct_markers_fini(&log->markers);
}
