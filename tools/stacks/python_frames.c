/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/stacks/python_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/stacks/need.h"
#include "tools/stacks/object.h"

#define MOST_THREADS 16384u /* size: that an interpreter knows */
#define PTHREAD_WORDS 576u  /* fact: a struct pthread of glibc is not smaller than 2304 bytes */

/* What is read through; interpose/python passes no argument of its own. */
static struct ct_pages *reading;
static struct ct_python_thread threads[MOST_THREADS];
static uint32_t n_threads;

static int read_through(uintptr_t from, void *to, size_t len)
{
	return ct_pages_read(reading, from, to, len);
}

/* ---- the interpreter ---- */

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "python3.9" or "libpython3.9.so.1.0", or the program itself whatever its name: it may be linked
 * into it. */
static int may_hold_python(const struct ct_target *target, const struct ct_range *range)
{
	const char *name = base(range->path);

	return range->path[0] == '/' && range->is_code &&
	       (strncmp(name, "python", 6) == 0 || strncmp(name, "libpython", 9) == 0 ||
		strcmp(range->path, target->ranges.list[0].path) == 0);
}

/* "python3.9" in a path is 0x03090000. */
static uint32_t version_in(const char *path)
{
	const char *at = strstr(path, "python3.");
	unsigned minor = 0;

	return at && sscanf(at + 8, "%3u", &minor) == 1 && minor < 256
		       ? 0x03000000 | (uint32_t)minor << 16
		       : 0;
}

/* From 3.11 on it says so itself; before, the names of its files do. */
static uint32_t version_of(struct ct_target *target, struct ct_range *range)
{
	uint64_t address, mapped, word;
	uint32_t version = version_in(base(range->path));

	if (ct_object_symbol(target, range, "Py_Version", &address) == 0 &&
	    ct_object_mapped(target, range, address, &mapped) == 0 &&
	    read_through(mapped, &word, sizeof(word)) == 0 && word >> 24 == 3)
		return (uint32_t)word;
	for (size_t i = 0; i < target->ranges.n && !version; i++)
		version = version_in(target->ranges.list[i].path);
	return version;
}

static uintptr_t address_of(struct ct_target *target, struct ct_range *range, const char *name)
{
	uint64_t address, mapped;

	return ct_object_symbol(target, range, name, &address) == 0 &&
			       ct_object_mapped(target, range, address, &mapped) == 0
		       ? (uintptr_t)mapped
		       : 0;
}

void ct_python_of(struct ct_target *target)
{
	struct ct_python *py = &target->python;
	struct ct_range *range = NULL;

	reading = &target->pages;
	for (size_t i = 0; i < target->ranges.n && !py->runtime; i++) {
		range = &target->ranges.list[i];
		if (may_hold_python(target, range))
			py->runtime = address_of(target, range, "_PyRuntime");
	}
	if (!py->runtime)
		return;
	py->code_type = address_of(target, range, "PyCode_Type");
	py->text_type = address_of(target, range, "PyUnicode_Type");
	if (ct_python_lay_out(py, read_through, version_of(target, range)) != 0) {
		target->python_error = ct_need_text("its Python %u.%u has an unknown layout",
						    py->version >> 24, py->version >> 16 & 255);
		py->runtime = 0;
	}
}

/* ---- its threads ---- */

/* Where the C library keeps a thread's number, for threads whose pthread_t is not known: the first
 * thread's number is that of the process. */
static uint32_t find_tid_at(const struct ct_target *target)
{
	uint32_t words[PTHREAD_WORDS];

	for (uint32_t t = 0; t < n_threads; t++) {
		if (!threads[t].pthread ||
		    read_through(threads[t].pthread, words, sizeof(words)) != 0)
			continue;
		for (uint32_t i = 0; i < PTHREAD_WORDS; i++)
			if (words[i] == (uint32_t)target->pid)
				return i * 4;
	}
	return 0;
}

void ct_python_list(struct ct_target *target, struct ct_pages *pages)
{
	struct ct_python *py = &target->python;

	n_threads = 0;
	if (!py->runtime)
		return;
	reading = pages;
	ct_pages_forget(pages);
	n_threads = ct_python_threads(py, read_through, threads, MOST_THREADS);
	if (py->at.thread_tid == CT_PYTHON_NOT_THERE && !py->tid_at) {
		py->tid_at = find_tid_at(target);
		n_threads = ct_python_threads(py, read_through, threads, MOST_THREADS);
	}
}

/* Is it the thread that it was when it was listed? Its memory may be another one's now. */
static int is_still(const struct ct_python *py, const struct ct_python_thread *thread)
{
	uint64_t pthread = 0;

	return read_through(thread->state + py->at.thread_pthread, &pthread, sizeof(pthread)) ==
		       0 &&
	       pthread == thread->pthread;
}

/* By its pthread_t, which is the same in all namespaces; by its number where that is not known. */
static int is_of(const struct ct_python_thread *thread, const struct ct_stack_sample *sample)
{
	return sample->registers.fs_base ? thread->pthread == sample->registers.fs_base
					 : thread->tid == sample->tid;
}

static void add_frames(struct ct_target *target, struct ct_stack_sample *sample, uintptr_t state)
{
	static struct ct_python_frame frames[CT_PYTHON_FRAMES];
	struct ct_python_cursor cursor;
	uint32_t n = 0;
	int got = 1;

	ct_python_first(&target->python, read_through, state, &cursor);
	while (sample->n_python + n < CT_PYTHON_FRAMES && got > 0) {
		got = ct_python_next(&target->python, read_through, &cursor, &frames[n]);
		n += got > 0;
	}
	/* there are more, or they cannot be read */
	sample->is_python_cut |= got != 0;
	sample->python = realloc(sample->python, (sample->n_python + n + 1) * sizeof(frames[0]));
	if (!sample->python) {
		sample->n_python = 0;
		return;
	}
	memcpy(&sample->python[sample->n_python], frames, n * sizeof(frames[0]));
	sample->n_python += n;
}

void ct_python_visit(void *arg, struct ct_stack_sample *sample, struct ct_pages *pages)
{
	struct ct_target *target = arg;

	reading = pages;
	sample->n_python = 0;
	sample->is_python_cut = 0;
	for (uint32_t i = 0; i < n_threads; i++)
		if (is_of(&threads[i], sample) && is_still(&target->python, &threads[i]))
			add_frames(target, sample, threads[i].state);
}
