/* SPDX-License-Identifier: Apache-2.0 */
/* dlsym_shim.c — another preload that wraps dlsym, like those that share GPUs among containers: it
 * answers for one name itself and forwards the others. */
#include <dlfcn.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

PUBLIC void *dlsym(void *handle, const char *symbol);
static int answer;

void *dlsym(void *handle, const char *symbol)
{
	static void *(*next)(void *, const char *);

	if (strcmp(symbol, "dlsym_shim_answer") == 0)
		return &answer;
	if (!next)
		next = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!next)
		next = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	return next(handle, symbol);
}
