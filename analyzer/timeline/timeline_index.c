/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/timeline/timeline_index.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/report/analyze.h"
#include "analyzer/stream/stream.h"
#include "trace/ops.h"

/* Every kept member has at least two slices: the call and its work. */
#define SLICES_PER_MEMBER 2u

void ct_timeline_index_interval(const struct ct_timeline_index *tl_index, uint32_t host,
				const struct ct_load_op *op, uint64_t *begin_ns, uint64_t *end_ns)
{
	const struct ct_joined_op *j = &op->joined;
	uint64_t begin = j->op->enter_ns, end = j->op->return_ns;

	if (j->start_ns && j->start_ns < begin)
		begin = j->start_ns;
	if (j->end_ns > end)
		end = j->end_ns;
	*begin_ns = ct_timeline_index_at(tl_index, host, begin);
	if (!j->op->return_ns || (op->open && CT_OPEN_WORD(op->open, start_ns)))
		*end_ns = CT_TIMELINE_OPEN;
	else
		*end_ns = ct_timeline_index_at(tl_index, host, end);
	if (*end_ns < *begin_ns)
		*end_ns = *begin_ns;
}

/* ---- looking on ---- */

static int is_selected(const struct ct_timeline_options *options, int rank)
{
	for (size_t i = 0; i < options->n_ranks; i++) {
		if (options->ranks[i] == rank)
			return 1;
	}
	return !options->ranks;
}

/* Ranks that are not recorded become known only after everything was read: they are wanted until
 * then. Slots may come to light while reading. */
static int look_around(struct ct_timeline_index *tl_index, const struct ct_model *model)
{
	uint8_t *wanted;

	if (model->n_slots <= tl_index->n_wanted)
		return CT_OK;
	wanted = realloc(tl_index->wanted, model->n_slots);
	if (!wanted)
		return CT_NOMEM;
	tl_index->wanted = wanted;
	for (; tl_index->n_wanted < model->n_slots; tl_index->n_wanted++) {
		int rank = model->slots[tl_index->n_wanted].rank;

		wanted[tl_index->n_wanted] = rank < 0 || is_selected(tl_index->options, rank);
	}
	return CT_OK;
}

static int is_in_window(const struct ct_timeline_index *tl_index, uint64_t begin_ns,
			uint64_t end_ns)
{
	return end_ns >= tl_index->options->from_ns && begin_ns <= tl_index->options->to_ns;
}

/* So many slices of a slot in an interval. Returns 0: they are not selected. */
static int add_slices(struct ct_timeline_index *tl_index, uint32_t slot, uint64_t begin_ns,
		      uint64_t end_ns, uint64_t slices)
{
	if (!tl_index->wanted[slot] || !is_in_window(tl_index, begin_ns, end_ns))
		return 0;
	ct_budget_add(tl_index->budget, end_ns, slices);
	return 1;
}

/* The hosts' clocks: set before anything else is read, and outlives the stream. */
static int take_clocks(struct ct_timeline_index *tl_index, const struct ct_model *model)
{
	uint32_t n = model->starts->n_hosts;

	if (tl_index->shifts)
		return CT_OK;
	tl_index->n_hosts = n;
	tl_index->shifts = malloc((n + 1) * sizeof(*tl_index->shifts));
	if (!tl_index->shifts)
		return CT_NOMEM;
	memcpy(tl_index->shifts, model->shift, n * sizeof(*tl_index->shifts));
	tl_index->clocks = ct_clocks_copy(model->starts->clocks);
	return tl_index->clocks || !model->starts->clocks ? CT_OK : CT_NOMEM;
}

