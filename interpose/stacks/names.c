/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/stacks/names.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "interpose/environ/elf_file.h"
#include "trace/mix.h"

#define KEPT 256u	/* size: names, which most looks need again; a thread has some ten */
#define KEPT_BYTES 160u /* size: longer names lose their end */
#define PIECE 1024u	/* size: symbols that are read at once, 24 KB */
/* size: more is a damaged file; the largest libraries have some million. */
#define MOST_SYMBOLS (1u << 24)

struct kept {
	uintptr_t pc, image;
	char name[KEPT_BYTES];
};

/* The symbol of this table that covers `at`, else the last function before it without a size. 1 and
 * *best. */
static int search_table(const struct ct_elf_file *file, const ElfW(Shdr) * table, uint64_t at,
			ElfW(Sym) * best)
{
	static ElfW(Sym) symbols[PIECE];
	uint64_t n = table->sh_size / sizeof(symbols[0]), done = 0;
	int found = 0;

	n = n < MOST_SYMBOLS ? n : MOST_SYMBOLS;
	while (done < n) {
		size_t now = n - done < PIECE ? (size_t)(n - done) : PIECE;

		if (ct_elf_file_read(file, table->sh_offset + done * sizeof(symbols[0]), symbols,
				     now * sizeof(symbols[0])) != 0)
			return found;
		for (size_t i = 0; i < now; i++) {
			const ElfW(Sym) *s = &symbols[i];
			unsigned type = s->st_info & 15;

			if ((type != STT_FUNC && type != STT_GNU_IFUNC) ||
			    s->st_shndx == SHN_UNDEF || at < s->st_value ||
			    (at - s->st_value >= s->st_size && s->st_size) ||
			    (!s->st_size && at - s->st_value > 4096))
				continue;
			if (!found || s->st_value > best->st_value ||
			    (s->st_value == best->st_value && s->st_size && !best->st_size)) {
				*best = *s;
				found = 1;
			}
		}
		done += now;
	}
	return found;
}

static void read_name(const struct ct_elf_file *file, const ElfW(Shdr) * table,
		      const ElfW(Sym) * symbol, char *name, size_t size)
{
	const ElfW(Shdr) * strings;
	ssize_t got;

	if (table->sh_link >= file->n)
		return;
	strings = &file->sections[table->sh_link];
	if (symbol->st_name >= strings->sh_size)
		return;
	got = pread(file->fd, name, size - 1, (off_t)(strings->sh_offset + symbol->st_name));
	name[got > 0 ? got : 0] = '\0';
}

/* The full table has more than the dynamic one, where it was not stripped. */
static void search_file(const char *path, uint64_t at, char *name, size_t size)
{
	static const uint32_t tables[] = { SHT_SYMTAB, SHT_DYNSYM };
	static struct ct_elf_file file;

	if (ct_elf_file_open(&file, path) != 0)
		return;
	for (unsigned t = 0; t < 2 && !name[0]; t++) {
		for (unsigned i = 0; i < file.n && !name[0]; i++) {
			ElfW(Sym) symbol = { .st_size = 0 };

			if (file.sections[i].sh_type == tables[t] &&
			    search_table(&file, &file.sections[i], at, &symbol))
				read_name(&file, &file.sections[i], &symbol, name, size);
		}
	}
	ct_elf_file_close(&file);
}

void ct_name_of(const struct ct_code_map *map, const struct ct_mapped_code *code, uintptr_t pc,
		char *name, size_t size)
{
	static struct kept table[KEPT];
	struct kept *kept = &table[ct_mix_slot(pc, 8)];
	const char *path = code ? ct_code_path(map, code) : "";

	_Static_assert(KEPT == 256, "eight bits choose one");
	name[0] = '\0';
	if (path[0] != '/' || code->is_deleted)
		return;
	if (kept->pc != pc || kept->image != code->image) {
		memset(kept, 0, sizeof(*kept));
		search_file(path, pc - code->bias, kept->name, sizeof(kept->name));
		kept->pc = pc;
		kept->image = code->image;
	}
	strncpy(name, kept->name, size - 1);
	name[size - 1] = '\0';
}
