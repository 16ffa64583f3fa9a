/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/decide.h"

#include <string.h>
#include <time.h>

#include "interpose/gpu/effect.h"
#include "interpose/gpu/mode.h"
#include "interpose/gpu/period.h"
#include "interpose/gpu/sampling.h"
#include "interpose/gpu/streams.h"
#include "interpose/gpu/windows.h"
#include "interpose/hash.h"
#include "interpose/recorder.h"

/* Communicators that are compared with the largest; beyond, some of them are looked up again and again. */
#define KNOWN 256u

enum stage {
	EARLY,	  /* the host times */
	RISING,	  /* contexts with timed events are being made */
	TIMED,	  /* and what that does is measured */
	LOWERING, /* contexts without are being made */
	SETTLED,  /* nothing will change */
};

static struct decide {
	enum stage stage;
	struct ct_gpu_options options;
	uint64_t job; /* hash of its name */
	struct known {
		uint32_t id, nranks;
		uint64_t collectives;
	} known[KNOWN], largest;
	const struct ct_ring_comm *entry; /* of the largest; NULL: none */
	struct ct_gpu_period period;
	uint64_t first_ns;    /* when there was one */
	uint64_t searched_ns; /* when a period was last looked for */
	uint32_t step_collectives;
	uint64_t step; /* the last one that began */
	uint64_t looked_ns;
	uint64_t window; /* of the last look */
	struct ct_gpu_effect effect;
} decide;

/* What the write thread may see of it. */
static struct {
	_Atomic uint64_t step_ns;
	_Atomic uint32_t step_collectives, step_comm, off, on, err_millionths;
	_Atomic int32_t change_millionths;
} shown;

void ct_gpu_decide_init(const struct ct_gpu_options *options)
{
	struct decide *d = &decide;
	const char *job = ct_recorder.process.job;

	memset(d, 0, sizeof(*d));
	memset(&shown, 0, sizeof(shown));
	atomic_store_explicit(&shown.err_millionths, UINT32_MAX, memory_order_relaxed);
	d->options = *options;
	d->job = ct_hash_bytes(CT_HASH_START, job, strlen(job));
	d->stage = !options->guard_off_ms	     ? SETTLED
		   : options->may_rise		     ? EARLY
		   : options->timing == CT_GPU_TIMED ? TIMED
						     : SETTLED;
	ct_gpu_effect_init(&d->effect, (uint64_t)options->guard_off_ms * 1000000);
}

/* ---- the largest communicator ---------------------------------------------------------------------------- */

static uint64_t load(const ct_word *word)
{
	return atomic_load_explicit((ct_word *)(uintptr_t)word, memory_order_relaxed);
}

static const struct ct_ring_comm *find_entry(uint32_t id)
{
	const struct ct_ring *ring = &ct_recorder.ring;

	for (uint32_t i = 0; i < ring->header->n_comms; i++)
		if (load(&ring->comms[i].id) == id)
			return &ring->comms[i];
	return NULL;
}

static struct known *know(struct decide *d, uint32_t id)
{
	struct known *k = &d->known[id % KNOWN];
	const struct ct_ring_comm *entry;

	if (k->id == id)
		return k;
	entry = find_entry(id);
	*k = (struct known){ .id = id };
	if (entry)
		k->nranks = (uint32_t)(load(&entry->ranks) >> 32);
	return k;
}

static void count_otherwise(struct decide *d, uint32_t collectives)
{
	d->step_collectives = collectives;
	d->step = 0;
	ct_gpu_effect_restart(&d->effect);
}

/* Of two that are as large the one that has more to do, by far: they shall not take turns. */
static int is_larger(const struct decide *d, const struct known *k)
{
	if (!d->entry || load(&d->entry->id) != d->largest.id)
		return 1;
	if (k->nranks != d->largest.nranks)
		return k->nranks > d->largest.nranks;
	return k->collectives > 2 * d->largest.collectives + 16;
}

static void follow(struct decide *d, const struct known *k)
{
	d->largest = *k;
	d->entry = find_entry(k->id);
	ct_gpu_period_reset(&d->period);
	count_otherwise(d, 0);
}

void ct_gpu_decide_launch(uint32_t comm, uint64_t seq, uint32_t n, uint64_t what)
{
	struct decide *d = &decide;
	struct known *k;

	if (d->stage == SETTLED)
		return;
	if (comm == d->largest.id) {
		d->largest.collectives += n;
	} else {
		k = know(d, comm);
		k->collectives += n;
		if (!is_larger(d, k))
			return;
		follow(d, k);
	}
	ct_gpu_period_add(&d->period, seq, n, what);
}

/* ---- from the host to events, and back ------------------------------------------------------------------- */

static void look_for_period(struct decide *d, uint64_t now_ns)
{
	uint32_t collectives, run;

	if (now_ns - d->searched_ns < d->effect.window_ns / 10)
		return;
	d->searched_ns = now_ns;
	collectives = ct_gpu_period_find(&d->period, &run);
	/* part of a step may repeat, too: that is no shorter step */
	if (collectives && run >= 2 * d->step_collectives &&
	    (!d->step_collectives || d->step_collectives % collectives))
		count_otherwise(d, collectives);
}

static uint64_t age_ns(uint64_t now_ns)
{
	return now_ns - ct_recorder.process.start_ns;
}

