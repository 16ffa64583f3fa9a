/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/profiled.h"

#include "interpose/gpu/record.h"
#include "trace/pages.h"

/* Low bits of `word`; above them the tasks that are not done. */
enum { CALLED = 1, FORCED = 2, CLOSED = 4, TASK = 8 };

struct profiled {
	_Atomic uint32_t id; /* launch; 0 none. release: what follows is its own */
	_Atomic uint32_t word;
	_Atomic uint32_t tasks; /* so far */
	_Atomic int32_t result;
	_Atomic uint64_t start, end; /* readings of the timer; 0 not reported */
	_Atomic uint64_t begin_ns;
	_Atomic uint32_t nth; /* in its communicator's order */
	_Atomic(struct ct_gpu_profiled_order *) order;
} __attribute__((aligned(64)));

static struct profiled *all;

int ct_gpu_profiled_init(void)
{
	void *map = ct_pages_map(ct_recorder.ring.header->n_opens * sizeof(*all));

	if (!map)
		return CT_NOMEM;
	all = map;
	return CT_OK;
}

static struct profiled *find(uint32_t number, uint32_t launch)
{
	struct profiled *t = number ? &all[number - 1] : NULL;

	return t && launch && atomic_load_explicit(&t->id, memory_order_acquire) == launch &&
			       !(atomic_load_explicit(&t->word, memory_order_relaxed) & CLOSED)
		       ? t
		       : NULL;
}

uint32_t ct_gpu_profiled_number(const struct ct_gpu_span *span)
{
	return span ? (uint32_t)(span - ct_gpu_spans) + 1 : 0;
}

uint32_t ct_gpu_profiled_begin(struct ct_gpu_span *span, uint32_t launch)
{
	uint32_t number = ct_gpu_profiled_number(span);
	struct profiled *t = &all[number - 1];

	atomic_store_explicit(&t->id, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&t->word, 0, memory_order_relaxed);
	atomic_store_explicit(&t->tasks, 0, memory_order_relaxed);
	atomic_store_explicit(&t->result, 0, memory_order_relaxed);
	atomic_store_explicit(&t->start, 0, memory_order_relaxed);
	atomic_store_explicit(&t->end, 0, memory_order_relaxed);
	atomic_store_explicit(&t->begin_ns, ct_now_ns(), memory_order_relaxed);
	atomic_store_explicit(&t->order, NULL, memory_order_relaxed);
	atomic_store_explicit(&t->id, launch, memory_order_release);
	return number;
}

int ct_gpu_profiled_is_open(uint32_t number, uint32_t launch)
{
	return find(number, launch) != NULL;
}

uint32_t ct_gpu_profiled_find(uint32_t launch)
{
	for (uint32_t i = 0; launch && i < ct_recorder.ring.header->n_opens; i++)
		if (find(i + 1, launch))
			return i + 1;
	return 0;
}

static uint32_t err_word(double err_ns)
{
	return err_ns < (double)UINT32_MAX ? (uint32_t)(err_ns + 1) : UINT32_MAX;
}

static uint64_t clamp(uint64_t ns, uint64_t low_ns, uint64_t high_ns)
{
	return ns < low_ns ? low_ns : ns > high_ns ? high_ns : ns;
}

/* One of the two times. It is after the call and before now, or the clock is wrong and the time
 * unknown. */
static uint64_t time_of(struct profiled *t, struct ct_gpu_profiled_order *order, uint64_t timer,
			uint32_t *err_ns)
{
	uint64_t low_ns = atomic_load_explicit(&t->begin_ns, memory_order_relaxed);
	uint64_t high_ns = ct_now_ns();
	double err;
	uint64_t ns;

	if (!timer || !order || !ct_globaltimer_at(&order->clock, timer, &ns, &err) ||
	    (double)(int64_t)(low_ns - ns) > err || (double)(int64_t)(ns - high_ns) > err)
		return 0;
	*err_ns = err_word(err);
	return clamp(ns, low_ns, high_ns);
}

