/* SPDX-License-Identifier: Apache-2.0 */
/* match.h — matches the ranks' records of the same operation.
 *
 * A hash over (communicator, sequence number), for point-to-point over (communicator, source,
 * destination, tag, sequence number). An instance is handed out and freed once all its members have
 * been seen, so memory follows the skew between the ranks' files, not the length of the run.
 * Incomplete instances (a rank without trace, dropped records) are handed out when memory is full
 * or at the end, oldest first. One thread. */
#ifndef CT_ANALYZER_MATCH_MATCH_H
#define CT_ANALYZER_MATCH_MATCH_H

#include <stddef.h>

#include "analyzer/base/chains.h"
#include "analyzer/model/comms.h"

struct ct_group;
struct ct_site;

/* One rank's part of an instance. */
struct ct_member {
	uint64_t enter_ns;	   /* of its call */
	uint64_t start_ns, end_ns; /* host's CLOCK_MONOTONIC; 0 = not measured */
	uint64_t count;		   /* UINT64_MAX: unknown, like the bytes */
	uint64_t bytes;	  /* of the whole operation by this member's count (ct_op_total_bytes) */
	uint64_t free_ns; /* time without communication right before its start; UINT64_MAX unknown */
	uint64_t asked_ns; /* entry of the call in which it ended; end_ns: no call waited for it; 0
			      unknown, or on a GPU */
	struct ct_group *group; /* of the launch that it shares with others; NULL: alone in it */
	const struct ct_site *site; /* call site; NULL unknown */
	uint32_t start_err_ns, end_err_ns;
	uint32_t slot;
	uint32_t index; /* rank in the communicator; point-to-point: 0 sender, 1 receiver */
	int32_t root;	/* -1 none */
	uint32_t tid;
	uint32_t stream; /* 0 none */
	uint8_t op, dtype, redop;
	uint8_t varying;  /* counts may differ between members: a v-collective */
	uint8_t state;	  /* enum ct_op_state */
	uint8_t leads;	  /* the first collective of its group, by which that is judged */
	uint8_t captured; /* captured into a graph: it has no times, and no data has moved */
	uint8_t on_gpu;	  /* it starts when a stream reaches it */
	uint8_t shared;	  /* its call completed other operations as well: it may have ended before
			     end_ns */
	uint8_t alone;	  /* it has no other member */
	uint8_t posted;	  /* nonblocking, and asked_ns is known: it may have ended before end_ns */
};

/* Are both its times known? */
static inline int ct_member_is_timed(const struct ct_member *m)
{
	return m->start_ns && m->end_ns && m->end_ns >= m->start_ns;
}

struct ct_instance {
	struct ct_link by_key;
	struct ct_comm *comm;
	uint64_t seq;
	int32_t src, dst; /* point-to-point; src -1: a collective, CT_SRC_EXCHANGE: see
			     ct_match_exchange() */
	uint32_t tag;
	uint32_t n_expected;
	uint32_t n; /* members seen, in order of sight */
	uint32_t cap;
	struct ct_member *members;
	struct ct_instance *older, *newer;
};

/* Bytes of the whole operation: the mean over the members, since in v-collectives each knows only
 * its own part. UINT64_MAX: unknown to all. */
uint64_t ct_instance_bytes(const struct ct_instance *instance);

/* The first member that knows the size; the first of all, if none does. */
const struct ct_member *ct_instance_sized(const struct ct_instance *instance);

/* `complete`: every member is there, once. A nonzero result stops the matching and becomes the
 * result of the call that led to it. */
typedef int (*ct_match_fn)(void *arg, struct ct_instance *instance, int complete);

struct ct_match;

/* At most `max_bytes` of members wait at a time. NULL: out of memory. */
struct ct_match *ct_match_new(size_t max_bytes, ct_match_fn done, void *arg);
void ct_match_free(struct ct_match *match);

/* A member of a collective; member->index is its rank. 0, CT_NOMEM or what the callback returned. */
int ct_match_collective(struct ct_match *match, struct ct_comm *comm, uint64_t seq,
			const struct ct_member *member);

/* One end of a message from rank `src` to rank `dst` of the communicator. */
int ct_match_message(struct ct_match *match, struct ct_comm *comm, int32_t src, int32_t dst,
		     uint32_t tag, uint64_t seq, const struct ct_member *member);

/* A group of sends and receives in which the member exchanges as much with every other one: the
 * `number`th such group of the communicator. Instances with src CT_SRC_EXCHANGE; member->index is
 * the rank. */
#define CT_SRC_EXCHANGE (-2) /* code: an exchange */
int ct_match_exchange(struct ct_match *match, struct ct_comm *comm, uint64_t number,
		      const struct ct_member *member);

/* Hands out the remaining instances, oldest first. */
int ct_match_finish(struct ct_match *match);

/* Members in the matcher now; for tests of the memory bound. */
size_t ct_match_waiting(const struct ct_match *match);

#endif