static int on_op(void *arg, const struct ct_stream *stream, const struct ct_op_event *event)
{
	struct ct_timeline_index *tl_index = arg;
	const struct ct_model *model = &stream->model;
	const struct ct_process_start *start = &model->starts->processes[event->process];
	const struct ct_load_op *op = event->op;
	int64_t slot = ct_starts_slot(model->starts, event->process,
				      op->comm ? op->comm->local : 0);
	uint64_t begin, end;

	if (slot < 0 || take_clocks(tl_index, model) != CT_OK ||
	    look_around(tl_index, model) != CT_OK)
		return CT_NOMEM;
	ct_timeline_index_interval(tl_index, start->host, op, &begin, &end);
	if (begin > tl_index->last_ns)
		tl_index->last_ns = begin;
	if (end != CT_TIMELINE_OPEN && end > tl_index->last_ns)
		tl_index->last_ns = end;
	add_slices(tl_index, (uint32_t)slot, begin, end, 1u + (op->joined.launch_at == 0));
	return CT_OK;
}

static int on_host(void *arg, const struct ct_stream *stream, uint32_t process,
		   const struct ct_host_rec *rec, const char *call, const char *site)
{
	struct ct_timeline_index *tl_index = arg;
	const struct ct_model *model = &stream->model;
	const struct ct_process_start *start = &model->starts->processes[process];
	uint64_t at;

	(void)call;
	(void)site;
	if (take_clocks(tl_index, model) != CT_OK || look_around(tl_index, model) != CT_OK)
		return CT_NOMEM;
	at = ct_timeline_index_at(tl_index, start->host, rec->enter_ns);
	if (!rec->return_ns)
		add_slices(tl_index, start->slot, at, at, 1);
	return CT_OK;
}

static int on_stall(void *arg, const struct ct_stream *stream, const struct ct_exposure *stall)
{
	struct ct_timeline_index *tl_index = arg;
	const struct ct_model *model = &stream->model;
	const struct ct_tracked_stall tracked = {
		.begin_ns = stall->begin_ns,
		.end_ns = stall->end_ns,
		.length_ns = stall->end_ns - stall->begin_ns,
		.err_ns = stall->err_ns,
		.slot = stall->slot,
		.n = 1,
		.backend = model->comms.all[stall->comm]->backend,
	};

	if (look_around(tl_index, model) != CT_OK)
		return CT_NOMEM;
	if (!stall->is_known || stall->end_ns <= stall->begin_ns ||
	    !add_slices(tl_index, stall->slot, stall->begin_ns, stall->end_ns, 1))
		return CT_OK;
	return ct_stall_track_add(&tl_index->stalls, &tracked);
}

/* From the first arrival to the last completion, on the clock of one host. Members on other hosts
 * count by what they took: in an operation that ends everywhere at once, the one that took
 * longest came first. */
static void set_extent(const struct ct_model *model, const struct ct_instance *i,
		       struct ct_cached_extent *extent)
{
	const struct ct_member *first = &i->members[0];
	uint64_t longest = 0;

	for (uint32_t m = 1; m < i->n; m++) {
		if (i->members[m].index < first->index)
			first = &i->members[m];
	}
	extent->begin_ns = UINT64_MAX;
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];
		uint32_t host = model->host_of[member->slot];
		uint64_t begin = ct_model_host_at(model, host, member->start_ns);
		uint64_t end = ct_model_host_at(model, host, member->end_ns);

		if (member->end_ns - member->start_ns > longest)
			longest = member->end_ns - member->start_ns;
		if (host != model->host_of[first->slot])
			continue;
		extent->begin_ns = begin < extent->begin_ns ? begin : extent->begin_ns;
		extent->end_ns = end > extent->end_ns ? end : extent->end_ns;
	}
	if (ct_op_class(first->op) == CT_CLASS_SYNC && extent->end_ns >= longest &&
	    extent->end_ns - longest < extent->begin_ns)
		extent->begin_ns = extent->end_ns - longest;
}

static uint64_t slot_at(const void *arg, uint32_t slot, uint64_t mono_ns)
{
	const struct ct_model *model = arg;

	return ct_model_host_at(model, model->host_of[slot], mono_ns);
}

/* The slices that an instance adds to its members': the job's, and the parts of those that are
 * shown. */
