/* SPDX-License-Identifier: Apache-2.0 */
/* lateness_findings.h — what the weighed evidence comes to as findings, with what contradicts it or takes away from it:
 * operations that differ, records that are missing, environments that differ. One thread. */
#ifndef CT_LATENESS_FINDINGS_H
#define CT_LATENESS_FINDINGS_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/lateness/lateness.h"
#include "analyzer/lateness/weigh.h"
#include "analyzer/order/order_book.h"

/* Adds them to the list; charges by seat. 0 or CT_NOMEM. */
int ct_lateness_findings(const struct ct_lateness *late, const struct ct_order_book *book,
			 const struct ct_charge *charges, const struct ct_report *report,
			 struct ct_findings *list);

#endif
