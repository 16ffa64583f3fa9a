/* SPDX-License-Identifier: Apache-2.0 */
/* Who failed by itself, and who was ended by others. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/hang/exit_cause.h"
#include "analyzer/model/call_kind.h"
#include "analyzer/model/process_exit.h"

/* Beats come once a second: who has no later one may have lived so much longer. */
#define BEAT_NS 2000000000ull
/* Whose ring is gone may have lived until it would have written to the run again. */
#define WRITE_NS 11000000000ull
/* Who is asked to end (SIGTERM) is given half a minute as a rule. */
#define GRACE_NS 60000000000ull
#define AT_ONCE_NS 900000000ull
/* Where somebody waited for a processor, each of the calls, threads and processes that it takes to go on may have to: so many times
 * as long counts for nothing. On two cores with 50 to 200 threads that wanted them healthy operations stood still for at most 3 times. */
#define LATE_TIMES 10u
/* Whoever is asked to end and is gone at once, but of SIGKILL, was killed by somebody else: who asks first gives time. It may have
 * been dead when it was asked. */
static int is_of_another(const struct ct_end *end)
{
	return end->how == CT_END_SIGNAL && end->signal == SIGKILL && end->kill_signal != SIGKILL &&
	       end->before_ns < end->kill_ns + AT_ONCE_NS;
}

static enum ct_manner manner_of(const struct ct_process_info *info, const struct ct_end *end)
{
	int own = end->kill_by == info->id.pid;

	if (ct_process_is_imported(&info->id))
		return CT_MANNER_UNRECORDED;
	if (end->how == CT_END_RUNNING)
		return CT_MANNER_RUNS;
	if (ct_end_was_sent(end) && !own && !is_of_another(end))
		return CT_MANNER_SENT;
	if (ct_end_is_well(end) || end->how == CT_END_EXEC)
		return CT_MANNER_WELL;
	if (end->how == CT_END_UNKNOWN)
		return CT_MANNER_VANISHED;
	if (end->how != CT_END_SIGNAL || own)
		return CT_MANNER_BY_ITSELF;
	if (end->signal == SIGKILL)
		return CT_MANNER_SHOT;
	return end->signal == SIGTERM || end->signal == SIGINT || end->signal == SIGHUP ||
			       end->signal == SIGQUIT
		       ? CT_MANNER_ASKED
		       : CT_MANNER_BY_ITSELF;
}

/* Whoever calls MPI_Abort ends the job itself, however its process goes then. */
static uint64_t aborted_ns(const struct ct_gather *g, uint32_t p)
{
	for (uint32_t i = 0; i < g->n_calls; i++) {
		const struct ct_hang_seen_call *call = &g->calls[i];

		if (call->process == p && !call->rec.return_ns &&
		    ct_call_is(call->call, CT_CALL_ENDS_JOB))
			return call->rec.enter_ns;
	}
	return 0;
}

/* Has a process called something with this trait, `returned` 1: and come back? */
static int has_called(const struct ct_gather *g, uint32_t p, unsigned trait, int returned)
{
	for (uint32_t i = 0; i < g->n_calls; i++) {
		const struct ct_hang_seen_call *call = &g->calls[i];

		if (call->process == p && ct_call_is(call->call, trait) &&
		    (call->rec.return_ns || !returned))
			return 1;
	}
	return 0;
}

/* PMIx ends a process of Open MPI by _exit when the launcher is gone, with one of these (pmix_common.h, as exit statuses). */
static int lost_launcher(const struct ct_gather *g, uint32_t p)
{
	const int lost_connection = -61 & 0xff, lost_connection_to_server = -101 & 0xff;
	const struct ct_end *end = &g->processes[p].end;

	return end->how == CT_END_EXIT &&
	       (end->exit_code == lost_connection || end->exit_code == lost_connection_to_server) &&
	       has_called(g, p, CT_CALL_ENTERS_LIBRARY, 1);
}

