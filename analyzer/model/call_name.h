/* SPDX-License-Identifier: Apache-2.0 */
/* call_name.h — what the name of a call tells that its record does not. Pure. */
#ifndef CT_CALL_NAME_H
#define CT_CALL_NAME_H

/* Each rank has counts of its own, for each peer: gloo::allgatherv, MPI_Alltoallw, MPI_Gatherv_init, MPI_Reduce_scatter.
 * NULL: 0. */
int ct_call_is_varying(const char *call);

/* Does it, an all-to-all, send as much to each peer? Of a library's own function the name tells; others (all_to_all_single) may be given
 * splits, and NULL may be anything. */
int ct_call_splits_evenly(const char *call);

/* It sends and receives at once: MPI_Sendrecv, MPI_Isendrecv_replace. NULL: 0. */
int ct_call_is_two_way(const char *call);

/* It returns when several operations have ended: MPI_Waitall, MPI_Testall. NULL: 0. */
int ct_call_ends_several(const char *call);

/* The host waits in it for a stream, an event or a device: a function of CUDA. NULL: 0. */
int ct_call_waits_for_gpu(const char *call);

/* It puts work onto streams and waits for nobody: ncclGroupEnd. NULL: 0. */
int ct_call_only_launches(const char *call);

/* It is how a rank leaves a communicator in order (ncclCommDestroy, ncclCommFinalize), or its library (MPI_Finalize).
 * NULL: nothing. */
enum ct_leaves { CT_LEAVES_NOTHING, CT_LEAVES_COMM, CT_LEAVES_LIBRARY };
enum ct_leaves ct_call_leaves(const char *call);

#endif
