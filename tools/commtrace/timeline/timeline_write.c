/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/timeline/timeline_write.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/base/units.h"
#include "analyzer/render/perfetto.h"
#include "analyzer/render/tuples.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/progress.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/this_host.h"
#include "trace/text.h"

/* tuning: below it the clock error cannot be seen in the timeline. */
#define CLOCK_ERR_NS 1000000u

#define TOO_LARGE "the file would be larger than 1 GB"

static const struct ct_timeline_result no_result = { .missing_rank = -1 };

/* What is under way. */
struct writing {
	const struct ct_timeline_request *request;
	struct ct_timeline *timeline;
	struct ct_out out;
	struct ct_timeline_result result;
	struct ct_perfetto_size size;
};

static void on_reading(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	ct_progress_at(done, total);
}

static void on_progress(void *arg, uint64_t done, uint64_t total)
{
	int *drawing = arg;

	if (!*drawing) {
		ct_progress_end();
		ct_progress_begin("drawing");
		*drawing = 1;
	}
	ct_progress_at(done, total);
}

/* ---- what is said ---- */

/* Why nothing came of it, and what to do. */
static int say_failure(const struct ct_timeline_request *request, int status,
		       const struct ct_timeline_result *result, const struct ct_err *err)
{
	ct_say("cannot write the timeline of %s: %s", request->args.paths.path[0],
	       err->text[0] ? err->text : ct_status_text(status));
	if (result->missing_rank >= 0)
		ct_hint("'commtrace info' lists the ranks");
	else if (status == CT_NOTFOUND && result->duration_ns)
		ct_hint("the run lasts %s", ct_prose_ns(result->duration_ns).s);
	else if (status == CT_FULL)
		ct_hint("choose fewer with --window or --ranks");
	return CT_CODE_FAILED;
}

static void say_limits(const struct writing *w)
{
	const struct ct_timeline_result *result = &w->result;
	uint64_t most = w->request->options.max_slices;

	if (result->cut) {
		ct_warn("only the run from %s on is in the file: %" PRIu64 " slices are the limit",
			ct_prose_ns(result->from_ns).s, most);
		ct_hint("--window and --ranks choose another part, --max-slices allows more");
	}
	if (ct_timeline_kind(w->timeline) == CT_TIMELINE_OVERVIEW) {
		ct_warn("the run is more than a file may hold (%" PRIu64
			" slices, 1 GB): this is an overview of it",
			most);
		ct_hint("--window and --ranks draw any part in full");
	}
	if (result->not_drawn)
		ct_warn("%" PRIu64 " operations have no work drawn: when it began was not measured",
			result->not_drawn);
	if (result->unrelated)
		ct_warn("the clocks of %" PRIu32 " of the %" PRIu32
			" hosts are not synchronized: their times differ from others' by an "
			"unknown "
			"error",
			result->unrelated, result->hosts);
	else if (result->clock_err_ns > CLOCK_ERR_NS)
		ct_warn("times of different hosts differ by up to %s more than they should",
			ct_prose_ns(result->clock_err_ns).s);
}

static void say_done(const struct writing *w)
{
	const struct ct_timeline_result *result = &w->result;
	const char *path = w->request->out_path;
	char plain[PATH_MAX];

	if (w->request->format != CT_TIMELINE_PFTRACE || !path || strcmp(path, "-") == 0)
		return;
	ct_text_clean(plain, sizeof(plain), path, strlen(path));
	printf("timeline of %" PRIu32 " ranks: %" PRIu64 " slices (%" PRIu64 " in flight), %" PRIu64
	       " arrows, %s into %s%s\n",
	       result->ranks, result->slices, result->unfinished, result->flows,
	       ct_prose_bytes(w->size.bytes).s, plain,
	       ct_timeline_kind(w->timeline) == CT_TIMELINE_OVERVIEW ? ", an overview" : "");
	puts("open it at https://ui.perfetto.dev");
}

/* ---- one file ---- */

/* Into the open file. 0 or a status. */
static int draw(struct writing *w, struct ct_err *err)
{
	struct ct_perfetto *perfetto = NULL;
	struct ct_tuples *tuples = NULL;
	struct ct_timeline_sink sink = { 0 };
	int status = CT_NOMEM;

	w->result = no_result;
	if (w->request->format == CT_TIMELINE_PFTRACE)
		perfetto = ct_perfetto_new(w->out.file, CT_PERFETTO_LEVEL,
					   w->request->options.threads);
	else
		tuples = ct_tuples_new(w->out.file);
	if (perfetto)
		sink = ct_perfetto_sink(perfetto);
	else if (tuples)
		sink = ct_tuples_sink(tuples);
	if (perfetto || tuples)
		status = ct_timeline_draw(w->timeline, &sink, &w->result, err);
	ct_progress_end();
	if (status == CT_OK && perfetto)
		status = ct_perfetto_check(perfetto, &w->size, err);
	if (status == CT_FULL && !err->text[0])
		ct_fail(err, CT_FULL, TOO_LARGE);
	ct_perfetto_free(perfetto);
	ct_tuples_free(tuples);
	return status;
}

static int is_regular(const char *path)
{
	struct stat st;

	return path && strcmp(path, "-") != 0 && (stat(path, &st) != 0 || S_ISREG(st.st_mode));
}

/* What was written of the whole to a pipe is there; a file begins anew, as an overview. Returns an
 * exit status. */
static int begin_anew(struct writing *w, struct ct_err *err)
{
	ct_out_drop(&w->out);
	*err = (struct ct_err){ 0 };
	return ct_out_open(&w->out, w->request->out_path, w->request->force);
}

/* The run is read, the file is open. Returns an exit status. */
static int write_timeline(struct writing *w)
{
	struct ct_err err = { 0 };
	int status, code;

	errno = 0;
	status = draw(w, &err);
	if (status == CT_FULL && ct_timeline_kind(w->timeline) == CT_TIMELINE_WHOLE &&
	    !w->request->options.keeps_end && is_regular(w->request->out_path)) {
		code = begin_anew(w, &err);
		if (code)
			return code;
		status = ct_timeline_summarize(w->timeline, &err) ?: draw(w, &err);
	}
	if (ferror(w->out.file)) {
		w->out.error = errno;
		return ct_out_close(&w->out);
	}
	if (status != CT_OK) {
		ct_out_drop(&w->out);
		return say_failure(w->request, status, &w->result, &err);
	}
	say_limits(w);
	code = ct_out_close(&w->out);
	if (!code)
		say_done(w);
	return code;
}

int ct_timeline_write(struct ct_timeline_request *request, const struct ct_run *run)
{
	struct writing w = { .request = request };
	struct ct_timeline_result result;
	struct ct_err err = { 0 };
	int drawing = 0, code = ct_out_open(&w.out, request->out_path, request->force), status;

	if (code)
		return code;
	request->options.boot_id = ct_host_boot_id();
	request->options.reading = on_reading;
	request->options.progress = on_progress;
	request->options.progress_arg = &drawing;
	ct_progress_begin("analyzing");
	status = ct_timeline_open(run, &request->options, &w.timeline, &result, &err);
	if (status == CT_OK) {
		code = write_timeline(&w);
	} else {
		ct_progress_end();
		ct_out_drop(&w.out);
		code = say_failure(request, status, &result, &err);
	}
	ct_timeline_close(w.timeline);
	return code;
}
