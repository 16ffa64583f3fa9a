/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/stacks/object.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/stacks/need.h"

#define MOST_HEADERS 512u	/* size: program headers */
#define MOST_NOTES (64u << 10)	/* size: bytes of notes that a build id is looked for in */
#define MOST_SYMBOLS (1u << 24) /* size: of a file */
#define UNSIZED 4096u		/* size: bytes that a function without a size is taken to have */
#define BUILD_ID 64u		/* fact: a build id has 20 bytes, or 16 */
#define VDSO_BYTES (64u << 10)	/* size: it has two to four pages */

struct symbol {
	uint64_t at, size;
	const char *name;
	uint32_t order;
	int is_exported; /* from the dynamic table */
};

struct ct_object {
	const char *path;
	int fd;		/* -1: there is no file, or another one */
	Elf *elf;	/* NULL likewise */
	Elf *names;	/* of its debug information, where that is apart; NULL: none */
	uint8_t *image; /* of the vdso, which belongs to no file */
	GElf_Phdr *headers;
	size_t n_headers;
	struct symbol *symbols; /* functions, ascending */
	size_t n_symbols;
	int has_symbols;    /* they were read */
	int reads_exported; /* those under way */
};

/* ---- from memory ---- */

static struct ct_range *first_of(struct ct_target *target, const char *path)
{
	for (size_t i = 0; i < target->ranges.n; i++)
		if (strcmp(target->ranges.list[i].path, path) == 0 &&
		    !target->ranges.list[i].offset)
			return &target->ranges.list[i];
	return NULL;
}

/* The program headers in memory at `base`. The number, 0 if they are not there. */
static size_t headers_in_memory(struct ct_target *target, uint64_t base, GElf_Phdr *headers)
{
	Elf64_Ehdr head;

	if (target->read_true(target, base, &head, sizeof(head)) != 0 ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(*headers) || head.e_phnum > MOST_HEADERS ||
	    target->read_true(target, base + head.e_phoff, headers,
			      head.e_phnum * sizeof(*headers)) != 0)
		return 0;
	return head.e_phnum;
}

static size_t id_in(const uint8_t *notes, size_t len, uint8_t id[BUILD_ID])
{
	Elf64_Nhdr note;

	for (size_t at = 0; at + sizeof(note) <= len;) {
		memcpy(&note, notes + at, sizeof(note));
		size_t name = at + sizeof(note), data = name + (((size_t)note.n_namesz + 3) & ~3ul);
		size_t end = data + (((size_t)note.n_descsz + 3) & ~3ul);

		if (note.n_namesz > len || note.n_descsz > len || data + note.n_descsz > len)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(notes + name, "GNU", 4) == 0 && note.n_descsz <= BUILD_ID) {
			memcpy(id, notes + data, note.n_descsz);
			return note.n_descsz;
		}
		at = end;
	}
	return 0;
}

/* The length, 0 if there is none to be read. */
static size_t id_in_memory(struct ct_target *target, uint64_t base, uint8_t id[BUILD_ID])
{
	static GElf_Phdr headers[MOST_HEADERS];
	static uint8_t notes[MOST_NOTES];
	size_t n = headers_in_memory(target, base, headers), found = 0;
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < n; i++)
		if (headers[i].p_type == PT_LOAD && first == UINT64_MAX)
			first = headers[i].p_vaddr - headers[i].p_offset;
	for (size_t i = 0; i < n && !found; i++)
		if (headers[i].p_type == PT_NOTE && headers[i].p_filesz <= sizeof(notes) &&
		    target->read_true(target, base + headers[i].p_vaddr - first, notes,
				      headers[i].p_filesz) == 0)
			found = id_in(notes, headers[i].p_filesz, id);
	return found;
}

static size_t id_in_file(const struct ct_object *object, uint8_t id[BUILD_ID])
{
	static uint8_t notes[MOST_NOTES];
	size_t found = 0;

	for (size_t i = 0; i < object->n_headers && !found; i++) {
		const GElf_Phdr *header = &object->headers[i];

		if (header->p_type == PT_NOTE && header->p_filesz <= sizeof(notes) &&
		    pread(object->fd, notes, header->p_filesz, (off_t)header->p_offset) ==
			    (ssize_t)header->p_filesz)
			found = id_in(notes, header->p_filesz, id);
	}
	return found;
}

/* ---- the file ---- */

static int open_file(const struct ct_target *target, const char *path)
{
	char *inside = target->core ? NULL
				    : ct_need_text("/proc/%d/root%s", (int)target->alive, path);
	int fd = open(inside ? inside : path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	free(inside);
	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
		errno = EINVAL;
	}
	return fd;
}

/* A file that was replaced or removed can still be opened by the owner of the machine. */
static int open_mapped(const struct ct_target *target, const struct ct_range *range)
{
	char path[96];

	if (target->core)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)target->alive,
		 (unsigned long long)range->begin, (unsigned long long)range->end);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static void close_file(struct ct_object *object)
{
	if (object->elf)
		elf_end(object->elf);
	if (object->fd >= 0)
		close(object->fd);
	object->elf = NULL;
	object->fd = -1;
	object->n_headers = 0;
}

