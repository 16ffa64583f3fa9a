/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/stacks/python_stack.h"

void ct_python_stack_begin(void)
{
}

void ct_python_stack(struct ct_frames *frames, uint32_t tid)
{
	(void)frames;
	(void)tid;
}
