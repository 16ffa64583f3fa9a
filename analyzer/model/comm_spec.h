/* SPDX-License-Identifier: Apache-2.0 */
/* comm_spec.h: the communicator that a person means. Pure. */
#ifndef CT_ANALYZER_MODEL_COMM_SPEC_H
#define CT_ANALYZER_MODEL_COMM_SPEC_H

#include <stdint.h>

/* size: fewer first digits of a hash are likely those of another communicator, too. */
#define CT_COMM_SPEC_DIGITS 4u

/* Is `spec` the name (NULL: it has none), the name as tables print it (without MPI_COMM_, the
 * middle of a long one as ".."), or the first hexadecimal digits of the hash, CT_COMM_SPEC_DIGITS
 * at least? */
int ct_comm_spec_fits(const char *spec, const char *name, uint64_t key);

#endif
