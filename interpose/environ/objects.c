/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/environ/objects.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interpose/dlsym_real.h"
#include "interpose/environ/chain.h"
#include "interpose/environ/nccl_settings.h"
#include "interpose/environ/uninterposed.h"
#include "interpose/hash.h"
#include "interpose/recorder.h"
#include "trace/append.h"
#include "trace/invisible.h"
#include "trace/path.h"

static const struct {
	const char *key, *begins;
} libraries[] = {
#define ENV_LIBRARY(KEY, BEGINNING) { KEY, BEGINNING },
#include "interpose/environ/environ.def"
};
#define LIBRARIES (sizeof(libraries) / sizeof(libraries[0]))
_Static_assert(LIBRARIES <= sizeof(((struct ct_objects_reported *)0)->libraries) / sizeof(uint32_t),
	       "a counter for each library");

struct objects_walk {
	struct ct_objects_reported *reported;
	struct ct_facts *facts, *unseen;
	uint64_t until_ns;
	int seen_us;
};

static uint64_t *seen_entry(struct ct_objects_reported *reported, uint64_t id)
{
	uint64_t at = id;

	while (reported->seen[at % CT_OBJECTS_REPORTED] &&
	       reported->seen[at % CT_OBJECTS_REPORTED] != id)
		at++;
	return &reported->seen[at % CT_OBJECTS_REPORTED];
}

static uint64_t id_of(const char *path, uintptr_t base)
{
	uint64_t id = base | 1;

	for (; *path; path++)
		id = ct_hash_mix(id, (unsigned char)*path);
	return id ? id : 1;
}

/* As the driver reports it. The handle is kept: closing it could unload the library, on this
 * thread. */
