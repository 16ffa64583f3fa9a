/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/say.h"

#include <inttypes.h>

#include "analyzer/base/units.h"

/* Less processor time than this in the time that a thread was looked at is none, ns. */
#define CT_BUSY_NS 1000000ull
/* A process writes to its run every 10 s at least: less is no silence, ns. */
#define CT_WRITE_NS 11000000000ull

/* Where sites show that they came apart before the ops that are told. */
static const char *more_of_sites(const struct ct_say *s, const struct ct_hang_mismatch *m)
{
	const struct ct_hang_divergence *d = m->divergence;
	struct ct_arena *a = s->w->ix->arena;
	const char *who;

	if (!d || d->seq == s->w->ix->instances[m->instance].seq)
		return "";
	who = ct_say_ranks(a, d->ranks, d->n_ranks);
	return who ? ct_arena_printf(a,
				     "; call sites differ from #%" PRIu64
				     " on (%s at %s, the others at %s)",
				     d->seq, who, d->site, d->usual_site)
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
				       "; rank %s takes leave (finalize, destroy) while the others "
				       "go on: an uneven number of steps?",
				       ct_text_rank(r->rank).s);
	if (w->nodes[node].about != CT_HANG_NONE) {
		text = ct_say_node(w, node);
		text = text ? ct_arena_printf(a,
					      "; rank %s is inside of %s with no operation of its "
					      "own under way",
					      ct_text_rank(r->rank).s, text)
			    : NULL;
	} else if (r->cpu_ns != CT_UNKNOWN) {
		text = r->cpu_ns > CT_BUSY_NS
			       ? ct_arena_printf(a,
						 "; rank %s is busy in its own code (processor "
						 "time advances, %s)",
						 ct_text_rank(r->rank).s, ct_text_ns(r->cpu_ns).s)
			       : ct_arena_printf(a,
						 "; rank %s uses no processor time: it sleeps or "
						 "is blocked outside of communication",
						 ct_text_rank(r->rank).s);
	}
	if (text && last != CT_HANG_NONE) {
		const char *op = ct_say_op(w->ix, last);

		text = op ? ct_arena_printf(a, "%s; rank %s's last operation was %s", text,
					    ct_text_rank(r->rank).s, op)
			  : NULL;
	}
	if (text && r->life == CT_LIFE_DEAD && s->v->since_ns != CT_UNKNOWN &&
	    r->ended_ns > s->v->since_ns)
		text = ct_arena_printf(a, "%s; rank %s ended %s after that began (%s)", text,
				       ct_text_rank(r->rank).s,
				       ct_text_ns(r->ended_ns - s->v->since_ns).s,
				       r->how_ended ? r->how_ended : "nobody saw how");
	return text;
}

/* Its records end long before those of the others. */
static const char *more_of_cut(const struct ct_say *s)
{
	const struct ct_hang_rank *r = &s->w->ix->c->ranks[s->root->ranks[0]];

	if (s->root->n_ranks != 1 || r->life == CT_LIFE_NO_TRACE ||
	    r->heartbeat_age_ns == CT_UNKNOWN || r->heartbeat_age_ns < CT_WRITE_NS)
		return "";
	return ct_arena_printf(s->w->ix->arena,
			       "; what there is of rank %s ends %s before the last record of all: "
			       "it ended then, or only its file does",
			       ct_text_rank(r->rank).s, ct_text_ns(r->heartbeat_age_ns).s);
}

/* It is either of the two. */
static const char *undecided(const struct ct_say *s, const struct ct_hang_mismatch *m)
{
	const struct ct_hang_index *ix = s->w->ix;
	int odd = ix->c->ranks[ix->c->ops[m->odd].rank].rank;
	int usual = ix->c->ranks[ix->c->ops[m->usual].rank].rank;
	int is_extra = m->apart.how == CT_DIVERGENCE_EXTRA;

	return ct_arena_printf(ix->arena,
			       "; either rank %s called %" PRIu32 " more or rank %s left %s out",
			       ct_text_rank(is_extra ? odd : usual).s, m->apart.by,
			       ct_text_rank(is_extra ? usual : odd).s,
			       m->apart.by == 1 ? "one" : "them");
}

