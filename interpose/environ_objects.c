/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/environ_objects.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interpose/dlsym_real.h"
#include "interpose/environ_unseen.h"
#include "interpose/hash.h"
#include "trace/append.h"
#include "trace/invisible.h"

/* Objects copied under one taking of the loader's lock. */
#define BATCH 32u

static const struct {
	const char *key, *begins;
} libraries[] = {
#define ENV_LIBRARY(KEY, BEGINNING) { KEY, BEGINNING },
#include "interpose/environ.def"
};
#define LIBRARIES (sizeof(libraries) / sizeof(libraries[0]))
_Static_assert(LIBRARIES <= sizeof(((struct ct_objects_told *)0)->libraries) / sizeof(uint32_t),
	       "a counter for each library");

struct batch {
	struct ct_objects_told *told;
	struct ct_elf_object objects[BATCH];
	unsigned n;
	int seen_us;
	int nth;
};

static int count_loads(struct dl_phdr_info *info, size_t size, void *arg)
{
	if (size >= offsetof(struct dl_phdr_info, dlpi_adds) + sizeof(info->dlpi_adds))
		*(uint64_t *)arg = info->dlpi_adds;
	return 1;
}

uint64_t ct_objects_loads(void)
{
	uint64_t loads = 0;

	dl_iterate_phdr(count_loads, &loads);
	return loads;
}

static uint64_t *place(struct ct_objects_told *told, uint64_t id)
{
	uint64_t at = id;

	while (told->seen[at % CT_OBJECTS_TOLD] && told->seen[at % CT_OBJECTS_TOLD] != id)
		at++;
	return &told->seen[at % CT_OBJECTS_TOLD];
}

static uint64_t id_of(const char *path, uintptr_t base)
{
	uint64_t id = base | 1;

	for (; *path; path++)
		id = ct_hash_mix(id, (unsigned char)*path);
	return id ? id : 1;
}

static void copy(struct ct_elf_object *to, const struct dl_phdr_info *info)
{
	memset(to, 0, sizeof(*to));
	strncat(to->path, info->dlpi_name ? info->dlpi_name : "", sizeof(to->path) - 1);
	to->base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_DYNAMIC)
			to->dynamic = info->dlpi_addr + part->p_vaddr;
		if (part->p_type == PT_LOAD && to->n_segments < CT_ELF_SEGMENTS)
			to->segments[to->n_segments++] = (struct ct_elf_segment){
				info->dlpi_addr + part->p_vaddr, part->p_memsz, part->p_flags
			};
	}
}

/* Under the loader's lock: copy names and numbers of what is new, and get out. */
static int collect(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct batch *b = arg;
	struct ct_elf_object *to = &b->objects[b->n];
	const char *path = info->dlpi_name ? info->dlpi_name : "";
	int nth = b->nth++;

	(void)size;
	if (b->n == BATCH)
		return 1;
	if (*place(b->told, id_of(path, info->dlpi_addr)))
		return 0;
	copy(to, info);
	to->is_program = nth == 0;
	to->before_us = !b->seen_us && nth > 0;
	if (ct_elf_covers(to, (uintptr_t)&ct_objects_look)) {
		b->seen_us = 1;
		to->before_us = 0;
		to->dynamic = 0; /* what we define is known */
	}
	b->n++;
	return 0;
}

