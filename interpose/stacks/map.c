/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/stacks/map.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "interpose/environ/peek.h"

#define MOST_HEADERS 64u /* size: program headers of a file; about 10 are usual */

/* What one line says, and the file's first line before it. */
struct lines {
	char last[512];	 /* path of the file that the last lines were of ... */
	uintptr_t image; /* ... and where its beginning is, 0 not seen */
};

static const char *hex(const char *p, const char *end, uint64_t *value)
{
	for (*value = 0; p < end; p++) {
		unsigned digit = *p >= '0' && *p <= '9'	  ? (unsigned)(*p - '0')
				 : *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a' + 10)
							  : 16;

		if (digit == 16)
			break;
		*value = *value << 4 | digit;
	}
	return p;
}

static uint32_t keep_name(struct ct_code_map *map, const char *text, size_t len)
{
	uint32_t at = map->names_used;

	if (map->n && strlen(map->names + map->code[map->n - 1].path) == len &&
	    memcmp(map->names + map->code[map->n - 1].path, text, len) == 0)
		return map->code[map->n - 1].path;
	if (!len || len + 1 > CT_CODE_NAMES - at) {
		map->is_cut |= len != 0;
		return 0;
	}
	memcpy(map->names + at, text, len);
	map->names[at + len] = '\0';
	map->names_used += (uint32_t)len + 1;
	return at;
}

/* "begin-end perms offset dev inode   path" */
static void parse_line(struct ct_code_map *map, struct lines *lines, const char *p, const char *end)
{
	static const char deleted[] = " (deleted)";
	uint64_t begin, stop, offset;
	const char *perms, *path;
	size_t len;
	int gone = 0;

	p = hex(p, end, &begin);
	p = hex(p < end ? p + 1 : end, end, &stop);
	perms = p + 1;
	if (end - perms < 6)
		return;
	p = hex(perms + 5, end, &offset);
	for (int field = 0; field < 2 && p < end; field++) {
		p++;
		while (p < end && *p != ' ')
			p++;
	}
	while (p < end && *p == ' ')
		p++;
	path = p;
	len = (size_t)(end - path);
	if (len > sizeof(deleted) - 1 &&
	    memcmp(end - (sizeof(deleted) - 1), deleted, sizeof(deleted) - 1) == 0) {
		len -= sizeof(deleted) - 1;
		gone = 1;
	}
	len = len < sizeof(lines->last) - 1 ? len : sizeof(lines->last) - 1;
	if (strlen(lines->last) != len || memcmp(lines->last, path, len) != 0) {
		memcpy(lines->last, path, len);
		lines->last[len] = '\0';
		lines->image = 0;
	}
	if (offset == 0 && len)
		lines->image = begin;
	if (perms[2] != 'x')
		return;
	if (map->n == CT_CODE_RANGES) {
		map->is_cut = 1;
		return;
	}
	map->code[map->n] = (struct ct_mapped_code){
		.begin = begin,
		.end = stop,
		.image = lines->image,
		.path = keep_name(map, path, len),
		.is_deleted = (uint8_t)gone,
	};
	map->n++;
}

static void clear(struct ct_code_map *map)
{
	map->n = 0;
	map->is_cut = 0;
	map->names[0] = '\0';
	map->names_used = 1;
}

/* Whole lines of it; the number of bytes that they were. */
static size_t parse_lines(struct ct_code_map *map, struct lines *lines, const char *text,
			  size_t len)
{
	size_t at = 0;

	for (;;) {
		const char *end = memchr(text + at, '\n', len - at);

		if (!end)
			return at;
		parse_line(map, lines, text + at, end);
		at = (size_t)(end - text) + 1;
	}
}

void ct_code_parse(struct ct_code_map *map, const char *text, size_t len)
{
	struct lines lines = { .image = 0 };

	clear(map);
	parse_lines(map, &lines, text, len);
}

static void read_file(struct ct_code_map *map, const char *path)
{
	static char text[16384]; /* used by the sampling thread only */
	struct lines lines = { .image = 0 };
	size_t used = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	while (fd >= 0 && (got = read(fd, text + used, sizeof(text) - used)) > 0) {
		size_t done;

		used += (size_t)got;
		done = parse_lines(map, &lines, text, used);
		if (!done && used == sizeof(text))
			done = used; /* no line is that long */
		memmove(text, text + done, used - done);
		used -= done;
	}
	if (fd >= 0)
		close(fd);
}

int ct_code_read(struct ct_code_map *map)
{
	clear(map);
	read_file(map, "/proc/self/maps");
	/* empty where the first thread has ended before the others */
	if (!map->n)
		read_file(map, "/proc/thread-self/maps");
	return map->n ? 0 : -1;
}

/* The file's own headers show where its addresses lie, and where its table for unwinding is. */
static void read_headers(struct ct_mapped_code *code)
{
	ElfW(Phdr) headers[MOST_HEADERS];
	ElfW(Ehdr) elf;
	int has_load = 0;

	code->is_read = 1;
	if (!code->image || ct_peek(code->image, &elf, sizeof(elf)) != sizeof(elf) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_phentsize != sizeof(headers[0]))
		return;
	elf.e_phnum = elf.e_phnum < MOST_HEADERS ? elf.e_phnum : MOST_HEADERS;
	if (ct_peek(code->image + elf.e_phoff, headers, elf.e_phnum * sizeof(headers[0])) !=
	    elf.e_phnum * sizeof(headers[0]))
		return;
	for (unsigned i = 0; i < elf.e_phnum; i++) {
		if (headers[i].p_type == PT_LOAD && headers[i].p_offset == 0 && !has_load) {
			code->bias = code->image - headers[i].p_vaddr;
			has_load = 1;
		}
	}
	for (unsigned i = 0; has_load && i < elf.e_phnum; i++)
		if (headers[i].p_type == PT_GNU_EH_FRAME)
			code->unwind = code->bias + headers[i].p_vaddr;
}

struct ct_mapped_code *ct_code_find(struct ct_code_map *map, uintptr_t at)
{
	uint32_t low = 0, high = map->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct ct_mapped_code *code = &map->code[middle];

		if (at < code->begin) {
			high = middle;
		} else if (at >= code->end) {
			low = middle + 1;
		} else {
			if (!code->is_read)
				read_headers(code);
			return code;
		}
	}
	return NULL;
}
