/* SPDX-License-Identifier: Apache-2.0 */
/* elf.h — the dynamic symbols of one loaded object, read without trusting that it stays loaded.
 *
 * The caller owns the view; its strings are a copy. One thread. What is damaged, too large or gone
 * while it is read counts as not there. */
#ifndef CT_INTERPOSE_ENVIRON_ELF_H
#define CT_INTERPOSE_ENVIRON_ELF_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

#define CT_ELF_SEGMENTS 12u /* size: that are loaded; 4 are usual */
#define CT_ELF_DYNAMIC 256u /* size: entries of a dynamic section; 30 to 75 are usual */

struct ct_elf_segment {
	uintptr_t begin;
	size_t len;
	uint32_t flags; /* PF_R, PF_W, PF_X */
};

/* What the loader says of an object. */
struct ct_elf_object {
	char path[320];	   /* "" for the program itself, until the caller names it */
	uintptr_t base;	   /* what its addresses are relative to */
	uintptr_t dynamic; /* its dynamic section, 0 none */
	struct ct_elf_segment segments[CT_ELF_SEGMENTS];
	unsigned n_segments;
	int is_program;
	int before_us; /* the loader looks there before it comes to this library */
};

struct ct_elf {
	const struct ct_elf_object *object;
	uintptr_t symbols, gnu_hash;
	uint32_t hash_head[4]; /* buckets, first symbol in the table, words of the filter, its shift
				*/
	uintptr_t relocations[2]; /* of calls, and the others */
	size_t relocations_len[2];
	char *strings;
	size_t strings_len;
	uint32_t undefined; /* symbols below this number may be undefined, those from it on are
			       exported */
};

/* 0, or -1 if there is nothing to be read. */
int ct_elf_open(struct ct_elf *elf, const struct ct_elf_object *object);
void ct_elf_close(struct ct_elf *elf);

/* Calls `each` with every undefined symbol's number and name until it returns nonzero, and returns
 * that. */
int ct_elf_imports(const struct ct_elf *elf,
		   int (*each)(void *arg, uint32_t number, const char *name), void *arg);

/* Number and address of a symbol that the object defines; 0 if it does not. */
uint32_t ct_elf_exports(const struct ct_elf *elf, const char *name, uintptr_t *address);

/* What the loader has put where the object refers to symbol `number`: 1 and *target, or 0 without
 * such a reference. */
int ct_elf_bound(const struct ct_elf *elf, uint32_t number, uintptr_t *target);

/* The same, where the first reference may also be a word of its data, as in a table of virtual
 * functions. -1: unknown. */
int ct_elf_points(const struct ct_elf *elf, uint32_t number, uintptr_t *target);

/* Is the address in the object? */
int ct_elf_covers(const struct ct_elf_object *object, uintptr_t address);

#endif
