/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/stream/stream.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/stream/judge_private.h"

/* size: members that may wait for the others: some blocks of every process, and never less than the
 * first figure. */
#define CT_STREAM_MIN_BYTES (64ull << 20)
#define CT_STREAM_BLOCK_BYTES (CT_BLOCK_MAX_RECORDS * (uint64_t)sizeof(struct ct_member))

/* A rank that leaves a communicator comes to no more of its operations. */
static int note_leaving(struct ct_reading *reading, const struct ct_host_rec *rec, unsigned traits)
{
	struct ct_stream *stream = reading->stream;
	struct ct_comm *comm;

	if (traits & CT_CALL_LEAVES_LIBRARY)
		stream->model.slots[reading->slots[0]].leaves = 1;
	if (!(traits & CT_CALL_LEAVES_COMM))
		return CT_OK;
	comm = rec->key ? ct_comms_get(&stream->model.comms, rec->key, rec->nranks) : NULL;
	if (!comm || rec->rank < 0 || (uint32_t)rec->rank >= comm->nranks)
		return CT_OK;
	return ct_orders_left(&stream->order.orders, comm, (uint32_t)rec->rank);
}

static int on_host(void *arg, const struct ct_host_rec *rec, const char *call, const char *site)
{
	struct ct_reading *reading = arg;
	unsigned traits = ct_load_call_row(reading->load, rec->call)->traits;

	if (ct_stream_host(reading, rec, call) != CT_OK ||
	    note_leaving(reading, rec, traits) != CT_OK)
		return CT_NOMEM;
	return ct_observe_host(reading->stream, reading->process, rec, call, site);
}

static int on_error(void *arg, const struct ct_error_rec *rec, const char *call, const char *text)
{
	struct ct_reading *reading = arg;

	return ct_observe_error(reading->stream, reading->process, rec, call, text);
}

static int on_reached(void *arg, struct ct_load_comm *comm, const struct ct_comm_status_rec *rec)
{
	struct ct_reading *reading = arg;

	return ct_observe_reached(reading->stream, reading->process, comm, rec);
}

static int on_stack(void *arg, const uint8_t *bytes, size_t len)
{
	struct ct_reading *reading = arg;

	return ct_observe_stack(reading->stream, reading->process, bytes, len);
}

static int on_wait(void *arg, const struct ct_wait_rec *rec)
{
	struct ct_reading *reading = arg;

	return ct_observe_wait(reading->stream, reading->process, rec);
}

static int on_nvtx(void *arg, const struct ct_nvtx_rec *rec)
{
	struct ct_reading *reading = arg;

	return ct_observe_nvtx(reading->stream, reading->process, reading->slots[0], rec);
}

/* ---- before the first block ---- */

/* Space for the slots that processes name by themselves; others come to light while reading. */
static int prepare_slots(struct ct_stream *stream)
{
	struct ct_model *model = &stream->model;
	struct ct_starts *starts = model->starts;
	int *ranks = NULL;

	if (ct_starts_slots(model->run, starts, model->restart, &ranks, &model->n_slots) != CT_OK)
		return CT_NOMEM;
	model->slots = calloc(model->n_slots + 1, sizeof(*model->slots));
	model->host_of = calloc(model->n_slots + 1, sizeof(*model->host_of));
	stream->activities = calloc(model->n_slots + 1, sizeof(*stream->activities));
	for (uint32_t s = 0; model->slots && s < model->n_slots; s++) {
		model->slots[s].rank = ranks[s];
		model->slots[s].device = -1;
	}
	free(ranks);
	if (!model->slots || !model->host_of || !stream->activities)
		return CT_NOMEM;
	for (size_t p = 0; p < model->run->n_processes; p++) {
		const struct ct_process_start *start = &starts->processes[p];

		if (start->restart != model->restart)
			continue;
		model->slots[start->slot].host = start->host;
		model->slots[start->slot].process = (uint32_t)p;
		model->host_of[start->slot] = start->host;
	}
	return CT_OK;
}

