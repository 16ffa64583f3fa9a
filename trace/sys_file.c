/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/sys_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "trace/append.h"
#include "trace/path.h"

/* size: a root of up to 512 bytes, as tests have it, and the longest path below it. */
#define PATH_BYTES 640

void ct_file_tidy(char *line)
{
	size_t len = strcspn(line, "\n");

	while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\t'))
		len--;
	line[len] = '\0';
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
}

static size_t read_start(const char *path, char *to, size_t size)
{
	int fd = ct_fd_clear_of_stdio(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY));
	ssize_t n = fd >= 0 ? read(fd, to, size - 1) : -1;

	if (fd >= 0)
		close(fd);
	to[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* root and the rest; 0 if that is too long for any file meant here. */
__attribute__((format(printf, 3, 0))) static int make_path(char *path, const char *root,
							   const char *fmt, va_list ap)
{
	int len = snprintf(path, PATH_BYTES, "%s", root);
	int more;

	if (len < 0 || len >= PATH_BYTES)
		return 0;
	more = vsnprintf(path + len, (size_t)(PATH_BYTES - len), fmt, ap);
	return more >= 0 && more < PATH_BYTES - len;
}

size_t ct_file_start(char *to, size_t size, const char *root, const char *path)
{
	char name[PATH_BYTES];

	to[0] = '\0';
	if (snprintf(name, sizeof(name), "%s%s", root, path) >= (int)sizeof(name))
		return 0;
	return read_start(name, to, size);
}

int ct_file_line(char *line, size_t size, const char *root, const char *fmt, ...)
{
	char path[PATH_BYTES];
	va_list ap;
	int fits;

	va_start(ap, fmt);
	fits = make_path(path, root, fmt, ap);
	va_end(ap);
	line[0] = '\0';
	if (!fits || !read_start(path, line, size))
		return 0;
	ct_file_tidy(line);
	return line[0] != '\0';
}

int ct_file_find(char *rest, size_t size, const char *begin, const char *root, const char *path)
{
	char text[8192];
	size_t len = strlen(begin);
	char *at = text;

	rest[0] = '\0';
	if (!ct_file_start(text, sizeof(text), root, path))
		return 0;
	while (at && strncmp(at, begin, len) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return 0;
	at += len;
	at += strspn(at, " \t:");
	ct_file_tidy(at);
	snprintf(rest, size, "%s", at);
	return rest[0] != '\0';
}

int ct_file_link(char *name, size_t size, const char *root, const char *fmt, ...)
{
	char path[PATH_BYTES], target[PATH_BYTES];
	ssize_t n = -1;
	va_list ap;

	va_start(ap, fmt);
	if (make_path(path, root, fmt, ap))
		n = readlink(path, target, sizeof(target) - 1);
	va_end(ap);
	name[0] = '\0';
	if (n <= 0)
		return 0;
	target[n] = '\0';
	snprintf(name, size, "%s", ct_path_name(target));
	ct_file_tidy(name);
	return name[0] != '\0';
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

int ct_file_list(const char *root, const char *dir, ct_file_name *names, int most)
{
	char path[PATH_BYTES];
	struct dirent *entry;
	DIR *open_dir;
	int n = 0;

	snprintf(path, sizeof(path), "%s%s", root, dir);
	open_dir = opendir(path);
	if (!open_dir)
		return 0;
	while (n < most && (entry = readdir(open_dir))) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= CT_FILE_NAME ||
		    strchr(entry->d_name, '='))
			continue;
		memcpy(names[n++], entry->d_name, strlen(entry->d_name) + 1);
	}
	closedir(open_dir);
	qsort(names, (size_t)n, sizeof(*names), by_name);
	return n;
}
