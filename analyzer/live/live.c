/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/live/live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/limits.h"
#include "analyzer/base/stats.h"
#include "analyzer/base/table.h"
#include "analyzer/live/live_private.h"
#include "trace/clock.h"
#include "trace/ring_dir.h"

/* size: of the time between looks for processes that started since */
#define SCAN_NS 5000000000ull
/* size: of the time between two points of the past */
#define PAST_NS 1000000000ull

struct ct_live *ct_live_open(const struct ct_live_options *options)
{
	struct ct_live *live = calloc(1, sizeof(*live));

	if (live)
		live->options = *options;
	return live;
}

static void close_run(struct ct_live *live)
{
	ct_live_free_rows(live);
	ct_live_close_rings(live);
	ct_follow_close(live->follow);
	live->follow = NULL;
	ct_slow_watch_fini(&live->slow);
	ct_overlap_log_fini(&live->overlap);
	ct_arrivals_fini(&live->arrivals);
	live->slow = (struct ct_slow_watch){ 0 };
	live->overlap = (struct ct_overlap_log){ 0 };
	live->arrivals = (struct ct_arrivals){ 0 };
	free(live->past);
	live->past = NULL;
	live->n_past = live->n_errors = 0;
	ct_starts_fini(&live->starts);
	live->starts = (struct ct_starts){ 0 };
	ct_run_close(live->run);
	live->run = NULL;
	ct_arena_free(live->memory);
	live->memory = NULL;
}

void ct_live_close(struct ct_live *live)
{
	if (!live)
		return;
	close_run(live);
	free(live);
}

/* ---- what this folder observes itself ---- */

static int past_of(struct ct_live *live, uint32_t slot, struct ct_live_past **out)
{
	if (ct_grow_zeroed(&live->past, &live->n_past, slot + 1, sizeof(*live->past)))
		return CT_NOMEM;
	*out = &live->past[slot];
	return CT_OK;
}

static int on_exposure(void *arg, const struct ct_stream *stream,
		       const struct ct_exposure *exposure)
{
	const unsigned backend = stream->model.comms.all[exposure->comm]->backend;
	struct ct_live_past *past;

	if (past_of(arg, exposure->slot, &past) != CT_OK)
		return CT_NOMEM;
	if (!exposure->is_known)
		past->vague_ns += exposure->end_ns - exposure->begin_ns;
	else if (backend == CT_BACKEND_NCCL)
		past->exposed_ns += exposure->end_ns - exposure->begin_ns;
	else
		past->exposed_ns += ct_cover_add(&past->by_host, exposure->begin_ns,
						 exposure->end_ns);
	/* NCCL's work runs on GPUs */
	if (backend != CT_BACKEND_NCCL)
		past->backends_by_host |= 1u << (backend & 31);
	return CT_OK;
}

/* By the rules of the report (overlap/overlap_observe.c): most of its communication was measured,
 * and no thread's waiting is hidden. */
static int knows_exposed(const struct ct_live_past *past, const struct ct_rank_state *slot)
{
	for (unsigned backend = 0; backend < 32; backend++) {
		if (past->backends_by_host >> backend & 1 && !ct_rank_knows_waits(slot, backend))
			return 0;
	}
	return slot->busy.total &&
	       (double)past->vague_ns <= (1 - CT_NEARLY_ALL) * (double)slot->busy.total;
}

static void count_error(struct ct_live *live, unsigned backend, int code)
{
	for (uint32_t i = 0; i < live->n_errors; i++) {
		struct ct_live_error *e = &live->errors[i];

		if (e->backend == backend && (e->code == code || e->code == CT_LIVE_OTHER_CODES)) {
			e->n++;
			return;
		}
	}
	/* the last entries are for the rest of each library */
	if (live->n_errors + CT_BACKEND_IMPORT >= CT_LIVE_ERRORS)
		code = CT_LIVE_OTHER_CODES;
	if (live->n_errors < CT_LIVE_ERRORS)
		live->errors[live->n_errors++] = (struct ct_live_error){ backend, code, 1 };
}

