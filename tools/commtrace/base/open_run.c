/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/base/open_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/units.h"
#include "analyzer/render/text.h"
#include "analyzer/report/unrelated.h"
#include "analyzer/steps/anchor_spec.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/progress.h"
#include "tools/commtrace/base/recording.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/this_host.h"
#include "trace/text.h"

/* size: one reads, joins and judges, few are enough to decode for it, and each has a block in
 * memory. */
#define MOST_THREADS 8

static int cannot_read(const char *path, const char *why)
{
	ct_say("cannot read the run: %s: %s", *path ? path : "''", why);
	return CT_CODE_FAILED;
}

/* What RUN is, and what else the file is for that was given instead. */
static void hint_at_run(const char *path)
{
	static const struct {
		const char *extension, *hint;
	} made[] = {
		{ ".pftrace", "'commtrace open' shows a timeline" },
		{ ".jsonl", "'commtrace import jsonl' makes a run of operations" },
		{ ".html", "a browser shows a report" },
	};
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < sizeof(made) / sizeof(made[0]); i++) {
		if (strcmp(dot, made[i].extension) == 0)
			ct_hint("%s; RUN is the directory of a recording", made[i].hint);
		if (strcmp(dot, made[i].extension) == 0)
			return;
	}
	ct_hint("RUN is the directory of a recording, as given to 'commtrace run -o' or in "
		"COMMTRACE_DIR");
}

/* A path without any recording is better reported here than by a reader that searches for files. */
static int check_path(const char *path)
{
	struct stat st;
	int code, error;

	if (stat(path, &st) != 0) {
		error = errno;
		code = cannot_read(path, strerror(error));
		if (error == ENOENT)
			hint_at_run(path);
		return code;
	}
	if (S_ISDIR(st.st_mode))
		return access(path, R_OK | X_OK) == 0 ? 0 : cannot_read(path, strerror(errno));
	if (S_ISREG(st.st_mode) && ct_recording_kind(path) != CT_RECORDING_NONE)
		return 0;
	code = cannot_read(path,
			   "not a recording (a directory, or a .seg, .ring or .ring.zst file)");
	hint_at_run(path);
	return code;
}

/* The reader's text begins with the path that it is about, as a rule. */
static const char *without_path(const char *text, const char *path)
{
	size_t n = strlen(path);

	return strncmp(text, path, n) == 0 && strncmp(text + n, ": ", 2) == 0 ? text + n + 2 : text;
}

static int is_recording(const char *dir, const char *name, enum ct_recording_kind kind, void *arg)
{
	(void)dir, (void)name, (void)kind, (void)arg;
	return 1;
}

/* Points to the first directory in this one that holds a recording. Returns 0 if none does. */
static int hint_at_recording_in(const char *path)
{
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, NULL, alphasort), found = 0;

	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		char *inner = found || name[0] == '.' ? NULL : ct_recording_path(path, name);

		found |= inner && ct_recording_each(inner, is_recording, NULL) == 1;
		if (found && inner)
			ct_hint("%s holds a recording", inner);
		free(inner);
		free(entries[i]);
	}
	free(entries);
	return found;
}

static int say_failure(const struct ct_paths *paths, int status, const struct ct_err *err)
{
	const char *path = paths->path[0], *more = paths->n > 1 ? " and the other paths" : "";
	const char *text = err->text[0] ? without_path(err->text, path) : ct_status_text(status);

	if (status == CT_EMPTY) {
		ct_say("nothing recorded in %s%s: %s", path, more, text);
		if (hint_at_recording_in(path))
			return CT_CODE_FAILED;
		ct_hint("did the job communicate over NCCL, MPI or Gloo, with the library "
			"preloaded? 'commtrace doctor -- PROGRAM' checks that");
		return CT_CODE_FAILED;
	}
	if (paths->n > 1 || strncmp(text, path, strlen(path)) == 0)
		ct_say("cannot read the run: %s", text);
	else
		ct_say("cannot read the run: %s: %s", path, text);
	if (status == CT_VERSION)
		ct_hint("read it with the commtrace that recorded it");
	return CT_CODE_FAILED;
}

/* Each process of the job has a file open while they are read in step; shells allow 1024 unless
 * asked for more. */
static void allow_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

/* Several paths are one run, which is not what a comparison of two jobs means. 0, or an exit
 * status. */
static int refuse_several_jobs(const char *command, const struct ct_paths *paths,
			       const struct ct_run *run)
{
	struct ct_err err = { 0 };
	uint32_t of[2];
	const struct ct_process *a, *b;
	char path[1024];
	int found = paths->n > 1 ? ct_unrelated_jobs(run, of, &err) : 0;

	if (found < 0)
		return say_failure(paths, found, &err);
	if (!found)
		return 0;
	a = &run->processes[of[0]].id;
	b = &run->processes[of[1]].id;
	ct_say("cannot read %zu paths as one run: they hold different jobs, '%s' (%s ranks) and "
	       "'%s' (%s ranks)",
	       paths->n, a->job, ct_text_rank(a->world_size).s, b->job,
	       ct_text_rank(b->world_size).s);
	ct_hint("several paths are parts of one run, such as one from each host; give each job a "
		"command of its own: commtrace %s %s",
		command, ct_text_quote(path, sizeof(path), paths->path[0]) ? path : "RUN");
	return CT_CODE_USAGE;
}

