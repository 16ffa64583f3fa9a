/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c — what is put on a stream, and the thread that works it off. */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "tools/sim/device.h"
#include "tools/sim/enter.h"
#include "tools/sim/stream.h"

#define STACK_BYTES (512u << 10)

struct sim_work {
	enum { MARK, WAIT, BUSY, RUN } kind;
	bool starves;
	bool is_of_program; /* WAIT: by the program */
	uint64_t earliest;  /* work time */
	uint64_t ns;	    /* BUSY */
	struct sim_mark *awaited;
	struct sim_kernel kernel;
	struct sim_mark *end;
	struct sim_work *next;
};

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

struct sim_stream *sim_stream_new(struct sim_context *context, unsigned int flags, int priority)
{
	struct sim_stream *s = sim_alloc(sizeof(*s));

	s->context = context;
	s->flags = flags;
	s->queue = sim_device_next_queue(context->device);
	s->priority = priority;
	s->tail = &s->head;
	pthread_cond_init(&s->wake, NULL);
	s->next = context->streams;
	context->streams = s;
	return s;
}

static void free_stream(struct sim_stream *s)
{
	struct sim_stream **p = &s->context->streams;

	while (*p != s)
		p = &(*p)->next;
	*p = s->next;
	pthread_cond_destroy(&s->wake);
	sim_captured_clear(&s->captured);
	free(s);
}

void sim_stream_retire(struct sim_stream *s)
{
	s->dying = true;
	if (s->has_thread)
		pthread_cond_signal(&s->wake);
	else
		free_stream(s);
}

/* A kernel, copy or host function: when its turn has come by the clock, not only by arithmetic.
 * Returns the work time of its end. */
static uint64_t run(struct sim_stream *s, struct sim_work *w, uint64_t begin)
{
	struct sim_device *d = s->context->device;
	CUresult error = CUDA_SUCCESS;
	uint64_t start, end;

	for (;;) {
		if (w->starves && sim_device_out(d, begin) < d->starved_until)
			begin = later(begin, sim_device_in(d, d->starved_until));
		if (simNow() >= sim_device_out(d, begin))
			break;
		sim_sleep_past(d, begin);
	}
	start = end = sim_device_out(d, begin);
	if (s->context->error)
		w->kernel.run = NULL;
	sim_unlock();
	sim_inside_work(true);
	if (w->kernel.run)
		end = w->kernel.run(w->kernel.arg, start, &error);
	if (!simTiming() && end > simNow())
		end = simNow();
	if (w->kernel.done)
		w->kernel.done(w->kernel.arg);
	sim_inside_work(false);
	sim_lock();
	if (error)
		sim_context_fail(s->context, error);
	return sim_device_end(d, begin, end);
}

static void (*_Atomic stall_noted)(const struct sim_stall *stall);

void simOnStall(void (*noted)(const struct sim_stall *stall))
{
	stall_noted = noted;
}

/* The stream reached a wait for an event at `begin`, and goes on at `end`, both work time. */
static void note_stall(const struct sim_stream *s, uint64_t begin, uint64_t end)
{
	void (*noted)(const struct sim_stall *stall) = stall_noted;
	const struct sim_device *d = s->context->device;
	const struct sim_stall stall = { .device = d->ordinal,
					 .stream = s->handle,
					 .begin_ns = sim_device_out(d, begin),
					 .end_ns = sim_device_out(d, end) };

	if (noted && end > begin)
		noted(&stall);
}

static uint64_t wait_for(struct sim_stream *s, struct sim_mark *mark, uint64_t begin)
{
	struct sim_device *d = s->context->device;

	while (!mark->known)
		sim_mark_wait(mark);
	if (mark->device == d)
		return later(begin, mark->work);
	/* Another device may still be paused, which this one would learn too late. */
	sim_sleep_past(mark->device, mark->work);
	return later(begin, sim_device_in(d, sim_device_out(mark->device, mark->work)));
}

static void compute(struct sim_stream *s, struct sim_work *w)
{
	uint64_t begin = later(s->cursor, w->earliest);

	switch (w->kind) {
	case MARK:
		s->cursor = begin;
		break;
	case WAIT:
		s->cursor = wait_for(s, w->awaited, begin);
		if (w->is_of_program)
			note_stall(s, begin, s->cursor);
		break;
	case BUSY:
		s->cursor = begin + w->ns;
		break;
	case RUN:
		s->cursor = run(s, w, begin);
		break;
	}
}

static void *work_off(void *arg)
{
	struct sim_stream *s = arg;
	struct sim_work *w;

	prctl(PR_SET_NAME, "sim-stream");
	prctl(PR_SET_TIMERSLACK, 1000ul);
	sim_lock();
	for (;;) {
		while (!s->head && !s->dying)
			sim_lock_wait(&s->wake);
		w = s->head;
		if (!w)
			break;
		compute(s, w);
		s->head = w->next;
		if (!s->head)
			s->tail = &s->head;
		sim_mark_set(w->end, s->cursor);
		sim_mark_drop(w->end);
		sim_mark_drop(w->awaited);
		free(w);
	}
	free_stream(s);
	sim_unlock();
	return NULL;
}

/* The thread handles none of the program's signals and is never joined: work that is stuck keeps no
 * process from ending. */
