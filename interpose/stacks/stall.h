/* SPDX-License-Identifier: Apache-2.0 */
/* stall.h — does anything of this process stall? From its own ring and blocks, and the waits of
 * other processes of the host (awaited.h). The sampling thread. */
#ifndef CT_INTERPOSE_STACKS_STALL_H
#define CT_INTERPOSE_STACKS_STALL_H

#include <stdint.h>

#include "trace/format.h"

struct ct_stalled_call {
	enum ct_stack_why why;
	uint64_t since_ns; /* at the latest: when it was seen so first */
};

void ct_stall_reset(void);

/* 1 and *stall: something has stalled for `after_ns` at least, in the order of enum ct_stack_why.
 * To be asked again and again: what moves is seen from one time to the next. */
int ct_stall_find(struct ct_stalled_call *stall, uint64_t after_ns, uint64_t now_ns);

#endif
