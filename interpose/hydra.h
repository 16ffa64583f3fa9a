/* SPDX-License-Identifier: Apache-2.0 */
/* hydra.h — the name of a job that MPICH's launcher started.
 *
 * Hydra gives its processes their rank, but no name of the job. But on every node they are
 * descendants of a proxy, and the command lines of all proxies have the address of the job's
 * mpiexec. It is the same for all ranks, and different for the next job. Read once, when recording
 * starts, by the thread that starts it.
 */
#ifndef CT_INTERPOSE_HYDRA_H
#define CT_INTERPOSE_HYDRA_H

#include <stddef.h>
#include <stdint.h>

/* HOST_PORT of the mpiexec whose proxy is the nearest ancestor of a process with the parent `ppid`;
 * followed by .N for processes that the job itself spawned. Returns 0, or -1 without such an
 * ancestor (then name is ""). */
int ct_hydra_job(uint32_t ppid, char *name, size_t size);

/* The same from one command line as /proc has it, arguments that end in NUL: for tests. */
int ct_hydra_parse(const char *arguments, size_t len, char *name, size_t size);

#endif
