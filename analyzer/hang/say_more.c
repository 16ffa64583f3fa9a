/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/say.h"

#include <inttypes.h>

#include "analyzer/base/units.h"

/* Less processor time than this in the time that a thread was looked at is none, ns. */
#define CT_BUSY_NS 1000000ull

static const char *more_of_divergence(const struct ct_say *s)
{
	const struct ct_hang_divergence *d = s->v->divergence;
	struct ct_arena *a = s->w->ix->arena;
	const char *who, *how = "";

	if (!d)
		return "";
	who = ct_say_ranks(a, d->ranks, d->n_ranks);
	if (!who)
		return NULL;
	if (d->more)
		how = ct_arena_printf(a, ": %s %s one op %s than the others", who,
				      d->n_ranks == 1 ? "has" : "have",
				      d->more > 0 ? "more" : "less");
	if (d->both)
		how = ct_arena_printf(a, ": either %s left one op out or called one more", who);
	return how ? ct_arena_printf(a,
				     "; call sites differ from #%" PRIu64
				     " on (%s at %s, the others at %s)%s",
				     d->seq, who, d->site, d->usual_site, how)
		   : NULL;
}

/* What a rank does that is missing. */
static const char *more_of_absent(const struct ct_say *s)
{
	const struct ct_waiting *w = s->w;
	struct ct_arena *a = w->ix->arena;
	uint32_t node = s->root->nodes[0], last;
	const struct ct_hang_rank *r;
	const char *text = "";

	if (s->root->n_ranks != 1)
		return "";
	r = &w->ix->c->ranks[s->root->ranks[0]];
	last = ct_say_last_op(w->ix, s->root->ranks[0]);
	if (r->stopped_pid)
		return ct_arena_printf(a, ": pid %" PRIu32 "%s%s", r->stopped_pid,
				       r->host ? " on " : "", r->host ? r->host : "");
	if (ct_wait_kind(w, node) == CT_NODE_LEFT)
		return ct_arena_printf(a,
				       "; rank %d takes leave (finalize, destroy) while the others "
				       "go on: an uneven number of steps?",
				       r->rank);
	if (w->nodes[node].about != CT_HANG_NONE) {
		text = ct_say_node(w, node);
		text = text ? ct_arena_printf(a,
					      "; rank %d is inside of %s with no operation of its "
					      "own under way",
					      r->rank, text)
			    : NULL;
	} else if (r->cpu_ns != CT_UNKNOWN) {
		text = r->cpu_ns > CT_BUSY_NS
			       ? ct_arena_printf(a,
						 "; rank %d is busy in its own code (processor "
						 "time advances, %s)",
						 r->rank, ct_text_ns(r->cpu_ns).s)
			       : ct_arena_printf(a,
						 "; rank %d uses no processor time: it sleeps or "
						 "is blocked outside of communication",
						 r->rank);
	}
	if (text && last != CT_HANG_NONE) {
		const char *op = ct_say_op(w->ix, last);

		text = op ? ct_arena_printf(a, "%s; rank %d's last operation was %s", text, r->rank,
					    op)
			  : NULL;
	}
	if (text && r->life == CT_LIFE_DEAD && s->v->since_ns != CT_UNKNOWN &&
	    r->ended_ns > s->v->since_ns)
		text = ct_arena_printf(a, "%s; rank %d ended %s after that began (%s)", text,
				       r->rank, ct_text_ns(r->ended_ns - s->v->since_ns).s,
				       r->how_ended ? r->how_ended : "nobody saw how");
	return text;
}

static const char *more_of_mismatch(const struct ct_say *s)
{
	const struct ct_waiting *w = s->w;
	struct ct_arena *a = w->ix->arena;
	uint32_t node = s->root->nodes[0], of = ct_wait_of(w, node);
	const struct ct_hang_mismatch *m;
	const char *odd, *usual, *both = "";

	if (ct_wait_kind(w, node) == CT_NODE_MISMATCH)
		m = w->mismatches[of];
	else if (ct_wait_kind(w, node) == CT_NODE_MISMATCHED)
		m = w->mismatched[of];
	else
		return "";
	odd = ct_say_called(w->ix, m->odd);
	usual = ct_say_called(w->ix, m->usual);
	if (!odd || !usual)
		return NULL;
	if (m->both)
		both = ct_arena_printf(
			a, "; either rank %d left out %s or it called %s once too often",
			w->ix->c->ranks[w->ix->c->ops[m->odd].rank].rank,
			ct_op_name(w->ix->c->ops[m->usual].op),
			ct_op_name(w->ix->c->ops[m->odd].op));
	if (!both)
		return NULL;
	return ct_arena_printf(a, ": rank %d called %s, rank %d %s%s%s",
			       w->ix->c->ranks[w->ix->c->ops[m->odd].rank].rank, odd,
			       w->ix->c->ranks[w->ix->c->ops[m->usual].rank].rank, usual,
			       m->tie && !w->ix->instances[m->instance].p2p
				       ? "; as many say the one as the other"
				       : "",
			       both);
}

