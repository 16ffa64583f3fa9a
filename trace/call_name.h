/* SPDX-License-Identifier: Apache-2.0 */
/* call_name.h — what the name of a data-moving call says and its record does not. Other calls are
 * in call_kind.h. Pure. */
#ifndef CT_TRACE_CALL_NAME_H
#define CT_TRACE_CALL_NAME_H

/* Each rank has counts of its own, for each peer: gloo::allgatherv, MPI_Alltoallw,
 * MPI_Gatherv_init, MPI_Reduce_scatter. NULL: 0. */
int ct_call_is_varying(const char *call);

/* Whether an all-to-all sends the same amount to each peer. For a library's own function the name
 * says so; others (all_to_all_single) may get splits, and NULL may be any call. */
int ct_call_splits_evenly(const char *call);

/* It sends and receives at once: MPI_Sendrecv, MPI_Isendrecv_replace. NULL: 0. */
int ct_call_is_two_way(const char *call);

#endif
