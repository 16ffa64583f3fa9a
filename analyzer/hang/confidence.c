/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/limits.h"
#include "analyzer/hang/verdict_text.h"

#include "trace/status.h"

static const struct {
	enum ct_confidence to;
	const char *text;
} doubts[] = {
#define HANG_DOUBT(NAME, confidence, text) { CT_CONFIDENCE_##confidence, text },
#include "analyzer/hang/hang_texts.def"
};

enum doubt {
#define HANG_DOUBT(NAME, confidence, text) DOUBT_##NAME,
#include "analyzer/hang/hang_texts.def"
	DOUBTS
};

static void lower(struct ct_hang_verdict *v, enum doubt why)
{
	v->reasons[v->n_reasons++] = doubts[why].text;
	if (doubts[why].to < v->confidence)
		v->confidence = doubts[why].to;
}

static int is_old(const struct ct_verdict_text *s, uint32_t rank)
{
	const struct ct_hang_rank *r = &s->w->ix->c->ranks[rank];
	uint64_t latest = s->w->ix->latest_ns;

	if (r->process != CT_PROCESS_ALIVE)
		return 0;
	return (r->heartbeat_age_ns != CT_UNKNOWN && r->heartbeat_age_ns > CT_OLD_FACTS_NS) ||
	       (r->records_until_ns != CT_UNKNOWN && latest > r->records_until_ns &&
		latest - r->records_until_ns > CT_OLD_FACTS_NS);
}

/* Does it rest on that a rank has not issued something? */
static int by_absence(enum ct_hang_code code)
{
	return code == CT_HANG_IS_NEVER_ENTERED || code == CT_HANG_IS_EXITED_RANK ||
	       code == CT_HANG_IS_P2P_UNMATCHED || code == CT_HANG_IS_HOST_ORDER_DEADLOCK;
}

static int is_by_host(const struct ct_verdict_text *s)
{
	return s->v->op != CT_HANG_NONE && s->w->ix->c->ops[s->v->op].by_host;
}

/* Might ranks without complete records have agreed with the minority? */
static int may_tip(const struct ct_verdict_text *s, const struct ct_hang_mismatch *m)
{
	const struct ct_hang_index *ix = s->w->ix;
	const struct ct_hang_instance *i = &ix->instances[m->instance];
	uint32_t unknown = 0;

	for (uint32_t k = ix->member_first[i->comm]; k < ix->member_first[i->comm + 1]; k++) {
		uint32_t rank = ix->members[k].rank;

		unknown += rank == CT_HANG_NONE ||
			   ((ix->c->ranks[rank].process == CT_PROCESS_NO_TRACE ||
			     ix->c->ranks[rank].cut) &&
			    ct_hang_part(ix, i, rank, 0) == CT_HANG_NONE);
	}
	return unknown && m->by_call.n_usual <= m->by_call.n_odd + unknown;
}

/* Has every rank aborted an op in which this one was? Then the job gave up on it, and the first one
 * to end is first by chance. */
static int is_given_up_by_all(const struct ct_hang_index *ix, uint32_t rank)
{
	for (uint32_t k = ix->rank_kernels[rank]; k < ix->rank_kernels[rank + 1]; k++) {
		for (uint32_t o = 0; o < ix->kernels[k].n; o++) {
			uint32_t of = ix->instance_of[ix->kernel_ops[ix->kernels[k].first + o]];
			uint32_t aborted = 0;

			if (of == CT_HANG_NONE || ix->instances[of].n < 2)
				continue;
			for (uint32_t p = 0; p < ix->instances[of].n; p++)
				aborted += ix->c->ops[ix->parts[ix->instances[of].first + p]]
						   .state == CT_STATE_ABORTED;
			if (aborted == ix->instances[of].n)
				return 1;
		}
	}
	return 0;
}

int ct_hang_confidence(const struct ct_verdict_text *s)
{
	const struct ct_root *root = s->root;
	const struct ct_hang_case *c = s->w->ix->c;
	const struct ct_hang_mismatch *m = ct_wait_kind(s->w, root->nodes[0]) == CT_NODE_MISMATCH
						   ? ct_hang_mismatch_of(s)
						   : NULL;
	struct ct_hang_verdict *v = s->v;
	int old = 0, cut = 0;

	v->reasons = ct_arena_calloc(s->w->ix->arena, DOUBTS, sizeof(const char *));
	if (!v->reasons)
		return CT_NOMEM;
	v->confidence = CT_CONFIDENCE_HIGH;
	for (uint32_t k = 0; k < root->n_ranks; k++) {
		old |= is_old(s, root->ranks[k]);
		cut |= c->ranks[root->ranks[k]].cut;
	}
	if (v->op != CT_HANG_NONE)
		old |= is_old(s, c->ops[v->op].rank);
	for (uint32_t k = 0; k < root->n_ranks && root->code == CT_HANG_IS_DEAD_RANK; k++) {
		if (is_given_up_by_all(s->w->ix, root->ranks[k])) {
			lower(v, DOUBT_GIVEN_UP);
			break;
		}
	}
	if (root->code == CT_HANG_IS_NO_TRACE)
		lower(v, DOUBT_NO_RECORD);
	if (root->code == CT_HANG_IS_UNKNOWN)
		lower(v, DOUBT_NO_CAUSE);
	if (root->lacks && root->code != CT_HANG_IS_NO_TRACE)
		lower(v, DOUBT_ALSO_MISSING);
	if (old)
		lower(v, DOUBT_OLD);
	if (cut && by_absence(root->code))
		lower(v, DOUBT_DROPPED);
	if (m && may_tip(s, m))
		lower(v, DOUBT_TIPPED_BY_MISSING);
	else if (m && !m->tie && !m->by_call.is_sure)
		lower(v, DOUBT_TIPPED);
	if (m && !m->tie && m->by_call.is_sure &&
	    ct_divergence_confidence(&m->by_call) != CT_CONFIDENCE_HIGH)
		lower(v, DOUBT_FEW_SHIFTED);
	if (root->graph)
		lower(v, DOUBT_GRAPH);
	if (root->by_any)
		lower(v, DOUBT_ANY_SENDER);
	if (!root->hard || root->soft)
		lower(v, DOUBT_PROGRAM_WAITS);
	if (root->died_first && c->broken_off && !c->died_first)
		lower(v, DOUBT_SHORT_WAIT);
	if (root->tie)
		lower(v, DOUBT_TIE);
	if (root->unseen)
		lower(v, DOUBT_NO_STARTS);
	if (root->code == CT_HANG_IS_TRANSPORT_STALL && is_by_host(s))
		lower(v, DOUBT_INSIDE);
	return CT_OK;
}
