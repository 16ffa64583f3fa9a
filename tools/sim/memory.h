/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h — host memory that stands for device memory and for pinned host memory, and which
 * address belongs to which. The lock is held for all of it. */
#ifndef CT_TOOLS_SIM_MEMORY_H
#define CT_TOOLS_SIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

enum sim_memory { SIM_PAGEABLE, SIM_PINNED, SIM_DEVICE };

/* The kind of memory of [p, p + bytes); memory that was not allocated here is pageable. False if it
 * exceeds the allocation that p is in. */
bool sim_memory_of(const void *p, size_t bytes, enum sim_memory *memory);

#endif
