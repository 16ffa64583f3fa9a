/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/verdict_text.h"

#include "trace/status.h"

/* size: ranks that are described one by one, and facts of each. */
#define CT_DESCRIBED 8u
#define CT_FACTS (CT_DESCRIBED * 8u + 8u)

static void add_text(struct ct_hang_verdict *v, const char *name, const char *text, int rank)
{
	if (text && *text && v->n_facts < CT_FACTS)
		v->facts[v->n_facts++] = (struct ct_hang_fact){ name, text, NULL, CT_UNKNOWN,
								rank };
}

static void add_value(struct ct_hang_verdict *v, const char *name, uint64_t value, const char *unit,
		      int rank)
{
	if (value != CT_UNKNOWN && v->n_facts < CT_FACTS)
		v->facts[v->n_facts++] = (struct ct_hang_fact){ name, NULL, unit, value, rank };
}

static const char *const states[] = {
	[CT_STATE_ENTERED] = "entered",	  [CT_STATE_RETURNED] = "returned",
	[CT_STATE_FINISHED] = "finished", [CT_STATE_ERROR] = "error",
	[CT_STATE_STARTED] = "started",	  [CT_STATE_ABORTED] = "aborted",
};

static void add_rank(const struct ct_verdict_text *s, uint32_t rank)
{
	const struct ct_hang_index *ix = s->w->ix;
	const struct ct_hang_rank *r = &ix->c->ranks[rank];
	uint32_t last = ct_hang_last_op_index(ix, rank);

	add_text(s->v, "host", r->host, r->rank);
	add_text(s->v, "how_it_ended", r->how_ended, r->rank);
	add_text(s->v, "error", r->error, r->rank);
	for (uint32_t i = ix->rank_calls[rank]; i < ix->rank_calls[rank + 1]; i++) {
		add_text(s->v, "inside_call", ix->c->calls[ix->calls[i]].call, r->rank);
		add_text(s->v, "inside_call_site", ix->c->calls[ix->calls[i]].site, r->rank);
	}
	if (last != CT_HANG_NONE) {
		const struct ct_hang_op *op = &ix->c->ops[last];

		add_text(s->v, "last_op", ct_hang_op_text(ix, last, CT_NAME_FULL), r->rank);
		if ((unsigned)op->state < sizeof(states) / sizeof(states[0]))
			add_text(s->v, "last_op_state", states[op->state], r->rank);
		add_text(s->v, "last_op_site", op->site, r->rank);
		if (op->enter_ns != CT_UNKNOWN && ix->latest_ns >= op->enter_ns)
			add_value(s->v, "last_op_entered_ago", ix->latest_ns - op->enter_ns, "ns",
				  r->rank);
	}
	if (r->process != CT_PROCESS_NO_TRACE)
		add_value(s->v, "heartbeat_age", r->heartbeat_age_ns, "ns", r->rank);
	add_value(s->v, "processor_time", r->cpu_ns, "ns", r->rank);
}

/* The rank whose call site the verdict has. */
static uint32_t who_waits(const struct ct_verdict_text *s)
{
	const struct ct_hang_case *c = s->w->ix->c;

	return s->v->op != CT_HANG_NONE ? c->ops[s->v->op].rank
					: c->calls[s->w->nodes[s->root->met].about].rank;
}

int ct_hang_facts(const struct ct_verdict_text *s)
{
	const struct ct_hang_index *ix = s->w->ix;
	const char *met = s->root->met == CT_HANG_NONE
				  ? ""
				  : ct_hang_node_text(s->w, s->root->met, CT_NAME_FULL);
	uint32_t unmatched = ct_hang_unmatched_op(s);

	s->v->facts = ct_arena_calloc(ix->arena, CT_FACTS, sizeof(*s->v->facts));
	if (!s->v->facts)
		return CT_NOMEM;
	add_text(s->v, "waited_in", met, -1);
	add_value(s->v, "waited_for", s->v->age_ns, "ns", -1);
	if (s->v->site)
		add_text(s->v, "waited_at", s->v->site, ix->c->ranks[who_waits(s)].rank);
	if (unmatched != CT_HANG_NONE)
		add_text(s->v, "unmatched_message", ct_hang_op_text(ix, unmatched, CT_NAME_FULL),
			 ix->c->ranks[ix->c->ops[unmatched].rank].rank);
	if (s->v->divergence) {
		const struct ct_hang_divergence *d = s->v->divergence;

		add_value(s->v, "sites_differ_from", d->seq, "count", -1);
		add_text(s->v, "site", d->site, d->n_ranks == 1 ? d->ranks[0] : -1);
		add_text(s->v, "site_of_the_others", d->usual_site, -1);
	}
	for (uint32_t k = 0; k < s->root->n_ranks && k < CT_DESCRIBED; k++)
		add_rank(s, s->root->ranks[k]);
	return CT_OK;
}