static CUresult make_thread(struct sim_stream *s)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, old;
	int failed;

	if (s->has_thread)
		return CUDA_SUCCESS;
	if (pthread_attr_init(&attr))
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	failed = pthread_create(&thread, &attr, work_off, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	s->has_thread = !failed;
	return failed ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

/* Takes the work over. */
static void append(struct sim_stream *s, const struct sim_work *work)
{
	struct sim_work *w = sim_alloc(sizeof(*w));

	*w = *work;
	w->end = sim_mark_new(s->context->device);
	if (!s->head)
		pthread_cond_signal(&s->wake);
	*s->tail = w;
	s->tail = &w->next;
	s->last = w->end;
}

/* The legacy default stream is in order with all streams that were not made non-blocking. */
static bool in_order(const struct sim_stream *a, const struct sim_stream *b)
{
	const struct sim_stream *legacy = a->context->legacy;

	return a == b || (a == legacy && !(b->flags & CU_STREAM_NON_BLOCKING)) ||
	       (b == legacy && !(a->flags & CU_STREAM_NON_BLOCKING));
}

/* When something that is put on the stream now can begin at the earliest. What it must wait for and
 * is not known yet is put before it. */
static CUresult put_in_order(struct sim_stream *s, uint64_t *earliest)
{
	struct sim_mark *timed = sim_device_in_the_way(s->context->device, s);
	CUresult result;

	*earliest = sim_device_in(s->context->device, simNow());
	if (timed && timed->known) {
		*earliest = later(*earliest, timed->work);
	} else if (timed) {
		result = make_thread(s);
		if (result)
			return result;
		append(s, &(struct sim_work){ .kind = WAIT, .awaited = sim_mark_keep(timed) });
	}
	for (struct sim_stream *other = s->context->streams; other; other = other->next) {
		if (other == s || !in_order(s, other))
			continue;
		if (!other->head) {
			*earliest = later(*earliest, other->cursor);
			continue;
		}
		result = make_thread(s);
		if (result)
			return result;
		append(s,
		       &(struct sim_work){ .kind = WAIT, .awaited = sim_mark_keep(other->last) });
	}
	return CUDA_SUCCESS;
}

struct sim_mark *sim_stream_mark(struct sim_stream *s)
{
	uint64_t earliest;

	if (put_in_order(s, &earliest))
		return NULL;
	if (!s->head) {
		s->cursor = later(s->cursor, earliest);
		return sim_mark_known(s->context->device, s->cursor);
	}
	append(s, &(struct sim_work){ .kind = MARK, .earliest = earliest });
	return sim_mark_keep(s->last);
}

struct sim_mark *sim_stream_tail(const struct sim_stream *s)
{
	return s->head ? sim_mark_keep(s->last) : sim_mark_known(s->context->device, s->cursor);
}

CUresult sim_stream_wait(struct sim_stream *s, struct sim_mark *mark)
{
	struct sim_device *d = s->context->device;
	bool now_known = mark->known && (mark->device == d || sim_mark_passed(mark));
	uint64_t earliest;
	CUresult result = put_in_order(s, &earliest);

	if (!result && (s->head || !now_known))
		result = make_thread(s);
	if (result)
		return result;
	if (s->head || !now_known)
		append(s, &(struct sim_work){ .kind = WAIT,
					      .is_of_program = true,
					      .earliest = earliest,
					      .awaited = sim_mark_keep(mark) });
	else if (mark->device == d) {
		s->cursor = later(s->cursor, earliest);
		note_stall(s, s->cursor, mark->work);
		s->cursor = later(s->cursor, mark->work);
	}
	return CUDA_SUCCESS;
}

CUresult sim_stream_busy(struct sim_stream *s, uint64_t ns)
{
	uint64_t earliest;
	CUresult result = put_in_order(s, &earliest);

	if (result)
		return result;
	if (s->head)
		append(s, &(struct sim_work){ .kind = BUSY, .earliest = earliest, .ns = ns });
	else
		s->cursor = later(s->cursor, earliest) + ns;
	return CUDA_SUCCESS;
}

CUresult sim_stream_run(struct sim_stream *s, const struct sim_kernel *kernel, bool starves)
{
	struct sim_work w = { .kind = RUN, .starves = starves, .kernel = *kernel };
	CUresult result = make_thread(s);

	if (!result)
		result = put_in_order(s, &w.earliest);
	if (!result)
		append(s, &w);
	return result;
}

void sim_stream_pushed(struct sim_stream *s)
{
	struct sim_device *d = s->context->device;
	struct sim_mark *mark = sim_stream_tail(s);
	struct sim_mark *full = sim_device_pushed(d, s, mark);

	sim_mark_drop(mark);
	if (!full)
		return;
	sim_hold_others(true);
	sim_mark_await(full, s->context);
	sim_hold_others(false);
	sim_mark_drop(full);
}

bool sim_stream_idle(const struct sim_stream *s)
{
	for (const struct sim_stream *other = s->context->streams; other; other = other->next) {
		if (other != s && (s != s->context->legacy || !in_order(s, other)))
			continue;
		if (other->head || simNow() < sim_device_out(s->context->device, other->cursor))
			return false;
	}
	return true;
}

void sim_stream_wake(struct sim_stream *s)
{
	for (struct sim_work *w = s->head; w; w = w->next)
		sim_mark_wake(w->end);
}

CUresult sim_streams_await(struct sim_context *c)
{
	struct sim_mark **marks;
	size_t n = 0, i = 0;
	CUresult result = CUDA_SUCCESS;

	for (struct sim_stream *s = c->streams; s; s = s->next)
		n++;
	marks = sim_alloc(n * sizeof(*marks));
	for (struct sim_stream *s = c->streams; s; s = s->next)
		marks[i++] = s->head ? sim_mark_keep(s->last)
				     : sim_mark_known(c->device, s->cursor);
	for (i = 0; i < n; i++) {
		if (!result)
			result = sim_mark_await(marks[i], c);
		sim_mark_drop(marks[i]);
	}
	free(marks);
	return result;
}
