/* SPDX-License-Identifier: Apache-2.0 */
/* rank_history.h — the history of one rank in one communicator during the reading: all unfinished
 * operations, the last finished one, and the latest message of each channel. Owned by gather.h; one
 * thread. */
#ifndef CT_ANALYZER_HANG_RANK_HISTORY_H
#define CT_ANALYZER_HANG_RANK_HISTORY_H

#include "analyzer/base/table.h"
#include "analyzer/hang/hang_case.h"
#include "analyzer/hang/sums.h"
#include "analyzer/model/comms.h"

#define CT_HANG_KEEP 16u	    /* size: finished collectives, the last ones */
#define CT_HANG_KEEP_OPEN 1024u	    /* size: unfinished ops: more than that are counted only */
#define CT_HANG_KEEP_WANTED 4096u   /* size: of those that a second reading requests */
#define CT_HANG_KEEP_CHANNELS 4096u /* size: messages: more than that replace older ones */
#define CT_HANG_KEEP_MESSAGES 4u    /* size: the latest of each direction, peer and tag */

struct ct_history_op {
	struct ct_hang_op op; /* without rank and comm; its strings are the loader's until this
				 history's owner copies them */
	uint64_t end_ns;      /* 0 unknown */
	uint64_t return_ns;   /* of the call; 0: not yet */
	uint64_t failed_ns;   /* when the call, or the operation it began, failed; 0: it did not */
	uint8_t vague;	      /* returned, and the end of its work was not polled */
	uint8_t failed;	      /* the call ended with an error or an exception */
};

struct ct_rank_history {
	struct ct_rank_history *next; /* of all operations, and ... */
	const struct ct_comm *comm;
	uint32_t slot, process;
	uint32_t id;			   /* of the communicator in its process */
	int32_t me;			   /* rank in the communicator */
	uint64_t issued;		   /* highest sequence number of a collective so far, + 1 */
	struct ct_comm_status_rec reached; /* progress according to its own status record */
	struct ct_history_op *done;	   /* CT_HANG_KEEP of them, used as a ring */
	uint64_t n_done;
	struct ct_history_op *open;
	uint32_t n_open, cap_open, skipped_open;
	struct ct_history_op *wanted; /* a second reading's */
	uint32_t n_wanted, cap_wanted;
	struct ct_hang_before before;
	struct ct_order_blocks
		sums; /* of collectives, until all processes before its own were read */
	struct ct_history_op *messages;
	uint32_t n_messages, cap_messages, hand;
	struct ct_table by_channel;  /* -> index in messages + 1 */
	struct ct_hang_class *class; /* the gatherer's, of its latest operation that ended ... */
	unsigned class_op;	     /* ... and which that was */
};

/* Take in one op of it. 0 or CT_NOMEM. */
int ct_rank_history_open(struct ct_rank_history *history, const struct ct_history_op *op);
int ct_rank_history_done(struct ct_rank_history *history, const struct ct_history_op *op);
int ct_rank_history_wanted(struct ct_rank_history *history, const struct ct_history_op *op);
int ct_rank_history_message(struct ct_rank_history *history, const struct ct_history_op *op);

/* All its collectives from this number on are kept; UINT64_MAX: too many of them are unfinished. */
uint64_t ct_rank_history_from(const struct ct_rank_history *history);

/* Calls `each` for every op of the history, unordered; some may repeat. A nonzero result stops it
 * and is returned. */
int ct_rank_history_each(struct ct_rank_history *history,
			 int (*each)(void *arg, struct ct_rank_history *history,
				     struct ct_history_op *op),
			 void *arg);

void ct_rank_history_fini(struct ct_rank_history *history);

#endif
