/* SPDX-License-Identifier: Apache-2.0 */
/* model.h — how long communication takes: a ring for collectives, each pair of ranks by itself for
 * messages. A function of the links, of what is moved and of where it stands in its communicator's
 * order, so that all ranks and all runs with one seed agree. The links are set by job.h. */
#ifndef CT_TOOLS_SIM_NCCL_MODEL_H
#define CT_TOOLS_SIM_NCCL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/sim/nccl/shared.h"

/* Before jitter. n: ranks; wire_bytes: that each rank sends over its ring link. */
uint64_t sim_model_ring(const struct sim_member *members, int n, double wire_bytes);

/* Before jitter; `transfer` gets the part that the bytes take, without alpha. */
uint64_t sim_model_message(const struct sim_member *from, const struct sim_member *to,
			   uint64_t bytes, uint64_t *transfer);

/* The number that jitter and skew are made of. comm: its hash. */
uint64_t sim_model_jitter(uint64_t ns, uint64_t comm, uint64_t what, uint64_t which);

/* How much later than the others this rank ends. */
uint64_t sim_model_skew(uint64_t comm, uint64_t launch, int rank);

/* The global rank that simNcclRank() gave a device; -1: none. */
int sim_model_rank(int device);

#endif
