/* SPDX-License-Identifier: Apache-2.0 */
/* regs.h — the registers of one frame, by their DWARF numbers, as far as they are known. Plain
 * values. */
#ifndef CT_INTERPOSE_STACKS_REGS_H
#define CT_INTERPOSE_STACKS_REGS_H

#include <stdint.h>

#define CT_REGS 32u /* size: as many as aarch64 has; one bit of a word for each */

#if defined(__x86_64__)
/* fact: numbers of DWARF, from the ABI of the architecture. */
#define CT_REG_FP 6u
#define CT_REG_SP 7u
#define CT_REG_RA 16u
#define CT_REG_PC 16u
/* fact: rbx, rbp, r12 to r15: what a function gives back as it found it */
#define CT_REGS_KEPT (1u << 3 | 1u << 6 | 1u << 12 | 1u << 13 | 1u << 14 | 1u << 15)
#elif defined(__aarch64__)
/* fact: numbers of DWARF, from the ABI of the architecture. */
#define CT_REG_FP 29u
#define CT_REG_SP 31u
#define CT_REG_RA 30u
#define CT_REG_PC 32u
/* fact: x19 to x30, what a function gives back as it found it */
#define CT_REGS_KEPT 0x7ff80000u
#else
#error "which registers has this architecture?"
#endif

struct ct_regs {
	uintptr_t pc;
	uint32_t known; /* bit i: value[i] is */
	uint64_t value[CT_REGS];
};

static inline int ct_regs_knows(const struct ct_regs *regs, uint64_t number)
{
	return number < CT_REGS && regs->known >> number & 1;
}

static inline void ct_regs_set(struct ct_regs *regs, unsigned number, uint64_t value)
{
	if (number >= CT_REGS)
		return;
	regs->value[number] = value;
	regs->known |= 1u << number;
}

static inline void ct_regs_forget(struct ct_regs *regs, unsigned number)
{
	if (number < CT_REGS)
		regs->known &= ~(1u << number);
}

#endif
