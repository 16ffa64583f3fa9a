/* SPDX-License-Identifier: Apache-2.0 */
/* What the threads of a process were doing, as far as they have not gone on since. */
#include <string.h>

#include "analyzer/hang/gather.h"

void ct_gather_stacks_begin(struct ct_gather *g)
{
	g->stacks = (struct ct_stack_list){ .memory = g->memory };
	memset(g->entered, 0, sizeof(g->entered));
	g->last_enter_ns = 0;
}

void ct_gather_entered(struct ct_gather *g, uint32_t tid, uint64_t enter_ns)
{
	struct ct_hang_entered *last = &g->entered[tid % CT_HANG_ENTERED];

	if (enter_ns > g->last_enter_ns)
		g->last_enter_ns = enter_ns;
	if (enter_ns > last->enter_ns)
		*last = (struct ct_hang_entered){ tid, enter_ns };
}

/* The thread itself called something afterwards; where nobody did anything, any thread that did ends that. */
static int is_past(const struct ct_gather *g, const struct ct_stack *stack)
{
	const struct ct_hang_entered *last = &g->entered[stack->rec.tid % CT_HANG_ENTERED];

	if (last->tid == stack->rec.tid && last->enter_ns > stack->rec.taken_ns)
		return 1;
	return stack->rec.why == CT_STALL_IDLE && g->last_enter_ns > stack->rec.taken_ns;
}

int ct_gather_stacks_end(struct ct_gather *g)
{
	struct ct_hang_process *p = &g->processes[g->process];
	struct ct_stack *kept = ct_arena_calloc(g->memory, g->stacks.n, sizeof(*kept));

	if (!kept)
		return CT_NOMEM;
	ct_stack_list_sort(&g->stacks);
	for (uint32_t i = 0; i < g->stacks.n; i++)
		if (!is_past(g, &g->stacks.stacks[i]))
			kept[p->n_stacks++] = g->stacks.stacks[i];
	p->stacks = kept;
	return CT_OK;
}

uint64_t ct_gather_main_cpu(const struct ct_hang_process *p)
{
	for (uint32_t i = 0; i < p->n_stacks; i++)
		if (p->stacks[i].rec.flags & CT_STACK_MAIN)
			return p->stacks[i].cpu_since_ns;
	return CT_UNKNOWN;
}
