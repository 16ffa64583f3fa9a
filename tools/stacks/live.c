/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/stacks/live.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tools/stacks/need.h"

#define MOST_THREADS 16384u /* size: of a process; more are not looked at */

ssize_t ct_live_file(pid_t pid, uint32_t tid, const char *name, char *text, size_t size)
{
	char path[96];
	ssize_t got;
	int fd, error;

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%u/%s", (int)pid, tid, name);
	else
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	got = read(fd, text, size - 1);
	error = errno;
	close(fd);
	errno = error;
	text[got > 0 ? got : 0] = '\0';
	return got;
}

size_t ct_live_peek(pid_t pid, uint64_t from, void *to, size_t len)
{
	struct iovec local = { .iov_base = to, .iov_len = len };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)from, .iov_len = len };
	ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

static int fetch_page(void *source, uint64_t from, uint8_t to[CT_PAGE])
{
	const struct ct_target *target = source;

	return ct_live_peek(target->alive, from, to, CT_PAGE) == CT_PAGE ? 0 : -1;
}

static int read_true(struct ct_target *target, uint64_t from, void *to, size_t len)
{
	return ct_pages_read(&target->pages, from, to, len);
}

/* ---- what is mapped ---- */

/* "begin-end rwxp offset dev inode path": the path may be missing, and may have blanks. */
static int take_line(struct ct_ranges *ranges, char *line)
{
	unsigned long long begin, end, offset;
	char mode[5];
	int at = 0;
	struct ct_range *range;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %n", &begin, &end, mode, &offset, &at) < 4 ||
	    !at)
		return -1;
	ranges->list = ct_need_more(ranges->list, ranges->n, sizeof(*ranges->list));
	range = &ranges->list[ranges->n++];
	*range = (struct ct_range){ .begin = begin,
				    .end = end,
				    .offset = offset,
				    .path = ct_need_text("%s", line + at),
				    .is_code = mode[2] == 'x',
				    .is_writable = mode[1] == 'w' };
	return 0;
}

static int read_ranges(struct ct_target *target)
{
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)target->alive);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (getline(&line, &room, file) > 0)
		take_line(&target->ranges, line);
	free(line);
	fclose(file);
	return 0;
}

/* ---- its threads ---- */

/* The name of a program may hold anything. */
char ct_live_state(pid_t pid, uint32_t tid)
{
	char text[512], *end;

	if (ct_live_file(pid, tid, "stat", text, sizeof(text)) <= 0)
		return 0;
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : 0;
}

static void add_thread(struct ct_target *target, uint32_t tid)
{
	struct ct_stack_sample *sample;
	char name[32] = "";

	if (target->n_samples == MOST_THREADS) {
		ct_target_misses(target, ct_need_text("it has more than %u threads", MOST_THREADS));
		return;
	}
	target->samples = ct_need_more(target->samples, target->n_samples,
				       sizeof(*target->samples));
	sample = &target->samples[target->n_samples++];
	*sample = (struct ct_stack_sample){ .tid = tid, .state = ct_live_state(target->pid, tid) };
	ct_live_file(target->pid, tid, "comm", name, sizeof(name));
	name[strcspn(name, "\n")] = '\0';
	memcpy(sample->name, name, sizeof(sample->name) - 1);
}

static int by_tid(const void *a, const void *b)
{
	const struct ct_stack_sample *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* The first thread is the one with the number of the process. */
static void read_threads(struct ct_target *target)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)target->pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != target->pid)
			add_thread(target, (uint32_t)strtoul(entry->d_name, NULL, 10));
	if (dir)
		closedir(dir);
	qsort(target->samples, target->n_samples, sizeof(*target->samples), by_tid);
	add_thread(target, (uint32_t)target->pid);
	if (target->n_samples > 1) {
		struct ct_stack_sample first = target->samples[target->n_samples - 1];

		memmove(&target->samples[1], target->samples,
			(target->n_samples - 1) * sizeof(first));
		target->samples[0] = first;
	}
}

/* ---- why not ---- */

static uid_t owner_of(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) == 0 ? st.st_uid : (uid_t)-1;
}

