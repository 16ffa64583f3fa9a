/* SPDX-License-Identifier: Apache-2.0 */
/* last_threads.c — a tool that listens to MPI and to threads being made, and is gone once MPI is:
 * as a preload. In MPI_Finalize it loads $LAST_LIBRARY; a thread that is made afterwards ends the
 * process. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default")))
VISIBLE int MPI_Finalize(void);

static _Atomic int gone;

VISIBLE int MPI_Finalize(void)
{
	const char *library = getenv("LAST_LIBRARY");
	int (*next)(void);
	void *found = dlsym(RTLD_NEXT, "MPI_Finalize");
	int result;

	if (library && !dlopen(library, RTLD_NOW | RTLD_LOCAL))
		abort();
	memcpy(&next, &found, sizeof(next));
	result = next();
	atomic_store(&gone, 1);
	return result;
}

VISIBLE int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			   void *(*body)(void *), void *argument)
{
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	void *found = dlsym(RTLD_NEXT, "pthread_create");

	if (atomic_load(&gone)) {
		fputs("a thread is made after the end of MPI\n", stderr);
		abort();
	}
	memcpy(&next, &found, sizeof(next));
	return next(thread, attributes, body, argument);
}