static int on_error(void *arg, const struct ct_stream *stream, uint32_t process,
		    const struct ct_error_rec *rec, const char *call, const char *text)
{
	(void)stream, (void)process, (void)call, (void)text;
	count_error(arg, rec->backend, rec->result);
	return CT_OK;
}

/* Gloo throws: there is no record of an error beside the call's. */
static int on_op(void *arg, const struct ct_stream *stream, const struct ct_op_event *event)
{
	const struct ct_joined_op *j = &event->op->joined;

	(void)stream;
	if (j->state == CT_STATE_ERROR && j->backend == CT_BACKEND_GLOO)
		count_error(arg, CT_BACKEND_GLOO, j->op->result);
	return CT_OK;
}

static void remember(struct ct_live_past *past, const struct ct_live_sums *sums)
{
	const struct ct_live_sums *last = &past->at[(past->n - 1) % CT_LIVE_PAST];

	if (!past->n || sums->at_ns >= last->at_ns + PAST_NS)
		past->at[past->n++ % CT_LIVE_PAST] = *sums;
}

static struct ct_live_sums sums_of(const struct ct_live *live, const struct ct_model *model,
				   uint32_t slot, uint64_t at_ns)
{
	const struct ct_rank_state *from = &model->slots[slot];
	const uint64_t start_ns = model->run->processes[from->process].id.start_ns;

	return (struct ct_live_sums){
		.at_ns = at_ns > start_ns ? at_ns - start_ns : 0,
		.ops = from->ops,
		.bytes = from->bytes,
		.comm_ns = from->busy.total,
		.wait_ns = from->waited.total,
		.exposed_ns = slot < live->n_past ? live->past[slot].exposed_ns : 0,
	};
}

/* Also of what was recorded before this reading began. */
static int on_block(void *arg, const struct ct_stream *stream, uint32_t process,
		    const struct ct_load *load, int ended)
{
	struct ct_live *live = arg;
	const struct ct_model *model = &stream->model;
	struct ct_live_past *past;

	(void)ended;
	for (uint32_t s = 0; s < model->n_slots; s++) {
		struct ct_live_sums sums;

		if (model->slots[s].process != process)
			continue;
		if (past_of(live, s, &past) != CT_OK)
			return CT_NOMEM;
		sums = sums_of(live, model, s, ct_load_facts(load)->position_ns);
		remember(past, &sums);
	}
	return CT_OK;
}

/* ---- the run ---- */

static int is_of_this_machine(const struct ct_process_info *process)
{
	return ct_process_same_boot(&process->id);
}

static int start_stream(struct ct_live *live, struct ct_err *err)
{
	const struct ct_stream_options options = { .observers = live->observers,
						   .n_observers = CT_LIVE_OBSERVERS,
						   .boot_id = live->options.boot_id };
	int st;

	memset(live->observers, 0, sizeof(live->observers));
	ct_slow_watch_init(&live->slow, &live->observers[CT_LIVE_SLOW]);
	live->overlap.each = on_exposure;
	live->overlap.each_arg = live;
	live->overlap.sample = &live->slow.log.sample;
	ct_overlap_observe(&live->overlap, &live->observers[CT_LIVE_OVERLAP]);
	ct_arrivals_observe(&live->arrivals, &live->observers[CT_LIVE_ARRIVALS]);
	live->observers[CT_LIVE_OWN] = (struct ct_observer){
		.op = on_op, .error = on_error, .block = on_block, .arg = live
	};
	st = ct_starts_find(live->run, &live->starts);
	if (st == CT_OK)
		st = ct_follow_open(live->run, &live->starts, &options, is_of_this_machine,
				    &live->follow, err);
	live->rings = calloc(live->run->n_processes + 1, sizeof(*live->rings));
	return live->rings ? st : CT_NOMEM;
}

static int same_processes(const struct ct_run *a, const struct ct_run *b)
{
	if (a->n_processes != b->n_processes)
		return 0;
	for (size_t p = 0; p < a->n_processes; p++) {
		const struct ct_process *x = &a->processes[p].id, *y = &b->processes[p].id;

		if (x->pid != y->pid || x->start_ns != y->start_ns || x->hostkey != y->hostkey)
			return 0;
	}
	return 1;
}

