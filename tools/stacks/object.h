/* SPDX-License-Identifier: Apache-2.0 */
/* object.h — the ELF file behind a range of a target: where its addresses are, its table for
 * unwinding, its symbols. A file that is not the one in memory (another build id) is not used; of a
 * file that is gone, what memory has of it. May wait for file systems. One thread. */
#ifndef CT_TOOLS_STACKS_OBJECT_H
#define CT_TOOLS_STACKS_OBJECT_H

#include "tools/stacks/target.h"

/* NULL: the range belongs to no file. */
struct ct_object *ct_object_of(struct ct_target *target, struct ct_range *range);

/* The address in the file's own numbers. 0, or -1: its segments do not have it. */
int ct_object_address(struct ct_target *target, struct ct_range *range, uint64_t at,
		      uint64_t *address);

/* Where an address of the file's own numbers is in memory, by a range of that file. 0, or -1. */
int ct_object_mapped(struct ct_target *target, struct ct_range *range, uint64_t address,
		     uint64_t *mapped);

/* The table .eh_frame_hdr in the file's own numbers. 0, or -1: none. */
int ct_object_unwind(struct ct_target *target, struct ct_range *range, uint64_t *address);

/* The function that an address in the file's own numbers is in, as the linker names it; NULL: not
 * known. Lives as long as the target. */
const char *ct_object_function(struct ct_target *target, struct ct_range *range, uint64_t address);

/* A symbol's address in the file's own numbers. 0, or -1: there is none. */
int ct_object_symbol(struct ct_target *target, struct ct_range *range, const char *name,
		     uint64_t *address);

/* Bytes of the file itself, if it is the right one: 0, or -1. */
int ct_object_read(struct ct_target *target, struct ct_range *range, uint64_t offset, void *to,
		   size_t len);

#endif
