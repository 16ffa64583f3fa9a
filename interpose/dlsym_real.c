/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/dlsym_real.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "interpose/libc_old.h"
#include "trace/path.h"

#define SYMBOL "dlsym"

/* What is needed of an object's dynamic section. */
struct dynamic_tables {
	const uint32_t *gnu_hash;
	const ElfW(Sym) * symbols;
	const char *strings;
};

/* The loader has made the pointers in there absolute, but for objects whose dynamic section it
 * cannot write to. */
static const void *pointer(const struct dl_phdr_info *info, const ElfW(Dyn) * entry)
{
	uintptr_t at = entry->d_un.d_ptr;

	/* the address comes out of the object's own table */
	return (const void *)(at < info->dlpi_addr ? at + info->dlpi_addr : at);
}

static struct dynamic_tables tables_of(const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *entry = NULL;
	struct dynamic_tables tables = { NULL, NULL, NULL };

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			entry = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; entry && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_GNU_HASH)
			tables.gnu_hash = pointer(info, entry);
		else if (entry->d_tag == DT_SYMTAB)
			tables.symbols = pointer(info, entry);
		else if (entry->d_tag == DT_STRTAB)
			tables.strings = pointer(info, entry);
	}
	return tables;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* The table: number of buckets, first symbol in it, words of the filter, its shift; the filter; the
 * buckets, each with its first symbol; for every symbol its hash, whose lowest bit says that it is
 * the bucket's last. */
static void *defined_in(const struct dl_phdr_info *info)
{
	struct dynamic_tables t = tables_of(info);
	const uint32_t *buckets, *hashes;
	uint32_t hash = gnu_hash(SYMBOL), i;

	if (!t.gnu_hash || !t.symbols || !t.strings || t.gnu_hash[0] == 0)
		return NULL;
	buckets = t.gnu_hash + 4 + t.gnu_hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	hashes = buckets + t.gnu_hash[0];
	i = buckets[hash % t.gnu_hash[0]];
	if (i < t.gnu_hash[1])
		return NULL;
	for (;; i++) {
		uint32_t found = hashes[i - t.gnu_hash[1]];
		const ElfW(Sym) *symbol = &t.symbols[i];

		if ((found | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    ELF32_ST_TYPE(symbol->st_info) == STT_FUNC &&
		    strcmp(t.strings + symbol->st_name, SYMBOL) == 0)
			return (void *)(info->dlpi_addr + symbol->st_value);
		if (found & 1)
			return NULL;
	}
}

static int covers(const struct dl_phdr_info *info, uintptr_t address)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    address - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr <
			    info->dlpi_phdr[i].p_memsz)
			return 1;
	return 0;
}

static int is_libc(const char *path)
{
	const char *name = ct_path_name(path);

	return strncmp(name, "libc.so.", 8) == 0 || strncmp(name, "libdl.so.", 9) == 0;
}

struct dlsym_search {
	int behind_us;
	void *function;
};

/* If we were opened and not preloaded, libc comes before us: then it is found by its name. */
static int look_in(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct dlsym_search *search = arg;

	(void)size;
	if (covers(info, (uintptr_t)&look_in)) {
		search->behind_us = 1;
		return search->function != NULL;
	}
	if (!search->function && (search->behind_us || is_libc(info->dlpi_name)))
		search->function = defined_in(info);
	return search->behind_us && search->function;
}

void *ct_dlsym_search(void)
{
	struct dlsym_search search = { 0, NULL };

	dl_iterate_phdr(look_in, &search);
	return search.function;
}

ct_dlsym_fn *ct_dlsym_real(void)
{
	static _Atomic(void *) known;
	/* two threads may both look, and find the same */
	void *function = atomic_load_explicit(&known, memory_order_relaxed);

	if (__builtin_expect(!function, 0)) {
		function = ct_libc_dlsym();
		if (!function)
			function = ct_dlsym_search();
		atomic_store_explicit(&known, function, memory_order_relaxed);
	}
	return (ct_dlsym_fn *)function;
}

ct_dlsym_fn *ct_dlsym_next(void)
{
	static _Atomic(void *) known;
	void *function = atomic_load_explicit(&known, memory_order_relaxed);
	ct_dlsym_fn *real;

	if (__builtin_expect(!function, 0)) {
		real = ct_dlsym_real();
		function = real ? real(RTLD_NEXT, SYMBOL) : NULL;
		if (!function)
			function = (void *)
				real; /* it does not come after us: we were opened, not preloaded */
		atomic_store_explicit(&known, function, memory_order_relaxed);
	}
	return (ct_dlsym_fn *)function;
}

void *ct_dlsym(void *handle, const char *symbol)
{
	ct_dlsym_fn *real = ct_dlsym_real();

	return real ? real(handle, symbol) : NULL;
}
