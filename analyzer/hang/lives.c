/* SPDX-License-Identifier: Apache-2.0 */
/* Who failed by itself, who was ended by others, and since when the job was being torn down. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/ends.h"
#include "analyzer/hang/gather.h"

/* After an end that was not in order, this replaces COMMTRACE_HANG_AFTER if that is longer. */
#define UNCLEAN_NS 5000000000ull
/* Beats come once a second: who has no later one may have lived so much longer. */
#define BEAT_NS 2000000000ull
/* Whose ring is gone may have lived until it would have written to the run again. */
#define WRITE_NS 11000000000ull
/* Who is asked to end (SIGTERM) is given half a minute as a rule. */
#define GRACE_NS 60000000000ull
#define AT_ONCE_NS 900000000ull
/* A job that still runs is not called stuck by one look, unless it has been for this long. */
#define LOOK_NS 5000000000ull
/* Where somebody waited for a processor, each of the calls, threads and processes that it takes to go on may have to: so many times
 * as long counts for nothing. On two cores with 50 to 200 threads that wanted them healthy operations stood still for at most 3 times. */
#define LATE_TIMES 10u
/* With clocks that may be further apart nothing on one host comes after something on another one. */
#define MOST_ERR_NS 2000000000ull

/* How a process ended, as far as blame goes. */
enum manner {
	RUNS,
	WELL,	   /* by itself, in order */
	BY_ITSELF, /* and not in order */
	SENT,	   /* of a signal that somebody in the job was seen to send */
	ASKED, /* of a signal by which people and schedulers end things; nobody was seen to send it */
	SHOT,	  /* SIGKILL, and nobody was seen to send it */
	VANISHED, /* nobody knows how */
};

struct life {
	uint32_t process;
	enum manner manner;
	int crashed; /* BY_ITSELF of a signal */
	int aborted; /* it called MPI_Abort */
	int left;    /* WELL, but without MPI_Finalize: launchers end the job for that */
	int waited; /* it had waited for longer than a job should when it ended: that is what ended it */
	int told;	  /* the last that it did failed: its peers' end is told to it so */
	uint64_t told_ns; /* when that was */
	int dead;
	int damaged;		/* its files are: where they end says nothing about its end */
	uint64_t lo_ns, hi_ns;	/* when, since the run began; hi UINT64_MAX: nobody saw */
	uint64_t at_ns, err_ns; /* lo_ns as its own host has it, and what that is less by */
};

struct lives {
	struct ct_gather *g;
	struct life *all;
	uint32_t n;
	uint64_t busy_ns; /* what hosts that are busy let anything take */
	uint64_t limit_ns;
};

/* Whoever is asked to end and is gone at once, but of SIGKILL, was killed by somebody else: who asks first gives time. It may have
 * been dead when it was asked. */
static int is_of_another(const struct ct_end *end)
{
	return end->how == CT_END_SIGNAL && end->signal == SIGKILL && end->kill_signal != SIGKILL &&
	       end->before_ns < end->kill_ns + AT_ONCE_NS;
}

static enum manner manner_of(const struct ct_process_info *info, const struct ct_end *end)
{
	int own = end->kill_by == info->id.pid;

