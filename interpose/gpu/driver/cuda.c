/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/driver/cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "interpose/dlsym_real.h"

static struct ct_cuda table;
static _Atomic int busy; /* a thread is looking */
_Atomic(const struct ct_cuda *) ct_cuda_found;

/* 1 if all of them are there. */
static int fill(void *library)
{
	void *function;

	/* ISO C has no cast from an object's pointer to a function's */
#define CUDA_CALL(field, symbol, params)                                                           \
	function = ct_dlsym(library, #symbol);                                                     \
	if (!function)                                                                             \
		return 0;                                                                          \
	memcpy(&table.field, &function, sizeof(function));
#define CUDA_CALL_OPTIONAL(field, symbol, params)                                                  \
	function = ct_dlsym(library, #symbol);                                                     \
	memcpy(&table.field, &function, sizeof(function));
#include "interpose/abi/cuda_calls.def"
	return 1;
}

const struct ct_cuda *ct_cuda_find(void)
{
	int saved = errno;
	int idle = 0;
	void *library;

	/* acquire: pairs with the release of the thread that looked before */
	if (ct_cuda() || !atomic_compare_exchange_strong_explicit(
				 &busy, &idle, 1, memory_order_acquire, memory_order_relaxed))
		return ct_cuda();
	library = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
	if (library && fill(library)) {
		/* the handle is kept: what we call must stay where it is */
		atomic_store_explicit(&ct_cuda_found, &table, memory_order_release);
	} else if (library) {
		dlclose(library);
		library = NULL;
	}
	atomic_store_explicit(&busy, 0, memory_order_release);
	errno = saved;
	return ct_cuda();
}

void ct_cuda_use(const struct ct_cuda *cuda)
{
	atomic_store_explicit(&ct_cuda_found, cuda, memory_order_release);
}
