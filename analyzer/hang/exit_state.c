/* SPDX-License-Identifier: Apache-2.0 */
/* How a job stands by how its processes ended, and since when it was being torn down. */
#include "analyzer/hang/exit_cause.h"

/* Launchers see a child's end at once, or look every 5 s (torchrun). */
#define LAUNCHER_NS 7000000000ull
/* A job that still runs is not called stuck by one look, unless it has been for this long. */
#define LOOK_NS 5000000000ull
/* With clocks that may be further apart nothing on one host comes after something on another one. */
#define MOST_ERR_NS 2000000000ull

int ct_lives_any_dead(const struct ct_lives *lives)
{
	int any = 0;

	for (uint32_t i = 0; i < lives->n; i++)
		any |= lives->all[i].dead;
	return any;
}

int ct_life_was_stopped(const struct ct_hang_process *process, const struct ct_end *other)
{
	return other->kill_ns < process->end.before_ns &&
	       other->kill_ns > process->last_sign_ns + LAUNCHER_NS;
}

/* When it was ended by others, as its own host has it. */
static uint64_t ended_by_others_ns(const struct ct_lives *lives, const struct ct_life *life)
{
	const struct ct_gather *g = lives->g;
	const struct ct_hang_process *process = &g->processes[life->process];
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < lives->n && life->manner == CT_MANNER_SHOT && process->end.seen_by;
	     i++) {
		const struct ct_end *other = &g->processes[lives->all[i].process].end;

		if (lives->all[i].manner == CT_MANNER_SENT &&
		    other->kill_by == process->end.seen_by && other->kill_ns < first &&
		    ct_life_was_stopped(process, other))
			first = other->kill_ns;
	}
	return first == UINT64_MAX ? life->at_ns : ct_gather_at(g, life->process, first);
}

/* When somebody began to end the job, who was not part of it, as a host has it: what happened on others counts if the clocks
 * tell when that was. */
static uint64_t torn_down(const struct ct_lives *lives, uint32_t host)
{
	const struct ct_gather *g = lives->g;
	uint64_t at = CT_UNKNOWN, own_err = 0;

	for (uint32_t i = 0; i < lives->n; i++) {
		if (ct_gather_host_of(g, lives->all[i].process) == host &&
		    lives->all[i].err_ns > own_err)
			own_err = lives->all[i].err_ns;
	}
	for (uint32_t i = 0; i < lives->n; i++) {
		const struct ct_life *life = &lives->all[i];
		int by_others = life->manner == CT_MANNER_SENT || life->manner == CT_MANNER_ASKED ||
				life->manner == CT_MANNER_SHOT ||
				life->manner == CT_MANNER_VANISHED;
		uint64_t then = life->at_ns;

		if (!by_others || life->dead || life->damaged)
			continue;
		if (ct_gather_host_of(g, life->process) != host) {
			if (life->err_ns > MOST_ERR_NS || own_err > MOST_ERR_NS)
				continue;
			then = ct_less(then, life->err_ns + own_err);
		}
		at = then < at ? then : at;
	}
	return at;
}

static int any_left(const struct ct_lives *lives)
{
	int any = 0;

	for (uint32_t i = 0; i < lives->n; i++)
		any |= lives->all[i].left;
	return any;
}

void ct_lives_state(const struct ct_lives *lives, struct ct_hang_run *out)
{
	uint32_t n[CT_MANNERS] = { 0 }, unclean;

	for (uint32_t i = 0; i < lives->n; i++)
		n[lives->all[i].manner]++;
	unclean = lives->n - n[CT_MANNER_RUNS] - n[CT_MANNER_WELL];
	out->running = n[CT_MANNER_RUNS];
	out->failed = n[CT_MANNER_BY_ITSELF];
	if (n[CT_MANNER_RUNS])
		out->state = CT_HANG_RUNNING;
	else if (!unclean)
		out->state = CT_HANG_ENDED;
	else if (unclean == n[CT_MANNER_UNRECORDED])
		out->state = CT_HANG_UNRECORDED;
	else
		out->state = n[CT_MANNER_BY_ITSELF] || ct_lives_any_dead(lives) || any_left(lives)
				     ? CT_HANG_KILLED
				     : CT_HANG_INTERRUPTED;
	out->hang_case.broken_off = !n[CT_MANNER_RUNS] && unclean;
	out->limit_ns = out->hang_after_ns;
	if (unclean && out->limit_ns > CT_UNCLEAN_NS)
		out->limit_ns = CT_UNCLEAN_NS;
	if (n[CT_MANNER_RUNS] && out->limit_ns < LOOK_NS)
		out->limit_ns = LOOK_NS;
	if (lives->busy_ns > out->limit_ns) {
		out->limit_ns = lives->busy_ns;
		out->is_busy = 1;
	}
}

void ct_lives_torn_down(struct ct_lives *lives, struct ct_hang_run *out)
{
	struct ct_gather *g = lives->g;

	out->torn_down_ns = CT_UNKNOWN;
	for (uint32_t i = 0; i < lives->n; i++)
		lives->all[i].at_ns = ended_by_others_ns(lives, &lives->all[i]);
	for (uint32_t h = 0; h < g->model->attempts->n_hosts; h++) {
		g->torn_down[h] = torn_down(lives, h);
		if (g->torn_down[h] < out->torn_down_ns)
			out->torn_down_ns = g->torn_down[h];
	}
}
