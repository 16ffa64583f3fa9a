/* SPDX-License-Identifier: Apache-2.0 */
/* order_findings.h — findings about members of a communicator that did not call the same: MISMATCH, SKIPPED_OP, EXTRA_OP,
 * UNEVEN_INPUT. After a reading; one thread. */
#ifndef CT_ORDER_FINDINGS_H
#define CT_ORDER_FINDINGS_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/model/model.h"
#include "analyzer/order/order_book.h"

/* Communicators whose contradictions are told, those read first. */
#define CT_ORDER_FINDINGS 4u

/* Adds what the order of calls shows, if it is known. 0 or CT_NOMEM. */
int ct_order_findings(const struct ct_model *model, const struct ct_order_book *book,
		      struct ct_findings *list);

/* The verdict's sentence for one of them. */
const char *ct_order_sentence(struct ct_arena *memory, const struct ct_finding *finding);

/* What is known of the order on a communicator, for the report's row of it. */
struct ct_order_summary {
	uint64_t equal_to_seq;	   /* members agree up to here; UINT64_MAX: not known */
	uint64_t first_difference; /* UINT64_MAX: none is known */
	uint64_t differs_to_seq; /* they differ somewhere up to here, it is not known where; UINT64_MAX: no */
	uint64_t hash; /* of all that each of them called; 0: they did not all call the same */
};
void ct_order_summarize(const struct ct_order_book *book, const struct ct_comm *comm,
			struct ct_order_summary *out);

#endif
