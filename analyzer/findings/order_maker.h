/* SPDX-License-Identifier: Apache-2.0 */
/* order_maker.h — shared by order_findings.c, which chooses, and divergence_findings.c and
 * pair_findings.c, which write. Private to these; one thread. */
#ifndef CT_ANALYZER_FINDINGS_ORDER_MAKER_H
#define CT_ANALYZER_FINDINGS_ORDER_MAKER_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/model/model.h"
#include "analyzer/order/divergence.h"
#include "analyzer/order/order_book.h"

struct ct_order_maker {
	const struct ct_model *model;
	const struct ct_order_book *book;
	struct ct_findings *list;
	const struct ct_comm *comm;
	const struct ct_order *order; /* NULL: not kept */
	uint8_t *set;		      /* enum ct_divergence_set by member */
	struct ct_divergence apart;
	uint64_t instances;   /* with contradictions */
	struct ct_finding *f; /* being made */
};

/* Begins a finding about the communicator; `call` names its operation. */
void ct_order_begin(struct ct_order_maker *maker, enum ct_finding_kind kind,
		    const struct ct_order_call *call);

/* Sets its ranks: those of one set, or of both. */
void ct_order_ranks(struct ct_order_maker *maker, int odd, int usual);

void ct_order_evidence(struct ct_order_maker *maker, const char *name, const char *unit,
		       double value);

/* Sets at most this confidence, and a lower one if the communicator's identity is not certain. */
enum ct_confidence ct_order_confidence(const struct ct_order_maker *maker,
				       enum ct_confidence confidence);

/* The ranks of a set, as a text, and as words ("ranks 0,1"); a call site as one word; an
 * operation's name. */
const char *ct_order_ranks_text(const struct ct_order_maker *maker, unsigned which);
const char *ct_order_ranks_words(const struct ct_order_maker *maker, unsigned which);
const char *ct_order_site_word(struct ct_arena *memory, const struct ct_site *site);
const char *ct_order_op_text(const struct ct_order_maker *maker, const struct ct_order_call *call);

/* Adds maker->apart as a finding: MISMATCH, SKIPPED_OP, EXTRA_OP, or UNEVEN_INPUT where sizes
 * differ only at the end. 0 or CT_NOMEM. */
void ct_divergence_finding(struct ct_order_maker *maker);

/* A pair of ranks whose messages do not match is a MISMATCH. 1, 0 (it does not count), or CT_NOMEM.
 */
int ct_pair_finding(struct ct_order_maker *maker, const struct ct_pair *pair);

/* UNEVEN_INPUT: ranks that exited cleanly while others of the communicator wait for their messages.
 * As above. */
int ct_awaited_finding(struct ct_order_maker *maker);

/* The call sites of the two sides of maker->f (struct ct_finding_site); NULL: unknown. */
struct ct_order_side {
	const char *whose;
	const struct ct_site *site;
};
void ct_order_sites(struct ct_order_maker *maker, struct ct_order_side one,
		    struct ct_order_side other);

/* The finding's ranks and communicator, as pairs. */
void ct_order_put_ranks(struct ct_order_maker *maker);

#endif
