/* SPDX-License-Identifier: Apache-2.0 */
/* need.h — memory of a program that does one thing and ends: where there is none left, it says so
 * and ends. Nothing is paused then: the kernel lets go of what is traced. Any thread. */
#ifndef CT_TOOLS_STACKS_NEED_H
#define CT_TOOLS_STACKS_NEED_H

#include <stddef.h>

/* Zeroed memory for n things of `bytes`; never NULL. */
void *ct_need(size_t n, size_t bytes);

/* The array with space for one more behind its n things; `bytes` of one. It grows at powers of two.
 */
void *ct_need_more(void *array, size_t n, size_t bytes);

/* As asprintf; never NULL. */
char *ct_need_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
