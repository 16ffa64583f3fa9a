/* SPDX-License-Identifier: Apache-2.0 */
/* check_ends.c — hold what a run says of its processes' ends against what their parent saw
 * (truth.h).
 *
 * For each process: by which signal or with which status it ended, who called kill() on it and
 * when, and that the interval in which the trace says it died and the one in which the parent knows
 * it did overlap. For each two: no order that did not happen. The same from the JSON of `commtrace
 * info`. One line shows how much was compared; the first difference is reported in words and is
 * exit status 1. 2: usage. */
#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/e2e/evidence.h"
#include "tests/e2e/truth.h"

enum { MAX_PROCESSES = 4096 };

/* The trace's times of life come from a thread that wakes up this often, or later where cores are
 * few. */
#define ORDER_GAP_NS 2000000000ull

static struct pair {
	struct truth truth;
	const struct ct_end *end;
} pairs[MAX_PROCESSES];
static size_t n_pairs, n_not_recorded, n_kills, n_ordered;

static void __attribute__((noreturn, format(printf, 2, 3)))
differ(const struct truth *t, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "check_ends: pid %d, wait status %#x: ", t->pid, (unsigned)t->status);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* How the trace must say that it ended. Without a parent's note a process that was killed is
 * silent. */
static enum ct_end_how expected(const struct truth *t)
{
	if (!WIFSIGNALED(t->status))
		return t->told__exit ? CT_END_EXIT : CT_END_CLEAN;
	return t->parent || WTERMSIG(t->status) == SIGABRT ? CT_END_SIGNAL : CT_END_UNKNOWN;
}

static void check_how(const struct truth *t, const struct ct_end *end)
{
	int sig = expected(t) == CT_END_SIGNAL ? WTERMSIG(t->status) : 0;

	if (end->how != expected(t) || end->signal != sig)
		differ(t, "the trace says end %d, signal %d, not %d, %d", end->how, end->signal,
		       expected(t), sig);
	if (!WIFSIGNALED(t->status) && end->exit_code != WEXITSTATUS(t->status))
		differ(t, "the trace says exit status %d, not %d", end->exit_code,
		       WEXITSTATUS(t->status));
}

static void check_when(const struct truth *t, const struct ct_end *end)
{
	if (end->after_ns > end->before_ns)
		differ(t, "died after %" PRIu64 " and before %" PRIu64, end->after_ns,
		       end->before_ns);
	if (end->after_ns > t->before_ns)
		differ(t, "was dead at %" PRIu64 ", the trace says that it died after %" PRIu64,
		       t->before_ns, end->after_ns);
	if (end->before_ns < t->after_ns)
		differ(t, "lived at %" PRIu64 ", the trace says that it died before %" PRIu64,
		       t->after_ns, end->before_ns);
}

/* What only its parent could have reported. */
static void check_notes(const struct truth *t, const struct ct_end *end)
{
	if (!t->parent) {
		if (end->seen_by || end->kill_by)
			differ(t, "nobody could note it, and %u or %u has", end->seen_by,
			       end->kill_by);
		return;
	}
	if (end->seen_by != (uint32_t)t->parent && WIFSIGNALED(t->status))
		differ(t, "its parent %d waited for it, the trace says %u", t->parent,
		       end->seen_by);
	if (WIFSIGNALED(t->status) && end->before_ns > t->before_ns)
		differ(t, "was seen dead at %" PRIu64 ", the trace knows it since %" PRIu64,
		       t->before_ns, end->before_ns);
	if (!t->kill_signal || !WIFSIGNALED(t->status))
		return;
	n_kills++;
	if (end->kill_by != (uint32_t)t->killer || end->kill_signal != t->kill_signal)
		differ(t, "%d killed it with %d, the trace says %u with %d", t->killer,
		       t->kill_signal, end->kill_by, end->kill_signal);
	if (end->kill_ns < t->kill_after_ns || end->kill_ns > t->kill_before_ns)
		differ(t, "killed between %" PRIu64 " and %" PRIu64 ", the trace says at %" PRIu64,
		       t->kill_after_ns, t->kill_before_ns, end->kill_ns);
}

