/* SPDX-License-Identifier: Apache-2.0 */
/* must.h — in a process of a test's own, where no assertion of the test reaches: what has to be so,
 * or it ends with 1. */
#ifndef CT_TESTS_MUST_H
#define CT_TESTS_MUST_H

#include <stdio.h>
#include <unistd.h>

#define MUST(condition) ((condition) ? (void)0 : must_not(__LINE__))

static inline void __attribute__((noreturn)) must_not(int line)
{
	fprintf(stderr, "line %d is not so\n", line);
	_exit(1);
}

#endif
