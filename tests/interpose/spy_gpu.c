/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interpose/spy_gpu.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "interpose/recorder.h"
#include "tests/interpose/fake_libnccl.h"

struct ct_gpu_span *__real_ct_gpu_begin(const struct ct_gpu_launch *launch);
uint64_t __real_ct_gpu_end(struct ct_gpu_span *span);
void __real_ct_gpu_drop(struct ct_gpu_span *span, int result);
struct ct_gpu_span *__wrap_ct_gpu_begin(const struct ct_gpu_launch *launch);
uint64_t __wrap_ct_gpu_end(struct ct_gpu_span *span);
void __wrap_ct_gpu_drop(struct ct_gpu_span *span, int result);

/* Handed out instead of the real ones, which may be NULL. */
static struct spied {
	struct ct_gpu_span *real;
	int stream;
	int over;
} spans[4096];
static int n_spans;
static struct ct_gpu_launch last;
static char heard[4096];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((format(printf, 1, 2))) void hear(const char *format, ...)
{
	size_t len;
	va_list args;

	pthread_mutex_lock(&lock);
	len = strlen(heard);
	va_start(args, format);
	if (len && len + 1 < sizeof(heard))
		heard[len++] = ' ';
	vsnprintf(heard + len, sizeof(heard) - len, format, args);
	va_end(args);
	pthread_mutex_unlock(&lock);
}

static const char *string(uint32_t id)
{
	return id ? ct_recorder.ring.strings + (id - 1) * 4 + 4 : "";
}

/* An op, or a call that blocks the host, that has been entered and not left. */
static const char *entered_in(const struct ct_slot *slot)
{
	struct ct_host_rec rec;

	switch (CT_TAG_KIND(slot->w[0])) {
	case CT_KIND_OP:
		return slot->w[CT_OP_W_END] ? NULL : string(CT_TAG_CALL(slot->w[0]));
	case CT_KIND_HOST_BEGIN:
		memcpy(&rec, (const void *)(uintptr_t)&slot->w[1], sizeof(rec));
		return rec.return_ns ? NULL : string(rec.call);
	default:
		return NULL;
	}
}

/* If this never returns, the ring has to show. Among the thread's latest records, since launches
 * may come behind. What NCCL calls in turn is not recorded. */
static void must_be_on_record(const char *name)
{
	const struct ct_slot *slot = ct_self.lane.next;

	if (!ct_guard_frame() || strcmp(name, "ncclBroadcast") == 0 ||
	    strcmp(name, "ncclGetUniqueId") == 0)
		return;
	while (slot > ct_self.lane.end - CT_CHUNK_SLOTS) {
		const char *entered = entered_in(--slot);

		if (entered && strcmp(entered, name) == 0)
			return;
	}
	fprintf(stderr, "%s is called and not on record\n", name);
	_exit(1);
}

static void hear_call(const char *name)
{
	must_be_on_record(name);
	hear("%s", name);
}

void spy_must(int is_so, const char *what, const char *file, int line)
{
	if (is_so)
		return;
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	_exit(1);
}

void spy_start(void)
{
	heard[0] = '\0';
	fake_on_call(hear_call);
}

void spy_heard(const char *line)
{
	if (strcmp(heard, line) != 0) {
		fprintf(stderr, "heard:    %s\nexpected: %s\n", heard, line);
		_exit(1);
	}
	heard[0] = '\0';
}

const struct ct_gpu_launch *spy_last(void)
{
	return &last;
}

struct ct_gpu_span *__wrap_ct_gpu_begin(const struct ct_gpu_launch *launch)
{
	struct spied *s = &spans[__atomic_fetch_add(&n_spans, 1, __ATOMIC_RELAXED) % 4096];

	pthread_mutex_lock(&lock);
	last = *launch;
	pthread_mutex_unlock(&lock);
	s->stream = (int)(uintptr_t)launch->stream - 0x1000;
	s->over = 0;
	hear("B%d", s->stream);
	s->real = __real_ct_gpu_begin(launch);
	return (struct ct_gpu_span *)(void *)s;
}

static struct ct_gpu_span *over(struct ct_gpu_span *span)
{
	struct spied *s = (struct spied *)(void *)span;

	MUST(!s->over);
	s->over = 1;
	return s->real;
}

uint64_t __wrap_ct_gpu_end(struct ct_gpu_span *span)
{
	hear("E%d", ((struct spied *)(void *)span)->stream);
	return __real_ct_gpu_end(over(span));
}

void __wrap_ct_gpu_drop(struct ct_gpu_span *span, int result)
{
	hear("D%d=%d", ((struct spied *)(void *)span)->stream, result);
	__real_ct_gpu_drop(over(span), result);
}
