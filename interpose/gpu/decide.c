/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/decide.h"

#include <string.h>
#include <time.h>

#include "interpose/clear.h"
#include "interpose/gpu/choice/effect.h"
#include "interpose/gpu/choice/mode.h"
#include "interpose/gpu/choice/sampling.h"
#include "interpose/gpu/choice/steps.h"
#include "interpose/gpu/choice/windows.h"
#include "interpose/gpu/streams.h"
#include "interpose/hash.h"
#include "interpose/recorder.h"

/* tuning: in a window shall be so many steps, that is more than two in what is left of it without
 * its ends. */
#define STEPS 3u

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
	struct ct_gpu_steps steps;
	uint64_t first_ns; /* when there were collectives */
	int is_long;	   /* the windows cannot be made long enough */
	uint64_t window;   /* of the last look */
	struct ct_gpu_effect effect;
} decide;

/* What the write thread may see of it. */
static struct {
	_Atomic uint64_t step_ns;
	_Atomic uint32_t step_collectives, step_comm, step_kind, off, on, err_millionths;
	_Atomic int32_t change_millionths;
	_Atomic uint32_t unmeasured, guard_off_ms, guard_ms;
} shown;

static int has_windows(const struct decide *d)
{
	return d->options.guard_ms && !d->options.duty_ms;
}

static void measure_anew(struct decide *d)
{
	ct_gpu_effect_restart(&d->effect, (uint64_t)d->options.guard_off_ms * 1000000);
}

void ct_gpu_decide_init(const struct ct_gpu_options *options)
{
	struct decide *d = &decide;
	const char *job = ct_recorder.process.job;

	ct_clear(d, sizeof(*d));
	memset(&shown, 0, sizeof(shown));
	atomic_store_explicit(&shown.err_millionths, UINT32_MAX, memory_order_relaxed);
	d->options = *options;
	atomic_store_explicit(&shown.guard_off_ms, options->guard_off_ms, memory_order_relaxed);
	atomic_store_explicit(&shown.guard_ms, options->guard_ms, memory_order_relaxed);
	atomic_store_explicit(&shown.unmeasured,
			      has_windows(d) ? CT_UNMEASURED_FEW : CT_UNMEASURED_OFF,
			      memory_order_relaxed);
	ct_gpu_steps_init(&d->steps, options->sample < CT_GPU_ALL);
	d->job = ct_fnv_text(CT_HASH_START, job);
	d->stage = !options->guard_off_ms	     ? SETTLED
		   : options->may_rise		     ? EARLY
		   : options->timing == CT_GPU_TIMED ? TIMED
						     : SETTLED;
	measure_anew(d);
}

void ct_gpu_decide_launch(uint32_t comm, uint64_t seq, uint32_t n, uint64_t what)
{
	struct decide *d = &decide;

	if (d->stage != SETTLED && ct_gpu_steps_launch(&d->steps, comm, seq, n, what))
		measure_anew(d);
}

/* ---- from the host to events, and back
 * ------------------------------------------------------------------- */

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
	if (!d->steps.entry)
		return;
	d->first_ns = d->first_ns ? d->first_ns : now_ns;
	if (d->steps.kind != CT_STEP_PERIOD)
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

/* ---- what events do
 * -------------------------------------------------------------------------------------- */

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
		ct_gpu_sampling_pause(is_off && d->steps.kind);
	d->window = window;
}

/* Windows twice as long, of blocks twice as long, until they hold some steps, and never shorter
 * again: all ranks have the same steps, so that those that find it out later have the same windows,
 * too. */
static void make_room(struct decide *d)
{
	uint64_t steps_ns = STEPS * ct_gpu_steps_shortest_ns(&d->steps);
	struct ct_gpu_options *o = &d->options;
	uint32_t before_ms = o->guard_off_ms;

	while (steps_ns > (uint64_t)o->guard_off_ms * 1000000 &&
	       o->guard_ms <= CT_GPU_LONGEST_MS / 2) {
		o->guard_off_ms *= 2;
		o->guard_ms *= 2;
	}
	d->is_long = steps_ns > (uint64_t)o->guard_off_ms * 1000000;
	if (o->guard_off_ms == before_ms)
		return;
	ct_gpu_sampling_pause(0);
	d->window = 0;
	measure_anew(d);
}

