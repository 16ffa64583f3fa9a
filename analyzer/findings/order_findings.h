/* SPDX-License-Identifier: Apache-2.0 */
/* order_findings.h — findings about members of a communicator with different calls: MISMATCH,
 * SKIPPED_OP, EXTRA_OP, UNEVEN_INPUT. After reading; one thread. */
#ifndef CT_ANALYZER_FINDINGS_ORDER_FINDINGS_H
#define CT_ANALYZER_FINDINGS_ORDER_FINDINGS_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/model/model.h"
#include "analyzer/order/order_book.h"

/* size: at most so many communicators with contradictions are reported, in the order of reading. */
#define CT_ORDER_FINDINGS 4u

/* Adds the findings about the order of calls, if that is known. 0 or CT_NOMEM. */
int ct_order_findings(const struct ct_model *model, const struct ct_order_book *book,
		      struct ct_findings *list);

/* Of a reading that begins in the middle of the run: members that made a different call once. What
 * may come from a call more or less before is another finding, perhaps of other ranks, and is left
 * out. 0 or CT_NOMEM. */
int ct_order_contradictions(const struct ct_model *model, const struct ct_order_book *book,
			    struct ct_findings *list);

/* The order on a communicator, for its row in the report. */
struct ct_order_summary {
	uint64_t equal_to_seq;	   /* members agree up to here; UINT64_MAX: unknown */
	uint64_t first_difference; /* UINT64_MAX: none */
	uint64_t differs_to_seq; /* they differ at an unknown number up to here; UINT64_MAX: they do
				    not */
	uint64_t hash;		 /* of all calls of each member; 0: members differ */
};
void ct_order_summarize(const struct ct_order_book *book, const struct ct_comm *comm,
			struct ct_order_summary *out);

#endif
