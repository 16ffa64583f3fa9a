/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/timeline_write.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/base/units.h"
#include "analyzer/render/perfetto.h"
#include "analyzer/render/tuples.h"
#include "tools/commtrace/codes.h"
#include "tools/commtrace/open_run.h"
#include "tools/commtrace/out.h"
#include "tools/commtrace/progress.h"
#include "tools/commtrace/say.h"
#include "tools/commtrace/signals.h"
#include "trace/text.h"

/* Below it the clock error cannot be seen in the timeline. */
#define CLOCK_ERR_NS 1000000u

#define TOO_LARGE "the file would be larger than 1 GB"

static const struct ct_chart_result no_result = { .missing_rank = -1 };
static const struct ct_err no_error;

/* A file that is whole, and put in its place when all are: an overview must not name details that are missing. */
struct written {
	struct ct_out out;
	struct ct_chart_result result;
	struct ct_perfetto_size size;
};

/* What is under way. */
struct files {
	const struct ct_timeline_request *timeline;
	struct ct_chart *chart;
	struct ct_chart_view *views;
	struct written *written; /* by view */
	size_t n;
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
static int say_failure(const struct ct_timeline_request *timeline, int status,
		       const struct ct_chart_result *result, const struct ct_err *err)
{
	ct_say("cannot write the timeline of %s: %s", timeline->args.paths.path[0],
	       err->text[0] ? err->text : ct_status_text(status));
	if (result->missing_rank >= 0)
		ct_hint("'commtrace info' lists the ranks");
	else if (status == CT_NOTFOUND && result->duration_ns)
		ct_hint("the run lasts %s", ct_prose_ns(result->duration_ns).s);
	else if (status == CT_FULL)
		ct_hint("choose fewer with --window or --ranks");
	return CT_CODE_FAILED;
}

static void say_limits(const struct files *f, const struct ct_chart_view *view,
		       const struct ct_chart_result *result)
{
	uint64_t most = f->timeline->chart.max_slices;

	if (result->cut) {
		ct_warn("only the run from %s on is in the file: %" PRIu64 " slices are the limit",
			ct_prose_ns(result->from_ns).s, most);
		ct_hint("--window and --ranks choose another part, --max-slices allows more");
	}
	if (view->kind == CT_CHART_OVERVIEW) {
		ct_warn("the run is more than a file may hold (%" PRIu64
			" slices, 1 GB): this is an overview of it",
			most);
		ct_hint("--window and --ranks draw any part in full%s",
			f->timeline->chart.split == CT_SPLIT_DETAILS
				? ""
				: ", -o FILE writes details beside the overview");
	}
	if (result->not_drawn)
		ct_warn("%" PRIu64 " operations have no work drawn: when it began was not measured",
			result->not_drawn);
	if (view->kind == CT_CHART_DETAIL)
		return;
	if (result->unrelated)
		ct_warn("the clocks of %" PRIu32 " of the %" PRIu32
			" hosts are not related: their times differ from others' by an unknown "
			"error",
			result->unrelated, result->hosts);
	else if (result->clock_err_ns > CLOCK_ERR_NS)
		ct_warn("times of different hosts differ by up to %s more than they should",
			ct_prose_ns(result->clock_err_ns).s);
}

/* What one file of several is. */
static void say_what(const struct ct_chart_view *view, const struct ct_chart_result *result)
{
	uint64_t to = view->to_ns < result->duration_ns ? view->to_ns : result->duration_ns;

	if (view->kind == CT_CHART_OVERVIEW)
		printf(", an overview");
	if (view->kind == CT_CHART_DETAIL)
		printf(", %s..%s around %s", ct_prose_ns(view->from_ns).s, ct_prose_ns(to).s,
		       view->about);
}

static void say_done(const struct ct_chart_view *view, const char *path,
		     const struct ct_chart_result *result, const struct ct_perfetto_size *size)
{
	char plain[PATH_MAX];

	ct_text_clean(plain, sizeof(plain), path, strlen(path));
	printf("timeline of %" PRIu32 " ranks: %" PRIu64 " slices (%" PRIu64
	       " unfinished), %" PRIu64 " arrows, %s into %s",
	       result->ranks, result->slices, result->unfinished, result->flows,
	       ct_prose_bytes(size->bytes).s, plain);
	say_what(view, result);
	puts("");
}

/* ---- one file ---- */

/* Draw one view into the open file. 0 or a status. */
static int draw(const struct files *f, size_t view, FILE *file, struct ct_chart_result *result,
		struct ct_perfetto_size *size, struct ct_err *err)
{
	struct ct_perfetto *perfetto = NULL;
	struct ct_tuples *tuples = NULL;
	struct ct_chart_sink sink = { 0 };
	int status = CT_NOMEM;