static int prepare(struct ct_stream *stream)
{
	struct ct_model *model = &stream->model;
	uint64_t limit = model->run->n_processes * CT_STREAM_BLOCK_BYTES;

	model->memory = ct_arena_new();
	if (!model->memory || ct_comms_init(&model->comms) || ct_classes_init(&model->classes))
		return CT_NOMEM;
	model->names.memory = model->memory;
	ct_mismatches_init(&stream->order.mismatches, model->memory);
	ct_sites_init(&stream->order.sites, model->memory);
	ct_orders_init(&stream->order.orders, !stream->options.only_matched);
	ct_pairs_init(&stream->order.pairs, model->memory);
	stream->match = ct_match_new(limit > CT_STREAM_MIN_BYTES ? limit : CT_STREAM_MIN_BYTES,
				     ct_judge, stream);
	model->shift = calloc(model->starts->n_hosts + 1, sizeof(*model->shift));
	model->processes = calloc(model->run->n_processes + 1, sizeof(*model->processes));
	if (!stream->match || !model->shift || !model->processes)
		return CT_NOMEM;
	ct_model_set_begin(model);
	return prepare_slots(stream);
}

/* Keep what the process holds beside its operations, close its files. */
static int end_reading(struct ct_reading *reading)
{
	struct ct_model *model = &reading->stream->model;
	struct ct_model_process *kept = &model->processes[reading->process];
	int st = CT_OK;

	ct_stream_cover_waits(reading->stream, reading->slots[0], UINT64_MAX);
	if (ct_stream_open_calls(reading) != CT_OK)
		return CT_NOMEM;
	kept->facts = *ct_load_facts(reading->load);
	kept->gaps = *ct_load_gaps(reading->load);
	kept->read = 1;
	kept->notes = ct_arena_calloc(model->memory, CT_PROCESS_NOTES, sizeof(*kept->notes));
	for (uint32_t n = 0; kept->notes && n < kept->facts.n_notes; n++) {
		kept->notes[n] = ct_arena_printf(model->memory, "%s", kept->facts.notes[n]);
		if (ct_arena_failed(model->memory))
			st = CT_NOMEM;
	}
	kept->facts.notes = NULL;
	st = st
		     ?: ct_facts_copy(&kept->environment, model->memory,
				      ct_load_environment(reading->load));
	kept->ports = ct_load_ports(reading->load);
	model->open_launches += kept->facts.open_launches;
	ct_ahead_close(reading->ahead);
	reading->ahead = NULL;
	return kept->notes ? st : CT_NOMEM;
}

static void report_progress(struct ct_reading *r)
{
	struct ct_stream *stream = r->stream;
	uint64_t before = r->read_bytes;

	if (!stream->options.progress)
		return;
	r->read_bytes = ct_load_position(r->load);
	stream->read_bytes += r->read_bytes - before;
	stream->options.progress(stream->options.progress_arg, stream->read_bytes,
				 stream->all_bytes);
}

/* The next block of the process. 1: there may be more, 0: that was the end, CT_PROCESS_WAITS, or a
 * failure. */
int ct_stream_read_block(struct ct_reading *r, struct ct_err *err)
{
	struct ct_stream *stream = r->stream;
	int more = ct_ahead_next(r->ahead, err), st;

	if (more < 0 || more == CT_PROCESS_WAITS)
		return more;
	st = ct_observe_block(stream, r->process, r->load, !more);
	if (st != CT_OK)
		return st;
	r->begun = 1;
	report_progress(r);
	r->position_ns = ct_model_at(&stream->model, r->process,
				     ct_load_facts(r->load)->position_ns);
	return more ? 1 : end_reading(r);
}

/* ---- all in step ---- */

/* Is `a` further behind than `b`? Of those that are equally far it is the first process. */
int ct_stream_is_behind(const struct ct_reading *a, const struct ct_reading *b)
{
	if (a->begun != b->begun)
		return a->begun < b->begun;
	if (a->position_ns != b->position_ns)
		return a->position_ns < b->position_ns;
	return a->process < b->process;
}

