/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/timeline/timeline_index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/overlap/overlap_observe.h"
#include "analyzer/report/analyze.h"
#include "analyzer/stream/stream.h"
#include "trace/ops.h"

/* Every member that is kept stands for two slices at least: the call and its work. */
#define SLICES_PER_MEMBER 2u

void ct_census_interval(const struct ct_census *census, uint32_t host, const struct ct_load_op *op,
			uint64_t *begin_ns, uint64_t *end_ns)
{
	const struct ct_joined_op *j = &op->joined;
	uint64_t begin = j->op->enter_ns, end = j->op->return_ns;

	if (j->start_ns && j->start_ns < begin)
		begin = j->start_ns;
	if (j->end_ns > end)
		end = j->end_ns;
	*begin_ns = ct_census_at(census, host, begin);
	if (!j->op->return_ns || (op->open && CT_OPEN_WORD(op->open, start_ns)))
		*end_ns = CT_CHART_OPEN;
	else
		*end_ns = ct_census_at(census, host, end);
	if (*end_ns < *begin_ns)
		*end_ns = *begin_ns;
}

/* ---- looking on ---- */

/* Ranks that nobody told are known only after everything was read: they are wanted until then. Seats may come to
 * light while reading. */
static int look_around(struct ct_census *census, const struct ct_model *model)
{
	for (uint32_t v = 0; v < census->n_views && model->n_seats > census->n_wanted; v++) {
		struct ct_census_view *view = &census->views[v];
		uint8_t *wanted = realloc(view->wanted, model->n_seats);

		if (!wanted)
			return CT_NOMEM;
		view->wanted = wanted;
		for (uint32_t s = census->n_wanted; s < model->n_seats; s++)
			wanted[s] = model->seats[s].rank < 0 ||
				    ct_census_lists(view, model->seats[s].rank);
	}
	if (model->n_seats > census->n_wanted) {
		uint8_t *now = realloc(census->now, model->n_seats);

		if (!now)
			return CT_NOMEM;
		census->now = now;
		census->n_wanted = model->n_seats;
	}
	return CT_OK;
}

/* So many slices of a seat in an interval, for each view that shows them. Returns how many views do. */
static uint32_t add_slices(struct ct_census *census, uint32_t seat, uint64_t begin_ns,
			   uint64_t end_ns, uint64_t slices)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < census->n_views; v++) {
		struct ct_census_view *view = &census->views[v];

		if (!view->wanted[seat] || end_ns < view->from_ns || begin_ns > view->to_ns)
			continue;
		ct_budget_add(view->budget, end_ns, slices);
		n++;
	}
	return n;
}

/* How the hosts' clocks stand: before anything else is read, and for longer than the stream lives. */
static int take_clocks(struct ct_census *census, const struct ct_model *model)
{
	uint32_t n = model->starts->n_hosts;

	if (census->shifts)
		return CT_OK;
	census->n_hosts = n;
	census->shifts = malloc((n + 1) * sizeof(*census->shifts));
	if (!census->shifts)
		return CT_NOMEM;
	memcpy(census->shifts, model->shift, n * sizeof(*census->shifts));
	census->clocks = ct_clocks_copy(model->starts->clocks);
	return census->clocks || !model->starts->clocks ? CT_OK : CT_NOMEM;
}

static int on_op(void *arg, const struct ct_stream *stream, const struct ct_op_event *event)
{
	struct ct_census *census = arg;
	const struct ct_model *model = &stream->model;
	const struct ct_place *place = &model->starts->places[event->process];
	const struct ct_load_op *op = event->op;
	int64_t seat = ct_starts_seat(model->starts, event->process,
				      op->comm ? op->comm->local : 0);
	uint64_t begin, end;

	if (seat < 0 || take_clocks(census, model) != CT_OK || look_around(census, model) != CT_OK)
		return CT_NOMEM;
	ct_census_interval(census, place->host, op, &begin, &end);
	if (begin > census->last_ns)
		census->last_ns = begin;
	if (end != CT_CHART_OPEN && end > census->last_ns)
		census->last_ns = end;
	add_slices(census, (uint32_t)seat, begin, end, 1u + (op->joined.launch_at == 0));
	return CT_OK;
}

static int on_host(void *arg, const struct ct_stream *stream, uint32_t process,
		   const struct ct_host_rec *rec, const char *call, const char *site)
{
	struct ct_census *census = arg;
	const struct ct_model *model = &stream->model;
	const struct ct_place *place = &model->starts->places[process];
	uint64_t at;

	(void)call;
	(void)site;
	if (take_clocks(census, model) != CT_OK || look_around(census, model) != CT_OK)
		return CT_NOMEM;
	at = ct_census_at(census, place->host, rec->enter_ns);
	if (!rec->return_ns)
		add_slices(census, place->seat, at, at, 1);
	return CT_OK;
}