int ct_open_run(const char *command, const struct ct_paths *paths, struct ct_run **run)
{
	const char *ring_dirs[4];
	struct ct_run_options options = { .ring_dirs = ring_dirs };
	struct ct_err err = { 0 };
	int status;

	if (!paths->n)
		return ct_usage(command, "'%s' needs a RUN: the directory of a recording", command);
	for (size_t i = 0; i < paths->n; i++) {
		int code = check_path(paths->path[i]);

		if (code)
			return code;
	}
	ct_host_ring_dirs(NULL, ring_dirs);
	allow_files();
	status = ct_run_open(paths->path, paths->n, &options, run, &err);
	if (status != CT_OK)
		return say_failure(paths, status, &err);
	status = refuse_several_jobs(command, paths, *run);
	for (size_t i = 0; i < (*run)->n_warnings && !status; i++)
		ct_warn("%s", (*run)->warnings[i]);
	return status;
}

static void on_progress(void *arg, uint64_t done, uint64_t all)
{
	(void)arg;
	ct_progress_at(done, all);
}

unsigned ct_open_threads(const struct ct_cli *args)
{
	long long n = args ? ct_cli_number(args, CT_OPTION_THREADS, 0) : 0;
	cpu_set_t cores;

	if (n)
		return (unsigned)n;
	if (sched_getaffinity(0, sizeof(cores), &cores) != 0)
		return 1;
	n = CPU_COUNT(&cores);
	return n < MOST_THREADS ? (unsigned)n : MOST_THREADS;
}

const struct ct_paths *ct_open_typed(const struct ct_paths *paths)
{
	static const char *path[16]; /* size: more than anyone types */
	static struct ct_paths typed = { .path = path };
	char *rest = getenv(CT_TYPED_RUNS);

	if (typed.n || !rest)
		return typed.n ? &typed : paths;
	rest = strdup(rest); /* as long as the process */
	while (rest && *rest && typed.n < sizeof(path) / sizeof(path[0]))
		path[typed.n++] = strsep(&rest, "\n");
	return typed.n ? &typed : paths;
}

int ct_open_report(const struct ct_paths *paths, const struct ct_run *run,
		   struct ct_report **report)
{
	const struct ct_report_wishes none = { 0 };

	return ct_open_report_as(NULL, paths, run, &none, report);
}

int ct_open_outline(const struct ct_paths *paths, const struct ct_run *run,
		    struct ct_report **report)
{
	struct ct_analyze_options options = CT_ANALYZE_DEFAULTS;
	struct ct_err err = { 0 };
	int status;

	options.boot_id = ct_host_boot_id();
	status = ct_outline(run, &options, report, &err);
	return status == CT_OK ? 0 : say_failure(paths, status, &err);
}

int ct_open_report_as(const char *command, const struct ct_paths *paths, const struct ct_run *run,
		      const struct ct_report_wishes *wishes, struct ct_report **report)
{
	struct ct_analyze_options options = CT_ANALYZE_DEFAULTS;
	struct ct_err err = { 0 };
	const struct ct_text_style typed = { .paths = ct_open_typed(paths)->path,
					     .n_paths = ct_open_typed(paths)->n };
	struct ct_anchor_spec_fault fault;
	const char *anchor = wishes->anchor;
	char words[1024];
	int status;

	if (anchor && ct_anchor_spec_check(anchor, &fault) != CT_OK) {
		ct_say("bad value '%s' of option '--step-anchor' of '%s': '%.*s' %s", anchor,
		       command, fault.len, fault.part, fault.why);
		ct_hint("COMM:OP[:BYTES], for example '*:AllReduce' or 'dp:AllReduce:26.8MiB'");
		return CT_CODE_USAGE;
	}
	options.boot_id = ct_host_boot_id();
	if (paths->n && ct_text_runs(words, sizeof(words), &typed, NULL))
		options.run = words;
	options.progress = on_progress;
	options.step_anchor = anchor;
	options.skip_steps = wishes->skip_steps;
	options.last_ns = wishes->last_ns;
	options.expect = wishes->expect;
	options.observer = wishes->observer;
	options.threads = wishes->threads ? wishes->threads : ct_open_threads(NULL);
	ct_progress_begin("analyzing");
	status = ct_analyze(run, &options, report, &err);
	ct_progress_end();
	if (status == CT_NOTFOUND && anchor) {
		ct_say("bad value '%s' of option '--step-anchor' of '%s': no such operation comes "
		       "three times",
		       anchor, command);
		ct_hint("%s", err.text);
		return CT_CODE_USAGE;
	}
	if (status == CT_RANGE && wishes->skip_steps) {
		ct_say("cannot skip %u step%s: %s", wishes->skip_steps,
		       wishes->skip_steps == 1 ? "" : "s", err.text);
		return CT_CODE_USAGE;
	}
	return status == CT_OK ? 0 : say_failure(paths, status, &err);
}
