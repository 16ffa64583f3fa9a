/* SPDX-License-Identifier: Apache-2.0 */
/* init_order.c — two preloads of a tool: the one that is initialised first looks for a function of
 * MPI's, which the other one has. The other says when it was initialised; a look must not change
 * that. */
#include <dlfcn.h>
#include <stdio.h>

#ifdef HAS_THE_FUNCTION
#define VISIBLE __attribute__((visibility("default")))
int PMPI_Barrier(void *comm);
extern int init_one_begun, init_one_found, init_one_done;

VISIBLE int MPI_Barrier(void *comm);
VISIBLE int MPI_Barrier(void *comm)
{
	return PMPI_Barrier(comm);
}

static __attribute__((constructor)) void say(void)
{
	fprintf(stderr, "the other one is initialised: begun %d, found %d, done %d\n",
		init_one_begun, init_one_found, init_one_done);
}
#else
__attribute__((visibility("default"))) int init_one_begun, init_one_found, init_one_done;

static __attribute__((constructor)) void look(void)
{
	init_one_begun = 1;
	init_one_found = dlsym(RTLD_DEFAULT, "MPI_Barrier") != NULL;
	init_one_done = 1;
}
#endif
