/* SPDX-License-Identifier: Apache-2.0 */
/* call.h — is an address what a call returns to, and where does that call lead? By its
 * instructions. Stateless. */
#ifndef CT_INTERPOSE_STACKS_CALL_H
#define CT_INTERPOSE_STACKS_CALL_H

#include <stdint.h>

enum ct_call_leads {
	CT_CALL_NONE,	   /* no call precedes it */
	CT_CALL_ELSEWHERE, /* to another function; which may have jumped on */
	CT_CALL_ANYWHERE,  /* to an address in a register or in memory */
	CT_CALL_HERE,	   /* into the range */
};

/* `back`: the address that the call returns to; begin..end: the range. */
enum ct_call_leads ct_call_leads(uintptr_t back, uintptr_t begin, uintptr_t end);

#endif
