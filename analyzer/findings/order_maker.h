/* SPDX-License-Identifier: Apache-2.0 */
/* order_maker.h — what the findings about order are made with: order_findings.c chooses, divergence_findings.c and
 * pair_findings.c write. Private to these; one thread. */
#ifndef CT_ORDER_MAKER_H
#define CT_ORDER_MAKER_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/model/model.h"
#include "analyzer/order/divergence.h"
#include "analyzer/order/order_book.h"

/* Ranks that a line names. */
#define CT_ORDER_NAMED 8u

struct ct_order_maker {
	const struct ct_model *model;
	const struct ct_order_book *book;
	struct ct_findings *list;
	const struct ct_comm *comm;
	const struct ct_order *order; /* NULL: nothing is kept of it */
	uint8_t *set;		      /* enum ct_apart_set by member */
	struct ct_apart apart;
	uint64_t instances;   /* that contradict each other */
	struct ct_finding *f; /* being made */
};

/* Begin one about the communicator; `call` names its operation. */
void ct_order_begin(struct ct_order_maker *maker, enum ct_finding_kind kind,
		    const struct ct_order_call *call);

/* Its ranks: those of one set, or of both. */
void ct_order_ranks(struct ct_order_maker *maker, int odd, int usual);

void ct_order_evidence(struct ct_order_maker *maker, const char *name, const char *unit,
		       double value);

/* No more than this, and less where it is not sure that the communicator is one. */
enum ct_confidence ct_order_confidence(const struct ct_order_maker *maker,
				       enum ct_confidence confidence);

/* The ranks of a set, as a text; a call site as one word; an operation's name. */
const char *ct_order_ranks_text(const struct ct_order_maker *maker, unsigned which);
const char *ct_order_site_word(struct ct_arena *memory, const struct ct_site *site);
const char *ct_order_op_text(const struct ct_order_maker *maker, const struct ct_order_call *call);

/* maker->apart is a finding: MISMATCH, SKIPPED_OP, EXTRA_OP, or UNEVEN_INPUT where sizes differ at the end only. 0 or
 * CT_NOMEM. */
void ct_apart_finding(struct ct_order_maker *maker);

/* A pair of ranks whose messages do not fit is a MISMATCH. 1, 0 (it does not count), or CT_NOMEM. */
int ct_pair_finding(struct ct_order_maker *maker, const struct ct_pair *pair);

/* Ranks that ended in order while others of the communicator wait for their messages: UNEVEN_INPUT. As above. */
int ct_awaited_finding(struct ct_order_maker *maker);

/* Where the two sides of maker->f made the call (struct ct_finding_site); NULL: not known. */
struct ct_order_side {
	const char *whose;
	const struct ct_site *site;
};
void ct_order_sites(struct ct_order_maker *maker, struct ct_order_side one,
		    struct ct_order_side other);

#endif
