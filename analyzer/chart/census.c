/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/chart/census.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/pass.h"
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

static int in_list(const struct ct_chart_options *options, int rank)
{
	for (size_t i = 0; i < options->n_ranks; i++) {
		if (options->ranks[i] == rank)
			return 1;
	}
	return !options->ranks;
}

/* Ranks that nobody told are known only after everything was read: they are wanted until then. Seats may come to
 * light while reading. */
static int look_around(struct ct_census *census, const struct ct_pass *pass)
{
	uint8_t *wanted;

	if (pass->n_seats <= census->n_wanted)
		return CT_OK;
	wanted = realloc(census->wanted, pass->n_seats);
	if (!wanted)
		return CT_NOMEM;
	for (uint32_t s = census->n_wanted; s < pass->n_seats; s++)
		wanted[s] = pass->seats[s].rank < 0 ||
			    in_list(census->options, pass->seats[s].rank);
	census->wanted = wanted;
	census->n_wanted = pass->n_seats;
	return CT_OK;
}

/* How the hosts' clocks stand: before anything else is read, and for longer than the pass lives. */
static int take_clocks(struct ct_census *census, const struct ct_pass *pass)
{
	uint32_t n = pass->attempts->n_hosts;

	if (census->shifts)
		return CT_OK;
	census->n_hosts = n;
	census->shifts = malloc((n + 1) * sizeof(*census->shifts));
	if (!census->shifts)
		return CT_NOMEM;
	memcpy(census->shifts, pass->shift, n * sizeof(*census->shifts));
	census->clocks = ct_clocks_copy(pass->attempts->clocks);
	return census->clocks || !pass->attempts->clocks ? CT_OK : CT_NOMEM;
}

static int on_op(void *arg, const struct ct_pass *pass, uint32_t process,
		 const struct ct_load_op *op)
{
	struct ct_census *census = arg;
	const struct ct_place *place = &pass->attempts->places[process];
	int64_t seat = ct_attempts_seat(pass->attempts, process, op->comm ? op->comm->local : 0);
	uint64_t begin, end;

	if (seat < 0 || take_clocks(census, pass) != CT_OK || look_around(census, pass) != CT_OK)
		return CT_NOMEM;
	ct_census_interval(census, place->host, op, &begin, &end);
	if (begin > census->last_ns)
		census->last_ns = begin;
	if (end != CT_CHART_OPEN && end > census->last_ns)
		census->last_ns = end;
	if (!census->wanted[seat])
		return CT_OK;
	if (ct_census_inside(census, begin, end))
		ct_budget_add(census->budget, end, 1u + (op->joined.launch_at == 0));
	return CT_OK;
}

static int on_host(void *arg, const struct ct_pass *pass, uint32_t process,
		   const struct ct_host_rec *rec)
{
	struct ct_census *census = arg;
	const struct ct_place *place = &pass->attempts->places[process];
	uint64_t at;

	if (take_clocks(census, pass) != CT_OK || look_around(census, pass) != CT_OK)
		return CT_NOMEM;
	at = ct_census_at(census, place->host, rec->enter_ns);
	if (census->wanted[place->seat] && !rec->return_ns && ct_census_inside(census, at, at))
		ct_budget_add(census->budget, at, 1);
	return CT_OK;
}

/* From the first arrival to the last completion, on the clock of one host. Members on other hosts count by what they
 * took: in an operation that ends everywhere at once, who took longest came first. */
static void set_extent(const struct ct_pass *pass, const struct ct_instance *i,
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
		uint32_t host = pass->host_of[member->seat];
		uint64_t begin = ct_pass_host_at(pass, host, member->start_ns);
		uint64_t end = ct_pass_host_at(pass, host, member->end_ns);

		if (member->end_ns - member->start_ns > longest)
			longest = member->end_ns - member->start_ns;
		if (host != pass->host_of[first->seat])
			continue;
		extent->begin_ns = begin < extent->begin_ns ? begin : extent->begin_ns;
		extent->end_ns = end > extent->end_ns ? end : extent->end_ns;
	}
	if (ct_op_class(first->op) == CT_CLASS_SYNC && extent->end_ns >= longest &&
	    extent->end_ns - longest < extent->begin_ns)
		extent->begin_ns = extent->end_ns - longest;
}

