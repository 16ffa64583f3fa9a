/* SPDX-License-Identifier: Apache-2.0 */
/* graph_table.h — what was captured, and the CUDA handles for it.
 *
 * A list is what one capture holds of communication: for each communicator a part, in it runs of
 * equal operations in the order of their calls. Captures, graphs and executable graphs refer to
 * lists (counted); a list that a graph or an executable refers to does not change any more. All of
 * it is in pools of fixed size that are mapped when recording starts and never unmapped, so that a
 * stale number can be checked safely. Looking up an executable takes no lock; all else takes a
 * short one, which is never held across a call into other code.
 */
#ifndef CT_INTERPOSE_GPU_GRAPH_GRAPH_TABLE_H
#define CT_INTERPOSE_GPU_GRAPH_GRAPH_TABLE_H

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/comms.h"
#include "interpose/guard.h"

#define CT_GRAPH_PARTS 16u /* size: communicators in one list; ranks have about ten in all */

struct ct_graph_run {
	uint64_t count;
	int32_t peer; /* or root; -1 none */
	uint32_t n;
	uint8_t op, dtype, redop;
	uint32_t next; /* index + 1, 0 the last */
};

struct ct_graph_table_part {
	struct ct_traced_comm *comm;
	uint32_t comm_id; /* it may be another communicator's by now */
	uint32_t n_ops, n_colls;
	uint64_t bytes;
	uint32_t first, last; /* runs, index + 1 */
};

struct ct_graph_list {
	_Atomic uint32_t number; /* from 1, never used again; 0: the entry is free */
	uint32_t refs;
	uint32_t n_parts;
	uint32_t is_written; /* its GRAPH records were written */
	uint32_t is_partial; /* there was no space for all that was captured */
	struct ct_graph_table_part parts[CT_GRAPH_PARTS];
	uint32_t next; /* free ones */
};

enum ct_graph_kind { CT_GRAPH_CAPTURE = 1, CT_GRAPH_GRAPH, CT_GRAPH_EXEC };

/* Map the pools; 0 or CT_NOMEM. Before the gate opens. */
int ct_graph_table_init(void);

/* The list behind a handle (a capture's id, a graph, an executable), NULL if there is none. Any
 * thread, no lock. */
struct ct_graph_list *ct_graph_find(enum ct_graph_kind kind, uintptr_t handle);

/* All functions below: any thread, with the lock. 0: not acquired, another thread holds it for too
 * long. */
int ct_graph_lock(void);
void ct_graph_unlock(void);

/* Adds an operation to the list of a capture, which is made if there is none, and says where in it:
 * its position among the communicator's collectives, or among its transfers. NULL: no space; the
 * list is partial then. */
struct ct_graph_list *ct_graph_add(uintptr_t capture, struct ct_traced_comm *comm,
				   const struct ct_graph_run *run, uint64_t bytes,
				   uint64_t *position);

/* The same with all that is in another list: a graph that is launched into a capture. 0: no space. */
int ct_graph_add_all(uintptr_t capture, const struct ct_graph_list *from);

/* From now on the handle has this list and no other one; NULL: none. 0: no space. */
int ct_graph_set(enum ct_graph_kind kind, uintptr_t handle, struct ct_graph_list *list);

/* What both hold, one behind the other, as a new list for the handle; either may be NULL. 0: no
 * space. */
int ct_graph_join(enum ct_graph_kind kind, uintptr_t handle, const struct ct_graph_list *first,
		  const struct ct_graph_list *then);

struct ct_graph_run *ct_graph_run_at(uint32_t number);

/* Lists by index, from 0; NULL behind the last one that was ever used. */
struct ct_graph_list *ct_graph_list_at(uint32_t at);

/* Has this process ever begun a capture, as far as we know? */
extern _Atomic int ct_graph_used CT_NEAR;
static inline int ct_graph_is_used(void)
{
	return atomic_load_explicit(&ct_graph_used, memory_order_relaxed);
}

#endif
