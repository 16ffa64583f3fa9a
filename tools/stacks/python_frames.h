/* SPDX-License-Identifier: Apache-2.0 */
/* python_frames.h — the interpreter of a target, and the Python frames of its threads, by the same
 * tables and the same walk as in the job (interpose/python). One target at a time, one thread. */
#ifndef CT_TOOLS_STACKS_PYTHON_FRAMES_H
#define CT_TOOLS_STACKS_PYTHON_FRAMES_H

#include "tools/stacks/target.h"

/* Find the interpreter: target->python, or python_error where there is one of an unknown version. */
void ct_python_of(struct ct_target *target);

/* Which threads it knows, as memory is now. `pages` are forgotten before. */
void ct_python_list(struct ct_target *target, struct ct_pages *pages);

/* The frames of a thread that is paused: sample->python. For ct_pause_visit; `target` is its
 * argument. */
void ct_python_visit(void *target, struct ct_stack_sample *sample, struct ct_pages *pages);

#endif
