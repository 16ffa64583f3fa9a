/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/units.h"
#include "analyzer/render/columns.h"
#include "analyzer/render/facts_text.h"
#include "analyzer/render/render.h"
#include "analyzer/render/text.h"

/* What there is may be a whole trace of a job that died. */
static void write_failed(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_process *first = NULL;
	char how[64];
	size_t n = 0;

	for (size_t i = 0; i < report->n_ended; i++) {
		const struct ct_report_process *p = &report->processes[report->ended[i]];

		if (!ct_report_failed(p))
			continue;
		n++;
		first = first ? first : p;
	}
	if (!first)
		return;
	if (first->aborted)
		snprintf(how, sizeof(how), "called MPI_Abort");
	else if (first->how.how == CT_END_SIGNAL)
		snprintf(how, sizeof(how), "killed by signal %d%s", first->how.signal,
			 first->how.for_memory ? " (out of memory)" : "");
	else
		snprintf(how, sizeof(how), "exited with %d%s", first->how.exit_code,
			 first->left ? " without MPI_Finalize" : "");
	if (report->is_outline && n > 1) {
		ct_text_line(text, CT_COLOR_YELLOW,
			     "failed    %zu processes; which failed first: --whole", n);
		return;
	}
	ct_text_line(text, CT_COLOR_YELLOW, "failed    %zu process%s%s rank %s (pid %u) %s", n,
		     n == 1 ? ":" : "es,",
		     n == 1			  ? ""
		     : report->n_ended_first == 1 ? " first"
						  : " order unknown; possibly first:",
		     ct_text_rank(first->rank).s, first->pid, how);
}

/* ", last heartbeat at 57s" of a job that lived on after its last record. */
static void name_last_heartbeat(char *to, size_t cap, const struct ct_report *report)
{
	uint64_t last = 0;

	for (size_t i = 0; i < report->n_processes; i++)
		if (report->processes[i].last_heartbeat_at_ns != CT_UNKNOWN &&
		    report->processes[i].last_heartbeat_at_ns > last)
			last = report->processes[i].last_heartbeat_at_ns;
	to[0] = '\0';
	if (last > report->run.duration_ns + CT_UNCLEAN_NS)
		snprintf(to, cap, ", last heartbeat at %s", ct_prose_ns(last).s);
}

static void write_run(struct ct_text *text, const struct ct_report *report, const char *read_path)
{
	const struct ct_report_run *run = &report->run;
	const char *state = !run->complete    ? "not complete"
			    : report->n_ended ? "complete trace of a job that did not end well"
					      : "complete";
	char expected[CT_UNIT_TEXT], heartbeat[64], ends[64] = "", restart[48] = "";
	int is_whole = run->complete && !report->n_ended && !report->dropped_ends;
	size_t unseen = 0, imported = 0;

	for (size_t i = 0; i < report->n_ended; i++)
		unseen += !ct_report_failed(&report->processes[report->ended[i]]);
	for (size_t i = 0; i < report->n_processes; i++)
		imported += report->processes[i].imported != 0;
	if (run->complete && unseen && unseen == report->n_ended)
		state = "complete, but how some processes ended is unknown";
	if (run->complete && !report->n_ended && imported)
		state = "complete as imported (no exits recorded)";

	name_last_heartbeat(heartbeat, sizeof(heartbeat), report);
	snprintf(expected, sizeof(expected), "%s", ct_text_count(run->ranks_expected).s);
	if (report->dropped_ends)
		snprintf(ends, sizeof(ends), ", the ends of %s operations not recorded",
			 ct_text_count(report->dropped_ends).s);
	if (run->starts > 1)
		snprintf(restart, sizeof(restart), ", restart %d of %d", run->restart,
			 run->starts - 1);
	ct_text_line(text, is_whole ? CT_COLOR_GREEN : CT_COLOR_YELLOW,
		     "%s%s: %s of %s ranks on %zu host%s, %s recorded%s%s", state, ends,
		     ct_text_count(run->ranks_seen).s, expected, run->n_hosts,
		     run->n_hosts == 1 ? "" : "s", ct_prose_ns(run->duration_ns).s, heartbeat,
		     restart);
	ct_text_line(text, CT_COLOR_NONE, "directory %s",
		     read_path	? read_path
		     : run->dir ? run->dir
				: "n/a");
	if (read_path && run->dir)
		ct_text_line(text, CT_COLOR_NONE, "recorded  in %s", run->dir);
	ct_text_line(text, CT_COLOR_NONE, "job       %s", run->job ? run->job : "n/a");
	if (run->left_out_ops)
		ct_text_wrap(text, CT_COLOR_NONE, 10,
			     "left out  %s operations of the first %s, by 'commtrace partial'",
			     ct_text_count(run->left_out_ops).s, ct_prose_ns(run->left_out_ns).s);
	write_failed(text, report);
	/* the duration of host calls needs no text, and values from operations have none */
	if (!report->is_outline || run->timing != CT_TIMING_OFF)
		ct_timing_line(text, report);
	if (!report->is_outline)
		ct_clocks_line(text, report);
	ct_clocks_rows(text, report);
	for (size_t i = 0; i < run->n_missing && i < 8; i++)
		ct_text_line(text, CT_COLOR_YELLOW, "missing   no trace of rank %d%s",
			     run->ranks_missing[i],
			     i == 7 && run->n_missing > 8 ? " and more" : "");
}

