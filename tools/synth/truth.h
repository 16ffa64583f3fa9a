/* SPDX-License-Identifier: Apache-2.0 */
/* truth.h — inside of the room: what an analyzer should find in a run. */
#ifndef CT_SYNTH_TRUTH_H
#define CT_SYNTH_TRUTH_H

#include <jansson.h>

#include "tools/synth/synth.h"

/* By how much the fault made the job longer, as a share of it; negative: not known. */
double ct_synth_loss(const struct ct_synth_outcome *outcome, size_t fault);

/* Ranks that act the fault out. A new reference, like all below; NULL: no memory. */
json_t *ct_synth_fault_ranks(const struct ct_synth_options *options, const struct ct_fault *fault);
json_t *ct_synth_fault_hosts(const struct ct_fault *fault);

json_t *ct_synth_expected(const struct ct_synth_options *options,
			  const struct ct_synth_outcome *outcome);

#endif
