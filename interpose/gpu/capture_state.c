/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/capture_state.h"

#include <dlfcn.h>
#include <errno.h>

#include "interpose/gpu/choice/mode.h"
#include "interpose/gpu/graph/graph_table.h"
#include "interpose/gpu/poll.h"
#include "interpose/gpu/streams.h"
#include "interpose/recorder.h"

static _Atomic int looked; /* for CUDA, at the first launch */

void ct_gpu_capture_state_init(void)
{
	atomic_store_explicit(&looked, 0, memory_order_relaxed);
}

const struct ct_cuda *ct_gpu_cuda(void)
{
	const struct ct_cuda *cuda = ct_cuda();

	if (!cuda && !atomic_load_explicit(&looked, memory_order_relaxed) &&
	    !atomic_exchange_explicit(&looked, 1, memory_order_relaxed))
		cuda = ct_cuda_find();
	return cuda;
}

const struct ct_cuda *ct_gpu_cuda_start(void)
{
	const struct ct_cuda *cuda = ct_gpu_cuda();

	if (!cuda)
		return NULL;
	if (ct_poll_gave_up()) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_CUDA_FAILED, 1);
		return NULL;
	}
	ct_poll_start();
	return cuda;
}

/* Where AMD's runtime is, a stream is its own: whether it is captured is not known. Looked for
 * once, since the first launch comes after it. */
static int has_hip(void)
{
	static const char *const names[] = { "libamdhip64.so.7", "libamdhip64.so.6",
					     "libamdhip64.so.5", "libamdhip64.so" };
	static _Atomic int known; /* 1 no, 2 yes */
	int answer = atomic_load_explicit(&known, memory_order_relaxed), saved = errno;
	void *library = NULL;

	if (answer)
		return answer == 2;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library; i++)
		library = dlopen(names[i], RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
	if (library)
		dlclose(library);
	atomic_store_explicit(&known, library ? 2 : 1, memory_order_relaxed);
	errno = saved;
	return library != NULL;
}

/* A default stream is queried in its device's context, any other one in the current context. */
static __attribute__((noinline)) enum ct_gpu_capture ask_elsewhere(const struct ct_cuda *cuda,
								   CUstream handle, uint32_t device)
{
	struct ct_gpu_stream *stream = ct_gpu_stream(cuda, handle, (int)device - 1);
	int entered = stream ? ct_gpu_context_enter(cuda, stream->context) : -1;
	enum ct_gpu_capture asked = CT_GPU_UNKNOWN;

	if (entered >= 0) {
		asked = ct_gpu_capture_state_now(cuda, handle);
		ct_gpu_context_leave(cuda, entered);
	}
	return asked;
}

enum ct_gpu_capture ct_gpu_capture_state(CUstream stream, uint32_t device, CUcontext *current)
{
	const struct ct_cuda *cuda;
	enum ct_gpu_capture asked;
	int saved;

	*current = NULL;
	/* a program that captures has to be asked whatever that takes: its order depends on it */
	if (ct_poll_is_held() && !ct_graph_is_used())
		return CT_GPU_UNKNOWN;
	if (ct_gpu_timing() == CT_GPU_UNTIMED) {
		if (__builtin_expect(!ct_graph_is_used(), 1))
			return CT_GPU_FREE;
		cuda = ct_cuda_find();
	} else {
		cuda = ct_poll_is_up() ? ct_cuda() : ct_gpu_cuda_start();
	}
	if (__builtin_expect(!cuda, 0))
		return has_hip() ? CT_GPU_UNKNOWN : CT_GPU_FREE;
	saved = errno;
	if ((uintptr_t)stream > (uintptr_t)CU_STREAM_PER_THREAD &&
	    cuda->ctx_get_current(current) == CUDA_SUCCESS && *current)
		asked = ct_gpu_capture_state_now(cuda, stream);
	else
		asked = ask_elsewhere(cuda, stream, device);
	errno = saved;
	return asked;
}
