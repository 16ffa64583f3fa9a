/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/cgroup.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* size: of /proc/self/cgroup, a line for each controller, and of counters of a few lines. A page,
 * which the kernel fills at a time. */
#define TEXT 4096u

static size_t read_text(int fd, char *text, size_t size)
{
	ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static int open_under(const char *folder, size_t len, const char *file)
{
	char path[sizeof(((struct ct_cgroup *)NULL)->path)];
	size_t file_len = strlen(file);

	if (len + file_len >= sizeof(path))
		return -1;
	memcpy(path, folder, len);
	memcpy(path + len, file, file_len + 1);
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

/* What follows the second colon of the line "N:CONTROLLERS:GROUP" of this controller ("" is version
 * 2's). */
static const char *group_of(const char *text, const char *controller)
{
	size_t len = strlen(controller);

	for (const char *line = text; line && *line; line = strchr(line, '\n'), line += !!line) {
		const char *names = strchr(line, ':');
		const char *end = names ? strchr(names + 1, ':') : NULL;

		if (!end)
			return NULL;
		for (const char *at = names + 1; at <= end; at += strcspn(at, ",:") + 1)
			if (strncmp(at, controller, len) == 0 && (at[len] == ':' || at[len] == ','))
				return end + 1;
	}
	return NULL;
}

static int add(struct ct_cgroup *g, const char *text, size_t len)
{
	if (g->len + len >= sizeof(g->path))
		return 0;
	memcpy(g->path + g->len, text, len);
	g->len += len;
	return 1;
}

static void drop_slashes(struct ct_cgroup *g)
{
	while (g->len > g->mount && g->path[g->len - 1] == '/')
		g->len--;
}

int ct_cgroup_find(const char *root, const char *controller, struct ct_cgroup *g)
{
	static const char mount[] = "/sys/fs/cgroup";
	const char *group;
	char text[TEXT];

	if (!read_text(open_under(root, strlen(root), "/proc/self/cgroup"), text, sizeof(text)))
		return 0;
	group = group_of(text, controller);
	g->len = 0;
	if (!group || !add(g, root, strlen(root)) || !add(g, mount, sizeof(mount) - 1) ||
	    (controller[0] && (!add(g, "/", 1) || !add(g, controller, strlen(controller)))))
		return 0;
	g->mount = g->len;
	if (!add(g, group, strcspn(group, "\n")))
		return 0;
	drop_slashes(g);
	return 1;
}

int ct_cgroup_up(struct ct_cgroup *g)
{
	if (g->len == g->mount)
		return 0;
	while (g->len > g->mount && g->path[g->len - 1] != '/')
		g->len--;
	drop_slashes(g);
	return 1;
}

int ct_cgroup_open(const struct ct_cgroup *g, const char *file)
{
	return open_under(g->path, g->len, file);
}

size_t ct_cgroup_read(const struct ct_cgroup *g, const char *file, char *text, size_t size)
{
	return read_text(ct_cgroup_open(g, file), text, size);
}

uint64_t ct_cgroup_number(const struct ct_cgroup *g, const char *file, const char *key)
{
	size_t len = strlen(key);
	uint64_t number = 0;
	char text[TEXT];
	const char *at = text;

	if (!ct_cgroup_read(g, file, text, sizeof(text)))
		return UINT64_MAX;
	while (strncmp(at, key, len) != 0) {
		at = strchr(at, '\n');
		if (!at)
			return UINT64_MAX;
		at++;
	}
	at += len;
	if (*at < '0' || *at > '9')
		return UINT64_MAX;
	for (; *at >= '0' && *at <= '9'; at++)
		number = number * 10 + (uint64_t)(*at - '0');
	return number;
}
