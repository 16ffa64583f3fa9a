/* SPDX-License-Identifier: Apache-2.0 */
/* traffic.h — how many bytes each rank sent to each other one, where that is known exactly.
 *
 * What a program sends by itself stands in the ops; what collectives move inside is counted by the backends that can
 * see it (TRAFFIC records). A pass hands in both while it reads; whatever moved data in a way that is not known, or
 * may be missing, makes the whole of it unknown, with the first reason. One thread; memory is the caller's arena, but
 * for what ct_traffic_fini() frees. */
#ifndef CT_TRAFFIC_H
#define CT_TRAFFIC_H

#include "analyzer/load.h"
#include "analyzer/match/comms.h"
#include "analyzer/run_model.h"
#include "analyzer/table.h"

struct ct_pass;

/* More ranks than this are no matrix that anybody wants to read. */
#define CT_TRAFFIC_RANKS 1024u

struct ct_traffic_pair; /* what one member of a communicator sent to another */

struct ct_traffic {
	struct ct_table by_pair;
	struct ct_table by_member;     /* (process, communicator): what was promised and told */
	struct ct_traffic_pair *pairs; /* the latest first */
	struct ct_traffic_member *members;
	const char *why; /* it is not exact, NULL: so far it is */
	struct ct_arena *memory;
};

/* One op of `process`, on the communicator that it was registered as (NULL: on none). 0 or CT_NOMEM, as all here. */
int ct_traffic_op(struct ct_traffic *traffic, uint32_t process, const struct ct_load_op *op,
		  const struct ct_comm *comm);

/* All of a process has been read: what its TRAFFIC records told. */
int ct_traffic_process(struct ct_traffic *traffic, uint32_t process, const struct ct_load *load);

void ct_traffic_fini(struct ct_traffic *traffic);

/* The matrix of the report; after ranks, losses and what could not be seen are in it. */
int ct_fill_traffic(const struct ct_pass *pass, struct ct_report *report);

#endif
