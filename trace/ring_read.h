/* SPDX-License-Identifier: Apache-2.0 */
/* ring_read.h — look into a ring file from outside: of a live process, of a dead one, or an
 * archived copy
 * (*.ring, *.ring.zst) in a run directory. Nothing is ever written to it. Offsets in the file are
 * checked before use; what they describe is not trusted either.
 *
 * A process must not open its own ring with this: see ring_dir.h. A view belongs to one thread. */
#ifndef CT_TRACE_RING_READ_H
#define CT_TRACE_RING_READ_H

#include "trace/block.h"
#include "trace/ring.h"
#include "trace/status.h"

struct ct_ring_view {
	struct ct_ring ring; /* header, tables and chunks; never to be written through */
	size_t bytes;
	int mapped; /* 1: live mapping, 0: private copy */
	uint32_t n_comms, n_opens, n_traffic, stacks_bytes, strings_bytes,
		n_chunks; /* as checked: do not read it again from the header of a live ring */
};

/* Open a ring file. A ring whose owner lives is mapped, any other is copied. CT_NOTFOUND,
 * CT_IO, CT_NOMEM, or CT_FORMAT / CT_VERSION / CT_TORN if it is not a (whole) ring. */
int ct_ring_view_open(const char *path, struct ct_ring_view *view, struct ct_err *err);

/* The same over bytes in memory (copied); for archives, tests and fuzzing. */
int ct_ring_view_memory(const void *data, size_t bytes, struct ct_ring_view *view,
			struct ct_err *err);

void ct_ring_view_close(struct ct_ring_view *view);

/* Takes the tables of communicators, strings and traffic as they are now: those of a live ring
 * grow. Before what is read from its slots is looked up there. */
void ct_ring_view_tables(struct ct_ring_view *view);

/* Only the header, checked, and whether the owner lives (never that of an archive); cheap also for
 * archives. Codes as above. */
int ct_ring_header_read(const char *path, struct ct_ring_header *header, int *lives,
			struct ct_err *err);

/* String of the table; NULL if there is none with this id. *len gets its length. */
const char *ct_ring_view_string(const struct ct_ring_view *view, uint32_t id, size_t *len);

/* Appends to *block what the ring has and the segments may lack: communicators and their progress,
 * strings, open launches, traffic, stacks, losses, heartbeat. Ops inside their call are not among
 * them: they are slots, which ct_drain_next() takes with CT_DRAIN_ALL. 0 or CT_NOMEM. */
int ct_ring_view_state(const struct ct_ring_view *view, struct ct_block *block);

/* Append the string as a record, if there is one with this id. 0 or CT_NOMEM. */
int ct_ring_view_add_string(const struct ct_ring_view *view, uint32_t id, struct ct_block *block);

/* Ids below this one are all in what ct_ring_view_state() appends; those above come after a string
 * whose writer died.
 */
uint32_t ct_ring_view_strings_end(const struct ct_ring_view *view);

/* Put a NUL at the end of each text of an identity that was read from a file. */
void ct_process_terminate(struct ct_process *process);

#endif
