/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.c — a program that asks dlsym in every way and prints what it hears. Built plain and with
 * sanitizers, whose runtimes look up all of libc before anything else runs. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tell(const char *how, void *handle, const char *symbol)
{
	void *found = dlsym(handle, symbol);
	const char *error = dlerror();
	const char *colon = error ? strchr(error, ':')
				  : NULL; /* before it: the name of this file */

	printf("%s %s: %s%s\n", how, symbol, found ? "found" : "not found", colon ? colon : "");
}

static void *ask(void *arg)
{
	for (int i = 0; i < 2000; i++)
		if (!dlsym(RTLD_DEFAULT, "getpid") || dlsym(RTLD_DEFAULT, "ncclNoSuchFunction"))
			return arg;
	return NULL;
}

int main(void)
{
	static const char *const symbols[] = { "getpid", "sin", "ncclAllReduce",
					       "ncclNoSuchFunction", "dlsym" };
	void *libm = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL), *program = dlopen(NULL, RTLD_NOW);
	void *wrong = NULL, *any = malloc(10);
	pthread_t threads[4];

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		tell("libm", libm, symbols[i]);
		tell("program", program, symbols[i]);
		tell("default", RTLD_DEFAULT, symbols[i]);
	}
	tell("next", RTLD_NEXT, "getpid");
	tell("next", RTLD_NEXT, "no_such_function");
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, ask, &wrong);
	for (int i = 0; i < 4; i++) {
		void *said;

		pthread_join(threads[i], &said);
		wrong = said ? said : wrong;
	}
	puts(wrong ? "wrong" : "right");
	free(any);
	return 0;
}
