/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/exit_cause.h"

#include "analyzer/base/limits.h"

#include <signal.h>
#include <stdlib.h>

static uint64_t at(const void *arg, uint32_t process, uint64_t mono_ns, uint64_t *err_ns)
{
	const struct ct_gather *g = arg;

	*err_ns = ct_gather_err(g, process);
	return ct_gather_at(g, process, mono_ns);
}

static struct ct_exit exit_of(const struct ct_gather *g, uint32_t p)
{
	struct ct_exit_facts facts = ct_model_exit_facts(g->model, p);

	facts.waited = g->processes[p].waited_ns > g->run->processes[p].id.hang_after_ns;
	return ct_exit_of(&facts);
}

/* How many collectives of its communicator a rank has called. */
static uint64_t reached(const struct ct_rank_history *history)
{
	return history->issued > history->reached.next_seq ? history->issued
							   : history->reached.next_seq;
}

static int take_exits(struct ct_exits *exits, const struct ct_gather *g)
{
	uint32_t n_kept = 0;

	for (const struct ct_rank_history *k = g->histories; k; k = k->next)
		n_kept++;
	exits->all = calloc(g->model->n_slots + 1, sizeof(*exits->all));
	exits->reach = calloc(n_kept + 1, sizeof(*exits->reach));
	if (!exits->all || !exits->reach)
		return CT_NOMEM;
	for (uint32_t s = 0; s < g->model->n_slots; s++) {
		uint32_t p = g->model->slots[s].process;

		/* several ranks of one process end together */
		if (!g->model->slots[s].local && ct_gather_has(g, p)) {
			exits->all[exits->n++] = exit_of(g, p);
			exits->late_ns = ct_exits_late(&g->run->processes[p], exits->late_ns);
		}
	}
	for (const struct ct_rank_history *k = g->histories; k; k = k->next)
		exits->reach[exits->n_reach++] = (struct ct_exit_reach){ .process = k->process,
									 .comm = ct_gather_number(
										 g, k->comm),
									 .reached = reached(k) };
	return CT_OK;
}

/* ---- what of it goes into the result ---- */

static int fill_rank(const struct ct_gather *g, const struct ct_exits *exits,
		     const struct ct_exit *e, struct ct_hang_rank *rank)
{
	const struct ct_end *end = &e->facts.end;
	int by__exit = end->how == CT_END_EXIT;
	int has_cause = e->dead || e->left || by__exit || e->manner == CT_MANNER_BY_ITSELF;

	rank->process = CT_PROCESS_ALIVE;
	if (e->dead)
		rank->process = CT_PROCESS_DEAD;
	else if (e->manner == CT_MANNER_WELL)
		rank->process = CT_PROCESS_EXITED;
	rank->cut |= (uint8_t)e->cut_off;
	rank->pid = e->manner == CT_MANNER_RUNS ? e->facts.pid : 0;
	rank->ended_in = e->manner == CT_MANNER_RUNS ? 0 : e->facts.process + 1;
	rank->silent_ns = e->silent_ns;
	rank->ended_first = e->may_be_first && exits->n_first == 1;
	rank->left = e->left;
	rank->by__exit = by__exit;
	if (end->stopped)
		rank->stopped_pid = e->facts.pid;
	rank->killed = e->dead && e->manner != CT_MANNER_BY_ITSELF && !end->for_memory;
	rank->by_machine = e->dead && !end->for_memory &&
			   (e->manner == CT_MANNER_VANISHED || e->manner == CT_MANNER_SHOT ||
			    (end->how == CT_END_SIGNAL && end->signal == SIGBUS));
	rank->ended_ns = e->manner == CT_MANNER_RUNS || e->manner == CT_MANNER_UNRECORDED
				 ? CT_UNKNOWN
				 : e->at.lo_ns;
	rank->how_ended = has_cause ? ct_exit_text(e, g->memory) : NULL;
	return has_cause && !rank->how_ended ? CT_NOMEM : CT_OK;
}

static int fill_ranks(struct ct_gather *g, const struct ct_exits *exits, struct ct_hang_case *c)
{
	int st = CT_OK;

	for (uint32_t i = 0; i < exits->n && st == CT_OK; i++) {
		const struct ct_exit *e = &exits->all[i];

		g->processes[e->facts.process].deserted = e->deserted;
		c->died_first |= (e->dead || e->left) && exits->n > 1;
		for (uint32_t s = 0; s < g->model->n_slots && st == CT_OK; s++) {
			if (g->model->slots[s].process == e->facts.process &&
			    g->ranks[s] != UINT32_MAX)
				st = fill_rank(g, exits, e, &c->ranks[g->ranks[s]]);
		}
	}
	return st;
}

uint64_t ct_hang_stall_ns(const struct ct_exits *exits)
{
	uint64_t limit_ns = exits->hang_after_ns;

	if (exits->unclean && limit_ns > CT_UNCLEAN_NS)
		limit_ns = CT_UNCLEAN_NS;
	if (exits->running && limit_ns < CT_UNCLEAN_NS)
		limit_ns = CT_UNCLEAN_NS;
	return exits->busy_ns > limit_ns ? exits->busy_ns : limit_ns;
}

/* The state of the job, and the age from which an operation is stalled. */
static void fill_state(const struct ct_exits *exits, struct ct_hang_run *out)
{
	out->running = exits->running;
	out->failed = exits->failed;
	out->state = exits->state;
	out->late_ns = exits->late_ns;
	out->hang_case.broken_off = !exits->running && exits->unclean;
	out->limit_ns = ct_hang_stall_ns(exits);
	out->is_busy = exits->busy_ns && out->limit_ns == exits->busy_ns;
}

static void fill_torn_down(struct ct_gather *g, const struct ct_exits *exits,
			   struct ct_hang_run *out)
{
	out->torn_down_ns = CT_UNKNOWN;
	for (uint32_t h = 0; h < g->model->starts->n_hosts; h++) {
		g->torn_down[h] = ct_exits_torn_down(exits, h);
		if (g->torn_down[h] < out->torn_down_ns)
			out->torn_down_ns = g->torn_down[h];
	}
}

int ct_hang_exit_causes(struct ct_gather *g, struct ct_hang_run *out)
{
	const struct ct_exit_clock clock = { .at = at, .arg = g };
	struct ct_exits exits = { .hang_after_ns = out->hang_after_ns };
	int st = take_exits(&exits, g);

	st = st ?: ct_exits_judge(&exits, &clock);
	st = st ?: fill_ranks(g, &exits, &out->hang_case);
	if (st == CT_OK) {
		if (exits.running && g->options.adaptive)
			exits.hang_after_ns = ct_hang_usual_ns(g, exits.hang_after_ns);
		fill_state(&exits, out);
		fill_torn_down(g, &exits, out);
	}
	free(exits.reach);
	free(exits.all);
	return st;
}