/* How many operations, and how that shows. */
static const char *more_of_shift(const struct ct_say *s, const struct ct_hang_mismatch *m)
{
	const struct ct_hang_op *ops = s->w->ix->c->ops;
	struct ct_arena *a = s->w->ix->arena;
	const char *many = "";

	if (m->apart.is_either)
		return ct_arena_printf(
			a, "; either rank %s left out %s or it called %s once too often",
			ct_text_rank(s->w->ix->c->ranks[ops[m->odd].rank].rank).s,
			ct_op_name(ops[m->usual].op), ct_op_name(ops[m->odd].op));
	if (m->tie && m->apart.by)
		return undecided(s, m);
	if (m->code != CT_HANG_IS_SKIPPED_OP && m->code != CT_HANG_IS_EXTRA_OP)
		return "";
	if (m->apart.by > 1)
		many = ct_arena_printf(a, ", the first of %" PRIu32, m->apart.by);
	return many ? ct_arena_printf(a, "%s%s%s", many,
				      m->apart.may_be_earlier ? ", or one like it before" : "",
				      m->apart.by_habit ? ", as it went the other times" : "")
		    : NULL;
}

static const char *more_of_mismatch(const struct ct_say *s)
{
	const struct ct_waiting *w = s->w;
	struct ct_arena *a = w->ix->arena;
	uint32_t node = s->root->nodes[0], of = ct_wait_of(w, node);
	const struct ct_hang_mismatch *m;
	const char *odd, *usual, *shift, *sites;

	if (ct_wait_kind(w, node) == CT_NODE_MISMATCH)
		m = w->mismatches[of];
	else if (ct_wait_kind(w, node) == CT_NODE_MISMATCHED)
		m = w->mismatched[of];
	else
		return "";
	odd = ct_say_called(w->ix, m->odd);
	usual = ct_say_called(w->ix, m->usual);
	shift = more_of_shift(s, m);
	sites = more_of_sites(s, m);
	if (!odd || !usual || !shift || !sites)
		return NULL;
	return ct_arena_printf(
		a, "%s: rank %s called %s, rank %s %s%s%s%s", *shift == ';' ? "" : shift,
		ct_text_rank(w->ix->c->ranks[w->ix->c->ops[m->odd].rank].rank).s, odd,
		ct_text_rank(w->ix->c->ranks[w->ix->c->ops[m->usual].rank].rank).s, usual,
		!m->tie || w->ix->instances[m->instance].p2p ? ""
		: m->apart.n_odd == m->apart.n_usual	     ? "; as many say the one as the other"
						     : "; which of them are right cannot be told",
		*shift == ';' ? shift : "", sites);
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
	if (s->root->circle) {
		const char *circle = ct_say_circle(s);

		return circle ? ct_arena_printf(s->w->ix->arena, ": %s; %s", circle,
						s->root->asks
							? "no rank sends or releases what that "
							  "call waits for"
							: "they call in different order, or one "
							  "of them left out or added an operation")
			      : NULL;
	}
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
			      ix->arena, "; rank %s %s: %s",
			      ct_text_rank(ix->c->ranks[ix->c->ops[op].rank].rank).s,
			      ix->c->ops[op].op == CT_OP_Send
				      ? "sent it another message, which was not received"
				      : "waits for another message of it, which was not sent",
			      what)
		    : NULL;
}

/* Most have ended: then those that have not may be the odd ones. */
static const char *more_of_ended(const struct ct_say *s)
{
	const struct ct_waiting *w = s->w;
	const struct ct_hang_instance *i;

	if (s->root->code != CT_HANG_IS_EXITED_RANK || s->root->met == CT_HANG_NONE ||
	    ct_wait_kind(w, s->root->met) != CT_NODE_INSTANCE)
		return "";
	i = &w->ix->instances[ct_wait_of(w, s->root->met)];
	if (i->p2p || 2 * (uint64_t)s->root->n_ranks < w->ix->c->comms[i->comm].n)
		return "";
	return s->v->n_victims == 1 ? ", or the one that waits made a step more"
				    : ", or those that wait made a step more";
}

const char *ct_say_more(const struct ct_say *s)
{
	const char *text = "", *unmatched = more_of_unmatched(s);
	const char *how = s->root->n_ranks == 1 ? s->w->ix->c->ranks[s->root->ranks[0]].how_ended
						: NULL;

	switch (s->root->code) {
	case CT_HANG_IS_NEVER_ENTERED:
		text = more_of_absent(s);
		break;
	case CT_HANG_IS_DEAD_RANK:
	case CT_HANG_IS_EXITED_RANK:
		text = ct_arena_printf(s->w->ix->arena, "%s%s%s%s", how ? " (" : "", how ? how : "",
				       how ? ")" : "", more_of_ended(s));
		break;
	case CT_HANG_IS_ASYNC_ERROR:
		text = more_of_error(s);
		break;
	case CT_HANG_IS_UNKNOWN:
		text = more_of_unknown(s);
		break;
	case CT_HANG_IS_NO_TRACE:
		text = s->root->tie ? "; those that did disagree, and nobody decides"
				    : more_of_cut(s);
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
	return text && unmatched ? ct_arena_printf(s->w->ix->arena, "%s%s", text, unmatched) : NULL;
}
