/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stddef.h>

#include "tests/cross/registers.h"

_Static_assert(offsetof(struct registers, lr) == 72, "in the .S files");
_Static_assert(offsetof(struct registers, q) == 96, "in the .S files");

extern struct registers registers_last __attribute__((visibility("hidden")));
extern void *registers_loaders_dlsym __attribute__((visibility("hidden")));
struct registers registers_last;
void *registers_loaders_dlsym; /* until it is known, nothing is found */

static __attribute__((constructor)) void find(void)
{
	registers_loaders_dlsym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!registers_loaders_dlsym)
		registers_loaders_dlsym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
}

const struct registers *registers_caught(void)
{
	return &registers_last;
}
