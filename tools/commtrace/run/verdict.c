/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/run/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/render/hang.h"
#include "analyzer/render/render.h"
#include "tools/commtrace/base/open_run.h"
#include "tools/commtrace/base/recording.h"
#include "tools/commtrace/base/say.h"
#include "trace/ring_dir.h"
#include "trace/text.h"

/* Did this machine run rank 0, or processes of unknown rank? */
static int is_ours_to_say(const struct ct_run *run)
{
	for (size_t i = 0; i < run->n_processes; i++) {
		if (run->processes[i].id.rank <= 0 && ct_process_same_boot(&run->processes[i].id))
			return 1;
	}
	return 0;
}

static int is_unsure(const struct ct_report *report)
{
	return report->verdict.code == CT_VERDICT_NOT_ENOUGH_EVIDENCE;
}

/* On one line: a terminal breaks it by itself, and a log keeps its numbers. After `ends` the note
 * of an unsure verdict would report them again. */
static void say_sentence(const struct ct_report *report, int ends)
{
	const struct ct_report_verdict *v = &report->verdict;

	if (v->confidence != CT_CONFIDENCE_NONE)
		ct_say("%s: %s (confidence %s)", v->title, v->text,
		       ct_confidence_name(v->confidence));
	else
		ct_say("%s: %s", v->title, ends && is_unsure(report) ? v->headline : v->text);
}

static void say_size(const struct ct_report *report)
{
	uint64_t ops = 0;
	char expected[32] = "", ends[64] = "", lost[64] = "no dropped records";

	for (size_t i = 0; i < report->n_ranks; i++)
		ops += report->ranks[i].ops;
	if (report->run.ranks_expected != CT_UNKNOWN)
		snprintf(expected, sizeof(expected), " of %" PRIu64, report->run.ranks_expected);
	if (report->dropped_records)
		snprintf(lost, sizeof(lost), "%" PRIu64 " records dropped",
			 report->dropped_records);
	else if (!report->run.complete)
		snprintf(lost, sizeof(lost), "the trace is incomplete");
	else if (report->dropped_calls)
		snprintf(lost, sizeof(lost), "%" PRIu64 " calls not recorded",
			 report->dropped_calls);
	if (report->dropped_ends)
		snprintf(ends, sizeof(ends), ", the ends of %" PRIu64 " not recorded",
			 report->dropped_ends);
	ct_say("recorded %" PRIu64 "%s ranks, %" PRIu64 " operations%s, %s%s",
	       report->run.ranks_seen, expected, ops,
	       report->run.processes_running ? " so far" : "", lost, ends);
}

/* What the job waited for, or which rank died; 0: nothing to say. */
static int say_hang(const struct ct_report *report)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = report->hang ? open_memstream(&text, &size) : NULL;

	if (out) {
		ct_hang_sentence(report->hang, out);
		if (fclose(out) == 0 && text)
			ct_say("%s", text);
	}
	free(text);
	return report->hang != NULL;
}

/* The rank that failed first; the others follow from it as a rule, and `info` lists them. 1: said;
 * 0: none failed. */
static int say_end(const struct ct_report *report)
{
	const struct ct_report_process *first = NULL;
	char how[64], others[96] = "";
	size_t n = 0;

	for (size_t i = 0; i < report->n_ended; i++) {
		const struct ct_report_process *process = &report->processes[report->ended[i]];

		if (!ct_report_failed(process))
			continue;
		n++;
		if (!first)
			first = process;
	}
	if (!first)
		return 0;
	if (first->aborted)
		snprintf(how, sizeof(how), "called MPI_Abort");
	else if (first->how.how == CT_END_SIGNAL)
		snprintf(how, sizeof(how), "was killed by signal %d (%s)", first->how.signal,
			 first->how.for_memory ? "out of memory" : strsignal(first->how.signal));
	else
		snprintf(how, sizeof(how), "ended with status %d%s", first->how.exit_code,
			 first->left ? " without MPI_Finalize" : "");
	if (n > 1)
		snprintf(others, sizeof(others), "; %zu more failed%s", n - 1,
			 report->n_ended_first > 1 ? ", order unknown" : "");
	ct_say("rank %s (pid %" PRIu32 " on %s) %s%s", ct_text_rank(first->rank).s, first->pid,
	       first->host, how, others);
	return 1;
}

/* Which rank failed, what the job waited for, and the verdict, unless that only says that it is not
 * sure. 1: it hung, or died. */
static int say_verdict(const struct ct_report *report)
{
	int ends = say_end(report);
	int hangs = report->verdict.code == CT_VERDICT_HANG;

	if (!hangs && report->n_ended && say_hang(report)) {
		hangs = 1;
		if (is_unsure(report))
			return hangs;
	}
	say_sentence(report, ends);
	return hangs;
}

void ct_verdict(const struct ct_record_dir *dir, const char *const *ring_dirs, const char *backends,
		int code)
{
	const char *path = dir->path, *off = getenv("COMMTRACE");
	const struct ct_paths paths = { .path = &path, .n = 1 };
	struct ct_report *report = NULL;
	struct ct_run *run = NULL;
	char what[512], shown[1024];
	int hangs;

	if (!ct_recording_of_another(dir->path, ring_dirs, NULL, what)) {
		ct_say("nothing recorded in %s: no process called a function that is recorded (%s)",
		       dir->shown, backends && backends[0] ? backends : "nccl, mpi, gloo");
		if (off && strcmp(off, "0") == 0)
			ct_hint("COMMTRACE=0 is set, which switches recording off");
		else if (code)
			ct_hint("the program ended with status %d; what it said is the first thing "
				"to "
				"look at",
				code);
		else
			ct_hint("a statically linked library, a program without communication, or "
				"one that "
				"drops LD_PRELOAD leaves nothing to record");
		return;
	}
	if (ct_open_run("run", &paths, &run) != 0)
		return;
	if (is_ours_to_say(run) && ct_open_report(&paths, run, &report) == 0) {
		hangs = say_verdict(report);
		say_size(report);
		if (ct_text_quote(shown, sizeof(shown), dir->shown))
			ct_say("next: commtrace %s %s", hangs ? "hang" : "report", shown);
	}
	ct_report_free(report);
	ct_run_close(run);
}
