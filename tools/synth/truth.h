/* SPDX-License-Identifier: Apache-2.0 */
/* truth.h — inside the folder: what an analyzer should find in a run. */
#ifndef CT_TOOLS_SYNTH_TRUTH_H
#define CT_TOOLS_SYNTH_TRUTH_H

#include <jansson.h>

#include "tools/synth/synth.h"

/* By how much the fault made the job longer, as a share of it; negative: not known. */
double ct_synth_loss(const struct ct_synth_outcome *outcome, size_t fault);

/* Ranks that act the fault out. A new reference, like all below; NULL: no memory. */
json_t *ct_synth_fault_ranks(const struct ct_synth_options *options, const struct ct_fault *fault);
json_t *ct_synth_fault_hosts(const struct ct_fault *fault);

/* Do operations of that communicator cross the link of the fault: messages straight, collectives
 * round the ring? */
int ct_synth_link_crosses(const struct ct_synth_outcome *outcome, int comm,
			  const struct ct_fault *fault);

/* Whether the link's two ends can be distinguished from the others of that communicator: it has no
 * others, or messages go over the link alone. Collectives of more members take equally long for
 * all. */
int ct_synth_link_is_identifiable(const struct ct_workload *workload, int comm);

/* Whether it shows at all that the link is slow: its ends can be identified, or others of the kind
 * do not cross it. */
int ct_synth_link_shows(const struct ct_synth_outcome *outcome, const struct ct_fault *fault);

json_t *ct_synth_expected(const struct ct_synth_options *options,
			  const struct ct_synth_outcome *outcome);

#endif