static void ask_version(const char *path, const char *key, struct ct_facts *facts)
{
	void *library = dlopen(path, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
	void *function = library ? ct_dlsym(library, "ncclGetVersion") : NULL;
	int (*get_version)(int *version);
	int version = 0;

	memcpy(&get_version, &function, sizeof(function));
	/* 2.9 and later have one digit more */
	if (function && get_version(&version) == 0 && version > 0)
		ct_facts_addf(facts, key, "%d.%d.%d", version / (version < 10000 ? 1000 : 10000),
			      version / 100 % (version < 10000 ? 10 : 100), version % 100);
}

void ct_objects_versions(struct ct_objects_reported *reported, struct ct_facts *facts)
{
	char key[CT_FACT_KEY];

	for (; reported->n_asked < reported->n_nccl; reported->n_asked++) {
		if (reported->n_asked)
			snprintf(key, sizeof(key), "lib.nccl.%u.version", reported->n_asked + 1);
		else
			snprintf(key, sizeof(key), "lib.nccl.version");
		ask_version(reported->nccl[reported->n_asked], key, facts);
	}
}

static void add_part(struct ct_objects_reported *reported, const struct ct_elf_object *object,
		     const char *key, const char *nth)
{
	struct ct_nccl_object *part = &reported->parts[reported->n_parts++];

	_Static_assert(sizeof(part->path) == sizeof(object->path), "the same paths");
	memcpy(part->path, object->path, sizeof(part->path));
	snprintf(part->key, sizeof(part->key), "lib.%s%s", key, nth);
	part->base = object->base;
}

void ct_objects_settings(struct ct_objects_reported *reported, const struct ct_facts *variables,
			 struct ct_facts *facts)
{
	char key[CT_FACT_KEY];

	for (; reported->n_searched < reported->n_parts; reported->n_searched++) {
		const struct ct_nccl_object *part = &reported->parts[reported->n_searched];

		snprintf(key, sizeof(key), "%s.unread", part->key);
		ct_nccl_settings_unread(part->path, part->base, key, variables, facts);
	}
}

/* A second copy of a library gets a key with a number. */
static void add_library(const struct ct_elf_object *object, struct ct_objects_reported *reported,
			struct ct_facts *facts)
{
	const char *file = ct_path_name(object->path);
	char key[CT_FACT_KEY], nth[16] = "";
	char real[PATH_MAX];

	for (size_t i = 0; i < LIBRARIES; i++) {
		if (strncmp(file, libraries[i].begins, strlen(libraries[i].begins)) != 0)
			continue;
		if (++reported->libraries[i] > CT_OBJECTS_COPIES)
			return;
		if (reported->libraries[i] > 1)
			snprintf(nth, sizeof(nth), ".%u", reported->libraries[i]);
		if (strcmp(libraries[i].key, "nccl") == 0)
			memcpy(reported->nccl[reported->n_nccl++], object->path,
			       sizeof(object->path));
		if (strncmp(libraries[i].key, "nccl", 4) == 0)
			add_part(reported, object, libraries[i].key, nth);
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

static int look_at(void *arg, struct ct_elf_object *object)
{
	struct objects_walk *walk = arg;
	struct ct_objects_reported *reported = walk->reported;
	uint64_t id = id_of(object->path, object->base);
	uint64_t *seen = seen_entry(reported, id);
	int known = *seen != 0;

	/* those before us are few; where we are has to be found out each time */
	if (!known || !walk->seen_us)
		ct_chain_segments(object);
	object->before_us = !walk->seen_us && !object->is_program;
	if (!walk->seen_us && ct_elf_covers(object, (uintptr_t)&ct_objects_look)) {
		walk->seen_us = 1;
		object->before_us = 0;
		object->dynamic = 0; /* what we define is known */
	}
	if (known || reported->n >= CT_OBJECTS_REPORTED / 2)
		return 0;
	if (ct_now_ns() > walk->until_ns)
		return 1;
	add_library(object, reported, walk->facts);
	if (object->is_program && !object->path[0])
		name_program(object);
	/* a slot that is not bound yet is checked again */
	if (ct_uninterposed_look(object, walk->unseen, &reported->scanned_mb)) {
		*seen = id;
		reported->n++;
	} else {
		reported->unbound = 1;
	}
	return 0;
}

/* It has torch's c10d, which carried out works for Gloo. */
static int report_unheard(void *arg, struct ct_elf_object *object)
{
	ct_chain_segments(object);
	if (!ct_elf_covers(object, ct_uninterposed_gloo()))
		return 0;
	if (object->is_program && !object->path[0])
		name_program(object);
	ct_uninterposed_add(arg, ct_invisible_rows[CT_INVISIBLE_GLOO_UNHEARD].id, object->path);
	return 1;
}

/* ---- namespaces of their own ---- */

static int is_known(void *arg, struct ct_elf_object *object)
{
	ct_chain_segments(object);
	return ct_elf_covers(object, *(const uintptr_t *)arg);
}

/* "begin-end r-xp offset device inode path": a library that communicates, at an address that no
 * object of the loader's list for this namespace covers. */
static void judge_mapping(const char *line, struct ct_facts *unseen)
{
	static const char *const names[] = { "libnccl.so", "libgloo.so", "libmpi.so" };
	const char *path = strchr(line, '/');
	const char *file = path ? ct_path_name(path) : "";
	uintptr_t begin = (uintptr_t)strtoull(line, NULL, 16);

	if (!strstr(line, " r-xp "))
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(file, names[i], strlen(names[i])) == 0 &&
		    !ct_chain_each(is_known, &begin))
			ct_uninterposed_add(
				unseen, ct_invisible_rows[CT_INVISIBLE_OTHER_NAMESPACE].id, path);
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

int ct_objects_look(struct ct_objects_reported *reported, struct ct_facts *facts,
		    struct ct_facts *unseen, uint64_t until_ns)
{
	struct objects_walk walk = {
		.reported = reported, .facts = facts, .unseen = unseen, .until_ns = until_ns
	};
	int stopped;

	reported->unbound = 0;
	stopped = ct_chain_each(look_at, &walk);
	if (!reported->unheard && ct_uninterposed_gloo())
		reported->unheard = ct_chain_each(report_unheard, unseen);
	look_at_mappings(unseen);
	return !stopped;
}
