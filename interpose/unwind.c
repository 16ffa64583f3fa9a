/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/unwind.h"

#include "interpose/errors.h"
#include "interpose/guard.h"

#define ACTION_CLEANUP 2  /* fact: _UA_CLEANUP_PHASE, also of a forced unwind */
#define CONTINUE_UNWIND 8 /* fact: _URC_CONTINUE_UNWIND of unwind.h */

__attribute__((visibility("hidden"))) int ct_unwind_personality(int version, int actions,
								uint64_t class, void *exception,
								void *context)
{
	struct ct_frame *frame = ct_guard_frame();

	(void)version;
	(void)context;
	if (!(actions & ACTION_CLEANUP))
		return CONTINUE_UNWIND;
	if (!frame) {
		ct_guard_leave();
		return CONTINUE_UNWIND;
	}
	ct_error_thrown(frame, class, exception);
	frame->leave(frame);
	return CONTINUE_UNWIND;
}
