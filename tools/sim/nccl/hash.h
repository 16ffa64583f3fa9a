/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h — the hash by which NCCL names communicators in its log: of the unique id, or of what a
 * child was made from. The constants are part of what NCCL prints. Also the simulator's source of
 * what looks random. */
#ifndef CT_TOOLS_SIM_NCCL_HASH_H
#define CT_TOOLS_SIM_NCCL_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t sim_hash_bytes(const void *bytes, size_t n);

/* split_count: the parent's splits and growths so far, this one included; a shrunk communicator has
 * 0 and colour 0. */
uint64_t sim_hash_child(uint64_t parent, int split_count, int color);

/* Of two numbers: how communicators are named that are grown. */
uint64_t sim_hash_pair(uint64_t a, uint64_t b);

/* In [0, 1), a function of the four numbers alone. */
double sim_chance(uint64_t a, uint64_t b, uint64_t c, uint64_t d);

#endif
