/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/fill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/findings/order_findings.h"
#include "analyzer/model/host_order.h"
#include "analyzer/model/model.h"
#include "analyzer/model/report_rows.h"
#include "analyzer/order/order_book.h"
#include "trace/ops.h"
#include "trace/text.h"

#define MOST_MISSING 65536 /* size: ranks that are named */

/* ---- ranks ---- */

/* Is the slot one of this process's ranks? */
static int is_of(const struct ct_model *model, uint32_t s, size_t process)
{
	const struct ct_rank_state *slot = &model->slots[s];

	return ct_fill_has(model, process) &&
	       (slot->local ? slot->process == process
			    : model->starts->processes[process].slot == s);
}

/* Is it known how long it communicated, but for seconds in which nothing was timed? */
static int is_measured(const struct ct_rank_state *slot)
{
	return !slot->unmeasured && slot->left_out.all == slot->left_out.n &&
	       ct_left_out_is_small(&slot->left_out, slot->launches);
}

static int fill_rank(const struct ct_model *model, uint32_t s, struct ct_report *report)
{
	const struct ct_rank_state *slot = &model->slots[s];
	struct ct_report_rank *rank = &report->ranks[s];
	const char *host = model->starts->hosts[slot->host].name;
	int reported_by = slot->rank; /* a process's losses are listed at each of its ranks */

	rank->rank = slot->rank;
	rank->host = ct_arena_text(report->memory, host, sizeof(((struct ct_process *)0)->host));
	rank->ops = slot->ops;
	rank->bytes = slot->bytes;
	rank->wait_ns = slot->judged ? slot->waited.total : CT_UNKNOWN;
	rank->lateness_ns = slot->judged ? slot->lateness_ns : CT_UNKNOWN;
	rank->last_count = slot->judged ? slot->last_count : CT_UNKNOWN;
	rank->err_ns = slot->judged ? slot->err_ns : CT_UNKNOWN;
	rank->comm_ns = slot->ops && is_measured(slot) ? slot->busy.total : CT_UNKNOWN;
	rank->left_out_ns = slot->left_out.ns;
	rank->timing = slot->timing;
	rank->device = slot->device;
	rank->complete = 1;
	for (size_t p = 0; p < model->run->n_processes; p++) {
		if (!is_of(model, s, p))
			continue;
		reported_by = report->processes[p].rank;
		rank->pid = model->run->processes[p].id.pid;
		rank->complete &= strcmp(report->processes[p].ring, "lost") != 0;
	}
	for (size_t l = 0; l < report->n_dropped; l++) {
		const struct ct_report_dropped *loss = &report->dropped[l];

		if (loss->rank != reported_by || !loss->is_loss_of_records)
			continue;
		rank->complete = 0;
		rank->dropped_records += loss->records == CT_UNKNOWN ? 1 : loss->records;
	}
	return rank->host ? CT_OK : CT_NOMEM;
}

static int fill_ranks(const struct ct_model *model, struct ct_report *report)
{
	int st = CT_OK;

	report->n_ranks = model->n_slots;
	report->ranks = ct_arena_calloc(report->memory, model->n_slots, sizeof(*report->ranks));
	if (!report->ranks)
		return CT_NOMEM;
	for (uint32_t s = 0; s < model->n_slots && st == CT_OK; s++)
		st = fill_rank(model, s, report);
	return st;
}

/* ---- run ---- */

static uint64_t expected_ranks(const struct ct_model *model)
{
	int64_t expected = -1;

	for (size_t p = 0; p < model->run->n_processes; p++) {
		if (ct_fill_has(model, p) && model->run->processes[p].id.world_size > expected)
			expected = model->run->processes[p].id.world_size;
	}
	/* If processes drive several ranks, the world size in their environment may be the number
	 * of processes. */
	if (expected >= (int64_t)model->n_slots)
		return (uint64_t)expected;
	for (uint32_t c = 0; c < model->comms.n; c++) {
		if ((int64_t)model->comms.all[c]->nranks > expected)
			expected = model->comms.all[c]->nranks;
	}
	return expected > 0 ? (uint64_t)expected : CT_UNKNOWN;
}

static int is_seen(const struct ct_report *report, int rank)
{
	for (size_t i = 0; i < report->n_ranks; i++) {
		if (report->ranks[i].rank == rank)
			return 1;
	}
	return 0;
}

