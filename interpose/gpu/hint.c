/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/hint.h"

#include <errno.h>
#include <stddef.h>

#include "interpose/gpu/mode.h"
#include "interpose/gpu/poll.h"
#include "interpose/gpu/streams.h"

/* The calling thread's context, if there shall be events for it. */
static struct ct_gpu_context *hint(const struct ct_cuda *cuda)
{
	CUcontext current = NULL;
	struct ct_gpu_context *context = NULL;

	if (ct_gpu_has_events() && cuda && !ct_poll_is_held() &&
	    cuda->ctx_get_current(&current) == CUDA_SUCCESS && current)
		context = ct_gpu_context(cuda, current);
	if (context) {
		ct_poll_start();
		ct_poll_wake();
	}
	return context;
}

void ct_gpu_context_hint(void)
{
	const struct ct_cuda *cuda = ct_gpu_timing() != CT_GPU_UNTIMED ? ct_cuda_find() : NULL;
	int saved = errno;

	hint(cuda);
	errno = saved;
}

void ct_gpu_context_await(void)
{
	const struct ct_cuda *cuda = ct_gpu_timing() != CT_GPU_UNTIMED ? ct_cuda_find() : NULL;
	struct ct_gpu_context *context;
	int saved = errno;

	context = hint(cuda);
	if (context)
		ct_poll_await(context);
	errno = saved;
}
