/* SPDX-License-Identifier: Apache-2.0 */
/* weigh.h — from the evidence against ranks to charges: what each costs the others, and whether that is beyond doubt. One
 * thread. */
#ifndef CT_BLAME_VERDICT_H
#define CT_BLAME_VERDICT_H

#include "analyzer/lateness/lateness.h"
#include "analyzer/model/model.h"
#include "analyzer/order/order_book.h"

/* Evidence that makes "nobody is slow" an answer. */
#define CT_VERDICT_MIN_MATCHED 20u
/* Less of the run inside communication than this, and communication is not the matter. */
#define CT_VERDICT_COMM_PCT 5.0

/* Sets late->rounds from the cycles of the run (n + 1 times; none, if n is 0). Before all that follows. */
void ct_verdict_rounds(struct ct_lateness *late, const uint64_t *cut_ns, uint32_t n_cycles);

/* Seats that may be guilty by themselves, each weighed. charges[seat]; 0 or CT_NOMEM. */
int ct_verdict_weigh(const struct ct_lateness *late, struct ct_charge *charges);

/* Ranks that could be suspected. */
uint32_t ct_lateness_ranks_met(const struct ct_lateness *late);

/* Did somebody else come later than the seat in sum? Then it is not known who held up whom. */
int ct_verdict_is_contradicted(const struct ct_model *model, uint32_t seat);

#endif
