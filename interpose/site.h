/* SPDX-License-Identifier: Apache-2.0 */
/* site.h — the call site of a call in the program, as a text that is equal on all ranks.
 *
 * In a thread that runs Python, it has the frames of the program's own code: "FILE:LINE FUNCTION",
 * the innermost first, up to three separated by " < "; frames of torch and of the interpreter's own
 * helpers are skipped (python/own.h). In any other thread it is the return address:
 * "OBJECT+0xOFFSET (build ID)", independent of the load address. If it cannot be found, the site is
 * unknown. The other kind is never used instead, so that known sites differ only where the program
 * did.
 *
 * The text is interned once; afterwards a call costs a walk over its frames by plain loads and a
 * look-up. Any thread; no lock, nothing allocates. When the table or the space for texts is full,
 * new sites are unknown (STRINGS_FULL counts them once per text or call site).
 */
#ifndef CT_INTERPOSE_SITE_H
#define CT_INTERPOSE_SITE_H

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/guard.h"
#include "trace/notes.h"

/* 0: no sites. */
extern _Atomic uint32_t ct_site_wanted CT_NEAR;

/* String id of the site of this thread's call that returns to `caller` (NULL: unknown); 0 unknown.
 * Keeps errno. */
uint32_t ct_site_of(const void *caller);

/* The return addresses looked up last, where no thread runs Python, each with its site in one word:
 * address << 16 | id. Emptied where recording starts. */
#define CT_SITE_NONE UINT64_MAX
#define CT_SITE_RECENT 64u /* size: 512 bytes of the cache; a step has tens of call sites */
extern _Atomic uint64_t ct_site_recent[CT_SITE_RECENT] CT_NEAR;

/* The word of an address. Calls of one function are at least five bytes apart. */
static inline _Atomic uint64_t *ct_site_word(uintptr_t caller)
{
	return &ct_site_recent[caller / 4 % CT_SITE_RECENT];
}

/* That of the recorded call that this thread is inside. */
static inline __attribute__((always_inline)) uint32_t ct_site(void)
{
	uintptr_t caller = (uintptr_t)ct_self.caller;
	uint64_t word = atomic_load_explicit(ct_site_word(caller), memory_order_relaxed);

	if (__builtin_expect(word >> 16 == caller, 1))
		return (uint16_t)word;
	return atomic_load_explicit(&ct_site_wanted, memory_order_relaxed)
		       ? ct_site_of(ct_self.caller)
		       : 0;
}

/* Applies COMMTRACE_STACKS; the result is the fact "sites". Called by the thread that starts the
 * recording, when the ring exists. It reads its own frames, to check the layout of Python's memory
 * and to measure the time. */
void ct_site_init(const char *setting, struct ct_notes *notes);

/* tuning: ns that finding the site of a Python call may take, for auto: 24 to 75 are usual. */
#define CT_SITE_MAX_NS 1000u

#endif