static void check_order(const struct pair *a, const struct pair *b)
{
	if (a->end->before_ns < b->end->after_ns && a->truth.after_ns > b->truth.before_ns)
		differ(&a->truth, "died after pid %d did, the trace has it the other way round",
		       b->truth.pid);
	/* A clean exit leaves no note: its ring is gone. */
	if (a->end->before_ns != UINT64_MAX &&
	    a->truth.before_ns + ORDER_GAP_NS < b->truth.after_ns) {
		n_ordered++;
		if (a->end->before_ns >= b->end->after_ns)
			differ(&a->truth,
			       "died %.1f s before pid %d did, the trace does not know that: "
			       "%" PRIu64 "..%" PRIu64 " and %" PRIu64 "..%" PRIu64,
			       (double)(b->truth.after_ns - a->truth.before_ns) / 1e9, b->truth.pid,
			       a->end->after_ns, a->end->before_ns, b->end->after_ns,
			       b->end->before_ns);
	}
}

static const json_t *row_of(const json_t *rows, int pid)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		if (json_integer_value(json_object_get(row, "pid")) == pid)
			return row;
	}
	return NULL;
}

static void check_info(const json_t *info, const struct truth *t)
{
	const json_t *row = row_of(json_object_get(info, "processes"), t->pid);
	const char *end = json_string_value(json_object_get(row, "end"));
	static const char *const names[] = {
		[CT_END_UNKNOWN] = "unknown",
		[CT_END_CLEAN] = "clean",
		[CT_END_EXIT] = "exit",
		[CT_END_SIGNAL] = "signal",
	};
	const char *want = names[expected(t)];
	const json_t *sig = json_object_get(row, "signal");

	if (!row)
		differ(t, "it is in the run, and not in `commtrace info`");
	if (!end || strcmp(end, want) != 0)
		differ(t, "`commtrace info` says \"%s\", not \"%s\"", end ? end : "(nothing)",
		       want);
	if (expected(t) == CT_END_SIGNAL && json_integer_value(sig) != WTERMSIG(t->status))
		differ(t, "`commtrace info` says signal %d", (int)json_integer_value(sig));
	if (expected(t) != CT_END_SIGNAL && !json_is_null(sig))
		differ(t, "`commtrace info` has a signal");
}

static void read_truth(const char *path, const struct ct_run *run)
{
	FILE *file = fopen(path, "re");
	struct truth t;

	if (!file) {
		perror(path);
		exit(2);
	}
	while (truth_scan(file, &t) && n_pairs < MAX_PROCESSES) {
		const struct ct_process_info *p = evidence_process(run, (uint32_t)t.pid);

		if (p)
			pairs[n_pairs++] = (struct pair){ t, &p->end };
		else
			n_not_recorded++;
	}
	fclose(file);
}

int main(int argc, char **argv)
{
	const char *path = argc == 4 ? argv[2] : NULL;
	json_error_t error;
	struct ct_run *run;
	json_t *info;

	if (!path) {
		fputs("usage: check_ends TRUTH RUN INFO.json\n", stderr);
		return 2;
	}
	run = evidence_open("check_ends", &path, 1);
	read_truth(argv[1], run);
	info = n_pairs ? json_load_file(argv[3], 0, &error) : json_object();
	if (!info) {
		fprintf(stderr, "check_ends: %s: %s\n", argv[3], error.text);
		return 2;
	}
	for (size_t i = 0; i < n_pairs; i++) {
		check_how(&pairs[i].truth, pairs[i].end);
		check_when(&pairs[i].truth, pairs[i].end);
		check_notes(&pairs[i].truth, pairs[i].end);
		check_info(info, &pairs[i].truth);
		for (size_t j = 0; j < n_pairs; j++) {
			if (i != j)
				check_order(&pairs[i], &pairs[j]);
		}
	}
	json_decref(info);
	if (run)
		ct_run_close(run);
	printf("check_ends: %zu ends (and %zu that recorded nothing), %zu kills, %zu orders of "
	       "two\n",
	       n_pairs, n_not_recorded, n_kills, n_ordered);
	return 0;
}
