/* SPDX-License-Identifier: Apache-2.0 */
/* account_job.c — a program of one thread that communicates, and what the kernel says of all other
 * threads of its process.
 *
 *     account_job MS
 *
 * Calls a libgloo that does nothing, ten times a second for so long. Prints "threads N voluntary N
 * involuntary N cpu_ns N": the sums over /proc/self/task without its own. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void allreduce(const void *options) __asm__("_ZN4gloo9allreduceERKNS_16AllreduceOptionsE");

/* As far as the wrapper looks at gloo's objects. */
static const struct {
	const void *table;
	int rank, size;
	char rest[64];
} context = { .size = 4 };

static struct {
	const void *context;
	char a[72];
	uint64_t elements, element_size;
	char b[104];
} options = { .context = &context, .elements = 1024, .element_size = 4 };

static unsigned threads;
static unsigned long long voluntary, involuntary, cpu_ns;

static void read_file(const char *tid, const char *name, char *to, size_t cap)
{
	char path[300];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/self/task/%s/%s", tid, name);
	f = fopen(path, "r");
	n = f ? fread(to, 1, cap - 1, f) : 0;
	to[n] = '\0';
	if (f)
		fclose(f);
}

static unsigned long long number_after(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

static void add(const char *tid)
{
	char text[4096];

	threads++;
	read_file(tid, "status", text, sizeof(text));
	voluntary += number_after(text, "\nvoluntary_ctxt_switches:");
	involuntary += number_after(text, "\nnonvoluntary_ctxt_switches:");
	read_file(tid, "schedstat", text, sizeof(text));
	cpu_ns += strtoull(text, NULL, 10);
}

int main(int argc, char **argv)
{
	const struct timespec nap = { .tv_nsec = 100000000 };
	DIR *tasks;
	struct dirent *task;

	for (int i = 0; argc == 2 && i < atoi(argv[1]) / 100; i++) {
		allreduce(&options);
		nanosleep(&nap, NULL);
	}
	tasks = opendir("/proc/self/task");
	while (tasks && (task = readdir(tasks)))
		if (task->d_name[0] != '.' && atoi(task->d_name) != (int)getpid())
			add(task->d_name);
	printf("threads %u voluntary %llu involuntary %llu cpu_ns %llu\n", threads, voluntary,
	       involuntary, cpu_ns);
	return 0;
}
