/* SPDX-License-Identifier: Apache-2.0 */
/* stuck.h — of the operations that had not ended: which of them are no ordinary part of a run that goes on? */
#ifndef CT_STUCK_H
#define CT_STUCK_H

#include "analyzer/stream/stream.h"

enum ct_stuck {
	CT_STUCK_NOT,
	CT_STUCK_UNUSUAL, /* under way for much longer than its like take in this run */
	CT_STUCK_LATE,	  /* under way for longer than COMMTRACE_HANG_AFTER */
};

enum ct_stuck ct_stuck_of(const struct ct_pass *pass, const struct ct_unreturned *op);

struct ct_stuck_sum {
	uint32_t all;	     /* stuck, or of a process that has ended and will never end them */
	uint32_t late;	     /* CT_STUCK_LATE */
	uint32_t unusual;    /* CT_STUCK_UNUSUAL of processes that run */
	uint64_t longest_ns; /* of the late and the unusual */
};
void ct_stuck_sum(const struct ct_pass *pass, struct ct_stuck_sum *sum);

#endif
