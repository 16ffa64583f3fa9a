/* SPDX-License-Identifier: Apache-2.0 */
/* mark.h — a point on a device's timeline: the end of a piece of work, known once that has been
 * computed, which is at the latest when it happens and often long before. Events, waits and the
 * queue share marks by counted references. The lock is held for all of it; what waits gives it up
 * meanwhile. */
#ifndef CT_TOOLS_SIM_MARK_H
#define CT_TOOLS_SIM_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/abi/cuda.h"

struct sim_context;
struct sim_device;
struct mark_waiter;

struct sim_mark {
	struct sim_device *device;
	uint64_t work; /* device.h's work time, if known */
	unsigned refs;
	bool known;
	struct mark_waiter *waiters;
};

/* With one reference, the caller's. */
struct sim_mark *sim_mark_new(struct sim_device *device);
struct sim_mark *sim_mark_known(struct sim_device *device, uint64_t work);

struct sim_mark *sim_mark_keep(struct sim_mark *mark);
void sim_mark_drop(struct sim_mark *mark); /* NULL is nothing */

/* From now on known; wakes the waiting threads. */
void sim_mark_set(struct sim_mark *mark, uint64_t work);

/* Wakes the waiting threads, for another reason. */
void sim_mark_wake(struct sim_mark *mark);

/* Sleeps until the mark is known or the thread is woken. */
void sim_mark_wait(struct sim_mark *mark);

/* Is it over? Not before it is known and sim time has come to it. */
bool sim_mark_passed(const struct sim_mark *mark);

/* Sleeps until work time `work` of the device is over, however often that is put off. */
void sim_sleep_past(const struct sim_device *device, uint64_t work);

/* Sleeps until the mark is over, or the context has an error, which is returned. */
CUresult sim_mark_await(struct sim_mark *mark, const struct sim_context *context);

#endif
