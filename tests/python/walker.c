/* SPDX-License-Identifier: Apache-2.0 */
/* walker.c — the walker over Python's frames as a library that a Python program calls by ctypes
 * (frames.py), and what a call site costs (site_cost.py). */
#include "interpose/python/python.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "interpose/recorder.h"
#include "interpose/site.h"

#pragma GCC visibility push(default)
int walker_find(void);
int walker_shift(unsigned field, int by);
void walker_own(int plainly, char *out, size_t room);
void walker_of(uint32_t tid, char *out, size_t room);
int walker_start(const char *setting);
double walker_site_ns(void);
double walker_clock_ns(void);
uint32_t walker_site(void);
#pragma GCC visibility pop

static struct ct_python py;

/* Bytes that are not there, by what the program says: no reading of them may go unnoticed. */
static int read_plainly(uintptr_t from, void *to, size_t len)
{
	memcpy(to, (const void *)from, len);
	return 0;
}

int walker_find(void)
{
	int status = ct_python_find(&py);

	return status == 0 ? (int)(py.version >> 16) : -1;
}

/* As though something lay `by` bytes further than it does. `field` counts the rows of fields.def. */
int walker_shift(unsigned field, int by)
{
	uint32_t *numbers = (uint32_t *)&py.at;

	if (field >= sizeof(py.at) / sizeof(uint32_t))
		return -1;
	numbers[field] += (uint32_t)by;
	return 0;
}

static size_t write_frames(uintptr_t state, ct_python_read read, char *out, size_t room)
{
	struct ct_python_cursor cursor;
	struct ct_python_frame frame;
	size_t used = 0;

	out[0] = '\0';
	ct_python_first(&py, read, state, &cursor);
	while (used < room && ct_python_next(&py, read, &cursor, &frame) > 0)
		used += (size_t)snprintf(out + used, room - used, "%s\t%s\t%u\n", frame.file,
					 frame.func, frame.line);
	return used;
}

/* Those of the calling thread, "file\tfunction\tline\n" each; `plainly`: with loads, else through
 * the kernel. */
void walker_own(int plainly, char *out, size_t room)
{
	write_frames((uintptr_t)py.own_state(), plainly ? read_plainly : ct_python_read_safely, out,
		     room);
}

/* Those of the thread with this number; "?" if there is none. */
void walker_of(uint32_t tid, char *out, size_t room)
{
	static struct ct_python_thread threads[1024];
	uint32_t n = ct_python_threads(&py, ct_python_read_safely, threads, 1024);

	snprintf(out, room, "?");
	for (uint32_t i = 0; i < n; i++)
		if (threads[i].tid == tid)
			write_frames(threads[i].state, ct_python_read_safely, out, room);
}

/* Sites as in a recording, but nothing is recorded. */
int walker_start(const char *setting)
{
	static struct ct_notes notes;
	struct ct_err err = { .status = CT_OK };
	const char *const none[] = { NULL };

	if (ct_ring_create(&ct_recorder.ring, &ct_recorder.process, none, 1 << 20, &err) != CT_OK)
		return -1;
	ct_site_init(setting, &notes);
	return notes.n ? -1 : 0;
}

uint32_t walker_site(void)
{
	return ct_site_of(__builtin_return_address(0));
}

/* ns for one of what is repeated, in the fastest of many short batches: all others were
 * interrupted. */
#define FASTEST(what)                                                                              \
	({                                                                                         \
		uint64_t best_ = UINT64_MAX;                                                       \
                                                                                                   \
		for (int batch_ = 0; batch_ < 300; batch_++) {                                     \
			uint64_t begin_ = ct_now_ns(), took_;                                      \
                                                                                                   \
			for (int i_ = 0; i_ < 100; i_++)                                           \
				what;                                                              \
			took_ = ct_now_ns() - begin_;                                              \
			best_ = took_ < best_ ? took_ : best_;                                     \
		}                                                                                  \
		(double)best_ / 100;                                                               \
	})

double walker_site_ns(void)
{
	return FASTEST(ct_site_of(__builtin_return_address(0)));
}

double walker_clock_ns(void)
{
	return FASTEST(ct_now_ns());
}
