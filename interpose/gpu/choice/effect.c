/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/choice/effect.h"

#include <string.h>

/* tuning: of a window, at both ends: by so much clocks of hosts may differ. */
#define EDGE 10u
/* tuning: a longer one is not a step but a checkpoint, an evaluation, a restart. */
#define PAUSE 3.0
/* tuning: pauses come in one of so many windows, or fewer. */
#define FEW 4u
/* tuning: comparisons of timed windows without which nothing is known of the error. They overlap,
 * so that two count as one. */
#define FEWEST 8u

void ct_gpu_effect_init(struct ct_gpu_effect *e, uint64_t window_ns)
{
	memset(e, 0, sizeof(*e));
	ct_gpu_effect_restart(e, window_ns);
}

void ct_gpu_effect_restart(struct ct_gpu_effect *e, uint64_t window_ns)
{
	e->window_ns = window_ns;
	e->n_windows = e->n_paused = 0;
	e->window = 0;
	e->n = 0;
	e->last.ns = 0;
	e->before[0] = e->before[1] = 0;
	e->step_ns = 0;
}

static double per_step(const struct ct_gpu_mark *stride)
{
	return (double)stride->ns / (double)stride->step;
}

static double median(const struct ct_gpu_effect *e)
{
	double sorted[CT_GPU_STRIDES];

	for (uint32_t i = 0; i < e->n; i++) {
		double value = per_step(&e->strides[i]);
		uint32_t at = i;

		for (; at && sorted[at - 1] > value; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = value;
	}
	return sorted[e->n / 2];
}

/* 0: none was inside. */
static double step_time(struct ct_gpu_effect *e)
{
	double middle = e->n ? median(e) : 0;
	uint64_t ns = 0, steps = 0, paused_ns = 0, paused_steps = 0;

	for (uint32_t i = 0; i < e->n; i++) {
		const struct ct_gpu_mark *stride = &e->strides[i];
		int is_pause = per_step(stride) > PAUSE * middle;

		*(is_pause ? &paused_ns : &ns) += stride->ns;
		*(is_pause ? &paused_steps : &steps) += stride->step;
	}
	e->n_windows++;
	e->n_paused += paused_ns > 0;
	if (e->n_paused * FEW > e->n_windows) {
		ns += paused_ns;
		steps += paused_steps;
	}
	return steps ? (double)ns / (double)steps : 0;
}

/* The window before the one that ends now, beside its neighbours. */
static void compare(struct ct_gpu_effect *e, double after)
{
	double timed = (e->before[0] + after) / 2;
	double change;

	if (e->before[0] <= 0 || e->before[1] <= 0 || after <= 0 || e->before_is_off[0] ||
	    e->is_off)
		return;
	change = timed / e->before[1] - 1;
	if (e->before_is_off[1]) {
		e->n_off++;
		e->sum_least += (e->before[0] < after ? e->before[0] : after) / e->before[1] - 1;
		e->sum_off += change;
		e->squares_off += change * change;
	} else {
		e->n_on++;
		e->squares_on += change * change;
	}
}

static void close_window(struct ct_gpu_effect *e)
{
	double ns = e->is_mixed ? 0 : step_time(e);

	compare(e, ns);
	if (!e->is_off && ns > 0)
		e->step_ns = ns;
	e->before[0] = e->before[1];
	e->before_is_off[0] = e->before_is_off[1];
	e->before[1] = ns;
	e->before_is_off[1] = e->is_off;
}

static void open_window(struct ct_gpu_effect *e, uint64_t window)
{
	if (e->window)
		close_window(e);
	/* one in which no step began, or the clock was set */
	if (window != e->window + 1)
		e->before[0] = e->before[1] = 0;
	e->window = window;
	e->is_off = e->is_mixed = 0;
	e->last.ns = 0;
	e->n = 0;
}

void ct_gpu_effect_step(struct ct_gpu_effect *e, uint64_t unix_ns, uint64_t ns, uint64_t step,
			int is_off)
{
	uint64_t window = unix_ns / e->window_ns + 1, inside = unix_ns % e->window_ns;
	uint64_t edge = e->window_ns / EDGE;

	if (window != e->window)
		open_window(e, window);
	if (inside < edge || inside > e->window_ns - edge)
		return;
	if (!e->last.ns)
		e->is_off = is_off;
	e->is_mixed |= is_off != e->is_off;
	if (e->last.ns && ns - e->last.ns < e->window_ns / CT_GPU_STRIDES)
		return;
	if (e->last.ns && e->n < CT_GPU_STRIDES)
		e->strides[e->n++] = (struct ct_gpu_mark){ ns - e->last.ns, step - e->last.step };
	e->last = (struct ct_gpu_mark){ ns, step };
}

/* Newton's way. Not sqrt(): of libm nothing is used here. */
static double root(double x)
{
	double r = x > 1 ? x : 1;

	for (int i = 0; i < 60 && x > 0; i++)
		r = (r + x / r) / 2;
	return x > 0 ? r : 0;
}

/* Student's t that is exceeded, either way, once in a hundred times. */
static double student(uint32_t freedom)
{
	static const double few[] = { 63.7, 63.7, 9.92, 5.84, 4.60, 4.03,
				      3.71, 3.50, 3.36, 3.25, 3.17 };
	double n = freedom;

	return freedom < sizeof(few) / sizeof(few[0]) ? few[freedom]
						      : 2.576 + 4.92 / n + 8.83 / (n * n);
}

int ct_gpu_effect_get(const struct ct_gpu_effect *e, double *change, double *err, double *least)
{
	double n = e->n_off, spread, own;

	if (!e->n_off || e->n_on < FEWEST)
		return 0;
	*change = e->sum_off / n;
	*least = e->sum_least / n;
	spread = e->squares_on / e->n_on;
	/* where timing itself makes steps uneven */
	own = e->n_off > 2 ? (e->squares_off - n * *change * *change) / (n - 1) : 0;
	*err = student(e->n_on / 2) * root((own > spread ? own : spread) / n);
	return 1;
}
