/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/timeline/timeline_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/render/perfetto.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/open_run.h"
#include "tools/commtrace/base/progress.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/this_host.h"
#include "trace/path.h"

/* size: as `timeline` without options has it. */
#define SLICES 4000000u

/* ---- a file that is there ---- */

int ct_timeline_is_file(const char *path)
{
	return ct_path_ends_with(path, ".pftrace") || ct_path_ends_with(path, ".pftrace.gz");
}

static int cannot_take(const char *path, const char *why)
{
	ct_say("cannot open the timeline: %s: %s", path, why);
	return CT_CODE_FAILED;
}

/* A packet of a trace, or gzip. */
static int is_timeline(int fd)
{
	unsigned char head[2];

	return pread(fd, head, 2, 0) == 2 &&
	       (head[0] == 0x0a || (head[0] == 0x1f && head[1] == 0x8b));
}

int ct_timeline_file_take(struct ct_timeline_file *file, const char *path)
{
	struct stat st;

	/* not to wait for a writer, should it be a pipe */
	*file = (struct ct_timeline_file){ .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
					   .bounds = { CT_UNKNOWN, CT_UNKNOWN } };
	if (file->fd < 0 || fstat(file->fd, &st) != 0)
		return cannot_take(path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return cannot_take(path, "not a file");
	if (!is_timeline(file->fd))
		return cannot_take(path, "not a timeline that 'commtrace timeline' wrote");
	file->size = (uint64_t)st.st_size;
	return 0;
}

void ct_timeline_file_forget(struct ct_timeline_file *file)
{
	ct_timeline_close(file->timeline);
	file->timeline = NULL;
}

void ct_timeline_file_close(struct ct_timeline_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	ct_timeline_file_forget(file);
}

/* ---- one that is drawn ---- */

/* Looks on while a sink is drawn into: from when to when there is something. */
struct onlooker {
	struct ct_timeline_sink sink;
	struct ct_deep_range *bounds;
};

static void see(struct onlooker *o, uint64_t begin_ns, uint64_t end_ns)
{
	if (o->bounds->from_ns == CT_UNKNOWN)
		*o->bounds = (struct ct_deep_range){ begin_ns, begin_ns };
	if (begin_ns < o->bounds->from_ns)
		o->bounds->from_ns = begin_ns;
	if (end_ns != CT_TIMELINE_OPEN && end_ns > o->bounds->to_ns)
		o->bounds->to_ns = end_ns;
}

static int on_begin(void *arg, const struct ct_texts *texts, uint64_t begin_unix_ns,
		    const struct ct_timeline_fact *facts, size_t n)
{
	const struct onlooker *o = arg;

	return o->sink.begin(o->sink.arg, texts, begin_unix_ns, facts, n);
}

static int on_track(void *arg, const struct ct_timeline_track *track)
{
	const struct onlooker *o = arg;

	return o->sink.track(o->sink.arg, track);
}

static int on_slice(void *arg, const struct ct_timeline_slice *slice)
{
	struct onlooker *o = arg;

	see(o, slice->begin_ns, slice->end_ns);
	return o->sink.slice(o->sink.arg, slice);
}

static int on_counter(void *arg, uint32_t track, uint64_t at_ns, double gbps)
{
	struct onlooker *o = arg;

	see(o, at_ns, at_ns);
	return o->sink.counter(o->sink.arg, track, at_ns, gbps);
}

static int on_end(void *arg)
{
	const struct onlooker *o = arg;

	return o->sink.end(o->sink.arg);
}

static void on_progress(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	ct_progress_at(done, total);
}

/* A file of this user's, whose name is gone before anything is in it. NULL after it was said why. */
static FILE *open_nameless(void)
{
	const char *base = getenv("TMPDIR");
	char dir[PATH_MAX], path[PATH_MAX + 16];
	int fd = -1, error = ENAMETOOLONG;
	FILE *file;

	base = base && base[0] ? base : "/tmp";
	if ((size_t)snprintf(dir, sizeof(dir), "%s/commtrace-open.XXXXXX", base) < sizeof(dir) &&
	    mkdtemp(dir)) { /* which makes it with mode 0700 */
		snprintf(path, sizeof(path), "%s/run.pftrace", dir);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		error = errno;
		unlink(path);
		rmdir(dir);
	} else if (errno) {
		error = errno;
	}
	file = fd >= 0 ? fdopen(fd, "w+") : NULL;
	if (!file)
		ct_say("cannot make a file for the timeline: %s: %s", base, strerror(error));
	return file;
}

static int say_failure(const struct ct_paths *paths, int status, const struct ct_err *err)
{
	ct_say("cannot draw the timeline of %s: %s", paths->path[0],
	       err->text[0] ? err->text : ct_status_text(status));
	if (status == CT_FULL)
		ct_hint("draw a part of it with 'commtrace timeline --window' or --ranks and open "
			"that "
			"file");
	return CT_CODE_FAILED;
}

static int draw(struct ct_timeline_file *to, FILE *out, struct ct_timeline_result *result,
		struct ct_err *err)
{
	struct ct_perfetto *perfetto = ct_perfetto_new(out, CT_PERFETTO_LEVEL,
						       ct_open_threads(NULL));
	struct onlooker onlooker = { .bounds = &to->bounds };
	const struct ct_timeline_sink sink = { on_begin,   on_track, on_slice,
					       on_counter, on_end,   &onlooker };
	struct ct_perfetto_size size;
	int st = CT_NOMEM;

	if (perfetto) {
		onlooker.sink = ct_perfetto_sink(perfetto);
		st = ct_timeline_draw(to->timeline, &sink, result, err);
	}
	st = st ?: ct_perfetto_check(perfetto, &size, err);
	if (st == CT_OK && fflush(out) != 0)
		st = CT_IO;
	ct_perfetto_free(perfetto);
	to->size = st == CT_OK ? size.bytes : 0;
	return st;
}

static void say_kind(const struct ct_timeline *timeline)
{
	if (ct_timeline_kind(timeline) != CT_TIMELINE_OVERVIEW)
		return;
	ct_warn("the run holds more than %u slices: this is an overview of it", SLICES);
	ct_hint("'commtrace timeline' draws any part in full");
}

int ct_timeline_file_draw(struct ct_timeline_file *file, const struct ct_paths *paths,
			  const struct ct_run *run)
{
	/* the timeline keeps them */
	static struct ct_timeline_options options = { .restart = -1,
						      .to_ns = UINT64_MAX,
						      .max_slices = SLICES,
						      .flows = CT_FLOWS_BLAME,
						      .progress = on_progress };
	struct ct_timeline_result result;
	struct ct_err err = { 0 };
	FILE *out = open_nameless();
	int st;

	*file = (struct ct_timeline_file){ .fd = -1, .bounds = { CT_UNKNOWN, CT_UNKNOWN } };
	if (!out)
		return CT_CODE_FAILED;
	options.boot_id = ct_host_boot_id();
	options.threads = ct_open_threads(NULL);
	errno = 0;
	ct_progress_begin("drawing");
	st = ct_timeline_open(run, &options, &file->timeline, &result, &err);
	st = st ?: draw(file, out, &result, &err);
	ct_progress_end();
	if (st == CT_OK)
		say_kind(file->timeline);
	if (st == CT_IO && !err.text[0])
		ct_fail(&err, st, "no space for it in $TMPDIR: %s", strerror(errno ? errno : EIO));
	file->fd = st == CT_OK ? fcntl(fileno(out), F_DUPFD_CLOEXEC, 3) : -1;
	fclose(out);
	if (st == CT_OK && file->fd < 0)
		st = ct_fail(&err, CT_IO, "%s", strerror(errno));
	return st == CT_OK ? 0 : say_failure(paths, st, &err);
}