	if (f->timeline->format == CT_TIMELINE_PFTRACE)
		perfetto = ct_perfetto_new(file, CT_PERFETTO_LEVEL);
	else
		tuples = ct_tuples_new(file);
	if (perfetto)
		sink = ct_perfetto_sink(perfetto);
	else if (tuples)
		sink = ct_tuples_sink(tuples);
	if (perfetto || tuples)
		status = ct_chart_draw_view(f->chart, view, &sink, result, err);
	ct_progress_end();
	if (status == CT_OK && perfetto)
		status = ct_perfetto_check(perfetto, size, err);
	if (status == CT_FULL && !err->text[0])
		ct_fail(err, CT_FULL, TOO_LARGE);
	ct_perfetto_free(perfetto);
	ct_tuples_free(tuples);
	return status;
}

/* Into its open file. Returns an exit status, or -1: it would be too large, and could be split. */
static int write_view(const struct files *f, size_t view)
{
	int is_whole = f->views[view].kind == CT_CHART_WHOLE;
	struct written *w = &f->written[view];
	struct ct_err err = { 0 };
	int status;

	w->result.missing_rank = -1;
	errno = 0;
	status = draw(f, view, w->out.file, &w->result, &w->size, &err);
	if (ferror(w->out.file)) {
		w->out.error = errno;
		return ct_out_close(&w->out);
	}
	if (status != CT_OK) {
		ct_out_drop(&w->out);
		return status == CT_FULL && is_whole && f->timeline->chart.split != CT_SPLIT_END
			       ? -1
			       : say_failure(f->timeline, status, &w->result, &err);
	}
	say_limits(f, &f->views[view], &w->result);
	return ct_out_finish(&w->out);
}

/* ---- the details ---- */

/* "dir/x.pftrace" and 2: "dir/x.detail-2.pftrace"; NULL after it was said that memory is out. The caller's. */
static char *path_of(const struct files *f, size_t number)
{
	const char *path = f->timeline->out_path, *slash = strrchr(path, '/');
	const char *dot = strrchr(path, '.'), *name = slash ? slash + 1 : path;
	size_t stem = dot && dot > name ? (size_t)(dot - path) : strlen(path);
	char *made;

	if (asprintf(&made, "%.*s.detail-%zu%s", (int)stem, path, number, path + stem) >= 0)
		return made;
	ct_say("cannot write the timeline of %s: %s", f->timeline->args.paths.path[0],
	       ct_status_text(CT_NOMEM));
	return NULL;
}

/* Their names, for the overview. None of them may exist: that is checked before anything is drawn. */
static int name_details(const struct files *f)
{
	int code = 0;

	for (size_t v = 1; v < f->n && !code; v++) {
		char *path = path_of(f, v);
		const char *slash = path ? strrchr(path, '/') : NULL;
		struct stat st;

		if (!path)
			return CT_CODE_FAILED;
		snprintf(f->views[v].file, sizeof(f->views[v].file), "%s",
			 slash ? slash + 1 : path);
		if (!f->timeline->force && lstat(path, &st) == 0) {
			ct_say("cannot write the result: %s: it is already there", path);
			ct_hint("--force replaces it");
			code = CT_CODE_FAILED;
		}
		free(path);
	}
	return code;
}

static int write_details(const struct files *f)
{
	int code = 0;

	for (size_t v = 1; v < f->n && !code; v++) {
		char *path = path_of(f, v);

		code = path ? ct_out_open(&f->written[v].out, path, f->timeline->force)
			    : CT_CODE_FAILED;
		if (!code) {
			ct_progress_begin("drawing details");
			code = write_view(f, v);
		}
		free(path);
	}
	return code;
}

/* ---- all of them ---- */

/* Can files be put beside it? */
static int is_regular(const char *path)
{
	struct stat st;

	return path && strcmp(path, "-") != 0 && (stat(path, &st) != 0 || S_ISREG(st.st_mode));
}

/* Details with higher numbers belong to an earlier file of this name. */
static void say_left(const struct files *f)
{
	int is_there = 1;

	for (size_t v = f->n; is_there; v++) {
		char *path = path_of(f, v);
		struct stat st;

		is_there = path && lstat(path, &st) == 0;
		if (is_there)
			ct_warn("%s is of an earlier timeline", path);
		free(path);
	}
}

/* The first file, open already. */
static int write_first(struct files *f, struct ct_out *out)
{
	int code;

	f->views = ct_chart_views(f->chart, &f->n);
	free(f->written);
	f->written = calloc(f->n, sizeof(*f->written));
	code = f->written ? name_details(f)
			  : say_failure(f->timeline, CT_NOMEM, &no_result, &no_error);
	if (code) {
		ct_progress_end();
		ct_out_drop(out);
		return code;
	}
	f->written[0].out = *out;
	return write_view(f, 0);
}

/* The overview comes last. */
static int put_in_place(const struct files *f)
{
	int code = 0;

	/* One alone may be a pipe, which takes the time that its reader takes. */
	if (f->n > 1)
		ct_signals_hold();
	for (size_t v = f->n; v-- > 0 && !code;)
		code = ct_out_close(&f->written[v].out);
	if (f->n > 1)
		ct_signals_release();
	return code;
}

static void say_all(const struct files *f)
{
	const char *path = f->timeline->out_path;

	if (f->timeline->format != CT_TIMELINE_PFTRACE || !path || strcmp(path, "-") == 0)
		return;
	for (size_t v = 0; v < f->n; v++) {
		char *own = v ? path_of(f, v) : NULL;

		say_done(&f->views[v], own ? own : path, &f->written[v].result,
			 &f->written[v].size);
		free(own);
	}
	puts(f->n > 1 ? "open them at https://ui.perfetto.dev"
		      : "open it at https://ui.perfetto.dev");
}

/* The run is read, the first file is open. */
static int write_all(struct files *f, struct ct_out *out)
{
	struct ct_err err = { 0 };
	int code = write_first(f, out), status;

	if (code < 0) {
		/* What was written of the whole to a pipe is there; a file begins anew. */
		code = is_regular(f->timeline->out_path)
			       ? ct_out_open(out, f->timeline->out_path, f->timeline->force)
			       : say_failure(f->timeline, ct_fail(&err, CT_FULL, TOO_LARGE),
					     &no_result, &err);
		if (code)
			return code;
		status = ct_chart_split(f->chart, &err);
		if (status != CT_OK) {
			ct_out_drop(out);
			return say_failure(f->timeline, status, &no_result, &err);
		}
		code = write_first(f, out);
	}
	if (!code)
		code = write_details(f);
	if (!code)
		code = put_in_place(f);
	if (!code && is_regular(f->timeline->out_path))
		say_left(f);
	if (!code)
		say_all(f);
	return code;
}

int ct_timeline_write(struct ct_timeline_request *timeline, const struct ct_run *run)
{
	struct files f = { .timeline = timeline };
	struct ct_chart_result result;
	struct ct_err err = { 0 };
	struct ct_out out;
	int drawing = 0, code = ct_out_open(&out, timeline->out_path, timeline->force), status;

	if (code)
		return code;
	if (timeline->chart.split == CT_SPLIT_DETAILS && !is_regular(timeline->out_path))
		timeline->chart.split = CT_SPLIT_OVERVIEW;
	timeline->chart.boot_id = ct_open_boot_id();
	timeline->chart.reading = on_reading;
	timeline->chart.progress = on_progress;
	timeline->chart.progress_arg = &drawing;
	ct_progress_begin("analyzing");
	status = ct_chart_open(run, &timeline->chart, &f.chart, &result, &err);
	if (status == CT_OK) {
		code = write_all(&f, &out);
		/* Those in place have nothing left to drop. */
		for (size_t v = 0; f.written && v < f.n; v++)
			ct_out_drop(&f.written[v].out);
		free(f.written);
	} else {
		ct_progress_end();
		ct_out_drop(&out);
		code = say_failure(timeline, status, &result, &err);
	}
	ct_chart_close(f.chart);
	return code;
}
