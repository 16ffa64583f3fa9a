/* SPDX-License-Identifier: Apache-2.0 */
/* transport.h — what the kernel counted on the hosts' network ports, held against what was
 * communicated (docs/dev/algorithms/network.md, Network ports). Counters are the host's: others may
 * have used it too. All memory is the report's. One thread. */
#ifndef CT_ANALYZER_LINK_TRANSPORT_H
#define CT_ANALYZER_LINK_TRANSPORT_H

#include "analyzer/model/model.h"

/* report->transport, by host: of its processes the one that sampled longest. After the ranks. 0 or
 * CT_NOMEM. */
int ct_transport_fill(const struct ct_model *model, struct ct_report *report);

#endif
