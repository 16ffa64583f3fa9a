/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/environ/uninterposed.h"

#include <string.h>

#include "interpose/environ/chain.h"
#include "interpose/environ/peek.h"
#include "trace/invisible.h"
#include "trace/path.h"

/* A virtual function that every copy of Gloo has, and whose table of virtual functions refers to
 * it. */
#define GLOO_VIRTUAL "_ZN4gloo9transport3tcp13UnboundBuffer4sendEimmm"
/* That table: preloads that wrap Gloo have the function, and not this. */
#define GLOO_TABLE "_ZTVN4gloo9transport3tcp13UnboundBufferE"

/* size: read-only data looked through, per object and per process: at some GB/s a tenth of a second
 * of a thread that no other waits for. */
#define OBJECT_MB 128u
#define PROCESS_MB 512u

/* Calls of one library that the object imports. */
struct imports {
	int has, bound, unbound;
};

static uintptr_t no_wrapper(const char *symbol)
{
	(void)symbol;
	return 0;
}

static uintptr_t none(void)
{
	return 0;
}

static const struct ct_uninterposed_wrappers no_wrappers = { no_wrapper, no_wrapper, no_wrapper,
							     none };
static const struct ct_uninterposed_wrappers *wrappers = &no_wrappers;

void ct_uninterposed_use(const struct ct_uninterposed_wrappers *of)
{
	wrappers = of;
}

uintptr_t ct_uninterposed_gloo(void)
{
	return wrappers->gloo_unheard();
}

struct object_scan {
	const struct ct_elf_object *object;
	const struct ct_elf *elf;
	struct ct_facts *unseen;
	uint32_t *scanned_mb;
	int imports_nccl, imports_cudart;
	int imports_dlvsym; /* as every copy of NCCL does, and hardly anything else */
	int imports_epoll, imports_ifaddrs; /* as every copy of Gloo does */
	struct imports gloo, mpi;
	int elsewhere; /* 1: a call of a library that we wrap bypasses us ... */
	int unbound;   /* ... 1: or not bound at all yet */
};

/* Once per object: several marks may say the same. */
void ct_uninterposed_add(struct ct_facts *unseen, const char *id, const char *path)
{
	char text[CT_FACT_VALUE];
	size_t len = strlen(id);
	uint32_t at = 0;
	const char *entry;

	while ((entry = ct_facts_next(unseen, &at)))
		if (strncmp(entry, id, len) == 0 && entry[len] == '=' &&
		    strcmp(entry + len + 1, path) == 0)
			return;
	text[0] = '\0';
	strncat(text, path, sizeof(text) - 1);
	ct_facts_add(unseen, id, text);
}

static void report(struct object_scan *l, enum ct_invisible what)
{
	if (!ct_invisible_excepts(what, l->object->path))
		ct_uninterposed_add(l->unseen, ct_invisible_rows[what].id, l->object->path);
}

static int is_libnccl(const struct ct_elf_object *object)
{
	return strncmp(ct_path_name(object->path), "libnccl", 7) == 0;
}

/* 1: the object is before us and not the program: another preload, which hands its calls on to us.
 * A function that the program itself defines is used by all callers, and bypasses us. */
static int hands_on(void *arg, struct ct_elf_object *object)
{
	ct_chain_segments(object);
	if (ct_elf_covers(object, *(const uintptr_t *)arg))
		return object->is_program ? -1 : 1;
	return ct_elf_covers(object, (uintptr_t)&ct_uninterposed_look) ? -1 : 0;
}

/* 0: at `wrapper`, or unknown; -1: not bound yet. */
static int judge_binding(struct object_scan *l, uint32_t number, uintptr_t wrapper)
{
	uintptr_t target;

	if (!wrapper || !ct_elf_bound(l->elf, number, &target) || !target || target == wrapper)
		return 0;
	if (ct_elf_covers(l->object, target))
		return -1; /* at the stub that will ask the loader */
	if (ct_chain_each(hands_on, &target) != 1)
		l->elsewhere = 1;
	return 0;
}

static void take_nccl(struct object_scan *l, uint32_t number, const char *name)
{
	l->imports_nccl = 1;
	if (!l->elsewhere && judge_binding(l, number, wrappers->nccl(name)) < 0)
		l->unbound = 1;
}

/* Of Gloo or MPI. Most of what a program imports of them is never called: one bound call stands for
 * the others. */
static void take_import_of(struct object_scan *l, struct imports *imports, uint32_t number,
			   uintptr_t wrapper)
{
	imports->has = 1;
	if (!wrapper || l->elsewhere)
		return;
	if (judge_binding(l, number, wrapper) < 0)
		imports->unbound = 1;
	else
		imports->bound = 1;
}

static int take_import(void *arg, uint32_t number, const char *name)
{
	struct object_scan *l = arg;

	if (strncmp(name, "nccl", 4) == 0)
		take_nccl(l, number, name);
	if (strncmp(name, "_ZN4gloo", 8) == 0)
		take_import_of(l, &l->gloo, number, wrappers->gloo(name));
	if (strncmp(name, "MPI_", 4) == 0 || strncmp(name, "PMPI_", 5) == 0)
		take_import_of(l, &l->mpi, number, wrappers->mpi(name));
	l->imports_epoll |= strcmp(name, "epoll_wait") == 0;
	l->imports_ifaddrs |= strcmp(name, "getifaddrs") == 0;
	if (strncmp(name, "cuda", 4) == 0 && name[4] >= 'A' && name[4] <= 'Z')
		l->imports_cudart = 1;
	l->imports_dlvsym |= strcmp(name, "dlvsym") == 0;
	for (unsigned i = 0; i < ct_n_marks; i++)
		if (ct_marks[i].kind == CT_MARK_IMPORTS && strcmp(ct_marks[i].text, name) == 0)
			report(l, ct_marks[i].of);
	return 0;
}