/* A process that has left MPI without MPI_Finalize is as bad for the others as one that failed. But a program may do so because it
 * is asked to end: then it is not the first. */
static int left_library(const struct ct_gather *g, uint32_t p)
{
	const struct ct_hang_process *process = &g->processes[p];

	return process->end.unasked && !process->lost && !process->damaged &&
	       has_called(g, p, CT_CALL_ENTERS_LIBRARY, 1) &&
	       !has_called(g, p, CT_CALL_LEAVES_LIBRARY, 0);
}

static void take_process(struct ct_lives *lives, uint32_t p)
{
	const struct ct_gather *g = lives->g;
	const struct ct_hang_process *process = &g->processes[p];
	struct ct_ends_moment moment = ct_ends_moment_of(&process->end);
	uint64_t err = ct_gather_err(g, p);
	struct ct_life *life = &lives->all[lives->n++];

	life->process = p;
	life->manner = manner_of(&g->run->processes[p], &process->end);
	if (life->manner == CT_MANNER_BY_ITSELF && lost_launcher(g, p))
		life->manner = CT_MANNER_ASKED;
	life->damaged = life->manner == CT_MANNER_VANISHED && process->damaged;
	life->left = life->manner == CT_MANNER_WELL && left_library(g, p);
	life->crashed = process->end.how == CT_END_SIGNAL;
	life->waited = process->waited_ns > g->run->processes[p].id.hang_after_ns;
	life->told = process->failed_ns != 0;
	life->told_ns = ct_gather_at(g, p, process->failed_ns);
	if (moment.lo_ns < process->last_sign_ns && !ct_end_was_sent(&process->end) &&
	    !process->end.said_ns)
		moment.lo_ns = process->last_sign_ns;
	if (life->manner == CT_MANNER_SHOT)
		moment = (struct ct_ends_moment){ .lo_ns = process->last_sign_ns,
						  .hi_ns = process->end.before_ns };
	life->aborted = life->manner != CT_MANNER_RUNS && aborted_ns(g, p);
	if (life->aborted) {
		life->manner = CT_MANNER_BY_ITSELF;
		life->crashed = 1;
		moment.lo_ns = moment.hi_ns = aborted_ns(g, p);
	}
	if (life->manner == CT_MANNER_RUNS)
		moment = (struct ct_ends_moment){ .lo_ns = process->last_sign_ns,
						  .hi_ns = UINT64_MAX };
	life->at_ns = ct_gather_at(g, p, moment.lo_ns);
	life->err_ns = err;
	life->lo_ns = ct_less(life->at_ns, err);
	life->hi_ns = moment.hi_ns == UINT64_MAX ? UINT64_MAX
						 : ct_gather_at(g, p, moment.hi_ns) + err;
}

/* ---- who failed first ---- */

/* How many collectives of its communicator a rank has called. */
static uint64_t reached(const struct ct_hang_kept *kept)
{
	return kept->issued > kept->reached.next_seq ? kept->issued : kept->reached.next_seq;
}

/* Peers of a rank that leaves are told so by their library, which may be long before its process ends: how many operations each
 * called shows who left early, not the times. */
static int find_deserted(struct ct_lives *lives)
{
	struct ct_gather *g = lives->g;
	uint64_t *least = calloc((size_t)g->model->comms.n + 1,
				 sizeof(*least)); /* 1 + the fewest */
	uint8_t *is_well = calloc(g->run->n_processes + 1, 1);

	for (uint32_t i = 0; is_well && i < lives->n; i++)
		is_well[lives->all[i].process] = lives->all[i].manner == CT_MANNER_WELL &&
						 !lives->all[i].left;
	for (const struct ct_hang_kept *k = g->kept; k && least && is_well; k = k->next) {
		const struct ct_hang_process *p = &g->processes[k->process];
		uint64_t *of = &least[k->comm->index];

		if (is_well[k->process] && !p->lost && !p->damaged &&
		    (!*of || reached(k) < *of - 1))
			*of = reached(k) + 1;
	}
	for (const struct ct_hang_kept *k = g->kept; k && least && is_well; k = k->next) {
		struct ct_hang_process *p = &g->processes[k->process];

		p->deserted |= p->failed_ns && least[k->comm->index] &&
			       reached(k) > least[k->comm->index] - 1;
	}
	free(is_well);
	free(least);
	return least && is_well ? CT_OK : CT_NOMEM;
}

