/* SPDX-License-Identifier: Apache-2.0 */
/* command.h — command lines to paste, with what is on record of where they run. Pure; texts are the
 * arena's.
 *
 * Words of a pattern: {ssh} "ssh node1 " or nothing, {gpu} "-i 1 " or nothing, {pid} of a live
 * process, {run} the run as words of a shell. {network} is nothing, and is not on record where all
 * ranks share a host: no network is between them. */
#ifndef CT_ANALYZER_MODEL_COMMAND_H
#define CT_ANALYZER_MODEL_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/arena.h"

struct ct_command_at {
	const char *host; /* NULL: this one, or the only one of the job */
	const char *gpu;  /* of ct_command_gpu(); NULL: no live process uses one */
	uint32_t pid;	  /* of a process that lives; 0: none does */
	const char *run;  /* NULL: not known */
	int has_network;  /* ranks of several hosts */
};

/* "-i 1 ": as nvidia-smi counts GPUs, which knows nothing of CUDA_VISIBLE_DEVICES (`visible`, NULL:
 * not set). "": not known. */
const char *ct_command_gpu(struct ct_arena *memory, int device, const char *visible);

/* NULL: out of memory, or the pattern needs what is not on record. */
const char *ct_command_text(struct ct_arena *memory, const char *pattern,
			    const struct ct_command_at *at);

/* One after the other, equal ones once, without those that are NULL: "ssh node1 top; ssh node2
 * top". NULL: there is none. */
const char *ct_command_each(struct ct_arena *memory, const char *pattern,
			    const struct ct_command_at *at, size_t n);

#endif