/* Is one of its marks in these bytes? */
static int has_text(enum ct_invisible what, uintptr_t begin, size_t len)
{
	for (unsigned i = 0; i < ct_n_marks; i++)
		if (ct_marks[i].of == what && ct_marks[i].kind == CT_MARK_CONTAINS &&
		    ct_peek_contains(begin, len, ct_marks[i].text, strlen(ct_marks[i].text)))
			return 1;
	return 0;
}

/* Is it in the object's constants? Code is not read, unless they share a segment. */
static int contains(struct object_scan *l, enum ct_invisible what)
{
	const struct ct_elf_object *object = l->object;
	int apart = 0;

	for (unsigned i = 0; i < object->n_segments; i++)
		apart += !(object->segments[i].flags & (PF_W | PF_X));
	for (unsigned i = 0; i < object->n_segments; i++) {
		const struct ct_elf_segment *s = &object->segments[i];
		size_t len = s->len < (size_t)OBJECT_MB << 20 ? s->len : (size_t)OBJECT_MB << 20;

		if (s->flags & PF_W || (apart && s->flags & PF_X) || *l->scanned_mb > PROCESS_MB)
			continue;
		*l->scanned_mb += (uint32_t)(len >> 20);
		if (has_text(what, s->begin, len))
			return 1;
	}
	return 0;
}

static void look_at_nccl(struct object_scan *l)
{
	uintptr_t own, target = 0;
	uint32_t number;

	if (l->elsewhere)
		report(l, CT_INVISIBLE_BOUND_ELSEWHERE);
	if (is_libnccl(l->object) || l->imports_nccl || !l->imports_dlvsym)
		return;
	number = ct_elf_exports(l->elf, "ncclAllReduce", &own);
	if (number) {
		/* its own calls go by a word that the loader has filled, or they were bound when it
		 * was linked */
		int asks = ct_elf_bound(l->elf, number, &target);

		if ((!asks || target == own) && contains(l, CT_INVISIBLE_NCCL_HIDDEN))
			report(l, CT_INVISIBLE_NCCL_SYMBOLIC);
	} else if (contains(l, CT_INVISIBLE_NCCL_HIDDEN)) {
		report(l, CT_INVISIBLE_NCCL_HIDDEN);
	}
}

/* A copy of Gloo, also the library itself: what its tables of virtual functions refer to is what
 * its collectives call. */
static void look_at_gloo(struct object_scan *l)
{
	uintptr_t own, table, target = 0;
	uint32_t number;
	int points;

	if (l->gloo.unbound && !l->gloo.bound)
		l->unbound = 1;
	number = ct_elf_exports(l->elf, GLOO_VIRTUAL, &own);
	if (number && ct_elf_exports(l->elf, GLOO_TABLE, &table)) {
		points = ct_elf_points(l->elf, number, &target);
		if (points == 0 || (points > 0 && target == own))
			report(l, CT_INVISIBLE_GLOO_SYMBOLIC);
	} else if (!number && !l->gloo.has && l->imports_epoll && l->imports_ifaddrs &&
		   contains(l, CT_INVISIBLE_GLOO_HIDDEN)) {
		report(l, CT_INVISIBLE_GLOO_HIDDEN);
	}
}

/* Linked into the program: nothing else has that text there and imports no MPI. */
static void look_at_mpi(struct object_scan *l)
{
	uintptr_t own;

	if (l->mpi.unbound && !l->mpi.bound)
		l->unbound = 1;
	if (l->object->is_program && !l->mpi.has && !ct_elf_exports(l->elf, "MPI_Init", &own) &&
	    contains(l, CT_INVISIBLE_MPI_STATIC))
		report(l, CT_INVISIBLE_MPI_STATIC);
}

static void look_at_names(struct object_scan *l)
{
	const char *file = ct_path_name(l->object->path);
	uintptr_t address;

	for (unsigned i = 0; i < ct_n_marks; i++) {
		const struct ct_mark *mark = &ct_marks[i];
		int has = 0;

		/* only we call the dlsym after ours */
		if (mark->of == CT_INVISIBLE_OTHER_DLSYM_HOOK && !l->object->before_us)
			continue;
		if (mark->kind == CT_MARK_FILE)
			has = strncmp(file, mark->text, strlen(mark->text)) == 0;
		else if (mark->kind == CT_MARK_EXPORTS)
			has = ct_elf_exports(l->elf, mark->text, &address) != 0;
		if (has)
			report(l, mark->of);
	}
}

int ct_uninterposed_look(const struct ct_elf_object *object, struct ct_facts *unseen,
			 uint32_t *scanned_mb)
{
	struct ct_elf elf;
	struct object_scan l = {
		.object = object, .elf = &elf, .unseen = unseen, .scanned_mb = scanned_mb
	};
	uintptr_t address;

	if (ct_elf_open(&elf, object) != 0)
		return 1;
	look_at_names(&l);
	ct_elf_imports(&elf, take_import, &l);
	look_at_nccl(&l);
	look_at_gloo(&l);
	look_at_mpi(&l);
	if ((object->is_program || l.imports_nccl) && !l.imports_cudart && !is_libnccl(object) &&
	    !ct_elf_exports(&elf, "cudaStreamSynchronize", &address) &&
	    contains(&l, CT_INVISIBLE_CUDART_STATIC))
		report(&l, CT_INVISIBLE_CUDART_STATIC);
	ct_elf_close(&elf);
	return !l.unbound || l.elsewhere;
}
