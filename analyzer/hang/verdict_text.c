/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/verdict_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/units.h"
#include "analyzer/model/command.h"
#include "analyzer/model/names.h"
#include "trace/status.h"

#define CT_HEADLINE 74u /* size: characters: 80 columns behind "Hang: " */

/* ---- rows of the table ---- */

static const struct ct_hang_text_row codes[] = {
#define HANG_CODE(CODE, precedence, headline, cause, advice, host_advice, command, host_command,   \
		  anchor)                                                                          \
	{ headline, cause, advice, host_advice, command, host_command },
#include "analyzer/hang/hang_texts.def"
};

static const struct ct_hang_text_row causes[] = {
#define HANG_CAUSE(NAME, headline, cause, advice, command)                                         \
	{ headline, cause, advice, advice, command, command },
#include "analyzer/hang/hang_texts.def"
	{ 0 },
};

struct ct_hang_text_row ct_hang_text_row(enum ct_hang_code code, enum ct_hang_cause cause)
{
	struct ct_hang_text_row row = codes[code], more = causes[cause];

	row.headline = more.headline ? more.headline : row.headline;
	row.cause = more.cause ? more.cause : row.cause;
	row.advice = more.advice ? more.advice : row.advice;
	row.host_advice = more.host_advice ? more.host_advice : row.host_advice;
	row.command = more.command ? more.command : row.command;
	row.host_command = more.host_command ? more.host_command : row.host_command;
	return row;
}

/* ---- the operation ---- */

/* The operation that the root's ranks have not called: for a message, its other end. */
static const char *missed_text(const struct ct_verdict_text *s)
{
	const struct ct_waiting *w = s->w;
	const struct ct_hang_instance *i;

	if (ct_wait_kind(w, s->root->met) != CT_NODE_INSTANCE)
		return ct_hang_node_text(w, s->root->met, CT_NAME_SHORT);
	i = &w->ix->instances[ct_wait_of(w, s->root->met)];
	return i->p2p && (!i->sent || !i->taken)
		       ? ct_hang_other_end_text(w->ix, w->ix->parts[i->first], CT_NAME_SHORT)
		       : ct_hang_node_text(w, s->root->met, CT_NAME_SHORT);
}

/* The op or call that the sentence is about. */
static const char *what_text(const struct ct_verdict_text *s)
{
	const struct ct_waiting *w = s->w;
	uint32_t node = s->root->nodes[0];
	enum ct_wait_kind kind = ct_wait_kind(w, node);
	const char *text = "";

	if (s->root->circle || kind == CT_NODE_MISMATCH || kind == CT_NODE_MISMATCHED ||
	    kind == CT_NODE_KERNEL || kind == CT_NODE_INSTANCE || kind == CT_NODE_JOINT_CALL ||
	    s->root->code == CT_HANG_IS_HOST_BLOCKED_CALL) {
		if (kind == CT_NODE_KERNEL && s->root->code == CT_HANG_IS_HOST_BLOCKED_CALL) {
			uint32_t rank = ct_wait_rank(w, node);

			/* The end of the group does not return; the op itself did. */
			for (uint32_t i = w->ix->rank_calls[rank]; i < w->ix->rank_calls[rank + 1];
			     i++)
				if (w->ix->c->calls[w->ix->calls[i]].kind == CT_HOST_GROUP_END &&
				    w->ix->c->calls[w->ix->calls[i]].call)
					return w->ix->c->calls[w->ix->calls[i]].call;
			return "a group end";
		}
		text = s->root->circle && s->root->met != CT_HANG_NONE
			       ? missed_text(s)
			       : ct_hang_node_text(w, node, CT_NAME_SHORT);
	} else if (s->root->met != CT_HANG_NONE) {
		text = missed_text(s);
	}
	return *text ? text : "an operation";
}

/* ---- words ---- */

/* Parts that a too long headline omits, in this order. */
enum { WITH_ALL, WITHOUT_OP, WITHOUT_COUNT, WITHOUT_HOST, WITHOUT_WAIT, LEVELS };

/* "node1" of "node1.cluster.example"; an address as it is. */
static const char *short_host(struct ct_arena *a, const char *host)
{
	const char *word = ct_host_word(a, host);

	return isdigit((unsigned char)*word)
		       ? word
		       : ct_arena_printf(a, "%.*s", (int)strcspn(word, "."), word);
}

/* The host of all ranks of the root; NULL: they have none in common, or it is not known. */
static const char *host_of(const struct ct_verdict_text *s)
{
	const struct ct_hang_rank *all = s->w->ix->c->ranks;
	const char *host = s->root->n_ranks ? all[s->root->ranks[0]].host : NULL;

	for (uint32_t k = 1; host && k < s->root->n_ranks; k++) {
		const char *other = all[s->root->ranks[k]].host;

		if (!other || strcmp(other, host) != 0)
			host = NULL;
	}
	return host;
}

