/* SPDX-License-Identifier: Apache-2.0 */
/* elf_file.h — the sections of an ELF file. The loader maps no section headers, so they are read
 * from the file, which may block for as long as a file system likes: only for threads that no other
 * thread waits for. The caller owns the view; one thread. */
#ifndef CT_INTERPOSE_ENVIRON_ELF_FILE_H
#define CT_INTERPOSE_ENVIRON_ELF_FILE_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

#define CT_ELF_FILE_SECTIONS 256u /* size: a file with more is not read: about 40 are usual */

struct ct_elf_file {
	int fd;
	ElfW(Shdr) sections[CT_ELF_FILE_SECTIONS];
	unsigned n;
	unsigned names; /* the section that has their names */
};

/* 0, or -1: not a regular ELF file of this machine's word size, or too many sections. */
int ct_elf_file_open(struct ct_elf_file *file, const char *path);
void ct_elf_file_close(struct ct_elf_file *file);

/* 0, or -1 if the file has not all these bytes. */
int ct_elf_file_read(const struct ct_elf_file *file, uint64_t at, void *to, size_t len);

/* The section of this name, NULL without. */
const ElfW(Shdr) * ct_elf_file_section(const struct ct_elf_file *file, const char *name);

#endif
