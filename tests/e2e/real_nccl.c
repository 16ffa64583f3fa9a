/* SPDX-License-Identifier: Apache-2.0 */
/* real_nccl.c — a program that calls libnccl through dlsym, or through a library linked with it.
 *
 * real_nccl look ID LIBNCCL     what dlopen(LIBNCCL) and dlsym give
 * real_nccl local ID LIBRARY    real_nccl_calls() of LIBRARY, opened with RTLD_LOCAL */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tests/e2e/real_nccl.h"

static int look_up(struct real_nccl *f, void *handle)
{
#define LOOK(name)                                                                                 \
	f->name = (__typeof__(f->name))dlsym(handle, #name);                                       \
	if (!f->name)                                                                              \
		return -1;
	REAL_NCCL_FUNCTIONS(LOOK)
	return 0;
}

static int run_local(void *library, const char *id)
{
	int (*calls)(const struct real_nccl *, const char *) = (int (*)(
		const struct real_nccl *, const char *))dlsym(library, "real_nccl_calls");

	return calls ? calls(NULL, id) : 2;
}

int main(int argc, char **argv)
{
	struct real_nccl f;
	void *library = argc == 4 ? dlopen(argv[3], RTLD_NOW | RTLD_LOCAL) : NULL;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!library || (strcmp(argv[1], "look") == 0 && look_up(&f, library) != 0)) {
		fprintf(stderr, "real_nccl: %s\n", argc == 4 ? dlerror() : "arguments?");
		return 2;
	}
	if (strcmp(argv[1], "look") == 0)
		return real_nccl_calls(&f, argv[2]);
	return run_local(library, argv[2]);
}
