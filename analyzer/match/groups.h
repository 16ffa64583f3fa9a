/* SPDX-License-Identifier: Apache-2.0 */
/* groups.h — ops that share a launch: those that one group end enqueued on one stream of one
 * communicator. Such a launch has one span, and the times of its ops are unknown. So it is judged
 * as one operation: its bytes add up, its time and its waits count once
 * (docs/dev/algorithms/matching.md, "Groups"). A group lives until the matcher has delivered all
 * its ops. One thread. */
#ifndef CT_ANALYZER_MATCH_GROUPS_H
#define CT_ANALYZER_MATCH_GROUPS_H

#include "analyzer/match/match.h"
#include "trace/record.h"

enum ct_group_kind {
	CT_GROUP_UNCLEAR, /* collectives of several kinds, or with messages, or incomplete records */
	CT_GROUP_COLLECTIVES, /* one kind, or all synchronizing: equivalent to one operation */
	CT_GROUP_MESSAGES,
	CT_GROUP_EXCHANGE, /* equal sizes to and from every other rank: an all-to-all, if the others
			      have the same */
};

/* The summary of a launch's ops. */
struct ct_group_shape {
	enum ct_group_kind kind;
	unsigned op, dtype; /* 0: they differ */
	uint32_t lead;	    /* the first collective; without any: n */
	int only_messages;
	uint64_t bytes; /* collectives, exchange: of the whole operation; messages: the larger of
			   sent and received; UINT64_MAX: unknown */
};

/* `n` ops of the n_ops that the launch held, called by rank `me` of `nranks`. */
void ct_group_shape(const struct ct_op *ops, uint32_t n, uint32_t n_ops, uint32_t nranks,
		    int32_t me, struct ct_group_shape *shape);

struct ct_group {
	struct ct_group_shape shape;
	struct ct_comm *comm;
	struct ct_member member; /* its span */
	uint32_t id;		 /* in order of first sight, from 1 */
	uint32_t n_ops;
	uint32_t holders; /* its ops, and its exchange, that the matcher still holds */
	uint32_t due;	  /* unmatched messages */
	/* exchange */
	uint64_t number;
	int agrees; /* so far, every partner was in the same exchange */
	/* matched messages */
	int complete;	      /* all of them are, and all were measured */
	int waits_known;      /* of all of them */
	uint64_t shortest_ns; /* span of the group or of a partner */
	uint64_t wait_ns;     /* longest wait for a partner */
	struct ct_group *older, *newer;
};

struct ct_groups {
	struct ct_group *newest;
	uint32_t n;
	uint32_t made; /* so far */
};

/* A new group, held `holders` times; NULL: out of memory. */
struct ct_group *ct_group_new(struct ct_groups *groups, const struct ct_group_shape *shape,
			      uint32_t holders);

/* Releases one holder; the last one frees it. */
void ct_group_drop(struct ct_groups *groups, struct ct_group *group);

void ct_groups_fini(struct ct_groups *groups);

/* Returns the shape of the groups that the members of an instance lead; NULL if they differ. */
const struct ct_group_shape *ct_group_shared(const struct ct_instance *instance);

/* Did two ranks only exchange messages, each in one launch? That counts as an exchange of all with
 * all. Two stages of a pipeline do it, too, so it is not called an all-to-all, unless they also
 * send to themselves. */
int ct_group_is_swap(const struct ct_instance *instance);

#endif
