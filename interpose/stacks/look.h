/* SPDX-License-Identifier: Apache-2.0 */
/* look.h — one look at the threads of this process: the bytes of STACK records. One thread at a
 * time; may wait for the kernel and for file systems. */
#ifndef CT_INTERPOSE_STACKS_LOOK_H
#define CT_INTERPOSE_STACKS_LOOK_H

#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

#define CT_LOOK_THREADS 16u	  /* size: those inside a call come first */
#define CT_LOOK_RECORD 12288u	  /* size: bytes of one; a deep stack of Python fills it */
#define CT_LOOK_BYTES (96u << 10) /* size: of all: half of them may be as long */

struct ct_look {
	/* asked for */
	uint64_t since_ns;
	uint32_t take;
	enum ct_stack_why why;
	int with_python;
	int with_names; /* of the machine's functions, which are in files */
	/* answered: records of this length one behind the other */
	uint16_t n_threads; /* of the process, 0 not known */
	uint32_t n;
	uint32_t len[CT_LOOK_THREADS];
	uint8_t bytes[CT_LOOK_BYTES];
};

/* Threads inside a recorded call first, then the main thread, then others that communicate. */
void ct_look_take(struct ct_look *look);

#endif