	if (end->how == CT_END_RUNNING)
		return RUNS;
	if (ct_end_was_sent(end) && !own && !is_of_another(end))
		return SENT;
	if (ct_end_is_well(end) || end->how == CT_END_EXEC)
		return WELL;
	if (end->how == CT_END_UNKNOWN)
		return VANISHED;
	if (end->how != CT_END_SIGNAL || own)
		return BY_ITSELF;
	if (end->signal == SIGKILL)
		return SHOT;
	return end->signal == SIGTERM || end->signal == SIGINT || end->signal == SIGHUP ||
			       end->signal == SIGQUIT
		       ? ASKED
		       : BY_ITSELF;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Whoever calls MPI_Abort ends the job itself, however its process goes then. */
static uint64_t aborted_ns(const struct ct_gather *g, uint32_t p)
{
	for (uint32_t i = 0; i < g->n_calls; i++) {
		const struct ct_hang_seen_call *call = &g->calls[i];

		if (call->process == p && call->kind == CT_HANG_ABORT && !call->rec.return_ns &&
		    call->call && strstr(call->call, "MPI_Abort"))
			return call->rec.enter_ns;
	}
	return 0;
}

/* A process that has left MPI without MPI_Finalize is as bad for the others as one that failed. But a program may do so because it
 * is asked to end: then it is not the first. */
static int left_library(const struct ct_gather *g, uint32_t p)
{
	const struct ct_hang_process *process = &g->processes[p];
	int in = 0;

	if (!process->end.unasked || process->lost || process->damaged)
		return 0;
	for (uint32_t i = 0; i < g->n_calls; i++) {
		const struct ct_hang_seen_call *call = &g->calls[i];

		if (call->process != p || !call->call)
			continue;
		if (strstr(call->call, "MPI_Finalize"))
			return 0;
		in |= call->rec.return_ns && strstr(call->call, "MPI_Init");
	}
	return in;
}

static void take_process(struct lives *lives, uint32_t p)
{
	const struct ct_gather *g = lives->g;
	const struct ct_hang_process *process = &g->processes[p];
	struct ct_ends_moment moment = ct_ends_moment_of(&process->end);
	uint64_t err = ct_gather_err(g, p);
	struct life *life = &lives->all[lives->n++];

	life->process = p;
	life->manner = manner_of(&g->run->processes[p], &process->end);
	life->damaged = life->manner == VANISHED && process->damaged;
	life->left = life->manner == WELL && left_library(g, p);
	life->crashed = process->end.how == CT_END_SIGNAL;
	life->waited = process->waited_ns > g->run->processes[p].id.hang_after_ns;
	life->told = process->failed_ns != 0;
	life->told_ns = ct_gather_at(g, p, process->failed_ns);
	if (moment.lo_ns < process->last_sign_ns && !ct_end_was_sent(&process->end) &&
	    !process->end.said_ns)
		moment.lo_ns = process->last_sign_ns;
	if (life->manner == SHOT)
		moment = (struct ct_ends_moment){ .lo_ns = process->last_sign_ns,
						  .hi_ns = process->end.before_ns };
	life->aborted = life->manner != RUNS && aborted_ns(g, p);
	if (life->aborted) {
		life->manner = BY_ITSELF;
		life->crashed = 1;
		moment.lo_ns = moment.hi_ns = aborted_ns(g, p);
	}
	if (life->manner == RUNS)
		moment = (struct ct_ends_moment){ .lo_ns = process->last_sign_ns,
						  .hi_ns = UINT64_MAX };
	life->at_ns = ct_gather_at(g, p, moment.lo_ns);
	life->err_ns = err;
	life->lo_ns = less(life->at_ns, err);
	life->hi_ns = moment.hi_ns == UINT64_MAX ? UINT64_MAX
						 : ct_gather_at(g, p, moment.hi_ns) + err;
}

/* ---- who failed first ---- */

/* Did something else certainly happen before it, of which it may be a consequence? */
static int is_consequence(const struct lives *lives, const struct life *life)
{
	int somebody_sent = 0, asked_then = 0;

	for (uint32_t i = 0; i < lives->n; i++) {
		const struct life *other = &lives->all[i];

		if (other == life || other->manner == RUNS ||
		    (other->manner == WELL && !other->left))
			continue;
		if (other->hi_ns < life->lo_ns ||
		    (life->told && !other->told && other->lo_ns < life->lo_ns))
			return 1;
		somebody_sent |= other->manner == SENT;
		asked_then |= other->manner == ASKED && other->lo_ns <= life->hi_ns;
	}
	/* A program that is asked to end may do so with a status of its own. */
	return !life->crashed && asked_then && !somebody_sent;
}

static void find_failed(struct lives *lives)
{
	for (uint32_t i = 0; i < lives->n; i++) {
		struct life *life = &lives->all[i];

		life->dead = life->manner == BY_ITSELF && !life->waited &&
			     !is_consequence(lives, life);
	}
}

static int by_lo(const void *a, const void *b)
{
	const struct life *x = a, *y = b;

	if (x->lo_ns != y->lo_ns)
		return x->lo_ns < y->lo_ns ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

/* The launcher killed all others when it had seen this one dead. */
static int launcher_followed(const struct lives *lives, const struct life *life)
{
	const struct ct_hang_process *all = lives->g->processes;
	uint32_t parent = all[life->process].end.seen_by, others = 0;

	for (uint32_t i = 0; i < lives->n; i++) {
		const struct life *other = &lives->all[i];

		if (other == life || other->manner == RUNS || other->manner == WELL)
			continue;
		if (other->manner != SENT || all[other->process].end.kill_by != parent ||
		    other->lo_ns < life->lo_ns)
			return 0;
		others++;
	}
	return parent && others;
}

/* Somebody in the job killed this one and nobody else, and not for having waited. */
static int was_killed_alone(const struct lives *lives, const struct life *life)
{
	uint32_t n_sent = 0;

	for (uint32_t i = 0; i < lives->n; i++)
		n_sent += lives->all[i].manner == SENT;
	return life->manner == SENT && n_sent == 1 && !life->waited &&
	       lives->g->processes[life->process].end.signal == SIGKILL;
}

/* Until when it may have lived. */
static uint64_t gone_by(const struct lives *lives, const struct life *life)
{
	const struct ct_process_info *info = &lives->g->run->processes[life->process];

	if (life->manner == WELL)
		return life->lo_ns;
	if (life->hi_ns != UINT64_MAX)
		return life->hi_ns;
	return life->lo_ns + (info->ring == CT_RING_NOT_FOUND ? WRITE_NS : BEAT_NS);
}

/* Of those that were killed by nobody knows whom, or are gone, those that were long before all others. Who ends a job from
 * outside ends all of it at about the same time. */
static void find_gone_before(struct lives *lives)
{
	uint64_t gone_ns = 0, limit_ns = lives->limit_ns;

	qsort(lives->all, lives->n, sizeof(*lives->all), by_lo);
	for (uint32_t i = 0; i + 1 < lives->n; i++) {
		const struct life *life = &lives->all[i];
		uint64_t gone = gone_by(lives, life);

		if (life->damaged)
			continue;
		if (life->manner == ASKED)
			limit_ns = limit_ns > GRACE_NS ? limit_ns : GRACE_NS;
		else if (life->manner != WELL && life->manner != SHOT && life->manner != VANISHED &&
			 !(i == 0 && was_killed_alone(lives, life)))
			return;
		gone_ns = gone > gone_ns ? gone : gone_ns;
		if (lives->all[i + 1].lo_ns <= gone_ns + limit_ns)
			continue;
		for (uint32_t k = 0; k <= i; k++)
			lives->all[k].dead = lives->all[k].manner != WELL && !lives->all[k].damaged;
		return;
	}
}

/* When a library first told somebody that a peer was gone; UINT64_MAX: it did not. */
static uint64_t first_told(const struct lives *lives)
{
	uint64_t at = UINT64_MAX;

	for (uint32_t i = 0; i < lives->n; i++) {
		const struct life *life = &lives->all[i];

		if (life->manner == BY_ITSELF && life->told && life->told_ns < at)
			at = life->told_ns;
	}
	return at;
}

/* Peers of one that is gone are told so by their library, and fail. The only one who was not told, and of whom there is no later
 * sign of life, is the one who was gone. */
static void find_missed(struct lives *lives)
{
	struct life *missed = NULL;
	uint64_t told_ns = first_told(lives);

	for (uint32_t i = 0; i < lives->n && told_ns != UINT64_MAX; i++) {
		struct life *life = &lives->all[i];

		if (life->told || life->manner == RUNS || life->manner == WELL ||
		    life->lo_ns > told_ns)
			continue;
		if (missed)
			return;
		missed = life;
	}
	if (missed && !missed->damaged && (missed->manner == SHOT || missed->manner == VANISHED))
		missed->dead = 1;
}

static int any_dead(const struct lives *lives)
{
	int any = 0;

	for (uint32_t i = 0; i < lives->n; i++)
		any |= lives->all[i].dead;
	return any;
}

static void find_dead(struct lives *lives)
{
	struct life *shot = NULL;
	uint32_t n_shot = 0;

	find_failed(lives);
	if (any_dead(lives))
		return;
	find_gone_before(lives);
	if (!any_dead(lives))
		find_missed(lives);
	if (any_dead(lives))
		return;
	for (uint32_t i = 0; i < lives->n; i++) {
		if (lives->all[i].manner == SHOT) {
			shot = &lives->all[i];
			n_shot++;
		}
	}
	if (n_shot == 1 && !shot->waited && launcher_followed(lives, shot))
		shot->dead = 1;
}

/* ---- what of it goes into the result ---- */

static const char *how_ended(struct ct_gather *g, const struct life *life)
{
	const struct ct_end *end = &g->processes[life->process].end;
	const char *name;

	if (life->aborted)
		return ct_gather_text(g, "it called MPI_Abort");
	if (life->manner == VANISHED)
		return ct_gather_text(g, "without a word: its signs of life stop");
	if (life->left)
		return ct_arena_printf(g->memory, "exit status %d without MPI_Finalize",
				       end->exit_code);
	if (end->how != CT_END_SIGNAL)
		return ct_arena_printf(g->memory, "exit status %d", end->exit_code);
	name = sigabbrev_np(end->signal);
	return ct_arena_printf(g->memory, "signal %d (%s%s)", end->signal, name ? "SIG" : "?",
			       name ? name : "");
}

static int fill_rank(struct lives *lives, const struct life *life, struct ct_hang_rank *rank)
{
	struct ct_gather *g = lives->g;
	int tells = life->dead || life->left || life->manner == BY_ITSELF;

	rank->life = CT_LIFE_ALIVE;
	if (life->dead)
		rank->life = CT_LIFE_DEAD;
	else if (life->manner == WELL)
		rank->life = CT_LIFE_EXITED;
	rank->left = life->left;
	rank->ended_ns = life->manner == RUNS ? CT_UNKNOWN : life->lo_ns;
	rank->how_ended = tells ? how_ended(g, life) : NULL;
	return tells && !rank->how_ended ? CT_NOMEM : CT_OK;
}

/* When somebody began to end the job, who was not part of it, as a host has it: what happened on others counts if the clocks
 * tell when that was. */
static uint64_t torn_down(const struct lives *lives, uint32_t host)
{
	const struct ct_gather *g = lives->g;
	uint64_t at = CT_UNKNOWN, own_err = 0;

	for (uint32_t i = 0; i < lives->n; i++) {
		if (g->attempts.places[lives->all[i].process].host == host &&
		    lives->all[i].err_ns > own_err)
			own_err = lives->all[i].err_ns;
	}
	for (uint32_t i = 0; i < lives->n; i++) {
		const struct life *life = &lives->all[i];
		int by_others = life->manner == SENT || life->manner == ASKED ||
				life->manner == SHOT || life->manner == VANISHED;
		uint64_t then = life->at_ns;

		if (!by_others || life->dead || life->damaged)
			continue;
		if (g->attempts.places[life->process].host != host) {
			if (life->err_ns > MOST_ERR_NS || own_err > MOST_ERR_NS)
				continue;
			then = less(then, life->err_ns + own_err);
		}
		at = then < at ? then : at;
	}
	return at;
}

static int any_left(const struct lives *lives)
{
	int any = 0;

	for (uint32_t i = 0; i < lives->n; i++)
		any |= lives->all[i].left;
	return any;
}

static void set_state(const struct lives *lives, struct ct_hang_run *out)
{
	uint32_t n[VANISHED + 1] = { 0 }, unclean;

	for (uint32_t i = 0; i < lives->n; i++)
		n[lives->all[i].manner]++;
	unclean = lives->n - n[RUNS] - n[WELL];
	out->running = n[RUNS];
	out->failed = n[BY_ITSELF];
	if (n[RUNS])
		out->state = CT_HANG_RUNNING;
	else if (!unclean)
		out->state = CT_HANG_ENDED;
	else
		out->state = n[BY_ITSELF] || any_dead(lives) || any_left(lives)
				     ? CT_HANG_KILLED
				     : CT_HANG_INTERRUPTED;
	out->hang_case.broken_off = !n[RUNS] && unclean;
	out->limit_ns = out->hang_after_ns;
	if (unclean && out->limit_ns > UNCLEAN_NS)
		out->limit_ns = UNCLEAN_NS;
	if (n[RUNS] && out->limit_ns < LOOK_NS)
		out->limit_ns = LOOK_NS;
	if (lives->busy_ns > out->limit_ns) {
		out->limit_ns = lives->busy_ns;
		out->is_busy = 1;
	}
}

int ct_hang_lives(struct ct_gather *g, struct ct_hang_run *out)
{
	struct lives lives = { .g = g };
	struct ct_hang_case *c = &out->hang_case;
	int st = CT_OK;

	lives.all = calloc(g->n_seats + 1, sizeof(*lives.all));
	if (!lives.all)
		return CT_NOMEM;
	out->late_ns = ct_hang_late(g);
	lives.busy_ns = out->late_ns * LATE_TIMES;
	lives.limit_ns = out->hang_after_ns < UNCLEAN_NS ? out->hang_after_ns : UNCLEAN_NS;
	if (lives.busy_ns > lives.limit_ns)
		lives.limit_ns = lives.busy_ns;
	for (uint32_t s = 0; s < g->n_seats; s++) {
		/* several ranks of one process end together */
		if (g->seats[s].is_used && !g->seats[s].local &&
		    g->processes[g->seats[s].process].read)
			take_process(&lives, g->seats[s].process);
	}
	find_dead(&lives);
	set_state(&lives, out);
	out->torn_down_ns = CT_UNKNOWN;
	for (uint32_t h = 0; h < g->attempts.n_hosts; h++) {
		g->torn_down[h] = torn_down(&lives, h);
		if (g->torn_down[h] < out->torn_down_ns)
			out->torn_down_ns = g->torn_down[h];
	}
	for (uint32_t i = 0; i < lives.n && st == CT_OK; i++) {
		c->died_first |= (lives.all[i].dead || lives.all[i].left) && lives.n > 1;
		for (uint32_t s = 0; s < g->n_seats && st == CT_OK; s++) {
			if (g->seats[s].is_used && g->seats[s].process == lives.all[i].process &&
			    g->seats[s].index != UINT32_MAX)
				st = fill_rank(&lives, &lives.all[i], &c->ranks[g->seats[s].index]);
		}
	}
	free(lives.all);
	return st;
}