/* Two instances of the root that were issued in different order: the first two of different communicators. */
static const char *more_of_inversion(const struct ct_say *s)
{
	const struct ct_waiting *w = s->w;
	const char *a, *b;

	for (uint32_t k = 1; k < s->root->n_nodes; k++) {
		const struct ct_hang_instance
			*x = &w->ix->instances[ct_wait_of(w, s->root->nodes[0])];
		const struct ct_hang_instance
			*y = &w->ix->instances[ct_wait_of(w, s->root->nodes[k])];

		if (x->comm == y->comm)
			continue;
		a = ct_say_node(w, s->root->nodes[0]);
		b = ct_say_node(w, s->root->nodes[k]);
		return a && b ? ct_arena_printf(
					w->ix->arena,
					": %s before %s on some, the other way round on others", a,
					b)
			      : NULL;
	}
	return "";
}

static const char *more_of_error(const struct ct_say *s)
{
	for (uint32_t k = 0; k < s->root->n_ranks; k++) {
		const char *error = s->w->ix->c->ranks[s->root->ranks[k]].error;

		if (error)
			return ct_arena_printf(s->w->ix->arena, " (%s)", error);
	}
	return "";
}

static const char *more_of_unknown(const struct ct_say *s)
{
	if (s->root->by_any && s->root->n_ranks > 1)
		return ": any of several ranks might have sent what is waited for";
	if (s->root->fresh)
		return ": what the others wait for was entered only just now, so it may be slow "
		       "rather than stuck";
	if (s->root->unseen && s->root->circle)
		return ": ranks wait for each other in a circle, and whether their kernels run "
		       "cannot be seen in host timing";
	if (s->root->unseen)
		return ": all ranks issued it, and whether their kernels run cannot be seen in "
		       "host timing";
	return "";
}

static const char *more_of_unmatched(const struct ct_say *s)
{
	const struct ct_hang_index *ix = s->w->ix;
	uint32_t op = ct_say_unmatched(s);
	const char *what = op == CT_HANG_NONE ? NULL : ct_say_op(ix, op);

	if (op == CT_HANG_NONE)
		return "";
	return what ? ct_arena_printf(
			      ix->arena, "; rank %d %s: %s", ix->c->ranks[ix->c->ops[op].rank].rank,
			      ix->c->ops[op].op == CT_OP_Send
				      ? "sent it another message, which was not received"
				      : "waits for another message of it, which was not sent",
			      what)
		    : NULL;
}

const char *ct_say_more(const struct ct_say *s)
{
	const char *text = "", *divergence, *unmatched = more_of_unmatched(s);
	const char *how = s->root->n_ranks == 1 ? s->w->ix->c->ranks[s->root->ranks[0]].how_ended
						: NULL;

	switch (s->root->code) {
	case CT_HANG_IS_HOST_MISSING:
		text = more_of_absent(s);
		break;
	case CT_HANG_IS_DEAD_RANK:
	case CT_HANG_IS_EXITED_RANK:
		text = how ? ct_arena_printf(s->w->ix->arena, " (%s)", how) : "";
		break;
	case CT_HANG_IS_ASYNC_ERROR:
		text = more_of_error(s);
		break;
	case CT_HANG_IS_UNKNOWN:
		text = more_of_unknown(s);
		break;
	case CT_HANG_IS_NO_TRACE:
		text = s->root->tie ? "; those that did disagree, and nobody decides" : "";
		break;
	default:
		text = s->root->unnamed	 ? ": not all ranks of these calls are on record, and all "
					   "that run are inside of them or wait for who is"
		       : s->root->circle ? ct_say_circle(s)
		       : s->root->inverted ? more_of_inversion(s)
					   : more_of_mismatch(s);
		if (text && *text && s->root->circle)
			text = ct_arena_printf(s->w->ix->arena, ": %s", text);
		break;
	}
	divergence = more_of_divergence(s);
	return text && divergence && unmatched
		       ? ct_arena_printf(s->w->ix->arena, "%s%s%s", text, unmatched, divergence)
		       : NULL;
}
