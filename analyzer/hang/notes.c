/* SPDX-License-Identifier: Apache-2.0 */
/* Notes: what a verdict rests on, a sentence each. */
#include "analyzer/base/limits.h"
#include "analyzer/hang/verdict_text.h"

#include <inttypes.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "trace/status.h"

/* A process writes to its run every 10 s at least: less is not silence, ns. */
#define CT_NOTES 8u /* size: of one verdict, at most */

/* Words that notes are made of. */
struct note {
	const char *a, *b, *first, *second, *n, *op, *time, *how;
};

static const char *fill(const struct ct_verdict_text *s, enum ct_hang_text text,
			const struct note *n)
{
	const struct ct_word words[] = {
		{ "{a}", n->a },	   { "{b}", n->b },	{ "{first}", n->first },
		{ "{second}", n->second }, { "{n}", n->n },	{ "{op}", n->op },
		{ "{time}", n->time },	   { "{how}", n->how },
	};

	return ct_template_fill(s->w->ix->arena, ct_hang_text_of(text), words,
				sizeof(words) / sizeof(words[0]));
}

static void add_text(const struct ct_verdict_text *s, const char *text)
{
	if (*text && s->v->n_notes < CT_NOTES)
		s->v->notes[s->v->n_notes++] = text;
}

static void add(const struct ct_verdict_text *s, enum ct_hang_text text, struct note n)
{
	add_text(s, fill(s, text, &n));
}

static const char *rank_of(const struct ct_verdict_text *s, uint32_t op)
{
	const struct ct_hang_index *ix = s->w->ix;

	return ct_arena_printf(ix->arena, "rank %s",
			       ct_text_rank(ix->c->ranks[ix->c->ops[op].rank].rank).s);
}

static const char *number(const struct ct_verdict_text *s, uint64_t n)
{
	return ct_arena_printf(s->w->ix->arena, "%" PRIu64, n);
}

static const char *time_of(const struct ct_verdict_text *s, uint64_t ns)
{
	return ct_arena_printf(s->w->ix->arena, "%s", ct_prose_ns(ns).s);
}

/* ---- calls that differ ---- */

/* Call sites show that the ranks diverged before the operations that the verdict names. */
static void add_sites(const struct ct_verdict_text *s, const struct ct_hang_mismatch *m)
{
	const struct ct_hang_divergence *d = m->by_site;

	if (d && d->seq != s->w->ix->instances[m->instance].seq)
		add(s, CT_HANG_TEXT_SITES,
		    (struct note){ .n = number(s, d->seq),
				   .a = ct_hang_ranks_text(s->w->ix->arena, d->ranks, d->n_ranks),
				   .first = d->site,
				   .second = d->usual_site });
}

/* How many operations were skipped or added, and the evidence. */
static void add_shift(const struct ct_verdict_text *s, const struct ct_hang_mismatch *m)
{
	const struct ct_divergence *found = &m->by_call;
	int is_extra = found->how == CT_DIVERGENCE_EXTRA;

	if (found->is_either) {
		add(s, CT_HANG_TEXT_EITHER_CALL,
		    (struct note){ .a = rank_of(s, m->odd),
				   .first = ct_hang_op_name(s->w->ix, m->usual),
				   .second = ct_hang_op_name(s->w->ix, m->odd) });
		return;
	}
	if (m->tie && found->by) {
		add(s, CT_HANG_TEXT_EITHER_RANK,
		    (struct note){ .a = rank_of(s, is_extra ? m->odd : m->usual),
				   .b = rank_of(s, is_extra ? m->usual : m->odd),
				   .n = number(s, found->by) });
		return;
	}
	if (m->code != CT_HANG_IS_SKIPPED_OP && m->code != CT_HANG_IS_EXTRA_OP)
		return;
	if (found->by > 1)
		add(s, CT_HANG_TEXT_FIRST_OF, (struct note){ .n = number(s, found->by) });
	if (found->may_be_earlier)
		add(s, CT_HANG_TEXT_OR_EARLIER, (struct note){ 0 });
	if (found->by_habit)
		add(s, CT_HANG_TEXT_BY_HABIT, (struct note){ 0 });
}

static void add_mismatch(const struct ct_verdict_text *s, const struct ct_hang_mismatch *m)
{
	add(s, CT_HANG_TEXT_CALLS,
	    (struct note){ .a = rank_of(s, m->odd),
			   .first = ct_hang_called_text(s->w->ix, m->odd),
			   .b = rank_of(s, m->usual),
			   .second = ct_hang_called_text(s->w->ix, m->usual) });
	if (m->tie && !s->w->ix->instances[m->instance].p2p &&
	    m->by_call.n_odd == m->by_call.n_usual)
		add(s, CT_HANG_TEXT_EQUAL_VOTE, (struct note){ 0 });
	add_shift(s, m);
	add_sites(s, m);
}

/* ---- others ---- */

