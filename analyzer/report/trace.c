/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/units.h"
#include "analyzer/overhead/overhead.h"
#include "analyzer/report/analyze.h"
#include "analyzer/report/fill.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/environment/environment.h"
#include "analyzer/environment/nccl_settings.h"
#include "analyzer/environment/setting_conflicts.h"
#include "analyzer/environment/topology.h"
#include "analyzer/model/model.h"
#include "analyzer/model/process_exit.h"
#include "trace/ops.h"
#include "trace/path.h"

static int rank_of(const struct ct_model *model, size_t process)
{
	if (!ct_fill_has(model, process))
		return model->run->processes[process].id.rank;
	return model->slots[model->starts->processes[process].slot].rank;
}

static uint64_t at_or_unknown(const struct ct_model *model, size_t process, uint64_t mono_ns)
{
	if (!mono_ns || mono_ns == UINT64_MAX || !ct_fill_has(model, process))
		return CT_UNKNOWN;
	return ct_model_at(model, (uint32_t)process, mono_ns);
}

/* ---- processes ---- */

static const char *end_name(enum ct_end_how how)
{
	switch (how) {
	case CT_END_CLEAN:
		return "clean";
	case CT_END_EXIT:
		return "exit";
	case CT_END_SIGNAL:
		return "signal";
	case CT_END_EXEC:
		return "exec";
	case CT_END_RUNNING:
		return "running";
	case CT_END_UNKNOWN:
		break;
	}
	return "unknown";
}

static const char *ring_name(const struct ct_model *model, const struct ct_process_info *info,
			     const struct ct_end *end)
{
	const char *here = model->boot_id;

	if (ct_process_is_imported(&info->id))
		return "none";
	if (info->ring != CT_RING_NOT_FOUND)
		return "present";
	if (end->how == CT_END_CLEAN)
		return "drained";
	if (here && info->id.boot_id[0] &&
	    strncmp(here, info->id.boot_id, sizeof(info->id.boot_id)) != 0)
		return "foreign";
	return "lost";
}

/* Every rank that the process drives. */
static int fill_process_ranks(const struct ct_model *model, size_t p, struct ct_arena *memory,
			      struct ct_report_process *out)
{
	out->rank = rank_of(model, p);
	out->ranks = ct_arena_calloc(memory, CT_LOAD_RANKS, sizeof(*out->ranks));
	if (!out->ranks)
		return CT_NOMEM;
	if (out->rank >= 0)
		out->ranks[out->n_ranks++] = out->rank;
	for (uint32_t s = 0; s < model->n_slots && out->n_ranks < CT_LOAD_RANKS; s++) {
		const struct ct_rank_state *slot = &model->slots[s];

		if (slot->local && slot->process == p && slot->rank >= 0)
			out->ranks[out->n_ranks++] = slot->rank;
	}
	qsort(out->ranks, out->n_ranks, sizeof(*out->ranks), ct_by_int);
	return CT_OK;
}

static int fill_process(const struct ct_model *model, size_t p, struct ct_arena *memory,
			struct ct_report_process *out)
{
	const struct ct_process_info *info = &model->run->processes[p];
	const struct ct_model_process *kept = &model->processes[p];
	struct ct_exit_facts facts;
	struct ct_exit exit;
	const char *program;
	uint64_t beat = info->last_beat_ns > kept->facts.beat_ns ? info->last_beat_ns
								 : kept->facts.beat_ns;

