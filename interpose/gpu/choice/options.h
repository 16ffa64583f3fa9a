/* SPDX-License-Identifier: Apache-2.0 */
/* options.h — how launches on a GPU are to be timed, and which: COMMTRACE_TIMING, _SAMPLE, _BUDGET,
 * _DUTY, _GUARD.
 *
 * Read once when recording starts. What cannot be used becomes a warning, and the default holds.
 * Pure functions.
 */
#ifndef CT_INTERPOSE_GPU_CHOICE_OPTIONS_H
#define CT_INTERPOSE_GPU_CHOICE_OPTIONS_H

#include "interpose/gpu/choice/launch.h"
#include "trace/format.h"
#include "trace/notes.h"
#include "trace/settings.h"

/* code: all instances: a share is in parts of 2^32, as a hash of 32 bits is. */
#define CT_GPU_ALL (1ull << 32)

/* size: what repeats does so once a day at least. */
#define CT_GPU_LONGEST_MS (24 * 3600 * 1000u)

struct ct_gpu_options {
	enum ct_gpu_timing timing;
	enum ct_timed_why why;
	int is_auto;	      /* the timing was found, not requested */
	int may_rise;	      /* to CT_GPU_TIMED, once it is known what the job's steps are like */
	unsigned connections; /* of a GPU */
	uint64_t sample;      /* share */
	uint32_t budget_millionths; /* of wall time; 0: none */
	uint32_t duty_on_ms;	    /* of every duty_ms; both 0: always */
	uint32_t duty_ms;
	uint32_t guard_after_ms; /* of recording: from then on something is left out, ... */
	uint32_t guard_off_ms;	 /* ... for so long in every ... */
	uint32_t guard_ms;	 /* ... of these; 0: never */
};

/* How many connections (hardware queues) a GPU has by CUDA_DEVICE_MAX_CONNECTIONS, NULL not set. */
unsigned ct_gpu_connections(const char *variable);

/* tuning: with fewer than these, every timed stream would share one: communication and computing
 * have one each, so have anchors, and copies. */
#define CT_GPU_FEW_CONNECTIONS 4u

/* `connections`: CUDA_DEVICE_MAX_CONNECTIONS, NULL not set. */
void ct_gpu_options_read(struct ct_gpu_options *options, const struct ct_settings *settings,
			 const char *connections, struct ct_notes *notes);

#endif