/* Did something else certainly happen before it, of which it may be a consequence? */
static int is_consequence(const struct ct_lives *lives, const struct ct_life *life)
{
	int somebody_sent = 0, asked_then = 0;

	if (lives->g->processes[life->process].deserted)
		return 1;
	for (uint32_t i = 0; i < lives->n; i++) {
		const struct ct_life *other = &lives->all[i];

		if (other == life || other->manner == CT_MANNER_RUNS ||
		    other->manner == CT_MANNER_UNRECORDED ||
		    (other->manner == CT_MANNER_WELL && !other->left))
			continue;
		if (other->hi_ns < life->lo_ns ||
		    (life->told && !other->told && other->lo_ns < life->lo_ns))
			return 1;
		somebody_sent |= other->manner == CT_MANNER_SENT;
		asked_then |= other->manner == CT_MANNER_ASKED && other->lo_ns <= life->hi_ns;
	}
	/* A program that is asked to end may do so with a status of its own. */
	return !life->crashed && asked_then && !somebody_sent;
}

static void find_failed(struct ct_lives *lives)
{
	for (uint32_t i = 0; i < lives->n; i++) {
		struct ct_life *life = &lives->all[i];

		life->dead = life->manner == CT_MANNER_BY_ITSELF && !life->waited &&
			     !is_consequence(lives, life);
	}
}

