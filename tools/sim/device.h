/* SPDX-License-Identifier: Apache-2.0 */
/* device.h — devices and their three clocks: sim time, which is the machine's; the device's work
 * time, which stops while the device is paused; and the stamps that its events carry, with offset,
 * drift and a resolution.
 *
 * All that is computed for a device is in work time, so that a pause moves what is still to come,
 * and only that. Without pauses both are the same. The lock is held for all of it but where said;
 * devices are never freed. */
#ifndef CT_TOOLS_SIM_DEVICE_H
#define CT_TOOLS_SIM_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/abi/cuda.h"

struct sim_mark;
struct sim_stream;

struct sim_pause {
	uint64_t work; /* the last moment of work before it */
	uint64_t ns;
};

#define SIM_QUEUES 32 /* at most */

/* One hardware queue: the last timed event in it, or NULL, and on which stream; and what was pushed
 * into it and is not done, the oldest first, where that is limited. */
struct sim_queue {
	struct sim_mark *timed;
	const struct sim_stream *timed_on;
	struct sim_mark **pushed;
	size_t n_pushed;
};

struct sim_device {
	int ordinal;
	int64_t offset_ns;
	double ppm;
	struct sim_pause *pauses;
	unsigned n_pauses;
	uint64_t starved_until; /* sim time */
	struct sim_queue queues[SIM_QUEUES];
	unsigned n_streams;	     /* made so far: they take the queues in turn */
	struct sim_context *primary; /* NULL until it is retained */
};

/* What cuEventElapsedTime() says of a later event and an earlier one. */
enum sim_backwards { SIM_NEGATIVE, SIM_ZERO, SIM_ERROR_BACKWARDS };
enum sim_backwards sim_device_backwards(void);

/* A device has CUDA_DEVICE_MAX_CONNECTIONS hardware queues, 1 to 32, 8 if that says nothing else. */

/* SIM_PUSH_BUFFER: how much a queue holds that is not done, a few at least; without, any amount.
 * SIM_STAMP_NS: the resolution of its stamps, 1 to 1000000, 1024 if that says nothing else.
 * SIM_BACKWARDS: "zero", "error", else negative. SIM_TIMED_NS: what a timed event takes of its
 * stream, 0 if that says nothing else. */
void sim_device_read_environment(void);

uint64_t sim_device_timed_ns(void);

/* The queue of a new stream: streams take them in turn, so that those beyond their number share
 * them. */
unsigned sim_device_next_queue(struct sim_device *device);

/* A timed event was recorded there. It delays later work on other streams of its queue. */
void sim_device_timed(struct sim_device *device, const struct sim_stream *stream,
		      struct sim_mark *mark);

/* What a stream must wait for because of that; NULL: nothing. */
struct sim_mark *sim_device_in_the_way(const struct sim_device *device,
				       const struct sim_stream *stream);

/* Something was put on the stream, up to this mark, which is kept. If the stream's queue is full,
 * returns the mark for which the caller has to wait with the driver's lock (sim_hold_others()), its
 * reference; else NULL. */
struct sim_mark *sim_device_pushed(struct sim_device *device, const struct sim_stream *stream,
				   struct sim_mark *mark);

int sim_device_count(void);

/* NULL if there is none of that number. */
struct sim_device *sim_device_get(int ordinal);

/* Work time to sim time and back. A moment inside a pause is the moment when the device goes on. */
uint64_t sim_device_out(const struct sim_device *device, uint64_t work);
uint64_t sim_device_in(const struct sim_device *device, uint64_t ns);

/* The work time at which something ends that began at `begin` (work time) and would end at sim time
 * end_ns if the device had never paused meanwhile. */
uint64_t sim_device_end(const struct sim_device *device, uint64_t begin, uint64_t end_ns);

/* The timestamp of that moment in ns of the device's own clock, rounded down to its resolution. */
int64_t sim_device_stamp(const struct sim_device *device, uint64_t work);

#endif
