/* SPDX-License-Identifier: Apache-2.0 */
/* Where the host times: when a rank was in calls that communicate. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/stream/stream_private.h"
#include "trace/ops.h"

/* Of each thread, the call that it is in. */
static void note_open(struct ct_reading *reading, const struct ct_host_rec *rec, const char *name)
{
	uint32_t i = 0;

	while (i < reading->n_calls && reading->calls[i].tid != rec->tid)
		i++;
	if (rec->return_ns) {
		if (i < reading->n_calls && reading->calls[i].enter_ns <= rec->enter_ns)
			reading->calls[i] = reading->calls[--reading->n_calls];
		return;
	}
	if (i == CT_READING_CALLS)
		return;
	if (i == reading->n_calls)
		reading->n_calls++;
	else if (reading->calls[i].enter_ns > rec->enter_ns)
		return;
	reading->calls[i] = (struct ct_open_call){ rec->enter_ns, rec->tid, name };
}

int ct_stream_host(struct ct_reading *reading, const struct ct_host_rec *rec, const char *name)
{
	struct ct_activity *activity = &reading->stream->activities[reading->slots[0]];
	const struct ct_call_row *row = ct_load_call_row(reading->load, rec->call);
	const struct ct_call call = {
		.begin_ns = rec->enter_ns,
		.end_ns = rec->return_ns ? rec->return_ns : CT_CALL_OPEN,
		.tid = rec->tid,
		.comm = rec->comm,
		.is_message = 1,
		.ends_several = (row->traits & CT_CALL_ENDS_SEVERAL) != 0,
	};

	note_open(reading, rec, name);
	/* such a call of NCCL's had returned before: no thread was in it so long */
	if (rec->polled_ns && rec->return_ns && row->library == CT_CALL_OF_NCCL)
		return CT_OK;
	/* what its work waits for, its launch shows; what a GPU was waited for, WAIT records do */
	if (row->traits & (CT_CALL_ONLY_LAUNCHES | CT_CALL_WAITS_FOR_GPU))
		return CT_OK;
	return ct_calls_wait(&activity->calls, &call);
}

int ct_stream_open_calls(struct ct_reading *reading)
{
	for (uint32_t i = 0; i < reading->n_calls; i++) {
		const struct ct_open_call *call = &reading->calls[i];
		struct ct_unreturned *kept;

		if (ct_stream_keep(reading->stream, call->name, &kept) != CT_OK)
			return CT_NOMEM;
		if (!kept)
			return CT_OK;
		kept->op = (struct ct_op){ .enter_ns = call->enter_ns,
					   .tid = call->tid,
					   .peer = -1 };
		kept->is_call = kept->by_host = 1;
		kept->process = reading->process;
		kept->slot = reading->slots[0];
	}
	return CT_OK;
}

void ct_stream_cover_waits(struct ct_stream *stream, uint32_t at, uint64_t until_ns)
{
	struct ct_rank_state *slot = &stream->model.slots[at];
	struct ct_activity *activity = &stream->activities[at];
	const struct ct_call *wait;

	/* of libraries whose waits do not end operations, such calls are none that communicate */
	if (!slot->records_waits)
		return;
	while ((wait = ct_calls_next_wait(&activity->calls, activity->covered_ns, until_ns))) {
		if (wait->end_ns == CT_CALL_OPEN && until_ns != UINT64_MAX)
			return;
		if (wait->is_message && wait->end_ns != CT_CALL_OPEN)
			ct_stream_busy(stream, slot, wait->begin_ns, wait->end_ns);
		activity->covered_ns = wait->begin_ns;
	}
}

/* The call that waited for what was only begun in its own; 0: the waits are unknown. */
static uint64_t waited_since(struct ct_rank_state *slot, const struct ct_calls *calls,
			     const struct ct_joined_op *j, const struct ct_member *m)
{
	uint64_t entered_ns;

	/* done when its own call returned */
	if (j->end_source == CT_SOURCE_CALL)
		return m->start_ns;
	entered_ns = ct_calls_entered(calls, m->end_ns);
	if (entered_ns) {
		ct_rank_set_records_waits(slot, j->backend);
		return entered_ns;
	}
	/* A program that records waits has none of this one: it was over when the program looked. */
	if (ct_rank_records_waits(slot, j->backend) || j->end_source == CT_SOURCE_POLL)
		return m->end_ns;
	ct_rank_set_hides_waits(slot, j->backend);
	if (m->end_ns > slot->vague_ns && !m->alone)
		slot->vague_ns = m->end_ns;
	return 0;
}

static int note_partners(struct ct_activity *activity, const struct ct_comm *comm, uint64_t at_ns)
{
	struct ct_partners *p = activity->partners;
	uint32_t i = 0;

	while (i < activity->n_partners && p[i].comm != comm)
		i++;
	if (i == activity->n_partners) {
		p = realloc(p, (i + 1) * sizeof(*p));
		if (!p)
			return CT_NOMEM;
		activity->partners = p;
		p[i] = (struct ct_partners){ .comm = comm };
		activity->n_partners++;
	}
	if (at_ns > p[i].last_ns)
		p[i].last_ns = at_ns;
	return CT_OK;
}

int ct_stream_call(struct ct_reading *reading, const struct ct_load_op *op, struct ct_member *m)
{
	struct ct_stream *stream = reading->stream;
	struct ct_rank_state *slot = &stream->model.slots[m->slot];
	struct ct_activity *activity = &stream->activities[m->slot];
	const struct ct_joined_op *j = &op->joined;
	int is_message = ct_op_class(m->op) == CT_CLASS_P2P;
	struct ct_call call = {
		.begin_ns = m->start_ns,
		.end_ns = m->end_ns,
		.tid = m->tid,
		.is_message = (uint32_t)is_message,
	};

	ct_stream_cover_waits(stream, m->slot, m->start_ns);
	if (j->start_source != CT_SOURCE_CALL) {
		ct_stream_busy(stream, slot, m->start_ns, m->end_ns);
		/* what streams of a GPU do is not followed here */
		slot->vague_ns = UINT64_MAX;
		return CT_OK;
	}
	if (!j->op->launch) {
		m->asked_ns = m->start_ns;
	} else {
		m->asked_ns = waited_since(slot, &activity->calls, j, m);
		m->posted = m->asked_ns != 0;
		if (m->posted)
			call.end_ns = j->op->return_ns;
	}
	ct_stream_busy(stream, slot, call.begin_ns, call.end_ns);
	if (m->posted && ct_calls_serve(&activity->calls, m->asked_ns, !m->alone))
		m->shared = 1;
	if (m->alone)
		return CT_OK;
	if (is_message && op->comm && note_partners(activity, op->comm->user, m->start_ns) != CT_OK)
		return CT_NOMEM;
	if (!is_message && !activity->calls.from_ns)
		return CT_OK;
	return ct_calls_add(&activity->calls, CT_CALL_OP, &call);
}
