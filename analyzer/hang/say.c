/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/say.h"

#include <inttypes.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "trace/status.h"

static const char *const patterns[] = {
#define X(CODE, place, pattern, advice, host_advice, anchor) pattern,
#include "analyzer/hang/hang_codes.def"
};

/* Ranks that are in the op or call where others first wait for the root, without those that it names. */
static uint32_t waiting_in_met(const struct ct_say *s, uint32_t *all)
{
	const struct ct_waiting *w = s->w;
	const struct ct_hang_instance *i;
	uint32_t n = 0, of;

	*all = 0;
	if (s->root->met == CT_HANG_NONE)
		return 0;
	of = ct_wait_of(w, s->root->met);
	if (ct_wait_kind(w, s->root->met) == CT_NODE_MEETING) {
		for (uint32_t k = w->meetings[of].call; k != CT_HANG_NONE;
		     k = w->next_of_meeting[k])
			n += !w->ix->c->calls[k].returned;
		*all = w->meetings[of].comm == CT_HANG_NONE
			       ? w->ix->c->n_ranks
			       : w->ix->c->comms[w->meetings[of].comm].n;
		return n;
	}
	i = &w->ix->instances[of];
	for (uint32_t k = i->first; k < i->first + i->n; k++) {
		const struct ct_hang_op *op = &w->ix->c->ops[w->ix->parts[k]];

		n += op->state != CT_STATE_FINISHED &&
		     !(s->root->n_ranks == 1 && op->rank == s->root->ranks[0]);
	}
	*all = i->p2p ? 2 : w->ix->c->comms[i->comm].n;
	return n;
}

static int is_message(const struct ct_waiting *w, uint32_t node)
{
	return ct_wait_kind(w, node) == CT_NODE_INSTANCE &&
	       w->ix->instances[ct_wait_of(w, node)].p2p;
}

/* `in`: what they wait in; NULL: "it". */
static const char *say_waiting(const struct ct_say *s, const char *in)
{
	struct ct_arena *a = s->w->ix->arena;
	uint32_t all, n = waiting_in_met(s, &all), victims = s->v->n_victims;
	const char *since = "", *more = "";

	if (s->v->age_ns != CT_UNKNOWN)
		since = ct_arena_printf(a, " for %s", ct_text_ns(s->v->age_ns).s);
	if (victims > n)
		more = n ? ct_arena_printf(a, ", %" PRIu32 " in all wait for that", victims)
			 : ct_arena_printf(a, "%" PRIu32 " %s for that%s", victims,
					   victims == 1 ? "rank waits" : "ranks wait", since);
	if (!since || !more)
		return NULL;
	if (!n)
		return *more ? more : "nobody else is known to wait for it";
	if (is_message(s->w, s->root->met))
		return ct_arena_printf(
			a, "rank %s has waited in %s%s%s",
			ct_text_rank(s->w->ix->c->ranks[s->w->ix->c->ops[s->v->op].rank].rank).s,
			ct_say_op(s->w->ix, s->v->op), since, more);
	return ct_arena_printf(a, "%" PRIu32 " of %s%" PRIu32 " ranks %s waited in %s%s%s", n,
			       in ? "" : "its ", all, n == 1 ? "has" : "have", in ? in : "it",
			       since, more);
}

/* What those that are waited for have not called: of a message its other end. */
static const char *say_missed(const struct ct_say *s)
{
	const struct ct_waiting *w = s->w;
	const struct ct_hang_instance *i;

	if (ct_wait_kind(w, s->root->met) != CT_NODE_INSTANCE)
		return ct_say_node(w, s->root->met);
	i = &w->ix->instances[ct_wait_of(w, s->root->met)];
	return i->p2p && (!i->sent || !i->taken) ? ct_say_other_end(w->ix, w->ix->parts[i->first])
						 : ct_say_node(w, s->root->met);
}

