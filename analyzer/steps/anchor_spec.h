/* SPDX-License-Identifier: Apache-2.0 */
/* anchor_spec.h — the operation that marks a step, given by the user as COMM:OP[:BYTES].
 *
 * COMM: a communicator's name, or the first digits (4 at least) of its key, or * for any. OP: as in
 * dump, any case. BYTES: of the call, as in dump. With a unit, as the report prints it, it matches
 * every size that is printed so. Names may contain colons: OP and BYTES follow the last ones. */
#ifndef CT_ANALYZER_STEPS_ANCHOR_SPEC_H
#define CT_ANALYZER_STEPS_ANCHOR_SPEC_H

#include "analyzer/base/arena.h"
#include "analyzer/steps/sequence.h"

/* An invalid part: "PART WHY". */
struct ct_anchor_spec_fault {
	const char *part; /* in what was written */
	int len;
	const char *why;
};

/* Is that how it is written? 0; CT_RANGE and *fault. Pure. */
int ct_anchor_spec_check(const char *wanted, struct ct_anchor_spec_fault *fault);

/* Marks the matching symbols in chosen[n_symbols] and returns their number. */
uint32_t ct_anchor_spec_choose(const struct ct_sequence *sequence, const char *wanted,
			       uint8_t *chosen);

/* A sentence with the possible anchors, the likeliest first; NULL: out of memory. */
const char *ct_anchor_spec_others(const struct ct_sequence *sequence, const char *wanted,
				  struct ct_arena *memory);

#endif
