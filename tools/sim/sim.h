/* SPDX-License-Identifier: Apache-2.0 */
/* sim.h — what the stand-ins for the CUDA driver and for NCCL share, and what a job may ask of them
 * beyond the real interfaces. Exported by the simulated libcuda.so.1. Any thread may call any of
 * it.
 *
 * Time inside the simulator is CLOCK_MONOTONIC of the machine, in ns ("sim time"). A stream is a
 * queue with a cursor: the sim time at which all that was put on it is done, computed, not
 * measured: work begins at max(cursor, when it was put there, ends of the events it waits for) and
 * ends when its model says; the stream's thread only sleeps until then, so that the machine's noise
 * shows in when a program sees an end, never in the end itself. Each device has a clock of its own,
 * offset and drift against sim time, that events are stamped with.
 */
#ifndef CT_TOOLS_SIM_SIM_H
#define CT_TOOLS_SIM_SIM_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/abi/cuda.h"

#define SIM_EXPORT __attribute__((visibility("default")))

/* A kernel. `run` is called once, by the stream's own thread, when the stream has reached it (at
 * sim time start_ns, which has passed); it may wait for other ranks and returns the sim time of its
 * end, at least start_ns, which may lie in the future. It must return soon after its communicator
 * was aborted, and makes no CUDA calls. A result other than CUDA_SUCCESS in *error makes the
 * context's error sticky, as a fault in a real kernel does. `done` runs afterwards, or if the
 * kernel will never run; not if simLaunch() itself fails. */
struct sim_kernel {
	uint64_t (*run)(void *arg, uint64_t start_ns, CUresult *error);
	void (*done)(void *arg);
	void *arg;
};

/* Put a kernel on a stream of the current context. CUDA's errors for misuse. */
SIM_EXPORT CUresult simLaunch(CUstream stream, const struct sim_kernel *kernel);

/* Put `ns` of computing on a stream of the current context: what a training step does between its
 * communication. */
SIM_EXPORT CUresult simCompute(CUstream stream, uint64_t ns);

/* How many devices there are, 8 by default, at most 1024. Before the first context is made, else
 * CUDA_ERROR_INVALID_VALUE. */
SIM_EXPORT CUresult simSetDeviceCount(int count);

/* The device's clock = sim time * (1 + ppm / 1e6) + offset. Before the device's first context is
 * made, else CUDA_ERROR_INVALID_VALUE. */
SIM_EXPORT CUresult simSetClock(CUdevice device, int64_t offset_ns, double ppm);

/* Sim time now, and a nap until then. */
SIM_EXPORT uint64_t simNow(void);
SIM_EXPORT void simSleepUntil(uint64_t ns);

/* 0: every simulated duration is zero from now on, only the order is kept. A kernel's `run` should
 * then return its start; a later end is cut to the present. */
SIM_EXPORT void simSetTiming(int real);
SIM_EXPORT int simTiming(void);

/* Faults. Both without effect while simTiming() is 0.
 *
 * simPause: the device stands still for `ms` from now. What has not ended by now, begun or not,
 * ends that much later, and events recorded meanwhile are reached when it goes on. A kernel that
 * runs already and waits for others is held only if its end falls into the pause. A second pause
 * during the first follows it.
 *
 * simStarve: for `ms` from now something else fills the device: no kernel of simLaunch() begins
 * before that is over, although its stream has reached it and events before it are complete. All
 * else goes on, simCompute() too. */
SIM_EXPORT CUresult simPause(CUdevice device, double ms);
SIM_EXPORT CUresult simStarve(CUdevice device, double ms);

/* A thread of this process holds the driver's lock for `ms` from now: any call of CUDA meanwhile
 * blocks until it is released. Work put on streams before continues. Without effect while
 * simTiming() is 0. */
SIM_EXPORT void simHoldDriver(double ms);

/* When work of busy_ns that begins at sim time start_ns ends on the device, pauses known by now
 * counted in. */
SIM_EXPORT uint64_t simDeviceEnd(CUdevice device, uint64_t start_ns, uint64_t busy_ns);

/* cuDevicePrimaryCtxReset() as a program calls it whose runtime is linked statically: no preload
 * sees that. */
SIM_EXPORT CUresult simResetUnseen(CUdevice device);

/* The truth about an event: the sim time at which it is complete, which may lie in the future.
 * CUDA_ERROR_NOT_READY if that is not known yet, CUDA_ERROR_INVALID_HANDLE if it was never
 * recorded. Not for tracers. */
SIM_EXPORT CUresult simEventTime(CUevent event, uint64_t *ns);

/* A stream that was blocked in sim time [begin_ns, end_ns) because it had to wait for an event: it
 * had reached the wait, and the event was not complete. `stream` is its handle, NULL for default
 * streams. What it is given with `noted` may be called by any thread, makes no CUDA calls and
 * blocks the simulator; NULL: no notification. */
struct sim_stall {
	CUdevice device;
	CUstream stream;
	uint64_t begin_ns, end_ns;
};
SIM_EXPORT void simOnStall(void (*noted)(const struct sim_stall *stall));

/* How often this process recorded an event with timing, on whichever stream. */
SIM_EXPORT uint64_t simTimedRecords(void);

/* CUDA_SUCCESS if [p, p + bytes) lies in one live allocation of cuMemAlloc() or cuMemHostAlloc(),
 * else CUDA_ERROR_INVALID_VALUE. */
SIM_EXPORT CUresult simCheckRange(const void *p, size_t bytes);

/* How often this process called what CUDA does not allow, and the first such call ("cuEventQuery:
 * ..."), NULL if none. CUDA_ERROR_NOT_READY is not a misuse. simBlame() adds to both: for libraries
 * above that find some themselves. */
SIM_EXPORT uint64_t simMisuse(void);
SIM_EXPORT const char *simFirstMisuse(void);
SIM_EXPORT void simBlame(const char *call, const char *why);

#endif
