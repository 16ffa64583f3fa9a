/* SPDX-License-Identifier: Apache-2.0 */
/* account.h — what our threads take of the processor: each notes its own, and the write thread puts
 * it on record (COST). */
#ifndef CT_INTERPOSE_ACCOUNT_H
#define CT_INTERPOSE_ACCOUNT_H

#include <stdint.h>

enum ct_our_thread {
	CT_OURS_WRITE,
	CT_OURS_BEAT,
	CT_OURS_POLL,
	CT_OURS_STACKS,
	CT_OURS_COUNTERS,
	CT_OURS_AROUND, /* those that looked around, one after the other */
	CT_OURS
};

struct ct_account {
	uint64_t cpu_ns;
	uint64_t voluntary,
		involuntary; /* context switches: it waited; another thread took its core */
};

/* Nothing so far, whatever a parent process noted. Before there are threads. */
void ct_account_reset(void);

/* What the calling thread has taken so far, as the only one of its kind. Two system calls. */
void ct_account_note(enum ct_our_thread thread);

/* The same of one that ends: the next one of its kind adds to it. */
void ct_account_end(enum ct_our_thread thread);

/* As last noted. Any thread. */
struct ct_account ct_account_of(enum ct_our_thread thread);

#endif
