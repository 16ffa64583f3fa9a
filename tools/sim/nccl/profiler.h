/* SPDX-License-Identifier: Apache-2.0 */
/* profiler.h — the profiler interface of NCCL: a plugin exports a structure of functions,
 * ncclProfiler_v3 to ncclProfiler_v6, and gets events. Facts of the interface, declared by
 * ourselves and apart from those of the tracer, so that one wrong offset shows.
 */
#ifndef CT_TOOLS_SIM_NCCL_PROFILER_H
#define CT_TOOLS_SIM_NCCL_PROFILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "interpose/abi/nccl.h"

enum {
	SIM_EVENT_GROUP = 1,
	SIM_EVENT_COLL = 2,
	SIM_EVENT_P2P = 4,
	SIM_EVENT_KERNEL_CH = 0x40,
	SIM_EVENT_GROUP_API = 0x100, /* this and what follows: version 5 */
	SIM_EVENT_COLL_API = 0x200,
	SIM_EVENT_P2P_API = 0x400,
	SIM_EVENT_KERNEL_LAUNCH = 0x800,
	SIM_EVENT_CE_COLL = 0x1000, /* version 6 */
};

#define SIM_STATE_KERNEL_CH_STOP 22
#define SIM_STATE_GROUP_START_STOP 23 /* these two without arguments */
#define SIM_STATE_GROUP_END_START 24

typedef void (*sim_profiler_log)(int level, unsigned long flags, const char *file, int line,
				 const char *format, ...);

struct sim_event_v5 {
	uint64_t type;
	void *parent;
	int rank;
	union {
		struct {
			bool captured;
			int depth;
		} group_api;
		struct {
			const char *func;
			size_t count;
			const char *type;
			int root;
			void *stream;
			bool captured;
		} coll_api;
		struct {
			const char *func;
			size_t count;
			const char *type;
			void *stream;
			bool captured;
		} p2p_api;
		struct {
			void *stream;
		} kernel_launch;
		struct {
			uint64_t seq;
			const char *func;
			const void *send;
			void *recv;
			size_t count;
			int root;
			const char *type;
			uint8_t n_channels, n_warps;
			const char *algo, *proto;
			void *group;
		} coll;
		struct {
			const char *func;
			void *buffer;
			const char *type;
			size_t count;
			int peer;
			uint8_t n_channels;
			void *group;
		} p2p;
		struct {
			uint8_t channel;
			uint64_t timer;
		} kernel_ch;
		struct {
			pid_t pid;
			uint8_t channel;
			int peer, n_steps, chunk_bytes, is_send;
		} proxy_op; /* the longest besides coll; not reported here */
	};
};

/* Longer than version 5 by what a copy-engine collective says. None is reported here. */
struct sim_event_v6 {
	struct sim_event_v5 v5;
	uint8_t more[32];
};

struct sim_event_v3 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			const char *comm_name;
			uint64_t comm_hash;
			uint64_t seq;
			const char *func;
			const void *send;
			void *recv;
			size_t count;
			int root;
			const char *type;
			uint8_t n_max_channels, n_warps;
			const char *algo, *proto;
		} coll;
		struct {
			const char *comm_name;
			uint64_t comm_hash;
			const char *func;
			void *buffer;
			const char *type;
			size_t count;
			int peer;
		} p2p;
		struct {
			uint8_t channel;
		} kernel_ch;
	};
};

struct sim_event_v4 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			uint64_t seq;
			const char *func;
			const void *send;
			void *recv;
			size_t count;
			int root;
			const char *type;
			uint8_t n_channels, n_warps;
			const char *algo, *proto;
		} coll;
		struct {
			const char *func;
			void *buffer;
			const char *type;
			size_t count;
			int peer;
			uint8_t n_channels;
		} p2p;
		struct {
			uint8_t channel;
			uint64_t timer;
		} kernel_ch;
	};
};

union sim_event_state {
	struct {
		uint64_t timer;
	} kernel_ch;
	size_t bytes;
	void *data;
};

struct sim_profiler_v5 {
	const char *name;
	ncclResult_t (*init)(void **context, uint64_t comm, int *mask, const char *comm_name,
			     int n_nodes, int n_ranks, int rank, sim_profiler_log log);
	ncclResult_t (*start)(void *context, void **handle, struct sim_event_v5 *event);
	ncclResult_t (*stop)(void *handle);
	ncclResult_t (*state)(void *handle, int state, union sim_event_state *args);
	ncclResult_t (*finalize)(void *context);
};

/* Version 6 has the functions of version 5. */
struct sim_profiler_v3 {
	const char *name;
	ncclResult_t (*init)(void **context, int *mask);
	ncclResult_t (*start)(void *context, void **handle, struct sim_event_v3 *event);
	ncclResult_t (*stop)(void *handle);
	ncclResult_t (*state)(void *handle, int state, union sim_event_state *args);
	ncclResult_t (*finalize)(void *context);
};

struct sim_profiler_v4 {
	const char *name;
	ncclResult_t (*init)(void **context, int *mask, const char *comm_name, uint64_t comm,
			     int n_nodes, int n_ranks, int rank, sim_profiler_log log);
	ncclResult_t (*start)(void *context, void **handle, struct sim_event_v4 *event);
	ncclResult_t (*stop)(void *handle);
	ncclResult_t (*state)(void *handle, int state, union sim_event_state *args);
	ncclResult_t (*finalize)(void *context);
};

#endif
