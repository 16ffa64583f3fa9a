/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/environ/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES 32u /* size: of a section; longer ones are not asked for */

int ct_elf_file_read(const struct ct_elf_file *file, uint64_t at, void *to, size_t len)
{
	return pread(file->fd, to, len, (off_t)at) == (ssize_t)len ? 0 : -1;
}

int ct_elf_file_open(struct ct_elf_file *file, const char *path)
{
	ElfW(Ehdr) head;
	struct stat st;

	file->n = 0;
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file->fd < 0)
		return -1;
	if (fstat(file->fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    ct_elf_file_read(file, 0, &head, sizeof(head)) != 0 ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_shentsize != sizeof(file->sections[0]) || head.e_shnum > CT_ELF_FILE_SECTIONS ||
	    ct_elf_file_read(file, head.e_shoff, file->sections,
			     head.e_shnum * sizeof(file->sections[0])) != 0) {
		close(file->fd);
		return -1;
	}
	file->n = head.e_shnum;
	file->names = head.e_shstrndx;
	return 0;
}

void ct_elf_file_close(struct ct_elf_file *file)
{
	close(file->fd);
}

const ElfW(Shdr) * ct_elf_file_section(const struct ct_elf_file *file, const char *name)
{
	size_t len = strlen(name) + 1;
	char text[NAME_BYTES];

	if (file->names >= file->n || len > sizeof(text))
		return NULL;
	for (unsigned i = 0; i < file->n; i++)
		if (ct_elf_file_read(
			    file, file->sections[file->names].sh_offset + file->sections[i].sh_name,
			    text, len) == 0 &&
		    memcmp(text, name, len) == 0)
			return &file->sections[i];
	return NULL;
}
