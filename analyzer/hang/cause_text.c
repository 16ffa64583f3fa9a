/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the row of hang_texts.def that explains a root beyond its code. */
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/hang/verdict_text.h"

const struct ct_hang_mismatch *ct_hang_mismatch_of(const struct ct_verdict_text *s)
{
	uint32_t node = s->root->nodes[0], of = ct_wait_of(s->w, node);

	switch (ct_wait_kind(s->w, node)) {
	case CT_NODE_MISMATCH:
		return s->w->mismatches[of];
	case CT_NODE_MISMATCHED:
		return s->w->mismatched[of];
	default:
		return NULL;
	}
}

static int are_stopped(const struct ct_verdict_text *s)
{
	for (uint32_t k = 0; k < s->root->n_ranks; k++)
		if (!s->w->ix->c->ranks[s->root->ranks[k]].stopped_pid)
			return 0;
	return s->root->n_ranks > 0;
}

static enum ct_hang_cause of_absent(const struct ct_verdict_text *s)
{
	uint32_t node = s->root->nodes[0];
	const struct ct_hang_rank *r;

	if (are_stopped(s))
		return CT_HANG_CAUSE_STOPPED;
	if (s->root->n_ranks != 1)
		return CT_HANG_CAUSE_NONE;
	if (ct_wait_kind(s->w, node) == CT_NODE_LEFT)
		return CT_HANG_CAUSE_LEAVES;
	if (s->w->nodes[node].about != CT_HANG_NONE)
		return CT_HANG_CAUSE_IN_CALL;
	r = &s->w->ix->c->ranks[s->root->ranks[0]];
	if (r->cpu_ns == CT_UNKNOWN)
		return CT_HANG_CAUSE_NONE;
	return r->cpu_ns > CT_CPU_NS ? CT_HANG_CAUSE_BUSY : CT_HANG_CAUSE_ASLEEP;
}

int ct_hang_most_exited(const struct ct_verdict_text *s)
{
	const struct ct_hang_instance *i;

	if (s->root->code != CT_HANG_IS_EXITED_RANK || s->root->met == CT_HANG_NONE ||
	    ct_wait_kind(s->w, s->root->met) != CT_NODE_INSTANCE)
		return 0;
	i = &s->w->ix->instances[ct_wait_of(s->w, s->root->met)];
	return !i->p2p && 2 * (uint64_t)s->root->n_ranks >= s->w->ix->c->comms[i->comm].n;
}

/* Some ended without their library's end. */
static enum ct_hang_cause of_exited(const struct ct_verdict_text *s)
{
	for (uint32_t k = 0; k < s->root->n_ranks; k++) {
		const struct ct_hang_rank *r = &s->w->ix->c->ranks[s->root->ranks[k]];

		if (r->left || r->by__exit)
			return CT_HANG_CAUSE_UNCLEAN;
	}
	return ct_hang_most_exited(s) ? CT_HANG_CAUSE_MOST_EXITED : CT_HANG_CAUSE_NONE;
}

static enum ct_hang_cause of_unknown(const struct ct_root *root)
{
	if (root->by_any && root->n_ranks > 1)
		return CT_HANG_CAUSE_ANY_SENDER;
	if (root->fresh)
		return CT_HANG_CAUSE_FRESH;
	if (root->unseen)
		return root->circle ? CT_HANG_CAUSE_CIRCLE_UNSEEN : CT_HANG_CAUSE_UNSEEN;
	if (root->circle)
		return root->asks ? CT_HANG_CAUSE_PROBE : CT_HANG_CAUSE_CIRCLE;
	return CT_HANG_CAUSE_NONE;
}

/* Between GPUs of one host there is no network to look at. Unknown hosts may be several. */
static enum ct_hang_cause of_stall(const struct ct_verdict_text *s)
{
	const struct ct_hang_case *c = s->w->ix->c;
	const char *host = s->root->n_ranks ? c->ranks[s->root->ranks[0]].host : NULL;

	if (!host || s->v->comm >= c->n_comms || c->comms[s->v->comm].backend != CT_BACKEND_NCCL)
		return CT_HANG_CAUSE_NONE;
	for (uint32_t k = 1; k < s->root->n_ranks; k++) {
		const char *other = c->ranks[s->root->ranks[k]].host;

		if (!other || strcmp(other, host) != 0)
			return CT_HANG_CAUSE_NONE;
	}
	return CT_HANG_CAUSE_ONE_HOST;
}

enum ct_hang_cause ct_hang_cause(const struct ct_verdict_text *s)
{
	const struct ct_root *root = s->root;

	if (root->code == CT_HANG_IS_NO_TRACE)
		return root->tie ? CT_HANG_CAUSE_UNDECIDED : CT_HANG_CAUSE_NONE;
	if (root->tie || ct_wait_kind(s->w, root->nodes[0]) == CT_NODE_MISMATCHED)
		return root->code == CT_HANG_IS_MISMATCH_COUNT ||
				       root->code == CT_HANG_IS_MISMATCH_DTYPE ||
				       root->code == CT_HANG_IS_MISMATCH_REDOP ||
				       root->code == CT_HANG_IS_MISMATCH_ROOT
			       ? CT_HANG_CAUSE_TWO_VALUES
			       : CT_HANG_CAUSE_DISAGREE;
	switch (root->code) {
	case CT_HANG_IS_NEVER_ENTERED:
		return of_absent(s);
	case CT_HANG_IS_EXITED_RANK:
		return of_exited(s);
	case CT_HANG_IS_UNKNOWN:
		return of_unknown(root);
	case CT_HANG_IS_DEAD_RANK:
	case CT_HANG_IS_ASYNC_ERROR:
		return CT_HANG_CAUSE_NONE;
	default:
		if (root->unnamed)
			return CT_HANG_CAUSE_UNNAMED;
		if (root->inverted && !root->circle)
			return CT_HANG_CAUSE_INVERTED;
		return root->code == CT_HANG_IS_TRANSPORT_STALL ? of_stall(s) : CT_HANG_CAUSE_NONE;
	}
}