/* It ended after its peers had begun to wait: not the cause. */
static void add_end(const struct ct_verdict_text *s, const struct ct_hang_rank *r)
{
	if (r->process == CT_PROCESS_DEAD && s->v->since_ns != CT_UNKNOWN &&
	    r->ended_ns > s->v->since_ns)
		add(s, CT_HANG_TEXT_ENDED_LATER,
		    (struct note){ .a = ct_arena_printf(s->w->ix->arena, "rank %s",
							ct_text_rank(r->rank).s),
				   .time = time_of(s, r->ended_ns - s->v->since_ns),
				   .how = r->how_ended
						  ? r->how_ended
						  : ct_hang_text_of(CT_HANG_TEXT_EXIT_UNKNOWN) });
}

/* Its records end long before those of its peers. */
static void add_cut(const struct ct_verdict_text *s, const struct ct_hang_rank *r)
{
	if (r->process != CT_PROCESS_NO_TRACE && r->heartbeat_age_ns != CT_UNKNOWN &&
	    r->heartbeat_age_ns >= CT_WRITE_NS)
		add(s, CT_HANG_TEXT_RECORDS_END,
		    (struct note){ .time = time_of(s, r->heartbeat_age_ns) });
}

/* A message that was possibly meant, with another tag. */
static void add_unmatched(const struct ct_verdict_text *s)
{
	const struct ct_hang_index *ix = s->w->ix;
	uint32_t op = ct_hang_unmatched_op(s);

	if (op != CT_HANG_NONE)
		add(s,
		    ix->c->ops[op].op == CT_OP_Send ? CT_HANG_TEXT_SENT_OTHER
						    : CT_HANG_TEXT_WAITS_FOR_OTHER,
		    (struct note){ .a = rank_of(s, op),
				   .op = ct_hang_op_text(ix, op, CT_NAME_FULL) });
}

/* An UNKNOWN with another reason does not list the waits. */
static int is_vague(const struct ct_root *root)
{
	return root->code == CT_HANG_IS_UNKNOWN &&
	       (root->unseen || root->fresh || (root->by_any && root->n_ranks > 1));
}

int ct_hang_notes(const struct ct_verdict_text *s)
{
	const struct ct_root *root = s->root;
	const struct ct_hang_rank *only = root->n_ranks == 1 ? &s->w->ix->c->ranks[root->ranks[0]]
							     : NULL;
	const struct ct_hang_mismatch *m = ct_hang_mismatch_of(s);

	s->v->notes = ct_arena_calloc(s->w->ix->arena, CT_NOTES, sizeof(*s->v->notes));
	if (!s->v->notes)
		return CT_NOMEM;
	if (root->code == CT_HANG_IS_NEVER_ENTERED && only)
		add_end(s, only);
	else if (root->code == CT_HANG_IS_NO_TRACE && only && !root->tie)
		add_cut(s, only);
	else if (ct_hang_most_exited(s) && ct_hang_cause(s) != CT_HANG_CAUSE_MOST_EXITED)
		add(s, CT_HANG_TEXT_MOST_EXITED, (struct note){ 0 });
	else if (m && root->code != CT_HANG_IS_NO_TRACE && !root->unnamed)
		add_mismatch(s, m);
	if (root->circle && !root->unnamed && !is_vague(root))
		add_text(s, ct_hang_circle_text(s));
	add_unmatched(s);
	return CT_OK;
}

/* A receive waits while a message with another tag has arrived, or a send waits while its peer
 * expects another tag: the two may be meant for each other. */
uint32_t ct_hang_unmatched_op(const struct ct_verdict_text *s)
{
	const struct ct_hang_index *ix = s->w->ix;
	uint32_t at = s->v->op == CT_HANG_NONE ? CT_HANG_NONE : ix->instance_of[s->v->op];
	const struct ct_hang_instance *waits;
	const struct ct_hang_op *op;
	uint32_t other;

	if (at == CT_HANG_NONE)
		return CT_HANG_NONE;
	waits = &ix->instances[at];
	op = &ix->c->ops[s->v->op];
	if (!waits->p2p || (waits->sent && waits->taken) || op->state == CT_STATE_FINISHED ||
	    ix->c->ranks[op->rank].cut)
		return CT_HANG_NONE;
	other = ct_hang_rank_at(ix, op->comm, op->peer);
	for (uint32_t k = 0; k < ix->n_instances; k++) {
		const struct ct_hang_instance *i = &ix->instances[k];
		int32_t own_end = waits->sent ? i->src : i->dst;
		uint32_t from = ct_hang_rank_at(ix, i->comm, waits->sent ? i->dst : i->src);

		if (!i->p2p || (waits->sent ? i->sent || !i->taken : !i->sent || i->taken) ||
		    (i->comm == op->comm && i->tag == op->tag) ||
		    ct_hang_rank_at(ix, i->comm, own_end) != op->rank)
			continue;
		if (from != CT_HANG_NONE && (other == CT_HANG_NONE || from == other))
			return ct_hang_part(ix, i, from, waits->sent ? CT_OP_Recv : CT_OP_Send);
	}
	return CT_HANG_NONE;
}
