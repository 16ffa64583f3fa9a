/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/context.h"
#include "tools/sim/driver.h"
#include "tools/sim/enter.h"
#include "tools/sim/mark.h"
#include "tools/sim/stream.h"

#define MAX_DEVICES 1024

static struct sim_device devices[MAX_DEVICES];
static int n_devices = 8;
static unsigned n_queues = 8;
static int64_t stamp_ns = 1024;
static size_t push_buffer; /* 0: without end */
static uint64_t timed_ns;
static enum sim_backwards backwards;

void sim_device_read_environment(void)
{
	const char *connections = getenv("CUDA_DEVICE_MAX_CONNECTIONS");

	const char *stamp = getenv("SIM_STAMP_NS");
	const char *later = getenv("SIM_BACKWARDS");
	const char *buffer = getenv("SIM_PUSH_BUFFER");
	const char *timed = getenv("SIM_TIMED_NS");
	int n = connections ? atoi(connections) : 0;

	if (n > 0)
		n_queues = n < SIM_QUEUES ? (unsigned)n : SIM_QUEUES;
	n = stamp ? atoi(stamp) : 0;
	if (n > 0 && n <= 1000000)
		stamp_ns = n;
	n = buffer ? atoi(buffer) : 0;
	if (n > 0)
		push_buffer = (size_t)n;
	if (timed && atoi(timed) > 0)
		timed_ns = (uint64_t)atoi(timed);
	if (later)
		backwards = strcmp(later, "zero") == 0	  ? SIM_ZERO
			    : strcmp(later, "error") == 0 ? SIM_ERROR_BACKWARDS
							  : SIM_NEGATIVE;
}

uint64_t sim_device_timed_ns(void)
{
	return timed_ns;
}

enum sim_backwards sim_device_backwards(void)
{
	return backwards;
}

unsigned sim_device_next_queue(struct sim_device *device)
{
	return device->n_streams++ % n_queues;
}

void sim_device_timed(struct sim_device *device, const struct sim_stream *stream,
		      struct sim_mark *mark)
{
	struct sim_queue *queue = &device->queues[stream->queue];

	sim_mark_drop(queue->timed);
	queue->timed = sim_mark_keep(mark);
	queue->timed_on = stream;
}

struct sim_mark *sim_device_in_the_way(const struct sim_device *device,
				       const struct sim_stream *stream)
{
	const struct sim_queue *queue = &device->queues[stream->queue];

	return queue->timed_on == stream ? NULL : queue->timed;
}

struct sim_mark *sim_device_pushed(struct sim_device *device, const struct sim_stream *stream,
				   struct sim_mark *mark)
{
	struct sim_queue *queue = &device->queues[stream->queue];
	struct sim_mark *full = NULL;
	size_t done = 0;

	if (!push_buffer)
		return NULL;
	if (!queue->pushed)
		queue->pushed = sim_alloc((push_buffer + 1) * sizeof(struct sim_mark *));
	while (done < queue->n_pushed && sim_mark_passed(queue->pushed[done]))
		sim_mark_drop(queue->pushed[done++]);
	/* by the thread that finds it full: a slot is free when the oldest is done */
	if (!done && queue->n_pushed == push_buffer) {
		full = queue->pushed[0];
		done = 1;
	}
	memmove(queue->pushed, queue->pushed + done,
		(queue->n_pushed - done) * sizeof(struct sim_mark *));
	queue->n_pushed -= done;
	queue->pushed[queue->n_pushed++] = sim_mark_keep(mark);
	return full;
}

int sim_device_count(void)
{
	return n_devices;
}

struct sim_device *sim_device_get(int ordinal)
{
	if (ordinal < 0 || ordinal >= n_devices)
		return NULL;
	devices[ordinal].ordinal = ordinal;
	return &devices[ordinal];
}

uint64_t sim_device_out(const struct sim_device *device, uint64_t work)
{
	uint64_t ns = work;

	for (unsigned i = 0; i < device->n_pauses; i++)
		if (work > device->pauses[i].work)
			ns += device->pauses[i].ns;
	return ns;
}

/* The pause that sim time ns lies in or behind, and what all pauses before it add up to. */
static const struct sim_pause *last_pause(const struct sim_device *device, uint64_t ns,
					  uint64_t *before)
{
	const struct sim_pause *found = NULL;
	uint64_t sum = 0;

	*before = 0;
	for (unsigned i = 0; i < device->n_pauses; i++) {
		const struct sim_pause *p = &device->pauses[i];

		if (ns <= p->work + sum)
			break;
		found = p;
		*before = sum;
		sum += p->ns;
	}
	return found;
}

uint64_t sim_device_in(const struct sim_device *device, uint64_t ns)
{
	uint64_t before;
	const struct sim_pause *p = last_pause(device, ns, &before);

	if (!p)
		return ns;
	/* One past the pause's moment: the first that is over only when the device goes on. */
	return ns <= p->work + before + p->ns ? p->work + 1 : ns - before - p->ns;
}

