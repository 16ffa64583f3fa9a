/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/nccl_events.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/sim/nccl_driver.h"
#include "tools/sim/nccl_plugin.h"

/* Those below which the others stand: they are told if any of the others is. */
#define TASKS (SIM_EVENT_COLL | SIM_EVENT_P2P | SIM_EVENT_KERNEL_CH)
#define CALLS (SIM_EVENT_COLL_API | SIM_EVENT_P2P_API | SIM_EVENT_KERNEL_LAUNCH | TASKS)

/* A launch's events: the thread that launches stops those of its own, the service those of the kernel: one for each
 * task, on its first channel. Freed by the last of the two. */
struct sim_told {
	_Atomic int refs;
	struct ncclComm *comm;
	void *group, *launch;
	size_t n;
	void **tasks, **channels;
};

/* The kernel's start or end. */
struct notice {
	struct sim_told *told;
	uint64_t due_ns;
	bool ends;
	struct notice *next;
};

static __thread void *group_event;

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

/* The GPU's own timer, as kernels read it: nanoseconds of the Unix epoch, in steps of 1024. */
static uint64_t gpu_timer(uint64_t ns)
{
	struct timespec real, mono;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	ns += (uint64_t)(real.tv_sec - mono.tv_sec) * 1000000000u;
	return (ns + (uint64_t)real.tv_nsec - (uint64_t)mono.tv_nsec) & ~(uint64_t)1023;
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

void sim_events_call(struct ncclComm *comm, struct sim_task *task, const char *name, bool message,
		     CUstream stream)
{
	struct sim_event_v5 e = { .rank = comm->rank };

	if (!comm->profiler || !sim_plugin_wants(SIM_EVENT_GROUP_API | CALLS))
		return;
	if (!group_event) {
		e.type = SIM_EVENT_GROUP_API;
		e.group_api.depth = 1;
		group_event = sim_plugin_start(comm->profiler, &e);
	}
	if (!sim_plugin_wants(CALLS))
		return;
	memset(&e, 0, sizeof(e));
	e.rank = comm->rank;
	e.parent = group_event;
	e.type = message ? SIM_EVENT_P2P_API : SIM_EVENT_COLL_API;
	if (message) {
		e.p2p_api.func = name;
		e.p2p_api.count = task->count;
		e.p2p_api.type = type_name(task->type);
		e.p2p_api.stream = stream;
	} else {
		e.coll_api.func = name;
		e.coll_api.count = task->count;
		e.coll_api.type = type_name(task->type);
		e.coll_api.root = task->root;
		e.coll_api.stream = stream;
	}
	task->api_event = sim_plugin_start(comm->profiler, &e);
}

void sim_events_return(struct sim_task *task)
{
	sim_plugin_stop(task->api_event);
}

void *sim_events_swap_group(void *event)
{
	void *before = group_event;

	group_event = event;
	return before;
}

void sim_events_group_end(void)
{
	sim_plugin_stop(group_event);
	group_event = NULL;
}

static void *start_task(const struct ncclComm *comm, const struct sim_task *t, void *group)
{
	struct sim_event_v5 e = { .parent = t->api_event, .rank = comm->rank };

	if (t->func < SIM_SEND) {
		e.type = SIM_EVENT_COLL;
		e.coll.seq = t->seq;
		e.coll.func = func_name(t->func);
		e.coll.send = t->send;
		e.coll.recv = t->recv;
		e.coll.count = t->count;
		e.coll.root = t->root;
		e.coll.type = type_name(t->type);
		e.coll.n_channels = e.coll.n_warps = 1;
		e.coll.algo = "RING";
		e.coll.proto = "SIMPLE";
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
	return sim_plugin_start(comm->profiler, &e);
}

struct sim_told *sim_events_launch(struct sim_launch *launch)
{
	struct ncclComm *comm = launch->comm;
	struct sim_event_v5 e = { .type = SIM_EVENT_GROUP,
				  .parent = group_event,
				  .rank = comm->rank };
	struct sim_told *told;

	if (!comm->profiler || !sim_plugin_wants(SIM_EVENT_GROUP | SIM_EVENT_KERNEL_LAUNCH | TASKS))
		return NULL;
	told = calloc(1, sizeof(*told));
	if (told)
		told->tasks = calloc(2 * launch->tasks.n, sizeof(void *));
	if (!told || !told->tasks)
		abort();
	told->refs = 2;
	told->comm = comm;
	told->n = launch->tasks.n;
	told->channels = told->tasks + told->n;
	if (sim_plugin_wants(SIM_EVENT_GROUP | TASKS))
		told->group = sim_plugin_start(comm->profiler, &e);
	for (size_t i = 0; i < told->n && sim_plugin_wants(TASKS); i++)
		told->tasks[i] = start_task(comm, &launch->tasks.list[i], told->group);
	e.type = SIM_EVENT_KERNEL_LAUNCH;
	e.kernel_launch.stream = launch->stream;
	if (sim_plugin_wants(SIM_EVENT_KERNEL_LAUNCH))
		told->launch = sim_plugin_start(comm->profiler, &e);
	sim_comm_keep(comm);
	atomic_fetch_add(&comm->untold, 1);
	launch->told = told;
	return told;
}

static void drop(struct sim_told *told)
{
	if (atomic_fetch_sub(&told->refs, 1) != 1)
		return;
	free(told->tasks);
	free(told);
}

void sim_events_launched(struct sim_told *told)
{
	if (!told)
		return;
	sim_plugin_stop(told->launch);
	for (size_t i = 0; i < told->n; i++)
		sim_plugin_stop(told->tasks[i]);
	sim_plugin_stop(told->group);
	drop(told);
}

static void kernel_is_told(struct sim_told *told)
{
	struct ncclComm *comm = told->comm;

	drop(told);
	sim_comm_less(&comm->untold);
	sim_comm_drop(comm);
}

static void tell(const struct notice *n)
{
	struct sim_told *told = n->told;
	struct ncclComm *comm = told->comm;
	uint64_t timer = gpu_timer(n->due_ns);

	for (size_t i = 0; i < told->n; i++) {
		struct sim_event_v5 e = { .type = SIM_EVENT_KERNEL_CH,
					  .parent = told->tasks[i],
					  .rank = comm->rank,
					  .kernel_ch = { 0, timer } };

		if (n->ends) {
			sim_plugin_state(told->channels[i], SIM_STATE_KERNEL_CH_STOP, timer);
			sim_plugin_stop(told->channels[i]);
		} else if (sim_plugin_wants(SIM_EVENT_KERNEL_CH) && told->tasks[i]) {
			told->channels[i] = sim_plugin_start(comm->profiler, &e);
		}
	}
	if (n->ends)
		kernel_is_told(told);
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
		tell(n);
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

static void post(struct sim_told *told, uint64_t ns, bool ends)
{
	struct notice *n = calloc(1, sizeof(*n));
	struct notice **last = &queue;

	if (!n)
		abort();
	*n = (struct notice){ told, ns, ends, NULL };
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
	if (launch->told)
		post(launch->told, ns, false);
}

void sim_events_kernel_end(struct sim_launch *launch, uint64_t ns)
{
	if (launch->told)
		post(launch->told, ns, true);
	launch->told = NULL;
}

void sim_events_kernel_gone(struct sim_launch *launch)
{
	if (launch->told)
		kernel_is_told(launch->told);
	launch->told = NULL;
}
