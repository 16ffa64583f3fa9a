/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/say.h"

#include "trace/status.h"

/* What was known last of a rank may have changed if it is older than this, ns. */
#define CT_OLD_NS 10000000000ull
#define CT_REASONS 10u

static void lower(struct ct_hang_verdict *v, enum ct_confidence to, const char *reason)
{
	if (v->n_reasons < CT_REASONS)
		v->reasons[v->n_reasons++] = reason;
	if (to < v->confidence)
		v->confidence = to;
}

static int is_old(const struct ct_say *s, uint32_t rank)
{
	const struct ct_hang_rank *r = &s->w->ix->c->ranks[rank];
	uint64_t latest = s->w->ix->latest_ns;

	if (r->life != CT_LIFE_ALIVE)
		return 0;
	return (r->heartbeat_age_ns != CT_UNKNOWN && r->heartbeat_age_ns > CT_OLD_NS) ||
	       (r->records_until_ns != CT_UNKNOWN && latest > r->records_until_ns &&
		latest - r->records_until_ns > CT_OLD_NS);
}

/* Does it rest on that a rank has not issued something? */
static int by_absence(enum ct_hang_code code)
{
	return code == CT_HANG_IS_NEVER_ENTERED || code == CT_HANG_IS_EXITED_RANK ||
	       code == CT_HANG_IS_P2P_UNMATCHED || code == CT_HANG_IS_HOST_ORDER_DEADLOCK;
}

static int is_by_host(const struct ct_say *s)
{
	return s->v->op != CT_HANG_NONE && s->w->ix->c->ops[s->v->op].by_host;
}

/* How the ranks came apart, if that is it; NULL. */
static const struct ct_hang_mismatch *mismatch_of(const struct ct_say *s)
{
	uint32_t node = s->root->nodes[0];

	return ct_wait_kind(s->w, node) == CT_NODE_MISMATCH
		       ? s->w->mismatches[ct_wait_of(s->w, node)]
		       : NULL;
}

/* Those who left no trace, or not all of it, might have said the same as the fewer. */
static int may_tip(const struct ct_say *s, const struct ct_hang_mismatch *m)
{
	const struct ct_hang_index *ix = s->w->ix;
	const struct ct_hang_instance *i = &ix->instances[m->instance];
	uint32_t unknown = 0;

	for (uint32_t k = ix->member_first[i->comm]; k < ix->member_first[i->comm + 1]; k++) {
		uint32_t rank = ix->members[k].rank;

		unknown += rank == CT_HANG_NONE || ((ix->c->ranks[rank].life == CT_LIFE_NO_TRACE ||
						     ix->c->ranks[rank].cut) &&
						    ct_hang_part(ix, i, rank, 0) == CT_HANG_NONE);
	}
	return unknown && m->apart.n_usual <= m->apart.n_odd + unknown;
}

int ct_say_confidence(const struct ct_say *s)
{
	const struct ct_root *root = s->root;
	const struct ct_hang_case *c = s->w->ix->c;
	const struct ct_hang_mismatch *m = mismatch_of(s);
	struct ct_hang_verdict *v = s->v;
	int old = 0, cut = 0;

	v->reasons = ct_arena_calloc(s->w->ix->arena, CT_REASONS, sizeof(const char *));
	if (!v->reasons)
		return CT_NOMEM;
	v->confidence = CT_CONFIDENCE_HIGH;
	for (uint32_t k = 0; k < root->n_ranks; k++) {
		old |= is_old(s, root->ranks[k]);
		cut |= c->ranks[root->ranks[k]].cut;
	}
	if (v->op != CT_HANG_NONE)
		old |= is_old(s, c->ops[v->op].rank);
	if (root->code == CT_HANG_IS_NO_TRACE)
		lower(v, CT_CONFIDENCE_LOW, "what these ranks did is not on record");
	if (root->code == CT_HANG_IS_UNKNOWN)
		lower(v, CT_CONFIDENCE_LOW, "the cause is not on record");
	if (root->lacks && root->code != CT_HANG_IS_NO_TRACE)
		lower(v, CT_CONFIDENCE_LOW, "a rank that is waited for as well left no trace");
	if (old)
		lower(v, CT_CONFIDENCE_LOW, "what is known of a rank is older than 10 s");
	if (cut && by_absence(root->code))
		lower(v, CT_CONFIDENCE_LOW, "records of a rank are lost, so it may have issued it");
	if (m && may_tip(s, m))
		lower(v, CT_CONFIDENCE_LOW,
		      "ranks of which nothing is on record might tip the vote");
	else if (m && !m->tie && !m->apart.is_sure)
		lower(v, CT_CONFIDENCE_MEDIUM, "ranks that did not call it might tip the vote");
	if (m && !m->tie && m->apart.is_sure &&
	    ct_divergence_confidence(&m->apart) != CT_CONFIDENCE_HIGH)
		lower(v, CT_CONFIDENCE_MEDIUM,
		      "few operations show that one is missing or too many, and not another call");
	if (root->graph)
		lower(v, CT_CONFIDENCE_LOW, "what happens inside of a CUDA graph is not on record");
	if (root->by_any)
		lower(v, CT_CONFIDENCE_LOW, "somebody else might have sent what is waited for");
	if (!root->hard || root->soft)
		lower(v, CT_CONFIDENCE_MEDIUM,
		      "that a rank's program waits for its own operations is probable, not on "
		      "record");
	if (root->died_first && c->broken_off && !c->died_first)
		lower(v, CT_CONFIDENCE_MEDIUM,
		      "nothing had waited for long when the job was ended");
	if (root->tie)
		lower(v, CT_CONFIDENCE_MEDIUM, "which ranks are right cannot be told");
	if (root->unseen)
		lower(v, CT_CONFIDENCE_MEDIUM, "when kernels start is not known in host timing");
	if (root->code == CT_HANG_IS_TRANSPORT_STALL && is_by_host(s))
		lower(v, CT_CONFIDENCE_MEDIUM,
		      "all are inside of the call; what the library does there is not on record");
	return CT_OK;
}
