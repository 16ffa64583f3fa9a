/* SPDX-License-Identifier: Apache-2.0 */
/* native_frames.h — the frames of a thread from its registers and the copies of its stack, by
 * libunwind. Code and its tables are read from the target, where nothing is paused any more. One
 * target at a time, one thread. */
#ifndef CT_TOOLS_STACKS_NATIVE_FRAMES_H
#define CT_TOOLS_STACKS_NATIVE_FRAMES_H

#include "tools/stacks/target.h"

/* Fill native, n_native and is_cut of the sample. If it lacked memory that was not copied,
 * sample->lacked says where: it can be taken once more. */
void ct_native_frames(struct ct_target *target, struct ct_stack_sample *sample);

#endif
