/* SPDX-License-Identifier: Apache-2.0 */
/* chain.h — the objects that are loaded, without asking the loader.
 *
 * dl_iterate_phdr() would take a lock that a forked child may inherit held, by a thread that does
 * not exist. So the list that the loader keeps for debuggers is read instead, by copying, while it
 * may change: a list that is being changed may be read short, and is read again at the next look.
 * Any thread. */
#ifndef CT_INTERPOSE_ENVIRON_CHAIN_H
#define CT_INTERPOSE_ENVIRON_CHAIN_H

#include "interpose/environ/elf.h"

/* In the order in which the loader has them, the program first; `object` has no segments yet. Ends
 * when `each` returns nonzero, and returns that. */
int ct_chain_each(int (*each)(void *arg, struct ct_elf_object *object), void *arg);

/* Fill in object->segments, out of the object's own header. */
void ct_chain_segments(struct ct_elf_object *object);

/* The object that has the address, with its segments. 0: none has. */
int ct_chain_find(uintptr_t address, struct ct_elf_object *object);

/* A number that changes when objects come or go. */
uint64_t ct_chain_stamp(void);

#endif