	out->host = ct_arena_text(memory, info->id.host, sizeof(info->id.host));
	out->exe = ct_arena_text(memory, info->id.exe, sizeof(info->id.exe));
	out->version = ct_arena_text(memory, info->id.version, sizeof(info->id.version));
	if (!out->host || !out->exe || !out->version ||
	    fill_process_ranks(model, p, memory, out) != CT_OK)
		return CT_NOMEM;
	program = ct_facts_value(&kept->environment, "program") ?: out->exe;
	out->program = ct_arena_printf(memory, "%s", ct_path_name(program));
	if (!out->program)
		return CT_NOMEM;
	out->hostkey = info->id.hostkey;
	out->pid = info->id.pid;
	out->restart = model->starts->processes[p].restart;
	out->launcher_restart = info->id.restart;
	out->start_unix_ns = info->id.start_unix_ns;
	out->segments = info->n_segments;
	out->bytes = info->segment_bytes;
	facts = ct_model_exit_facts(model, (uint32_t)p);
	exit = ct_exit_of(&facts);
	out->how = facts.end;
	out->manner = exit.manner;
	out->aborted = exit.aborted;
	out->left = exit.left;
	out->end = end_name(out->how.how);
	out->ring = ring_name(model, info, &out->how);
	out->last_heartbeat_ns = beat ? beat : CT_UNKNOWN;
	out->last_heartbeat_at_ns = at_or_unknown(model, p, beat);
	out->ended_after_at_ns = at_or_unknown(model, p, out->how.after_ns);
	out->ended_before_at_ns = at_or_unknown(model, p, out->how.before_ns);
	out->imported = ct_process_is_imported(&info->id);
	out->ended_badly = ct_exit_is_bad(&exit);
	if (!kept->read)
		return CT_OK;
	out->missing_blocks = kept->gaps.missing_blocks;
	out->skipped_bytes = kept->gaps.damage.skipped_bytes;
	out->torn_bytes = kept->gaps.damage.torn_bytes;
	if (kept->gaps.damage.first_why[0]) {
		out->damage_why = ct_arena_text(memory, kept->gaps.damage.first_why,
						sizeof(kept->gaps.damage.first_why));
		if (!out->damage_why)
			return CT_NOMEM;
	}
	return CT_OK;
}

/* ---- losses ---- */

static struct ct_report_dropped *new_loss(struct ct_report *report, int rank, const char *reason,
					  const char *text, uint64_t records, int of_records)
{
	struct ct_report_dropped *loss = &report->dropped[report->n_dropped++];

	*loss = (struct ct_report_dropped){
		.rank = rank,
		.reason = reason,
		.text = text,
		.records = records,
		.begin_at_ns = CT_UNKNOWN,
		.end_at_ns = CT_UNKNOWN,
		.is_loss_of_records = of_records,
	};
	if (of_records && records != CT_UNKNOWN)
		report->dropped_records += records;
	return loss;
}

static void fill_process_losses(const struct ct_model *model, size_t p, struct ct_report *report)
{
	const struct ct_model_process *kept = &model->processes[p];
	const struct ct_report_process *process = &report->processes[p];
	int rank = rank_of(model, p);

	for (unsigned reason = 1; reason < CT_LOSS_MAX; reason++) {
		const struct ct_process_loss *counted = &kept->facts.losses[reason];
		uint64_t records = kept->gaps.losses[reason] > counted->records
					   ? kept->gaps.losses[reason]
					   : counted->records;
		const char *name = ct_loss_name(reason);
		struct ct_report_dropped *loss;

		if (!records)
			continue;
		loss = new_loss(report, rank, name ? name : "?",
				name ? ct_loss_text(reason)
				     : "a reason that this version does not know",
				records, ct_loss_is_of_records(reason));
		loss->remedy = ct_loss_remedy(reason);
		if (ct_loss_is_of_ends(reason))
			report->dropped_ends += records;
		if (ct_loss_is_of_calls(reason))
			report->dropped_calls += records;
		loss->begin_at_ns = at_or_unknown(model, p, counted->begin_ns);
		loss->end_at_ns = at_or_unknown(model, p, counted->end_ns);
	}
	if (process->missing_blocks)
		new_loss(report, rank, "MISSING_BLOCKS", "blocks are missing from the segments",
			 CT_UNKNOWN, 1);
	if (process->skipped_bytes)
		new_loss(report, rank, "DAMAGED", "bytes of the segments could not be read",
			 CT_UNKNOWN, 1);
	/* A torn tail is what a kill leaves; the ring has its records, if it is there. */
	if (strcmp(process->ring, "lost") == 0)
		new_loss(report, rank, "RING_LOST",
			 "no ring and no orderly end: the last records may be missing", CT_UNKNOWN,
			 1);
	else if (process->torn_bytes && model->run->processes[p].ring == CT_RING_NOT_FOUND)
		new_loss(report, rank, "TORN",
			 "the last block was cut off, and there is no ring that has its records",
			 CT_UNKNOWN, 1);
}

