/* SPDX-License-Identifier: Apache-2.0 */
/* cfi.h — from a frame to its caller's, by the tables that compilers write for exceptions (DWARF 5,
 * section 6.4, and the Linux Standard Base on .eh_frame).
 *
 * libunwind does this as well, and commtrace-stacks uses it. This library needs nothing but libc,
 * and Debian's static libunwind is not position-independent. The test stacks.in_job holds one
 * against the other. All memory that is not our own is read with ct_peek(): damaged tables end the
 * stack, they do not end the job. */
#ifndef CT_INTERPOSE_STACKS_CFI_H
#define CT_INTERPOSE_STACKS_CFI_H

#include "interpose/stacks/map.h"
#include "interpose/stacks/regs.h"

enum ct_cfi_answer {
	CT_CFI_STEPPED, /* *regs are the caller's */
	CT_CFI_END,	/* there is no caller: the first function of the thread */
	CT_CFI_NONE,	/* no table has this function */
	CT_CFI_UNKNOWN, /* one does, but it takes a register or memory that is not known */
};

/* `is_call`: regs->pc is where a call returns to, not where the thread is. *is_signal is set to 1
 * if the frame is that of a signal's delivery: then the caller's pc is where it was interrupted.
 * *regs is kept unless the answer is STEPPED. */
enum ct_cfi_answer ct_cfi_step(const struct ct_mapped_code *code, struct ct_regs *regs, int is_call,
			       int *is_signal);

/* The function that an address is in: begin and end. 0, or -1: no table has it. */
int ct_cfi_function(const struct ct_mapped_code *code, uintptr_t at, uintptr_t *begin,
		    uintptr_t *end);

#endif
