/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/nccl/plugin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/nccl/driver.h"
#include "tools/sim/nccl/log.h"

/* At most one of them; v5 is also version 6. */
static const struct sim_profiler_v5 *v5;
static const struct sim_profiler_v4 *v4;
static const struct sim_profiler_v3 *v3;
static int version;
static int mask; /* the plugin keeps its address and writes it when it likes */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic int contexts; /* not finalized */
static _Atomic long open_events;

static void *open_library(const char *wanted)
{
	char name[512];
	void *library;

	if (wanted && !strcmp(wanted, "STATIC_PLUGIN"))
		return dlopen(NULL, RTLD_NOW | RTLD_LOCAL);
	library = dlopen(wanted ? wanted : "libnccl-profiler.so", RTLD_NOW | RTLD_LOCAL);
	if (library || !wanted)
		return library;
	snprintf(name, sizeof(name), "libnccl-profiler-%s.so", wanted);
	return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

/* The newest version that both know; SIM_PROFILER_VERSION says which is the newest that this
 * library knows. */
static const char *find_version(void *library)
{
	const char *newest = getenv("SIM_PROFILER_VERSION");
	const void *found = NULL;
	char symbol[32];

	for (version = newest ? atoi(newest) : 6; version >= 3 && !found; version--) {
		snprintf(symbol, sizeof(symbol), "ncclProfiler_v%d", version);
		found = dlsym(library, symbol);
	}
	if (!found)
		return NULL;
	version++;
	if (version >= 5)
		v5 = found;
	else if (version == 4)
		v4 = found;
	else
		v3 = found;
	return *(const char *const *)found; /* the first member of all */
}

static void load(void)
{
	const char *wanted = getenv("NCCL_PROFILER_PLUGIN");
	const char *name;
	void *library;

	if (wanted && !*wanted)
		wanted = NULL;
	if (wanted && !strcmp(wanted, "none"))
		return;
	library = open_library(wanted);
	if (!library) {
		if (wanted)
			sim_info(-1, "PROFILER/Plugin: Could not find: %s", wanted);
		return;
	}
	name = find_version(library);
	if (!name) {
		sim_info(-1, "PROFILER/Plugin: no version that is known");
		dlclose(library);
		return;
	}
	sim_info(-1, "PROFILER/Plugin: Loaded %s (v%d)", name, version);
}

static void plugin_log(int level, unsigned long flags, const char *file, int line,
		       const char *format, ...) __attribute__((format(printf, 5, 6)));

static void plugin_log(int level, unsigned long flags, const char *file, int line,
		       const char *format, ...)
{
	char text[512];
	va_list args;

	(void)flags, (void)line;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (level == 2)
		sim_warn("%s : %s", file, text);
	else if (level == 3)
		sim_info(-1, "%s", text);
}

static void blame(const char *why)
{
	sim_driver()->simBlame("profiler plugin", why);
}

/* NCCL forwards its results, or not, depending on the version: only success is safe. */
static void check(ncclResult_t result, const char *why)
{
	if (result)
		blame(why);
}

void sim_plugin_init(void **context, uint64_t comm, const char *name, int n_nodes, int n_ranks,
		     int rank)
{
	ncclResult_t result = ncclSuccess;

	*context = NULL;
	pthread_once(&once, load);
	if (v5)
		result = v5->init(context, comm, &mask, name, n_nodes, n_ranks, rank, plugin_log);
	else if (v4)
		result = v4->init(context, &mask, name, comm, n_nodes, n_ranks, rank, plugin_log);
	else if (v3)
		result = v3->init(context, &mask);
	check(result, "init has failed");
	if (result)
		*context = NULL;
	if (*context)
		atomic_fetch_add(&contexts, 1);
}

void sim_plugin_finalize(void *context)
{
	if (v5)
		check(v5->finalize(context), "finalize has failed");
	else if (v4)
		check(v4->finalize(context), "finalize has failed");
	else
		check(v3->finalize(context), "finalize has failed");
	/* what was begun on behalf of any communicator has ended with the last one */
	if (atomic_fetch_sub(&contexts, 1) == 1 && atomic_load(&open_events))
		sim_driver()->simBlame("NCCL", "profiler events were not stopped, or twice");
}

int sim_plugin_version(void)
{
	return version;
}

bool sim_plugin_wants(int types)
{
	return __atomic_load_n(&mask, __ATOMIC_RELAXED) & types;
}

static void *start_v3(void *context, const struct sim_event_v5 *e, const char *name, uint64_t hash)
{
	struct sim_event_v3 old = { .type = (uint8_t)e->type,
				    .parent = e->parent,
				    .rank = e->rank };
	void *handle = NULL;

	if (e->type == SIM_EVENT_COLL) {
		old.parent = e->coll.group;
		old.coll.comm_name = name;
		old.coll.comm_hash = hash;
		old.coll.seq = e->coll.seq;
		old.coll.func = e->coll.func;
		old.coll.send = e->coll.send;
		old.coll.recv = e->coll.recv;
		old.coll.count = e->coll.count;
		old.coll.root = e->coll.root;
		old.coll.type = e->coll.type;
		old.coll.n_max_channels = e->coll.n_channels;
		old.coll.n_warps = e->coll.n_warps;
		old.coll.algo = e->coll.algo;
		old.coll.proto = e->coll.proto;
	} else if (e->type == SIM_EVENT_P2P) {
		old.parent = e->p2p.group;
		old.p2p.comm_name = name;
		old.p2p.comm_hash = hash;
		old.p2p.func = e->p2p.func;
		old.p2p.buffer = e->p2p.buffer;
		old.p2p.type = e->p2p.type;
		old.p2p.count = e->p2p.count;
		old.p2p.peer = e->p2p.peer;
	} else if (e->type == SIM_EVENT_KERNEL_CH) {
		old.kernel_ch.channel = e->kernel_ch.channel;
	}
	check(v3->start(context, &handle, &old), "start has failed");
	return handle;
}

static void *start_v4(void *context, const struct sim_event_v5 *e)
{
	struct sim_event_v4 old = { .type = (uint8_t)e->type,
				    .parent = e->parent,
				    .rank = e->rank };
	void *handle = NULL;

	switch (e->type) {
	case SIM_EVENT_COLL:
		old.parent = e->coll.group;
		old.coll.seq = e->coll.seq;
		old.coll.func = e->coll.func;
		old.coll.send = e->coll.send;
		old.coll.recv = e->coll.recv;
		old.coll.count = e->coll.count;
		old.coll.root = e->coll.root;
		old.coll.type = e->coll.type;
		old.coll.n_channels = e->coll.n_channels;
		old.coll.n_warps = e->coll.n_warps;
		old.coll.algo = e->coll.algo;
		old.coll.proto = e->coll.proto;
		break;
	case SIM_EVENT_P2P:
		old.parent = e->p2p.group;
		old.p2p.func = e->p2p.func;
		old.p2p.buffer = e->p2p.buffer;
		old.p2p.type = e->p2p.type;
		old.p2p.count = e->p2p.count;
		old.p2p.peer = e->p2p.peer;
		old.p2p.n_channels = e->p2p.n_channels;
		break;
	case SIM_EVENT_KERNEL_CH:
		old.kernel_ch.channel = e->kernel_ch.channel;
		old.kernel_ch.timer = e->kernel_ch.timer;
		break;
	default:
		break;
	}
	check(v4->start(context, &handle, &old), "start has failed");
	return handle;
}

static void *start_v5(void *context, const struct sim_event_v5 *e)
{
	/* bytes after a shorter event must not be read */
	struct sim_event_v6 own = { .v5 = *e };
	void *handle = NULL;

	memset(own.more, 0xa5, sizeof(own.more));
	check(v5->start(context, &handle, &own.v5), "start has failed");
	return handle;
}

void *sim_plugin_start(void *context, const struct sim_event_v5 *event, const char *comm_name,
		       uint64_t comm)
{
	void *handle;

	if (version < 5 && event->type > UINT8_MAX) /* calls and launches, which it does not know */
		return NULL;
	if (v5)
		handle = start_v5(context, event);
	else if (v4)
		handle = start_v4(context, event);
	else
		handle = start_v3(context, event, comm_name, comm);
	if (handle)
		atomic_fetch_add(&open_events, 1);
	return handle;
}

static void pass_state(void *handle, int state, union sim_event_state *args)
{
	ncclResult_t result;

	if (v5)
		result = v5->state(handle, state, args);
	else if (v4)
		result = v4->state(handle, state, args);
	else
		result = v3->state(handle, state, args);
	check(result, "state has failed");
}

void sim_plugin_state(void *handle, int state, uint64_t timer)
{
	union sim_event_state args = { .kernel_ch = { timer } };

	/* version 3 does not get it */
	if (handle && version >= 4)
		pass_state(handle, state, &args);
}

void sim_plugin_group_state(void *handle, int state)
{
	if (handle)
		pass_state(handle, state, NULL);
}

void sim_plugin_stop(void *handle)
{
	if (!handle)
		return;
	atomic_fetch_sub(&open_events, 1);
	if (v5)
		check(v5->stop(handle), "stop has failed");
	else if (v4)
		check(v4->stop(handle), "stop has failed");
	else
		check(v3->stop(handle), "stop has failed");
}

void sim_plugin_stop_again(void *handle)
{
	if (handle && v5)
		check(v5->stop(handle), "stop has failed");
}
