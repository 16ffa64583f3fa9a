/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h — what the host's clock says about a span that events timed.
 *
 * Our events are beside the work, not in it. On a stream that is busy that is the same moment: it
 * reaches the start event, the work, and the end event one after the other. A stream that is idle
 * passes an event when it is recorded, and a thread may be delayed for long between recording it
 * and launching: the work then began after its start event, or ended before its end event. So an
 * event that happened before the call had returned only bounds a time, and the host's times are the
 * other bound. Pure functions.
 */
#ifndef CT_INTERPOSE_GPU_BOUNDS_H
#define CT_INTERPOSE_GPU_BOUNDS_H

#include <stdint.h>

#include "interpose/gpu/span.h"

/* `returned_ns`: a moment after the launch and after both events were recorded, UINT64_MAX if it is
 * not known; start and end as their events report. The start becomes the middle of what is
 * possible; the end stays, with the error of what is possible. Needs a start; an end without a
 * source is left alone. */
void ct_gpu_bound(struct ct_gpu_times *times, uint64_t returned_ns);

/* As a time's error is recorded, never less than it is. */
static inline uint32_t ct_gpu_err_word(double err_ns)
{
	return err_ns < (double)UINT32_MAX ? (uint32_t)(err_ns + 1) : UINT32_MAX;
}

#endif
