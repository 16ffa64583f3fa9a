/* SPDX-License-Identifier: Apache-2.0 */
/* comm_spec.h: how a communicator is called, and the one that a person means. Pure. */
#ifndef CT_ANALYZER_MODEL_COMM_SPEC_H
#define CT_ANALYZER_MODEL_COMM_SPEC_H

#include <stdint.h>

/* size: fewer first digits of a hash are likely those of another communicator, too. */
#define CT_COMM_SPEC_DIGITS 4u

/* The first eight digits of the hash. Of a number (its first eight digits are 0), as imports have:
 * the digits from the first that is not 0 on, CT_COMM_SPEC_DIGITS at least. */
struct ct_comm_digits {
	char s[20];
};
struct ct_comm_digits ct_comm_digits(uint64_t key);

/* Is `spec` the name (NULL: it has none), the name as tables print it (without MPI_COMM_, the
 * middle of a long one as ".."), the first hexadecimal digits of the hash, CT_COMM_SPEC_DIGITS
 * at least, or what ct_comm_digits() returns? */
int ct_comm_spec_fits(const char *spec, const char *name, uint64_t key);

#endif
