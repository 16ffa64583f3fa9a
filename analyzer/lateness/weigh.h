/* SPDX-License-Identifier: Apache-2.0 */
/* weigh.h — from a pass to findings about late ranks. What is made of all findings is findings/choose.h's. */
#ifndef CT_BLAME_VERDICT_H
#define CT_BLAME_VERDICT_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/stream/stream.h"

/* Evidence that makes "nobody is slow" an answer. */
#define CT_VERDICT_MIN_MATCHED 20u
/* Less of the run inside communication than this, and communication is not the matter. */
#define CT_VERDICT_COMM_PCT 5.0

/* The set of seats that a second reading weighed. */
struct ct_set_result {
	const uint8_t *in_set; /* NULL: there was no second reading */
	uint32_t size;
	const struct ct_blame *blame;
	struct ct_replayed replayed;
	struct ct_charge charge; /* once it was weighed */
};

/* Sets pass->rounds from the cycles of the run (n + 1 times; none, if n is 0). Before all that follows. */
void ct_verdict_rounds(struct ct_pass *pass, const uint64_t *cut_ns, uint32_t n_cycles);

/* Seats that may be guilty by themselves, each weighed. charges[seat]; 0 or CT_NOMEM. */
int ct_verdict_weigh(const struct ct_pass *pass, struct ct_charge *charges);

/* Adds to the list what the pass itself tells; set->charge. 0 or CT_NOMEM. */
int ct_verdict_collect(const struct ct_pass *pass, const struct ct_charge *charges,
		       struct ct_set_result *set, const struct ct_report *report,
		       struct ct_findings *list);

/* Did somebody else come later than the seat in sum? Then it is not known who held up whom. */
int ct_verdict_is_contradicted(const struct ct_pass *pass, uint32_t seat);

/* Operations in CUDA graphs that could not be followed: from there on the numbers of a rank's operations are not those of
 * the others. */
uint64_t ct_verdict_order_lost(const struct ct_pass *pass);

#endif
