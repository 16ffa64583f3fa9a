/* SPDX-License-Identifier: Apache-2.0 */
/* order_book.h — what is kept of the calls of communicators' members: call sites, contradictions,
 * the order of collectives, messages that do not match. Filled while instances are matched. One
 * thread. */
#ifndef CT_ANALYZER_ORDER_ORDER_BOOK_H
#define CT_ANALYZER_ORDER_ORDER_BOOK_H

#include "analyzer/order/mismatch.h"
#include "analyzer/order/order.h"
#include "analyzer/order/pairs.h"
#include "analyzer/order/sites.h"

struct ct_order_book {
	struct ct_mismatches mismatches;
	struct ct_sites sites;
	struct ct_orders orders;
	struct ct_pairs pairs;
};

#endif