/* "the process of ranks 0-3": it ended, and which of their threads ended it is not recorded. NULL:
 * it held one rank, or out of memory. */
static const char *process_text(const struct ct_verdict_text *s)
{
	const struct ct_hang_case *c = s->w->ix->c;
	const struct ct_hang_rank *rank = &c->ranks[s->root->ranks[0]];
	int *ranks = ct_arena_calloc(s->w->ix->arena, c->n_ranks, sizeof(*ranks));
	uint32_t n = 0;

	for (uint32_t r = 0; ranks && r < c->n_ranks; r++)
		if (rank->ended_in && c->ranks[r].ended_in == rank->ended_in)
			ranks[n++] = c->ranks[r].rank;
	return n > 1 ? ct_arena_printf(s->w->ix->arena, "the process of %s",
				       ct_hang_ranks_text(s->w->ix->arena, ranks, n))
		     : NULL;
}

static const char *who_text(const struct ct_verdict_text *s, const char *ranks, int level)
{
	struct ct_arena *a = s->w->ix->arena;
	const char *host = level < WITHOUT_HOST ? host_of(s) : NULL;

	if (s->root->code == CT_HANG_IS_DEAD_RANK && s->root->n_ranks == 1)
		ranks = process_text(s) ?: ranks;

	return host ? ct_arena_printf(a, "%s (%s)", ranks, short_host(a, host)) : ranks;
}

/* "; 3 ranks waiting 62.0 s in AllReduce #3" */
static const char *wait_text(const struct ct_verdict_text *s, int level, int with_op)
{
	struct ct_arena *a = s->w->ix->arena;
	uint32_t n = s->v->n_victims;
	int has_age = s->v->age_ns != CT_UNKNOWN && s->v->age_ns;
	const char *ranks = "", *time = "", *op = "";

	if (level >= WITHOUT_WAIT || (!n && !has_age))
		return "";
	if (n && level < WITHOUT_COUNT)
		ranks = ct_arena_printf(a, "%" PRIu32 " rank%s ", n, n == 1 ? "" : "s");
	if (has_age)
		time = ct_arena_printf(a, " %s", ct_prose_ns(s->v->age_ns).s);
	if (with_op && level < WITHOUT_OP && s->root->met != CT_HANG_NONE)
		op = ct_hang_node_text(s->w, s->root->met, CT_NAME_SHORT);
	return ct_arena_printf(a, "; %swaiting%s%s%s", ranks, time, *op ? " in " : "", op);
}

static const char *how_text(const struct ct_verdict_text *s)
{
	const char *how = s->root->n_ranks == 1 ? s->w->ix->c->ranks[s->root->ranks[0]].how_ended
						: NULL;

	return how ? ct_arena_printf(s->w->ix->arena, ": %s", how) : "";
}

static const char *error_text(const struct ct_verdict_text *s)
{
	for (uint32_t k = 0; k < s->root->n_ranks; k++) {
		const char *error = s->w->ix->c->ranks[s->root->ranks[k]].error;

		if (error)
			return error;
	}
	return "its text is not recorded";
}

/* The call of the rank at fault, where its peers called {op}. */
static const char *odd_text(const struct ct_verdict_text *s)
{
	const struct ct_hang_mismatch *m = ct_hang_mismatch_of(s);
	const char *odd, *usual;

	if (!m)
		return "another operation";
	odd = ct_hang_op_name(s->w->ix, m->odd);
	usual = ct_hang_op_name(s->w->ix, m->usual);
	return strcmp(odd, usual) != 0 ? odd : "another operation";
}

/* Two instances that were issued in different order: the first two of different communicators. */
static uint32_t other_of_inversion(const struct ct_verdict_text *s)
{
	const struct ct_waiting *w = s->w;
	const struct ct_root *root = s->root;

	for (uint32_t k = 1; root->inverted && k < root->n_nodes; k++)
		if (w->ix->instances[ct_wait_of(w, root->nodes[0])].comm !=
		    w->ix->instances[ct_wait_of(w, root->nodes[k])].comm)
			return root->nodes[k];
	return root->nodes[0];
}

static const char *call_text(const struct ct_verdict_text *s)
{
	uint32_t node = s->root->nodes[0];

	return s->w->nodes[node].about == CT_HANG_NONE
		       ? "a call"
		       : ct_hang_node_text(s->w, node, CT_NAME_FULL);
}

static const char *cpu_text(const struct ct_verdict_text *s)
{
	const struct ct_hang_case *c = s->w->ix->c;

	return ct_arena_printf(
		s->w->ix->arena, "%s",
		ct_prose_ns(s->root->n_ranks ? c->ranks[s->root->ranks[0]].cpu_ns : CT_UNKNOWN).s);
}

/* ---- the command ---- */

/* Does it communicate on the host? By its communicator, or where it has none by all of them. */
static int is_on_host(const struct ct_hang_case *c, uint32_t comm)
{
	for (uint32_t i = comm < c->n_comms ? comm : 0; i < c->n_comms; i++) {
		if (c->comms[i].backend == CT_BACKEND_NCCL)
			return 0;
		if (i == comm)
			return 1;
	}
	return c->n_comms > 0;
}