static int fill_missing(struct ct_report *report)
{
	struct ct_report_run *run = &report->run;
	uint64_t missing = run->ranks_expected != CT_UNKNOWN &&
					   run->ranks_expected > run->ranks_seen
				   ? run->ranks_expected - run->ranks_seen
				   : 0;
	uint64_t room = missing < MOST_MISSING ? missing : MOST_MISSING;

	run->ranks_missing = ct_arena_calloc(report->memory, room, sizeof(*run->ranks_missing));
	if (!run->ranks_missing)
		return CT_NOMEM;
	for (int rank = 0; run->n_missing < room && (uint64_t)rank < run->ranks_expected; rank++) {
		if (!is_seen(report, rank))
			run->ranks_missing[run->n_missing++] = rank;
	}
	return CT_OK;
}

/* Hosts, in the order of their ranks, and backends, each once. */
static int fill_sets(const struct ct_model *model, struct ct_report *report)
{
	struct ct_report_run *run = &report->run;
	struct ct_ordered_host *ordered;
	unsigned seen = 0;
	uint32_t n;

	run->hosts = ct_arena_calloc(report->memory, model->starts->n_hosts, sizeof(*run->hosts));
	run->backends = ct_arena_calloc(report->memory, 8, sizeof(*run->backends));
	if (!run->hosts || !run->backends)
		return CT_NOMEM;
	if (ct_host_order(model, &ordered, &n) != CT_OK)
		return CT_NOMEM;
	for (uint32_t h = 0; h < n; h++)
		run->hosts[run->n_hosts++] = report->ranks[ordered[h].slot].host;
	free(ordered);
	for (uint32_t c = 0; c < model->comms.n; c++) {
		unsigned backend = model->comms.all[c]->backend;

		if (backend >= 8 || seen & 1u << backend || !ct_backend_name(backend))
			continue;
		seen |= 1u << backend;
		run->backends[run->n_backends++] = ct_backend_name(backend);
	}
	return CT_OK;
}

static void fill_extent(const struct ct_model *model, struct ct_report_run *run)
{
	run->first_at_ns = run->last_at_ns = CT_UNKNOWN;
	for (uint32_t p = 0; p < model->run->n_processes; p++) {
		const struct ct_model_process *kept = &model->processes[p];
		uint64_t first, last;

		if (!kept->read || !kept->last_ns)
			continue;
		first = ct_model_at(model, p, kept->first_ns);
		last = ct_model_at(model, p, kept->last_ns);
		if (run->first_at_ns == CT_UNKNOWN || first < run->first_at_ns)
			run->first_at_ns = first;
		if (run->last_at_ns == CT_UNKNOWN || last > run->last_at_ns)
			run->last_at_ns = last;
	}
}

static const char *quoted(const char *path, struct ct_arena *memory)
{
	char words[1024];

	return ct_text_quote(words, sizeof(words), path) ? ct_arena_printf(memory, "%s", words)
							 : NULL;
}

static int fill_run(const struct ct_model *model, struct ct_report *report)
{
	struct ct_report_run *run = &report->run;
	const struct ct_process *id = NULL;

	for (size_t p = 0; p < model->run->n_processes && !id; p++)
		id = ct_fill_has(model, p) ? &model->run->processes[p].id : NULL;
	if (id) {
		run->dir = ct_arena_text(report->memory, id->run_dir, sizeof(id->run_dir));
		run->job = ct_arena_text(report->memory, id->job, sizeof(id->job));
		if (!run->dir || !run->job)
			return CT_NOMEM;
		run->dir = *run->dir ? run->dir : NULL;
		run->job = *run->job ? run->job : NULL;
	}
	if (!run->words && run->dir)
		run->words = quoted(run->dir, report->memory);
	run->restart = model->restart;
	run->starts = model->starts->n_starts;
	run->begin_unix_ns = id ? model->begin_unix_ns : CT_UNKNOWN;
	run->duration_ns = model->duration_ns;
	fill_extent(model, run);
	run->ranks_seen = model->n_slots;
	run->ranks_expected = expected_ranks(model);
	/* programs that each are a world of their own */
	if (run->ranks_expected < run->ranks_seen)
		run->ranks_expected = run->ranks_seen;
	run->matched = model->matched;
	run->messages = model->messages;
	run->incomplete = model->incomplete;
	if (fill_missing(report) || fill_sets(model, report))
		return CT_NOMEM;
	run->complete = run->n_missing == 0 && model->n_slots > 0;
	for (size_t i = 0; i < report->n_ranks; i++) {
		run->complete &= report->ranks[i].complete;
		run->timing = report->ranks[i].timing > run->timing ? report->ranks[i].timing
								    : run->timing;
		run->ranks_untimed += report->ranks[i].ops > 0 &&
				      report->ranks[i].timing == CT_TIMING_OFF;
	}
	return CT_OK;
}

