/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/oom.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT 4096u
#define PATH 1024u

static int open_at(const char *root, const char *mount, const char *group, size_t group_len,
		   const char *file)
{
	size_t root_len = strlen(root), mount_len = strlen(mount), file_len = strlen(file);
	char path[PATH];
	char *at = path;

	if (root_len + mount_len + group_len + file_len >= PATH)
		return -1;
	at = mempcpy(at, root, root_len);
	at = mempcpy(at, mount, mount_len);
	at = mempcpy(at, group, group_len);
	memcpy(at, file, file_len + 1);
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

/* A NUL behind what is read; 0 if it cannot be. */
static size_t read_text(int fd, char text[TEXT])
{
	ssize_t n = fd >= 0 ? read(fd, text, TEXT - 1) : -1;

	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* "oom_kill N" in a line of its own. */
static int find_kills(const char *text, uint64_t *kills)
{
	static const char word[] = "oom_kill ";
	const char *at = text;

	while (strncmp(at, word, sizeof(word) - 1) != 0) {
		at = strchr(at, '\n');
		if (!at)
			return 0;
		at++;
	}
	*kills = 0;
	for (at += sizeof(word) - 1; *at >= '0' && *at <= '9'; at++)
		*kills = *kills * 10 + (uint64_t)(*at - '0');
	return 1;
}

static int take(int fd, struct ct_oom *oom)
{
	char text[TEXT];
	struct stat st;
	int found = fd >= 0 && read_text(fd, text) && find_kills(text, &oom->kills) &&
		    fstat(fd, &st) == 0;

	if (found)
		oom->where = (uint64_t)st.st_dev << 32 ^ (uint64_t)st.st_ino;
	if (fd >= 0)
		close(fd);
	return found && oom->where;
}

/* The group itself or, where its path is that of another namespace, the nearest one above that is there. */
static int look(const char *root, const char *mount, const char *group, const char *file,
		struct ct_oom *oom)
{
	size_t len = strcspn(group, "\n");

	for (;;) {
		while (len && group[len - 1] == '/')
			len--;
		if (take(open_at(root, mount, group, len, file), oom))
			return 1;
		if (!len)
			return 0;
		while (len && group[len - 1] != '/')
			len--;
	}
}

/* What stands behind the second colon of the line "N:CONTROLLERS:GROUP", of this controller ("" is version 2's). */
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

int ct_oom_read(const char *root, struct ct_oom *oom)
{
	const char *group;
	char text[TEXT];
	int saved = errno;
	int fd = open_at(root, "/proc/self/cgroup", "", 0, "");
	int found = 0;

	if (read_text(fd, text)) {
		/* where both are mounted, memory is one version's only */
		group = group_of(text, "memory");
		if (group)
			found = look(root, "/sys/fs/cgroup/memory", group, "/memory.oom_control",
				     oom);
		group = group_of(text, "");
		if (!found && group)
			found = look(root, "/sys/fs/cgroup", group, "/memory.events", oom);
	}
	if (fd >= 0)
		close(fd);
	errno = saved;
	return found;
}
