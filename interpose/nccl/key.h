/* SPDX-License-Identifier: Apache-2.0 */
/* key.h — keys of NCCL's communicators: the hash that NCCL itself computes and prints as "commId",
 * computed anew from what the calls carry, so that all members and NCCL's own log agree. Pure
 * functions.
 *
 * A shrunk communicator is the exception: NCCL gives all that are shrunk from one parent the same
 * hash, so which ranks were excluded, and how often the same ranks were, goes into the key as well;
 * what is split from it hangs on that key.
 *
 * The hash is NCCL's since 2.26. Before, it was DJB2a: of the id, and of a text of the parent's
 * hash and the colour. All that are split from one parent by one colour have one hash there, so
 * which split it was goes into the key, but of the first one.
 *
 * A grown communicator has members that know its parent and members that know a unique id, and NCCL
 * gives all of them one hash all the same: ids that are made for growing begin with a number, the
 * magic, that follows from the parent's and from how many children it had. So next to its key a
 * communicator has NCCL's own hash and its magic.
 */
#ifndef CT_INTERPOSE_NCCL_KEY_H
#define CT_INTERPOSE_NCCL_KEY_H

#include <stdint.h>

#include "interpose/abi/nccl.h"

/* `version`: that of ncclGetVersion; 0, not known: as the latest. */
uint64_t ct_nccl_key_of_id(const ncclUniqueId *id, int version);

/* `nth`: this is the parent's nth child by splitting or growing, from 1, counting splits where this
 * rank had no colour. Of NCCL's own hash of the parent it is NCCL's own hash. */
uint64_t ct_nccl_hash_of_split(uint64_t parent_hash, int32_t nth, int32_t color, int version);

/* `parent` is its key. */
uint64_t ct_nccl_key_of_split(uint64_t parent, int32_t nth, int32_t color, int version);

/* What a unique id begins with: the magic of the communicator that is made of it. */
uint64_t ct_nccl_magic_of_id(const ncclUniqueId *id);

/* The magic of what is grown from a parent of this magic, as its nth child by splitting or growing,
 * from 1. What is split or shrunk has its hash for a magic. */
uint64_t ct_nccl_magic_of_grown(uint64_t parent_magic, uint32_t nth);

uint64_t ct_nccl_key_of_grown(uint64_t magic, uint32_t nranks);

/* NCCL's own hash of what is shrunk from a parent with this hash. */
uint64_t ct_nccl_hash_of_shrunk(uint64_t parent_hash);

/* Of the set of excluded ranks, in whatever order they are listed. */
uint64_t ct_nccl_hash_of_ranks(const int *ranks, int n);

/* `nth`: how often this parent was shrunk by these ranks before, from 0. */
uint64_t ct_nccl_key_of_shrink(uint64_t parent, uint64_t excluded, uint64_t nth);

#endif
