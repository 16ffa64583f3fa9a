/* SPDX-License-Identifier: Apache-2.0 */
/* channels.h — compares messages sent and received between two ranks, in one communicator and with one tag. The n-th send of
 * such a channel matches the n-th receive. Each side's messages are summed up while its process is read (hang/sums.h), and the
 * two sums are compared at the end. Only if they differ, or if one side is ahead, both are read once more. Memory depends on the
 * number of channels, not of messages. Owned by gather.h; one thread. For the files of hang/ only. */
#ifndef CT_ANALYZER_HANG_CHANNELS_H
#define CT_ANALYZER_HANG_CHANNELS_H

#include "analyzer/hang/hang_run.h"
#include "analyzer/hang/rank_history.h"
#include "analyzer/load/load.h"

struct ct_gather;
struct ct_hang_channels;

/* NULL: out of memory. */
struct ct_hang_channels *ct_hang_channels_new(void);
void ct_hang_channels_free(struct ct_hang_channels *all);

/* First reading: an op of class CT_CLASS_P2P; the end of all processes. 0 or CT_NOMEM. */
int ct_hang_channels_add(struct ct_hang_channels *all, struct ct_rank_history *history,
			 const struct ct_load_op *in);
int ct_hang_channels_end(struct ct_hang_channels *all);

/* Between the readings: marks the processes that must be read again, by process of the run. Returns
 * 1 if there are any. */
int ct_hang_channels_want(const struct ct_hang_channels *all, uint8_t *again);

/* In the second reading, given the same op again: the end that keeps it; NULL: none. The second
 * function keeps it: 0 or CT_NOMEM. */
struct ct_hang_side;
struct ct_hang_side *ct_hang_channels_again(struct ct_hang_channels *all,
					    const struct ct_rank_history *history,
					    const struct ct_op *op);
int ct_hang_channels_keep(struct ct_hang_side *side, const struct ct_hang_op *op);

/* run->messages, after the members and communicators of its case. 0 or CT_NOMEM. */
int ct_hang_channels_check(struct ct_gather *g, struct ct_hang_run *run);

#endif
