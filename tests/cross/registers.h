/* SPDX-License-Identifier: Apache-2.0 */
/* registers.h — what a function is called with on aarch64: for the test that the dlsym hook hands
 * on a call as it came. The offsets are known to the .S files. */
#ifndef CT_TESTS_CROSS_REGISTERS_H
#define CT_TESTS_CROSS_REGISTERS_H

#include <stdint.h>

struct registers {
	uint64_t x[9]; /* at 0 */
	uint64_t lr;   /* 72 */
	uint64_t sp;   /* 80 */
	uint64_t pad;
	uint64_t q[8][2]; /* 96 */
};

/* Call dlsym with these in the registers; `after->lr` and `after->sp` become those of the call.
 * Returns what dlsym returned. */
void *registers_ask(const struct registers *with, struct registers *after);

/* What the dlsym behind the preload was called with last. */
const struct registers *registers_caught(void) __attribute__((visibility("default")));

#endif