static int has_several_hosts(const struct ct_hang_case *c)
{
	const char *first = NULL;

	for (uint32_t i = 0; i < c->n_ranks; i++) {
		const char *host = c->ranks[i].host;

		if (host && first && strcmp(host, first) != 0)
			return 1;
		first = first ? first : host;
	}
	return 0;
}

#define HOSTS_NAMED 3u /* size: hosts in a command */

static int is_among(const struct ct_command_at *at, size_t n, const char *host)
{
	for (size_t i = 0; i < n; i++)
		if (!at[i].host || !host || strcmp(at[i].host, host) == 0)
			return 1;
	return 0;
}

/* For the first of the root's ranks on each host. */
static const char *command_text(const struct ct_verdict_text *s, const char *pattern)
{
	const struct ct_hang_case *c = s->w->ix->c;
	const int several = has_several_hosts(c);
	struct ct_command_at at[HOSTS_NAMED] = { 0 };
	size_t n = 0;

	for (uint32_t k = 0; k < s->root->n_ranks && n < HOSTS_NAMED; k++) {
		const struct ct_hang_rank *r = &c->ranks[s->root->ranks[k]];
		const char *host = several ? r->host : NULL;

		if (!is_among(at, n, host))
			at[n++] = (struct ct_command_at){
				.host = host,
				.gpu = r->pid ? r->gpu : NULL,
				.pid = r->stopped_pid ? r->stopped_pid : r->pid,
			};
	}
	return ct_command_each(s->w->ix->arena, pattern, at, n ? n : 1);
}

/* ---- the verdict ---- */

static size_t characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

int ct_hang_verdict_texts(const struct ct_verdict_text *s)
{
	struct ct_arena *a = s->w->ix->arena;
	struct ct_hang_verdict *v = s->v;
	struct ct_hang_text_row row = ct_hang_text_row(v->code, ct_hang_cause(s));
	const int by_host = is_on_host(s->w->ix->c, v->comm), is_one = s->root->n_ranks == 1;
	const char *ranks = ct_hang_rank_indices_text(s->w->ix, s->root->ranks, s->root->n_ranks);
	const char *advice = by_host && row.host_advice ? row.host_advice : row.advice;
	const char *command = by_host ? row.host_command : row.command;
	const char *host = host_of(s);

	for (int level = 0; level < LEVELS; level++) {
		const struct ct_word words[] = {
			{ "{who}", who_text(s, ranks, level) },
			{ "{ranks}", ranks },
			{ "{was}", is_one ? "is" : "are" },
			{ "{them}", is_one ? "it" : "them" },
			{ "{op}", what_text(s) },
			{ "{odd}", odd_text(s) },
			{ "{wait}", wait_text(s, level, 0) },
			{ "{wait_in}", wait_text(s, level, 1) },
			{ "{how}", how_text(s) },
			{ "{error}", error_text(s) },
			{ "{call}", call_text(s) },
			{ "{cpu}", cpu_text(s) },
			{ "{where}", host     ? short_host(a, host)
				     : is_one ? "its host"
					      : "their hosts" },
			{ "{first}", ct_hang_node_text(s->w, s->root->nodes[0], CT_NAME_FULL) },
			{ "{second}",
			  ct_hang_node_text(s->w, other_of_inversion(s), CT_NAME_FULL) },
		};
		const size_t n = sizeof(words) / sizeof(words[0]);

		v->headline = ct_template_fill(a, row.headline, words, n);
		v->cause = ct_template_fill(a, row.cause, words, n);
		v->advice = ct_template_fill(a, advice, words, n);
		if (characters(v->headline) <= CT_HEADLINE)
			break;
	}
	v->command = command ? command_text(s, command) : NULL;
	return ct_hang_notes(s);
}

const char *ct_hang_code_name(enum ct_hang_code code)
{
	static const char *const names[] = {
#define HANG_CODE(CODE, precedence, headline, cause, advice, host_advice, command, host_command,   \
		  anchor)                                                                          \
#CODE,
#include "analyzer/hang/hang_texts.def"
	};

	return (unsigned)code < CT_HANG_CODES ? names[code] : NULL;
}

const char *ct_hang_text_of(enum ct_hang_text text)
{
	static const char *const texts[] = {
#define HANG_TEXT(NAME, text) text,
#include "analyzer/hang/hang_texts.def"
	};

	return texts[text];
}

const char *ct_hang_title(const struct ct_hang_verdict *verdict)
{
	return verdict->n_victims || verdict->age_ns != CT_UNKNOWN ? "Hang" : "Crash";
}

int ct_hang_is_among(int rank, const int *ranks, uint32_t n)
{
	uint32_t low = CT_BISECT(i, 0, n, ranks[i] < rank);

	return low < n && ranks[low] == rank;
}
