/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_profiler.h — NCCL's interface to a profiler plugin, declared by ourselves: a plugin exports
 * one structure of functions for each version of the interface that it knows, and NCCL takes the
 * newest common one.
 *
 *     v3  NCCL 2.26   `init` does not report the communicator; events of collectives and messages
 * do; no GPU times v4  NCCL 2.27   `init` reports it; kernels carry the GPU's globaltimer v5
 * NCCL 2.28   events of the calls themselves, above those of the work; `type` is 64 bits instead of
 * 8 v6  NCCL 2.29   copy-engine collectives
 *
 * Structures of v5 are beginnings of those of v6, so a reader needs only one of the two. Handles
 * and contexts are the plugin's own and opaque to NCCL; NULL is none. Facts of the interface only;
 * docs/dev/ARCHITECTURE.md says what we do with them. A handle may be stopped twice (NCCL keeps the
 * last one of a collective's call).
 */
#ifndef CT_INTERPOSE_ABI_NCCL_PROFILER_H
#define CT_INTERPOSE_ABI_NCCL_PROFILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "interpose/abi/nccl.h"

/* Event types, bits of the activation mask. A type includes those above it. */
enum {
	NCCL_PROFILE_GROUP = 1 << 0, /* one kernel plan */
	NCCL_PROFILE_COLL = 1 << 1,
	NCCL_PROFILE_P2P = 1 << 2,
	NCCL_PROFILE_KERNEL_CH = 1 << 6, /* one channel of a kernel */
	NCCL_PROFILE_GROUP_API = 1 << 8, /* this and what follows: v5 */
	NCCL_PROFILE_COLL_API = 1 << 9,
	NCCL_PROFILE_P2P_API = 1 << 10,
	NCCL_PROFILE_KERNEL_LAUNCH = 1 << 11,
};

/* The only state that we look at: a channel's kernel has stopped. */
#define NCCL_PROFILER_KERNEL_CH_STOP 22

typedef void (*nccl_profiler_log_fn)(int level, unsigned long flags, const char *file, int line,
				     const char *format, ...);

struct nccl_profiler_event_v3 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			const char *comm_name;
			uint64_t comm_hash;
			uint64_t seq; /* of its function on its communicator */
			const char *func;
			const void *send;
			void *recv;
			size_t count;
			int root;
			const char *type;
			uint8_t n_max_channels;
			uint8_t n_warps;
			const char *algo;
			const char *proto;
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

struct nccl_profiler_event_v4 {
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
			uint8_t n_channels;
			uint8_t n_warps;
			const char *algo;
			const char *proto;
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
			uint64_t timer; /* globaltimer, ns */
		} kernel_ch;
	};
};

/* And v6, which has more members of the union than are declared here. */
struct nccl_profiler_event_v5 {
	uint64_t type;
	void *parent;
	int rank; /* of calls: 0 before 2.30 */
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
			const char
				*func; /* Send or Recv, also of an all-to-all, gather or scatter */
			size_t count;
			const char *type;
			void *stream;
			bool captured;
		} p2p_api;
		struct {
			uint64_t seq;
			const char *func;
			const void *send;
			void *recv;
			size_t count; /* bytes (type ncclInt8) of an all-gather or broadcast, in all
					 versions */
			int root;
			const char *type;
			uint8_t n_channels;
			uint8_t n_warps;
			const char *algo;
			const char *proto;
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
	};
};

/* NULL for states that have none. */
union nccl_profiler_state {
	struct {
		uint64_t timer;
	} kernel_ch;
};

struct nccl_profiler_v3 {
	const char *name;
	ncclResult_t (*init)(void **context, int *mask);
	ncclResult_t (*start)(void *context, void **handle, struct nccl_profiler_event_v3 *event);
	ncclResult_t (*stop)(void *handle);
	ncclResult_t (*state)(void *handle, int state, union nccl_profiler_state *args);
	ncclResult_t (*finalize)(void *context);
};

