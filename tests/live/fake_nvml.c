/* SPDX-License-Identifier: Apache-2.0 */
/* A libnvidia-ml of two GPUs with known answers: GPU 0 answers nothing, as some do, and GPU 1 has
 * an Xid error. */
#include <stddef.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define NOT_SUPPORTED 3
#define TIMEOUT 10

static char gpus[2];

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlDeviceGetCount_v2(unsigned *n);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device);
EXPORT int nvmlDeviceGetUtilizationRates(void *device, unsigned rates[2]);
EXPORT int nvmlDeviceGetMemoryInfo(void *device, unsigned long long memory[3]);
EXPORT int nvmlDeviceGetPcieThroughput(void *device, unsigned counter, unsigned *kb);
EXPORT int nvmlDeviceGetClockInfo(void *device, unsigned clock, unsigned *mhz);
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);
EXPORT int nvmlDeviceGetFieldValues(void *device, int n, void *values);
EXPORT int nvmlEventSetCreate(void **set);
EXPORT int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set);
EXPORT int nvmlEventSetWait_v2(void *set, void *event, unsigned ms);

int nvmlInit_v2(void)
{
	return 0;
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
	*n = 2;
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device)
{
	*device = &gpus[i];
	return 0;
}

static int answers(const void *device)
{
	return device == &gpus[1] ? 0 : NOT_SUPPORTED;
}

int nvmlDeviceGetUtilizationRates(void *device, unsigned rates[2])
{
	rates[0] = 43;
	rates[1] = 12;
	return answers(device);
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long memory[3])
{
	memory[0] = 80ull << 30;
	memory[1] = 75ull << 30;
	memory[2] = 5ull << 30;
	return answers(device);
}

int nvmlDeviceGetPcieThroughput(void *device, unsigned counter, unsigned *kb)
{
	*kb = 2001 + counter;
	return answers(device);
}

int nvmlDeviceGetClockInfo(void *device, unsigned clock, unsigned *mhz)
{
	*mhz = 1500 + clock;
	return answers(device);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
	*reasons = 0x4; /* nvmlClocksThrottleReasonSwPowerCap */
	return answers(device);
}

/* As nvml.h has it. */
struct value {
	unsigned field, scope;
	long long timestamp, latency_us;
	int type, status;
	unsigned long long u64;
};

int nvmlDeviceGetFieldValues(void *device, int n, void *values)
{
	struct value *v = values;

	for (int i = 0; i < n; i++) {
		v[i].status = v[i].scope == 0xffffffffu ? answers(device) : NOT_SUPPORTED;
		v[i].u64 = 1000ull * (v[i].field + 1) + 1;
	}
	return 0;
}

int nvmlEventSetCreate(void **set)
{
	*set = gpus;
	return 0;
}

int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set)
{
	(void)device, (void)set;
	return types == 8 ? 0 : NOT_SUPPORTED;
}

struct event {
	void *device;
	unsigned long long type, data;
	unsigned gpu_instance, compute_instance;
};

int nvmlEventSetWait_v2(void *set, void *event, unsigned ms)
{
	static int n;
	struct event *e = event;

	(void)set;
	usleep(ms * 100);
	if (n++ != 1)
		return TIMEOUT;
	*e = (struct event){ .device = &gpus[1], .type = 8, .data = 79 };
	return 0;
}
