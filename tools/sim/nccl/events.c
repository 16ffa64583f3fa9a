/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/nccl/events.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/sim/nccl/driver.h"
#include "tools/sim/nccl/plugin.h"
#include "tools/sim/nccl/reduce.h"

/* The parents of the others: they are reported if any of the others is. */
#define TASKS (SIM_EVENT_COLL | SIM_EVENT_P2P | SIM_EVENT_KERNEL_CH)
#define CALLS (SIM_EVENT_COLL_API | SIM_EVENT_P2P_API | SIM_EVENT_KERNEL_LAUNCH | TASKS)

/* A kernel's channels do not begin all at once: by so much, each. */
#define CHANNEL_NS 3000
#define MAX_CHANNELS 2

/* A launch's events: the thread that launches stops those of its own, the service those of the
 * kernel: some for each task, one a channel. Freed by the last of the two. */
struct sim_notices {
	_Atomic int refs;
	struct ncclComm *comm;
	uint64_t start_ns; /* of the kernel */
	void *group, *launch;
	size_t n;
	void **tasks, **channels; /* MAX_CHANNELS for each task */
	uint8_t *n_channels;
};

/* The kernel's start or end. */
struct notice {
	struct sim_notices *notices;
	uint64_t due_ns;
	bool ends;
	struct notice *next;
};

static __thread void *group_event, *last_coll;

static struct notice *queue;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the queue */
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *type_name(ncclDataType_t type)
{
	static const char *const names[] = {
#define NCCL_DTYPE(name, value, dtype) [value] = #name,
#include "interpose/abi/nccl_values.def"
	};

	return names[type];
}

static const char *func_name(enum sim_func func)
{
	static const char *const names[] = { "AllReduce", "Reduce", "Broadcast", "ReduceScatter",
					     "AllGather", "Send",   "Recv" };

	return names[func];
}

/* The GPU's own timer, as kernels read it: nanoseconds of the Unix epoch, more or less, in steps of
 * 1024. Each device's is off by some milliseconds and ticks a little faster or slower than the
 * host's. */
static uint64_t gpu_timer(int device, uint64_t ns)
{
	const double ppm = 7.5 * (device % 5 - 2);
	const uint64_t epoch = 1700000000000000000u + 3141593u * (uint64_t)(device + 1);

	return (epoch + ns + (uint64_t)(int64_t)((double)ns * ppm / 1e6)) & ~(uint64_t)1023;
}

static void *start(struct ncclComm *comm, const struct sim_event_v5 *e)
{
	return sim_plugin_start(comm->profiler, e, comm->name[0] ? comm->name : NULL, comm->hash);
}

void sim_events_open(struct ncclComm *comm)
{
	int nodes = 0;

	for (int r = 0; r < comm->n_ranks; r++) {
		int first = 0;

		while (comm->view.members[first].node != comm->view.members[r].node)
			first++;
		nodes += first == r;
	}
	sim_plugin_init(&comm->profiler, comm->hash, comm->name[0] ? comm->name : NULL, nodes,
			comm->n_ranks, comm->rank);
}

