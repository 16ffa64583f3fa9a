/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/environ/elf.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>

#include "interpose/environ/peek.h"
#include "trace/pages.h"

/* size: of one object, ten times what large ones have: libtorch_cpu has 3 MB of names and 190,000
 * relocations. More is a damaged header, or is left out. */
#define MOST_STRINGS (64u << 20)
#define MOST_SYMBOLS (1u << 18)
#define MOST_RELOCATIONS (1u << 21)
#define BATCH 512u /* size: 12 KB of the stack, for each of two kinds; a system call reads one */

#if defined(__x86_64__)
#define R_CALL R_X86_64_JUMP_SLOT
#define R_POINTER R_X86_64_GLOB_DAT
#define R_WORD R_X86_64_64
#elif defined(__aarch64__)
#define R_CALL R_AARCH64_JUMP_SLOT
#define R_POINTER R_AARCH64_GLOB_DAT
#define R_WORD R_AARCH64_ABS64
#else
#error "which relocations bind a call on this architecture?"
#endif

int ct_elf_covers(const struct ct_elf_object *object, uintptr_t address)
{
	for (unsigned i = 0; i < object->n_segments; i++)
		if (address - object->segments[i].begin < object->segments[i].len)
			return 1;
	return 0;
}

/* Most objects' pointers the loader has made absolute. */
static uintptr_t absolute(const struct ct_elf_object *object, uintptr_t at)
{
	return at < object->base ? at + object->base : at;
}

static void read_dynamic(struct ct_elf *elf, uintptr_t *strings)
{
	const struct ct_elf_object *object = elf->object;
	ElfW(Dyn) entries[CT_ELF_DYNAMIC];
	size_t got = ct_peek(object->dynamic, entries, sizeof(entries)) / sizeof(entries[0]);

	for (size_t i = 0; i < got && entries[i].d_tag != DT_NULL; i++) {
		uintptr_t at = absolute(object, entries[i].d_un.d_ptr);
		size_t value = entries[i].d_un.d_val;

		switch (entries[i].d_tag) {
		case DT_SYMTAB:
			elf->symbols = at;
			break;
		case DT_STRTAB:
			*strings = at;
			break;
		case DT_STRSZ:
			elf->strings_len = value;
			break;
		case DT_GNU_HASH:
			elf->gnu_hash = at;
			break;
		case DT_JMPREL:
			elf->relocations[0] = at;
			break;
		case DT_PLTRELSZ:
			elf->relocations_len[0] = value;
			break;
		case DT_RELA:
			elf->relocations[1] = at;
			break;
		case DT_RELASZ:
			elf->relocations_len[1] = value;
			break;
		}
	}
}

/* A mapping of its own: from the heap it would stay, and a heap of this thread's would too. */
static int copy_strings(struct ct_elf *elf, uintptr_t from)
{
	if (!from || !elf->strings_len || elf->strings_len > MOST_STRINGS)
		return -1;
	elf->strings = ct_pages_map(elf->strings_len + 1);
	if (!elf->strings) {
		elf->strings = NULL;
		return -1;
	}
	if (ct_peek(from, elf->strings, elf->strings_len) == elf->strings_len)
		return 0; /* and a NUL behind it, as the mapping came */
	ct_elf_close(elf);
	return -1;
}

int ct_elf_open(struct ct_elf *elf, const struct ct_elf_object *object)
{
	uint32_t *head = elf->hash_head;
	uintptr_t strings = 0;

	memset(elf, 0, sizeof(*elf));
	elf->object = object;
	if (!object->dynamic)
		return -1;
	read_dynamic(elf, &strings);
	if (!elf->symbols || copy_strings(elf, strings) != 0)
		return -1;
	/* What is not in the table is undefined. An object with the old kind of table only has its
	 * symbols in any order; there are hardly any. */
	if (elf->gnu_hash &&
	    ct_peek(elf->gnu_hash, head, sizeof(elf->hash_head)) == sizeof(elf->hash_head))
		elf->undefined = head[1] < MOST_SYMBOLS ? head[1] : MOST_SYMBOLS;
	else
		elf->gnu_hash = 0;
	return 0;
}

void ct_elf_close(struct ct_elf *elf)
{
	if (elf->strings)
		munmap(elf->strings, elf->strings_len + 1);
	elf->strings = NULL;
}

static const char *name_of(const struct ct_elf *elf, const ElfW(Sym) * symbol)
{
	return symbol->st_name < elf->strings_len ? elf->strings + symbol->st_name : "";
}

