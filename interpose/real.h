/* SPDX-License-Identifier: Apache-2.0 */
/* real.h — the real function of a wrapper.
 *
 * RTLD_NEXT sees only the global scope; Python loads libraries into local ones. So a call goes
 * where it would have gone without us: to the next function of the global scope (perhaps another
 * preload's), if that was loaded before the caller, else to that of the caller's own object and its
 * dependencies. A caller that has neither got the wrapper's address from another object. Its call
 * goes to the library by its name, else to any loaded object that has the function. Two copies of a
 * library in one process each keep their own callers: results are cached per range of calling code
 * (a tail call counts as its caller's). Functions that dlsym returned (entries.h) call the copy
 * that was looked up. Objects with a function that was found are never unloaded. Looking up takes
 * the loader's lock and may allocate; it happens once per symbol and calling object.
 */
#ifndef CT_INTERPOSE_REAL_H
#define CT_INTERPOSE_REAL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/entries.h"

/* A wrapper, whose name is also the real function's. */
#define CT_EXPORT __attribute__((visibility("default")))

/* A range of calling code and what it calls. `bytes` is stored last (release); 0: not in use. */
struct ct_real_caller {
	_Atomic uintptr_t begin;
	_Atomic uintptr_t bytes;
	void *function;
	struct ct_real_caller *next;
};

struct ct_real {
	struct ct_real_caller first;		/* the fast one */
	_Atomic(struct ct_real_caller *) later; /* those that came after it, the latest first */
	_Atomic uint32_t has_first;
	_Atomic(void *) elsewhere; /* for callers whose own object has none; set once */
	_Atomic(void *) copies[CT_ENTRY_COPIES]; /* for those that come through entries */
	/* MPI's are filled in by the first thread that needs them, and concurrently by others with
	 * the same value. */
	const char *_Atomic symbol;
	const void *_Atomic self; /* our wrapper, which is never the answer */
	const char *const
		*_Atomic names; /* sonames that may have it, NULL-terminated; may be NULL */
};

/* The caller that comes after `c`; NULL: none. */
static inline const struct ct_real_caller *ct_real_after(const struct ct_real *real,
							 const struct ct_real_caller *c)
{
	struct ct_real *known = (struct ct_real *)(uintptr_t)real;

	/* acquire: pairs with the release in remember(), it is filled in */
	return c == &real->first ? atomic_load_explicit(&known->later, memory_order_acquire)
				 : c->next;
}

/* NULL if there is no such function. `caller` is the return address of the wrapper. Keeps errno. */
void *ct_real_slow(struct ct_real *real, const void *caller);

/* The next function of the global scope after this library, else, unless `caller` is NULL, that of
 * the caller's own object; NULL: neither. */
void *ct_real_visible(const struct ct_real *real, const void *caller);

/* Whether RTLD_NEXT leads `caller` to our wrapper with no function after it, nor one between the
 * two. */
int ct_real_ends_here(const struct ct_real *real, const void *caller);

/* The object of `function`, by its lowest address; 0: it is a preload before us, or none. */
uintptr_t ct_real_object(const void *function);

/* That object stays loaded from now on. Initialises nothing that the loader has not initialised yet
 * at the start of the program. */
void ct_real_keep(const void *function);

static inline int ct_real_calls(const struct ct_real_caller *c, const void *caller)
{
	struct ct_real_caller *known = (struct ct_real_caller *)(uintptr_t)c;
	uintptr_t bytes = atomic_load_explicit(&known->bytes, memory_order_acquire);

	return (uintptr_t)caller - atomic_load_explicit(&known->begin, memory_order_relaxed) <
	       bytes;
}

/* The function for the first caller there was, NULL for another or a new one. */
static inline void *ct_real_quick(const struct ct_real *real, const void *caller)
{
	return __builtin_expect(ct_real_calls(&real->first, caller), 1) ? real->first.function
									: NULL;
}

static inline void *ct_real_find(struct ct_real *real, const void *caller)
{
	void *function = ct_real_quick(real, caller);

	return function ? function : ct_real_slow(real, caller);
}

#endif
