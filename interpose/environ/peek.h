/* SPDX-License-Identifier: Apache-2.0 */
/* peek.h — reading memory of this process that another thread may unmap at any moment.
 *
 * A loaded object can disappear while it is read, unless we held the loader's lock, which belongs
 * to the program. So the kernel copies, and missing memory is an error, not a fault. Any thread. */
#ifndef CT_INTERPOSE_ENVIRON_PEEK_H
#define CT_INTERPOSE_ENVIRON_PEEK_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that could be copied from the front on, at most `len`. */
size_t ct_peek(uintptr_t from, void *to, size_t len);

/* Are these `n` bytes of text in that memory? Copies piece by piece. One look-around at a time. */
int ct_peek_contains(uintptr_t from, size_t len, const char *text, size_t n);

#endif