static void follow_steps(struct decide *d, uint64_t now_ns, uint64_t unix_ns)
{
	uint64_t at_ns;

	if (!ct_gpu_steps_follow(&d->steps, now_ns, &at_ns))
		return;
	if (has_windows(d))
		make_room(d);
	ct_gpu_effect_step(&d->effect, unix_ns - (now_ns - at_ns), at_ns, d->steps.step,
			   ct_gpu_sampling_is_paused());
}

static int32_t millionths(double share)
{
	return share > 1000 ? 1000000000 : (int32_t)(share * 1e6 + (share < 0 ? -0.5 : 0.5));
}

/* Why it is not known what they cost; of no interest once it is. */
static enum ct_unmeasured reason(const struct decide *d, uint64_t now_ns)
{
	const struct ct_gpu_steps *s = &d->steps;
	uint64_t guard_ns = (uint64_t)d->options.guard_ms * 1000000;

	if (!has_windows(d))
		return CT_UNMEASURED_OFF;
	/* the latest may have been called since this look began */
	if (ct_gpu_steps_last_ns(s) + guard_ns < now_ns)
		return CT_UNMEASURED_NO_COLLECTIVES;
	if (!s->kind)
		return CT_UNMEASURED_NO_STEP;
	return d->is_long ? CT_UNMEASURED_LONG : CT_UNMEASURED_FEW;
}

static void show(struct decide *d, uint64_t now_ns)
{
	uint64_t step_ns = (uint64_t)d->effect.step_ns;

	/* too long to be seen in a window */
	if (!step_ns)
		step_ns = ct_gpu_steps_shortest_ns(&d->steps);
	atomic_store_explicit(&shown.step_ns, step_ns, memory_order_relaxed);
	atomic_store_explicit(&shown.step_collectives, d->steps.collectives, memory_order_relaxed);
	atomic_store_explicit(&shown.step_comm, d->steps.largest.id, memory_order_relaxed);
	atomic_store_explicit(&shown.step_kind, d->steps.kind, memory_order_relaxed);
	atomic_store_explicit(&shown.off, d->effect.n_off, memory_order_relaxed);
	atomic_store_explicit(&shown.on, d->effect.n_on, memory_order_relaxed);
	atomic_store_explicit(&shown.unmeasured, reason(d, now_ns), memory_order_relaxed);
	atomic_store_explicit(&shown.guard_off_ms, d->options.guard_off_ms, memory_order_relaxed);
	atomic_store_explicit(&shown.guard_ms, d->options.guard_ms, memory_order_relaxed);
}

/* 1: they cost too much, beyond doubt. */
static int judge_timing(struct decide *d)
{
	double change, err, least, budget = d->options.budget_millionths / 1e6;

	if (!ct_gpu_effect_get(&d->effect, &change, &err, &least))
		return 0;
	atomic_store_explicit(&shown.change_millionths, millionths(change), memory_order_relaxed);
	atomic_store_explicit(&shown.err_millionths, (uint32_t)millionths(err),
			      memory_order_relaxed);
	return d->options.is_auto && d->options.budget_millionths && least - err > budget;
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
	if (has_windows(d))
		open_or_close(d, now_ns, unix_ns);
	show(d, now_ns);
	if (d->effect.n_off + d->effect.n_on == held || !judge_timing(d))
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
	if (ct_gpu_steps_search(&d->steps, now_ns, d->effect.window_ns / 10))
		measure_anew(d);
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
	cost->step_kind = (uint8_t)atomic_load_explicit(&shown.step_kind, memory_order_relaxed);
	cost->windows_off = atomic_load_explicit(&shown.off, memory_order_relaxed);
	cost->windows_on = atomic_load_explicit(&shown.on, memory_order_relaxed);
	cost->change_millionths = atomic_load_explicit(&shown.change_millionths,
						       memory_order_relaxed);
	cost->change_err_millionths = atomic_load_explicit(&shown.err_millionths,
							   memory_order_relaxed);
	cost->unmeasured = (uint8_t)atomic_load_explicit(&shown.unmeasured, memory_order_relaxed);
	cost->guard_off_ms = atomic_load_explicit(&shown.guard_off_ms, memory_order_relaxed);
	cost->guard_ms = atomic_load_explicit(&shown.guard_ms, memory_order_relaxed);
}
