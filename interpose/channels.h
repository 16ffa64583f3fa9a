/* SPDX-License-Identifier: Apache-2.0 */
/* channels.h — sequence numbers of point-to-point transfers: sender and receiver count alike,
 * without a word between them.
 *
 * A channel is (communicator, direction, peer, slot), with a counter. They are in a table of fixed
 * size, which any thread searches without a lock; a bounded lock (spin.h) is taken where a channel
 * is new or goes. All words are atomic; any thread.
 */
#ifndef CT_INTERPOSE_CHANNELS_H
#define CT_INTERPOSE_CHANNELS_H

#include <stdint.h>

enum ct_direction { CT_SEND = 0, CT_RECV = 1 };

/* Map the table of point-to-point channels; 0 or CT_NOMEM. Before the gate opens. */
int ct_channels_init(void);

/* Sequence number of the next transfer on a channel. The channels of a communicator that has ended
 * are free again. Without space (a counted loss) the number is CT_SEQ_UNMATCHED or above: no other
 * transfer has it, here or elsewhere, and those with a channel keep counting. */
uint64_t ct_channels_next(uint32_t comm, enum ct_direction direction, int32_t peer, uint64_t slot);

/* The transfer that got this number last on its channel was taken back: the next one gets it again.
 * 0: others have come since, and their numbers stay. */
int ct_channels_return(uint32_t comm, enum ct_direction direction, int32_t peer, uint64_t slot,
		       uint64_t seq);

/* A transfer of this communicator has an unknown channel or was not recorded: later numbers would
 * not be those of the other side. From now on its transfers get numbers that match none (counted). */
void ct_channels_stop(uint32_t comm);

/* The communicator with this id has ended. */
void ct_channels_end(uint32_t comm);

#define CT_SEQ_UNMATCHED (1ull << 63) /* code: above all numbers that are counted */

#endif