static int on_stall(void *arg, const struct ct_stream *stream, const struct ct_exposure *stall)
{
	struct ct_census *census = arg;
	const struct ct_model *model = &stream->model;
	const struct ct_stood stood = {
		.begin_ns = stall->begin_ns,
		.end_ns = stall->end_ns,
		.length_ns = stall->end_ns - stall->begin_ns,
		.err_ns = stall->err_ns,
		.seat = stall->seat,
		.n = 1,
		.backend = model->comms.all[stall->comm]->backend,
	};

	if (look_around(census, model) != CT_OK)
		return CT_NOMEM;
	if (!stall->is_known || stall->end_ns <= stall->begin_ns ||
	    !add_slices(census, stall->seat, stall->begin_ns, stall->end_ns, 1))
		return CT_OK;
	return ct_stoods_add(&census->stoods, &stood);
}

/* From the first arrival to the last completion, on the clock of one host. Members on other hosts count by what they
 * took: in an operation that ends everywhere at once, who took longest came first. */
static void set_extent(const struct ct_model *model, const struct ct_instance *i,
		       struct ct_kept_extent *extent)
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
		uint32_t host = model->host_of[member->seat];
		uint64_t begin = ct_model_host_at(model, host, member->start_ns);
		uint64_t end = ct_model_host_at(model, host, member->end_ns);

		if (member->end_ns - member->start_ns > longest)
			longest = member->end_ns - member->start_ns;
		if (host != model->host_of[first->seat])
			continue;
		extent->begin_ns = begin < extent->begin_ns ? begin : extent->begin_ns;
		extent->end_ns = end > extent->end_ns ? end : extent->end_ns;
	}
	if (ct_op_class(first->op) == CT_CLASS_SYNC && extent->end_ns >= longest &&
	    extent->end_ns - longest < extent->begin_ns)
		extent->begin_ns = extent->end_ns - longest;
}

static uint64_t seat_at(const void *arg, uint32_t seat, uint64_t mono_ns)
{
	const struct ct_model *model = arg;

	return ct_model_host_at(model, model->host_of[seat], mono_ns);
}

/* The slices that an instance adds to its members': the job's, and the parts of those that are shown. Returns 0: no view
 * shows any. Leaves in census->now which members are shown. */
static int add_instance(struct ct_census *census, const struct ct_instance *i,
			const struct ct_kept_extent *extent, int has_parts)
{
	int any = 0;

	for (uint32_t m = 0; m < i->n; m++)
		census->now[i->members[m].seat] = 0;
	for (uint32_t v = 0; v < census->n_views; v++) {
		struct ct_census_view *view = &census->views[v];
		uint64_t slices = 0, members = 0;

		if (extent->end_ns < view->from_ns || extent->begin_ns > view->to_ns)
			continue;
		for (uint32_t m = 0; m < i->n; m++) {
			const struct ct_member *member = &i->members[m];

			if (!view->wanted[member->seat])
				continue;
			census->now[member->seat] = 1;
			members++;
			/* wait and transfer; messages in groups have none */
			slices += has_parts && !(i->src >= 0 && member->group) ? 2 : 0;
		}
		if (members)
			ct_budget_add(view->budget, extent->end_ns, slices + (i->src < 0));
		any |= members != 0;
	}
	return any;
}

static int on_instance(void *arg, struct ct_stream *stream, const struct ct_instance_event *event)
{
	struct ct_census *census = arg;
	const struct ct_model *model = &stream->model;
	const struct ct_instance *i = event->instance;
	struct ct_kept_extent extent = { .bytes = event->bytes };
	const struct ct_kept_instance *shown;
	int st;

	if (event->waits->judged == CT_JUDGED_NOTHING)
		return CT_OK;
	set_extent(model, i, &extent);
	if (!add_instance(census, i, &extent, ct_kept_shows(i, event->waits)))
		return CT_OK;
	st = ct_kept_add(census->kept, i, event->waits, &extent, census->now, &shown);
	return st == CT_OK && shown
		       ? ct_costly_add(&census->costly, i, event->waits, shown, seat_at, model)
		       : st;
}

static int on_end(void *arg, struct ct_stream *stream)
{
	struct ct_census *census = arg;
	int st = take_clocks(census, &stream->model);

	return st == CT_OK ? ct_census_places(census, &stream->model) : st;
}

/* ---- */

static const struct ct_observer observes = {
	.op = on_op, .host = on_host, .instance = on_instance, .end = on_end
};

