/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/recording.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/signals.h"
#include "trace/format.h"
#include "trace/path.h"
#include "trace/status.h"

/* size: so large that most results are written at once: why a write failed is known at the end only
 * for the last. glibc takes the size of a buffer only together with the buffer. */
#define BUFFER (1u << 18)
static char buffers[2][BUFFER];

void ct_stdout_begin(void)
{
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buffers[0], _IOFBF, BUFFER);
}

static int cannot(const char *path, int error)
{
	ct_say("cannot write the result: %s: %s", path, strerror(error));
	return CT_CODE_FAILED;
}

/* errno of a write is valid only until the next call; a pipe can be queried while it is open. */
static int reader_is_gone(int fd)
{
	struct pollfd pipe = { .fd = fd };

	return poll(&pipe, 1, 0) > 0 && (pipe.revents & POLLERR);
}

static int stdout_close(int error)
{
	static int closed, failed;

	if (closed)
		return failed;
	closed = 1;
	errno = 0;
	if (ferror(stdout) && !error)
		error = EIO; /* why it failed is no longer known */
	if (fflush(stdout) != 0 && errno)
		error = errno;
	if (error && reader_is_gone(STDOUT_FILENO))
		error = EPIPE;
	/* NFS reports a full disk at close(). */
	if (close(STDOUT_FILENO) != 0 && !error && errno != EBADF)
		error = errno;
	/* The reader has seen enough, as in `commtrace dump RUN | head`. */
	if (error == EPIPE)
		failed = CT_CODE_PIPE;
	else if (error)
		failed = cannot("standard output", error);
	return failed;
}

int ct_stdout_close(void)
{
	return stdout_close(0);
}

static int open_beside(struct ct_out *out)
{
	int fd, error;

	if (asprintf(&out->temp, "%s.tmp.%d", out->path, (int)getpid()) < 0) {
		out->temp = NULL;
		return -1;
	}
	/* A user who interrupts on seeing the file must not be earlier than its entry in the list
	 * of files to remove. */
	ct_signals_hold();
	fd = open(out->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	error = errno;
	if (fd >= 0)
		ct_signals_remove_on_end(out->temp);
	ct_signals_release();
	if (fd >= 0)
		return fd;
	free(out->temp); /* not ours to remove */
	out->temp = NULL;
	errno = error;
	return -1;
}

/* What was recorded is never replaced by a result, whatever --force says. */
static int is_recording(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint64_t magic = 0;
	ssize_t n = fd >= 0 ? read(fd, &magic, sizeof(magic)) : 0;

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)sizeof(magic) && (magic == CT_SEGMENT_MAGIC || magic == CT_RING_MAGIC);
}

/* Would it be taken for a part of a recording, were it in the directory of one? */
static int is_called_recording(const char *path)
{
	return ct_recording_kind(ct_path_name(path)) != CT_RECORDING_NONE;
}

int ct_out_open(struct ct_out *out, const char *path, int force)
{
	struct stat st;
	int fd, code;

	*out = (struct ct_out){ .file = stdout };
	if (!path || strcmp(path, "-") == 0)
		return 0;
	out->path = strdup(path);
	if (!out->path)
		return cannot(path, ENOMEM);
	out->file = NULL;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		fd = open(path, O_WRONLY | O_CLOEXEC);
	} else if (lstat(path, &st) == 0 && !force) {
		ct_say("cannot write the result: %s: it is already there", path);
		ct_hint("--force replaces it");
		ct_out_drop(out);
		return CT_CODE_FAILED;
	} else if (is_recording(path)) {
		ct_say("cannot write the result: %s: it is a part of a recording", path);
		ct_out_drop(out);
		return CT_CODE_FAILED;
	} else if (is_called_recording(path)) {
		ct_say("cannot write the result: %s: files of recordings are called so", path);
		ct_hint("choose a name that does not end in .seg, .ring or .ring.zst");
		ct_out_drop(out);
		return CT_CODE_FAILED;
	} else {
		fd = open_beside(out);
	}
	out->file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (out->file) {
		setvbuf(out->file, buffers[1], _IOFBF, BUFFER);
		return 0;
	}
	code = cannot(path, errno);
	if (fd >= 0)
		close(fd);
	ct_out_drop(out);
	return code;
}

static int give_up(struct ct_out *out, int error)
{
	int code = cannot(out->path, error);

	ct_out_drop(out);
	return code;
}

/* The file is whole then, and not yet at its path. */
static int finish(struct ct_out *out)
{
	int error = 0;

	if (!out->path || !out->file)
		return 0;
	if (ferror(out->file))
		error = out->error ? out->error : EIO;
	if (fclose(out->file) != 0 && !error)
		error = errno;
	out->file = NULL;
	return error ? give_up(out, error) : 0;
}

int ct_out_close(struct ct_out *out)
{
	int code;

	if (!out->path)
		return stdout_close(out->error);
	code = finish(out);
	if (code)
		return code;
	if (out->temp) {
		if (rename(out->temp, out->path) != 0)
			return give_up(out, errno);
		ct_signals_keep(out->temp);
		free(out->temp);
		out->temp = NULL;
	}
	ct_out_drop(out);
	return 0;
}

void ct_out_drop(struct ct_out *out)
{
	if (out->path && out->file)
		fclose(out->file);
	if (out->temp) {
		unlink(out->temp);
		ct_signals_keep(out->temp);
	}
	free(out->temp);
	free(out->path);
	*out = (struct ct_out){ 0 };
}

int ct_out_json(struct ct_out *out, json_t *value)
{
	int failed = !value;

	if (value && json_dumpf(value, out->file, JSON_INDENT(1)) == 0)
		fputc('\n', out->file);
	else if (value && !ferror(out->file))
		failed = 1; /* invalid UTF-8: an error of the renderer */
	json_decref(value);
	if (!failed)
		return 0;
	ct_say("cannot write the result: %s", ct_status_text(CT_NOMEM));
	return CT_CODE_FAILED;
}
