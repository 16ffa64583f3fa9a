/* SPDX-License-Identifier: Apache-2.0 */
/* decide.h — when auto goes over to timed events, and back: the poll thread's.
 *
 * It starts with what the host sees. Once two periods of the largest communicator's collectives
 * were seen, and COMMTRACE_GUARD's window is over, all streams of a step are known: if they are not
 * too many, launches are timed by events from then on. Where the sequence does not repeat, or is
 * not seen as a whole (COMMTRACE_SAMPLE), that waits for as long as COMMTRACE_GUARD does.
 *
 * While events are used, also by COMMTRACE_TIMING=events, nothing is timed in some windows
 * (windows.h), to measure what they do to the steps (steps.h, effect.h). Windows become longer
 * until some steps fit into them. Where that is beyond COMMTRACE_BUDGET by more than its error,
 * auto goes back for good. Each rank decides for itself; instances that are timed differently on
 * different ranks count as untimed. What was decided is in the ledger.
 */
#ifndef CT_INTERPOSE_GPU_DECIDE_H
#define CT_INTERPOSE_GPU_DECIDE_H

#include <stdint.h>

struct ct_cost_rec;
struct ct_gpu_options;

/* Before the gate opens. */
void ct_gpu_decide_init(const struct ct_gpu_options *options);

/* A launch of `n` collectives of communicator `comm`, the first of which is number `seq`; `what`: a
 * hash of what they are. */
void ct_gpu_decide_launch(uint32_t comm, uint64_t seq, uint32_t n, uint64_t what);

/* After each look at what is on its way. */
void ct_gpu_decide_look(uint64_t now_ns);

/* For the ledger. Any thread. */
void ct_gpu_decide_ledger(struct ct_cost_rec *cost);

#endif
