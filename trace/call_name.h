/* SPDX-License-Identifier: Apache-2.0 */
/* call_name.h — what the name of a call that moves data tells and its record does not. Those that move none are in
 * call_kind.h. Pure. */
#ifndef CT_TRACE_CALL_NAME_H
#define CT_TRACE_CALL_NAME_H

/* Each rank has counts of its own, for each peer: gloo::allgatherv, MPI_Alltoallw, MPI_Gatherv_init, MPI_Reduce_scatter.
 * NULL: 0. */
int ct_call_is_varying(const char *call);

/* Does it, an all-to-all, send as much to each peer? Of a library's own function the name tells; others (all_to_all_single) may be given
 * splits, and NULL may be anything. */
int ct_call_splits_evenly(const char *call);

/* It sends and receives at once: MPI_Sendrecv, MPI_Isendrecv_replace. NULL: 0. */
int ct_call_is_two_way(const char *call);

#endif
