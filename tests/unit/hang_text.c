/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/hang_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format.h"
#include "trace/ops.h"

#define NS 1000000000ull
#define WORDS 32
#define MOST 8192u
#define LISTED 4096u

static const char *file_name;
static unsigned line_number;

static void bad(const char *what, const char *word)
{
	fprintf(stderr, "%s:%u: %s: %s\n", file_name, line_number, what, word);
	exit(1);
}

static const char *text(const char *memory)
{
	if (!memory)
		exit(1);
	return memory;
}

static void *need(void *memory)
{
	if (!memory)
		exit(1);
	return memory;
}

static uint32_t list(const char *word, uint32_t *numbers)
{
	uint32_t n = 0;

	if (!strcmp(word, "-"))
		return 0;
	while (*word) {
		char *end;
		unsigned long from = strtoul(word, &end, 10), to = from;

		if (end == word)
			bad("no list", word);
		if (*end == '-') {
			word = end + 1;
			to = strtoul(word, &end, 10);
		}
		for (; from <= to; from++) {
			if (n == LISTED)
				bad("list too long", word);
			numbers[n++] = (uint32_t)from;
		}
		word = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			bad("no list", word);
	}
	return n;
}

static const char *text_of(struct ct_arena *a, const char *word)
{
	char *copy = need(ct_arena_calloc(a, strlen(word) + 1, 1));

	strcpy(copy, word);
	for (char *c = copy; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	return copy;
}

static const char *word_of(struct ct_arena *a, const char *word)
{
	return text(ct_arena_printf(a, "%s", word));
}

/* VALUE of NAME=VALUE among the words from `from` on; "" if NAME stands alone, NULL if it is not
 * there. */
static const char *option(char **words, int n, int from, const char *name)
{
	size_t len = strlen(name);

	for (int i = from; i < n; i++) {
		if (strncmp(words[i], name, len))
			continue;
		if (words[i][len] == '=')
			return words[i] + len + 1;
		if (!words[i][len])
			return "";
	}
	return NULL;
}

static uint64_t seconds(const char *word, uint64_t otherwise)
{
	return word && *word ? (uint64_t)(strtod(word, NULL) * (double)NS) : otherwise;
}

static uint32_t number(const char *word, uint32_t otherwise)
{
	return word && *word ? (uint32_t)strtoul(word, NULL, 10) : otherwise;
}

static unsigned named(const char *word, const char *const *names, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (names[i] && !strcmp(word, names[i]))
			return i;
	bad("unknown", word);
	return 0;
}

static uint32_t comm_named(const struct ct_hang_case *c, const char *word)
{
	if (!strcmp(word, "-"))
		return UINT32_MAX;
	for (uint32_t i = 0; i < c->n_comms; i++)
		if (!strcmp(c->comms[i].name, word))
			return i;
	bad("no such comm", word);
	return 0;
}

static void set_ranks(struct ct_hang_case *c, uint32_t n)
{
	c->n_ranks = n;
	for (uint32_t r = 0; r < n; r++)
		c->ranks[r] = (struct ct_hang_rank){ .rank = (int)r,
						     .last_heartbeat_ns = 100 * NS,
						     .ended_ns = CT_UNKNOWN,
						     .error_ns = CT_UNKNOWN,
						     .error_comm = UINT32_MAX,
						     .records_until_ns = 100 * NS,
						     .cpu_ns = CT_UNKNOWN,
						     .starts_known = 1 };
}

static void read_comm(struct ct_hang_case *c, struct ct_arena *a, char **words, int n)
{
	static const char *const backends[] = { NULL, "nccl", "mpi", "gloo" };
	static uint32_t numbers[LISTED], unknown[LISTED];
	struct ct_hang_comm *comm = &c->comms[c->n_comms++];
	const char *backend = option(words, n, 3, "backend"), *role = option(words, n, 3, "role");
	const char *hidden = option(words, n, 3, "unknown");
	uint32_t n_hidden = hidden ? list(hidden, unknown) : 0;
	int *ranks;

	*comm = (struct ct_hang_comm){ .hash = c->n_comms, .name = word_of(a, words[1]) };
	comm->backend = backend ? named(backend, backends, 4) : CT_BACKEND_NCCL;
	comm->role = role ? word_of(a, role) : NULL;
	comm->n = list(words[2], numbers);
	comm->ranks = ranks = need(ct_arena_calloc(a, comm->n + 1, sizeof(*ranks)));
	for (uint32_t i = 0; i < comm->n; i++) {
		ranks[i] = (int)numbers[i];
		for (uint32_t k = 0; k < n_hidden; k++)
			if (unknown[k] == numbers[i])
				ranks[i] = -1;
	}
}

static int32_t slot(const struct ct_hang_comm *comm, const char *word)
{
	int rank;

	if (!strcmp(word, "-") || !strcmp(word, "any"))
		return -1;
	rank = (int)number(word, 0);
	for (uint32_t i = 0; i < comm->n; i++)
		if (comm->ranks[i] == rank)
			return (int32_t)i;
	bad("not in that comm", word);
	return -1;
}

static void read_op(struct ct_hang_case *c, struct ct_arena *a, char **words, int n)
{
	static const char *const states[] = { NULL,    "entered", "returned", "finished",
					      "error", "started", "aborted" };
	static uint32_t ranks[LISTED], seqs[LISTED];
	uint32_t n_ranks, n_seqs, comm;
	const char *site, *tag, *call;

	if (n < 12)
		bad("too short", words[0]);
	n_ranks = list(words[1], ranks);
	comm = comm_named(c, words[2]);
	n_seqs = list(words[3], seqs);
	site = option(words, n, 12, "site");
	tag = option(words, n, 12, "tag");
	call = option(words, n, 12, "call");
	for (uint32_t r = 0; r < n_ranks; r++) {
		for (uint32_t s = 0; s < n_seqs; s++) {
			struct ct_hang_op *op = &c->ops[c->n_ops++];

			if (c->n_ops >= MOST || ranks[r] >= c->n_ranks)
				bad("too many, or no such rank", words[1]);
			*op = (struct ct_hang_op){ .rank = ranks[r], .comm = comm, .seq = seqs[s] };
			op->op = (uint8_t)ct_op_by_name(words[4]);
			if (!op->op)
				bad("no such op", words[4]);
			op->count = strtoull(words[5], NULL, 10);
			op->dtype = strcmp(words[6], "-") ? (uint8_t)ct_dtype_by_name(words[6]) : 0;
			op->redop = strcmp(words[7], "-") ? (uint8_t)ct_redop_by_name(words[7]) : 0;
			op->bytes = op->count * ct_dtype_bytes(op->dtype);
			op->peer = slot(&c->comms[comm], words[8]);
			op->stream = number(strcmp(words[9], "-") ? words[9] : NULL, 0);
			op->launch = number(strcmp(words[10], "-") ? words[10] : NULL, 0);
			op->state = (enum ct_op_state)named(words[11], states, 7);
			op->site = site ? text_of(a, site) : NULL;
			op->call = call ? word_of(a, call) : NULL;
			op->tag = tag ? (!strcmp(tag, "any") ? CT_TAG_ANY : number(tag, 0)) : 0;
			op->thread = number(option(words, n, 12, "thread"), 1);
			op->by_host = option(words, n, 12, "host") != NULL;
			op->graph = option(words, n, 12, "graph") != NULL;
			op->varying = option(words, n, 12, "varying") != NULL;
			op->start_unseen = option(words, n, 12, "unseen") != NULL;
			op->enter_ns = seconds(option(words, n, 12, "at"),
					       op->state == CT_STATE_FINISHED ? 37 * NS : 38 * NS);
			op->due_ns = seconds(option(words, n, 12, "due"), 0);
			if (op->state != CT_STATE_FINISHED && !option(words, n, 12, "fresh"))
				op->stalled = option(words, n, 12, "died") ? 2 : 1;
		}
	}
}

static void read_call(struct ct_hang_case *c, struct ct_arena *a, char **words, int n)
{
	static const char *const kinds[] = { "init",	     "split", "finalize",
					     "groupend",     "abort", "sync",
					     "graph_launch", "other", "peers" };
	static uint32_t ranks[LISTED];
	uint32_t n_ranks = list(words[1], ranks);
	const char *name = option(words, n, 4, "name");

	for (uint32_t r = 0; r < n_ranks; r++) {
		struct ct_hang_call *call = &c->calls[c->n_calls++];

		*call = (struct ct_hang_call){ .rank = ranks[r] };
		call->kind = (enum ct_host_call)named(words[2], kinds, 9);
		call->comm = comm_named(c, words[3]);
		call->call = name ? word_of(a, name) : NULL;
		call->enter_ns = seconds(option(words, n, 4, "at"), 38 * NS);
		call->due_ns = seconds(option(words, n, 4, "due"), 0);
		call->stream = number(option(words, n, 4, "stream"), 0);
		call->thread = number(option(words, n, 4, "thread"), 1);
		call->returned = option(words, n, 4, "returned") != NULL;
		call->stalled = !call->returned && !option(words, n, 4, "fresh");
	}
}

static void read_rank(struct ct_hang_case *c, struct ct_arena *a, char **words, int n)
{
	static const char *const lives[] = { "alive", "dead", "exited", "no_trace" };
	static uint32_t ranks[LISTED];
	uint32_t n_ranks = list(words[1], ranks);

	for (uint32_t i = 0; i < n_ranks; i++) {
		struct ct_hang_rank *r = &c->ranks[ranks[i]];
		const char *how = option(words, n, 2, "how");

		if (ranks[i] >= c->n_ranks)
			bad("no such rank", words[1]);
		if (!strcmp(words[0], "process")) {
			r->process = (enum ct_process_state)named(words[2], lives, 4);
			r->ended_ns = seconds(option(words, n, 3, "at"), 39 * NS);
			r->how_ended = how ? text_of(a, how) : NULL;
			r->left = option(words, n, 3, "left") != NULL;
			r->killed = option(words, n, 3, "killed") != NULL;
			r->by__exit = option(words, n, 3, "_exit") != NULL;
		} else if (!strcmp(words[0], "error")) {
			r->error_comm = comm_named(c, words[2]);
			r->error = text_of(a, words[3]);
			r->error_ns = seconds(option(words, n, 4, "at"), CT_UNKNOWN);
		} else {
			r->cut = option(words, n, 2, "cut") != NULL;
			r->records_until_ns = seconds(option(words, n, 2, "until"),
						      r->records_until_ns);
			r->heartbeat_age_ns = seconds(option(words, n, 2, "beat"), 0);
			r->cpu_ns = seconds(option(words, n, 2, "cpu"), r->cpu_ns);
			r->stopped_pid = number(option(words, n, 2, "stopped"), r->stopped_pid);
			if (option(words, n, 2, "host"))
				r->starts_known = 0;
			if (option(words, n, 2, "on"))
				r->host = text_of(a, option(words, n, 2, "on"));
		}
	}
}

static void read_expected(struct ct_text_case *t, struct ct_arena *a, char **words, int n)
{
	for (int timing = 0; timing < 2; timing++) {
		struct ct_text_expected *e;

		if (!strcmp(words[0], timing ? "events" : "hosts"))
			continue;
		if (n == 2 && !strcmp(words[1], "none")) {
			t->says_nothing[timing] = 1;
			continue;
		}
		if (n != 5 || t->n_expected[timing] == CT_TEXT_EXPECTED)
			bad("not understood", words[0]);
		e = &t->expected[timing][t->n_expected[timing]++];
		*e = (struct ct_text_expected){ word_of(a, words[1]), word_of(a, words[2]),
						word_of(a, words[3]), word_of(a, words[4]) };
	}
}

static void read_line(struct ct_text_case *t, struct ct_arena *a, char *line)
{
	char *words[WORDS], *rest, *word, *whole = strdup(line);
	int n = 0;

	for (word = strtok_r(line, " \t\n", &rest); word && n < WORDS && *word != '#';
	     word = strtok_r(NULL, " \t\n", &rest))
		words[n++] = word;
	if (n == 0) {
		free(whole);
		return;
	}
	if (n < 2)
		bad("too short", words[0]);
	if (!strcmp(words[0], "ranks"))
		set_ranks(&t->c, number(words[1], 4));
	else if (!strcmp(words[0], "broken_off"))
		t->c.broken_off = (int)number(words[1], 0);
	else if (!strcmp(words[0], "comm"))
		read_comm(&t->c, a, words, n);
	else if (!strcmp(words[0], "op"))
		read_op(&t->c, a, words, n);
	else if (!strcmp(words[0], "call") && n > 3)
		read_call(&t->c, a, words, n);
	else if (!strcmp(words[0], "process") || !strcmp(words[0], "error") ||
		 !strcmp(words[0], "rank"))
		read_rank(&t->c, a, words, n);
	else if (!strcmp(words[0], "expect") || !strcmp(words[0], "events") ||
		 !strcmp(words[0], "hosts"))
		read_expected(t, a, words, n);
	else if (!strcmp(words[0], "says") && t->n_says < CT_TEXT_EXPECTED) {
		whole[strcspn(whole, "\n")] = 0;
		t->says[t->n_says++] = word_of(a, strstr(whole, "says ") + 5);
	} else if (!strcmp(words[0], "advises")) {
		whole[strcspn(whole, "\n")] = 0;
		t->advises = word_of(a, strstr(whole, "advises ") + 8);
	} else if (!strcmp(words[0], "runs")) {
		whole[strcspn(whole, "\n")] = 0;
		t->runs = word_of(a, strstr(whole, "runs ") + 5);
	} else {
		bad("not understood", words[0]);
	}
	free(whole);
}

struct ct_text_case *ct_text_cases(const char *path, struct ct_arena *a)
{
	struct ct_text_case *first = NULL, *t = NULL, **end = &first;
	FILE *f = fopen(path, "r");
	char line[4096];

	file_name = path;
	line_number = 0;
	if (!f)
		bad("cannot be opened", path);
	while (fgets(line, sizeof(line), f)) {
		line_number++;
		if (!strncmp(line, "case ", 5)) {
			t = need(ct_arena_calloc(a, 1, sizeof(*t)));
			line[strcspn(line, "\n")] = 0;
			t->file = path;
			t->name = word_of(a, line + 5);
			t->line = line_number;
			t->c.ranks = need(ct_arena_calloc(a, LISTED, sizeof(*t->c.ranks)));
			t->c.comms = need(ct_arena_calloc(a, 512, sizeof(*t->c.comms)));
			t->c.ops = need(ct_arena_calloc(a, MOST + 1, sizeof(*t->c.ops)));
			t->c.calls = need(ct_arena_calloc(a, 512, sizeof(*t->c.calls)));
			set_ranks(&t->c, 4);
			*end = t;
			end = &t->next;
			continue;
		}
		if (t)
			read_line(t, a, line);
	}
	fclose(f);
	return first;
}

struct ct_hang_case *ct_text_copy(const struct ct_hang_case *c, struct ct_arena *a)
{
	struct ct_hang_case *copy = need(ct_arena_calloc(a, 1, sizeof(*copy)));

	*copy = *c;
	copy->ranks = need(ct_arena_calloc(a, c->n_ranks + 1u, sizeof(*copy->ranks)));
	copy->comms = need(ct_arena_calloc(a, c->n_comms + 1u, sizeof(*copy->comms)));
	copy->ops = need(ct_arena_calloc(a, c->n_ops + 1u, sizeof(*copy->ops)));
	copy->calls = need(ct_arena_calloc(a, c->n_calls + 1u, sizeof(*copy->calls)));
	memcpy(copy->ranks, c->ranks, c->n_ranks * sizeof(*copy->ranks));
	memcpy(copy->comms, c->comms, c->n_comms * sizeof(*copy->comms));
	memcpy(copy->ops, c->ops, c->n_ops * sizeof(*copy->ops));
	memcpy(copy->calls, c->calls, c->n_calls * sizeof(*copy->calls));
	return copy;
}

struct ct_hang_case *ct_text_host_timing(const struct ct_hang_case *c, struct ct_arena *a)
{
	struct ct_hang_case *copy = ct_text_copy(c, a);

	for (uint32_t r = 0; r < copy->n_ranks; r++)
		copy->ranks[r].starts_known = 0;
	for (uint32_t i = 0; i < copy->n_ops; i++)
		if (!copy->ops[i].by_host && copy->ops[i].state == CT_STATE_STARTED)
			copy->ops[i].state = CT_STATE_RETURNED;
	return copy;
}

const char *ct_text_list(const int *ranks, uint32_t n, struct ct_arena *a)
{
	const char *all = n ? "" : "-";

	for (uint32_t i = 0; i < n; i++) {
		uint32_t end = i;

		while (end + 1 < n && ranks[end + 1] == ranks[end] + 1)
			end++;
		all = end > i + 1 ? ct_arena_printf(a, "%s%s%d-%d", all, i ? "," : "", ranks[i],
						    ranks[end])
				  : ct_arena_printf(a, "%s%s%d", all, i ? "," : "", ranks[i]);
		if (end > i + 1)
			i = end;
	}
	return all;
}

const char *ct_text_verdicts(const struct ct_hang_result *result, struct ct_arena *a)
{
	const char *all = "";

	for (uint32_t i = 0; i < result->n_verdicts; i++) {
		const struct ct_hang_verdict *v = &result->verdicts[i];

		all = text(ct_arena_printf(a, "%s%s %s %s %s\n", all, ct_hang_code_name(v->code),
					   ct_text_list(v->ranks, v->n_ranks, a),
					   ct_text_list(v->victims, v->n_victims, a),
					   ct_confidence_name(v->confidence)));
	}
	return all;
}
