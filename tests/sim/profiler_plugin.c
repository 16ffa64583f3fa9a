/* SPDX-License-Identifier: Apache-2.0 */
/* profiler_plugin.c — a profiler plugin that writes one line for each event to the file
 * PROFILER_LOG: its number, type, the number of the event that it stands below, and what it says.
 * It asks for all types, or for those of PROFILER_MASK. Built for each VERSION of the interface. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/sim/nccl/profiler.h"
#include "tools/sim/sim.h"

struct event {
	int number;
	unsigned type;
};

static FILE *out;
static _Atomic int n_events;

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#if VERSION == 6
typedef struct sim_event_v5 event_t;
typedef struct sim_profiler_v5 profiler_t;
#else
typedef struct PASTE(sim_event_v, VERSION) event_t;
typedef struct PASTE(sim_profiler_v, VERSION) profiler_t;
#endif

static void open_file(void)
{
	out = fopen(getenv("PROFILER_LOG"), "w");
}

/* Ranks come at once. */
static ncclResult_t open_log(void **context, int *mask)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const char *asked = getenv("PROFILER_MASK");

	pthread_once(&once, open_file);
	*context = out;
	__atomic_store_n(mask, asked ? (int)strtol(asked, NULL, 0) : 0xfff, __ATOMIC_RELAXED);
	return out ? ncclSuccess : ncclSystemError;
}

static ncclResult_t start(void *context, void **handle, event_t *e)
{
	struct event *mine = malloc(sizeof(*mine));
	const struct event *parent = e->parent;

	(void)context;
	*handle = mine;
	mine->number = ++n_events;
	mine->type = (unsigned)e->type;
	flockfile(out);
	fprintf(out, "%d start %#x below %d rank %d", mine->number, mine->type,
		parent ? parent->number : 0, e->rank);
	if (mine->type == SIM_EVENT_COLL)
		fprintf(out, " %s %zu %s seq %d group %d", e->coll.func, e->coll.count,
			e->coll.type, (int)e->coll.seq,
#if VERSION < 5
			0
#else
			((const struct event *)e->coll.group)->number
#endif
		);
#if VERSION >= 5
	if (mine->type == SIM_EVENT_COLL_API && e->coll_api.captured)
		fprintf(out, " captured");
#endif
	if (mine->type == SIM_EVENT_P2P)
		fprintf(out, " %s %zu to %d", e->p2p.func, e->p2p.count, e->p2p.peer);
#if VERSION > 3
	if (mine->type == SIM_EVENT_KERNEL_CH)
		fprintf(out, " at %llu", (unsigned long long)e->kernel_ch.timer);
#endif
	fprintf(out, "\n");
	funlockfile(out);
	return ncclSuccess;
}

static ncclResult_t stop(void *handle)
{
	const struct event *e = handle;

	fprintf(out, "%d stop %#x\n", e->number, e->type);
	return ncclSuccess;
}

static ncclResult_t state(void *handle, int what, union sim_event_state *args)
{
	const struct event *e = handle;

	if (args)
		fprintf(out, "%d state %d at %llu\n", e->number, what,
			(unsigned long long)args->kernel_ch.timer);
	else
		fprintf(out, "%d state %d\n", e->number, what);
	return ncclSuccess;
}

static ncclResult_t finalize(void *context)
{
	(void)context;
	fprintf(out, "finalize\n");
	fflush(out);
	return ncclSuccess;
}

#if VERSION == 3
static ncclResult_t init(void **context, int *mask)
{
	return open_log(context, mask);
}
#else
#if VERSION == 4
static ncclResult_t init(void **context, int *mask, const char *name, uint64_t comm, int n_nodes,
			 int n_ranks, int rank, sim_profiler_log log)
#else
static ncclResult_t init(void **context, uint64_t comm, int *mask, const char *name, int n_nodes,
			 int n_ranks, int rank, sim_profiler_log log)
#endif
{
	ncclResult_t result = open_log(context, mask);

	(void)log;
	if (!result)
		fprintf(out, "init %016llx %s nodes %d ranks %d rank %d\n",
			(unsigned long long)comm, name ? name : "-", n_nodes, n_ranks, rank);
	return result;
}
#endif

#define SYMBOL PASTE(ncclProfiler_v, VERSION)
SIM_EXPORT const profiler_t SYMBOL;
const profiler_t SYMBOL = { "test", init, start, stop, state, finalize };