/* Restore the heap: its first element has been read further. */
void ct_stream_sink(struct ct_reading **heap, size_t n)
{
	struct ct_reading *moved = heap[0];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < n) {
		child += child + 1 < n && ct_stream_is_behind(heap[child + 1], heap[child]);
		if (ct_stream_is_behind(moved, heap[child]))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

/* Those that are read next, after the first one. */
static void ask(struct ct_reading **heap, size_t n, const struct ct_ahead *ahead)
{
	while (ct_ahead_has_room(ahead)) {
		struct ct_reading *next = NULL;

		for (size_t i = 1; i < n; i++)
			if (!ct_ahead_is_asked(heap[i]->ahead) &&
			    (!next || ct_stream_is_behind(heap[i], next)))
				next = heap[i];
		if (!next)
			return;
		ct_ahead_ask(next->ahead);
	}
}

/* `heap` holds them in the order of their processes, which is a valid heap before anything is read.
 */
static int read_in_step(struct ct_reading **heap, size_t n, const struct ct_ahead *ahead,
			struct ct_err *err)
{
	while (n) {
		int more;

		ask(heap, n, ahead);
		more = ct_stream_read_block(heap[0], err);
		if (more < 0)
			return more;
		if (!more)
			heap[0] = heap[--n];
		if (n)
			ct_stream_sink(heap, n);
	}
	return CT_OK;
}

/* ---- one after the other ---- */

static int read_to_its_end(struct ct_reading *r, struct ct_err *err)
{
	int more;

	do {
		more = ct_stream_read_block(r, err);
	} while (more > 0);
	return more;
}

/* ---- all processes ---- */

int ct_stream_open_reading(struct ct_reading *r, struct ct_ahead *ahead, struct ct_err *err)
{
	const struct ct_model *model = &r->stream->model;
	const uint32_t *from = r->stream->options.from;
	const uint32_t *segments = r->stream->options.segments;
	const struct ct_load_sink sink = { .op = ct_stream_op,
					   .comm = ct_stream_comm,
					   .named = ct_stream_comm,
					   .host = on_host,
					   .error = on_error,
					   .reached = on_reached,
					   .stack = on_stack,
					   .wait = r->stream->on_wait.n ? on_wait : NULL,
					   .nvtx = on_nvtx,
					   .follows = r->stream->options.follows,
					   .skims = r->stream->options.skims,
					   .from = from ? from[r->process] : 0,
					   .is_tail = from && segments && from[r->process],
					   .segment = segments ? segments[r->process] : 0,
					   .arg = r };
	int st;

	for (uint32_t k = 0; k < CT_LOAD_RANKS; k++)
		r->slots[k] = model->starts->processes[r->process].slot;
	st = ct_ahead_open(ahead, model->run, r->process, &sink, &r->ahead, err);
	if (st == CT_OK)
		r->load = ct_ahead_load(r->ahead);
	return st;
}

int ct_stream_finish_matching(struct ct_stream *stream)
{
	for (uint32_t s = 0; s < stream->model.n_slots; s++)
		ct_left_out_close(&stream->model.slots[s].left_out);
	ct_orders_ended(&stream->order.orders);
	ct_pairs_ended(&stream->order.pairs);
	return ct_match_finish(stream->match);
}

/* Only matching needs the processes in step: it completes instances soon, which bounds memory. */
static int read_all(struct ct_stream *stream, struct ct_reading *readings, size_t n,
		    struct ct_ahead *ahead, struct ct_err *err)
{
	struct ct_reading **heap = calloc(n + 1, sizeof(struct ct_reading *));
	int st = heap ? CT_OK : CT_NOMEM;

	for (size_t i = 0; i < n && st == CT_OK; i++) {
		heap[i] = &readings[i];
		st = ct_stream_open_reading(heap[i], ahead, err);
		if (st == CT_OK && stream->options.only_ops)
			st = read_to_its_end(heap[i], err);
	}
	if (st == CT_OK && !stream->options.only_ops)
		st = read_in_step(heap, n, ahead, err);
	free(heap);
	return st == CT_OK ? ct_stream_finish_matching(stream) : st;
}

static int read_processes(struct ct_stream *stream, struct ct_err *err)
{
	struct ct_model *model = &stream->model;
	const struct ct_run *run = model->run;
	struct ct_reading *readings = calloc(run->n_processes + 1, sizeof(*readings));
	struct ct_ahead *ahead = ct_ahead_new(stream->options.tasks, &model->names);
	size_t n = 0;
	int st = CT_NOMEM;

	for (size_t p = 0; p < run->n_processes && readings; p++)
		if (model->starts->processes[p].restart == model->restart) {
			readings[n++] = (struct ct_reading){ .stream = stream,
							     .process = (uint32_t)p };
			stream->all_bytes += run->processes[p].segment_bytes;
		}
	if (readings && ahead)
		st = read_all(stream, readings, n, ahead, err);
	for (size_t i = 0; i < n; i++)
		ct_ahead_close(readings[i].ahead);
	free(readings);
	ct_ahead_free(ahead);
	return st;
}

/* Recording began .. last record, on the host where that is longest: no clocks are compared across
 * hosts. */
static uint64_t duration(const struct ct_model *model)
{
	uint64_t longest = 0;

	for (uint32_t h = 0; h < model->starts->n_hosts; h++) {
		uint64_t begin = UINT64_MAX, end = 0;

		for (size_t p = 0; p < model->run->n_processes; p++) {
			const struct ct_model_process *kept = &model->processes[p];
			uint64_t start = model->run->processes[p].id.start_ns;

			if (!kept->read || model->starts->processes[p].host != h)
				continue;
			begin = start < begin ? start : begin;
			end = kept->facts.last_ns > end ? kept->facts.last_ns : end;
		}
		if (end > begin && end - begin > longest)
			longest = end - begin;
	}
	return longest;
}

/* What only reading needs: analyses begin now, and need memory themselves. */
static void let_go(struct ct_stream *stream)
{
	for (uint32_t s = 0; stream->model.slots && s < stream->model.n_slots; s++)
		ct_union_close(&stream->model.slots[s].waited);
	ct_match_free(stream->match);
	stream->match = NULL;
}

int ct_stream_prepare(struct ct_stream *stream, const struct ct_run *run, struct ct_starts *starts,
		      int restart, const struct ct_stream_options *options)
{
	int st;

	*stream = (struct ct_stream){
		.model = { .run = run,
			   .boot_id = options->boot_id,
			   .starts = starts,
			   .restart = restart,
			   .from_ns = options->from_ns },
		.options = *options,
	};
	st = prepare(stream);
	return st ?: ct_observe_begin(stream);
}

int ct_stream_run(struct ct_stream *stream, const struct ct_run *run, struct ct_starts *starts,
		  int restart, const struct ct_stream_options *options, struct ct_err *err)
{
	int st = ct_stream_prepare(stream, run, starts, restart, options);

	st = st ?: read_processes(stream, err);
	if (st == CT_OK) {
		stream->model.end_ns = duration(&stream->model);
		ct_stream_settle_unreturned(stream);
		stream->model.duration_ns = stream->model.end_ns - options->from_ns;
		st = ct_stream_name_slots(stream);
	}
	st = st ?: ct_observe_end(stream);
	let_go(stream);
	return st == CT_NOMEM ? ct_fail(err, st, "%s", ct_status_text(st)) : st;
}

static void fini_model(struct ct_model *model)
{
	for (uint32_t s = 0; model->slots && s < model->n_slots; s++)
		ct_union_fini(&model->slots[s].waited);
	for (size_t p = 0; model->processes && p < model->run->n_processes; p++)
		ct_port_sums_free(model->processes[p].ports);
	ct_hist_fini(&model->time_err);
	ct_classes_fini(&model->classes);
	ct_comms_fini(&model->comms);
	ct_arena_free(model->memory);
	free(model->slots);
	free(model->host_of);
	free(model->shift);
	free(model->processes);
	free(model->unreturned);
}

void ct_stream_fini(struct ct_stream *stream)
{
	ct_match_free(stream->match);
	ct_groups_fini(&stream->groups);
	ct_waits_fini(&stream->waits);
	ct_aligned_fini(&stream->aligned);
	for (uint32_t s = 0; stream->activities && s < stream->model.n_slots; s++) {
		ct_calls_fini(&stream->activities[s].calls);
		free(stream->activities[s].partners);
	}
	free(stream->activities);
	ct_mismatches_fini(&stream->order.mismatches);
	ct_pairs_fini(&stream->order.pairs);
	ct_orders_fini(&stream->order.orders);
	ct_sites_fini(&stream->order.sites);
	fini_model(&stream->model);
	*stream = (struct ct_stream){ 0 };
}
