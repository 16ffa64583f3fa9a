/* SPDX-License-Identifier: Apache-2.0 */
/* site.h — from where in the program a call comes, in words that are equal on all ranks.
 *
 * Of a thread that runs Python, the frames of the program's own code: "FILE:LINE FUNCTION", the innermost first, up to three
 * separated by " < "; frames of torch and of the interpreter's own helpers are passed over (python/own.h). Of any other
 * thread what the call returns to: "OBJECT+0xOFFSET (build ID)", wherever the object was loaded. Where one of these cannot
 * be told the site is unknown: never the other one, so that ranks that know differ only where the program did.
 *
 * The text is interned once; afterwards a call costs a walk over its frames by plain loads and a look-up. Any thread; no
 * lock, nothing allocates. When the table or the room for texts is full, new sites are unknown (STRINGS_FULL counts them once
 * per text or place).
 */
#ifndef CT_INTERPOSE_SITE_H
#define CT_INTERPOSE_SITE_H

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/guard.h"
#include "interpose/notes.h"

/* 0: no sites. */
extern _Atomic uint32_t ct_site_wanted CT_NEAR;

/* String id of the site of a call that returns to `caller` (NULL: not known), made by this thread; 0 unknown. Keeps errno. */
uint32_t ct_site_of(const void *caller);

/* That of the recorded call that this thread is inside of. */
static inline __attribute__((always_inline)) uint32_t ct_site(void)
{
	return atomic_load_explicit(&ct_site_wanted, memory_order_relaxed)
		       ? ct_site_of(ct_self.caller)
		       : 0;
}

/* What COMMTRACE_STACKS says; what came of it is told as the fact "sites". By the thread that starts the recording, with
 * the ring there; it looks at its own frames, to see whether Python's memory is as it should be and what that takes. */
void ct_site_init(const char *setting, struct ct_notes *notes);

/* ns that finding the site of a Python call may take, for auto. */
#define CT_SITE_MAX_NS 1000u

#endif