static void close_profiled(struct ct_gpu_span *span, int result, const struct ct_gpu_times *times)
{
	if (!times->end_ns)
		ct_gpu_untimed_add();
	ct_gpu_record(span, result, times);
	ct_gpu_span_close(span);
}

static void publish(struct profiled *t, int is_whole)
{
	struct ct_gpu_span *span = &ct_gpu_spans[t - all];
	struct ct_gpu_profiled_order *order = atomic_load_explicit(&t->order, memory_order_relaxed);
	int result = atomic_load_explicit(&t->result, memory_order_relaxed);
	struct ct_gpu_times times = { .start_ns = 0 };

	times.start_ns = time_of(t, order, atomic_load_explicit(&t->start, memory_order_relaxed),
				 &times.start_err_ns);
	if (is_whole)
		times.end_ns = time_of(t, order,
				       atomic_load_explicit(&t->end, memory_order_relaxed),
				       &times.end_err_ns);
	times.start_source = times.start_ns ? CT_SOURCE_PLUGIN : CT_SOURCE_NONE;
	times.end_source = times.end_ns ? CT_SOURCE_PLUGIN : CT_SOURCE_NONE;
	if (times.end_ns && times.end_ns < times.start_ns)
		times.end_ns = times.start_ns;
	atomic_store_explicit(&t->id, 0, memory_order_release);
	close_profiled(span, result, &times);
}

/* Closed by the thread that finds it complete first. */
static void poll_profiled(struct profiled *t)
{
	uint32_t word = atomic_load_explicit(&t->word, memory_order_relaxed);
	int is_whole;

	do {
		is_whole = word < TASK;
		if (!(word & CALLED) || word & CLOSED || !(is_whole || word & FORCED))
			return;
		/* acquire: pairs with the releases of its events */
	} while (!atomic_compare_exchange_weak_explicit(
		&t->word, &word, word | CLOSED, memory_order_acq_rel, memory_order_relaxed));
	publish(t, is_whole);
}

void ct_gpu_profiled_end(struct ct_gpu_span *span, int result)
{
	struct profiled *t = &all[ct_gpu_profiled_number(span) - 1];

	atomic_store_explicit(&t->result, result, memory_order_relaxed);
	atomic_fetch_or_explicit(&t->word, CALLED | (result ? FORCED : 0), memory_order_acq_rel);
	poll_profiled(t);
}

void ct_gpu_profiled_called(uint32_t number, uint32_t launch)
{
	if (find(number, launch))
		ct_gpu_profiled_end(&ct_gpu_spans[number - 1], 0);
}

static uint32_t ops_of(const struct profiled *t)
{
	return (uint32_t)atomic_load_explicit(&ct_gpu_spans[t - all].open->comm_op,
					      memory_order_relaxed) >>
	       8;
}

void ct_gpu_profiled_more(uint32_t number, uint32_t launch)
{
	struct profiled *t = find(number, launch);

	if (t)
		atomic_fetch_add_explicit(&ct_gpu_spans[t - all].open->comm_op, 1u << 8,
					  memory_order_relaxed);
}

int ct_gpu_profiled_task(uint32_t number, uint32_t launch, struct ct_gpu_profiled_order *order,
			 int ends_call)
{
	struct profiled *t = find(number, launch);
	uint32_t tasks, nth;

	if (!t)
		return 0;
	atomic_fetch_add_explicit(&t->word, TASK, memory_order_acq_rel);
	tasks = atomic_fetch_add_explicit(&t->tasks, 1, memory_order_relaxed) + 1;
	if (tasks == 1) {
		nth = atomic_fetch_add_explicit(&order->begun, 1, memory_order_relaxed);
		atomic_store_explicit(&t->nth, nth, memory_order_relaxed);
		atomic_store_explicit(&t->order, order, memory_order_relaxed);
		atomic_store_explicit(&order->recent[nth % CT_GPU_PROFILED_RECENT],
				      (uint64_t)number << 32 | launch, memory_order_release);
	}
	if (ends_call && tasks >= ops_of(t))
		atomic_fetch_or_explicit(&t->word, CALLED, memory_order_acq_rel);
	return 1;
}