/* The rank's time but for seconds in which nothing was timed. */
static double comm_pct(const struct ct_report_rank *rank, const struct ct_in_steps *in_steps,
		       const struct ct_report *report)
{
	struct ct_step_time time = report->step_time;

	if (rank->comm_ns == CT_UNKNOWN)
		return NAN;
	time.to_ns -= ct_min(in_steps->left_out_ns, time.to_ns - time.from_ns);
	return ct_step_time_pct(&time, in_steps->comm * (double)rank->comm_ns);
}

void ct_fill_shares(const struct ct_model *model, const struct ct_in_steps *in_steps,
		    struct ct_report *report)
{
	double busiest = report->n_ranks ? 0 : NAN;

	for (uint32_t s = 0; s < model->n_slots; s++) {
		const struct ct_rank_state *slot = &model->slots[s];
		struct ct_report_rank *rank = &report->ranks[s];

		rank->comm_pct = comm_pct(rank, &in_steps[s], report);
		rank->wait_pct = slot->judged ? ct_step_time_pct(&report->step_time,
								 in_steps[s].wait *
									 (double)slot->waited.total)
					      : NAN;
		busiest = isnan(busiest) || isnan(rank->comm_pct) ? NAN
								  : fmax(busiest, rank->comm_pct);
	}
	report->run.comm_share_pct = busiest;
}

/* ---- communicators and classes ---- */

CT_SORT_BY(by_comm_size, struct ct_report_comm,
	   CT_DOWN(bytes) ?: CT_DOWN(instances) ?: CT_DOWN(nranks) ?: CT_UP(hash))

static void fill_order(const struct ct_order_book *book, const struct ct_comm *from,
		       struct ct_report_comm *comm)
{
	struct ct_order_summary order;

	ct_order_summarize(book, from, &order);
	comm->equal_to_seq = order.equal_to_seq;
	comm->first_difference = order.first_difference;
	comm->differs_to_seq = order.differs_to_seq;
	comm->order_hash = order.hash ? order.hash : CT_UNKNOWN;
}

static int fill_comms(const struct ct_model *model, const struct ct_order_book *book,
		      struct ct_report *report)
{
	report->n_comms = model->comms.n;
	report->comms = ct_arena_calloc(report->memory, report->n_comms, sizeof(*report->comms));
	if (!report->comms)
		return CT_NOMEM;
	for (uint32_t c = 0; c < model->comms.n; c++) {
		const struct ct_comm *from = model->comms.all[c];
		struct ct_report_comm *comm = &report->comms[c];
		/* A size without confirmation may be a damaged file's: no list of its ranks. */
		int believable = from->nranks <= 64 * (uint64_t)from->n_known + 1024;

		comm->hash = from->hash;
		comm->parent = from->parent;
		comm->backend = from->backend;
		comm->nranks = from->nranks;
		comm->instances = from->instances;
		comm->incomplete = from->incomplete;
		comm->first_seq = from->first_seq;
		comm->last_seq = from->last_seq;
		comm->bytes = from->bytes;
		fill_order(book, from, comm);
		if (from->name) {
			comm->name = ct_arena_printf(report->memory, "%s", from->name);
			if (!comm->name)
				return CT_NOMEM;
		}
		comm->ranks = ct_arena_calloc(report->memory, believable ? from->nranks : 0,
					      sizeof(*comm->ranks));
		if (!comm->ranks)
			return CT_NOMEM;
		comm->n_ranks = believable ? from->nranks : 0;
		for (uint32_t r = 0; r < comm->n_ranks; r++)
			comm->ranks[r] = from->slots[r] ? model->slots[from->slots[r] - 1].rank
							: -1;
	}
	qsort(report->comms, report->n_comms, sizeof(*report->comms), by_comm_size);
	return CT_OK;
}

