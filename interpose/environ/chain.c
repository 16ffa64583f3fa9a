/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/environ/chain.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

#include "interpose/environ/peek.h"
#include "interpose/hash.h"

/* size: the list is not followed further: it might go round in circles. Programs with torch have
 * some hundred objects. */
#define MOST_OBJECTS 4096u
#define MOST_PARTS 32u /* size: program headers of an object; about 10 are usual */

/* The program's own headers, from the kernel. */
static size_t program_headers(ElfW(Phdr) * parts, uintptr_t *base)
{
	uintptr_t at = getauxval(AT_PHDR);
	size_t n = getauxval(AT_PHNUM);

	if (n > MOST_PARTS)
		n = MOST_PARTS;
	n = ct_peek(at, parts, n * sizeof(*parts)) / sizeof(*parts);
	*base = 0;
	for (size_t i = 0; i < n; i++)
		if (parts[i].p_type == PT_PHDR)
			*base = at - parts[i].p_vaddr;
	return n;
}

/* Head of the loader's list: DT_DEBUG of the program leads to it. 0 if it does not. */
static uintptr_t first_entry(void)
{
	ElfW(Phdr) parts[MOST_PARTS];
	ElfW(Dyn) entries[CT_ELF_DYNAMIC];
	uintptr_t base, dynamic = 0;
	size_t n = program_headers(parts, &base);
	struct r_debug debug;

	for (size_t i = 0; i < n; i++)
		if (parts[i].p_type == PT_DYNAMIC)
			dynamic = base + parts[i].p_vaddr;
	n = dynamic ? ct_peek(dynamic, entries, sizeof(entries)) / sizeof(entries[0]) : 0;
	for (size_t i = 0; i < n && entries[i].d_tag != DT_NULL; i++)
		if (entries[i].d_tag == DT_DEBUG &&
		    ct_peek(entries[i].d_un.d_ptr, &debug, sizeof(debug)) == sizeof(debug))
			return (uintptr_t)debug.r_map;
	return 0;
}

static int next_entry(uintptr_t *at, struct link_map *entry)
{
	if (!*at || ct_peek(*at, entry, sizeof(*entry)) != sizeof(*entry))
		return 0;
	*at = (uintptr_t)entry->l_next;
	return 1;
}

int ct_chain_each(int (*each)(void *arg, struct ct_elf_object *object), void *arg)
{
	uintptr_t at = first_entry();
	struct link_map entry;

	for (unsigned i = 0; i < MOST_OBJECTS && next_entry(&at, &entry); i++) {
		struct ct_elf_object object;
		size_t got;
		int st;

		memset(&object, 0, sizeof(object));
		object.base = entry.l_addr;
		object.dynamic = (uintptr_t)entry.l_ld;
		object.is_program = i == 0;
		got = ct_peek((uintptr_t)entry.l_name, object.path, sizeof(object.path) - 1);
		object.path[got] = '\0';
		st = each(arg, &object);
		if (st)
			return st;
	}
	return 0;
}

void ct_chain_segments(struct ct_elf_object *object)
{
	ElfW(Phdr) parts[MOST_PARTS];
	ElfW(Ehdr) head;
	uintptr_t base = object->base;
	size_t n = 0;

	if (object->is_program) {
		n = program_headers(parts, &base);
	} else if (ct_peek(base, &head, sizeof(head)) == sizeof(head) &&
		   memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
		   head.e_phentsize == sizeof(parts[0])) {
		n = head.e_phnum < MOST_PARTS ? head.e_phnum : MOST_PARTS;
		n = ct_peek(base + head.e_phoff, parts, n * sizeof(parts[0])) / sizeof(parts[0]);
	}
	object->n_segments = 0;
	for (size_t i = 0; i < n && object->n_segments < CT_ELF_SEGMENTS; i++)
		if (parts[i].p_type == PT_LOAD)
			object->segments[object->n_segments++] = (struct ct_elf_segment){
				base + parts[i].p_vaddr, parts[i].p_memsz, parts[i].p_flags
			};
}

struct object_by_address {
	uintptr_t address;
	struct ct_elf_object *found;
};

static int has_address(void *arg, struct ct_elf_object *object)
{
	const struct object_by_address *search = arg;

	ct_chain_segments(object);
	if (!ct_elf_covers(object, search->address))
		return 0;
	*search->found = *object;
	return 1;
}

int ct_chain_find(uintptr_t address, struct ct_elf_object *object)
{
	struct object_by_address search = { address, object };

	return ct_chain_each(has_address, &search);
}

uint64_t ct_chain_stamp(void)
{
	uintptr_t at = first_entry();
	struct link_map entry;
	uint64_t stamp = 1;

	for (unsigned i = 0; i < MOST_OBJECTS && next_entry(&at, &entry); i++)
		stamp = ct_hash_mix(stamp, entry.l_addr);
	return stamp;
}