uint64_t sim_device_end(const struct sim_device *device, uint64_t begin, uint64_t end_ns)
{
	uint64_t before, end;
	const struct sim_pause *p = last_pause(device, end_ns, &before);

	/* What was still to do when the pause began is done after it. */
	if (p && begin <= p->work && end_ns <= p->work + before + p->ns)
		end = end_ns - before;
	else
		end = sim_device_in(device, end_ns);
	return end > begin ? end : begin;
}

int64_t sim_device_stamp(const struct sim_device *device, uint64_t work)
{
	uint64_t ns = sim_device_out(device, work);
	int64_t drift = llround((double)ns * device->ppm / 1e6);
	int64_t clock = (int64_t)ns + drift + device->offset_ns;
	int64_t past = clock % stamp_ns;

	return clock - (past < 0 ? past + stamp_ns : past);
}

CUresult simSetDeviceCount(int count)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	sim_lock();
	if (count >= 0 && count <= MAX_DEVICES && !sim_context_any()) {
		n_devices = count;
		result = CUDA_SUCCESS;
	}
	return sim_leave(result);
}

CUresult simSetClock(CUdevice device, int64_t offset_ns, double ppm)
{
	struct sim_device *d;

	sim_lock();
	d = sim_device_get(device);
	if (!d || d->primary || !isfinite(ppm))
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	d->offset_ns = offset_ns;
	d->ppm = ppm;
	return sim_leave(CUDA_SUCCESS);
}

/* A fault's length in ns; 0 for what is none. */
static uint64_t fault_ns(double ms)
{
	return simTiming() && ms > 0 && ms < 1e9 ? (uint64_t)(ms * 1e6) : 0;
}

CUresult simPause(CUdevice device, double ms)
{
	struct sim_device *d;
	struct sim_pause *more;
	uint64_t ns = fault_ns(ms);

	sim_lock();
	d = sim_device_get(device);
	if (!d)
		return sim_leave(CUDA_ERROR_INVALID_DEVICE);
	if (!ns)
		return sim_leave(CUDA_SUCCESS);
	more = realloc(d->pauses, (d->n_pauses + 1) * sizeof(*more));
	if (!more)
		return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
	d->pauses = more;
	more[d->n_pauses] = (struct sim_pause){ sim_device_in(d, simNow()), ns };
	d->n_pauses++;
	return sim_leave(CUDA_SUCCESS);
}

CUresult simStarve(CUdevice device, double ms)
{
	struct sim_device *d;
	uint64_t until = simNow() + fault_ns(ms);

	sim_lock();
	d = sim_device_get(device);
	if (!d)
		return sim_leave(CUDA_ERROR_INVALID_DEVICE);
	if (until > d->starved_until)
		d->starved_until = until;
	return sim_leave(CUDA_SUCCESS);
}

uint64_t simDeviceEnd(CUdevice device, uint64_t start_ns, uint64_t busy_ns)
{
	struct sim_device *d;
	uint64_t end = start_ns + busy_ns;

	sim_lock();
	d = sim_device_get(device);
	if (d)
		end = sim_device_out(d, sim_device_in(d, start_ns) + busy_ns);
	sim_unlock();
	return end;
}

CUresult cuDeviceGetCount(int *count)
{
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	if (!count)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL"));
	*count = n_devices;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	if (!device)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL"));
	if (!sim_device_get(ordinal))
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_DEVICE, "no such device"));
	*device = ordinal;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice device)
{
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	if (!sim_device_get(device))
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_DEVICE, "no such device"));
	if (!id || length < (int)sizeof("0000:00:00.0"))
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "no space"));
	snprintf(id, (size_t)length, "%04x:%02x:00.0", (unsigned)device >> 8,
		 (unsigned)device & 0xff);
	return sim_leave(CUDA_SUCCESS);
}

/* A device that does not exist, or NULL where the answer should go. */
static CUresult refuse(CUdevice device, int has_room)
{
	if (!sim_device_get(device))
		return sim_misuse(CUDA_ERROR_INVALID_DEVICE, "no such device");
	return has_room ? CUDA_SUCCESS : sim_misuse(CUDA_ERROR_INVALID_VALUE, "no space");
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
	CUresult result = sim_enter(__func__);

	if (!result)
		result = sim_leave(refuse(device, name && length > 0));
	if (!result)
		snprintf(name, (size_t)length, "Simulated GPU");
	return result;
}

/* Different on every device, and the same in every process: as those of the GPUs of one machine. */
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
	CUresult result = sim_enter(__func__);

	if (!result)
		result = sim_leave(refuse(device, uuid != NULL));
	for (int i = 0; !result && i < (int)sizeof(uuid->bytes); i++)
		uuid->bytes[i] = (char)(i < 14 ? 0x51 : device >> 8 * (15 - i));
	return result;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device)
{
	CUresult result = sim_enter(__func__);

	if (!result)
		result = sim_leave(refuse(device, value != NULL));
	if (result)
		return result;
	switch (which) {
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		*value = 9;
		return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
		*value = 0;
		return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		*value = 132;
		return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
		*value = 1980000;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE; /* it has no such property */
	}
}