static void fill_last(const struct ct_model *model, const struct ct_class *from,
		      struct ct_report_op *op)
{
	op->last_rank = -1;
	op->last_pct = NAN;
	op->late_or_slow = from->slow_transfers;
	for (uint32_t r = 0; from->last_count && r < from->comm->nranks; r++) {
		uint32_t slot = from->comm->slots[r];

		if (from->last_count[r] <= op->last_count || !slot)
			continue;
		op->last_rank = model->slots[slot - 1].rank;
		op->last_count = from->last_count[r];
		op->last_cost_ns = from->last_cost_ns[r];
	}
	if (from->judged)
		op->last_pct = 100 * (double)op->last_count / (double)from->judged;
}

static int fill_op(const struct ct_model *model, const struct ct_class *from,
		   struct ct_arena *memory, struct ct_report_op *op)
{
	double factor = from->grouped == CT_GROUPED_MESSAGES && from->op != CT_OP_AllToAll
				? 1
				: ct_op_bus_factor(from->op, from->comm->nranks);
	uint64_t algbw = ct_hist_quantile(&from->algbw, 0.5);

	op->comm_hash = from->comm->hash;
	op->backend = from->comm->backend;
	op->op = from->op;
	op->dtype = from->dtype;
	op->size_range = from->size_range;
	op->instances = from->instances;
	op->bytes = from->bytes;
	op->bytes_each = from->bytes == CT_UNKNOWN ? CT_UNKNOWN
			 : from->instances	   ? from->bytes / from->instances
						   : 0;
	op->span_p50_ns = ct_hist_quantile(&from->span, 0.5);
	op->span_p99_ns = ct_hist_quantile(&from->span, 0.99);
	op->span_each_ns = from->span.sum / (from->comm->nranks ? from->comm->nranks : 1);
	op->transfer_p50_ns = ct_hist_quantile(&from->transfer, 0.5);
	op->transfer_p99_ns = ct_hist_quantile(&from->transfer, 0.99);
	op->transfer_ns = from->transfer.n ? from->transfer.sum : CT_UNKNOWN;
	/* a graph computes too */
	if (from->op == CT_OP_GraphLaunch)
		op->transfer_p50_ns = op->transfer_p99_ns = op->transfer_ns = CT_UNKNOWN;
	op->wait_ns = from->judged ? from->wait_ns : CT_UNKNOWN;
	op->wait_each_ns = from->judged && from->comm->nranks ? from->wait_ns / from->comm->nranks
							      : CT_UNKNOWN;
	op->algbw_p50_Bps = algbw;
	op->busbw_p50_Bps = algbw != CT_UNKNOWN && factor > 0 ? (uint64_t)((double)algbw * factor)
							      : CT_UNKNOWN;
	op->time_err_ns = from->span.n ? from->time_err_ns : CT_UNKNOWN;
	fill_last(model, from, op);
	op->group = ct_grouped_name(from->grouped);
	if (from->op || !from->grouped) {
		op->op_name = ct_arena_printf(memory, "%s",
					      ct_op_names_get(&model->names, from->op));
		if (!op->op_name)
			return CT_NOMEM;
	}
	if (from->comm->name)
		op->comm_name = ct_arena_printf(memory, "%s", from->comm->name);
	return op->comm_name || !from->comm->name ? CT_OK : CT_NOMEM;
}

CT_SORT_BY(by_time, struct ct_report_op,
	   CT_DOWN(span_each_ns) ?: CT_DOWN(instances) ?: CT_UP(comm_hash) ?: CT_UP(op) ?:
	   CT_UP(size_range))

static int fill_ops(const struct ct_model *model, struct ct_report *report)
{
	int st = CT_OK;

	report->n_ops = model->classes.n;
	report->ops = ct_arena_calloc(report->memory, report->n_ops, sizeof(*report->ops));
	if (!report->ops)
		return CT_NOMEM;
	for (uint32_t c = 0; c < model->classes.n && st == CT_OK; c++)
		st = fill_op(model, model->classes.all[c], report->memory, &report->ops[c]);
	qsort(report->ops, report->n_ops, sizeof(*report->ops), by_time);
	return st;
}

int ct_fill_job(const struct ct_model *model, const struct ct_order_book *book,
		struct ct_report *report)
{
	int st = fill_ranks(model, report);

	st = st ?: fill_run(model, report);
	st = st ?: fill_comms(model, book, report);
	st = st ?: fill_ops(model, report);
	return st == CT_OK ? ct_report_rows_index(report) : st;
}
