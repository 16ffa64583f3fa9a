/* SPDX-License-Identifier: Apache-2.0 */
/* windows.h — when nothing is timed, so that what timing costs can be measured: one window of the
 * wall clock in each block of several, at random.
 *
 * All ranks of a job have the same windows without a word between them: they follow from the job's
 * name and the time. Ranks whose clocks differ by a second have windows that begin and end a second
 * apart: the operations of that second are timed on some ranks and not on others, and count as
 * untimed; what is measured leaves out a tenth of a window at both of its ends. Pure.
 */
#ifndef CT_INTERPOSE_GPU_CHOICE_WINDOWS_H
#define CT_INTERPOSE_GPU_CHOICE_WINDOWS_H

#include <stdint.h>

#include "interpose/gpu/choice/options.h"

/* The window of this moment, by number. */
uint64_t ct_gpu_window(const struct ct_gpu_options *options, uint64_t unix_ns);

/* Is nothing timed in it? `job`: a hash of the job's name. `age_ns`: of the recording; when it is
 * old there are fewer, which ranks whose recordings are not equally old agree on but for the moment
 * of that. */
int ct_gpu_window_is_off(const struct ct_gpu_options *options, uint64_t job, uint64_t window,
			 uint64_t age_ns);

#endif
