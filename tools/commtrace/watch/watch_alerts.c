/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/watch/watch_alerts.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "analyzer/base/stats.h"
#include "analyzer/report/analyze.h"
#include "tools/commtrace/base/open_run.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/this_host.h"
#include "tools/commtrace/watch/watch_event.h"
#include "trace/clock.h"

/* size: a window's report may take this part of a core's time at most. See LOOK_SHARE in
 * watch.c. */
#define REPORT_SHARE 20

void ct_watch_alerts_options(const struct ct_cli *args, struct ct_watch_alerts *alerts)
{
	alerts->limits = (struct ct_alert_limits){
		.latency_times = (double)ct_cli_number(args, CT_OPTION_LATENCY, 0),
		.bandwidth_pct = (double)ct_cli_number(args, CT_OPTION_BANDWIDTH, 0),
		.errors_points = (double)ct_cli_number(args, CT_OPTION_ERRORS, 0),
		.straggler_pct = (double)ct_cli_number(args, CT_OPTION_STRAGGLER, 0),
		.again_ns = (uint64_t)ct_cli_number(args, CT_OPTION_AGAIN_AFTER, 0) * CT_SECOND_NS,
	};
	alerts->every_ns = (uint64_t)ct_cli_number(args, CT_OPTION_ALERT_WINDOW, 0) * CT_SECOND_NS;
	alerts->command = ct_cli_text(args, CT_OPTION_ON_ALERT);
	alerts->limit_s = (uint64_t)ct_cli_number(args, CT_OPTION_COMMAND_LIMIT, 0);
}

static const char *event_name(const struct ct_alert *event)
{
	return event->is_over ? "resolved" : ct_alert_rule_name(event->rule);
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static char *json_of(const struct ct_alert *event, const char *dir)
{
	json_t *ranks = json_array(), *hosts = json_array(), *value;
	char comm[32] = "", *text;

	for (size_t i = 0; i < event->n_ranks; i++)
		json_array_append_new(ranks, json_integer(event->ranks[i]));
	for (size_t i = 0; i < event->n_hosts; i++)
		json_array_append_new(hosts, json_string(event->hosts[i]));
	if (event->comm_hash)
		snprintf(comm, sizeof(comm), "%016" PRIx64, event->comm_hash);
	value = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:o, s:o, s:s?, s:o, s:o, s:s?}",
			  "schema", "commtrace.event/1", "event", event_name(event), "rule",
			  ct_alert_rule_name(event->rule), "text", event->text, "run", dir,
			  "at_unix_ns", (json_int_t)ct_clock_ns(CLOCK_REALTIME), "hosts", hosts,
			  "ranks", ranks, "comm", comm[0] ? comm : NULL, "value",
			  number(event->value), "limit", number(event->limit), "unit", event->unit);
	text = value ? json_dumps(value, JSON_INDENT(1)) : NULL;
	json_decref(value);
	return text;
}

static struct ct_timed_command *free_command(struct ct_watch_alerts *a)
{
	for (size_t i = 0; i < CT_WATCH_COMMANDS; i++) {
		a->running[i].option = "--on-alert";
		if (ct_timed_command_ended(&a->running[i], a->limit_s))
			return &a->running[i];
	}
	return NULL;
}

static void run_command(struct ct_watch_alerts *a, const struct ct_alert *event, const char *dir)
{
	const struct ct_timed_variable variables[] = {
		{ "COMMTRACE_RUN", dir },
		{ "COMMTRACE_EVENT", event_name(event) },
		{ "COMMTRACE_RULE", ct_alert_rule_name(event->rule) },
		{ "COMMTRACE_TEXT", event->text },
	};
	struct ct_timed_command *command = free_command(a);
	char *json = command ? json_of(event, dir) : NULL;

	if (json)
		ct_timed_command_start(command, a->command, json, variables,
				       sizeof(variables) / sizeof(variables[0]));
	else if (!command)
		ct_warn("no command for '%s': those of %d events still run", event->text,
			CT_WATCH_COMMANDS);
	free(json);
}

/* The number of rules that fired. */
static int raise_alerts(struct ct_watch_alerts *a, const struct ct_alert *events, size_t n,
			const char *dir)
{
	int fired = 0;

	for (size_t i = 0; i < n; i++) {
		fired += !events[i].is_over;
		if (ct_watch_put_line(event_name(&events[i]), events[i].text, a->log) != 0)
			a->is_closed = 1;
		if (a->command)
			run_command(a, &events[i], dir);
	}
	return fired;
}

static int judge_run(struct ct_watch_alerts *a, const struct ct_run *run, const char *dir)
{
	struct ct_analyze_options options = CT_ANALYZE_DEFAULTS;
	struct ct_alert_counts counts;
	struct ct_observer observer;
	struct ct_report *report = NULL;
	struct ct_arena *memory = ct_arena_new();
	struct ct_alert *events;
	size_t n_events;
	int fired = 0;

	if (!a->alerts)
		a->alerts = ct_alerts_new(&a->limits);
	ct_alert_counts_observe(&counts, &observer);
	options.boot_id = ct_host_boot_id();
	options.threads = 1;
	options.last_ns = a->every_ns;
	options.observer = &observer;
	if (a->alerts && memory && ct_analyze(run, &options, &report, NULL) == CT_OK &&
	    ct_alerts_take(a->alerts, report, &counts, ct_clock_ns(CLOCK_MONOTONIC), memory,
			   &events, &n_events) == CT_OK)
		fired = raise_alerts(a, events, n_events, dir);
	ct_report_free(report);
	ct_arena_free(memory);
	return fired;
}

void ct_watch_alerts_reap(struct ct_watch_alerts *a)
{
	for (size_t i = 0; i < CT_WATCH_COMMANDS; i++)
		ct_timed_command_ended(&a->running[i], a->limit_s);
}

int ct_watch_alerts_look(struct ct_watch_alerts *a, const struct ct_run *run, const char *dir)
{
	const uint64_t begin = ct_clock_ns(CLOCK_MONOTONIC);
	uint64_t worked;
	int fired;

	if (!a->due_ns)
		a->due_ns = begin + a->every_ns;
	if (begin < a->due_ns)
		return 0;
	worked = ct_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	fired = judge_run(a, run, dir);
	worked = ct_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - worked;
	a->due_ns = begin + ct_max(worked * REPORT_SHARE, a->every_ns);
	return a->is_closed && !a->command ? -1 : fired;
}

void ct_watch_alerts_fini(struct ct_watch_alerts *a)
{
	for (size_t i = 0; i < CT_WATCH_COMMANDS; i++)
		ct_timed_command_wait(&a->running[i], a->limit_s, -1);
	ct_alerts_free(a->alerts);
	a->alerts = NULL;
}
