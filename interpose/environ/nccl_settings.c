/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/environ/nccl_settings.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/environ/elf_file.h"
#include "interpose/environ/peek.h"

/* size: NCCL 2.28.9 has 0.2 MB, plugins have less. Its GPU code, 180 MB, is in sections of other
 * names. */
#define MOST_CONSTANTS ((size_t)16 << 20)

static size_t find_constants(const char *path, uintptr_t base, uintptr_t *begin)
{
	static struct ct_elf_file file;
	const ElfW(Shdr) * section;
	char real[PATH_MAX];
	size_t len = 0;

	if (!realpath(path, real) || ct_elf_file_open(&file, real) != 0)
		return 0;
	section = ct_elf_file_section(&file, ".rodata");
	if (section && section->sh_type == SHT_PROGBITS && section->sh_size <= MOST_CONSTANTS) {
		*begin = base + section->sh_addr;
		len = section->sh_size;
	}
	ct_elf_file_close(&file);
	return len;
}

void ct_nccl_settings_unread(const char *path, uintptr_t base, const char *key,
			     const struct ct_facts *variables, struct ct_facts *facts)
{
	static const char prefix[] = "env.NCCL_";
	char names[CT_FACT_VALUE] = "", name[CT_FACT_KEY], first;
	size_t used = 0, len;
	uintptr_t begin;
	uint32_t at = 0;
	const char *entry;

	len = find_constants(path, base, &begin);
	if (!len || !ct_peek(begin, &first, 1))
		return;
	while ((entry = ct_facts_next(variables, &at))) {
		size_t n = strcspn(entry, "=") - strlen("env.");

		if (strncmp(entry, prefix, sizeof(prefix) - 1) != 0)
			continue;
		memcpy(name, entry + strlen("env."), n);
		name[n] = '\0';
		/* with its end: NCCL_NET is the beginning of another one */
		if (ct_peek_contains(begin, len, name, n + 1) || used + n + 2 > sizeof(names))
			continue;
		if (used)
			names[used++] = ',';
		memcpy(names + used, name, n + 1);
		used += n;
	}
	ct_facts_add(facts, key, used ? names : "none");
}