/* What the words for a ring mean that is not here. */
static void explain_rings(struct ct_text *text, const struct ct_report *report)
{
	int foreign = 0, lost = 0;

	for (size_t i = 0; i < report->n_processes; i++) {
		foreign |= strcmp(report->processes[i].ring, "foreign") == 0;
		lost |= strcmp(report->processes[i].ring, "lost") == 0;
	}
	if (foreign)
		ct_text_line(text, CT_COLOR_NONE, "%s",
			     "foreign: a ring of another machine, or of before a boot; what it "
			     "still held is not here");
	if (lost)
		ct_text_line(text, CT_COLOR_NONE, "%s",
			     "lost: the ring is gone, and with it what had not been written");
}

static void write_processes(struct ct_text *text, const struct ct_report *report)
{
	static const char keys[] = "rank host pid nth_restart segments bytes ring end "
				   "last_heartbeat_at_ns program";

	ct_text_head(text, "processes");
	ct_columns_head(text, ct_columns_processes(), keys);
	for (size_t i = 0; i < report->n_processes; i++) {
		const struct ct_report_process *p = &report->processes[i];

		ct_columns_row(text, p->ended_badly ? CT_COLOR_YELLOW : CT_COLOR_NONE,
			       ct_columns_processes(), keys, p);
		if (p->damage_why)
			ct_text_line(text, CT_COLOR_YELLOW, "      damaged: %s", p->damage_why);
	}
	explain_rings(text, report);
}

static void write_comms(struct ct_text *text, const struct ct_report *report)
{
	const char *keys = report->is_outline ? "comm backend nranks name"
					      : "comm backend nranks op_count incomplete first_seq "
						"last_seq bytes name";

	ct_text_head(text, report->is_outline ? "communicators (what they carried, traffic and "
						"clocks: --whole)"
					      : "communicators");
	ct_columns_head(text, ct_columns_comms(), keys);
	for (size_t i = 0; i < report->n_comms; i++) {
		const struct ct_report_comm *c = &report->comms[i];

		ct_columns_row(text, CT_COLOR_NONE, ct_columns_comms(), keys, c);
		if (c->first_difference != CT_UNKNOWN)
			ct_text_line(text, CT_COLOR_RED,
				     "    its members contradict each other from seq %" PRIu64,
				     c->first_difference);
		if (c->differs_to_seq != CT_UNKNOWN)
			ct_text_line(text, CT_COLOR_RED,
				     "    its members contradict each other, somewhere up to seq "
				     "%" PRIu64,
				     c->differs_to_seq);
	}
}

/* From .. to, as a table where that fits. */
#define NESTED 4u /* code: columns that a line of details is indented by */

