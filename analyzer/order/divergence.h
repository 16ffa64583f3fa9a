/* SPDX-License-Identifier: Apache-2.0 */
/* divergence.h — how members of a communicator came apart: did some call something else, leave operations out, or call more?
 *
 * Members are compared as two sets, `usual` and `odd`. With u(s) and o(s) what they called as number s, and D the first
 * number at which they contradict each other: the odd ones left k operations out if o(s) = u(s + k) from D on, they called
 * k more if o(s + k) = u(s), each for all s of which both are known, two at least. It was another call and nothing more
 * if they agree again after D. docs/dev/algorithms/order.md.
 *
 * Where the odd ones came no further than D, the operation behind it is known from habit: u is periodic before D, and what the
 * odd ones called in place of u(D) is what followed it the other times; or it is the one before it again, and so one more.
 *
 * Where an operation happens to look like the one that it is paired with, they have come apart before D. That shows in
 * call sites only: from D back, as long as the sets' sites differ, the operation before may be the first.
 * Pure; one thread. */
#ifndef CT_ANALYZER_ORDER_DIVERGENCE_H
#define CT_ANALYZER_ORDER_DIVERGENCE_H

#include "analyzer/model/finding.h"
#include "analyzer/order/order.h"

/* In which set a member is. */
enum ct_divergence_set { CT_DIVERGENCE_UNSEEN, CT_DIVERGENCE_USUAL, CT_DIVERGENCE_ODD };

enum ct_divergence_how { CT_DIVERGENCE_CALL, CT_DIVERGENCE_SKIPPED, CT_DIVERGENCE_EXTRA };

#define CT_DIVERGENCE_MOST 8u /* size: operations left out, or called beside the others' */

struct ct_divergence {
	enum ct_divergence_how how; /* as the odd ones did */
	int has_minority; /* the odd ones are fewer than the usual; else nobody can tell which of them are right */
	int is_sure;   /* and would be, whatever those who were not seen called */
	uint32_t by;   /* left out, or called more; 0: neither, or it is not told which of them */
	uint32_t fits; /* operations that show it */
	int by_habit; /* what shows it is what the usual ones called the other times: they came no further */
	int is_either; /* calls alternate: they left out what the usual ones call at `seq`, or called their own once too often; `by` is 0 */
	int may_be_earlier; /* before `seq` the usual ones, or of one too many the odd ones, called the like: any of them may be it */
	uint64_t seq;	    /* where it began */
	uint64_t clash; /* where the calls first contradict each other; UINT64_MAX: nowhere, only sites differ */
	uint32_t n_usual, n_odd, n_unseen;
	struct ct_order_call usual,
		odd; /* at `seq`; which of them is missing or too much follows from `how` */
	enum ct_mismatch_field field; /* in which these differ at `clash` */
	int has_sites;		      /* sites of the sets differ from site_seq on */
	uint64_t site_seq;
	const struct ct_site *usual_site, *odd_site;
};

/* Members contradict each other at `seq`, and in `instances` from there on. set[nranks] gets everybody's set. 1; 0 if what they
 * called there is not kept. */
int ct_divergence_by_call(const struct ct_order *order, uint64_t seq, uint64_t instances,
			  uint8_t *set, struct ct_divergence *out);

/* How sure it is. */
enum ct_confidence ct_divergence_confidence(const struct ct_divergence *apart);

/* Up to before `seq` no call contradicts another, but the odd ones of `set` (given) called `more` operations more than
 * the usual (negative: fewer), of which `seq` is the first that was not called by all. Do sites tell where? 1 or 0. */
int ct_divergence_by_site(const struct ct_order *order, uint64_t seq, const uint8_t *set,
			  int64_t more, struct ct_divergence *out);

#endif
