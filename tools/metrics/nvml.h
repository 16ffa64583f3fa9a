/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.h — what NVML says of this machine's GPUs. libnvidia-ml.so.1 is opened at run time: without
 * a driver there are no GPUs. Our own declarations of its public interface; what a driver does not
 * answer is NAN. Its calls may wait for the driver, so a thread of its own asks, and readers get
 * its latest answers. Xid errors come as events. */
#ifndef CT_TOOLS_METRICS_NVML_H
#define CT_TOOLS_METRICS_NVML_H

#include <stdint.h>

#define CT_GPUS 32u /* of a machine */
#define CT_GPU_REASONS 9u

struct ct_gpu_sample {
	double busy, memory_used, memory, pcie_tx, pcie_rx, nvlink_tx, nvlink_rx;
	double sm_hertz, memory_hertz;
	double reasons[CT_GPU_REASONS]; /* 1 or 0 */
	uint64_t xids;
	uint32_t last_xid;
};

extern const char *const ct_gpu_reason_names[CT_GPU_REASONS];

/* Start asking. Nothing happens without a driver. `path`: of the library; NULL: the loader finds
 * it. */
void ct_nvml_start(const char *path);

/* The latest answers; their number. */
unsigned ct_nvml_read(struct ct_gpu_sample samples[CT_GPUS]);

#endif