int ct_elf_imports(const struct ct_elf *elf,
		   int (*each)(void *arg, uint32_t number, const char *name), void *arg)
{
	ElfW(Sym) batch[BATCH];

	for (uint32_t at = 1; at < elf->undefined; at += BATCH) {
		uint32_t n = elf->undefined - at < BATCH ? elf->undefined - at : BATCH;

		if (ct_peek(elf->symbols + at * sizeof(batch[0]), batch, n * sizeof(batch[0])) !=
		    n * sizeof(batch[0]))
			return 0;
		for (uint32_t i = 0; i < n; i++) {
			int st = 0;

			if (batch[i].st_shndx == SHN_UNDEF && batch[i].st_name)
				st = each(arg, at + i, name_of(elf, &batch[i]));
			if (st)
				return st;
		}
	}
	return 0;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static int peek_word(uintptr_t from, uint32_t *word)
{
	return ct_peek(from, word, sizeof(*word)) == sizeof(*word);
}

/* Most names that are not there are not in the filter either: one look instead of many. */
static int may_have(const struct ct_elf *elf, uint32_t hash)
{
	const uint32_t *head = elf->hash_head;
	ElfW(Addr) word;
	uintptr_t at = elf->gnu_hash + sizeof(elf->hash_head) +
		       (hash / 64 & (head[2] - 1)) * sizeof(word);

	return ct_peek(at, &word, sizeof(word)) == sizeof(word) &&
	       word >> hash % 64 & word >> (hash >> head[3]) % 64 & 1;
}

/* The table: its head; the filter; each bucket's first symbol; for every symbol its hash, whose
 * lowest bit says that it is the bucket's last. */
uint32_t ct_elf_exports(const struct ct_elf *elf, const char *name, uintptr_t *address)
{
	const uint32_t *head = elf->hash_head;
	uint32_t hash = gnu_hash(name), i, found;
	uintptr_t buckets;

	if (!elf->gnu_hash || !head[0] || !head[2] || head[3] > 31 || !may_have(elf, hash))
		return 0;
	buckets = elf->gnu_hash + sizeof(elf->hash_head) + head[2] * sizeof(ElfW(Addr));
	if (!peek_word(buckets + hash % head[0] * sizeof(i), &i) || i < head[1])
		return 0;
	for (uint32_t steps = 0; steps < 4096; steps++, i++) {
		ElfW(Sym) symbol;

		if (!peek_word(buckets + ((uintptr_t)head[0] + i - head[1]) * sizeof(found),
			       &found))
			return 0;
		if ((found | 1) == (hash | 1) &&
		    ct_peek(elf->symbols + i * sizeof(symbol), &symbol, sizeof(symbol)) ==
			    sizeof(symbol) &&
		    symbol.st_shndx != SHN_UNDEF && strcmp(name_of(elf, &symbol), name) == 0) {
			*address = elf->object->base + symbol.st_value;
			return i;
		}
		if (found & 1)
			return 0;
	}
	return 0;
}

/* The word of the first relocation of `number` that is of one of these types. -1: they could not
 * all be read. */
static int find_word(const struct ct_elf *elf, uint32_t number, const uint32_t types[3],
		     uintptr_t *target)
{
	ElfW(Rela) batch[BATCH];
	int none = 0;

	for (int kind = 0; kind < 2; kind++) {
		size_t n = elf->relocations[kind] ? elf->relocations_len[kind] / sizeof(batch[0])
						  : 0;

		for (size_t at = 0; at < n && at < MOST_RELOCATIONS; at += BATCH) {
			size_t some = n - at < BATCH ? n - at : BATCH;

			if (ct_peek(elf->relocations[kind] + at * sizeof(batch[0]), batch,
				    some * sizeof(batch[0])) != some * sizeof(batch[0]))
				return -1;
			for (size_t i = 0; i < some; i++) {
				uint32_t type = (uint32_t)ELF64_R_TYPE(batch[i].r_info);

				if (ELF64_R_SYM(batch[i].r_info) != number ||
				    (type != types[0] && type != types[1] && type != types[2]))
					continue;
				return ct_peek(elf->object->base + batch[i].r_offset, target,
					       sizeof(*target)) == sizeof(*target)
					       ? 1
					       : -1;
			}
		}
		if (n > MOST_RELOCATIONS)
			none = -1;
	}
	return none;
}

int ct_elf_bound(const struct ct_elf *elf, uint32_t number, uintptr_t *target)
{
	static const uint32_t types[3] = { R_CALL, R_POINTER, R_POINTER };

	return find_word(elf, number, types, target) == 1;
}

int ct_elf_points(const struct ct_elf *elf, uint32_t number, uintptr_t *target)
{
	static const uint32_t types[3] = { R_CALL, R_POINTER, R_WORD };

	return find_word(elf, number, types, target);
}