struct nccl_profiler_v4 {
	const char *name;
	ncclResult_t (*init)(void **context, int *mask, const char *comm_name, uint64_t comm,
			     int n_nodes, int n_ranks, int rank, nccl_profiler_log_fn log);
	ncclResult_t (*start)(void *context, void **handle, struct nccl_profiler_event_v4 *event);
	ncclResult_t (*stop)(void *handle);
	ncclResult_t (*state)(void *handle, int state, union nccl_profiler_state *args);
	ncclResult_t (*finalize)(void *context);
};

/* And v6. */
struct nccl_profiler_v5 {
	const char *name;
	ncclResult_t (*init)(void **context, uint64_t comm, int *mask, const char *comm_name,
			     int n_nodes, int n_ranks, int rank, nccl_profiler_log_fn log);
	ncclResult_t (*start)(void *context, void **handle, struct nccl_profiler_event_v5 *event);
	ncclResult_t (*stop)(void *handle);
	ncclResult_t (*state)(void *handle, int state, union nccl_profiler_state *args);
	ncclResult_t (*finalize)(void *context);
};

#define NCCL_PROFILER_AT(type, member, offset)                                                     \
	_Static_assert(offsetof(struct type, member) == (offset), #type "." #member)

NCCL_PROFILER_AT(nccl_profiler_event_v3, parent, 8);
NCCL_PROFILER_AT(nccl_profiler_event_v3, rank, 16);
NCCL_PROFILER_AT(nccl_profiler_event_v3, coll.comm_hash, 32);
NCCL_PROFILER_AT(nccl_profiler_event_v3, coll.func, 48);
NCCL_PROFILER_AT(nccl_profiler_event_v3, coll.count, 72);
NCCL_PROFILER_AT(nccl_profiler_event_v3, coll.root, 80);
NCCL_PROFILER_AT(nccl_profiler_event_v3, coll.n_max_channels, 96);
NCCL_PROFILER_AT(nccl_profiler_event_v3, coll.n_warps, 97);
NCCL_PROFILER_AT(nccl_profiler_event_v3, coll.proto, 112);
NCCL_PROFILER_AT(nccl_profiler_event_v3, p2p.peer, 72);
NCCL_PROFILER_AT(nccl_profiler_event_v4, coll.seq, 24);
NCCL_PROFILER_AT(nccl_profiler_event_v4, coll.count, 56);
NCCL_PROFILER_AT(nccl_profiler_event_v4, coll.root, 64);
NCCL_PROFILER_AT(nccl_profiler_event_v4, coll.type, 72);
NCCL_PROFILER_AT(nccl_profiler_event_v4, coll.n_channels, 80);
NCCL_PROFILER_AT(nccl_profiler_event_v4, coll.algo, 88);
NCCL_PROFILER_AT(nccl_profiler_event_v4, p2p.peer, 56);
NCCL_PROFILER_AT(nccl_profiler_event_v4, p2p.n_channels, 60);
NCCL_PROFILER_AT(nccl_profiler_event_v4, kernel_ch.timer, 32);
NCCL_PROFILER_AT(nccl_profiler_event_v5, parent, 8);
NCCL_PROFILER_AT(nccl_profiler_event_v5, rank, 16);
NCCL_PROFILER_AT(nccl_profiler_event_v5, coll_api.root, 48);
NCCL_PROFILER_AT(nccl_profiler_event_v5, coll_api.stream, 56);
NCCL_PROFILER_AT(nccl_profiler_event_v5, coll_api.captured, 64);
NCCL_PROFILER_AT(nccl_profiler_event_v5, p2p_api.stream, 48);
NCCL_PROFILER_AT(nccl_profiler_event_v5, p2p_api.captured, 56);
NCCL_PROFILER_AT(nccl_profiler_event_v5, coll.n_channels, 80);
NCCL_PROFILER_AT(nccl_profiler_event_v5, coll.group, 104);
NCCL_PROFILER_AT(nccl_profiler_event_v5, p2p.group, 64);
NCCL_PROFILER_AT(nccl_profiler_event_v5, kernel_ch.timer, 32);

#endif
