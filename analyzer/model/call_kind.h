/* SPDX-License-Identifier: Apache-2.0 */
/* call_kind.h — what a host-blocking call is, by its name. Pure. */
#ifndef CT_HANG_CALL_KIND_H
#define CT_HANG_CALL_KIND_H

#include "analyzer/hang/hang_case.h"

/* NULL and unknown names: CT_HANG_OTHER. */
enum ct_hang_call_kind ct_hang_call_kind(const char *call);

/* Do all members of a communicator meet in it? */
static inline int ct_hang_call_meets(enum ct_hang_call_kind kind)
{
	return kind == CT_HANG_INIT || kind == CT_HANG_SPLIT || kind == CT_HANG_FINALIZE;
}

#endif
