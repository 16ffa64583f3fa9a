/* SPDX-License-Identifier: Apache-2.0 */
/* record.h — the LAUNCH record of a launch, however it is timed, and the count of untimed ones. Any
 * thread, guard held or the poll thread. */
#ifndef CT_INTERPOSE_GPU_RECORD_H
#define CT_INTERPOSE_GPU_RECORD_H

#include "interpose/gpu/span.h"

/* None was untimed. Before the gate opens. */
void ct_gpu_record_init(void);

/* Timed by the poll thread or not; with no times if `times` is NULL. */
void ct_gpu_record(const struct ct_gpu_span *span, int result, const struct ct_gpu_times *times);

/* One more launch that should have been timed and was not; how many, for the ledger. */
void ct_gpu_untimed_add(void);
uint64_t ct_gpu_untimed(void);

#endif
