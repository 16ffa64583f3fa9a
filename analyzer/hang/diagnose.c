/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/diagnose.h"

#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/hang/verdict_text.h"
#include "trace/status.h"

static const struct {
	const char *anchor;
	int precedence;
} codes[] = {
#define HANG_CODE(CODE, precedence, headline, cause, advice, host_advice, command, host_command,   \
		  anchor)                                                                          \
	{ anchor, precedence },
#include "analyzer/hang/hang_texts.def"
};

static int *numbers(const struct ct_hang_index *ix, const uint32_t *ranks, uint32_t n)
{
	int *all = ct_arena_calloc(ix->arena, (size_t)n + 1, sizeof(*all));

	for (uint32_t k = 0; all && k < n; k++)
		all[k] = ix->c->ranks[ranks[k]].rank;
	return all;
}

/* Did all its ranks exit without shutting down their library? Launchers end a job for that. */
static int has_left(const struct ct_waiting *w, const struct ct_root *root)
{
	for (uint32_t k = 0; k < root->n_ranks; k++)
		if (!w->ix->c->ranks[root->ranks[k]].left)
			return 0;
	return root->code == CT_HANG_IS_EXITED_RANK;
}

/* Does this root get a verdict? May change its code. */
static int gets_verdict(const struct ct_waiting *w, struct ct_root *root)
{
	enum ct_wait_kind kind = ct_wait_kind(w, root->nodes[0]);

	if (!root->n_ranks || root->excused)
		return 0;
	/* Where the job made progress until a process died or the job was ended, only that death,
	 * or ranks that diverged, explain it. */
	if (root->died_first)
		return root->code == CT_HANG_IS_DEAD_RANK || has_left(w, root) ||
		       ((root->killed || w->ix->c->broken_off) &&
			(kind == CT_NODE_MISMATCH || kind == CT_NODE_MISMATCHED)) ||
		       (root->killed && root->code == CT_HANG_IS_ASYNC_ERROR);
	/* If any of several ranks might have sent the message, none of them is at fault. */
	if (root->by_any && root->n_ranks > 1 && root->code != CT_HANG_IS_NO_TRACE)
		root->code = CT_HANG_IS_UNKNOWN;
	return 1;
}

/* The first operation at or after a divergence in which a rank waits. */
static const struct ct_hang_instance *first_open(const struct ct_hang_index *ix, uint32_t from)
{
	uint32_t end = ix->instance_first[ix->instances[from].comm + 1];

	for (uint32_t at = from; at < end && !ix->instances[at].p2p; at++)
		for (uint32_t k = 0; k < ix->instances[at].n; k++)
			if (ix->c->ops[ix->parts[ix->instances[at].first + k]].state !=
			    CT_STATE_FINISHED)
				return &ix->instances[at];
	return &ix->instances[from];
}

/* The op that the verdict is about: in what others wait for the root, its longest; else the first
 * of the root itself. */
static uint32_t main_op(const struct ct_waiting *w, const struct ct_root *root)
{
	uint32_t node = root->nodes[0], best = CT_HANG_NONE, of;
	const struct ct_hang_instance *i = NULL;

	if (ct_wait_kind(w, node) == CT_NODE_MISMATCH)
		i = first_open(w->ix, w->mismatches[ct_wait_of(w, node)]->instance);
	else if (ct_wait_kind(w, node) == CT_NODE_MISMATCHED)
		i = &w->ix->instances[ct_wait_of(w, node)];
	else if (root->met != CT_HANG_NONE && ct_wait_kind(w, root->met) == CT_NODE_INSTANCE)
		i = &w->ix->instances[ct_wait_of(w, root->met)];
	for (uint32_t k = i ? i->first : 0; i && k < i->first + i->n; k++) {
		const struct ct_hang_op *op = &w->ix->c->ops[w->ix->parts[k]];

		if (op->state == CT_STATE_FINISHED && i->n > 1 && best != CT_HANG_NONE)
			continue;
		if (best == CT_HANG_NONE || w->ix->c->ops[best].state == CT_STATE_FINISHED ||
		    (op->enter_ns != CT_UNKNOWN && op->enter_ns < w->ix->c->ops[best].enter_ns))
			best = w->ix->parts[k];
	}
	if (i || root->met != CT_HANG_NONE)
		return best;
	for (uint32_t k = 0; k < root->n_nodes; k++) {
		of = ct_wait_of(w, root->nodes[k]);
		if (ct_wait_kind(w, root->nodes[k]) == CT_NODE_KERNEL)
			return w->ix->kernel_ops[w->ix->kernels[of].first];
	}
	return CT_HANG_NONE;
}

