/* SPDX-License-Identifier: Apache-2.0 */
/* mutate.h — a segment file with wrong contents and right checksums: its blocks are unpacked, some
 * values in them are replaced by others, and they are packed again. So what reads the records meets
 * anything that they can say, which flipped bytes of a file never get to: their block's checksum is
 * wrong. */
#ifndef CT_TESTS_FUZZ_MUTATE_H
#define CT_TESTS_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* splitmix64; any start. */
uint64_t ct_mutate_random(uint64_t *state);

/* Write the segment at `path`, changed as *random decides, into `out`. 0, or -1: it cannot be read
 * or written. */
int ct_mutate_segment(const char *path, uint64_t *random, FILE *out);

#endif