static void add_instance(struct ct_timeline_index *tl_index, const struct ct_instance *i,
			 const struct ct_cached_extent *extent, int has_parts)
{
	uint64_t slices = 0, members = 0;

	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];

		if (!tl_index->wanted[member->slot])
			continue;
		members++;
		/* wait and transfer; messages in groups have none */
		slices += has_parts && !(i->src >= 0 && member->group) ? 2 : 0;
	}
	if (members)
		ct_budget_add(tl_index->budget, extent->end_ns, slices + (i->src < 0));
}

static int on_instance(void *arg, struct ct_stream *stream, const struct ct_instance_event *event)
{
	struct ct_timeline_index *tl_index = arg;
	const struct ct_model *model = &stream->model;
	const struct ct_instance *i = event->instance;
	struct ct_cached_extent extent = { .bytes = event->bytes };
	const struct ct_cached_instance *shown;
	int st;

	if (event->waits->judged == CT_JUDGED_NOTHING)
		return CT_OK;
	set_extent(model, i, &extent);
	if (!is_in_window(tl_index, extent.begin_ns, extent.end_ns))
		return CT_OK;
	add_instance(tl_index, i, &extent, ct_instance_cache_shows(i, event->waits));
	st = ct_instance_cache_add(tl_index->kept, i, event->waits, &extent, tl_index->wanted,
				   &shown);
	return st == CT_OK && shown
		       ? ct_costly_add(&tl_index->costly, i, event->waits, shown, slot_at, model)
		       : st;
}

static int on_end(void *arg, struct ct_stream *stream)
{
	struct ct_timeline_index *tl_index = arg;
	int st = take_clocks(tl_index, &stream->model);

	return st == CT_OK ? ct_timeline_index_ranks(tl_index, &stream->model) : st;
}

/* ---- of findings ---- */

/* Does the finding say that its ranks, or others, were awaited? */
static int says_late(const struct ct_finding *f)
{
	switch (f->kind) {
	case CT_FINDING_STRAGGLER:
	case CT_FINDING_STRAGGLER_HOST:
	case CT_FINDING_STRAGGLER_GROUP:
	case CT_FINDING_SLOW_STAGE:
	case CT_FINDING_ROTATING_STALLS:
	case CT_FINDING_PERIODIC_STALLS:
	case CT_FINDING_CHANGE_POINT:
		return 1;
	default:
		return 0;
	}
}

static int names(const struct ct_finding *f, int rank)
{
	size_t low = CT_BISECT(i, 0, f->n_ranks, f->ranks[i] < rank);

	return !f->n_ranks || (low < f->n_ranks && f->ranks[low] == rank);
}

static int is_about(const struct ct_timeline_index *tl_index, const struct ct_finding *f,
		    const struct ct_blamed *b)
{
	const struct ct_timeline_index_comm *comm = &tl_index->comms[b->comm];

	if (b->finding || !names(f, tl_index->slots[b->slot].rank))
		return 0;
	if (f->comm_hash && comm->id != ct_cached_comm(f->comm_hash, comm->nranks))
		return 0;
	return (f->begin_at_ns == CT_UNKNOWN || b->end_ns >= f->begin_at_ns) &&
	       (f->end_at_ns == CT_UNKNOWN || b->at_ns <= f->end_at_ns);
}

CT_SORT_BY(by_cost, struct ct_blamed, CT_DOWN(cost_ns) ?: CT_UP(key.comm) ?: CT_UP(key.seq))

int ct_timeline_index_flag(struct ct_timeline_index *tl_index, const struct ct_report *report)
{
	struct ct_costly *costly = &tl_index->costly;

	qsort(costly->blamed, costly->n_blamed, sizeof(*costly->blamed), by_cost);
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct ct_finding *f = &report->findings[i];
		uint32_t n = 0;

		for (uint32_t b = 0; b < costly->n_blamed && says_late(f); b++) {
			if (n < CT_COSTLY_FLAGGED && is_about(tl_index, f, &costly->blamed[b])) {
				costly->blamed[b].finding = f->id;
				n++;
			}
		}
	}
	return ct_costly_close(costly);
}

