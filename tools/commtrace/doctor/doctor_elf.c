/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/doctor/doctor_elf.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One that is not a regular file may block forever, or have side effects. */
static int open_regular(const char *path, const char **why)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	*why = fd < 0		     ? strerror(errno)
	       : S_ISDIR(st.st_mode) ? "it is a directory"
				     : "it is not a file";
	if (fd >= 0)
		close(fd);
	return -1;
}

/* What the loader reads: the program headers. */
static void read_headers(struct ct_doctor_elf *file)
{
	size_t n = 0;
	GElf_Phdr header;

	if (elf_getphdrnum(file->elf, &n) != 0)
		return;
	for (size_t i = 0; i < n && gelf_getphdr(file->elf, (int)i, &header); i++) {
		size_t len = header.p_filesz < PATH_MAX ? header.p_filesz : PATH_MAX - 1;

		file->is_dynamic |= header.p_type == PT_DYNAMIC;
		if (header.p_type == PT_INTERP &&
		    pread(file->fd, file->interpreter, len, (off_t)header.p_offset) < 0)
			file->interpreter[0] = '\0';
	}
}

/* The section's entry of this number, of a dynamic section. */
static int dynamic_entry(const struct ct_doctor_elf *file, size_t i, GElf_Dyn *entry,
			 size_t *strings)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC)
			continue;
		*strings = header.sh_link;
		data = elf_getdata(section, NULL);
		return data && i <= INT_MAX && gelf_getdyn(data, (int)i, entry) &&
		       entry->d_tag != DT_NULL;
	}
	return 0;
}

static void read_dynamic(struct ct_doctor_elf *file)
{
	GElf_Dyn entry;
	size_t strings;
	const char *name;

	for (size_t i = 0; dynamic_entry(file, i, &entry, &strings); i++) {
		if (entry.d_tag == DT_SYMBOLIC ||
		    (entry.d_tag == DT_FLAGS && entry.d_un.d_val & DF_SYMBOLIC))
			file->is_symbolic = 1;
		if (entry.d_tag == DT_SONAME &&
		    (name = elf_strptr(file->elf, strings, entry.d_un.d_val)))
			snprintf(file->soname, sizeof(file->soname), "%s", name);
	}
}

static void find_symbols(struct ct_doctor_elf *file)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM ||
		    !header.sh_entsize)
			continue;
		file->dynsym = elf_ndxscn(section);
		file->dynstr = header.sh_link;
		file->n_symbols = header.sh_size / header.sh_entsize;
		if (file->n_symbols > INT_MAX)
			file->n_symbols = 0;
	}
}

int ct_elf_open(struct ct_doctor_elf *file, const char *path, const char **why)
{
	GElf_Ehdr header;

	memset(file, 0, sizeof(*file));
	elf_version(EV_CURRENT);
	file->fd = open_regular(path, why);
	if (file->fd < 0)
		return -1;
	file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
	*why = "it is not an ELF file";
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &header)) {
		ct_elf_close(file);
		return -1;
	}
	file->machine = header.e_machine;
	file->type = header.e_type;
	file->bits = gelf_getclass(file->elf) == ELFCLASS32 ? 32 : 64;
	read_headers(file);
	read_dynamic(file);
	find_symbols(file);
	return 0;
}

void ct_elf_close(struct ct_doctor_elf *file)
{
	if (file->elf)
		elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	file->elf = NULL;
	file->fd = -1;
}

static const char *symbol_name(const struct ct_doctor_elf *file, Elf_Data *data, size_t i,
			       GElf_Sym *symbol)
{
	if (!gelf_getsym(data, (int)i, symbol))
		return NULL;
	return elf_strptr(file->elf, file->dynstr, symbol->st_name);
}

static Elf_Data *symbols_of(const struct ct_doctor_elf *file)
{
	return file->dynsym ? elf_getdata(elf_getscn(file->elf, file->dynsym), NULL) : NULL;
}

enum ct_elf_has ct_elf_has(const struct ct_doctor_elf *file, const char *symbol)
{
	Elf_Data *data = symbols_of(file);

	for (size_t i = 0; data && i < file->n_symbols; i++) {
		GElf_Sym found;
		const char *name = symbol_name(file, data, i, &found);

		if (name && strcmp(name, symbol) == 0)
			return found.st_shndx == SHN_UNDEF ? CT_ELF_IMPORTS : CT_ELF_EXPORTS;
	}
	return CT_ELF_HAS_NOT;
}

int ct_elf_relocates(const struct ct_doctor_elf *file, const char *symbol)
{
	Elf_Data *symbols = symbols_of(file);
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (symbols && (section = elf_nextscn(file->elf, section))) {
		Elf_Data *data;
		GElf_Rela entry;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
		    header.sh_link != file->dynsym || !(data = elf_getdata(section, NULL)))
			continue;
		for (int i = 0; gelf_getrela(data, i, &entry); i++) {
			size_t index = GELF_R_SYM(entry.r_info);
			GElf_Sym found;
			const char *name = index && index < file->n_symbols
						   ? symbol_name(file, symbols, index, &found)
						   : NULL;

			if (name && strcmp(name, symbol) == 0)
				return 1;
		}
	}
	return 0;
}

const char *ct_elf_needed(const struct ct_doctor_elf *file, size_t nth)
{
	GElf_Dyn entry;
	size_t strings;

	for (size_t i = 0; dynamic_entry(file, i, &entry, &strings); i++)
		if (entry.d_tag == DT_NEEDED && nth-- == 0)
			return elf_strptr(file->elf, strings, entry.d_un.d_val);
	return NULL;
}

/* size: in pieces: such sections may have hundreds of megabytes. */
#define PIECE ((size_t)1 << 20)

static int range_contains(int fd, off_t at, uint64_t bytes, const char *text)
{
	size_t len = strlen(text), kept = 0;
	char *piece = malloc(PIECE + 256);
	int found = 0;

	while (piece && len <= 256 && bytes > 0 && !found) {
		size_t want = bytes < PIECE ? (size_t)bytes : PIECE;
		ssize_t got = pread(fd, piece + kept, want, at);

		if (got <= 0)
			break;
		found = memmem(piece, kept + (size_t)got, text, len) != NULL;
		at += got;
		bytes -= (uint64_t)got;
		kept += (size_t)got;
		if (kept >= len) {
			memmove(piece, piece + kept - (len - 1), len - 1);
			kept = len - 1;
		}
	}
	free(piece);
	return found;
}

int ct_elf_contains(const struct ct_doctor_elf *file, const char *text)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    !(header.sh_flags & SHF_ALLOC) || header.sh_flags & (SHF_WRITE | SHF_EXECINSTR))
			continue;
		if (range_contains(file->fd, (off_t)header.sh_offset, header.sh_size, text))
			return 1;
	}
	return 0;
}

const char *ct_elf_machine(int machine)
{
	switch (machine) {
	case EM_X86_64:
		return "x86-64";
	case EM_AARCH64:
		return "aarch64";
	case EM_386:
		return "i386";
	case EM_PPC64:
		return "ppc64";
	default:
		return "?";
	}
}
