/* SPDX-License-Identifier: Apache-2.0 */
/* uneven_inputs.h — ranks whose inputs end earlier: some members of a communicator stop cleanly,
 * and the others wait for them in the next operation, or fail in it. Cleanly means that the process
 * ended by itself with exit code 0, not by _exit, before any signal was sent to it. Or it had left
 * the communicator (ncclCommDestroy, MPI_Finalize) and did not fail. All its records are present,
 * and no operation of the communicator was in flight. The others wait for much longer than usual
 * (stream/stuck.c). A crash, a kill, a job that was ended from outside and a truncated trace do not
 * qualify. One thread. */
#ifndef CT_ANALYZER_ORDER_UNEVEN_INPUTS_H
#define CT_ANALYZER_ORDER_UNEVEN_INPUTS_H

#include "analyzer/model/model.h"
#include "analyzer/order/divergence.h"

struct ct_uneven {
	uint64_t seq; /* the first operation that was not called by all */
	uint32_t n_stopped, n_waiting, n_unseen;
	int by_leaving; /* the members that stopped had left the communicator; 0: their processes
			   had ended */
	int failed;	/* the members that waited got an error */
	uint64_t most;	/* operations that the furthest of the others had called beyond those */
};

/* `order` has its trouble where not all members called an operation. set[nranks] gets
 * CT_DIVERGENCE_ODD for those that stopped, CT_DIVERGENCE_USUAL for those that called more. 1:
 * inputs are uneven; 0: they are not, or it is unknown. */
int ct_uneven_find(const struct ct_model *model, const struct ct_order *order, uint8_t *set,
		   struct ct_uneven *out);

/* The progress of members: set[] as above, *seq the first operation that not all called, *more how
 * many more the others called (the one with the least progress among them). 0: all called equally
 * many, or the needed records are missing. */
int ct_uneven_ends(const struct ct_order *order, uint8_t *set, uint64_t *seq, uint64_t *more);

/* No call contradicts another, and progress differs: do sites show that some skipped operations, or
 * called extra ones? set[] gets the usual and the odd ones, the fewer; if equally many, the odd
 * ones are those that called more. 1 or 0. */
int ct_uneven_apart(const struct ct_order *order, uint8_t *set, struct ct_divergence *out);

/* Did the process of this slot exit cleanly by itself, not by _exit, which shuts no library down?
 * And are all its records present? */
int ct_uneven_exited_cleanly(const struct ct_model *model, uint32_t slot);
int ct_uneven_is_done(const struct ct_model *model, uint32_t slot);
int ct_uneven_is_complete(const struct ct_model *model, uint32_t slot);

#endif
