/* SPDX-License-Identifier: Apache-2.0 */
/* time.h — the GPU half of a launch: when a stream reached it and when it was done.
 *
 *     ct_gpu_begin()   just before the call that launches: an entry in the ring's open table, and,
 * with COMMTRACE_TIMING=events, a pooled event recorded on the stream ct_gpu_end()     just after
 * it succeeded: the end event, timed or (COMMTRACE_TIMING=host) not; from now on the poll thread
 * (poll.h) owns the span and writes its LAUNCH record when that event is complete ct_gpu_drop()
 * instead, if it failed or nothing was launched: the LAUNCH record at once, without times
 *
 * Every launch id that stands in an op gets exactly one LAUNCH record, or stays in the open table,
 * unless the op says that it is not timed. Called with the guard held, on the thread that launches;
 * nothing here allocates, waits or creates CUDA objects on the call path, and no CUDA error is ever
 * the program's business: what cannot be timed is launched all the same and recorded with
 * CT_SOURCE_NONE.
 */
#ifndef CT_INTERPOSE_GPU_TIME_H
#define CT_INTERPOSE_GPU_TIME_H

#include <stdint.h>

#include "interpose/gpu/choice/launch.h"
#include "interpose/guard.h"

struct ct_gpu_options;

/* What is needed for it, also in a forked child that starts anew; _init() times all launches and
 * has no budget. 0 or CT_NOMEM. Before the gate opens. */
int ct_gpu_init_options(const struct ct_gpu_options *options);
int ct_gpu_init(enum ct_gpu_timing timing);

struct ct_gpu_span; /* a launch on its way */

/* Flags of an op that is launched: CT_OP_UNTIMED with CT_GPU_UNTIMED, and then its launch has no
 * record. */
extern uint8_t ct_gpu_op_flags CT_NEAR;

/* Never NULL-checked by the caller: NULL (table full, a counted loss; or no timing) is taken by the
 * other two. */
struct ct_gpu_span *ct_gpu_begin(const struct ct_gpu_launch *launch);

/* Returns the host's clock just after the end event was recorded, which bounds when the work was
 * launched; 0 if it was not read. */
uint64_t ct_gpu_end(struct ct_gpu_span *span);
void ct_gpu_drop(struct ct_gpu_span *span, int result);

/* The driver refused the first event of a span: the handle may be another stream's by now. And the
 * last one. (plain.h) */
void ct_gpu_begin_refused(struct ct_gpu_span *span, CUresult result);
void ct_gpu_end_refused(CUresult result);

/* As ct_gpu_begin(), for a launch whose times NCCL will report, whatever the others are timed with.
 */
struct ct_gpu_span *ct_gpu_begin_profiled(const struct ct_gpu_launch *launch);

#endif