/* The op or call that the sentence is about. */
static const char *say_what(const struct ct_say *s)
{
	const struct ct_waiting *w = s->w;
	uint32_t node = s->root->nodes[0];
	enum ct_wait_kind kind = ct_wait_kind(w, node);
	const char *text = "";

	if (s->root->circle || kind == CT_NODE_MISMATCH || kind == CT_NODE_MISMATCHED ||
	    kind == CT_NODE_KERNEL || kind == CT_NODE_INSTANCE || kind == CT_NODE_MEETING ||
	    s->root->code == CT_HANG_IS_HOST_BLOCKED_CALL) {
		if (kind == CT_NODE_KERNEL && s->root->code == CT_HANG_IS_HOST_BLOCKED_CALL) {
			uint32_t rank = ct_wait_rank(w, node);

			/* It is the end of its group that does not come back, not the op. */
			for (uint32_t i = w->ix->rank_calls[rank]; i < w->ix->rank_calls[rank + 1];
			     i++)
				if (w->ix->c->calls[w->ix->calls[i]].kind == CT_HOST_GROUP_END &&
				    w->ix->c->calls[w->ix->calls[i]].call)
					return w->ix->c->calls[w->ix->calls[i]].call;
			return "the end of a group";
		}
		text = s->root->circle && s->root->met != CT_HANG_NONE ? say_missed(s)
								       : ct_say_node(w, node);
	} else if (s->root->met != CT_HANG_NONE) {
		text = say_missed(s);
	}
	return text && !*text ? "what others wait in" : text;
}

struct word {
	const char *name, *text;
};
#define CT_WORDS 7u

/* `pattern` with its words filled in; NULL: out of memory. */
static const char *fill(struct ct_arena *a, const char *pattern, const struct word *words)
{
	const char *rest = pattern, *text = "";

	while (*rest && text) {
		const char *brace = strchr(rest, '{');
		size_t k = 0;

		if (!brace)
			brace = rest + strlen(rest);
		text = ct_arena_printf(a, "%s%.*s", text, (int)(brace - rest), rest);
		rest = brace;
		if (!*rest)
			break;
		while (k < CT_WORDS && strncmp(rest, words[k].name, strlen(words[k].name)) != 0)
			k++;
		if (k == CT_WORDS || !words[k].text)
			return NULL;
		text = text ? ct_arena_printf(a, "%s%s", text, words[k].text) : NULL;
		rest += strlen(words[k].name);
	}
	return text;
}

int ct_say_is_stopped(const struct ct_waiting *w, const struct ct_root *root)
{
	for (uint32_t k = 0; k < root->n_ranks; k++)
		if (!w->ix->c->ranks[root->ranks[k]].stopped_pid)
			return 0;
	return root->n_ranks && root->code == CT_HANG_IS_NEVER_ENTERED;
}

int ct_say_sentence(const struct ct_say *s)
{
	struct ct_arena *a = s->w->ix->arena;
	const char *met = s->root->met == CT_HANG_NONE ? NULL : ct_say_node(s->w, s->root->met);
	int undecided = s->root->tie || ct_wait_kind(s->w, s->root->nodes[0]) == CT_NODE_MISMATCHED;
	const char *pattern = patterns[s->root->code];
	const struct word words[CT_WORDS] = {
		{ "{who}", ct_say_indices(s->w->ix, s->root->ranks, s->root->n_ranks) },
		{ "{was}", s->root->n_ranks == 1 ? "is" : "are" },
		{ "{self}", s->root->n_ranks == 1 ? "itself" : "themselves" },
		{ "{op}", say_what(s) },
		{ "{waiting}", say_waiting(s, NULL) },
		{ "{waiting_in}", say_waiting(s, met ? met : "what it left open") },
		{ "{more}", ct_say_more(s) },
	};

	if (ct_say_is_stopped(s->w, s->root))
		pattern = "{who} {was} stopped (SIGSTOP, Ctrl-Z or a debugger){more}; {waiting_in}";
	s->v->sentence = fill(a,
			      undecided && s->root->code != CT_HANG_IS_NO_TRACE
				      ? "{who} do not agree on {op}{more}"
				      : pattern,
			      words);
	s->v->advice = fill(a, s->v->advice, words);
	return s->v->sentence && s->v->advice ? CT_OK : CT_NOMEM;
}
