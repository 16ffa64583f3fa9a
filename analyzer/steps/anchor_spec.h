/* SPDX-License-Identifier: Apache-2.0 */
/* anchor_spec.h — the operation that the user says marks a step: COMM:OP[:BYTES].
 *
 * COMM: a communicator's name, or the first digits (4 at least) of its key, or * for any. OP: as in dump, any case. BYTES: of
 * the call, as in dump; or with a unit, as the report prints it, which is every size that is printed so. Names may hold
 * colons: what follows the last ones is OP and BYTES. */
#ifndef CT_STEP_WANTED_H
#define CT_STEP_WANTED_H

#include "analyzer/base/arena.h"
#include "analyzer/steps/sequence.h"

/* A part that is not what it should be: "PART WHY". */
struct ct_wanted_fault {
	const char *part; /* in what was written */
	int len;
	const char *why;
};

/* Is that how it is written? 0; CT_RANGE and *fault. Pure. */
int ct_wanted_check(const char *wanted, struct ct_wanted_fault *fault);

/* Marks the symbols that are meant in chosen[n_symbols] and returns how many there are. */
uint32_t ct_wanted_choose(const struct ct_sequence *sequence, const char *wanted, uint8_t *chosen);

/* A sentence that names what could have been meant, the likeliest first; NULL: out of memory. */
const char *ct_wanted_others(const struct ct_sequence *sequence, const char *wanted,
			     struct ct_arena *memory);

#endif
