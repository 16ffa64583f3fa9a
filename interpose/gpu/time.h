/* SPDX-License-Identifier: Apache-2.0 */
/* time.h — the GPU half of a launch: when a stream reached it and when it was done.
 *
 *     ct_gpu_begin()   just before the call that launches: an entry in the ring's open table, and, with
 *                      COMMTRACE_TIMING=events, a pooled event recorded on the stream
 *     ct_gpu_end()     just after it succeeded: the end event, timed or (COMMTRACE_TIMING=host) not; from now on the
 *                      poll thread (poll.h) owns the span and writes its LAUNCH record when that event is complete
 *     ct_gpu_drop()    instead, if it failed or nothing was launched: the LAUNCH record at once, without times
 *
 * Every launch id that stands in an op gets exactly one LAUNCH record, or stays in the open table, unless the op says
 * that it is not timed. Called with the
 * guard held, on the thread that launches; nothing here allocates, waits or creates CUDA objects on the call path,
 * and no CUDA error is ever the program's business: what cannot be timed is launched all the same and recorded
 * with CT_SOURCE_NONE.
 */
#ifndef CT_GPUTIME_H
#define CT_GPUTIME_H

#include <stdint.h>

#include "interpose/abi/cuda.h"
#include "interpose/guard.h"

enum ct_gpu_timing {
	CT_GPU_UNTIMED, /* ops say so, launches are not recorded, and CUDA is left alone */
	CT_GPU_TIMED,	/* with events and anchors */
	CT_GPU_UNANCHORED, /* with events: where all streams share one connection an anchor would wait for all */
	CT_GPU_HOST, /* ends only, as the host sees them: one event without timing a launch, no anchors */
	CT_GPU_PLUGIN, /* by NCCL's profiler interface (told.h): CUDA is only asked for streams */
	CT_GPU_PLUGIN_OR_HOST, /* not decided: CT_GPU_PLUGIN if ct_gpu_plugin_loaded() (mode.h) comes before the first launch; what
				  was made for CT_GPU_HOST until then is left unused */
};

struct ct_gpu_options;

/* What is needed for it, also in a forked child that starts anew; _init() times all launches and has no budget. 0 or
 * CT_NOMEM. Before the gate opens. */
int ct_gpu_init_options(const struct ct_gpu_options *options);
int ct_gpu_init(enum ct_gpu_timing timing);

/* The calling thread ends: what it had reserved is free. */
void ct_gpu_thread_end(void);

/* Launches that should have been timed and never got events, for the ledger. */
uint64_t ct_gpu_untimed(void);

/* What a stream's own is put on now: itself, a capture, or what cannot be told, and then nothing is done to it either.
 * Of one that nobody has asked yet it is asked when the launch begins. */
enum ct_gpu_asked { CT_GPU_UNASKED, CT_GPU_FREE, CT_GPU_CAPTURED, CT_GPU_UNKNOWN };

/* What is launched: all that one outermost group end puts on one stream of one communicator. */
struct ct_gpu_launch {
	uint64_t enter_ns; /* of its first op */
	uint64_t seq;	   /* of its first op */
	uint64_t bytes;	   /* of all its ops */
	CUstream stream;
	uint32_t id;   /* as in its ops */
	uint32_t comm; /* struct ct_comm's id */
	uint32_t n_ops;
	uint32_t device; /* CUDA device of the communicator + 1, 0 not known: the default streams are its */
	enum ct_gpu_asked asked;
	CUcontext current; /* the calling thread's context, if it was asked for just now; else NULL */
	int32_t peer;	   /* or root, of its first op; -1 none */
	uint8_t op;	   /* of its first op, trace/ops.def */
	uint8_t unpicked; /* none of its ops is to be timed (pick.h): it gets a record without times */
};

struct ct_gpu_span; /* a launch on its way */

/* Flags of an op that is launched: CT_OP_UNTIMED with CT_GPU_UNTIMED, and then its launch has no record. */
extern uint8_t ct_gpu_op_flags CT_NEAR;

/* Is the stream being captured? `device` as in struct ct_gpu_launch. Where nothing is timed it is asked only if the
 * process is known to capture at all. *current is the thread's context if that became known, else NULL. */
enum ct_gpu_asked ct_gpu_ask(CUstream stream, uint32_t device, CUcontext *current);

/* Never NULL-checked by the caller: NULL (table full, a counted loss; or no timing) is taken by the other two. */
struct ct_gpu_span *ct_gpu_begin(const struct ct_gpu_launch *launch);

/* Returns the host's clock just after the end event was recorded, which bounds when the work was launched; 0 if it was
 * not read. */
uint64_t ct_gpu_end(struct ct_gpu_span *span);
void ct_gpu_drop(struct ct_gpu_span *span, int result);

/* As ct_gpu_begin(), for a launch whose times NCCL will tell, whatever the others are timed with. */
struct ct_gpu_span *ct_gpu_begin_told(const struct ct_gpu_launch *launch);

/* The end of it, by told.c: the record, and the span is free. */
struct ct_gpu_times;
void ct_gpu_told_publish(struct ct_gpu_span *span, int result, const struct ct_gpu_times *times);

#endif