static bool is_captured(const struct ncclComm *comm, CUstream stream)
{
	const struct sim_driver *d = sim_driver();
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUcontext popped;

	if (d->cuCtxPushCurrent_v2(comm->context))
		return false;
	d->cuStreamGetCaptureInfo_v2(stream, &status, NULL, NULL, NULL, NULL);
	d->cuCtxPopCurrent_v2(&popped);
	return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void sim_events_call(struct ncclComm *comm, struct sim_task *task, const char *name, bool message,
		     CUstream stream)
{
	struct sim_event_v5 e = { .type = SIM_EVENT_GROUP_API }; /* calls do not report the rank */
	bool captured;

	if (!comm->profiler || !sim_plugin_wants(SIM_EVENT_GROUP_API | CALLS))
		return;
	captured = is_captured(comm, stream);
	task->channels = sim_plugin_wants(SIM_EVENT_KERNEL_CH);
	if (!group_event) {
		e.group_api.captured = captured;
		e.group_api.depth = 1;
		group_event = start(comm, &e);
		sim_plugin_group_state(group_event, SIM_STATE_GROUP_START_STOP);
	}
	if (!sim_plugin_wants(CALLS))
		return;
	memset(&e, 0, sizeof(e));
	e.parent = group_event;
	e.type = message ? SIM_EVENT_P2P_API : SIM_EVENT_COLL_API;
	if (message) {
		e.p2p_api.func = name;
		e.p2p_api.count = task->count;
		e.p2p_api.type = type_name(task->type);
		e.p2p_api.stream = stream;
		e.p2p_api.captured = captured;
	} else {
		e.coll_api.func = name;
		e.coll_api.count = task->count;
		e.coll_api.type = type_name(task->type);
		e.coll_api.root = task->root;
		e.coll_api.stream = stream;
		e.coll_api.captured = captured;
	}
	task->api_event = start(comm, &e);
}

void sim_events_return(struct sim_task *task)
{
	sim_plugin_stop(task->api_event);
	if (task->func >= SIM_SEND)
		return;
	/* forgotten neither when it is stopped nor when nothing is reported any more */
	if (task->api_event)
		last_coll = task->api_event;
	else
		sim_plugin_stop_again(last_coll);
}

void *sim_events_swap_group(void *event)
{
	void *before = group_event;

	group_event = event;
	return before;
}

void sim_events_group_end(void)
{
	sim_plugin_group_state(group_event, SIM_STATE_GROUP_END_START);
	sim_plugin_stop(group_event);
	group_event = NULL;
}

/* What the library itself counts in bytes. */
static bool is_in_bytes(enum sim_func func)
{
	return func == SIM_ALL_GATHER || func == SIM_BROADCAST;
}

static uint8_t n_channels(const struct sim_task *t)
{
	return t->func < SIM_SEND && t->count > 256 ? MAX_CHANNELS : 1;
}

static void *start_task(struct ncclComm *comm, const struct sim_task *t, void *group)
{
	struct sim_event_v5 e = { .parent = t->api_event, .rank = comm->rank };

	if (t->func < SIM_SEND) {
		e.type = SIM_EVENT_COLL;
		e.coll.seq = t->seq;
		e.coll.func = func_name(t->func);
		e.coll.send = t->send;
		e.coll.recv = t->recv;
		e.coll.count = is_in_bytes(t->func) ? t->count * sim_type_bytes(t->type) : t->count;
		e.coll.root = t->root;
		e.coll.type = type_name(is_in_bytes(t->func) ? ncclInt8 : t->type);
		e.coll.n_channels = n_channels(t);
		e.coll.n_warps = 8;
		e.coll.algo = t->count > 4096 ? "RING" : "TREE";
		e.coll.proto = t->count > 256 ? "SIMPLE" : "LL";
		e.coll.group = group;
	} else {
		e.type = SIM_EVENT_P2P;
		e.p2p.func = func_name(t->func);
		e.p2p.buffer = t->func == SIM_RECV ? t->recv : (void *)(uintptr_t)t->send;
		e.p2p.type = type_name(t->type);
		e.p2p.count = t->count;
		e.p2p.peer = t->root;
		e.p2p.n_channels = 1;
		e.p2p.group = group;
	}
	return start(comm, &e);
}

struct sim_notices *sim_events_launch(struct sim_launch *launch)
{
	struct ncclComm *comm = launch->comm;
	struct sim_event_v5 e = { .type = SIM_EVENT_GROUP,
				  .parent = group_event,
				  .rank = comm->rank };
	struct sim_notices *notices;

	if (!comm->profiler || !sim_plugin_wants(SIM_EVENT_GROUP | SIM_EVENT_KERNEL_LAUNCH | TASKS))
		return NULL;
	notices = calloc(1, sizeof(*notices));
	if (notices)
		notices->tasks = calloc((1 + MAX_CHANNELS) * launch->tasks.n, sizeof(void *));
	if (notices)
		notices->n_channels = calloc(launch->tasks.n, 1);
	if (!notices || !notices->tasks || !notices->n_channels)
		abort();
	notices->refs = 2;
	notices->comm = comm;
	notices->n = launch->tasks.n;
	notices->channels = notices->tasks + notices->n;
	if (sim_plugin_wants(SIM_EVENT_GROUP | TASKS))
		notices->group = start(comm, &e);
	for (size_t i = 0; i < notices->n && sim_plugin_wants(TASKS); i++) {
		if (launch->tasks.list[i].channels)
			notices->n_channels[i] = n_channels(&launch->tasks.list[i]);
		notices->tasks[i] = start_task(comm, &launch->tasks.list[i], notices->group);
	}
	e.type = SIM_EVENT_KERNEL_LAUNCH;
	e.kernel_launch.stream = launch->stream;
	if (sim_plugin_wants(SIM_EVENT_KERNEL_LAUNCH))
		notices->launch = start(comm, &e);
	sim_comm_keep(comm);
	atomic_fetch_add(&comm->unreported, 1);
	launch->notices = notices;
	return notices;
}

static void end_notices(struct sim_notices *notices);

bool sim_events_at_each_launch(const struct sim_launch *launch)
{
	bool asked = false;

	for (size_t i = 0; i < launch->tasks.n; i++)
		asked |= launch->tasks.list[i].channels;
	return launch->captured && asked;
}

void sim_events_replay(void *arg)
{
	struct sim_launch *launch = arg;

	sim_events_launched(sim_events_launch(launch));
}

void sim_events_capture(struct sim_launch *launch)
{
	struct sim_notices *notices = sim_events_launch(launch);

	launch->notices = NULL;
	sim_events_launched(notices);
	if (notices)
		end_notices(notices);
}

static void drop(struct sim_notices *notices)
{
	if (atomic_fetch_sub(&notices->refs, 1) != 1)
		return;
	free(notices->tasks);
	free(notices->n_channels);
	free(notices);
}

void sim_events_launched(struct sim_notices *notices)
{
	if (!notices)
		return;
	sim_plugin_stop(notices->launch);
	for (size_t i = 0; i < notices->n; i++)
		sim_plugin_stop(notices->tasks[i]);
	sim_plugin_stop(notices->group);
	drop(notices);
}

static void end_notices(struct sim_notices *notices)
{
	struct ncclComm *comm = notices->comm;

	drop(notices);
	sim_comm_less(&comm->unreported);
	sim_comm_drop(comm);
}

/* The first channel begins with the kernel, and the last one ends with it. */
static void notify_channel(struct sim_notices *notices, size_t task, int channel, uint64_t ns,
			   bool ends)
{
	struct ncclComm *comm = notices->comm;
	void **handle = &notices->channels[task * MAX_CHANNELS + (size_t)channel];
	uint64_t late = (uint64_t)channel * CHANNEL_NS;
	uint64_t whole = ns - notices->start_ns;
	uint64_t part = whole / notices->n_channels[task] * (uint64_t)(channel + 1);
	struct sim_event_v5 e = { .type = SIM_EVENT_KERNEL_CH,
				  .parent = notices->tasks[task],
				  .rank = comm->rank };

	if (!ends) {
		e.kernel_ch.channel = (uint8_t)channel;
		e.kernel_ch.timer = gpu_timer(comm->device, ns + late);
		if (notices->tasks[task])
			*handle = start(comm, &e);
		return;
	}
	if (part < late || channel + 1 == notices->n_channels[task])
		part = whole;
	sim_plugin_state(*handle, SIM_STATE_KERNEL_CH_STOP,
			 gpu_timer(comm->device, notices->start_ns + part));
	sim_plugin_stop(*handle);
}

static void notify(const struct notice *n)
{
	struct sim_notices *notices = n->notices;

	if (!n->ends)
		notices->start_ns = n->due_ns;
	for (size_t i = 0; i < notices->n; i++)
		for (int channel = 0; channel < notices->n_channels[i]; channel++)
			notify_channel(notices, i, channel, n->due_ns, n->ends);
	if (n->ends)
		end_notices(notices);
}

/* The first of those that are due, or NULL after a sleep. With the lock. */
static struct notice *next_due(void)
{
	struct notice **first = &queue, *found;
	struct timespec until;

	for (struct notice **p = &queue; *p; p = &(*p)->next)
		if ((*p)->due_ns < (*first)->due_ns)
			first = p;
	found = *first;
	if (!found) {
		pthread_cond_wait(&changed, &lock);
		return NULL;
	}
	if (found->due_ns > sim_driver()->simNow()) {
		until.tv_sec = (time_t)(found->due_ns / 1000000000u);
		until.tv_nsec = (long)(found->due_ns % 1000000000u);
		pthread_cond_timedwait(&changed, &lock, &until);
		return NULL;
	}
	*first = found->next;
	return found;
}

static void *service(void *arg)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		struct notice *n = next_due();

		if (!n)
			continue;
		pthread_mutex_unlock(&lock);
		notify(n);
		free(n);
		pthread_mutex_lock(&lock);
	}
	return arg;
}

static void start_service(void)
{
	pthread_condattr_t attr;
	pthread_t thread;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&changed, &attr);
	pthread_condattr_destroy(&attr);
	if (pthread_create(&thread, NULL, service, NULL))
		abort();
	pthread_detach(thread);
}

static void post(struct sim_notices *notices, uint64_t ns, bool ends)
{
	struct notice *n = calloc(1, sizeof(*n));
	struct notice **last = &queue;

	if (!n)
		abort();
	*n = (struct notice){ notices, ns, ends, NULL };
	pthread_once(&once, start_service);
	pthread_mutex_lock(&lock);
	while (*last)
		last = &(*last)->next;
	*last = n;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

void sim_events_kernel_start(struct sim_launch *launch, uint64_t ns)
{
	if (launch->notices)
		post(launch->notices, ns, false);
}

void sim_events_kernel_end(struct sim_launch *launch, uint64_t ns)
{
	if (launch->notices)
		post(launch->notices, ns, true);
	launch->notices = NULL;
}

void sim_events_kernel_gone(struct sim_launch *launch)
{
	if (launch->notices)
		end_notices(launch->notices);
	launch->notices = NULL;
}
