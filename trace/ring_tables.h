/* SPDX-License-Identifier: Apache-2.0 */
/* ring_tables.h — entries of a ring's tables as records: one reader for the write thread and for
 * those that read a ring from outside. Traffic has its own (ring_traffic.h), and stacks
 * (ring_stacks.h).
 *
 * An entry may be filled, freed or given to another meanwhile: it is in use if its id or tag says
 * so and is the same after the copy. Any thread, any process; nothing is written. */
#ifndef CT_TRACE_RING_TABLES_H
#define CT_TRACE_RING_TABLES_H

#include "trace/format.h"

/* A communicator, and its progress. 0: the entry is not in use, or was freed meanwhile; *rec is
 * then undefined. */
int ct_ring_comm_read(const struct ct_ring_comm *entry, struct ct_comm_rec *rec);
int ct_ring_comm_status_read(const struct ct_ring_comm *entry, struct ct_comm_status_rec *rec);

/* A launch that has not ended; 0 likewise. */
int ct_ring_open_read(const struct ct_ring_open *entry, struct ct_open_launch_rec *rec);

/* Bytes that a string of `len` bytes takes in its table: its length, itself, a NUL, padding. */
static inline uint64_t ct_ring_string_bytes(uint64_t len)
{
	return (4 + len + 1 + 3) & ~3ull;
}

#endif
