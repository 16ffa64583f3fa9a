/* SPDX-License-Identifier: Apache-2.0 */
/* unseen_job [now:|later:|deepbind:|namespace:]LIBRARY...: makes a communicator of one simulated
 * GPU, so that recording starts, and opens the libraries. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "interpose/abi/nccl.h"

extern ncclResult_t ncclCommInitAll(ncclComm_t *comms, int n, const int *devices);
extern ncclResult_t ncclCommDestroy(ncclComm_t comm);
extern int cudaSetDevice(int device);

static void *open_as(const char *name)
{
	if (strncmp(name, "deepbind:", 9) == 0)
		return dlopen(name + 9, RTLD_NOW | RTLD_DEEPBIND);
	if (strncmp(name, "namespace:", 10) == 0)
		return dlmopen(LM_ID_NEWLM, name + 10, RTLD_NOW);
	if (strncmp(name, "later:", 6) == 0) {
		usleep(500000);
		return dlopen(name + 6, RTLD_LAZY);
	}
	if (strncmp(name, "now:", 4) == 0)
		return dlopen(name + 4, RTLD_NOW);
	/* some have functions that are nowhere */
	return dlopen(name, RTLD_LAZY);
}

int main(int argc, char **argv)
{
	const int device = 0;
	ncclComm_t comm;

	if (cudaSetDevice(device) != 0 || ncclCommInitAll(&comm, 1, &device) != ncclSuccess) {
		fprintf(stderr, "no communicator\n");
		return 1;
	}
	for (int i = 1; i < argc; i++)
		if (!open_as(argv[i])) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
	return ncclCommDestroy(comm) != ncclSuccess;
}