static void stay_or_rise(struct decide *d, uint64_t now_ns)
{
	uint64_t wait_ns = d->effect.window_ns;

	if (!ct_gpu_mode_may_rise()) {
		d->stage = SETTLED;
		return;
	}
	if (!d->entry)
		return;
	d->first_ns = d->first_ns ? d->first_ns : now_ns;
	if (!d->step_collectives)
		wait_ns += (uint64_t)d->options.guard_after_ms * 1000000;
	if (now_ns - d->first_ns < wait_ns)
		return;
	ct_gpu_contexts_count();
	if (!ct_gpu_mode_may_rise())
		return;
	ct_gpu_contexts_prepare(CU_EVENT_DEFAULT);
	d->stage = RISING;
}

static void change(struct decide *d, int (*how)(void), enum stage then)
{
	if (!ct_gpu_contexts_are_ready())
		return;
	if (how())
		ct_gpu_contexts_renew();
	else
		then = SETTLED;
	d->stage = then;
}

/* ---- what events do -------------------------------------------------------------------------------------- */

static uint64_t unix_now(void)
{
	struct timespec t = { 0, 0 };

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A window is off as a whole, or not at all. */
static void open_or_close(struct decide *d, uint64_t now_ns, uint64_t unix_ns)
{
	uint64_t window = ct_gpu_window(&d->options, unix_ns);
	int is_off = ct_gpu_window_is_off(&d->options, d->job, window, age_ns(now_ns));

	if (window == d->window)
		return;
	if (d->window)
		ct_gpu_sampling_pause(is_off);
	d->window = window;
}

/* When the latest step began: not before the last look, and not after the latest call. */
static uint64_t began_ns(const struct decide *d, uint64_t now_ns)
{
	uint64_t last_ns = load(&d->entry->last_enter);

	return last_ns > d->looked_ns && last_ns < now_ns ? last_ns : now_ns;
}

static void follow_steps(struct decide *d, uint64_t now_ns, uint64_t unix_ns)
{
	uint64_t step;

	if (!d->step_collectives || load(&d->entry->id) != d->largest.id)
		return;
	step = load(&d->entry->next_seq) / d->step_collectives;
	if (step != d->step) {
		uint64_t at_ns = began_ns(d, now_ns);

		ct_gpu_effect_step(&d->effect, unix_ns - (now_ns - at_ns), at_ns, step,
				   ct_gpu_sampling_is_paused());
	}
	d->step = step;
	d->looked_ns = now_ns;
}

static int32_t millionths(double share)
{
	return share > 1000 ? 1000000000 : (int32_t)(share * 1e6 + (share < 0 ? -0.5 : 0.5));
}

/* 1: they cost too much, beyond doubt. */
static int judge(struct decide *d)
{
	double change, err, budget = d->options.budget_millionths / 1e6;
	int is_known = ct_gpu_effect_get(&d->effect, &change, &err);

	atomic_store_explicit(&shown.step_ns, (uint64_t)d->effect.step_ns, memory_order_relaxed);
	atomic_store_explicit(&shown.step_collectives, d->step_collectives, memory_order_relaxed);
	atomic_store_explicit(&shown.step_comm, d->largest.id, memory_order_relaxed);
	atomic_store_explicit(&shown.off, d->effect.n_off, memory_order_relaxed);
	atomic_store_explicit(&shown.on, d->effect.n_on, memory_order_relaxed);
	if (!is_known)
		return 0;
	atomic_store_explicit(&shown.change_millionths, millionths(change), memory_order_relaxed);
	atomic_store_explicit(&shown.err_millionths, (uint32_t)millionths(err),
			      memory_order_relaxed);
	return d->options.is_auto && d->options.budget_millionths && change - err > budget;
}

static void measure(struct decide *d, uint64_t now_ns)
{
	uint64_t unix_ns = unix_now();
	uint32_t held = d->effect.n_off + d->effect.n_on;

	if (ct_gpu_timing() != CT_GPU_TIMED) {
		ct_gpu_sampling_pause(0);
		d->stage = SETTLED;
		return;
	}
	follow_steps(d, now_ns, unix_ns);
	if (d->options.guard_ms && !d->options.duty_ms)
		open_or_close(d, now_ns, unix_ns);
	if (d->effect.n_off + d->effect.n_on == held || !judge(d))
		return;
	ct_gpu_sampling_pause(0);
	ct_gpu_contexts_prepare(CU_EVENT_DISABLE_TIMING);
	d->stage = LOWERING;
}

void ct_gpu_decide_look(uint64_t now_ns)
{
	struct decide *d = &decide;

	if (d->stage == SETTLED)
		return;
	look_for_period(d, now_ns);
	if (d->stage == EARLY)
		stay_or_rise(d, now_ns);
	else if (d->stage == RISING)
		change(d, ct_gpu_mode_rise, TIMED);
	else if (d->stage == LOWERING)
		change(d, ct_gpu_mode_lower, SETTLED);
	else
		measure(d, now_ns);
}

void ct_gpu_decide_ledger(struct ct_cost_rec *cost)
{
	cost->step_ns = atomic_load_explicit(&shown.step_ns, memory_order_relaxed);
	cost->step_collectives = atomic_load_explicit(&shown.step_collectives,
						      memory_order_relaxed);
	cost->step_comm = atomic_load_explicit(&shown.step_comm, memory_order_relaxed);
	cost->windows_off = atomic_load_explicit(&shown.off, memory_order_relaxed);
	cost->windows_on = atomic_load_explicit(&shown.on, memory_order_relaxed);
	cost->change_millionths = atomic_load_explicit(&shown.change_millionths,
						       memory_order_relaxed);
	cost->change_err_millionths = atomic_load_explicit(&shown.err_millionths,
							   memory_order_relaxed);
	cost->guard_off_ms = decide.options.guard_off_ms;
	cost->guard_ms = decide.options.guard_ms;
}
