/* SPDX-License-Identifier: Apache-2.0 */
/* A start of recording that fails half-way: what was made is gone, what could be started works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "interpose/gpu/graph/graph.h"
#include "interpose/recorder.h"
#include "interpose/writer.h"
#include "tests/interpose/fake_gloo.h"
#include "tests/interpose/recorded.h"

/* What fails, in the child. */
static int no_memory, no_write_thread;

int __real_ct_graph_init(int list);
int __wrap_ct_graph_init(int list);
int __wrap_ct_graph_init(int list)
{
	return no_memory ? CT_NOMEM : __real_ct_graph_init(list);
}

int __real_ct_writer_start(const struct ct_writer_options *options);
int __wrap_ct_writer_start(const struct ct_writer_options *options);
int __wrap_ct_writer_start(const struct ct_writer_options *options)
{
	return no_write_thread ? -1 : __real_ct_writer_start(options);
}

static void call(void)
{
	struct fake_context context = { .rank = 0, .size = 2 };
	struct fake_options barrier = { .context = &context };

	gloo_barrier(&barrier);
}

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static void without_memory_job(void)
{
	int before = count_descriptors();

	no_memory = 1;
	call();
	if (count_descriptors() != before)
		_exit(3);
	if (ct_recorder.ring.header || recorded_rings_left() != 0)
		_exit(4);
}

static void a_start_that_fails_leaves_neither_ring_nor_descriptors(void **state)
{
	static const char *const with_log[] = { "COMMTRACE_LOG_FILE=/dev/null", NULL };

	(void)state;
	assert_int_equal(recorded_run(without_memory_job, with_log), 0);
}

static void without_write_thread_job(void)
{
	const struct ct_ring_header *h;

	no_write_thread = 1;
	call();
	h = ct_recorder.ring.header;
	for (int i = 0; i < 1000 && atomic_load(&h->beat_ns) == h->process.start_ns; i++)
		usleep(10000);
	if (atomic_load(&h->beat_ns) == h->process.start_ns)
		_exit(3);
	_exit(atomic_load(&h->losses[CT_LOSS_THREAD_FAILED]) == 1 ? 0 : 4);
}

static void without_a_write_thread_the_heart_beats(void **state)
{
	(void)state;
	assert_int_equal(recorded_run(without_write_thread_job, NULL), 0);
}

/* Bytes of this process's writable memory of which the kernel may make huge pages, where it makes
 * them of all it can. */
static unsigned long open_to_huge_pages(void)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long from, to, bytes = 0, sum = 0;
	char line[512], access[8];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %7s", &from, &to, access) == 3)
			bytes = access[1] == 'w' && access[3] == 'p' && to - from >= 2 << 20
					? to - from
					: 0;
		if (strncmp(line, "VmFlags:", 8) == 0 && !strstr(line, " nh"))
			sum += bytes;
	}
	if (f)
		fclose(f);
	return sum;
}

static void huge_pages_job(void)
{
	unsigned long before = open_to_huge_pages();

	call();
	_exit(open_to_huge_pages() <= before ? 0 : 3);
}

/* The tables are made for the worst case: huge pages would make memory of what is never used. */
static void tables_are_not_made_of_huge_pages(void **state)
{
	(void)state;
	if (access("/sys/kernel/mm/transparent_hugepage", F_OK) != 0)
		skip();
	assert_int_equal(recorded_run(huge_pages_job, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_that_fails_leaves_neither_ring_nor_descriptors),
		cmocka_unit_test(without_a_write_thread_the_heart_beats),
		cmocka_unit_test(tables_are_not_made_of_huge_pages),
	};
	int failed = cmocka_run_group_tests_name("setup", tests, NULL, NULL);

	recorded_remove();
	return failed;
}
