/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h — the same body on several ranks of one communicator: threads of this process, each with
 * a device of its own, or forked processes. A body counts what is wrong; cmocka's asserts are for
 * the main thread only. */
#ifndef CT_TESTS_SIM_RANKS_H
#define CT_TESTS_SIM_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/sim/nccl/api.h"

struct rank {
	int rank, n, failures;
	ncclUniqueId id; /* the communicator is not made yet: join(), if the body wants it */
	ncclComm_t comm;
	cudaStream_t stream; /* of the rank's device, which is current */
};

/* Counts a failure and says which. */
#define CHECK(rank_, condition) check(rank_, condition, __FILE__, __LINE__, #condition)
bool check(struct rank *rank, bool ok, const char *file, int line, const char *what);

/* Makes rank->comm. */
void join(struct rank *rank);

/* Device memory, zeroed; lives until the process ends or release(). */
void *device_memory(struct rank *rank, size_t bytes);
void release(struct rank *rank, void *p);

/* The sum of the failures; a process that died counts as one. */
int in_threads(int n, void (*body)(struct rank *rank));
int in_processes(int n, void (*body)(struct rank *rank));

/* How many of this process's descriptors belong to communicators that are still to come about. */
int shared_files(void);

/* All that was put on the rank's stream is done. */
void finish(struct rank *rank);

#endif
