/* SPDX-License-Identifier: Apache-2.0 */
/* outlier_set.h — does a set of ranks that look slow together stand apart from the rest, or are they the upper end of a spread
 * that all ranks have?
 *
 * Ranks differ: some are always somewhat slower than others. Who takes the slowest ones of a wide spread names a set that
 * has nothing in common. Pure. */
#ifndef CT_BLAME_APART_SET_H
#define CT_BLAME_APART_SET_H

#include <stdint.h>

#include "analyzer/model/model.h"

struct ct_model;

/* slowness[seat] of whoever is compared (NAN: nobody); in_set by seat. Apart are those whose least slow one lies twice
 * as far beyond the slowest of the rest as the rest lies apart. Also if they are all the ranks of one host, where that would be
 * one in a hundred by chance. */
int ct_set_stands_apart(const struct ct_model *model, const double *slowness,
			const uint8_t *in_set);

#endif
