/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "interpose/dlsym_real.h"
#include "interpose/extent.h"

/* One loaded object: its addresses, and the loader's name for it. */
struct loaded_object {
	uintptr_t caller; /* in: an address in it; 0: ... */
	uint32_t skip;	  /* ... the object after so many */
	uintptr_t begin;  /* out; end 0: none */
	uintptr_t end;
	char name[1024]; /* "" for the program itself */
};

static int take_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct loaded_object *o = arg;
	struct ct_object_extent extent = ct_extent_of(info);
	size_t len = strlen(info->dlpi_name);

	(void)size;
	if (o->caller ? !ct_extent_has(extent, o->caller) : o->skip-- > 0)
		return 0;
	o->begin = extent.begin;
	o->end = extent.end;
	memcpy(o->name, info->dlpi_name, len < sizeof(o->name) ? len + 1 : 0);
	return 1;
}

static void find_object(struct loaded_object *o, const void *address)
{
	memset(o, 0, sizeof(*o));
	o->caller = (uintptr_t)address;
	dl_iterate_phdr(take_object, o);
}

/* The symbol in that object and what it depends on. With `keep` the handle is kept: the object that
 * answered stays loaded as long as we call into it. */
static void *ask(const struct ct_real *real, const char *name, int keep)
{
	void *handle = *name ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *function;

	if (!handle)
		return NULL;
	function = ct_dlsym(handle, real->symbol);
	if (function == real->self)
		function = NULL;
	if (!function || !keep)
		dlclose(handle);
	return function;
}

static void *ask_next(const struct ct_real *real)
{
	void *function = ct_dlsym(RTLD_NEXT, real->symbol);

	return function == real->self ? NULL : function;
}

/* The objects of two addresses, in the order in which they were loaded. */
struct load_order {
	uintptr_t one, other;
	int one_is_first;
};

static int take_first(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct load_order *order = arg;
	struct loaded_object one = { .caller = order->one }, other = { .caller = order->other };
	int has_one = take_object(info, size, &one), has_other = take_object(info, size, &other);

	order->one_is_first = has_one && !has_other;
	return has_one || has_other;
}

static int is_before(uintptr_t one, uintptr_t other)
{
	struct load_order order = { one, other, 0 };

	dl_iterate_phdr(take_first, &order);
	return order.one_is_first;
}

static int is_before_us(const void *function)
{
	return is_before((uintptr_t)function, (uintptr_t)&is_before);
}

/* What this object has, unless that comes before us: another preload, or the program, that has been
 * called already and now wants the next one. */
static void *ask_behind(const struct ct_real *real, const struct loaded_object *object, int keep)
{
	void *function = ask(real, object->name, keep);

	return function && is_before_us(function) ? NULL : function;
}

/* What the caller would call without us. The loader searches the global scope first, in its state
 * when the caller is loaded: it has other preloads, but no library opened with RTLD_GLOBAL later. */
static void *look_where_bound(const struct ct_real *real, const struct loaded_object *from)
{
	void *own = ask_behind(real, from, 1);
	void *next = ask_next(real);

	if (own && next && own != next)
		return is_before((uintptr_t)next, from->begin) ? next : own;
	return own ? own : next;
}

static void *look_anywhere(const struct ct_real *real)
{
	struct loaded_object object;
	void *function = NULL;

	for (const char *const *name = real->names; name && *name && !function; name++)
		function = ask(real, *name, 1);
	for (uint32_t skip = 0; !function; skip++) {
		memset(&object, 0, sizeof(object));
		object.skip = skip;
		dl_iterate_phdr(take_object, &object);
		if (!object.end)
			break;
		function = ask_behind(real, &object, 1);
	}
	return function;
}

/* The one that all callers without a function of their own go to: this, if there was none yet. */
static void *elsewhere(struct ct_real *real, void *function)
{
	void *before = NULL;

	if (!function ||
	    atomic_compare_exchange_strong_explicit(&real->elsewhere, &before, function,
						    memory_order_acq_rel, memory_order_acquire))
		return function;
	return before;
}

static void *look_everywhere(struct ct_real *real, const struct loaded_object *from)
{
	void *function = look_where_bound(real, from);

	if (!function)
		function = atomic_load_explicit(&real->elsewhere, memory_order_acquire);
	return function ? function : elsewhere(real, look_anywhere(real));
}

/* size: for a program in which 24 objects call each of CUDA's 40 functions. A caller without an
 * entry is looked up at each call. */
#define LATER 1024u
static struct ct_real_caller later_callers[LATER];
static _Atomic uint32_t n_later_callers;