/* New processes: the run is read from its beginning, so that all sums are of the same records. */
static int scan(struct ct_live *live, struct ct_err *err)
{
	const struct ct_run_options options = { .ring_dirs = live->options.ring_dirs };
	struct ct_run *run = NULL;
	int st;

	if (live->run && ct_clock_ns(CLOCK_MONOTONIC) - live->scanned_ns < SCAN_NS)
		return CT_OK;
	live->scanned_ns = ct_clock_ns(CLOCK_MONOTONIC);
	st = ct_run_open(live->options.paths, live->options.n_paths, &options, &run, err);
	if (st == CT_EMPTY)
		return CT_OK;
	if (st != CT_OK)
		return st;
	if (live->run && same_processes(live->run, run)) {
		ct_run_close(run);
		return CT_OK;
	}
	close_run(live);
	live->run = run;
	st = start_stream(live, err);
	if (st != CT_OK)
		close_run(live); /* the next look begins again */
	return st;
}

/* ---- the view ---- */

/* The latest point that is so far back that a rate since then is steady. */
static struct ct_live_sums before(const struct ct_live_past *past, const struct ct_live_sums *now)
{
	const uint32_t kept = (uint32_t)ct_min(past->n, CT_LIVE_PAST);

	for (uint32_t back = 1; back <= kept; back++) {
		const struct ct_live_sums *at = &past->at[(past->n - back) % CT_LIVE_PAST];

		if (at->at_ns + CT_LIVE_RATE_NS <= now->at_ns || back == kept)
			return *at;
	}
	return *now;
}

static int fill_rank(struct ct_live *live, uint32_t slot)
{
	const struct ct_model *model = &ct_follow_stream(live->follow)->model;
	const struct ct_rank_state *from = &model->slots[slot];
	const struct ct_process_info *process = &model->run->processes[from->process];
	const struct ct_load *load = ct_follow_load(live->follow, from->process);
	const struct ct_model_process *kept = &model->processes[from->process];
	struct ct_live_rank *to = &live->view.ranks[slot];
	struct ct_live_past *past;
	uint64_t at;

	if (past_of(live, slot, &past) != CT_OK)
		return CT_NOMEM;
	*to = (struct ct_live_rank){
		.rank = from->rank,
		.local_rank = process->id.local_rank,
		.device = from->device,
		.pid = process->id.pid,
		.host = process->id.host,
		.runs = load != NULL,
		.beat_ns = CT_UNKNOWN,
		.idle_ns = CT_UNKNOWN,
		.slow = slot < live->slow.n && live->slow.until_ns ? live->slow.share[slot] : NAN,
		.slow_err = slot < live->slow.n && live->slow.until_ns ? live->slow.err[slot] : NAN,
	};
	at = load ? ct_load_facts(load)->position_ns : kept->facts.last_ns;
	to->now = sums_of(live, model, slot, at);
	to->knows_wait = from->judged != 0;
	to->knows_exposed = knows_exposed(past, from);
	/* of a rank that has ended, the whole: its last portion has what was held back until then */
	to->before = load ? before(past, &to->now) : (struct ct_live_sums){ 0 };
	to->awaited_ns = slot < live->arrivals.n ? live->arrivals.all[slot].alone_ns : 0;
	for (unsigned i = 0; i < CT_LOSS_MAX; i++)
		to->losses[i] = kept->gaps.losses[i];
	return CT_OK;
}

static uint64_t comm_key(const struct ct_live_comm *comm)
{
	return ct_mix(comm->hash ^ comm->nranks);
}

/* How far each is behind the furthest of its communicator: by the numbers that all members give to
 * its operations. */
