/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_key.h — keys of NCCL's communicators: the hash that NCCL itself computes and prints as "commId", computed anew
 * from what the calls carry, so that all members and NCCL's own log agree. Pure functions.
 *
 * A shrunk communicator is the exception: NCCL gives all that are shrunk from one parent the same hash, so who was
 * excluded, and how often the same ranks were, goes into the key as well; what is split from it hangs on that key.
 */
#ifndef CT_NCCL_KEY_H
#define CT_NCCL_KEY_H

#include <stdint.h>

#include "interpose/abi/nccl.h"

uint64_t ct_nccl_key_of_id(const ncclUniqueId *id);

/* `nth`: this is the parent's nth split, from 1, counting those where this rank had no colour. */
uint64_t ct_nccl_key_of_split(uint64_t parent, int32_t nth, int32_t color);

/* Of the set of excluded ranks, in whatever order they are listed. */
uint64_t ct_nccl_hash_of_ranks(const int *ranks, int n);

/* `nth`: how often this parent was shrunk by these ranks before, from 0. */
uint64_t ct_nccl_key_of_shrink(uint64_t parent, uint64_t excluded, uint64_t nth);

#endif
