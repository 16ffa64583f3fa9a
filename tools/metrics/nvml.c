/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/metrics/nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* NVML's public interface, from its documentation: only what is called. */
typedef struct nvml_device *nvml_device;
typedef struct nvml_events *nvml_events;
struct nvml_utilization {
	unsigned gpu, memory;
};
struct nvml_memory {
	unsigned long long total, free, used;
};
struct nvml_event {
	nvml_device device;
	unsigned long long type, data;
	unsigned gpu_instance, compute_instance;
};
struct nvml_value {
	unsigned field, scope;
	long long timestamp, latency_us;
	int type, status;
	union {
		double f64;
		unsigned u32;
		unsigned long long u64;
	} value;
};
#define NVML_EVENT_XID 8ull
#define NVML_PCIE_TX 0u
#define NVML_PCIE_RX 1u
#define NVML_CLOCK_SM 1u
#define NVML_CLOCK_MEMORY 2u
#define NVML_FIELD_NVLINK_TX 138u /* NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, KiB */
#define NVML_FIELD_NVLINK_RX 139u
#define NVML_ALL_LINKS UINT32_MAX

#define FUNCTIONS(X)                                                                               \
	X(init, "nvmlInit_v2", (void))                                                             \
	X(count, "nvmlDeviceGetCount_v2", (unsigned *))                                            \
	X(handle, "nvmlDeviceGetHandleByIndex_v2", (unsigned, nvml_device *))                      \
	X(busy, "nvmlDeviceGetUtilizationRates", (nvml_device, struct nvml_utilization *))         \
	X(memory, "nvmlDeviceGetMemoryInfo", (nvml_device, struct nvml_memory *))                  \
	X(pcie, "nvmlDeviceGetPcieThroughput", (nvml_device, unsigned, unsigned *))                \
	X(clock, "nvmlDeviceGetClockInfo", (nvml_device, unsigned, unsigned *))                    \
	X(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons",                                    \
	  (nvml_device, unsigned long long *))                                                     \
	X(fields, "nvmlDeviceGetFieldValues", (nvml_device, int, struct nvml_value *))             \
	X(events_new, "nvmlEventSetCreate", (nvml_events *))                                       \
	X(events_add, "nvmlDeviceRegisterEvents", (nvml_device, unsigned long long, nvml_events))  \
	X(events_wait, "nvmlEventSetWait_v2", (nvml_events, struct nvml_event *, unsigned))

#define SECOND_MS 1000u

static struct {
#define DECLARE(member, symbol, arguments) int(*member) arguments;
	FUNCTIONS(DECLARE)
#undef DECLARE
	nvml_device devices[CT_GPUS];
	unsigned n;
	nvml_events events;   /* NULL: it has none */
	pthread_mutex_t lock; /* of samples and n_samples */
	struct ct_gpu_sample samples[CT_GPUS];
	unsigned n_samples;
} nvml = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* nvmlClocksThrottleReasons*, from bit 0 on. */
const char *const ct_gpu_reason_names[CT_GPU_REASONS] = {
	"gpu_idle",
	"applications_clocks_setting",
	"sw_power_cap",
	"hw_slowdown",
	"sync_boost",
	"sw_thermal_slowdown",
	"hw_thermal_slowdown",
	"hw_power_brake_slowdown",
	"display_clock_setting",
};

static double asked(int status, double value)
{
	return status == 0 ? value : NAN;
}

static double nvlink_bytes(nvml_device device, unsigned field)
{
	struct nvml_value value = { .field = field, .scope = NVML_ALL_LINKS };

	if (!nvml.fields || nvml.fields(device, 1, &value) != 0 || value.status != 0)
		return NAN;
	return 1024.0 * (double)value.value.u64;
}

static double pcie(nvml_device device, unsigned direction)
{
	unsigned kb = 0;
	const int status = nvml.pcie ? nvml.pcie(device, direction, &kb) : -1;

	return asked(status, 1000.0 * kb);
}

static double hertz(nvml_device device, unsigned clock)
{
	unsigned mhz = 0;
	const int status = nvml.clock ? nvml.clock(device, clock, &mhz) : -1;

	return asked(status, 1e6 * mhz);
}

static void ask(nvml_device device, struct ct_gpu_sample *to)
{
	struct nvml_utilization busy = { 0 };
	struct nvml_memory memory = { 0 };
	unsigned long long reasons = 0;
	int status;

	status = nvml.busy ? nvml.busy(device, &busy) : -1;
	to->busy = asked(status, busy.gpu / 100.0);
	status = nvml.memory ? nvml.memory(device, &memory) : -1;
	to->memory_used = asked(status, (double)memory.used);
	to->memory = asked(status, (double)memory.total);
	to->pcie_tx = pcie(device, NVML_PCIE_TX);
	to->pcie_rx = pcie(device, NVML_PCIE_RX);
	to->nvlink_tx = nvlink_bytes(device, NVML_FIELD_NVLINK_TX);
	to->nvlink_rx = nvlink_bytes(device, NVML_FIELD_NVLINK_RX);
	to->sm_hertz = hertz(device, NVML_CLOCK_SM);
	to->memory_hertz = hertz(device, NVML_CLOCK_MEMORY);
	status = nvml.reasons ? nvml.reasons(device, &reasons) : -1;
	for (unsigned i = 0; i < CT_GPU_REASONS; i++)
		to->reasons[i] = asked(status, (double)(reasons >> i & 1));
}

/* Events for a second, which is the time between two samples, too. */
static void take_events(void)
{
	struct nvml_event event;

	if (!nvml.events || !nvml.events_wait) {
		sleep(1);
		return;
	}
	if (nvml.events_wait(nvml.events, &event, SECOND_MS) != 0) {
		usleep(100000); /* a timeout took its time; a lost GPU answers at once */
		return;
	}
	pthread_mutex_lock(&nvml.lock);
	for (unsigned i = 0; i < nvml.n; i++) {
		if (event.type == NVML_EVENT_XID && nvml.devices[i] == event.device) {
			nvml.samples[i].xids++;
			nvml.samples[i].last_xid = (uint32_t)event.data;
		}
	}
	pthread_mutex_unlock(&nvml.lock);
}

static void *run(void *arg)
{
	(void)arg;
	if (nvml.init() != 0 || nvml.count(&nvml.n) != 0)
		return NULL;
	if (nvml.n > CT_GPUS)
		nvml.n = CT_GPUS;
	if (nvml.events_new && nvml.events_new(&nvml.events) != 0)
		nvml.events = NULL;
	for (unsigned i = 0; i < nvml.n; i++) {
		if (nvml.handle(i, &nvml.devices[i]) != 0)
			nvml.devices[i] = NULL;
		else if (nvml.events && nvml.events_add)
			nvml.events_add(nvml.devices[i], NVML_EVENT_XID, nvml.events);
	}
	for (;;) {
		for (unsigned i = 0; i < nvml.n; i++) {
			struct ct_gpu_sample sample;

			if (!nvml.devices[i])
				continue;
			ask(nvml.devices[i], &sample);
			pthread_mutex_lock(&nvml.lock);
			sample.xids = nvml.samples[i].xids;
			sample.last_xid = nvml.samples[i].last_xid;
			nvml.samples[i] = sample;
			nvml.n_samples = nvml.n;
			pthread_mutex_unlock(&nvml.lock);
		}
		take_events();
	}
	return NULL;
}

void ct_nvml_start(const char *path)
{
	void *library = dlopen(path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	pthread_t thread;

	if (!library)
		return;
#define LOOK_UP(member, symbol, arguments) *(void **)&nvml.member = dlsym(library, symbol);
	FUNCTIONS(LOOK_UP)
#undef LOOK_UP
	if (nvml.init && nvml.count && nvml.handle && pthread_create(&thread, NULL, run, NULL) == 0)
		pthread_detach(thread);
}

unsigned ct_nvml_read(struct ct_gpu_sample samples[CT_GPUS])
{
	unsigned n;

	pthread_mutex_lock(&nvml.lock);
	n = nvml.n_samples;
	memcpy(samples, nvml.samples, n * sizeof(*samples));
	pthread_mutex_unlock(&nvml.lock);
	return n;
}
