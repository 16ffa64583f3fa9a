/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/mark.h"

#include <pthread.h>
#include <stdlib.h>

#include "tools/sim/context.h"
#include "tools/sim/device.h"
#include "tools/sim/enter.h"
#include "tools/sim/sim.h"

/* On the stack of the waiting thread. */
struct mark_waiter {
	pthread_cond_t cond;
	bool woken;
	struct mark_waiter *next;
};

struct sim_mark *sim_mark_new(struct sim_device *device)
{
	struct sim_mark *mark = sim_alloc(sizeof(*mark));

	mark->device = device;
	mark->refs = 1;
	return mark;
}

struct sim_mark *sim_mark_known(struct sim_device *device, uint64_t work)
{
	struct sim_mark *mark = sim_mark_new(device);

	mark->work = work;
	mark->known = true;
	return mark;
}

struct sim_mark *sim_mark_keep(struct sim_mark *mark)
{
	mark->refs++;
	return mark;
}

void sim_mark_drop(struct sim_mark *mark)
{
	if (mark && !--mark->refs)
		free(mark);
}

void sim_mark_wake(struct sim_mark *mark)
{
	struct mark_waiter *next;

	for (struct mark_waiter *w = mark->waiters; w; w = next) {
		next = w->next;
		w->woken = true;
		pthread_cond_signal(&w->cond);
	}
	mark->waiters = NULL;
}

void sim_mark_set(struct sim_mark *mark, uint64_t work)
{
	mark->work = work;
	mark->known = true;
	sim_mark_wake(mark);
}

/* Until the waiters are woken; the caller keeps the mark. */
static void wait_once(struct sim_mark *mark)
{
	struct mark_waiter w = { .cond = PTHREAD_COND_INITIALIZER };

	w.next = mark->waiters;
	mark->waiters = &w;
	while (!w.woken)
		sim_lock_wait(&w.cond);
	pthread_cond_destroy(&w.cond);
}

void sim_mark_wait(struct sim_mark *mark)
{
	if (mark->known)
		return;
	sim_mark_keep(mark);
	wait_once(mark);
	sim_mark_drop(mark);
}

bool sim_mark_passed(const struct sim_mark *mark)
{
	return mark->known && simNow() >= sim_device_out(mark->device, mark->work);
}

void sim_sleep_past(const struct sim_device *device, uint64_t work)
{
	uint64_t ns;

	while (simNow() < (ns = sim_device_out(device, work))) {
		sim_unlock();
		simSleepUntil(ns);
		sim_lock();
	}
}

CUresult sim_mark_await(struct sim_mark *mark, const struct sim_context *context)
{
	sim_mark_keep(mark);
	while (!mark->known && !context->error)
		wait_once(mark);
	if (!context->error)
		sim_sleep_past(mark->device, mark->work);
	sim_mark_drop(mark);
	return context->error;
}