/* Its program headers. 0, or -1: it is not an ELF file of 64 bits. */
static int take_elf(struct ct_object *object)
{
	size_t n;

	if (!object->elf || elf_kind(object->elf) != ELF_K_ELF ||
	    gelf_getclass(object->elf) != ELFCLASS64 || elf_getphdrnum(object->elf, &n) != 0)
		return -1;
	n = n < MOST_HEADERS ? n : MOST_HEADERS;
	for (object->n_headers = 0; object->n_headers < n; object->n_headers++)
		if (!gelf_getphdr(object->elf, (int)object->n_headers,
				  &object->headers[object->n_headers]))
			break;
	return object->n_headers ? 0 : -1;
}

/* Is it what memory has? Where there is no build id, there is no doubt either. */
static int is_right(struct ct_target *target, const struct ct_object *object, uint64_t base)
{
	uint8_t mine[BUILD_ID], theirs[BUILD_ID];
	size_t n = id_in_memory(target, base, mine);

	return !n || (id_in_file(object, theirs) == n && memcmp(mine, theirs, n) == 0);
}

static int try_file(struct ct_target *target, struct ct_object *object, int fd, uint64_t base)
{
	object->fd = fd;
	if (fd < 0)
		return -1;
	object->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (take_elf(object) == 0 && (!base || is_right(target, object, base)))
		return 0;
	close_file(object);
	return -1;
}

static void open_object(struct ct_target *target, struct ct_object *object,
			const struct ct_range *first, const struct ct_range *range)
{
	uint64_t base = first ? first->begin : 0;
	int fd = open_file(target, object->path), error = errno;

	if (try_file(target, object, fd, base) == 0 ||
	    try_file(target, object, open_mapped(target, first ? first : range), base) == 0)
		return;
	if (strncmp(object->path, "/dev/", 5) != 0 && strncmp(object->path, "/memfd:", 7) != 0)
		ct_target_misses(target,
				 fd >= 0 ? ct_need_text("%s is not the file in memory: its "
							"functions have no names",
							object->path)
					 : ct_need_text("%s: %s: its functions have no names",
							object->path, strerror(error)));
	if (base)
		object->n_headers = headers_in_memory(target, base, object->headers);
}

/* The kernel's part of each process, which no file has. */
static void open_vdso(struct ct_target *target, struct ct_object *object,
		      const struct ct_range *range)
{
	size_t len = (size_t)(range->end - range->begin);

	if (len > VDSO_BYTES)
		return;
	object->image = ct_need(1, len);
	if (target->read_true(target, range->begin, object->image, len) != 0)
		return;
	object->elf = elf_memory((char *)object->image, len);
	take_elf(object);
}

struct ct_object *ct_object_of(struct ct_target *target, struct ct_range *range)
{
	struct ct_object *object;
	struct ct_range *first;

	if (range->object || (range->path[0] != '/' && strcmp(range->path, "[vdso]") != 0))
		return range->object;
	for (size_t i = 0; i < target->ranges.n; i++) {
		const struct ct_range *other = &target->ranges.list[i];

		if (other->object && strcmp(other->path, range->path) == 0)
			return range->object = other->object;
	}
	elf_version(EV_CURRENT);
	first = first_of(target, range->path);
	object = ct_need(1, sizeof(*object));
	object->path = range->path;
	object->fd = -1;
	object->headers = ct_need(MOST_HEADERS, sizeof(*object->headers));
	range->object = object; /* before memory of a core is read, which may ask for it */
	if (range->path[0] == '[')
		open_vdso(target, object, range);
	else
		open_object(target, object, first, range);
	return object;
}

/* ---- addresses ---- */

int ct_object_address(struct ct_target *target, struct ct_range *range, uint64_t at,
		      uint64_t *address)
{
	const struct ct_object *object = ct_object_of(target, range);
	uint64_t offset = at - range->begin + range->offset;

	for (size_t i = 0; object && i < object->n_headers; i++) {
		const GElf_Phdr *header = &object->headers[i];
		uint64_t begin = header->p_offset & ~(uint64_t)(CT_PAGE - 1);

		if (header->p_type != PT_LOAD || offset < begin ||
		    offset - begin >= header->p_filesz + (header->p_offset - begin))
			continue;
		*address = offset - header->p_offset + header->p_vaddr;
		return 0;
	}
	return -1;
}

int ct_object_mapped(struct ct_target *target, struct ct_range *range, uint64_t address,
		     uint64_t *mapped)
{
	uint64_t own;

	if (ct_object_address(target, range, range->begin, &own) != 0)
		return -1;
	*mapped = address - own + range->begin;
	return 0;
}

int ct_object_unwind(struct ct_target *target, struct ct_range *range, uint64_t *address)
{
	const struct ct_object *object = ct_object_of(target, range);

	for (size_t i = 0; object && i < object->n_headers; i++) {
		if (object->headers[i].p_type != PT_GNU_EH_FRAME)
			continue;
		*address = object->headers[i].p_vaddr;
		return 0;
	}
	return -1;
}

