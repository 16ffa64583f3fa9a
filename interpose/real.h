/* SPDX-License-Identifier: Apache-2.0 */
/* real.h — the function that a wrapper stands before.
 *
 * RTLD_NEXT sees only the global scope; what Python loads lies in local ones. So the caller's own object is asked
 * first, through whose dependencies the caller would have bound without us; then RTLD_NEXT, the library by its
 * name, every loaded object. Two copies of a library in one process each keep their own callers: what was found
 * is remembered per range of calling code (a call that its compiler made a jump counts as its caller's). Objects that answered are never unloaded. Looking up takes the
 * loader's lock and may allocate; it happens once per symbol and calling object.
 */
#ifndef CT_REAL_H
#define CT_REAL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define CT_REAL_CALLERS 8

/* A range of calling code and what it calls. `bytes` is stored last (release); 0: not in use. */
struct ct_real_caller {
	_Atomic uintptr_t begin;
	_Atomic uintptr_t bytes;
	void *function;
};

struct ct_real {
	struct ct_real_caller callers[CT_REAL_CALLERS]; /* the first one is the fast one */
	_Atomic uint32_t used;
	const char *symbol;
	const void *self;	  /* our wrapper, which is never the answer */
	const char *const *names; /* sonames that may have it, NULL-terminated; may be NULL */
};

/* NULL if there is no such function. `caller` is the return address of the wrapper. Keeps errno. */
void *ct_real_slow(struct ct_real *real, const void *caller);

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
	return __builtin_expect(ct_real_calls(&real->callers[0], caller), 1)
		       ? real->callers[0].function
		       : NULL;
}

static inline void *ct_real_find(struct ct_real *real, const void *caller)
{
	void *function = ct_real_quick(real, caller);

	return function ? function : ct_real_slow(real, caller);
}

#endif
