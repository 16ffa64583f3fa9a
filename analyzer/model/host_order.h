/* SPDX-License-Identifier: Apache-2.0 */
/* host_order.h — the order of hosts in a report: that of their lowest ranks. Pure. */
#ifndef CT_ANALYZER_MODEL_HOST_ORDER_H
#define CT_ANALYZER_MODEL_HOST_ORDER_H

#include "analyzer/model/model.h"

/* A host that has slots. */
struct ct_ordered_host {
	uint32_t host;	 /* index into model->starts->hosts */
	uint32_t slot;	 /* one of its slots */
	int lowest_rank; /* INT_MAX: none of its ranks is known; such hosts come last, as they were
			    found */
};

/* The hosts with slots, in order: *n of them in *hosts, which the caller frees. 0 or CT_NOMEM. */
int ct_host_order(const struct ct_model *model, struct ct_ordered_host **hosts, uint32_t *n);

#endif
