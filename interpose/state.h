/* SPDX-License-Identifier: Apache-2.0 */
/* state.h — what a reader must know besides the records: communicators, strings, losses,
 * heartbeats, cost.
 *
 * Belongs to the write thread. It remembers the content of earlier blocks. If a block did not get
 * into the segment, ct_state_again() forgets that content, and everything is written again (readers
 * accept that).
 */
#ifndef CT_INTERPOSE_STATE_H
#define CT_INTERPOSE_STATE_H

#include "interpose/environ/counters.h"
#include "interpose/environ/environ.h"
#include "trace/block.h"
#include "trace/notes.h"
#include "trace/order_totals.h"
#include "trace/ring.h"

/* size: programs communicate on some tens of streams. Of more, the state is in the first block that
 * has it, and not in later checkpoints. */
#define CT_STATE_STREAMS 256u

struct ct_state {
	struct ct_ring *ring;
	struct ct_notes notes;
	uint64_t strings_at; /* bytes of the string table that are in segments */
	/* of each entry of the ring, as many as it had so far */
	struct ct_state_comm {
		uint64_t seen; /* id << 33 | name << 1 | ended, as last written; 0 nothing */
		uint64_t pass; /* in which its end was written, 0 not yet */
	} * comms;
	uint64_t *traffic_seen; /* messages, as last written */
	uint32_t n_comms, n_traffic;
	uint64_t comms_freed; /* entries, in all */
	uint64_t pass;
	uint64_t loss_begin_ns[CT_LOSS_MAX];
	uint64_t loss_end_ns[CT_LOSS_MAX];
	uint64_t losses[CT_LOSS_MAX];
	struct ct_environ_seen environ;
	struct ct_counters_seen counters;
	struct ct_order_totals order; /* of what is in segments */
	uint32_t stacks;	      /* the sample of stacks that is in a segment */
	struct ct_stream_rec streams[CT_STATE_STREAMS]; /* that are in segments */
	uint32_t n_streams;
	struct ct_cost_rec cost; /* kept by the caller */
};

/* Allocates nothing yet. `ring` is borrowed until ct_state_fini(), *notes is copied. */
void ct_state_init(struct ct_state *state, struct ct_ring *ring, const struct ct_notes *notes);

/* Frees what it remembers; the ring stays. */
void ct_state_fini(struct ct_state *state);

/* Communicators and strings made or ended since the last block. 0 or CT_NOMEM, as all that follow. */
int ct_state_new(struct ct_state *state, struct ct_block *block);

/* Signs of life: status, open ops and launches, losses, clocks, cost. `old_ns`: open ops entered
 * before it. */
int ct_state_status(struct ct_state *state, struct ct_block *block, uint64_t old_ns);

/* The block is in a segment: what it holds counts as called. */
void ct_state_written(struct ct_state *state, const struct ct_block *block);

/* Everything: the first block of a segment. */
int ct_state_checkpoint(struct ct_state *state, struct ct_block *block);

/* A block did not get into the segment: everything is written again. */
void ct_state_again(struct ct_state *state);

/* A drain has taken everything recorded before it began: entries of communicators whose end was
 * written by then can be reused. */
void ct_state_drained(struct ct_state *state);

#endif
