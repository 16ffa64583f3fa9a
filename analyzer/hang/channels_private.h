/* SPDX-License-Identifier: Apache-2.0 */
/* channels_private.h — what channels.c collects and check_messages.c judges. Not for others. */
#ifndef CT_ANALYZER_HANG_CHANNELS_PRIVATE_H
#define CT_ANALYZER_HANG_CHANNELS_PRIVATE_H

#include "analyzer/hang/channels.h"
#include "analyzer/hang/sums.h"

#define CT_HANG_CHANNELS 65536u	    /* size: more than these are counted only */
#define CT_HANG_CHANNEL_BLOCKS 256u /* size: number of sums of each side */
#define CT_HANG_CHANNEL_KEEP                                                                       \
	1024u /* size: messages of one side that are looked at one by one ... */
#define CT_HANG_CHANNELS_KEEP 262144u /* size: ... and of all */

/* One end of a channel. */
struct ct_hang_side {
	struct ct_rank_history *history; /* NULL: nothing of it is on record */
	struct ct_order_blocks sums;	 /* while processes are read */
	uint64_t n;			 /* messages on record */
	uint64_t begun;			 /* highest number + 1 */
	struct ct_hang_op *ops;		 /* the second reading's */
	uint32_t n_ops, cap_ops;
};

struct ct_hang_channel {
	struct ct_hang_channel *next, *same_key;
	const struct ct_comm *comm;
	int32_t src, dst; /* ranks in it */
	uint32_t tag;
	int is_twice; /* several processes claim to be this end */
	int from_any; /* a receive from any source got its number late, perhaps that of another message */
	uint64_t width; /* width of a block of sums */
	struct ct_hang_order order;
	struct ct_hang_side sides[2]; /* sender, receiver */
};

struct ct_hang_channels {
	struct ct_arena *memory;
	struct ct_hang_channel *first;
	uint32_t n, n_kept;
	struct ct_table by_key;
	uint64_t left_out[CT_HANG_LEFT_OUT]; /* messages */
};

#endif
