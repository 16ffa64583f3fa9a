/* SPDX-License-Identifier: Apache-2.0 */
/* ring_snapshot.h — what a ring holds that is in no segment (yet): the state it knows and its
 * undrained slots.
 *
 * Taken before the segments are read, so that of a live process nothing can slip from the ring into
 * a segment unseen; what the segments then turn out to hold as well is struck out by the extents of
 * their blocks. Owns its memory, keeps no file open. One thread.
 */
#ifndef CT_TRACE_RING_SNAPSHOT_H
#define CT_TRACE_RING_SNAPSHOT_H

#include "trace/block.h"
#include "trace/status.h"

struct ct_ring_snapshot;

/* Copies the remaining records of the ring file at `path` if it is the ring of process `id`.
 * CT_NOTFOUND if there is no such file or it is now another process's; codes of ct_ring_view_open()
 * otherwise. */
int ct_ring_snapshot_take(const char *path, const struct ct_process *id,
			  struct ct_ring_snapshot **left, struct ct_err *err);

/* The same from bytes in memory, of any process. */
int ct_ring_snapshot_memory(const void *data, size_t bytes, struct ct_ring_snapshot **left,
			    struct ct_err *err);

void ct_ring_snapshot_free(struct ct_ring_snapshot *left);

/* The ring's header as it was. */
const struct ct_ring_header *ct_ring_snapshot_header(const struct ct_ring_snapshot *left);

/* A block that was read holds these slots. Slots of one lap are written to blocks in order, so all
 * before `extent`'s last are in blocks too, or were in one that is damaged. */
void ct_ring_snapshot_strike(struct ct_ring_snapshot *left, const struct ct_extent *extent);

/* The next block: first the state, then the slots, ops that are inside their call included. 1 and
 * *block (reset first), 0 at the end, or CT_NOMEM. */
int ct_ring_snapshot_next(struct ct_ring_snapshot *left, struct ct_block *block);

#endif
