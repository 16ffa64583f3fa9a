/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/collect.h"

#include <stdlib.h>

#include "analyzer/hang/check.h"
#include "analyzer/hang/gather.h"

const char *ct_hang_state_word(enum ct_hang_state state)
{
	static const char *const words[] = {
#define WORD(name, word) [CT_HANG_##name] = (word),
		CT_HANG_STATE_MAP(WORD)
#undef WORD
	};

	return words[state];
}

static void fini(struct ct_gather *g)
{
	for (struct ct_hang_kept *k = g->kept; k; k = k->next)
		ct_hang_kept_fini(k);
	for (size_t i = 0; i < g->classes.cap; i++) {
		struct ct_hang_class *class = g->classes.slots[i].value;

		if (class)
			ct_hist_fini(&class->took);
		free(class);
	}
	for (uint32_t i = 0; i < g->n_orders; i++)
		ct_hang_sums_fini(&g->orders[i].all);
	free(g->orders);
	free(g->wants);
	ct_hang_channels_free(g->channels);
	ct_table_fini(&g->by_id);
	ct_table_fini(&g->classes);
	ct_table_fini(&g->streams);
	ct_table_fini(&g->members);
	ct_table_fini(&g->texts);
	ct_comms_fini(&g->comms);
	ct_attempts_fini(&g->attempts);
	ct_arena_free(g->scratch);
	free(g->seats);
	free(g->processes);
	free(g->calls);
	free(g->open_calls);
	free(g->shift);
	free(g->torn_down);
}

/* What is true of all processes of the attempt. */
static void describe(const struct ct_gather *g, struct ct_hang_run *out)
{
	out->attempt = g->attempt;
	out->attempts = g->attempts.n_attempts;
	out->begin_unix_ns = g->begin_unix_ns;
	out->hosts = g->attempts.n_hosts;
	for (size_t p = 0; p < g->run->n_processes; p++) {
		const struct ct_process *id = &g->run->processes[p].id;

		if (g->attempts.places[p].attempt != g->attempt)
			continue;
		if (!out->job && id->job[0])
			out->job = ct_arena_text(g->memory, id->job, sizeof(id->job));
		if (!out->dir && id->run_dir[0])
			out->dir = ct_arena_text(g->memory, id->run_dir, sizeof(id->run_dir));
		if (id->hang_after_ns > out->hang_after_ns)
			out->hang_after_ns = id->hang_after_ns;
	}
}

static int collect(struct ct_gather *g, const struct ct_hang_options *options,
		   struct ct_hang_run *out, struct ct_err *err)
{
	int st = ct_gather_read(g, options, err);

	if (st == CT_OK)
		st = ct_gather_again(g, options && options->check, err);
	if (st != CT_OK)
		return st;
	describe(g, out);
	st = ct_hang_fill_ranks(g, out);
	if (st == CT_OK)
		st = ct_hang_waited(g);
	if (st == CT_OK)
		st = ct_hang_lives(g, out);
	if (st == CT_OK)
		st = ct_hang_fill_comms(g, out);
	if (st == CT_OK)
		st = ct_hang_fill_ops(g, out);
	if (st == CT_OK)
		st = ct_hang_fill_calls(g, out);
	if (st == CT_OK && options && options->check)
		st = ct_hang_check(g, out);
	if (st == CT_OK && g->channels)
		st = ct_hang_channels_check(g, out);
	return st == CT_OK ? ct_hang_missing(g, out) : st;
}

int ct_hang_collect(const struct ct_run *run, const struct ct_hang_options *options,
		    struct ct_arena *memory, struct ct_hang_run **out, struct ct_err *err)
{
	struct ct_gather g = { .run = run, .memory = memory, .scratch = ct_arena_new() };
	int wanted = options ? options->attempt : -1;
	int st = CT_NOMEM;

	*out = ct_arena_calloc(memory, 1, sizeof(**out));
	if (!g.scratch || !*out || ct_comms_init(&g.comms) != CT_OK ||
	    ct_attempts_find(run, &g.attempts) != CT_OK)
		goto out;
	if (options && options->check) {
		g.channels = ct_hang_channels_new();
		if (!g.channels)
			goto out;
	}
	g.names.memory = memory;
	g.attempt = wanted < 0 ? g.attempts.n_attempts - 1 : wanted;
	st = g.attempt < g.attempts.n_attempts
		     ? collect(&g, options, *out, err)
		     : ct_fail(err, CT_NOTFOUND, "attempt %d: the run has %d", g.attempt,
			       g.attempts.n_attempts);
out:
	fini(&g);
	return st == CT_NOMEM ? ct_fail(err, st, "%s", ct_status_text(st)) : st;
}