void ct_live_refused(struct ct_target *target)
{
	uid_t owner = owner_of(target->pid);
	char scope[16] = "";
	int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		ssize_t got = read(fd, scope, sizeof(scope) - 1);

		scope[got > 0 ? got : 0] = '\0';
		close(fd);
	}
	if (geteuid() != 0 && owner != geteuid()) {
		target->error = ct_need_text("it belongs to another user (id %u)", owner);
		target->hint = "run this command as that user, or as root";
	} else if (scope[0] == '3') {
		target->error = "this kernel forbids attaching to any process "
				"(kernel.yama.ptrace_scope is 3)";
		target->hint = "a core has the same stacks, if the job can be ended: kill -ABRT";
	} else if (geteuid() != 0 && (scope[0] == '1' || scope[0] == '2')) {
		target->error = ct_need_text("this kernel lets only %s attach to it "
					     "(kernel.yama.ptrace_scope is %c)",
					     scope[0] == '1' ? "its parents and root" : "root",
					     scope[0]);
		target->hint = "run this command as root, or: sysctl -w kernel.yama.ptrace_scope=0";
	} else {
		target->error = "the kernel does not permit attaching to it";
		target->hint = "in a container: start it with --cap-add=SYS_PTRACE, or run this "
			       "command on its host; "
			       "a process that changed its user is closed as well";
	}
}

/* What /proc/PID/status has behind a word like "TracerPid:"; 0 without. */
static long number_in_status(pid_t pid, const char *word)
{
	char text[4096], *at;

	if (ct_live_file(pid, 0, "status", text, sizeof(text)) <= 0)
		return 0;
	at = strstr(text, word);
	return at ? strtol(at + strlen(word), NULL, 10) : 0;
}

static void refuse_traced(struct ct_target *target, long tracer)
{
	char name[32] = "";

	ct_live_file((pid_t)tracer, 0, "comm", name, sizeof(name));
	name[strcspn(name, "\n")] = '\0';
	target->error = ct_need_text("process %ld (%s) traces it, and only one can", tracer,
				     *name ? name : "of another container");
	target->hint = "end that debugger or tracer first";
}

/* The class of its program: cores and registers of 32 bits are another world. */
static int is_32_bit(pid_t pid)
{
	unsigned char head[EI_NIDENT] = { 0 };

	return ct_live_file(pid, 0, "exe", (char *)head, sizeof(head)) > EI_CLASS &&
	       memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_CLASS] == ELFCLASS32;
}

static char *command_line(pid_t pid)
{
	char text[1024], name[32] = "";
	ssize_t got = ct_live_file(pid, 0, "cmdline", text, sizeof(text));

	if (got <= 0) {
		ct_live_file(pid, 0, "comm", name, sizeof(name));
		name[strcspn(name, "\n")] = '\0';
		return ct_need_text("[%s]", name);
	}
	while (got > 0 && !text[got - 1])
		got--;
	for (ssize_t i = 0; i < got; i++)
		if (!text[i])
			text[i] = ' ';
	return ct_need_text("%.*s", (int)got, text);
}

void ct_live_open(struct ct_target *target, pid_t pid)
{
	char state = ct_live_state(pid, 0);
	long tracer;

	*target = (struct ct_target){ .pid = pid, .core_fd = -1, .read_true = read_true };
	target->pages.fetch = fetch_page;
	target->pages.source = target;
	if (!state) {
		target->error = "there is no such process";
		target->hint = "inside a container processes have other numbers than on its host";
		return;
	}
	read_threads(target);
	for (size_t i = target->n_samples; i; i--)
		if (target->samples[i - 1].state != 'Z' && target->samples[i - 1].state != 'X')
			target->alive = (pid_t)target->samples[i - 1].tid;
	if (!target->alive) {
		target->error = "it has ended (a zombie until its parent waits for it), and has no "
				"stack";
		return;
	}
	target->program = command_line(target->alive);
	if (is_32_bit(target->alive)) {
		target->error = "it is a program of 32 bits; only those of 64 bits can be read";
		return;
	}
	tracer = number_in_status(target->alive, "TracerPid:");
	if (tracer) {
		refuse_traced(target, tracer);
		return;
	}
	if (read_ranges(target) != 0) {
		ct_live_refused(target);
		return;
	}
	if (!target->ranges.n)
		target->error = "it has no memory of its own: a thread of the kernel, or a process "
				"that ends";
}
