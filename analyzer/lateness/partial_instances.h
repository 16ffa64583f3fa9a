/* SPDX-License-Identifier: Apache-2.0 */
/* partial_instances.h — who came last of those that left a trace, where others left none.
 *
 * An operation of which a member has no trace is judged for nobody: the missing one may have come later still. But that one of
 * those that are there steadily came after all the others is something to know. Kept apart from what is judged. One thread. */
#ifndef CT_BLAME_REST_H
#define CT_BLAME_REST_H

#include "analyzer/lateness/straggler.h"
#include "analyzer/stream/stream.h"

struct ct_rest {
	struct ct_blame blame; /* zeroed: no such operations */
	struct ct_waits waits;
};
#include "analyzer/model/model.h"
#include "analyzer/stream/stream.h"

/* An instance that lacks members. Counts if all members that left any trace are there, three quarters of all and three at
 * least, each timed, in a synchronising operation by itself. 0 or CT_NOMEM. */
int ct_rest_add(struct ct_rest *rest, const struct ct_stream *stream,
		const struct ct_instance_event *event);

/* The one that fulfils the rule of STRAGGLER among those that are there, and costs twice what anybody else does; n_seats:
 * nobody. *charge is what it comes to. 0 or CT_NOMEM. */
int ct_rest_last(const struct ct_rest *rest, const struct ct_model *model,
		 const struct ct_rounds *rounds, uint32_t *seat, struct ct_charge *charge);
void ct_rest_fini(struct ct_rest *rest);

#endif