static int by_lo(const void *a, const void *b)
{
	const struct ct_life *x = a, *y = b;

	if (x->lo_ns != y->lo_ns)
		return x->lo_ns < y->lo_ns ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

/* Killed with SIGKILL though its launcher was seen to ask it in another way, or nobody saw by what, and not heard of since it was asked:
 * whoever shot one may have shot it as well, before the launcher had noticed. */
static int may_be_shot_too(const struct ct_hang_process *process)
{
	const struct ct_end *end = &process->end;
	int by_another = end->how == CT_END_SIGNAL && end->signal == SIGKILL &&
			 end->kill_signal != SIGKILL;

	return (by_another || end->how == CT_END_UNKNOWN) && process->last_sign_ns < end->kill_ns;
}

/* The launcher killed all others when it had seen this one dead. */
static int launcher_followed(const struct ct_lives *lives, const struct ct_life *life)
{
	const struct ct_hang_process *all = lives->g->processes;
	uint32_t parent = all[life->process].end.seen_by, others = 0;

	for (uint32_t i = 0; i < lives->n; i++) {
		const struct ct_life *other = &lives->all[i];

		if (other == life || other->manner == CT_MANNER_RUNS ||
		    other->manner == CT_MANNER_WELL)
			continue;
		if (other->manner != CT_MANNER_SENT || all[other->process].end.kill_by != parent ||
		    other->lo_ns < life->lo_ns)
			return 0;
		if (ct_life_was_stopped(&all[life->process], &all[other->process].end) ||
		    may_be_shot_too(&all[other->process]))
			return 0;
		others++;
	}
	return parent && others;
}

/* Somebody in the job killed this one, and not for having waited. */
static int was_killed(const struct ct_lives *lives, const struct ct_life *life)
{
	return life->manner == CT_MANNER_SENT && !life->waited &&
	       lives->g->processes[life->process].end.signal == SIGKILL;
}

/* Until when it may have lived. */
static uint64_t gone_by(const struct ct_lives *lives, const struct ct_life *life)
{
	const struct ct_process_info *info = &lives->g->run->processes[life->process];

	if (life->manner == CT_MANNER_WELL)
		return life->lo_ns;
	if (life->hi_ns != UINT64_MAX)
		return life->hi_ns;
	return life->at_ns + life->err_ns + (info->ring == CT_RING_NOT_FOUND ? WRITE_NS : BEAT_NS);
}

/* Of those that were killed by nobody knows whom, or are gone, those that were long before all others. Who ends a job from
 * outside ends all of it at about the same time. */
static void find_gone_before(struct ct_lives *lives)
{
	uint64_t gone_ns = 0, limit_ns = lives->limit_ns;

	qsort(lives->all, lives->n, sizeof(*lives->all), by_lo);
	for (uint32_t i = 0; i + 1 < lives->n; i++) {
		const struct ct_life *life = &lives->all[i];
		uint64_t gone = gone_by(lives, life);

		if (life->damaged)
			continue;
		if (life->manner == CT_MANNER_ASKED)
			limit_ns = limit_ns > GRACE_NS ? limit_ns : GRACE_NS;
		else if (life->manner != CT_MANNER_WELL && life->manner != CT_MANNER_SHOT &&
			 life->manner != CT_MANNER_VANISHED && !(i == 0 && was_killed(lives, life)))
			return;
		gone_ns = gone > gone_ns ? gone : gone_ns;
		if (lives->all[i + 1].lo_ns <= gone_ns + limit_ns)
			continue;
		for (uint32_t k = 0; k <= i; k++)
			lives->all[k].dead = lives->all[k].manner != CT_MANNER_WELL &&
					     !lives->all[k].damaged;
		return;
	}
}

/* When a library first told somebody that a peer was gone; UINT64_MAX: it did not. */
static uint64_t first_told(const struct ct_lives *lives)
{
	uint64_t at = UINT64_MAX;

	for (uint32_t i = 0; i < lives->n; i++) {
		const struct ct_life *life = &lives->all[i];

		if (life->manner == CT_MANNER_BY_ITSELF && life->told && life->told_ns < at)
			at = life->told_ns;
	}
	return at;
}

/* Peers of one that is gone are told so by their library, and fail. The only one who was not told, and of whom there is no later
 * sign of life, is the one who was gone. */
static void find_missed(struct ct_lives *lives)
{
	struct ct_life *missed = NULL;
	uint64_t told_ns = first_told(lives);

	for (uint32_t i = 0; i < lives->n && told_ns != UINT64_MAX; i++) {
		struct ct_life *life = &lives->all[i];

		if (life->told || life->manner == CT_MANNER_RUNS ||
		    life->manner == CT_MANNER_WELL || life->manner == CT_MANNER_UNRECORDED ||
		    life->lo_ns > told_ns)
			continue;
		if (missed)
			return;
		missed = life;
	}
	if (missed && !missed->damaged &&
	    (missed->manner == CT_MANNER_SHOT || missed->manner == CT_MANNER_VANISHED))
		missed->dead = 1;
}

static void find_dead(struct ct_lives *lives)
{
	struct ct_life *shot = NULL;
	uint32_t n_shot = 0;

	find_failed(lives);
	if (ct_lives_any_dead(lives))
		return;
	find_gone_before(lives);
	if (!ct_lives_any_dead(lives))
		find_missed(lives);
	if (ct_lives_any_dead(lives))
		return;
	for (uint32_t i = 0; i < lives->n; i++) {
		if (lives->all[i].manner == CT_MANNER_SHOT) {
			shot = &lives->all[i];
			n_shot++;
		}
	}
	if (n_shot == 1 && !shot->waited && launcher_followed(lives, shot))
		shot->dead = 1;
}

/* ---- what of it goes into the result ---- */

static const char *how_ended(struct ct_gather *g, const struct ct_life *life)
{
	const struct ct_end *end = &g->processes[life->process].end;
	const char *name;

	if (life->aborted)
		return ct_gather_text(g, "it called MPI_Abort");
	if (life->manner == CT_MANNER_VANISHED)
		return ct_gather_text(g, "without a word: its signs of life stop");
	if (life->left)
		return ct_arena_printf(g->memory, "exit status %d without MPI_Finalize",
				       end->exit_code);
	if (end->how == CT_END_EXIT)
		return ct_arena_printf(g->memory,
				       "exit status %d by _exit, which runs no exit handlers",
				       end->exit_code);
	if (end->how != CT_END_SIGNAL)
		return ct_arena_printf(g->memory, "exit status %d", end->exit_code);
	name = sigabbrev_np(end->signal);
	return ct_arena_printf(g->memory, "signal %d (%s%s)%s", end->signal, name ? "SIG" : "?",
			       name ? name : "", end->for_memory ? " for want of memory" : "");
}

static int fill_rank(struct ct_lives *lives, const struct ct_life *life, struct ct_hang_rank *rank)
{
	struct ct_gather *g = lives->g;
	int by__exit = g->processes[life->process].end.how == CT_END_EXIT;
	int tells = life->dead || life->left || by__exit || life->manner == CT_MANNER_BY_ITSELF;

	rank->life = CT_LIFE_ALIVE;
	if (life->dead)
		rank->life = CT_LIFE_DEAD;
	else if (life->manner == CT_MANNER_WELL)
		rank->life = CT_LIFE_EXITED;
	rank->left = life->left;
	rank->by__exit = by__exit;
	if (g->processes[life->process].end.stopped)
		rank->stopped_pid = g->run->processes[life->process].id.pid;
	rank->killed = life->dead && life->manner != CT_MANNER_BY_ITSELF &&
		       !g->processes[life->process].end.for_memory;
	rank->ended_ns = life->manner == CT_MANNER_RUNS || life->manner == CT_MANNER_UNRECORDED
				 ? CT_UNKNOWN
				 : life->lo_ns;
	rank->how_ended = tells ? how_ended(g, life) : NULL;
	return tells && !rank->how_ended ? CT_NOMEM : CT_OK;
}

int ct_hang_lives(struct ct_gather *g, struct ct_hang_run *out)
{
	struct ct_lives lives = { .g = g };
	struct ct_hang_case *c = &out->hang_case;
	int st = CT_OK;

	lives.all = calloc(g->model->n_seats + 1, sizeof(*lives.all));
	if (!lives.all)
		return CT_NOMEM;
	out->late_ns = ct_hang_late(g);
	lives.busy_ns = out->late_ns * LATE_TIMES;
	lives.limit_ns = out->hang_after_ns < CT_UNCLEAN_NS ? out->hang_after_ns : CT_UNCLEAN_NS;
	if (lives.busy_ns > lives.limit_ns)
		lives.limit_ns = lives.busy_ns;
	for (uint32_t s = 0; s < g->model->n_seats; s++) {
		const struct ct_seat *seat = &g->model->seats[s];

		/* several ranks of one process end together */
		if (!seat->local && ct_gather_has(g, seat->process))
			take_process(&lives, seat->process);
	}
	st = find_deserted(&lives);
	find_dead(&lives);
	ct_lives_state(&lives, out);
	ct_lives_torn_down(&lives, out);
	for (uint32_t i = 0; i < lives.n && st == CT_OK; i++) {
		c->died_first |= (lives.all[i].dead || lives.all[i].left) && lives.n > 1;
		for (uint32_t s = 0; s < g->model->n_seats && st == CT_OK; s++) {
			if (g->model->seats[s].process == lives.all[i].process &&
			    g->ranks[s] != UINT32_MAX)
				st = fill_rank(&lives, &lives.all[i], &c->ranks[g->ranks[s]]);
		}
	}
	free(lives.all);
	return st;
}
