/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/ending.h"

#include <errno.h>

#include "interpose/gpu/poll_state.h"
#include "interpose/threads.h"

/* Words of a context: `ending` counts the program's threads that are ending it, `door` is the poll
 * thread's way in. Both sides write one of them and read the other, which takes one order for all
 * (seq_cst): a thread that counts itself and then finds the door shut may continue, since the poll
 * thread opens it only when it sees no such thread, and looks again when it has opened it. */
enum { OPEN, INSIDE, SHUT };

_Static_assert(CT_GPU_CONTEXTS <= 32, "one bit for each");

static int is_ending(struct ct_gpu_context *context)
{
	return atomic_load_explicit(&context->ending, memory_order_seq_cst) != 0;
}

int ct_gpu_look_begin(struct ct_gpu_context *context, int *last)
{
	int was_shut = atomic_load_explicit(&context->door, memory_order_seq_cst) == SHUT;
	uint32_t open = OPEN;

	if (was_shut) {
		if (is_ending(context))
			return 0;
		atomic_store_explicit(&context->door, OPEN, memory_order_seq_cst);
	}
	if (!atomic_compare_exchange_strong_explicit(&context->door, &open, INSIDE,
						     memory_order_seq_cst, memory_order_seq_cst))
		return 0;
	if (!is_ending(context))
		return 1;
	if (!was_shut) {
		*last = 1;
		return 1;
	}
	/* it may have found the door shut */
	ct_gpu_look_end(context);
	return 0;
}

void ct_gpu_look_end(struct ct_gpu_context *context)
{
	int shut = is_ending(context);

	atomic_store_explicit(&context->door, shut ? SHUT : OPEN, memory_order_seq_cst);
	if (shut)
		ct_futex_wake(&context->door);
}

/* Until the poll thread has looked, or the time is over; then it finds the door shut, unless it is
 * inside. */
static void await_last_look(struct ct_gpu_context *context, uint64_t deadline_ns)
{
	uint32_t door = atomic_load_explicit(&context->door, memory_order_seq_cst);
	uint64_t now = ct_now_ns();

	while (door != SHUT && now < deadline_ns) {
		ct_futex_wait(&context->door, door, deadline_ns - now);
		door = atomic_load_explicit(&context->door, memory_order_seq_cst);
		now = ct_now_ns();
	}
	door = OPEN;
	atomic_compare_exchange_strong_explicit(&context->door, &door, SHUT, memory_order_seq_cst,
						memory_order_seq_cst);
}

static uint32_t end_all(int device, CUcontext handle)
{
	struct ct_gpu_context *c;
	uint32_t which = 0;
	uint64_t wait_ns = 0;
	uint64_t begin = ct_now_ns();
	int saved = errno;

	for (unsigned i = 0; i < CT_GPU_CONTEXTS && (c = ct_gpu_context_nth(i)); i++) {
		if (ct_gpu_context_is_dead(c) ||
		    (handle && atomic_load_explicit(&c->handle, memory_order_relaxed) != handle) ||
		    (device >= 0 && c->device != device))
			continue;
		which |= 1u << i;
		atomic_fetch_add_explicit(&c->ending, 1, memory_order_seq_cst);
	}
	if (which && ct_poll_is_up() && !ct_poll_is_held()) {
		wait_ns = CT_GPU_ENDING_NS;
		ct_poll_wake();
	}
	for (unsigned i = 0; i < CT_GPU_CONTEXTS; i++)
		if (which & 1u << i)
			await_last_look(ct_gpu_context_nth(i), begin + wait_ns);
	errno = saved;
	return which;
}

uint32_t ct_gpu_ending_device(int device)
{
	const struct ct_cuda *cuda = ct_cuda();
	CUdevice current = -1;

	if (!cuda)
		return 0;
	/* of no context the runtime resets a device that it knows and we do not: any may be it */
	if (device < 0 && cuda->ctx_get_device(&current) != CUDA_SUCCESS)
		current = -1;
	return end_all(device < 0 ? current : device, NULL);
}

uint32_t ct_gpu_ending_context(CUcontext handle)
{
	return handle && ct_cuda() ? end_all(-1, handle) : 0;
}

void ct_gpu_ended(uint32_t which, int gone)
{
	for (unsigned i = 0; i < CT_GPU_CONTEXTS; i++) {
		struct ct_gpu_context *c = which & 1u << i ? ct_gpu_context_nth(i) : NULL;

		if (c && gone)
			atomic_store_explicit(&c->closed, CT_GPU_DEAD, memory_order_seq_cst);
		if (c)
			atomic_fetch_sub_explicit(&c->ending, 1, memory_order_seq_cst);
	}
}

int ct_gpu_is_primary_there(CUdevice device)
{
	const struct ct_cuda *cuda = ct_cuda();
	unsigned int flags;
	int active = 0;

	return cuda && cuda->primary_ctx_state &&
	       cuda->primary_ctx_state(device, &flags, &active) == CUDA_SUCCESS && active;
}
