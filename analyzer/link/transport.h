/* SPDX-License-Identifier: Apache-2.0 */
/* transport.h — what the kernel counted on the hosts' network ports, held against what was communicated (docs/ANALYSIS.md,
 * Network ports). Counters are the host's: others may have used it too. All memory is the report's. One thread. */
#ifndef CT_TRANSPORT_H
#define CT_TRANSPORT_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/stream/stream.h"

/* report->transport, by host: of its processes the one that sampled longest. After the ranks. 0 or CT_NOMEM. */
int ct_transport_fill(const struct ct_pass *pass, struct ct_report *report);

/* LINK_ERRORS: error counters that grew by more than is usual, a finding for each port. 0 or CT_NOMEM. */
int ct_transport_link_errors(const struct ct_pass *pass, const struct ct_report *report,
			     struct ct_findings *list);

/* SOCKET_FALLBACK: hosts with active InfiniBand whose traffic went over Ethernet. After comms and ops. 0 or CT_NOMEM. */
int ct_transport_socket_fallback(const struct ct_pass *pass, const struct ct_report *report,
				 struct ct_findings *list);

#endif
