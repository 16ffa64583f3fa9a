/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

/* One loaded object: where it lies, and the name under which the loader knows it. */
struct object {
	uintptr_t caller; /* in: an address in it; 0: ... */
	uint32_t skip;	  /* ... the object after so many */
	uintptr_t begin;  /* out; end 0: there is none */
	uintptr_t end;
	char name[1024]; /* "" for the program itself */
};

static int take_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct object *o = arg;
	uintptr_t begin = UINTPTR_MAX, end = 0;
	size_t len = strlen(info->dlpi_name);

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t after = at + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		begin = at < begin ? at : begin;
		end = after > end ? after : end;
	}
	if (o->caller ? o->caller < begin || o->caller >= end : o->skip-- > 0)
		return 0;
	o->begin = begin;
	o->end = end;
	memcpy(o->name, info->dlpi_name, len < sizeof(o->name) ? len + 1 : 0);
	return 1;
}

/* The symbol as that object (and what it depends on) binds it. The handle is kept: the object that answered
 * stays loaded as long as we call into it. */
static void *ask(const struct ct_real *real, const char *name)
{
	void *handle = *name ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *function;

	if (!handle)
		return NULL;
	function = dlsym(handle, real->symbol);
	if (function && function != real->self)
		return function;
	dlclose(handle);
	return NULL;
}

static void *look_everywhere(const struct ct_real *real, const struct object *from)
{
	struct object object;
	void *function = ask(real, from->name);

	if (function)
		return function;
	function = dlsym(RTLD_NEXT, real->symbol);
	if (function && function != real->self)
		return function;
	for (const char *const *name = real->names; name && *name; name++) {
		function = ask(real, *name);
		if (function)
			return function;
	}
	for (uint32_t skip = 0;; skip++) {
		memset(&object, 0, sizeof(object));
		object.skip = skip;
		dl_iterate_phdr(take_object, &object);
		if (!object.end)
			return NULL;
		function = ask(real, object.name);
		if (function)
			return function;
	}
}

/* Remember an answer if there is a free place. */
static void remember(struct ct_real *real, const struct object *from, void *function)
{
	uint32_t i = atomic_load_explicit(&real->used, memory_order_relaxed);

	while (i < CT_REAL_CALLERS && !atomic_compare_exchange_weak(&real->used, &i, i + 1))
		;
	if (i >= CT_REAL_CALLERS)
		return;
	atomic_store_explicit(&real->callers[i].begin, from->begin, memory_order_relaxed);
	real->callers[i].function = function;
	/* release: pairs with the acquire in ct_real_calls() */
	atomic_store_explicit(&real->callers[i].bytes, from->end - from->begin,
			      memory_order_release);
}

void *ct_real_slow(struct ct_real *real, const void *caller)
{
	struct object from;
	int saved = errno;
	void *function;

	for (int i = 0; i < CT_REAL_CALLERS; i++)
		if (ct_real_calls(&real->callers[i], caller))
			return real->callers[i].function;
	memset(&from, 0, sizeof(from));
	from.caller = (uintptr_t)caller;
	dl_iterate_phdr(take_object, &from);
	function = look_everywhere(real, &from);
	if (function && from.end)
		remember(real, &from, function);
	errno = saved;
	return function;
}
