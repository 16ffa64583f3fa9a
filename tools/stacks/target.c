/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/stacks/target.h"

#include <stdlib.h>
#include <string.h>

#include "tools/stacks/need.h"

struct ct_range *ct_range_next(const struct ct_ranges *ranges, uint64_t at)
{
	size_t low = 0, high = ranges->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->list[middle].end <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ranges->n ? &ranges->list[low] : NULL;
}

struct ct_range *ct_range_find(const struct ct_ranges *ranges, uint64_t at)
{
	struct ct_range *next = ct_range_next(ranges, at);

	return next && next->begin <= at ? next : NULL;
}

void ct_registers_take(struct ct_registers *registers, const struct user_regs_struct *kernel)
{
	const uint64_t values[CT_REGISTERS] = { kernel->rax, kernel->rdx, kernel->rcx, kernel->rbx,
						kernel->rsi, kernel->rdi, kernel->rbp, kernel->rsp,
						kernel->r8,  kernel->r9,  kernel->r10, kernel->r11,
						kernel->r12, kernel->r13, kernel->r14, kernel->r15,
						kernel->rip };

	memcpy(registers->value, values, sizeof(values));
	registers->known = (1u << CT_REGISTERS) - 1;
	registers->fs_base = kernel->fs_base;
}

void ct_target_misses(struct ct_target *target, char *sentence)
{
	for (size_t i = 0; i < target->n_missing; i++) {
		if (strcmp(target->missing[i], sentence) == 0) {
			free(sentence);
			return;
		}
	}
	target->missing = ct_need_more(target->missing, target->n_missing,
				       sizeof(*target->missing));
	target->missing[target->n_missing++] = sentence;
}
