/* SPDX-License-Identifier: Apache-2.0 */
/* divergence.h — how members of a communicator diverged: another call, skipped operations, or extra
 * ones.
 *
 * Members are compared as two sets, `usual` and `odd`. Let u(s) and o(s) be their calls with number
 * s, and D the first number at which they contradict each other. The odd ones skipped k operations
 * if o(s) = u(s + k) from D on; they called k extra ones if o(s + k) = u(s); each for all s with
 * both calls known, two at least. It was only another call if they agree again after D.
 * docs/dev/algorithms/order.md.
 *
 * If the odd ones made no progress beyond D, habit shows the operation that follows: u is periodic
 * before D, and the odd ones called instead of u(D) what usually followed it, or the one before it
 * again, which is an extra call.
 *
 * If an operation happens to equal the one that it is compared with, the sets diverged before D.
 * Only call sites show that: going back from D, as long as the sets' sites differ, the operation
 * before may be the first. Pure; one thread. */
#ifndef CT_ANALYZER_ORDER_DIVERGENCE_H
#define CT_ANALYZER_ORDER_DIVERGENCE_H

#include "analyzer/model/finding.h"
#include "analyzer/order/order.h"

/* The set of a member. */
enum ct_divergence_set { CT_DIVERGENCE_UNSEEN, CT_DIVERGENCE_USUAL, CT_DIVERGENCE_ODD };

enum ct_divergence_how { CT_DIVERGENCE_CALL, CT_DIVERGENCE_SKIPPED, CT_DIVERGENCE_EXTRA };

#define CT_DIVERGENCE_MOST 8u /* size: operations left out, or called beside the others' */

struct ct_divergence {
	enum ct_divergence_how how; /* agree with the odd ones */
	int has_minority; /* the odd ones are fewer than the usual; otherwise which of them are
			     right is unknown */
	int is_sure;	  /* and would be, whatever the members without a record called */
	uint32_t by;	  /* skipped, or extra; 0: neither, or it is unknown which */
	uint32_t fits;	  /* operations that are evidence */
	int by_habit;  /* the evidence is what the usual ones called in earlier steps: the odd ones
			  made no progress */
	int is_either; /* calls alternate: they left out what the usual ones call at `seq`, or
			  called their own once too often; `by` is 0 */
	int may_be_earlier; /* before `seq` the usual ones (for an extra call, the odd ones) made
			       equal calls: any of them may be it */
	uint64_t seq;	    /* where the divergence began */
	uint64_t clash; /* where calls first contradict each other; UINT64_MAX: nowhere, only sites
			   differ */
	uint32_t n_usual, n_odd, n_unseen;
	struct ct_order_call usual,
		odd; /* at `seq`; which of them is missing or too much follows from `how` */
	enum ct_mismatch_field field; /* the field that differs at `clash` */
	int has_sites;		      /* sites of the sets differ from site_seq on */
	uint64_t site_seq;
	const struct ct_site *usual_site, *odd_site;
};

/* Members contradict each other at `seq`, and in `instances` from there on. Fills set[nranks]. 1; 0
 * if their calls there were not kept. */
int ct_divergence_by_call(const struct ct_order *order, uint64_t seq, uint64_t instances,
			  uint8_t *set, struct ct_divergence *out);

/* How sure it is. */
enum ct_confidence ct_divergence_confidence(const struct ct_divergence *apart);

/* No call before `seq` contradicts another, but the odd ones of `set` (given) made `more` calls
 * more than the usual (negative: fewer); `seq` is the first that not all members called. Do sites
 * show where? 1 or 0. */
int ct_divergence_by_site(const struct ct_order *order, uint64_t seq, const uint8_t *set,
			  int64_t more, struct ct_divergence *out);

#endif