static void earliest(_Atomic uint64_t *word, uint64_t timer)
{
	uint64_t was = atomic_load_explicit(word, memory_order_relaxed);

	while ((!was || timer < was) &&
	       !atomic_compare_exchange_weak_explicit(word, &was, timer, memory_order_release,
						      memory_order_relaxed))
		;
}

static void latest(_Atomic uint64_t *word, uint64_t timer)
{
	uint64_t was = atomic_load_explicit(word, memory_order_relaxed);

	while (timer > was &&
	       !atomic_compare_exchange_weak_explicit(word, &was, timer, memory_order_release,
						      memory_order_relaxed))
		;
}

void ct_gpu_profiled_started(uint32_t number, uint32_t launch, uint64_t timer)
{
	struct profiled *t = find(number, launch);
	struct ct_gpu_profiled_order *order;

	if (!t || !timer)
		return;
	order = atomic_load_explicit(&t->order, memory_order_relaxed);
	if (order && !atomic_load_explicit(&t->start, memory_order_relaxed))
		ct_globaltimer_add(&order->clock, timer,
				   atomic_load_explicit(&t->begin_ns, memory_order_relaxed),
				   ct_now_ns());
	earliest(&t->start, timer);
}

void ct_gpu_profiled_stopped(uint32_t number, uint32_t launch, uint64_t timer)
{
	struct profiled *t = find(number, launch);
	struct ct_gpu_profiled_order *order;

	if (!t || !timer)
		return;
	order = atomic_load_explicit(&t->order, memory_order_relaxed);
	if (order)
		ct_globaltimer_add(&order->clock, timer,
				   atomic_load_explicit(&t->begin_ns, memory_order_relaxed),
				   ct_now_ns());
	latest(&t->end, timer);
}

static void force(uint64_t which)
{
	struct profiled *t = find((uint32_t)(which >> 32), (uint32_t)which);

	if (!t)
		return;
	atomic_fetch_or_explicit(&t->word, FORCED, memory_order_acq_rel);
	poll_profiled(t);
}

void ct_gpu_profiled_unknown(uint32_t number, uint32_t launch)
{
	force((uint64_t)number << 32 | launch);
}

/* All before number `to`. */
static void force_before(struct ct_gpu_profiled_order *order, uint32_t to)
{
	uint32_t over = atomic_load_explicit(&order->over, memory_order_relaxed);

	/* each is taken by one thread */
	while ((int32_t)(to - over) > 0)
		if (atomic_compare_exchange_weak_explicit(&order->over, &over, over + 1,
							  memory_order_relaxed,
							  memory_order_relaxed))
			force(atomic_load_explicit(&order->recent[over++ % CT_GPU_PROFILED_RECENT],
						   memory_order_acquire));
}

void ct_gpu_profiled_task_done(uint32_t number, uint32_t launch)
{
	struct profiled *t = find(number, launch);
	struct ct_gpu_profiled_order *order;
	uint32_t nth, word;

	if (!t)
		return;
	order = atomic_load_explicit(&t->order, memory_order_relaxed);
	nth = atomic_load_explicit(&t->nth, memory_order_relaxed);
	word = atomic_fetch_sub_explicit(&t->word, TASK, memory_order_acq_rel) - TASK;
	poll_profiled(t);
	/* The one before may not have been polled yet. */
	if (word < TASK && order && nth > 1)
		force_before(order, nth - 1);
}

void ct_gpu_profiled_close(struct ct_gpu_profiled_order *order)
{
	force_before(order, atomic_load_explicit(&order->begun, memory_order_relaxed));
}
