/* SPDX-License-Identifier: Apache-2.0 */
/* What the threads of a process were doing, as far as they have not gone on since. */
#include "analyzer/hang/gather.h"

int ct_gather_stack(void *arg, const struct ct_stream *stream, uint32_t process,
		    const uint8_t *bytes, size_t len)
{
	struct ct_gather *g = arg;
	struct ct_hang_process *p = &g->processes[process];

	(void)stream;
	if (!p->stacks) {
		p->stacks = ct_arena_calloc(g->memory, 1, sizeof(*p->stacks));
		if (!p->stacks)
			return CT_NOMEM;
		p->stacks->memory = g->memory;
	}
	return ct_stack_list_take(p->stacks, bytes, len);
}

void ct_gather_entered(struct ct_hang_reading *r, uint32_t tid, uint64_t enter_ns)
{
	struct ct_hang_entered *last = &r->entered[tid % CT_HANG_ENTERED];

	if (enter_ns > r->last_enter_ns)
		r->last_enter_ns = enter_ns;
	if (enter_ns > last->enter_ns)
		*last = (struct ct_hang_entered){ tid, enter_ns };
}

/* The thread itself called something afterwards; where nobody did anything, any thread that did ends that. */
static int is_past(const struct ct_hang_reading *r, const struct ct_stack *stack)
{
	const struct ct_hang_entered *last = &r->entered[stack->rec.tid % CT_HANG_ENTERED];

	if (last->tid == stack->rec.tid && last->enter_ns > stack->rec.taken_ns)
		return 1;
	return stack->rec.why == CT_STALL_IDLE && r->last_enter_ns > stack->rec.taken_ns;
}

void ct_gather_end_stacks(struct ct_gather *g, uint32_t process)
{
	const struct ct_hang_reading *reading = g->processes[process].reading;
	struct ct_stack_list *list = g->processes[process].stacks;
	uint32_t n = 0;

	if (!list)
		return;
	for (uint32_t i = 0; i < list->n; i++)
		if (!reading || !is_past(reading, &list->stacks[i]))
			list->stacks[n++] = list->stacks[i];
	list->n = n;
	ct_stack_list_sort(list);
}