#define TRAFFIC_COLUMNS 8u

static void write_traffic(struct ct_text *text, const struct ct_report_traffic *t)
{
	char line[CT_TEXT_COLUMNS];

	ct_text_head(
		text,
		t->modelled_bytes
			? "traffic (bytes from each rank to each other one; of collectives, by "
			  "a model)"
			: "traffic (bytes from each rank to each other one, by all operations)");
	if (!t->n_ranks) {
		ct_text_line(text, CT_COLOR_NONE, "n/a: %s", t->why ? t->why : "not recorded");
		return;
	}
	if (t->n_ranks > TRAFFIC_COLUMNS) {
		ct_text_line(
			text, CT_COLOR_NONE, "%s",
			"not shown: more than 8 ranks; see commtrace report --json, or commtrace "
			"heatmap");
		return;
	}
	for (size_t from = 0; from <= t->n_ranks; from++) {
		int at = from ? snprintf(line, sizeof(line), "%5d", t->ranks[from - 1])
			      : snprintf(line, sizeof(line), "%5s", "");

		for (size_t to = 0; to < t->n_ranks; to++) {
			uint64_t bytes = from ? t->matrix[(from - 1) * t->n_ranks + to] : 0;

			if (from)
				at += snprintf(line + at, sizeof(line) - (size_t)at, " %9s",
					       bytes ? ct_prose_bytes(bytes).s : "-");
			else
				at += snprintf(line + at, sizeof(line) - (size_t)at, " %9d",
					       t->ranks[to]);
		}
		ct_text_line(text, CT_COLOR_NONE, "%s", line);
	}
}

static void write_losses(struct ct_text *text, const struct ct_report *report)
{
	ct_text_head(text, "dropped records");
	if (!report->n_dropped)
		ct_text_line(text, CT_COLOR_NONE, "none");
	for (size_t i = 0; i < report->n_dropped; i++) {
		char pairs[256];

		ct_columns_pairs(pairs, sizeof(pairs), ct_columns_dropped(), "rank reason records",
				 &report->dropped[i]);
		ct_text_line(text, CT_COLOR_YELLOW, "%s: %s", pairs, report->dropped[i].text);
	}
}

static void write_costs(struct ct_text *text, const struct ct_report *report)
{
	static const char
		keys[] = "rank calls wrapper_ns wrapper_pct write_cpu_ns heartbeat_cpu_ns "
			 "poll_cpu_ns threads_cpu_pct voluntary_switches "
			 "involuntary_switches bytes_written timing";
	char wrappers[64], threads[64];

	ct_text_share(wrappers, sizeof(wrappers), report->overhead_pct, "about ", "the run",
		      "in calls");
	ct_text_share(threads, sizeof(threads), report->overhead_cpu_pct, "", "a core",
		      "in the tracer's threads");
	ct_text_head(text, "overhead of recording");
	if (report->n_overhead)
		ct_text_line(text, CT_COLOR_NONE, "busiest rank: %s, %s; %s written by all",
			     wrappers, threads, ct_prose_bytes(report->overhead_bytes).s);
	else
		ct_text_line(text, CT_COLOR_NONE, "not recorded");
	if (!isnan(report->overhead_switches_per_s))
		ct_text_line(
			text, CT_COLOR_NONE,
			"context switches of the tracer's threads: at most %.3g per second; cache "
			"misses that they cause: not known",
			report->overhead_switches_per_s);
	if (report->n_overhead)
		ct_text_wrap(text, CT_COLOR_DIM, 0,
			     "~ estimated: calls times what one was measured to cost at the start; "
			     "of run: in %% of it; writing, heartbeat, polling: CPU time of the "
			     "tracer's threads; of core: together, in %% of a core; switches, "
			     "preempted: their context switches");
	for (size_t i = 0; i < report->n_overhead; i++) {
		const struct ct_report_overhead *c = &report->overhead[i];
		char timing[200];

		ct_timing_of_process(timing, sizeof(timing), c);
		if (!i)
			ct_columns_head(text, ct_columns_overhead(), keys);
		ct_columns_row(text, CT_COLOR_NONE, ct_columns_overhead(), keys, c);
		if (timing[0])
			ct_text_wrap(text, CT_COLOR_NONE, NESTED, "    %s", timing);
		ct_decisions_of_process(timing, sizeof(timing), c);
		if (timing[0])
			ct_text_wrap(text, CT_COLOR_NONE, NESTED, "    %s", timing);
	}
}

