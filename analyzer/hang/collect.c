/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/collect.h"

#include <stdlib.h>

#include "analyzer/hang/exit_cause.h"
#include "analyzer/hang/gather.h"

/* Facts about all processes of the start. */
static void describe(const struct ct_gather *g, struct ct_hang_run *out)
{
	const struct ct_starts *starts = g->model->starts;

	out->restart = g->model->restart;
	out->starts = starts->n_starts;
	out->begin_unix_ns = g->model->begin_unix_ns;
	out->hosts = starts->n_hosts;
	for (size_t p = 0; p < g->run->n_processes; p++) {
		const struct ct_process *id = &g->run->processes[p].id;

		if (starts->processes[p].restart != g->model->restart)
			continue;
		if (!out->job && id->job[0])
			out->job = ct_arena_text(g->memory, id->job, sizeof(id->job));
		if (!out->dir && id->run_dir[0])
			out->dir = ct_arena_text(g->memory, id->run_dir, sizeof(id->run_dir));
		if (id->hang_after_ns > out->hang_after_ns)
			out->hang_after_ns = id->hang_after_ns;
	}
}

static int fill(struct ct_gather *g, struct ct_hang_run *out, struct ct_err *err)
{
	int st = ct_gather_list_comms(g);

	st = st ?: ct_gather_again(g, err);
	if (st != CT_OK)
		return st;
	describe(g, out);
	st = ct_hang_fill_ranks(g, out);
	st = st ?: ct_hang_waited(g);
	st = st ?: ct_hang_exit_causes(g, out);
	st = st ?: ct_hang_fill_comms(g, out);
	st = st ?: ct_hang_fill_ops(g, out);
	st = st ?: ct_hang_fill_calls(g, out);
	return st == CT_OK ? ct_hang_missing(g, out) : st;
}

int ct_hang_collect(struct ct_gather *g, struct ct_hang_run **out, struct ct_err *err)
{
	int st = CT_NOMEM;

	*out = ct_arena_calloc(g->memory, 1, sizeof(**out));
	g->torn_down = calloc(g->model->starts->n_hosts + 1u, sizeof(*g->torn_down));
	if (*out && g->torn_down)
		st = fill(g, *out, err);
	return st == CT_NOMEM ? ct_fail(err, st, "%s", ct_status_text(st)) : st;
}
