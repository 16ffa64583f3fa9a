/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h — the output of a load for one block, kept for another thread. A batch is a sink (load.h)
 * that copies its input in order; ct_batch_replay() passes it on to another sink. Data that lives
 * as long as the load is not copied, so the load must not continue before its batch was passed on.
 * Memory is kept for the next block. One thread at a time. */
#ifndef CT_ANALYZER_LOAD_BATCH_H
#define CT_ANALYZER_LOAD_BATCH_H

#include "analyzer/load/load.h"

struct ct_batch_page;

/* A zeroed struct is an empty batch. */
struct ct_batch {
	struct ct_batch_page *first, *at;    /* pages are kept; the one that is being filled */
	const struct ct_load_launch *launch; /* the copy of the one whose operations are coming */
};

void ct_batch_fini(struct ct_batch *batch);

/* Forget what it holds. */
void ct_batch_clear(struct ct_batch *batch);

/* Each as the function of struct ct_load_sink; `batch` is a struct ct_batch. 0 or CT_NOMEM. */
int ct_batch_op(void *batch, const struct ct_load_op *op);
int ct_batch_comm(void *batch, struct ct_load_comm *comm);
int ct_batch_named(void *batch, struct ct_load_comm *comm);
int ct_batch_host(void *batch, const struct ct_host_rec *rec, const char *call, const char *site);
int ct_batch_error(void *batch, const struct ct_error_rec *rec, const char *call, const char *text);
int ct_batch_wait(void *batch, const struct ct_wait_rec *rec);
int ct_batch_nvtx(void *batch, const struct ct_nvtx_rec *rec);
int ct_batch_reached(void *batch, struct ct_load_comm *comm, const struct ct_comm_status_rec *rec);
int ct_batch_stack(void *batch, const uint8_t *bytes, size_t len);

/* Report it all, names of operations as `names` has them. 0, or what the sink returned, at once. */
int ct_batch_replay(const struct ct_batch *batch, const struct ct_load_sink *sink,
		    const struct ct_op_names *names);

#endif
