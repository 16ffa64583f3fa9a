/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_elf.h — what an ELF file says of itself, read with libelf; nothing of it is trusted or
 * executed. A damaged file gives the answers that its readable part has. Main thread only. */
#ifndef CT_TOOLS_COMMTRACE_DOCTOR_DOCTOR_ELF_H
#define CT_TOOLS_COMMTRACE_DOCTOR_DOCTOR_ELF_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct ct_doctor_elf {
	struct Elf *elf;
	int fd;
	int machine; /* EM_* */
	int bits;    /* 32 or 64 */
	int type;    /* ET_* */
	int is_dynamic;
	int is_symbolic;	    /* -Bsymbolic */
	char interpreter[PATH_MAX]; /* "": none */
	char soname[256];
	size_t dynsym, dynstr; /* sections, 0: none */
	size_t n_symbols;
};

/* 0, or -1 and why in words. */
int ct_elf_open(struct ct_doctor_elf *file, const char *path, const char **why);
void ct_elf_close(struct ct_doctor_elf *file);

enum ct_elf_has { CT_ELF_HAS_NOT, CT_ELF_IMPORTS, CT_ELF_EXPORTS };

/* Is this a dynamic symbol of the file? */
enum ct_elf_has ct_elf_has(const struct ct_doctor_elf *file, const char *symbol);

/* Has the object a relocation by the name of `symbol`: does it call it through the loader? 0 also
 * if unknown. */
int ct_elf_relocates(const struct ct_doctor_elf *file, const char *symbol);

/* The library that it needs, by number from 0; NULL: no more. */
const char *ct_elf_needed(const struct ct_doctor_elf *file, size_t i);

/* Are these bytes in its read-only data? */
int ct_elf_contains(const struct ct_doctor_elf *file, const char *text);

/* Name of a machine, "?" if unknown here. */
const char *ct_elf_machine(int machine);

#endif
