/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/poll_state.h"

#include "interpose/threads.h"

_Atomic uint32_t ct_gpu_unusual = CT_GPU_NO_EVENTS | CT_GPU_NO_POLL;
_Atomic uint32_t ct_poll_wanted;
/* on a line of its own: callers look at it, the thread writes it at every look */
_Atomic uint64_t ct_poll_inside_ns __attribute__((aligned(64)));
_Atomic uint32_t ct_poll_given_up;

void ct_poll_state_init(void)
{
	ct_gpu_set_unusual(CT_GPU_NO_POLL, 1);
	atomic_store_explicit(&ct_poll_given_up, 0, memory_order_relaxed);
	atomic_store_explicit(&ct_poll_wanted, CT_POLL_NOTHING, memory_order_relaxed);
	ct_poll_inside(0);
}

void ct_poll_give_up(void)
{
	atomic_store_explicit(&ct_poll_given_up, 1, memory_order_relaxed);
	ct_gpu_set_unusual(CT_GPU_NO_POLL, 1);
}

void ct_poll_wake(void)
{
	uint32_t nothing = CT_POLL_NOTHING;

	/* release: pairs with the acquire of the poll thread, which sees what there is to look at */
	if (atomic_compare_exchange_strong_explicit(&ct_poll_wanted, &nothing, CT_POLL_LOOK,
						    memory_order_acq_rel, memory_order_acquire))
		ct_futex_wake(&ct_poll_wanted);
}
