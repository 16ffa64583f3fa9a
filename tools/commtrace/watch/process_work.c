/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/watch/process_work.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* tuning: a process is at work if it computes for a tenth of a core, or would if it had one, or
 * moves so many bytes, between two looks. The recorder's threads take a hundredth of a core and
 * write some hundred kilobytes. docs/how-to/ON_VERDICT.md and the help say so. */
#define WORK_SHARE 10
#define WORK_BYTES (4ull << 20)

/* size: processes of a host; what is started by more is not seen */
#define MOST_PROCESSES (1u << 17)
/* size: generations from a rank to what it started, as launcher, make, sh, compiler driver,
 * compiler */
#define MOST_GENERATIONS 64

struct process_cpu {
	uint32_t pid, parent;
	uint64_t cpu_ticks;
	int in_disk_wait;
};

struct processes {
	struct process_cpu *all; /* by pid */
	size_t n, cap;
};

static uint64_t number_after(const char *text, const char *label)
{
	const char *at = strstr(text, label);

	return at ? strtoull(at + strlen(label), NULL, 10) : 0;
}

static size_t read_proc(uint32_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	n = fread(text, 1, size - 1, file);
	text[n] = '\0';
	fclose(file);
	return n;
}

static int read_process(uint32_t pid, struct process_cpu *process)
{
	unsigned long long
		ticks[4]; /* its own and those of children it waited for, in user and kernel mode */
	char text[1024], state, *behind;
	uint32_t parent;

	if (!read_proc(pid, "stat", text, sizeof(text)))
		return 0;
	behind = strrchr(text, ')'); /* a name may hold anything */
	if (!behind ||
	    sscanf(behind + 1,
		   " %c %" SCNu32 " %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
		   &state, &parent, &ticks[0], &ticks[1], &ticks[2], &ticks[3]) != 6)
		return 0;
	*process = (struct process_cpu){ .pid = pid,
					 .parent = parent,
					 .cpu_ticks = ticks[0] + ticks[1] + ticks[2] + ticks[3],
					 .in_disk_wait = state == 'D' };
	return 1;
}

static int by_pid(const void *a, const void *b)
{
	const struct process_cpu *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static const struct process_cpu *find(const struct processes *processes, uint32_t pid)
{
	const struct process_cpu key = { .pid = pid };

	return processes->n ? bsearch(&key, processes->all, processes->n, sizeof(key), by_pid)
			    : NULL;
}

static int add(struct processes *processes, const struct process_cpu *process)
{
	if (processes->n == processes->cap) {
		size_t cap = processes->cap ? 2 * processes->cap : 1024;
		struct process_cpu *all = realloc(processes->all, cap * sizeof(*all));

		if (!all)
			return 0;
		processes->all = all;
		processes->cap = cap;
	}
	processes->all[processes->n++] = *process;
	return 1;
}

/* One pass over /proc: the kernel's lists of children are kept by thread, and a rank has hundreds. */
static void read_all(struct processes *processes)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	struct process_cpu process;

	while (dir && processes->n < MOST_PROCESSES && (entry = readdir(dir))) {
		char *end;
		unsigned long pid = strtoul(entry->d_name, &end, 10);

		if (pid && !*end && read_process((uint32_t)pid, &process) &&
		    !add(processes, &process))
			break;
	}
	if (dir)
		closedir(dir);
	if (processes->n)
		qsort(processes->all, processes->n, sizeof(*processes->all), by_pid);
}

/* Whose work it is: its own if it is one of them, else that of the nearest ancestor that is; NULL:
 * of none. */
static struct ct_process_work *owner_of(const struct processes *processes,
					const struct process_cpu *process,
					struct ct_process_work *work, size_t n,
					const uint32_t *others, size_t n_others)
{
	for (int i = 0; process && i < MOST_GENERATIONS; i++) {
		for (size_t k = 0; k < n; k++)
			if (work[k].pid == process->pid)
				return &work[k];
		for (size_t k = 0; k < n_others; k++)
			if (others[k] == process->pid)
				return NULL;
		process = find(processes, process->parent);
	}
	return NULL;
}

static void count(const struct process_cpu *process, struct ct_process_work *work)
{
	char text[1024];
	uint64_t queued_ns;

	work->cpu_ticks += process->cpu_ticks;
	work->in_disk_wait |= process->in_disk_wait;
	if (read_proc(process->pid, "schedstat", text, sizeof(text)) &&
	    sscanf(text, "%*u %" SCNu64, &queued_ns) == 1)
		work->queued_ns += queued_ns;
	if (read_proc(process->pid, "io", text, sizeof(text)))
		work->io_bytes += number_after(text, "rchar: ") + number_after(text, "wchar: ");
}

void ct_process_work(struct ct_process_work *work, size_t n, const uint32_t *others,
		     size_t n_others)
{
	struct processes processes = { 0 };

	read_all(&processes);
	for (size_t i = 0; i < n; i++)
		work[i] = (struct ct_process_work){ .pid = find(&processes, work[i].pid)
								   ? work[i].pid
								   : 0 };
	for (size_t i = 0; i < processes.n; i++) {
		struct ct_process_work *owner = owner_of(&processes, &processes.all[i], work, n,
							 others, n_others);

		if (owner)
			count(&processes.all[i], owner);
	}
	free(processes.all);
}

/* What ended meanwhile may have taken its sums along. */
static uint64_t more(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

int ct_process_has_worked(const struct ct_process_work *before, const struct ct_process_work *now,
			  uint64_t apart_ns)
{
	const uint64_t tick_ns = 1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t wanted_ns;

	if (!now->pid || now->pid != before->pid)
		return 0;
	wanted_ns = more(before->cpu_ticks, now->cpu_ticks) * tick_ns +
		    more(before->queued_ns, now->queued_ns);
	return now->in_disk_wait || wanted_ns * WORK_SHARE > apart_ns ||
	       more(before->io_bytes, now->io_bytes) > WORK_BYTES;
}
