/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tools/sim/driver.h"

static void note(struct timed *t, uint64_t start_ns)
{
	t->start_ns = start_ns;
	t->ran++;
	if (t->order)
		t->turn = (*t->order)++;
}

static uint64_t run_timed(void *arg, uint64_t start_ns, CUresult *error)
{
	struct timed *t = arg;

	note(t, start_ns);
	*error = t->error;
	return start_ns + t->ns;
}

static void done_timed(void *arg)
{
	struct timed *t = arg;

	t->done++;
}

CUresult launch_timed(CUstream stream, struct timed *timed)
{
	struct sim_kernel k = { .run = run_timed, .done = done_timed, .arg = timed };

	return simLaunch(stream, &k);
}

static uint64_t run_gate(void *arg, uint64_t start_ns, CUresult *error)
{
	struct gate *g = arg;

	note(&g->timed, start_ns);
	*error = g->timed.error;
	pthread_mutex_lock(&g->mutex);
	while (!g->open)
		pthread_cond_wait(&g->cond, &g->mutex);
	pthread_mutex_unlock(&g->mutex);
	return simNow();
}

static void done_gate(void *arg)
{
	struct gate *g = arg;

	done_timed(&g->timed);
}

CUresult launch_gate(CUstream stream, struct gate *gate)
{
	struct sim_kernel k = { .run = run_gate, .done = done_gate, .arg = gate };

	return simLaunch(stream, &k);
}

void open_gate(struct gate *gate)
{
	pthread_mutex_lock(&gate->mutex);
	gate->open = true;
	pthread_cond_broadcast(&gate->cond);
	pthread_mutex_unlock(&gate->mutex);
	while (!gate->timed.done)
		simSleepUntil(simNow() + 10000);
}

CUcontext use_device(int ordinal)
{
	CUcontext context;

	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&context, ordinal));
	OK(cuCtxSetCurrent(context));
	return context;
}

CUstream new_stream(unsigned int flags)
{
	CUstream stream;

	OK(cuStreamCreate(&stream, flags));
	return stream;
}

CUevent record_new(CUstream stream)
{
	CUevent event;

	OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
	OK(cuEventRecord(event, stream));
	return event;
}

uint64_t time_of(CUevent event)
{
	uint64_t ns;

	OK(simEventTime(event, &ns));
	return ns;
}