/* Room for what is to be seen. 0 or CT_NOMEM. */
static int prepare(struct ct_census *census, const struct ct_chart_options *options,
		   const struct ct_census_view *views, uint32_t n)
{
	*census = (struct ct_census){ .options = options, .n_views = n };
	ct_stoods_init(&census->stoods, options->max_slices / 4);
	if (ct_texts_init(&census->texts) != CT_OK ||
	    ct_costly_init(&census->costly, ct_census_timed(options)) != CT_OK)
		return CT_NOMEM;
	census->kept = ct_kept_new(options->max_slices / SLICES_PER_MEMBER + 1);
	for (uint32_t v = 0; v < n; v++) {
		census->views[v] = views[v];
		census->views[v].budget = ct_budget_new();
		if (!census->views[v].budget)
			return CT_NOMEM;
	}
	return census->kept ? CT_OK : CT_NOMEM;
}

int ct_census_take(struct ct_census *census, const struct ct_run *run,
		   const struct ct_chart_options *options, const struct ct_census_view *view,
		   struct ct_report **report, struct ct_err *err)
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
		.exposure_arg = census,
	};
	int st = prepare(census, options, view, 1);

	observer.arg = census;
	st = st ?: ct_analyze(run, &analysis, report, err);
	/* as in ct_analyze(), where nobody observes */
	if (st == CT_NOMEM && analysis.threads > 1) {
		analysis.threads = 1;
		ct_census_fini(census);
		st = prepare(census, options, view, 1);
		st = st ?: ct_analyze(run, &analysis, report, err);
	}
	st = st ?: ct_census_flag(census, *report);
	return st == CT_NOMEM ? ct_fail(err, st, "%s", ct_status_text(st)) : st;
}

/* The same once more, for other views: what the analysis found out is known by now. */
int ct_census_again(struct ct_census *census, const struct ct_census *first,
		    const struct ct_run *run, const struct ct_census_view *views, uint32_t n,
		    const struct ct_report *report, struct ct_err *err)
{
	struct ct_sample sample = CT_SAMPLE_ALL;
	struct ct_overlap_log overlap = { .each = on_stall, .each_arg = census, .sample = &sample };
	struct ct_observer observers[2] = { { 0 }, observes };
	const struct ct_stream_options options = {
		.observers = observers,
		.n_observers = 2,
		.boot_id = first->options->boot_id,
		.progress = first->options->reading,
		.progress_arg = first->options->progress_arg,
	};
	struct ct_starts starts = { 0 };
	struct ct_stream *stream = calloc(1, sizeof(*stream));
	int st = stream ? prepare(census, first->options, views, n) : CT_NOMEM;

	ct_overlap_observe(&overlap, &observers[0]);
	observers[1].arg = census;
	st = st ?: ct_starts_find(run, &starts);
	starts.clocks = first->clocks;
	st = st ?: ct_stream_run(stream, run, &starts, report->run.restart, &options, err);
	if (stream)
		ct_stream_fini(stream);
	free(stream);
	ct_overlap_log_fini(&overlap);
	ct_starts_fini(&starts);
	st = st ?: ct_census_flag(census, report);
	return st == CT_NOMEM ? ct_fail(err, st, "%s", ct_status_text(st)) : st;
}

void ct_census_show(struct ct_census *census, const struct ct_census_view *view)
{
	census->from_ns = view->from_ns;
	census->to_ns = view->to_ns;
	for (uint32_t h = 0; h < census->n_hosts; h++)
		census->hosts[h].drawn = 0;
	for (uint32_t s = 0; s < census->n_seats; s++) {
		struct ct_census_seat *seat = &census->seats[s];

		seat->drawn = (uint8_t)ct_census_lists(view, seat->rank);
		census->hosts[seat->host].drawn |= seat->drawn;
	}
	for (uint32_t p = 0; p < census->n_processes; p++) {
		struct ct_census_process *process = &census->processes[p];

		process->drawn = process->is_there && census->seats[process->seat].drawn;
	}
	for (uint32_t s = 0; s < census->n_seats; s++) {
		if (census->seats[s].local)
			census->processes[census->seats[s].process].drawn |= census->seats[s].drawn;
	}
}

int ct_census_lists(const struct ct_census_view *view, int rank)
{
	for (size_t i = 0; i < view->n_ranks; i++) {
		if (view->ranks[i] == rank)
			return 1;
	}
	return !view->ranks;
}

void ct_census_fini(struct ct_census *census)
{
	ct_texts_fini(&census->texts);
	ct_kept_free(census->kept);
	ct_stoods_fini(&census->stoods);
	ct_costly_fini(&census->costly);
	for (uint32_t v = 0; v < census->n_views; v++) {
		free(census->views[v].budget);
		free(census->views[v].wanted);
	}
	free(census->now);
	free(census->processes);
	free(census->seats);
	free(census->hosts);
	free(census->shifts);
	ct_clocks_free(census->clocks);
	free(census->comms);
	ct_table_fini(&census->comm_by_id);
	ct_table_fini(&census->more_seats);
	*census = (struct ct_census){ 0 };
}
