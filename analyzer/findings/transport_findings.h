/* SPDX-License-Identifier: Apache-2.0 */
/* transport_findings.h — findings from the counters of the hosts' network ports. */
#ifndef CT_ANALYZER_FINDINGS_TRANSPORT_FINDINGS_H
#define CT_ANALYZER_FINDINGS_TRANSPORT_FINDINGS_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/model/model.h"

/* LINK_ERRORS: error counters that grew by more than is usual, a finding for each port. 0 or
 * CT_NOMEM. */
int ct_transport_link_errors(const struct ct_model *model, const struct ct_report *report,
			     struct ct_findings *list);

/* SOCKET_FALLBACK: hosts with active InfiniBand whose traffic used Ethernet. After comms and ops. 0
 * or CT_NOMEM. */
int ct_transport_socket_fallback(const struct ct_model *model, const struct ct_report *report,
				 struct ct_findings *list);

#endif
