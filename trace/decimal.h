/* SPDX-License-Identifier: Apache-2.0 */
/* decimal.h — numbers as text in signal handlers, where snprintf() is not safe. Pure. */
#ifndef CT_TRACE_DECIMAL_H
#define CT_TRACE_DECIMAL_H

#include <stdint.h>

/* Appends the digits at `p`, at most 20; no NUL. Returns the end. */
static inline char *ct_decimal(char *p, uint64_t value)
{
	char digits[20];
	int n = 0;

	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (n)
		*p++ = digits[--n];
	return p;
}

#endif
