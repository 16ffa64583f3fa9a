/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/choice/budget.h"

#include <stdatomic.h>

#include "interpose/gpu/choice/sampling.h"

/* tuning: over less, one interrupted thread looks like a cost that lasts. */
#define LOOK_NS 1000000000u
/* tuning: timing is never held to be worth less than this part of the budget: where all else
 * exceeds it, that does not change by timing nothing. */
#define LEAST_PART 8
/* tuning: looks with space for twice as many launches before so many are timed: at first, and at
 * most after that was wrong again and again. */
#define PATIENCE 3u
#define MOST_PATIENCE 96u
/* tuning: so many looks later it was not wrong. */
#define PROVEN 8u

/* Halve what the calls pay until it fits, once at least. */
static void back_off(struct ct_gpu_budget *b, uint64_t launch_ns, uint64_t room_ns)
{
	do {
		launch_ns /= 2;
		b->level++;
	} while (launch_ns > room_ns && b->level < CT_GPU_COARSEST);
	b->coarsest = b->level > b->coarsest ? b->level : b->coarsest;
	b->backoffs++;
	b->patience = b->since_finer > PROVEN	    ? PATIENCE
		      : b->patience < MOST_PATIENCE ? 2 * b->patience
						    : MOST_PATIENCE;
	b->since_finer = PROVEN + 1;
	b->calm = 0;
}

/* `launch_ns` is what the calls paid for timing; `poll_ns` what the thread did, of which only a
 * part follows. */
static void judge_budget(struct ct_gpu_budget *b, uint64_t allowed_ns, uint64_t fixed_ns,
			 uint64_t poll_ns, uint64_t launch_ns)
{
	uint64_t least_ns = allowed_ns / LEAST_PART;
	uint64_t rest_ns = fixed_ns + poll_ns;
	uint64_t room_ns = allowed_ns > rest_ns ? allowed_ns - rest_ns : 0;
	uint64_t twice_ns = 2 * launch_ns + poll_ns / 2;

	room_ns = room_ns > least_ns ? room_ns : least_ns;
	b->calm = b->level && twice_ns <= room_ns - room_ns / 4 ? b->calm + 1 : 0;
	b->since_finer += b->since_finer <= PROVEN;
	if (launch_ns > room_ns && b->level < CT_GPU_COARSEST) {
		back_off(b, launch_ns, room_ns);
	} else if (b->calm >= b->patience) {
		b->level--;
		b->calm = 0;
		b->since_finer = 0;
	}
}

uint32_t ct_gpu_budget_look(struct ct_gpu_budget *b, const struct ct_gpu_spent *spent)
{
	const struct ct_gpu_spent last = b->last;
	uint64_t wall_ns = spent->now_ns - last.now_ns;

	if (last.now_ns && wall_ns < LOOK_NS)
		return b->level;
	b->last = *spent;
	/* the cost of the start is not representative */
	if (!last.now_ns) {
		b->since_finer = PROVEN + 1;
		b->patience = PATIENCE;
	}
	if (!b->limit_millionths || !last.now_ns)
		return b->level;
	judge_budget(b, wall_ns / 1000000 * b->limit_millionths, spent->fixed_ns - last.fixed_ns,
		     spent->poll_ns - last.poll_ns,
		     (spent->launches - last.launches) * spent->launch_ns);
	return b->level;
}

void ct_gpu_probe_add(struct ct_gpu_probes *p, uint64_t ns)
{
	uint32_t n = atomic_load_explicit(&p->n, memory_order_relaxed);

	atomic_store_explicit(&p->ns[n % CT_GPU_PROBES], ns, memory_order_relaxed);
	atomic_store_explicit(&p->n, n + 1, memory_order_relaxed);
}

uint64_t ct_gpu_probe_cost(struct ct_gpu_probes *p)
{
	uint32_t n = atomic_load_explicit(&p->n, memory_order_relaxed);
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < n && i < CT_GPU_PROBES; i++) {
		uint64_t ns = atomic_load_explicit(&p->ns[i], memory_order_relaxed);

		least = ns < least ? ns : least;
	}
	return n ? least : 0;
}