static int describe(const struct ct_waiting *w, const struct ct_components *c,
		    const struct ct_root *root, struct ct_hang_verdict *v)
{
	const struct ct_hang_index *ix = w->ix;
	struct ct_verdict_text text = { .w = w, .c = c, .root = root, .v = v };
	uint32_t rank = CT_HANG_NONE;
	int rc = CT_OK, *ranks, *victims;

	v->code = root->code;
	ranks = numbers(ix, root->ranks, root->n_ranks);
	victims = numbers(ix, root->victims, root->n_victims);
	if (!ranks || !victims)
		return CT_NOMEM;
	qsort(ranks, root->n_ranks, sizeof(*ranks), ct_by_int);
	qsort(victims, root->n_victims, sizeof(*victims), ct_by_int);
	v->ranks = ranks;
	v->victims = victims;
	v->n_ranks = root->n_ranks;
	v->n_victims = root->n_victims;
	v->anchor = codes[root->code].anchor;
	v->op = main_op(w, root);
	v->comm = CT_HANG_NONE;
	v->seq = v->since_ns = v->since_err_ns = v->age_ns = CT_UNKNOWN;
	if (v->op != CT_HANG_NONE) {
		const struct ct_hang_op *op = &ix->c->ops[v->op];

		rank = op->rank;
		v->comm = op->comm < ix->c->n_comms ? op->comm : CT_HANG_NONE;
		v->call = op->call;
		v->site = op->site;
		v->seq = op->seq;
		v->since_ns = op->enter_ns;
	} else if (root->met != CT_HANG_NONE && w->nodes[root->met].about != CT_HANG_NONE) {
		const struct ct_hang_call *call = &ix->c->calls[w->nodes[root->met].about];

		rank = call->rank;
		v->comm = call->comm < ix->c->n_comms ? call->comm : CT_HANG_NONE;
		v->call = call->call;
		v->site = call->site;
		v->since_ns = call->enter_ns;
	}
	if (rank != CT_HANG_NONE)
		v->since_err_ns = ix->c->ranks[rank].err_ns;
	if (v->since_ns != CT_UNKNOWN && ix->latest_ns >= v->since_ns)
		v->age_ns = ix->latest_ns - v->since_ns;
	if (ct_wait_kind(w, root->nodes[0]) == CT_NODE_MISMATCH)
		v->divergence = w->mismatches[ct_wait_of(w, root->nodes[0])]->by_site;
	rc = ct_hang_confidence(&text);
	rc = rc ?: ct_hang_verdict_texts(&text);
	return rc == CT_OK ? ct_hang_facts(&text) : rc;
}

CT_SORT_BY(by_weight, struct ct_hang_verdict,
	   CT_DOWN(n_victims) ?: CT_CMP(codes[x->code].precedence, codes[y->code].precedence) ?:
	   CT_UP(since_ns) ?: CT_UP(code) ?: (x->n_ranks && y->n_ranks ? CT_UP(ranks[0]) : 0))

CT_SORT_BY(by_age, struct ct_hang_slow, CT_DOWN(age_ns) ?: CT_UP(op))

/* Unfinished operations that are not stalled, the oldest first. */
static int list_slow(const struct ct_hang_index *ix, struct ct_hang_result *result)
{
	struct ct_hang_slow *all = ct_arena_calloc(ix->arena, (size_t)ix->c->n_ops + 1,
						   sizeof(*all));
	uint32_t n = 0;

	if (!all)
		return CT_NOMEM;
	for (uint32_t i = 0; i < ix->c->n_ops; i++) {
		const struct ct_hang_op *op = &ix->c->ops[i];

		if (op->stalled == 1 || (op->stalled && ix->c->died_first) ||
		    op->rank >= ix->c->n_ranks || op->enter_ns == CT_UNKNOWN ||
		    op->enter_ns > ix->latest_ns ||
		    (op->state != CT_STATE_ENTERED && op->state != CT_STATE_RETURNED &&
		     op->state != CT_STATE_STARTED))
			continue;
		all[n++] = (struct ct_hang_slow){ i, ix->latest_ns - op->enter_ns };
	}
	qsort(all, n, sizeof(*all), by_age);
	result->not_stalled = all;
	result->n_not_stalled = n < CT_HANG_SLOW ? n : CT_HANG_SLOW;
	result->all_not_stalled = n;
	return CT_OK;
}

static int list_missing(const struct ct_hang_index *ix, struct ct_hang_result *result)
{
	result->missing = ct_arena_calloc(ix->arena, (size_t)ix->c->n_ranks + 1,
					  sizeof(*result->missing));
	if (!result->missing)
		return CT_NOMEM;
	for (uint32_t r = 0; r < ix->c->n_ranks; r++) {
		const struct ct_hang_rank *rank = &ix->c->ranks[r];
		const char *text = rank->process == CT_PROCESS_NO_TRACE
					   ? ct_hang_text_of(CT_HANG_TEXT_NO_FILES)
				   : rank->cut ? ct_hang_text_of(CT_HANG_TEXT_RECORDS_DROPPED)
					       : NULL;

		if (text)
			result->missing[result->n_missing++] = (struct ct_hang_missing){ rank->rank,
											 text };
	}
	return CT_OK;
}