static void fill(struct ct_real_caller *c, const struct loaded_object *from, void *function)
{
	atomic_store_explicit(&c->begin, from->begin, memory_order_relaxed);
	c->function = function;
	/* release: pairs with the acquire in ct_real_calls() */
	atomic_store_explicit(&c->bytes, from->end - from->begin, memory_order_release);
}

/* Remember an answer if there is a free entry. */
static void remember(struct ct_real *real, const struct loaded_object *from, void *function)
{
	uint32_t i = atomic_load_explicit(&n_later_callers, memory_order_relaxed);
	struct ct_real_caller *caller;

	if (!atomic_exchange_explicit(&real->has_first, 1, memory_order_relaxed)) {
		fill(&real->first, from, function);
		return;
	}
	while (i < LATER &&
	       !atomic_compare_exchange_weak_explicit(&n_later_callers, &i, i + 1,
						      memory_order_relaxed, memory_order_relaxed))
		;
	if (i >= LATER)
		return;
	caller = &later_callers[i];
	fill(caller, from, function);
	caller->next = atomic_load_explicit(&real->later, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&real->later, &caller->next, caller,
						      memory_order_release, memory_order_relaxed))
		;
}

void *ct_real_slow(struct ct_real *real, const void *caller)
{
	struct loaded_object from;
	int saved = errno, copy = ct_entry_copy(caller);
	void *function;

	if (copy >= 0) /* acquire: pairs with the release in ct_entry_for() */
		return atomic_load_explicit(&real->copies[copy], memory_order_acquire);
	for (const struct ct_real_caller *c = &real->first; c; c = ct_real_after(real, c))
		if (ct_real_calls(c, caller))
			return c->function;
	find_object(&from, caller);
	function = look_everywhere(real, &from);
	/* this library itself is not a caller to be known by: entries in it mean another copy each */
	if (function && from.end && (uintptr_t)&remember - from.begin >= from.end - from.begin)
		remember(real, &from, function);
	errno = saved;
	return function;
}

void *ct_real_visible(const struct ct_real *real, const void *caller)
{
	struct loaded_object from;
	void *function = ask_next(real);

	if (function || !caller)
		return function;
	find_object(&from, caller);
	return ask_behind(real, &from, 0);
}

int ct_real_ends_here(const struct ct_real *real, const void *caller)
{
	struct loaded_object object, owner;
	int ends_here = !ask_next(real) && is_before_us(caller);

	for (uint32_t skip = 0; ends_here; skip++) {
		void *function;

		memset(&object, 0, sizeof(object));
		object.skip = skip;
		dl_iterate_phdr(take_object, &object);
		if (!object.end || !is_before_us((const void *)object.begin))
			break;
		if (!is_before((uintptr_t)caller, object.begin))
			continue;
		function = ask(real, object.name, 0);
		find_object(&owner, function);
		ends_here = !function || owner.begin != object.begin;
	}
	return ends_here;
}

uintptr_t ct_real_object(const void *function)
{
	struct loaded_object object;

	find_object(&object, function);
	/* (the program comes before us, too, but it does not pass its calls on) */
	return object.name[0] && is_before_us(function) ? 0 : object.begin;
}

/* How many objects the program started with, which come first in the loader's list; 0: not all of
 * them are initialised. */
static _Atomic uint32_t objects_at_start;

static int count_object(struct dl_phdr_info *info, size_t size, void *count)
{
	(void)info;
	(void)size;
	++*(uint32_t *)count;
	return 0;
}

/* A count, and nothing else: that recording is wanted is not known here. */
static __attribute__((constructor)) void count_at_start(void)
{
	uint32_t count = 0;

	dl_iterate_phdr(count_object, &count);
	atomic_store_explicit(&objects_at_start, count, memory_order_relaxed);
}

struct object_position {
	uintptr_t address; /* in the object that is looked for */
	uint32_t index;
};

static int count_until(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct object_position *position = arg;

	(void)size;
	if (ct_extent_has(ct_extent_of(info), position->address))
		return 1;
	position->index++;
	return 0;
}

void ct_real_keep(const void *function)
{
	uint32_t at_start = atomic_load_explicit(&objects_at_start, memory_order_relaxed);
	struct object_position position = { .address = (uintptr_t)function };
	struct loaded_object object;

	/* Objects present when the program started stay. Calling dlopen for them would be harmful:
	 * while libraries are being initialised, it initialises the given one out of turn. */
	if (!at_start || !dl_iterate_phdr(count_until, &position) || position.index < at_start)
		return;
	find_object(&object, function);
	if (object.name[0])
		dlopen(object.name, RTLD_LAZY | RTLD_NOLOAD);
}
