/* SPDX-License-Identifier: Apache-2.0 */
/* host_clock.h — one clock of the host against another: anchors are read by CLOCK_MONOTONIC_RAW,
 * which ticks evenly, and records are stamped by CLOCK_MONOTONIC. A struct belongs to one thread,
 * or to the holder of the lock beside it.
 */
#ifndef CT_INTERPOSE_GPU_CLOCK_HOST_CLOCK_H
#define CT_INTERPOSE_GPU_CLOCK_HOST_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC against CLOCK_MONOTONIC_RAW, now and about a second ago. Zero-initialised = never
 * read. */
struct ct_gpu_host_clock {
	uint64_t raw_ns, mono_ns;
	uint64_t old_raw_ns, old_mono_ns;
	double gain; /* of CLOCK_MONOTONIC since then, per ns */
};
void ct_gpu_host_clock_read(struct ct_gpu_host_clock *clock);

/* CLOCK_MONOTONIC at a moment of CLOCK_MONOTONIC_RAW not far from the last reading. */
uint64_t ct_gpu_host_clock_mono(const struct ct_gpu_host_clock *clock, uint64_t raw_ns);

#endif
