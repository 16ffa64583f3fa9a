/* SPDX-License-Identifier: Apache-2.0 */
/* spy_gpu.h — what the wrappers do around the calls of the library, as a line of words in the order
 * in which it happened:
 *
 *     B1      ct_gpu_begin of a launch on stream 1
 *     E1      ct_gpu_end of it
 *     D1=5    ct_gpu_drop of it with result 5
 *     NAME    the library's own function is entered
 *
 * Link with -Wl,--wrap=ct_gpu_begin and so on; what is called stays as it is. */
#ifndef CT_TESTS_INTERPOSE_SPY_GPU_H
#define CT_TESTS_INTERPOSE_SPY_GPU_H

#include <stdint.h>

#include "interpose/gpu/time.h"

#define STREAM(n) ((CUstream)(uintptr_t)(0x1000 + (n)))

/* Forget what was heard, and listen to the library. */
void spy_start(void);

/* End the process, saying what else was heard, unless it was exactly this. What was heard is
 * forgotten. */
void spy_heard(const char *line);

/* The last launch that was begun. */
const struct ct_gpu_launch *spy_last(void);

/* As an assertion in a forked child: end the process, saying so. */
#define MUST(condition) spy_must(!!(condition), #condition, __FILE__, __LINE__)
void spy_must(int is_so, const char *what, const char *file, int line);

#endif
