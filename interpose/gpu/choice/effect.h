/* SPDX-License-Identifier: Apache-2.0 */
/* effect.h — by how much a step is longer because it is timed.
 *
 * Steps come in as they begin. A window's step time is the mean of the steps that lie as a whole
 * inside it, a tenth away from its ends, without pauses: those that are several times as long as
 * the others of their window, if few windows have any. Else they belong to what the job does again
 * and again, and "steps" are parts of that. Each window is compared with the mean of its two
 * neighbours: untimed ones show the effect, timed ones by how much such a comparison is off where
 * nothing changed. So a job that becomes slower, or is uneven, has a larger error and no other
 * effect. Pure, but for what it keeps; the poll thread.
 */
#ifndef CT_INTERPOSE_GPU_CHOICE_EFFECT_H
#define CT_INTERPOSE_GPU_CHOICE_EFFECT_H

#include <stdint.h>

/* size: of a window, each several steps, or one; their median distinguishes steps from pauses. */
#define CT_GPU_STRIDES 32u

struct ct_gpu_mark {
	uint64_t ns, step;
};

struct ct_gpu_effect {
	uint64_t window_ns;
	int is_whole;		      /* steps are the job's, not parts of them */
	uint32_t n_windows, n_paused; /* of those that are not mixed: all, and with a pause */
	/* the window of the latest step */
	uint64_t window; /* its number + 1; 0 none */
	int is_off, is_mixed;
	struct ct_gpu_mark last; /* ns 0: none inside it */
	uint32_t n;
	struct ct_gpu_mark strides[CT_GPU_STRIDES]; /* their lengths */
	/* the two before it, older first; 0 not known */
	double before[2];
	int before_is_off[2];
	/* comparisons */
	uint32_t n_off, n_on;
	double sum_off, squares_off, squares_on;
	double sum_least; /* as sum_off, beside the shorter neighbour */
	double step_ns;	  /* of the latest timed window; 0 not known */
};

void ct_gpu_effect_init(struct ct_gpu_effect *e, uint64_t window_ns);

/* Steps are others from now on, or windows are: what is compared begins anew, what was found stays.
 */
void ct_gpu_effect_restart(struct ct_gpu_effect *e, uint64_t window_ns);

/* A step begins: the `step`th, at ns of a clock that never jumps; `unix_ns` by the wall clock,
 * which says the window. `is_off`: nothing is timed at this moment. */
void ct_gpu_effect_step(struct ct_gpu_effect *e, uint64_t unix_ns, uint64_t ns, uint64_t step,
			int is_off);

/* How much longer steps are, of an untimed one, and the error (two-sided, 99 %). *least: by so much
 * they are longer on both sides of untimed windows; something rare and long in one window is not an
 * effect. 0: not known yet. */
int ct_gpu_effect_get(const struct ct_gpu_effect *e, double *change, double *err, double *least);

#endif
