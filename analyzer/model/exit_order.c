/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes failed by themselves, and which were ended by others. */
#include "analyzer/model/exit_order.h"

#include <signal.h>
#include <stdlib.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "trace/status.h"

const char *ct_job_state_word(enum ct_job_state state)
{
	static const char *const words[] = {
#define WORD(name, word) [CT_JOB_##name] = word,
		CT_JOB_STATE_MAP(WORD)
#undef WORD
	};

	return words[state];
}

uint64_t ct_exits_late(const struct ct_process_info *info, uint64_t most_ns)
{
	/* more than its lifetime is not a time but damage */
	if (info->late_ns > most_ns && info->last_beat_ns > info->id.start_ns &&
	    info->late_ns < info->last_beat_ns - info->id.start_ns)
		return info->late_ns;
	return most_ns;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t more(uint64_t a, uint64_t b)
{
	return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

/* ---- the times of all on one clock ---- */

static void put_on_clock(struct ct_exit *e, const struct ct_exit_clock *clock)
{
	uint32_t process = e->facts.process;
	uint64_t err_ns;

	e->begin_ns = clock->at(clock->arg, process, e->own.lo_ns, &e->err_ns);
	e->at.lo_ns = less(e->begin_ns, e->err_ns);
	e->at.hi_ns = UINT64_MAX;
	if (e->own.hi_ns != UINT64_MAX) {
		e->at.hi_ns = clock->at(clock->arg, process, e->own.hi_ns, &err_ns);
		e->at.hi_ns = more(e->at.hi_ns, err_ns);
	}
	if (e->facts.failed_ns)
		e->reported_ns = clock->at(clock->arg, process, e->facts.failed_ns, &err_ns);
}

/* Was `a` certainly gone before `b` can have ended? On one host its own clock shows. */
static int is_before(const struct ct_exit *a, const struct ct_exit *b)
{
	return a->facts.host == b->facts.host ? a->own.hi_ns < b->own.lo_ns
					      : a->at.hi_ns < b->at.lo_ns;
}

static int begins_before(const struct ct_exit *a, const struct ct_exit *b)
{
	return a->facts.host == b->facts.host ? a->own.lo_ns < b->own.lo_ns
					      : a->at.lo_ns < b->at.lo_ns;
}

CT_SORT_BY(by_time, struct ct_exit, CT_UP(at.lo_ns) ?: CT_UP(facts.process))

/* ---- which follow from others ---- */

static int ended_in_order(const struct ct_exit *e)
{
	return e->manner == CT_MANNER_WELL && !e->left;
}

/* The library informs the peers of a rank that leaves, perhaps long before its process ends: the
 * number of operations shows which rank left early, not the times. */
static int find_deserted(struct ct_exits *exits)
{
	uint32_t n_comms = 1, n_processes = 1;
	struct ct_exit **of = NULL;
	uint64_t *least = NULL; /* by communicator: 1 + the fewest */
	int st;

	for (uint32_t i = 0; i < exits->n; i++)
		if (exits->all[i].facts.process >= n_processes)
			n_processes = exits->all[i].facts.process + 1;
	for (uint32_t i = 0; i < exits->n_reach; i++)
		if (exits->reach[i].comm >= n_comms)
			n_comms = exits->reach[i].comm + 1;
	of = calloc(n_processes, sizeof(*of));
	least = calloc(n_comms, sizeof(*least));
	for (uint32_t i = 0; of && i < exits->n; i++)
		of[exits->all[i].facts.process] = &exits->all[i];
	for (uint32_t i = 0; of && least && i < exits->n_reach; i++) {
		const struct ct_exit_reach *r = &exits->reach[i];
		const struct ct_exit *e = r->process < n_processes ? of[r->process] : NULL;

		if (e && ended_in_order(e) && !e->facts.cut && !e->facts.damaged &&
		    (!least[r->comm] || r->reached < least[r->comm] - 1))
			least[r->comm] = r->reached + 1;
	}
	for (uint32_t i = 0; of && least && i < exits->n_reach; i++) {
		const struct ct_exit_reach *r = &exits->reach[i];
		struct ct_exit *e = r->process < n_processes ? of[r->process] : NULL;

		if (e && e->facts.failed_ns && least[r->comm] && r->reached > least[r->comm] - 1)
			e->deserted = 1;
	}
	st = of && least ? CT_OK : CT_NOMEM;
	free(least);
	free(of);
	return st;
}

/* Did its library report a peer's end, and not that of the other one, which may have been that
 * peer? */
static int was_reported(const struct ct_exit *e, const struct ct_exit *other)
{
	return e->facts.failed_ns && !other->facts.failed_ns && begins_before(other, e);
}

/* Did something else certainly happen before it, of which it may be a consequence? */
static int is_consequence(const struct ct_exits *exits, struct ct_exit *e)
{
	int another_sent = 0, asked_then = 0;

	if (e->deserted)
		return 1;
	for (uint32_t i = 0; i < exits->n; i++) {
		const struct ct_exit *other = &exits->all[i];

		if (other == e || other->manner == CT_MANNER_RUNS ||
		    other->manner == CT_MANNER_UNRECORDED || ended_in_order(other))
			continue;
		e->follows |= was_reported(e, other);
		if (e->follows || is_before(other, e))
			return 1;
		another_sent |= other->manner == CT_MANNER_SENT;
		asked_then |= other->manner == CT_MANNER_ASKED && other->at.lo_ns <= e->at.hi_ns;
	}
	/* A program that is asked to end may do so with a status of its own. */
	return !e->crashed && asked_then && !another_sent;
}

static void find_failed(struct ct_exits *exits)
{
	for (uint32_t i = 0; i < exits->n; i++) {
		struct ct_exit *e = &exits->all[i];

		if (e->manner == CT_MANNER_BY_ITSELF)
			e->dead = !is_consequence(exits, e) && !e->facts.waited;
	}
}

static int any_dead(const struct ct_exits *exits)
{
	int any = 0;

	for (uint32_t i = 0; i < exits->n; i++)
		any |= exits->all[i].dead;
	return any;
}

/* ---- which were gone before the others ---- */

/* A process of the job killed this one, and not for having waited. */
static int was_killed_alone(const struct ct_exit *e)
{
	return e->manner == CT_MANNER_SENT && !e->facts.waited && e->facts.end.signal == SIGKILL;
}

/* Until when it may have lived. */
static uint64_t gone_by(const struct ct_exit *e)
{
	if (e->manner == CT_MANNER_WELL)
		return e->at.lo_ns;
	if (e->at.hi_ns != UINT64_MAX)
		return e->at.hi_ns;
	return more(more(e->begin_ns, e->err_ns), e->facts.ring_gone ? CT_WRITE_NS : CT_BEAT_NS);
}

/* Of those killed by an unknown sender, or gone, those that ended long before all others. A job
 * that is ended from outside ends as a whole at about the same time. Without its ring it is not
 * known that one is gone: its file may end before it did. */
static void find_gone_before(struct ct_exits *exits)
{
	uint64_t gone_ns = 0, limit_ns = exits->limit_ns;

	for (uint32_t i = 0; i + 1 < exits->n; i++) {
		const struct ct_exit *e = &exits->all[i];
		uint64_t gone = gone_by(e);

		if (e->facts.damaged && e->manner == CT_MANNER_VANISHED)
			continue;
		if (e->manner == CT_MANNER_ASKED)
			limit_ns = limit_ns > CT_GRACE_NS ? limit_ns : CT_GRACE_NS;
		else if (e->manner != CT_MANNER_WELL && e->manner != CT_MANNER_SHOT &&
			 e->manner != CT_MANNER_VANISHED && !(i == 0 && was_killed_alone(e)))
			return;
		gone_ns = gone > gone_ns ? gone : gone_ns;
		if (exits->all[i + 1].at.lo_ns <= more(gone_ns, limit_ns))
			continue;
		for (uint32_t k = 0; k <= i; k++) {
			struct ct_exit *first = &exits->all[k];

			if (first->manner == CT_MANNER_WELL ||
			    (first->manner == CT_MANNER_VANISHED && first->facts.damaged))
				continue;
			first->cut_off = first->manner == CT_MANNER_VANISHED &&
					 first->facts.ring_gone;
			first->dead = !first->cut_off;
		}
		return;
	}
}

/* The process whose last heartbeat is longer before that of any other than heartbeats, or without
 * its ring writes to the run, are apart: it was gone by then, whatever ended the others. Its end is
 * not recorded. */
static void find_silent(struct ct_exits *exits)
{
	struct ct_exit *e = &exits->all[0];
	uint64_t apart_ns = exits->busy_ns > CT_SILENT_NS ? exits->busy_ns : CT_SILENT_NS, known_ns;

	if (exits->n < 2 || e->manner != CT_MANNER_VANISHED || e->facts.damaged)
		return;
	if (e->facts.ring_gone && apart_ns < CT_WRITE_NS)
		apart_ns = CT_WRITE_NS;
	known_ns = more(e->begin_ns, e->err_ns);
	if (exits->all[1].at.lo_ns >= more(known_ns, apart_ns))
		e->silent_ns = exits->all[1].at.lo_ns - known_ns;
}

/* ---- whose peers' libraries reported it ---- */

/* When a library first reported that a peer was gone; UINT64_MAX: never. */
static uint64_t first_report(const struct ct_exits *exits)
{
	uint64_t at = UINT64_MAX;

	for (uint32_t i = 0; i < exits->n; i++) {
		const struct ct_exit *e = &exits->all[i];

		if (e->manner == CT_MANNER_BY_ITSELF && e->facts.failed_ns && e->reported_ns < at)
			at = e->reported_ns;
	}
	return at;
}

/* The library informs the peers of a gone process, and they fail. The only process that got no such
 * report, and has no later heartbeat, is the one that was gone. */
static void find_missed(struct ct_exits *exits)
{
	struct ct_exit *missed = NULL;
	uint64_t reported_ns = first_report(exits);

	for (uint32_t i = 0; i < exits->n && reported_ns != UINT64_MAX; i++) {
		struct ct_exit *e = &exits->all[i];

		if (e->facts.failed_ns || e->manner == CT_MANNER_RUNS ||
		    e->manner == CT_MANNER_WELL || e->manner == CT_MANNER_UNRECORDED ||
		    e->at.lo_ns > reported_ns)
			continue;
		if (missed)
			return;
		missed = e;
	}
	if (!missed)
		return;
	if (missed->manner == CT_MANNER_SHOT ||
	    (missed->manner == CT_MANNER_VANISHED && !missed->facts.damaged)) {
		missed->dead = 1;
		missed->cut_off = 0;
	}
}

/* ---- which process its launcher saw dead ---- */

/* Had a launcher begun to end `other` before it saw this process dead, which had shown no heartbeat
 * for longer than launchers take to see that? Then it was stopped, and is the last that the
 * launcher got rid of. */
static int was_stopped(const struct ct_exit *e, const struct ct_exit *other)
{
	return other->facts.end.kill_ns < e->facts.end.before_ns &&
	       other->facts.end.kill_ns > e->facts.last_heartbeat_ns + CT_LAUNCHER_NS;
}

/* Killed with SIGKILL although its launcher sent another signal, or by an unknown cause, without a
 * heartbeat since that signal: the killer of `shot` may have killed it as well, before the launcher
 * noticed; but not if it lived clearly longer. */
static int may_be_shot_too(const struct ct_exits *exits, const struct ct_exit *e,
			   const struct ct_exit *shot)
{
	const struct ct_end *end = &e->facts.end;
	int by_another = end->how == CT_END_SIGNAL && end->signal == SIGKILL &&
			 end->kill_signal != SIGKILL;
	uint64_t spread_ns = exits->busy_ns > CT_SPREAD_NS ? exits->busy_ns : CT_SPREAD_NS;

	return (by_another || end->how == CT_END_UNKNOWN) &&
	       e->facts.last_heartbeat_ns < end->kill_ns &&
	       e->facts.last_heartbeat_ns < more(shot->facts.end.before_ns, spread_ns);
}

/* The launcher killed all others when it had seen this one dead. */
static int launcher_followed(const struct ct_exits *exits, const struct ct_exit *e)
{
	uint32_t parent = e->facts.end.seen_by, others = 0;

	for (uint32_t i = 0; i < exits->n; i++) {
		const struct ct_exit *other = &exits->all[i];

		if (other == e || other->manner == CT_MANNER_RUNS ||
		    other->manner == CT_MANNER_WELL)
			continue;
		if (other->manner != CT_MANNER_SENT || other->facts.end.kill_by != parent ||
		    begins_before(other, e))
			return 0;
		if (was_stopped(e, other) || may_be_shot_too(exits, other, e))
			return 0;
		others++;
	}
	return parent && others;
}

static void find_dead(struct ct_exits *exits)
{
	struct ct_exit *shot = NULL;
	uint32_t n_shot = 0;

	find_failed(exits);
	if (any_dead(exits))
		return;
	find_gone_before(exits);
	if (!any_dead(exits))
		find_missed(exits);
	if (any_dead(exits))
		return;
	for (uint32_t i = 0; i < exits->n; i++) {
		if (exits->all[i].manner == CT_MANNER_SHOT) {
			shot = &exits->all[i];
			n_shot++;
		}
	}
	if (n_shot == 1 && !shot->facts.waited && launcher_followed(exits, shot))
		shot->dead = 1;
}

/* ---- the job ---- */

/* Was the job asked to end, or killed, from outside? A launcher that kills its ranks (SIGKILL) may
 * do so because one of them is gone; the same if it ends the others when one was killed. */
static int is_from_outside(const struct ct_exits *exits)
{
	uint64_t shot_ns = UINT64_MAX;
	uint32_t n_shot = 0;
	int asked = 0;

	for (uint32_t i = 0; i < exits->n; i++) {
		const struct ct_exit *e = &exits->all[i];

		if (e->manner == CT_MANNER_SHOT) {
			n_shot++;
			shot_ns = e->own.hi_ns < shot_ns ? e->own.hi_ns : shot_ns;
		}
	}
	for (uint32_t i = 0; i < exits->n; i++) {
		const struct ct_exit *e = &exits->all[i];

		asked |= e->manner == CT_MANNER_ASKED ||
			 (e->manner == CT_MANNER_SENT && e->facts.end.kill_signal != SIGKILL &&
			  e->facts.end.kill_ns < shot_ns);
	}
	return asked || n_shot == exits->unclean;
}

static void find_state(struct ct_exits *exits)
{
	uint32_t n[CT_MANNERS] = { 0 };
	int any = 0;

	for (uint32_t i = 0; i < exits->n; i++) {
		n[exits->all[i].manner]++;
		any |= exits->all[i].dead || exits->all[i].left;
	}
	exits->running = n[CT_MANNER_RUNS];
	exits->failed = n[CT_MANNER_BY_ITSELF];
	exits->unclean = exits->n - n[CT_MANNER_RUNS] - n[CT_MANNER_WELL];
	if (n[CT_MANNER_RUNS])
		exits->state = CT_JOB_RUNNING;
	else if (!exits->unclean)
		exits->state = CT_JOB_ENDED;
	else if (exits->unclean == n[CT_MANNER_UNRECORDED])
		exits->state = CT_JOB_UNRECORDED;
	else
		exits->state = n[CT_MANNER_BY_ITSELF] || any || !is_from_outside(exits)
				       ? CT_JOB_KILLED
				       : CT_JOB_INTERRUPTED;
}

/* ---- the order of those that did not end well ---- */

/* A process that the kernel kills for lack of memory has failed by itself. */
static int was_killed(const struct ct_exit *e)
{
	return ct_exit_was_killed(e) && !e->facts.end.for_memory;
}

/* Those that may have been first, then all that is bad, then the rest. */
static int rank_of(const struct ct_exit *e)
{
	return e->may_be_first ? 0 : e->bad ? 1 : 2;
}

static int by_likelihood(const void *a, const void *b)
{
	const struct ct_exit *x = a, *y = b;
	int differ = rank_of(x) - rank_of(y);

	if (differ || !x->may_be_first)
		return differ ? differ : by_time(a, b);
	if (x->dead != y->dead)
		return y->dead - x->dead;
	if ((x->manner == CT_MANNER_VANISHED) != (y->manner == CT_MANNER_VANISHED))
		return x->manner == CT_MANNER_VANISHED ? 1 : -1;
	if (was_killed(x) != was_killed(y))
		return was_killed(x) - was_killed(y);
	return by_time(a, b);
}

/* A process that still lived when the first one was gone is not the first. Nor is one whose library
 * reported the end of another that was not the first. */
static int find_first(struct ct_exits *exits)
{
	uint64_t gone_ns = UINT64_MAX, *of_host;
	uint32_t n_hosts = 1;

	for (uint32_t i = 0; i < exits->n; i++)
		if (exits->all[i].facts.host >= n_hosts)
			n_hosts = exits->all[i].facts.host + 1;
	of_host = malloc(n_hosts * sizeof(*of_host));
	if (!of_host)
		return CT_NOMEM;
	for (uint32_t h = 0; h < n_hosts; h++)
		of_host[h] = UINT64_MAX;
	for (uint32_t i = 0; i < exits->n; i++) {
		struct ct_exit *e = &exits->all[i];
		uint64_t *own = &of_host[e->facts.host];

		if (!e->bad)
			continue;
		gone_ns = e->at.hi_ns < gone_ns ? e->at.hi_ns : gone_ns;
		*own = e->own.hi_ns < *own ? e->own.hi_ns : *own;
	}
	for (uint32_t i = 0; i < exits->n; i++) {
		struct ct_exit *e = &exits->all[i];

		e->may_be_first = e->bad && e->at.lo_ns <= gone_ns &&
				  e->own.lo_ns <= of_host[e->facts.host] && !e->follows;
	}
	free(of_host);
	return CT_OK;
}

static int find_order(struct ct_exits *exits)
{
	uint32_t n_bad = 0;
	int st;

	for (uint32_t i = 0; i < exits->n; i++) {
		exits->all[i].bad = ct_exit_is_bad(&exits->all[i]);
		n_bad += (uint32_t)exits->all[i].bad;
	}
	for (uint32_t i = 0; i < exits->n; i++)
		exits->all[i].bad |= n_bad && exits->all[i].left;
	st = find_first(exits);
	for (uint32_t i = 0; i < exits->n && st == CT_OK; i++) {
		exits->n_bad += (uint32_t)exits->all[i].bad;
		exits->n_first += (uint32_t)exits->all[i].may_be_first;
	}
	if (exits->n > 1)
		qsort(exits->all, exits->n, sizeof(*exits->all), by_likelihood);
	return st;
}

/* When it was ended by others, on the run's clock. */
static uint64_t ended_by_others_ns(const struct ct_exits *exits, const struct ct_exit *e,
				   const struct ct_exit_clock *clock)
{
	const struct ct_end *end = &e->facts.end;
	uint64_t first = UINT64_MAX, err_ns;

	for (uint32_t i = 0; i < exits->n && e->manner == CT_MANNER_SHOT && end->seen_by; i++) {
		const struct ct_exit *other = &exits->all[i];

		if (other->manner == CT_MANNER_SENT && other->facts.end.kill_by == end->seen_by &&
		    other->facts.end.kill_ns < first && was_stopped(e, other))
			first = other->facts.end.kill_ns;
	}
	return first == UINT64_MAX ? e->begin_ns
				   : clock->at(clock->arg, e->facts.process, first, &err_ns);
}

int ct_exits_judge(struct ct_exits *exits, const struct ct_exit_clock *clock)
{
	int st;

	exits->busy_ns = exits->late_ns * CT_LATE_TIMES;
	exits->limit_ns = exits->hang_after_ns < CT_UNCLEAN_NS ? exits->hang_after_ns
							       : CT_UNCLEAN_NS;
	if (exits->busy_ns > exits->limit_ns)
		exits->limit_ns = exits->busy_ns;
	for (uint32_t i = 0; i < exits->n; i++)
		put_on_clock(&exits->all[i], clock);
	if (exits->n > 1)
		qsort(exits->all, exits->n, sizeof(*exits->all), by_time);
	st = find_deserted(exits);
	if (st != CT_OK)
		return st;
	find_silent(exits);
	find_dead(exits);
	find_state(exits);
	for (uint32_t i = 0; i < exits->n; i++)
		exits->all[i].outside_ns = ended_by_others_ns(exits, &exits->all[i], clock);
	return find_order(exits);
}

/* ---- ended from outside ---- */

int ct_exits_together(const struct ct_exits *exits, const struct ct_exit *one)
{
	if (!ct_exit_was_sent(one))
		return 0;
	for (uint32_t i = 0; i < exits->n; i++) {
		const struct ct_exit *other = &exits->all[i];

		if (other != one && other->bad && ct_exit_was_sent(other) &&
		    other->facts.host == one->facts.host &&
		    other->facts.end.kill_by == one->facts.end.kill_by)
			return 1;
	}
	return 0;
}

/* Events on other hosts count if the clocks give their time. */
uint64_t ct_exits_torn_down(const struct ct_exits *exits, uint32_t host)
{
	uint64_t at = UINT64_MAX, own_err = 0;

	for (uint32_t i = 0; i < exits->n; i++) {
		if (exits->all[i].facts.host == host && exits->all[i].err_ns > own_err)
			own_err = exits->all[i].err_ns;
	}
	for (uint32_t i = 0; i < exits->n; i++) {
		const struct ct_exit *e = &exits->all[i];
		int by_others = ct_exit_was_killed(e) || e->manner == CT_MANNER_VANISHED;
		uint64_t then;

		if (!by_others || e->dead || e->cut_off ||
		    (e->facts.damaged && e->manner == CT_MANNER_VANISHED))
			continue;
		then = e->outside_ns;
		if (e->facts.host != host) {
			if (e->err_ns > CT_BEAT_NS || own_err > CT_BEAT_NS)
				continue;
			then = less(then, e->err_ns + own_err);
		}
		at = then < at ? then : at;
	}
	return at;
}