/* ---- the reading ---- */

static const struct ct_observer observes = {
	.op = on_op, .host = on_host, .instance = on_instance, .end = on_end
};

/* Space for what is to be seen. 0 or CT_NOMEM. */
static int prepare(struct ct_timeline_index *tl_index, const struct ct_timeline_options *options)
{
	*tl_index = (struct ct_timeline_index){ .options = options };
	ct_stall_track_init(&tl_index->stalls, options->max_slices / 4);
	if (ct_texts_init(&tl_index->texts) != CT_OK ||
	    ct_costly_init(&tl_index->costly, ct_timeline_index_timed(options)) != CT_OK)
		return CT_NOMEM;
	tl_index->kept = ct_instance_cache_new(options->max_slices / SLICES_PER_MEMBER + 1);
	tl_index->budget = ct_budget_new();
	return tl_index->kept && tl_index->budget ? CT_OK : CT_NOMEM;
}

int ct_timeline_index_take(struct ct_timeline_index *tl_index, const struct ct_run *run,
			   const struct ct_timeline_options *options, struct ct_report **report,
			   struct ct_err *err)
{
	struct ct_observer observer = observes;
	struct ct_analyze_options analysis = {
		.restart = options->restart,
		.threads = options->threads,
		.boot_id = options->boot_id,
		.progress = options->reading,
		.progress_arg = options->progress_arg,
		.observer = &observer,
		.exposure = on_stall,
		.exposure_arg = tl_index,
	};
	int st = prepare(tl_index, options);

	observer.arg = tl_index;
	st = st ?: ct_analyze(run, &analysis, report, err);
	/* as in ct_analyze(), without an observer */
	if (st == CT_NOMEM && analysis.threads > 1) {
		analysis.threads = 1;
		ct_timeline_index_fini(tl_index);
		st = prepare(tl_index, options);
		st = st ?: ct_analyze(run, &analysis, report, err);
	}
	st = st ?: ct_timeline_index_flag(tl_index, *report);
	return st == CT_NOMEM ? ct_fail(err, st, "%s", ct_status_text(st)) : st;
}

void ct_timeline_index_show(struct ct_timeline_index *tl_index, uint64_t from_ns)
{
	tl_index->from_ns = from_ns;
	tl_index->to_ns = tl_index->options->to_ns;
	for (uint32_t h = 0; h < tl_index->n_hosts; h++)
		tl_index->hosts[h].drawn = 0;
	for (uint32_t s = 0; s < tl_index->n_slots; s++) {
		struct ct_timeline_index_slot *slot = &tl_index->slots[s];

		slot->drawn = (uint8_t)is_selected(tl_index->options, slot->rank);
		tl_index->hosts[slot->host].drawn |= slot->drawn;
	}
	for (uint32_t p = 0; p < tl_index->n_processes; p++) {
		struct ct_timeline_index_process *process = &tl_index->processes[p];

		process->drawn = process->is_there && tl_index->slots[process->slot].drawn;
	}
	for (uint32_t s = 0; s < tl_index->n_slots; s++) {
		if (tl_index->slots[s].local)
			tl_index->processes[tl_index->slots[s].process].drawn |= tl_index->slots[s]
											 .drawn;
	}
}

void ct_timeline_index_fini(struct ct_timeline_index *tl_index)
{
	ct_texts_fini(&tl_index->texts);
	ct_instance_cache_free(tl_index->kept);
	ct_stall_track_fini(&tl_index->stalls);
	ct_costly_fini(&tl_index->costly);
	free(tl_index->budget);
	free(tl_index->wanted);
	free(tl_index->processes);
	free(tl_index->slots);
	free(tl_index->hosts);
	free(tl_index->shifts);
	ct_clocks_free(tl_index->clocks);
	free(tl_index->comms);
	ct_table_fini(&tl_index->comm_by_id);
	ct_table_fini(&tl_index->more_slots);
	*tl_index = (struct ct_timeline_index){ 0 };
}
