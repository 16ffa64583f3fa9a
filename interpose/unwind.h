/* SPDX-License-Identifier: Apache-2.0 */
/* unwind.h — a call left by a C++ exception or by its thread's cancellation still gets its end.
 *
 * The usual ways (landing pads, cleanup attributes) make the library need libgcc_s, which a preload
 * may not. Instead a function that is inside a recorded call names ct_unwind_personality as its
 * personality routine in its unwind information: the unwinder calls it when the frame goes away, it
 * ends the record, and the unwinding continues. Such a function must not be inlined, cloned or
 * split, and calls the real function from its own body.
 */
#ifndef CT_INTERPOSE_UNWIND_H
#define CT_INTERPOSE_UNWIND_H

#include <stdint.h>

/* Itanium C++ ABI, level I: __gxx_personality and its kind. */
int ct_unwind_personality(int version, int actions, uint64_t class, void *exception, void *context);

/* 0x1b: pc-relative, four signed bytes. */
#define CT_UNWIND_HERE() __asm__ volatile(".cfi_personality 0x1b, ct_unwind_personality")

#if defined(__clang__)
#define CT_UNWIND_WHOLE __attribute__((noinline))
#else
#define CT_UNWIND_WHOLE __attribute__((noinline, noclone, noipa))
#endif

#endif