/* A blocked stream delays the other members of its operation. If none of them waits, the stream may
 * only be late, as on a busy machine. */
static void doubt_unmissed(struct ct_roots *roots)
{
	for (uint32_t r = 0; r < roots->n; r++)
		if (roots->all[r].code == CT_HANG_IS_STREAM_BLOCKED && !roots->all[r].n_victims)
			roots->all[r].code = CT_HANG_IS_UNKNOWN;
}

static int is_in(uint32_t rank, const uint32_t *ranks, uint32_t n)
{
	uint32_t low = CT_BISECT(i, 0, n, ranks[i] < rank);

	return low < n && ranks[low] == rank;
}

/* Is it known of another root that this rank waits for it? */
static int waits_elsewhere(const struct ct_roots *roots, const struct ct_root *but, uint32_t rank)
{
	for (const struct ct_root *r = roots->all; r < roots->all + roots->n; r++)
		if (r != but && r->code != CT_HANG_IS_UNKNOWN &&
		    r->code != CT_HANG_IS_TRANSPORT_STALL && is_in(rank, r->victims, r->n_victims))
			return 1;
	return 0;
}

/* Has this rank an unfinished request to which another rank has not come? It need not be old yet. */
static int lacks_other_end(const struct ct_hang_index *ix, uint32_t rank)
{
	for (uint32_t k = ix->rank_kernels[rank]; k < ix->rank_kernels[rank + 1]; k++) {
		const struct ct_hang_kernel *kernel = &ix->kernels[k];

		for (uint32_t o = kernel->first; o < kernel->first + kernel->n; o++) {
			uint32_t op = ix->kernel_ops[o], of = ix->instance_of[op];

			if (ct_hang_is_request(ix, op) && of != CT_HANG_NONE &&
			    ix->instances[of].p2p &&
			    (!ix->instances[of].sent || !ix->instances[of].taken))
				return 1;
		}
	}
	return 0;
}

/* MPI_Waitall reports no request before all are complete. So a request is not known to be
 * incomplete if its ranks wait there for another root, or for a request without its other end. */
static void excuse_requests(const struct ct_waiting *w, struct ct_roots *roots)
{
	const struct ct_hang_index *ix = w->ix;

	for (struct ct_root *root = roots->all; root < roots->all + roots->n; root++) {
		int excused = root->code == CT_HANG_IS_TRANSPORT_STALL;

		for (uint32_t k = 0; k < root->n_nodes && excused; k++) {
			uint32_t of = ct_wait_of(w, root->nodes[k]);
			const struct ct_hang_instance *i = &ix->instances[of];

			excused = ct_wait_kind(w, root->nodes[k]) == CT_NODE_INSTANCE;
			for (uint32_t p = i->first; excused && p < i->first + i->n; p++) {
				uint32_t rank = ix->c->ops[ix->parts[p]].rank;

				excused = ct_hang_is_request(ix, ix->parts[p]) &&
					  (waits_elsewhere(roots, root, rank) ||
					   lacks_other_end(ix, rank));
			}
		}
		root->excused = (uint8_t)excused;
	}
}

int ct_hang_diagnose(const struct ct_hang_case *c, struct ct_arena *arena,
		     struct ct_hang_result **out)
{
	struct ct_hang_result *result = ct_arena_calloc(arena, 1, sizeof(*result));
	struct ct_hang_index *ix;
	struct ct_waiting *w = NULL;
	struct ct_components components;
	struct ct_roots roots = { 0 };
	int rc = CT_NOMEM;

	if (!result || ct_hang_index(c, arena, &ix) != CT_OK)
		return CT_NOMEM;
	if (list_slow(ix, result) != CT_OK || list_missing(ix, result) != CT_OK)
		return CT_NOMEM;
	rc = ct_waiting_make(ix, &w);
	rc = rc ?: ct_components_find(w, &components);
	rc = rc ?: ct_roots_find(w, &components, &roots);
	rc = rc ?: ct_roots_victims(w, &roots);
	doubt_unmissed(&roots);
	if (rc == CT_OK)
		excuse_requests(w, &roots);
	rc = rc ?: ct_roots_unknown_members(w, &roots);
	if (rc == CT_OK) {
		result->verdicts = ct_arena_calloc(arena, (size_t)roots.n + 1,
						   sizeof(*result->verdicts));
		rc = result->verdicts ? CT_OK : CT_NOMEM;
	}
	for (uint32_t r = 0; r < roots.n && rc == CT_OK; r++)
		if (gets_verdict(w, &roots.all[r]))
			rc = describe(w, &components, &roots.all[r],
				      &result->verdicts[result->n_verdicts++]);
	ct_waiting_fini(w);
	if (rc == CT_OK && ct_arena_failed(arena))
		rc = CT_NOMEM;
	if (rc != CT_OK)
		return rc;
	qsort(result->verdicts, result->n_verdicts, sizeof(*result->verdicts), by_weight);
	*out = result;
	return CT_OK;
}
