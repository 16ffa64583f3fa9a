/* SPDX-License-Identifier: Apache-2.0 */
/* python_stack.h — the Python frames of other threads, put behind the machine's. The thread that
 * looks. */
#ifndef CT_INTERPOSE_STACKS_PYTHON_STACK_H
#define CT_INTERPOSE_STACKS_PYTHON_STACK_H

#include "interpose/stacks/frames.h"

/* Which threads the interpreters know, for the look that begins. */
void ct_python_stack_begin(void);

/* Add the frames of one of them; none, if it is not among them. */
void ct_python_stack(struct ct_frames *frames, uint32_t tid);

#endif
