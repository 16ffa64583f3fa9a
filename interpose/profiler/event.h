/* SPDX-License-Identifier: Apache-2.0 */
/* event.h — NCCL's events for a plugin, in one form for all versions of the interface, and their
 * use.
 *
 * A communicator of the interface is an entry of a fixed pool. Everything may be called by any
 * thread; a communicator's calls and launches come one after the other. Nothing here fails, waits
 * or allocates; errno is kept.
 */
#ifndef CT_INTERPOSE_PROFILER_EVENT_H
#define CT_INTERPOSE_PROFILER_EVENT_H

#include "interpose/abi/nccl_profiler.h"
#include "interpose/comms.h"
#include "interpose/gpu/profiled.h"
#include "interpose/profiler/profiler.h"

struct ct_profiler_comm {
	_Atomic uint32_t taken; /* 2 when it is filled in */
	uint32_t gate;		/* gate word under which it was opened */
	uint32_t version;
	uint32_t name;	 /* string id */
	uint64_t hash;	 /* as in NCCL's event; 0: not reported */
	int32_t n_ranks; /* 0 not reported */
	int32_t rank;
	uint16_t device;		      /* + 1, 0 not known */
	uint8_t has_times;		      /* it asked for the channels of kernels */
	int *mask;			      /* NCCL's word that selects the events */
	_Atomic(struct ct_traced_comm *) own; /* of its ops that pass no wrapper */
	/* the launch that these ops go into: by the thread that calls */
	const void *group;
	uint32_t launch, profiled;
	struct ct_gpu_profiled_order order;
};

/* The members that a type has are filled in; NULL, 0: not reported. */
struct ct_profiler_event {
	uint32_t type; /* NCCL_PROFILE_... */
	int32_t peer;  /* or root; -1 none */
	void *parent;
	const char *comm_name;
	uint64_t comm_hash;
	int32_t rank;
	uint8_t captured, channels, warps;
	const char *func, *type_name, *algo, *proto;
	uint64_t count;
	uint64_t timer;
	void *stream;
};

/* fact: the first version that reports calls, above their launches. */
#define CT_PROFILER_CALLS_SINCE 5

/* code: in NCCL's word that selects the events: set by a copy of this library, for the one that
 * records. */
#define CT_PROFILER_HANDED_ON (1 << 30)

/* The arguments of `init`. `mask`: NCCL's word that selects the events. NULL: none are wanted. */
struct ct_profiler_open {
	uint32_t version;
	int32_t n_ranks, rank;
	uint64_t hash;
	const char *name;
	int *mask;
};
struct ct_profiler_comm *ct_profiler_open(const struct ct_profiler_open *what);
void ct_profiler_close(struct ct_profiler_comm *comm);

/* The handle, NULL if its end is of no interest. `comm` may be NULL. */
void *ct_profiler_start(struct ct_profiler_comm *comm, const struct ct_profiler_event *event);
void ct_profiler_stop(const void *handle);
void ct_profiler_kernel_stop(const void *handle, uint64_t timer);

/* ---- between the files of the plugin
 * --------------------------------------------------------------------------------- */

/* Whether the guard is held by a wrapper, or by us. */
enum ct_profiler_way { CT_PROFILER_OUT, CT_PROFILER_IN_WRAPPER, CT_PROFILER_BY_ITSELF };
enum ct_profiler_way ct_profiler_enter(const struct ct_profiler_comm *comm);
void ct_profiler_leave(enum ct_profiler_way way);

uint32_t ct_profiler_number(const struct ct_profiler_comm *comm);
struct ct_profiler_comm *ct_profiler_nth(uint32_t number);

/* Does NCCL report when its kernels run? */
int ct_profiler_has_times(const struct ct_profiler_comm *comm);

/* By the names that NCCL gives: trace/ops.def (0 unknown) and the string id of the call;
 * trace/dtypes.def. */
uint8_t ct_profiler_op(const char *func, uint16_t *call);
uint8_t ct_profiler_dtype(const char *name);
uint32_t ct_profiler_string(const char *text); /* of one of a few that come again and again */

/* Of calls that pass no wrapper (alone.c): the call, and what of it is launched. */
struct ct_profiler_says;
void *ct_profiler_alone_call(struct ct_profiler_comm *comm, const struct ct_profiler_event *event);
void *ct_profiler_alone_plan(struct ct_profiler_comm *comm);
int ct_profiler_alone_task(struct ct_profiler_comm *comm, const struct ct_profiler_event *event,
			   struct ct_profiler_says *task);
void ct_profiler_alone_stop(const void *handle, const struct ct_profiler_says *says);

#endif
