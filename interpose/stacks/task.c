/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/stacks/task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file's beginning as a text; its length, -1 with errno. */
static ssize_t read_file(uint32_t tid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%u/%s", tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	got = read(fd, text, size - 1);
	close(fd);
	if (got >= 0)
		text[got] = '\0';
	return got;
}

/* "230 0x0 ... SP PC", "-1 SP PC" outside a system call, or "running". */
static void read_syscall(struct ct_proc_task *task)
{
	uint64_t numbers[16];
	unsigned n = 0;
	char text[256], *p = text, *end;

	task->where = CT_TASK_UNKNOWN;
	task->call = -1;
	if (read_file(task->tid, "syscall", text, sizeof(text)) <= 0)
		return;
	if (strncmp(text, "running", 7) == 0) {
		task->where = CT_TASK_RUNNING;
		return;
	}
	task->call = (int32_t)strtol(p, &end, 10);
	for (p = end; n < 16 && *p == ' '; p = end, n++)
		numbers[n] = strtoull(p, &end, 16);
	if (n < 2)
		return;
	task->sp = (uintptr_t)numbers[n - 2];
	task->pc = (uintptr_t)numbers[n - 1];
	task->where = CT_TASK_SLEEPS;
}

/* "TID (name) S ppid ...": the name may have any characters. utime and stime are the 12th and 13th
 * behind it. */
static int read_stat(struct ct_proc_task *task)
{
	char text[512], *open_, *close_, *p;
	unsigned long long user = 0, kernel = 0;
	size_t len;

	if (read_file(task->tid, "stat", text, sizeof(text)) <= 0)
		return errno == ENOENT || errno == ESRCH ? -1 : 0;
	open_ = strchr(text, '(');
	close_ = strrchr(text, ')');
	if (!open_ || !close_ || close_ < open_ || close_[1] != ' ')
		return 0;
	len = (size_t)(close_ - open_ - 1);
	len = len < sizeof(task->name) - 1 ? len : sizeof(task->name) - 1;
	memcpy(task->name, open_ + 1, len);
	task->name[len] = '\0';
	task->state = close_[2];
	p = close_ + 3;
	for (int field = 0; field < 10 && p; field++)
		p = strchr(p + 1, ' ');
	if (p && sscanf(p, "%llu %llu", &user, &kernel) == 2)
		task->cpu_ns = (user + kernel) * (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK));
	return task->state == 'Z' || task->state == 'X' ? -1 : 0;
}

int ct_task_read(struct ct_proc_task *task, uint32_t tid)
{
	unsigned long long ran;
	char text[64];

	memset(task, 0, sizeof(*task));
	task->tid = tid;
	if (read_stat(task) != 0)
		return -1;
	/* to the nanosecond, where the kernel counts it */
	if (read_file(tid, "schedstat", text, sizeof(text)) > 0 &&
	    sscanf(text, "%llu", &ran) == 1 && ran)
		task->cpu_ns = ran;
	read_syscall(task);
	return 0;
}

int ct_task_is_still(const struct ct_proc_task *task)
{
	struct ct_proc_task now = { .tid = task->tid };

	read_syscall(&now);
	return now.where == task->where && now.pc == task->pc && now.sp == task->sp &&
	       now.call == task->call;
}

/* The directory of threads has a link for each of them, and its own two. */
uint32_t ct_task_count(void)
{
	struct stat st;

	return stat("/proc/self/task", &st) == 0 && st.st_nlink > 2 ? (uint32_t)st.st_nlink - 2 : 0;
}