static int compare_progress(struct ct_live_view *view)
{
	struct ct_table furthest = { 0 };
	int st = CT_OK;

	for (uint32_t r = 0; r < view->n_ranks; r++) {
		for (uint32_t c = 0; c < view->ranks[r].n_comms && st == CT_OK; c++) {
			struct ct_live_comm *comm = &view->ranks[r].comms[c];
			const struct ct_live_comm *best = ct_table_get(&furthest, comm_key(comm));

			if (!best || best->next_seq < comm->next_seq)
				st = ct_table_put(&furthest, comm_key(comm), comm);
		}
	}
	for (uint32_t r = 0; r < view->n_ranks && st == CT_OK; r++) {
		for (uint32_t c = 0; c < view->ranks[r].n_comms; c++) {
			struct ct_live_comm *comm = &view->ranks[r].comms[c];
			const struct ct_live_comm *best = ct_table_get(&furthest, comm_key(comm));

			comm->behind = best->next_seq - comm->next_seq;
		}
	}
	ct_table_fini(&furthest);
	return st;
}

/* Slots of ranks that are on other machines come last, and are left out. */
static void drop_others(struct ct_live *live)
{
	struct ct_live_view *view = &live->view;
	uint32_t n = 0;

	for (uint32_t s = 0; s < view->n_ranks; s++) {
		const struct ct_model *model = &ct_follow_stream(live->follow)->model;

		if (is_of_this_machine(&model->run->processes[model->slots[s].process]))
			view->ranks[n++] = view->ranks[s];
	}
	view->n_ranks = n;
}

static int fill(struct ct_live *live)
{
	const struct ct_stream *stream = ct_follow_stream(live->follow);
	const struct ct_model *model = &stream->model;
	struct ct_live_view *view = &live->view;
	const struct ct_process *first = &model->run->processes[0].id;
	int st = CT_OK;

	ct_live_free_rows(live);
	ct_arena_free(live->memory);
	live->memory = ct_arena_new();
	*view = (struct ct_live_view){
		.job = first->job,
		.restart = model->restart,
		.world = first->world_size,
		.is_behind = view->is_behind,
		.has_ended = view->has_ended,
		.stall_ns = CT_UNCLEAN_NS,
		.n_ranks = model->n_slots,
		.errors = live->errors,
		.n_errors = live->n_errors,
		.slow_until_ns = live->slow.until_ns,
		.slow_why_not = live->slow.why_not,
	};
	if (!live->memory)
		return CT_NOMEM;
	if (model->n_slots)
		view->facts = ct_model_environment(model, 0);
	view->ranks = ct_arena_calloc(live->memory, model->n_slots + 1, sizeof(*view->ranks));
	if (!view->ranks)
		return CT_NOMEM;
	for (uint32_t s = 0; s < model->n_slots && st == CT_OK; s++) {
		st = fill_rank(live, s);
		view->duration_ns = ct_max(view->duration_ns, view->ranks[s].now.at_ns);
		view->stall_ns = ct_max(
			view->stall_ns,
			model->run->processes[model->slots[s].process].id.hang_after_ns);
	}
	st = st ?: ct_live_look_at_rings(live);
	st = st ?: ct_live_fill_rows(live);
	if (st != CT_OK || ct_arena_failed(live->memory))
		return CT_NOMEM;
	drop_others(live);
	return compare_progress(view);
}

int ct_live_look(struct ct_live *live, uint64_t most_ns, const struct ct_live_view **view,
		 struct ct_err *err)
{
	enum ct_follow_state state;
	int st = scan(live, err);

	*view = NULL;
	if (st != CT_OK || !live->run)
		return st;
	st = ct_follow_read(live->follow, most_ns, &state, err);
	if (st != CT_OK) {
		/* the next look begins again */
		close_run(live);
		return st;
	}
	live->view.is_behind = state == CT_FOLLOW_MORE;
	live->view.has_ended = state == CT_FOLLOW_ENDED;
	if (state == CT_FOLLOW_LATEST)
		st = ct_slow_watch_judge(&live->slow, ct_follow_stream(live->follow));
	st = st ?: fill(live);
	if (st != CT_OK)
		return ct_fail(err, st, "%s", ct_status_text(st));
	*view = &live->view;
	return CT_OK;
}
