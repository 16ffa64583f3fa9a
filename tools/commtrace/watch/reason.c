/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/watch/reason.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/commtrace/base/say.h"

/* fact: Kubernetes reads so much of a termination message. */
#define TERMINATION_MOST 4096

/* As we left them; zeroed: not written. */
static struct stat error_file, termination_message;

int ct_reason_put(int fd, const char *text, size_t n)
{
	while (n) {
		ssize_t done = write(fd, text, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		text += done;
		n -= (size_t)done;
	}
	return 0;
}

/* The text as torch.distributed.elastic's ErrorHandler writes it; NULL: out of memory. */
static char *error_text(const char *sentence, const char *details)
{
	char seconds[32], *text;
	json_t *value;

	snprintf(seconds, sizeof(seconds), "%lld", (long long)time(NULL));
	value = json_pack("{s:{s:s, s:{s:s, s:s}}}", "message", "message", sentence, "extraInfo",
			  "py_callstack", details ? details : sentence, "timestamp", seconds);
	text = value ? json_dumps(value, 0) : NULL;
	json_decref(value);
	return text;
}

static void write_error_file(const char *path, const char *sentence, const char *details)
{
	char *text = error_text(sentence, details);
	int fd = text ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644) : -1;

	if (fd < 0 && text && errno != EEXIST)
		ct_warn("%s: %s", path, strerror(errno));
	if (fd >= 0 && (ct_reason_put(fd, text, strlen(text)) < 0 || fstat(fd, &error_file) != 0)) {
		ct_warn("%s: %s", path, strerror(errno));
		unlink(path); /* half of it would be worse for its reader than none */
	}
	if (fd >= 0)
		close(fd);
	free(text);
}

static void write_termination_log(const char *path, const char *sentence)
{
	const size_t n = strlen(sentence);
	int fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return; /* no pod */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0 &&
	    (ct_reason_put(fd, sentence, n < TERMINATION_MOST ? n : TERMINATION_MOST) < 0 ||
	     fstat(fd, &termination_message) != 0))
		ct_warn("%s: %s", path, strerror(errno));
	close(fd);
}

void ct_reason_write(const char *sentence, const char *details, const char *termination_log)
{
	const char *path = getenv("TORCHELASTIC_ERROR_FILE");

	if (path && path[0])
		write_error_file(path, sentence, details);
	if (termination_log)
		write_termination_log(termination_log, sentence);
}

static int is_as_left(const char *path, struct stat *left)
{
	struct stat now;
	int same = left->st_ino && lstat(path, &now) == 0 && now.st_ino == left->st_ino &&
		   now.st_dev == left->st_dev && now.st_size == left->st_size &&
		   now.st_mtim.tv_sec == left->st_mtim.tv_sec &&
		   now.st_mtim.tv_nsec == left->st_mtim.tv_nsec;

	*left = (struct stat){ 0 };
	return same;
}

void ct_reason_withdraw(const char *termination_log)
{
	const char *path = getenv("TORCHELASTIC_ERROR_FILE");

	if (path && is_as_left(path, &error_file))
		unlink(path);
	if (termination_log && is_as_left(termination_log, &termination_message) &&
	    truncate(termination_log, 0) != 0)
		ct_warn("%s: %s", termination_log, strerror(errno));
}