static int on_judged(void *arg, const struct ct_pass *pass, const struct ct_instance *i,
		     const struct ct_waits *waits, uint64_t bytes)
{
	struct ct_census *census = arg;
	struct ct_kept_extent extent = { .bytes = bytes };
	uint64_t slices = i->src < 0, wanted = 0;
	int shown, st;

	set_extent(pass, i, &extent);
	if (!ct_census_inside(census, extent.begin_ns, extent.end_ns))
		return CT_OK;
	st = ct_kept_add(census->kept, i, waits, &extent, census->wanted, &shown);
	for (uint32_t m = 0; m < i->n; m++) {
		wanted += census->wanted[i->members[m].seat];
		/* its parts: wait and transfer; messages in groups have none */
		if (shown && census->wanted[i->members[m].seat] &&
		    !(i->src >= 0 && i->members[m].group))
			slices += 2;
	}
	if (wanted)
		ct_budget_add(census->budget, extent.end_ns, slices);
	return st;
}

/* ---- all was read ---- */

uint32_t ct_census_seat(const struct ct_census *census, uint32_t process, uint32_t local)
{
	const void *seat = local ? ct_table_get(&census->more_seats,
						(uint64_t)process << 32 | local)
				 : NULL;

	return seat ? (uint32_t)(uintptr_t)seat - 1 : census->processes[process].seat;
}

/* Ranks of a process beside its first one. */
static int take_more(struct ct_census *census, const struct ct_pass *pass)
{
	for (uint32_t s = 0; s < pass->n_seats; s++) {
		const struct ct_seat *seat = &pass->seats[s];

		if (!seat->local)
			continue;
		if (ct_table_put(&census->more_seats, (uint64_t)seat->process << 32 | seat->local,
				 (void *)(uintptr_t)(s + 1)) != CT_OK)
			return CT_NOMEM;
		census->processes[seat->process].drawn |= census->seats[s].drawn;
	}
	return CT_OK;
}

static int take_seats(struct ct_census *census, const struct ct_pass *pass)
{
	census->n_seats = pass->n_seats;
	census->n_processes = (uint32_t)pass->run->n_processes;
	census->seats = calloc(pass->n_seats + 1, sizeof(*census->seats));
	census->processes = calloc(pass->run->n_processes + 1, sizeof(*census->processes));
	if (!census->seats || !census->processes)
		return CT_NOMEM;
	for (uint32_t s = 0; s < pass->n_seats; s++) {
		census->seats[s] = (struct ct_census_seat){
			.rank = pass->seats[s].rank,
			.host = pass->host_of[s],
			.drawn = (uint8_t)in_list(census->options, pass->seats[s].rank),
		};
	}
	for (size_t p = 0; p < pass->run->n_processes; p++) {
		const struct ct_place *place = &pass->attempts->places[p];

		if (place->attempt != pass->attempt)
			continue;
		census->processes[p] = (struct ct_census_process){
			.seat = place->seat,
			.host = place->host,
			.drawn = census->seats[place->seat].drawn,
		};
	}
	return take_more(census, pass);
}

static int take_hosts(struct ct_census *census, const struct ct_pass *pass)
{
	census->hosts = calloc(census->n_hosts + 1, sizeof(*census->hosts));
	if (!census->hosts)
		return CT_NOMEM;
	for (uint32_t h = 0; h < census->n_hosts; h++) {
		const char *name = pass->attempts->hosts[h].name;

		census->hosts[h].name = ct_arena_text(census->texts.memory, name, strlen(name));
		if (!census->hosts[h].name)
			return CT_NOMEM;
	}
	for (uint32_t s = 0; s < census->n_seats; s++)
		census->hosts[census->seats[s].host].drawn |= census->seats[s].drawn;
	return CT_OK;
}

static int take_comm(struct ct_census *census, const struct ct_comm *comm)
{
	struct ct_census_comm *kept = &census->comms[comm->index];
	const char *backend = ct_backend_name(comm->backend);
	char text[160];

	kept->id = ct_kept_comm(comm->key, comm->nranks);
	kept->nranks = comm->nranks;
	kept->backend = comm->backend;
	snprintf(text, sizeof(text), "%.120s:%04" PRIx64,
		 comm->name ? comm->name
		 : backend  ? backend
			    : "comm",
		 comm->key & 0xffff);
	kept->label = ct_texts_add(&census->texts, text);
	snprintf(text, sizeof(text), "%016" PRIx64, comm->key);
	kept->hash = ct_texts_add(&census->texts, text);
	return kept->label && kept->hash ? ct_table_put(&census->comm_by_id, kept->id, kept)
					 : CT_NOMEM;
}