/* The fastest interval; CT_UNKNOWN: none is known. */
static uint64_t peak(const struct ct_report_transport *t, int ib)
{
	uint64_t most = CT_UNKNOWN;

	for (size_t i = 0; i < t->n_rates; i++) {
		uint64_t Bps = ib ? t->rates[i].ib_Bps : t->rates[i].nic_Bps;

		if (Bps != CT_UNKNOWN && (most == CT_UNKNOWN || Bps > most))
			most = Bps;
	}
	return most;
}

static void write_port(struct ct_text *text, const struct ct_report_port *port)
{
	char counted[CT_TEXT_COLUMNS * 4] = "", pairs[512];
	size_t at = 0;

	for (size_t i = 0; i < port->n_counters && at < sizeof(counted) - 80; i++) {
		const struct ct_report_counter *c = &port->counters[i];

		at += (size_t)snprintf(counted + at, sizeof(counted) - at, "%s%.40s %s%s",
				       at ? ", " : "", c->name,
				       c->at_least && c->grew != CT_UNKNOWN ? ">= " : "",
				       ct_text_count(c->grew).s);
	}
	ct_columns_pairs(pairs, sizeof(pairs), ct_columns_port(),
			 "name kind layer state rate_Bps rx_bytes tx_bytes", port);
	ct_text_wrap(text, CT_COLOR_NONE, 2 * NESTED, "    %s", pairs);
	if (at)
		ct_text_wrap(text, CT_COLOR_NONE, 2 * NESTED, "        %s", counted);
}

static void write_transport(struct ct_text *text, const struct ct_report *report)
{
	ct_text_empty(text);
	ct_text_line(text, CT_COLOR_BOLD, "%s",
		     "network ports (of the hosts, all programs; bytes in and out)");
	if (!report->n_transport)
		ct_text_line(text, CT_COLOR_NONE, "%s", "not recorded");
	for (size_t i = 0; i < report->n_transport; i++) {
		const struct ct_report_transport *t = &report->transport[i];
		char pairs[512];

		ct_columns_pairs(pairs, sizeof(pairs), ct_columns_transport(),
				 "host rank nic_bytes ib_bytes ib_errors sampled_ns", t);
		ct_text_wrap(text, CT_COLOR_NONE, NESTED, "%s; at most nic %s, ib %s", pairs,
			     ct_prose_Bps(peak(t, 0)).s, ct_prose_Bps(peak(t, 1)).s);
		for (size_t p = 0; p < t->n_ports; p++)
			write_port(text, &t->ports[p]);
	}
}

static void write_invisible(struct ct_text *text, const struct ct_report *report)
{
	ct_text_head(text, "warnings");
	if (!report->n_invisible)
		ct_text_line(text, CT_COLOR_NONE, "none");
	for (size_t i = 0; i < report->n_invisible; i++) {
		const struct ct_report_invisible *row = &report->invisible[i];

		ct_text_line(text, CT_COLOR_YELLOW, "%s: %s", row->what, row->why);
		if (row->remedy)
			ct_text_line(text, CT_COLOR_NONE, "    do: %s", row->remedy);
	}
}

void ct_info_text(const struct ct_report *report, const struct ct_text_style *style, FILE *out)
{
	struct ct_text text = ct_text_to(out, style);

	write_run(&text, report, style ? style->read_path : NULL);
	write_processes(&text, report);
	write_comms(&text, report);
	if (!report->is_outline)
		write_traffic(&text, &report->traffic);
	write_losses(&text, report);
	write_costs(&text, report);
	ct_environment_text(&text, report);
	write_transport(&text, report);
	write_invisible(&text, report);
}
