/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/clock/globaltimer.h"

#include <sched.h>

#include "interpose/gpu/clock/anchor.h"

/* tuning: each gives one anchor, of the sharpest reports in it: twice as many as of events, whose
 * anchors are sharper. */
#define PERIOD_NS 500000000u
/* tuning: reading the host's clocks again costs more than the 2.5 us that steering() may add. */
#define STALE_NS 5000000u

static int lock(struct ct_globaltimer *c)
{
	for (uint32_t tries = 0; tries < 1u << 14; tries++) {
		if (!atomic_exchange_explicit(&c->busy, 1, memory_order_acquire))
			return 1;
		sched_yield();
	}
	return 0;
}

static void unlock(struct ct_globaltimer *c)
{
	atomic_store_explicit(&c->busy, 0, memory_order_release);
}

static void read_host(struct ct_globaltimer *c)
{
	if (!c->host.raw_ns || ct_gpu_raw_ns() - c->host.raw_ns > STALE_NS)
		ct_gpu_host_clock_read(&c->host);
}

/* CLOCK_MONOTONIC is steered by at most 500 ppm. */
static uint64_t steering(uint64_t age_ns)
{
	return age_ns / 2000 + 1;
}

static float elapsed_ms(uint64_t from, uint64_t to)
{
	return (float)((double)(int64_t)(to - from) / 1e6);
}

/* At first soon, then at a quarter of the clock's age, as events' anchors. */
static void set_due(struct ct_globaltimer *c)
{
	uint64_t now = c->host.raw_ns;
	uint64_t wait;

	if (c->clock.n <= 1)
		c->first_ns = now;
	wait = (now - c->first_ns) / 4;
	c->due_ns = now + (wait < CT_GPU_ANCHOR_SOON_NS ? CT_GPU_ANCHOR_SOON_NS
			   : wait > PERIOD_NS		? PERIOD_NS
							: wait);
}

static void add_anchor(struct ct_globaltimer *c, const struct ct_globaltimer_anchor *a)
{
	if (!a->timer || (c->clock.n && a->timer <= c->last_timer))
		return;
	c->clock.resolution_ns = CT_GLOBALTIMER_STEP_NS / 2.0;
	ct_gpu_clock_add(&c->clock, elapsed_ms(c->last_timer, a->timer), a->before_ns, a->after_ns);
	c->last_timer = a->timer;
}

/* In their order: they may be one and the same. */
static void take_both(struct ct_globaltimer *c)
{
	int low_first = c->low.timer < c->high.timer;

	add_anchor(c, low_first ? &c->low : &c->high);
	add_anchor(c, low_first ? &c->high : &c->low);
	c->low.timer = c->high.timer = 0;
	set_due(c);
}

void ct_globaltimer_add(struct ct_globaltimer *c, uint64_t timer, uint64_t before_ns,
			uint64_t after_ns)
{
	uint64_t width = after_ns - before_ns;
	struct ct_globaltimer_anchor a = { .timer = timer };
	uint64_t after_raw;

	if (!timer || after_ns < before_ns || !lock(c))
		return;
	read_host(c);
	after_raw = c->host.raw_ns + (after_ns - c->host.mono_ns);
	a.after_ns = after_raw + steering(STALE_NS);
	a.before_ns = after_raw - width - steering(width);
	if (!c->low.timer || (int64_t)(a.before_ns - timer - (c->low.before_ns - c->low.timer)) > 0)
		c->low = a;
	if (!c->high.timer ||
	    (int64_t)(a.after_ns - timer - (c->high.after_ns - c->high.timer)) < 0)
		c->high = a;
	if (c->clock.n < CT_GPU_ANCHORS / 4 || after_raw >= c->due_ns)
		take_both(c);
	unlock(c);
}

int ct_globaltimer_at(struct ct_globaltimer *c, uint64_t timer, uint64_t *ns, double *err_ns)
{
	uint64_t raw_ns;
	int known;

	if (!lock(c))
		return 0;
	read_host(c);
	known = ct_gpu_clock_at(&c->clock, elapsed_ms(c->last_timer, timer), &raw_ns, err_ns);
	if (known) {
		uint64_t age = c->host.raw_ns > raw_ns ? c->host.raw_ns - raw_ns : 0;

		*ns = ct_gpu_host_clock_mono(&c->host, raw_ns);
		/* within a second the steering that the readings saw is the one that was */
		*err_ns += (age > 100000000u ? (double)steering(age) : 0);
	}
	unlock(c);
	return known;
}