static int fill_losses(const struct ct_model *model, struct ct_report *report)
{
	size_t n = model->run->n_processes;

	report->dropped = ct_arena_calloc(report->memory, n * (CT_LOSS_MAX + 4),
					  sizeof(*report->dropped));
	if (!report->dropped)
		return CT_NOMEM;
	for (size_t p = 0; p < n; p++) {
		if (model->processes[p].read)
			fill_process_losses(model, p, report);
	}
	return CT_OK;
}

/* ---- what could not be seen ---- */

static int add_invisible(struct ct_report *report, const char *what, const char *why,
			 const char *remedy)
{
	if (!what || !why)
		return CT_NOMEM;
	report->invisible[report->n_invisible++] = (struct ct_report_invisible){ what, why,
										 remedy };
	return CT_OK;
}

static int fill_invisible(const struct ct_model *model, struct ct_report *report)
{
	const struct ct_run *run = model->run;
	size_t most = run->n_warnings + run->n_processes * (CT_PROCESS_NOTES + 1) + model->n_slots +
		      ct_environment_unseen(model);
	int st = CT_OK;

	report->invisible = ct_arena_calloc(report->memory, most, sizeof(*report->invisible));
	if (!report->invisible)
		return CT_NOMEM;
	for (size_t w = 0; w < run->n_warnings && st == CT_OK; w++)
		st = add_invisible(report, "a file of the run",
				   ct_arena_text(report->memory, run->warnings[w],
						 strlen(run->warnings[w])),
				   NULL);
	for (uint32_t s = 0; s < model->n_slots && st == CT_OK; s++) {
		if (model->slots[s].muddled)
			st = add_invisible(
				report,
				ct_arena_printf(report->memory, "rank %s",
						ct_text_rank(model->slots[s].rank).s),
				"its process has several ranks, which the records do not "
				"distinguish: none of them is judged",
				NULL);
	}
	for (size_t p = 0; p < run->n_processes && st == CT_OK; p++) {
		const struct ct_process_facts *facts = &model->processes[p].facts;
		const char *who = ct_arena_printf(report->memory, "rank %s",
						  ct_text_rank(rank_of(model, p)).s);

		for (uint32_t n = 0; model->processes[p].read && n < facts->n_notes && st == CT_OK;
		     n++)
			st = add_invisible(report, who,
					   ct_arena_printf(report->memory, "%s",
							   model->processes[p].notes[n]),
					   NULL);
		if (st == CT_OK && facts->plugin_alone)
			st = add_invisible(
				report, who,
				ct_arena_printf(report->memory,
						"NCCL's calls pass no wrapper: what its profiler "
						"plugin (interface v%u) reported is recorded",
						facts->plugin_version),
				NULL);
		if (st == CT_OK && facts->plugin_is_copy)
			st = add_invisible(
				report, who,
				"NCCL_PROFILER_PLUGIN names another copy of the library than "
				"LD_PRELOAD: it forwards every call",
				NULL);
		if (st == CT_OK && facts->orphans)
			st = add_invisible(report, who,
					   ct_arena_printf(report->memory,
							   "%llu operations on communicators whose "
							   "making was not recorded",
							   (unsigned long long)facts->orphans),
					   NULL);
	}
	return st == CT_OK ? ct_environment_fill_unseen(model, report) : st;
}

int ct_fill_trace(const struct ct_model *model, struct ct_report *report)
{
	size_t n = model->run->n_processes;
	int st = CT_OK;

	report->n_processes = n;
	report->processes = ct_arena_calloc(report->memory, n, sizeof(*report->processes));
	if (!report->processes)
		return CT_NOMEM;
	for (size_t p = 0; p < n; p++)
		if (model->processes[p].read)
			report->run.left_out_ops += model->processes[p].facts.left_out_ops;
	for (size_t p = 0; p < n && st == CT_OK; p++)
		st = fill_process(model, p, report->memory, &report->processes[p]);
	st = st ?: ct_fill_ended(model, report);
	st = st ?: fill_losses(model, report);
	st = st ?: ct_overhead_fill(model, report);
	st = st ?: ct_fill_in_flight(model, report);
	st = st ?: ct_environment_fill(model, report);
	st = st ?: ct_nccl_settings_fill(model, report);
	st = st ?: ct_setting_conflicts_fill(model, report);
	st = st ?: ct_topology_fill(model, report);
	return st == CT_OK ? fill_invisible(model, report) : st;
}