int ct_object_read(struct ct_target *target, struct ct_range *range, uint64_t offset, void *to,
		   size_t len)
{
	const struct ct_object *object = ct_object_of(target, range);

	return object && object->fd >= 0 && pread(object->fd, to, len, (off_t)offset) > 0 ? 0 : -1;
}

/* ---- symbols ---- */

/* Each function of one table, until `visit` returns 1. */
static int each_symbol(Elf *elf, uint32_t type,
		       int (*visit)(void *arg, const GElf_Sym *symbol, const char *name), void *arg)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != type ||
		    header.sh_entsize != sizeof(Elf64_Sym) || !(data = elf_getdata(section, NULL)))
			continue;
		for (size_t i = 0; i < data->d_size / sizeof(Elf64_Sym) && i < MOST_SYMBOLS; i++) {
			GElf_Sym symbol;
			const char *name;

			if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF)
				continue;
			name = elf_strptr(elf, header.sh_link, symbol.st_name);
			if (name && *name && visit(arg, &symbol, name))
				return 1;
		}
	}
	return 0;
}

static int keep(void *arg, const GElf_Sym *symbol, const char *name)
{
	struct ct_object *object = arg;
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC)
		return 0;
	object->symbols = ct_need_more(object->symbols, object->n_symbols,
				       sizeof(*object->symbols));
	object->symbols[object->n_symbols] = (struct symbol){
		.at = symbol->st_value,
		.size = symbol->st_size,
		.name = name,
		.order = (uint32_t)object->n_symbols,
		.is_exported = object->reads_exported
	};
	object->n_symbols++;
	return 0;
}

/* Of several names of one address: a sized one, the exported one, one without an underscore, the
 * first of the table. */
static int is_better(const struct symbol *x, const struct symbol *y)
{
	if (!x->size != !y->size)
		return x->size != 0;
	if (x->is_exported != y->is_exported)
		return x->is_exported;
	if ((x->name[0] == '_') != (y->name[0] == '_'))
		return x->name[0] != '_';
	return x->order < y->order;
}

/* The best one comes last, where the search begins. */
static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return is_better(x, y) ? 1 : -1;
}

/* Debian's -dbgsym packages: what was stripped from a file, by its build id. */
static void open_names(struct ct_target *target, struct ct_object *object)
{
	uint8_t id[BUILD_ID];
	char path[64 + 2 * BUILD_ID] = "/usr/lib/debug/.build-id/";
	size_t n = object->fd >= 0 ? id_in_file(object, id) : 0, at = strlen(path);
	int fd;

	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(path + at, sizeof(path) - at, i ? "%02x" : "%02x/", id[i]);
	snprintf(path + at, sizeof(path) - at, ".debug");
	fd = n ? open_file(target, path) : -1;
	object->names = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	if (object->names && elf_kind(object->names) != ELF_K_ELF) {
		elf_end(object->names);
		object->names = NULL;
	}
	if (!object->names && fd >= 0)
		close(fd);
}

static void read_symbols(struct ct_target *target, struct ct_object *object)
{
	object->has_symbols = 1;
	if (!object->elf)
		return;
	open_names(target, object);
	if (object->names)
		each_symbol(object->names, SHT_SYMTAB, keep, object);
	each_symbol(object->elf, SHT_SYMTAB, keep, object);
	object->reads_exported = 1;
	each_symbol(object->elf, SHT_DYNSYM, keep, object);
	if (object->n_symbols)
		qsort(object->symbols, object->n_symbols, sizeof(*object->symbols), by_address);
}

static int covers(const struct symbol *symbol, uint64_t address)
{
	return address - symbol->at < (symbol->size ? symbol->size : UNSIZED);
}

const char *ct_object_function(struct ct_target *target, struct ct_range *range, uint64_t address)
{
	enum { NESTED = 64 }; /* size: functions that begin behind one and end before its end */
	struct ct_object *object = ct_object_of(target, range);
	size_t low = 0, high;

	if (!object)
		return NULL;
	if (!object->has_symbols)
		read_symbols(target, object);
	high = object->n_symbols;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (object->symbols[middle].at <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; i < NESTED && low > i; i++)
		if (covers(&object->symbols[low - 1 - i], address))
			return object->symbols[low - 1 - i].name;
	return NULL;
}

struct symbol_wanted {
	const char *name;
	uint64_t address;
};

static int compare(void *arg, const GElf_Sym *symbol, const char *name)
{
	struct symbol_wanted *wanted = arg;

	if (strcmp(name, wanted->name) != 0)
		return 0;
	wanted->address = symbol->st_value;
	return 1;
}

int ct_object_symbol(struct ct_target *target, struct ct_range *range, const char *name,
		     uint64_t *address)
{
	const struct ct_object *object = ct_object_of(target, range);
	struct symbol_wanted wanted = { .name = name };

	if (!object || !object->elf ||
	    (!each_symbol(object->elf, SHT_DYNSYM, compare, &wanted) &&
	     !each_symbol(object->elf, SHT_SYMTAB, compare, &wanted)))
		return -1;
	*address = wanted.address;
	return 0;
}