static int on_read(void *arg, const struct ct_pass *pass)
{
	struct ct_census *census = arg;
	int st = take_clocks(census, pass);

	if (st == CT_OK)
		st = take_seats(census, pass);
	census->begin_unix_ns = pass->begin_unix_ns;
	census->duration_ns = pass->duration_ns;
	if (st == CT_OK)
		st = take_hosts(census, pass);
	census->comms = calloc(pass->comms.n + 1, sizeof(*census->comms));
	if (!census->comms)
		return CT_NOMEM;
	census->n_comms = pass->comms.n;
	for (uint32_t c = 0; c < pass->comms.n && st == CT_OK; c++)
		st = take_comm(census, pass->comms.all[c]);
	return st;
}

const struct ct_census_comm *ct_census_find(const struct ct_census *census, uint64_t key,
					    uint32_t nranks)
{
	return ct_table_get(&census->comm_by_id, ct_kept_comm(key, nranks));
}

/* ---- */

/* Is every rank that was asked for there? */
static int check_ranks(const struct ct_census *census, struct ct_chart_result *result,
		       struct ct_err *err)
{
	for (size_t i = 0; i < census->options->n_ranks; i++) {
		uint32_t s = 0;

		while (s < census->n_seats && census->seats[s].rank != census->options->ranks[i])
			s++;
		if (s == census->n_seats) {
			result->missing_rank = census->options->ranks[i];
			return ct_fail(err, CT_NOTFOUND, "rank %d left no trace",
				       result->missing_rank);
		}
	}
	return CT_OK;
}

/* What is drawn is the end of what was asked for, as much of it as the limit allows: hangs are at the end. */
static int choose(struct ct_census *census, const struct ct_report *report,
		  struct ct_chart_result *result, struct ct_err *err)
{
	uint64_t from = 0, recorded = 0;

	for (size_t i = 0; i < report->n_ranks; i++)
		recorded += report->ranks[i].ops;
	if (!recorded)
		return ct_fail(err, CT_NOTFOUND, "no operation was recorded");
	if (!census->budget->total || census->from_ns > census->last_ns)
		return ct_fail(err, CT_NOTFOUND, "no operation lies in the window");
	ct_budget_add(census->budget, CT_CHART_OPEN, report->n_findings);
	if (!ct_budget_fit(census->budget, census->options->max_slices, &from))
		return ct_fail(err, CT_FULL,
			       "the last moment alone holds more than %" PRIu64 " slices",
			       census->options->max_slices);
	result->cut = from > census->from_ns;
	if (result->cut)
		census->from_ns = from;
	return CT_OK;
}

static void on_progress(void *arg, uint64_t ops)
{
	const struct ct_chart_options *options = arg;

	options->progress(options->progress_arg, ops, 0);
}

int ct_census_take(struct ct_census *census, const struct ct_run *run,
		   const struct ct_chart_options *options, struct ct_chart_result *result,
		   struct ct_report **report, struct ct_err *err)
{
	const struct ct_watch watch = {
		.op = on_op, .host = on_host, .judged = on_judged, .read = on_read, .arg = census
	};
	const struct ct_analyze_options analysis = {
		.attempt = options->attempt,
		.boot_id = options->boot_id,
		.progress = options->progress ? on_progress : NULL,
		.progress_arg = (void *)(uintptr_t)options,
		.watch = &watch,
	};
	int st;

	*census = (struct ct_census){ .options = options,
				      .from_ns = options->from_ns,
				      .to_ns = options->to_ns };
	census->kept = ct_kept_new(options->max_slices / SLICES_PER_MEMBER + 1);
	census->budget = ct_budget_new();
	if (!census->kept || !census->budget || ct_texts_init(&census->texts) != CT_OK)
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	st = ct_analyze(run, &analysis, report, err);
	result->duration_ns = census->duration_ns;
	if (st == CT_OK)
		st = check_ranks(census, result, err);
	return st == CT_OK ? choose(census, *report, result, err) : st;
}

void ct_census_fini(struct ct_census *census)
{
	ct_texts_fini(&census->texts);
	ct_kept_free(census->kept);
	free(census->budget);
	free(census->wanted);
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
