/* SPDX-License-Identifier: Apache-2.0 */
/* poll.h — the poll thread: the only thread of ours that calls CUDA.
 *
 * It makes more events, takes anchors, polls the oldest launch of each stream, and writes the
 * LAUNCH records into a lane of its own. A driver that hangs hangs this thread and nothing else. It
 * does no I/O, has all signals blocked and its capture mode relaxed, so that none of its calls ends
 * a program's capture. Started with the first communicator or launch on a GPU. An error that
 * sticks, or a driver that is gone, ends its use of CUDA for good: what is on its way then is
 * recorded without times. When the process ends, the thread ends before the driver does, whenever
 * recording began; from then on none of our threads calls CUDA.
 */
#ifndef CT_INTERPOSE_GPU_POLL_H
#define CT_INTERPOSE_GPU_POLL_H

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/gpu/choice/launch.h"
#include "interpose/gpu/poll_state.h"
#include "interpose/recorder.h"

struct ct_gpu_block;

/* size: so long the end of a process waits: what hangs for so long in the driver will hang on. */
#define CT_POLL_END_NS 500000000ull

/* Nothing is started. The budget: see budget.h. Before the gate opens. */
void ct_poll_init(int anchors, uint32_t budget_millionths);

/* Once; later calls do nothing. CUDA is initialised. Any thread. */
void ct_poll_start(void);

/* A block with the first launch that has events: it, and those that follow in it, are now also the
 * poll thread's. Wakes no thread. Any thread. */
void ct_poll_push(struct ct_gpu_block *block);

/* A last look at everything that is on its way, then the thread's end; what is not done then stays
 * in the open table. Wait at most `timeout_ns`. 1 if it came to its end or was never started, 0 if
 * it hangs. */
int ct_poll_finish(uint64_t timeout_ns);

/* For the ledger: what it has done so far. */
struct ct_poll_cost {
	uint64_t events; /* recorded, by calls and by itself */
	uint64_t timed; /* launches whose end is known and, unless only ends are timed, their start */
	uint64_t untimed;
	uint32_t level, coarsest; /* of the budget */
	uint64_t backoffs;
};
void ct_poll_cost(struct ct_poll_cost *cost);

/* A few times a second one launch is measured, for the budget: the thread that takes it reads the
 * clock before and after what ct_gpu_begin() does for it, and again in ct_gpu_end(). Any thread. */
static inline int ct_poll_wants_probe(void)
{
	return ct_gpu_is_unusual(CT_GPU_PROBE);
}
uint64_t ct_poll_take_probe(void); /* when it began; 0: another thread has it */
void ct_poll_probe_begun(uint64_t since_ns);
void ct_poll_probe_ended(uint64_t end_cost_ns);

#endif
