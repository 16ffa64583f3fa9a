/* SPDX-License-Identifier: Apache-2.0 */
/* recorded.h — a recorded process in a child, and what can be read back of it.
 *
 * Recording starts once per process, so each test runs its body in a child that was forked before
 * anything was recorded, with a run and ring directory of its own. */
#ifndef CT_TESTS_INTERPOSE_RECORDED_H
#define CT_TESTS_INTERPOSE_RECORDED_H

#include <stdint.h>

#include "trace/reader.h"

#define RECORDED_STRINGS 2048

/* Counted over all processes of the run. */
struct recorded {
	size_t processes;
	uint64_t ops;
	uint64_t unreturned;
	uint64_t exceptions;
	uint64_t launches;
	uint64_t comms;
	uint64_t hosts_ended;
	uint64_t hosts_thrown;
	uint64_t errors;
	uint32_t error_string;		    /* of the last one */
	char strings[RECORDED_STRINGS][64]; /* by id modulo */
	uint64_t losses[CT_LOSS_MAX];
	uint64_t keys[16]; /* of the first communicators */
	int key_sources[16];
	uint32_t nth_sum;
	uint8_t *seqs; /* seq of ops of communicator c below 65536: seqs[c % 64 << 16 | seq], how
			  often */
	struct ct_op last;
	struct ct_launch last_launch;
};

/* Run body() in a child with COMMTRACE_DIR, COMMTRACE_RING_DIR and COMMTRACE_QUIET set, and the
 * settings "NAME=value" of `env` (NULL-terminated, may be NULL). Returns its wait status. */
int recorded_run(void (*body)(void), const char *const *env);

/* Read the run of the last recorded_run() back; the caller frees it with recorded_free(). */
struct recorded recorded_read(void);
void recorded_free(struct recorded *r);

/* The blocks of one of its processes, and what that lost by reason. Returns how many processes
 * there are; nothing is taken if it is none of them. */
size_t recorded_walk(size_t index, void (*take)(const struct ct_block *block),
		     uint64_t losses[CT_LOSS_MAX]);

/* Directories of the last run, and files in the ring directory now. */
const char *recorded_dir(void);
const char *recorded_ring_dir(void);
int recorded_rings_left(void);
void recorded_remove(void);

#endif