/* Its number, as it tells it. */
static void add_nccl_version(const char *path, const char *key, struct ct_facts *facts)
{
	void *library = dlopen(path, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
	void *function = library ? ct_dlsym(library, "ncclGetVersion") : NULL;
	int (*get_version)(int *version);
	int version = 0;

	memcpy(&get_version, &function, sizeof(function));
	/* 2.9 and later are told with one digit more */
	if (function && get_version(&version) == 0 && version > 0)
		ct_facts_addf(facts, key, "%d.%d.%d", version / (version < 10000 ? 1000 : 10000),
			      version / 100 % (version < 10000 ? 10 : 100), version % 100);
	/* the handle is kept: to give it back could be what ends the library, on this thread */
}

/* A second copy of a library gets a key with a number. */
static void add_library(const struct ct_elf_object *object, struct ct_objects_told *told,
			struct ct_facts *facts)
{
	const char *file = ct_invisible_file(object->path);
	char key[CT_FACT_KEY], nth[16] = "";
	char real[PATH_MAX];

	for (size_t i = 0; i < LIBRARIES; i++) {
		if (strncmp(file, libraries[i].begins, strlen(libraries[i].begins)) != 0)
			continue;
		if (++told->libraries[i] > 4)
			return;
		if (told->libraries[i] > 1)
			snprintf(nth, sizeof(nth), ".%u", told->libraries[i]);
		if (strcmp(libraries[i].key, "nccl") == 0) {
			snprintf(key, sizeof(key), "lib.nccl%s.version", nth);
			add_nccl_version(object->path, key, facts);
		}
		snprintf(key, sizeof(key), "lib.%s%s.path", libraries[i].key, nth);
		ct_facts_add(facts, key, realpath(object->path, real) ? real : object->path);
		return;
	}
}

static void name_program(struct ct_elf_object *object)
{
	ssize_t n = readlink("/proc/self/exe", object->path, sizeof(object->path) - 1);

	object->path[n > 0 ? n : 0] = '\0';
}

static void look_at(struct ct_elf_object *object, struct ct_objects_told *told,
		    struct ct_facts *facts, struct ct_facts *unseen)
{
	uint64_t *seen = place(told, id_of(object->path, object->base));

	*seen = id_of(object->path, object->base);
	told->n++;
	add_library(object, told, facts);
	if (object->is_program && !object->path[0])
		name_program(object);
	if (!ct_unseen_look(object, unseen, &told->scanned_mb))
		told->unbound = 1;
}

/* ---- namespaces of their own ---- */

static int is_known(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct ct_elf_object object;

	(void)size;
	copy(&object, info);
	return ct_elf_covers(&object, *(const uintptr_t *)arg);
}

/* "begin-end r-xp offset device inode path": a library that communicates, at an address that no object of the
 * loader's list for this namespace covers. */
static void judge_mapping(const char *line, struct ct_facts *unseen)
{
	static const char *const names[] = { "libnccl.so", "libgloo.so", "libmpi.so" };
	const char *path = strchr(line, '/');
	const char *file = path ? ct_invisible_file(path) : "";
	uintptr_t begin = (uintptr_t)strtoull(line, NULL, 16);

	if (!strstr(line, " r-xp "))
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(file, names[i], strlen(names[i])) == 0 &&
		    !dl_iterate_phdr(is_known, &begin))
			ct_unseen_add(unseen, ct_invisible_rows[CT_INVISIBLE_OTHER_NAMESPACE].id,
				      path);
}

static void look_at_mappings(struct ct_facts *unseen)
{
	static char text[16384]; /* one look-around at a time */
	int fd = ct_fd_clear_of_stdio(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
	size_t have = 0;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, text + have, sizeof(text) - 1 - have)) > 0) {
		char *line = text, *end;

		have += (size_t)n;
		text[have] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			judge_mapping(line, unseen);
		}
		have = strlen(line);
		if (have >= sizeof(text) / 2)
			have = 0; /* no line is so long */
		memmove(text, line, have);
	}
	if (fd >= 0)
		close(fd);
}

void ct_objects_look(struct ct_objects_told *told, struct ct_facts *facts, struct ct_facts *unseen)
{
	static struct batch batch; /* one look-around at a time */

	told->unbound = 0;
	do {
		memset(&batch, 0, sizeof(batch));
		batch.told = told;
		dl_iterate_phdr(collect, &batch);
		for (unsigned i = 0; i < batch.n; i++)
			look_at(&batch.objects[i], told, facts, unseen);
	} while (batch.n && told->n < CT_OBJECTS_TOLD / 2);
	look_at_mappings(unseen);
}
