/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/nccl_plugin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/nccl_log.h"

static const struct sim_profiler_v5 *v5;
static const struct sim_profiler_v4 *v4;
static int mask; /* the plugin keeps its address and writes it when it likes */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *open_library(const char *told)
{
	char name[512];
	void *library;

	if (told && !strcmp(told, "STATIC_PLUGIN"))
		return dlopen(NULL, RTLD_NOW | RTLD_LOCAL);
	library = dlopen(told ? told : "libnccl-profiler.so", RTLD_NOW | RTLD_LOCAL);
	if (library || !told)
		return library;
	snprintf(name, sizeof(name), "libnccl-profiler-%s.so", told);
	return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static void load(void)
{
	const char *told = getenv("NCCL_PROFILER_PLUGIN");
	void *library;

	if (told && !*told)
		told = NULL;
	if (told && !strcmp(told, "none"))
		return;
	library = open_library(told);
	if (!library) {
		if (told)
			sim_info(-1, "PROFILER/Plugin: Could not find: %s", told);
		return;
	}
	v5 = dlsym(library, "ncclProfiler_v5");
	v4 = v5 ? NULL : dlsym(library, "ncclProfiler_v4");
	if (!v5 && !v4) {
		sim_info(-1, "PROFILER/Plugin: no version that is known");
		dlclose(library);
		return;
	}
	sim_info(-1, "PROFILER/Plugin: Loaded %s (v%d)", v5 ? v5->name : v4->name, v5 ? 5 : 4);
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
	if (result)
		*context = NULL;
}

void sim_plugin_finalize(void *context)
{
	if (v5)
		v5->finalize(context);
	else if (v4)
		v4->finalize(context);
}

bool sim_plugin_wants(int types)
{
	return __atomic_load_n(&mask, __ATOMIC_RELAXED) & types;
}

static void *start_v4(void *context, const struct sim_event_v5 *e)
{
	struct sim_event_v4 old = { .type = (uint8_t)e->type,
				    .parent = e->parent,
				    .rank = e->rank };
	void *handle = NULL;

	if (e->type > UINT8_MAX) /* calls and launches, which it does not know */
		return NULL;
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
	return v4->start(context, &handle, &old) ? NULL : handle;
}

void *sim_plugin_start(void *context, const struct sim_event_v5 *event)
{
	struct sim_event_v5 own = *event;
	void *handle = NULL;

	if (v4)
		return start_v4(context, event);
	return v5->start(context, &handle, &own) ? NULL : handle;
}

void sim_plugin_state(void *handle, int state, uint64_t timer)
{
	union sim_event_state args = { .kernel_ch = { timer } };

	if (handle && v5)
		v5->state(handle, state, &args);
	else if (handle)
		v4->state(handle, state, &args);
}

void sim_plugin_stop(void *handle)
{
	if (handle && v5)
		v5->stop(handle);
	else if (handle)
		v4->stop(handle);
}
