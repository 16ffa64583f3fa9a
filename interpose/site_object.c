/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/site_object.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "interpose/extent.h"
#include "trace/path.h"

struct found {
	uintptr_t address, base;
	char name[128];
	unsigned char id[4];
	int has_id, is_ours;
};

/* A note: name's length, text's length, type, then both, each padded to four bytes. */
static void take_note(const unsigned char *note, size_t left, struct found *found)
{
	while (left >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) head;
		size_t name, text;

		memcpy(&head, note, sizeof(head));
		name = ((size_t)head.n_namesz + 3) & ~(size_t)3;
		text = ((size_t)head.n_descsz + 3) & ~(size_t)3;
		if (name > left - sizeof(head) || text > left - sizeof(head) - name)
			return;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
		    memcmp(note + sizeof(head), "GNU", 4) == 0 &&
		    head.n_descsz >= sizeof(found->id)) {
			memcpy(found->id, note + sizeof(head) + name, sizeof(found->id));
			found->has_id = 1;
			return;
		}
		note += sizeof(head) + name + text;
		left -= sizeof(head) + name + text;
	}
}

static int take_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct found *found = arg;

	(void)size;
	if (!ct_extent_has(ct_extent_of(info), found->address))
		return 0;
	found->base = info->dlpi_addr;
	found->is_ours = ct_extent_has(ct_extent_of(info), (uintptr_t)&ct_site_object_text);
	snprintf(found->name, sizeof(found->name), "%s", ct_path_name(info->dlpi_name));
	for (int i = 0; i < info->dlpi_phnum && !found->has_id; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			take_note((const unsigned char *)(info->dlpi_addr +
							  info->dlpi_phdr[i].p_vaddr),
				  info->dlpi_phdr[i].p_memsz, found);
	return 1;
}

int ct_site_object_text(uintptr_t address, const char *program, char *text, size_t room)
{
	struct found found = { .address = address };
	int n;

	if (!dl_iterate_phdr(take_object, &found) || found.is_ours)
		return -1;
	if (!found.name[0])
		snprintf(found.name, sizeof(found.name), "%s", ct_path_name(program));
	n = snprintf(text, room, "%s+0x%llx", found.name,
		     (unsigned long long)(address - found.base));
	if (found.has_id && n > 0 && (size_t)n < room)
		snprintf(text + n, room - (size_t)n, " (build %02x%02x%02x%02x)", found.id[0],
			 found.id[1], found.id[2], found.id[3]);
	return 0;
}
