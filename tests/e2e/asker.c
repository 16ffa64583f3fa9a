/* SPDX-License-Identifier: Apache-2.0 */
/* asker.c — a library that looks functions up, and calls what others have looked up: as extension
 * modules, plugins and libffi do. Built with and without a libnccl that it is linked to. */
#include <dlfcn.h>

#include "interpose/abi/nccl.h"

#define PUBLIC __attribute__((visibility("default")))

PUBLIC void *asker_look(void *handle, const char *symbol);
PUBLIC int asker_call(ncclResult_t (*function)(ncclUniqueId *id));
PUBLIC int asker_bound(void);
PUBLIC int asker_depth(void);

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) __attribute__((weak));

PUBLIC void *asker_look(void *handle, const char *symbol)
{
	void *function = dlsym(handle, symbol);

	__asm__ volatile(""); /* no jump: the caller is known by its return address */
	return function;
}

/* Which copy is this? */
PUBLIC int asker_call(ncclResult_t (*function)(ncclUniqueId *id))
{
	ncclUniqueId id = { { 0 } };

	return function(&id) == ncclSuccess ? id.internal[0] : -1;
}

/* And the one that it is linked to? */
PUBLIC int asker_bound(void)
{
	return asker_call(ncclGetUniqueId);
}

/* The next library's function of this name. A dlsym that hides its caller would find this one
 * again, forever. */
PUBLIC int asker_depth(void)
{
	int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "asker_depth");

	return next ? 1 + next() : 1;
}
