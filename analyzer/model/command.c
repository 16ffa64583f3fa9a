/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/command.h"

#include <inttypes.h>
#include <string.h>

#include "analyzer/base/template.h"

const char *ct_command_gpu(struct ct_arena *memory, int device, const char *visible)
{
	const char *one = visible;

	if (device < 0)
		return "";
	if (!visible || !*visible)
		return ct_arena_printf(memory, "-i %d ", device);
	for (int k = 0; k < device && one; k++)
		one = (one = strchr(one, ',')) ? one + 1 : NULL;
	return one ? ct_arena_printf(memory, "-i %.*s ", (int)strcspn(one, ","), one) : "";
}

/* A name from a trace of others may be anything: only what a resolver takes goes into a shell. */
static int is_host_name(const char *host)
{
	return *host && *host != '-' &&
	       !host[strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789.-_:")];
}

/* "ssh node1 ", "" here; NULL: the name is not one of a host. */
static const char *ssh_text(struct ct_arena *memory, const char *host)
{
	if (!host)
		return "";
	return is_host_name(host) ? ct_arena_printf(memory, "ssh %s ", host) : NULL;
}

const char *ct_command_text(struct ct_arena *memory, const char *pattern,
			    const struct ct_command_at *at)
{
	const char *pid = at->pid ? ct_arena_printf(memory, "%" PRIu32, at->pid) : NULL;
	const struct ct_word words[] = {
		{ "{ssh}", ssh_text(memory, at->host) },
		{ "{gpu}", at->gpu },
		{ "{pid}", pid },
		{ "{run}", at->run },
		{ "{network}", at->has_network ? "" : NULL },
	};

	return ct_template_fill(memory, pattern, words, sizeof(words) / sizeof(words[0]));
}

const char *ct_command_each(struct ct_arena *memory, const char *pattern,
			    const struct ct_command_at *at, size_t n)
{
	const char *all = NULL, *last = NULL;

	for (size_t i = 0; i < n; i++) {
		const char *text = ct_command_text(memory, pattern, &at[i]);

		if (!text || (last && strcmp(text, last) == 0))
			continue;
		all = all ? ct_arena_printf(memory, "%s; %s", all, text) : text;
		last = text;
	}
	return all;
}
