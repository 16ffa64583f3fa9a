/* SPDX-License-Identifier: Apache-2.0 */
/* bound.c — opens a library that calls NCCL, in one of the ways there are, and prints which copy
 * its call has reached.
 *
 * bound local|global|deepbind|namespace LIBRARY
 * bound self     calls the copy that is linked into the program (built with BOUND_SELF) */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef BOUND_SELF
int bound_copy(void);
#endif

static void *open_as(const char *way, const char *path)
{
	if (strcmp(way, "namespace") == 0)
		return dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
	return dlopen(path, RTLD_NOW | (strcmp(way, "global") == 0     ? RTLD_GLOBAL
					: strcmp(way, "deepbind") == 0 ? RTLD_LOCAL | RTLD_DEEPBIND
								       : RTLD_LOCAL));
}

int main(int argc, char **argv)
{
	void *library = argc == 3 ? open_as(argv[1], argv[2]) : NULL;
	int (*call)(void) = library ? (int (*)(void))dlsym(library, "bound_copy") : NULL;

#ifdef BOUND_SELF
	call = bound_copy;
#endif
	if (!call) {
		fprintf(stderr, "bound: %s\n", dlerror());
		return 1;
	}
	printf("copy %d\n", call());
	return 0;
}
