/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/process_exit.h"

#include "analyzer/base/limits.h"

#include <signal.h>
#include <string.h>

struct ct_end ct_end_of_process(const struct ct_process_info *info,
				const struct ct_process_facts *facts)
{
	struct ct_end end = info->end;

	if (end.how != CT_END_UNKNOWN || !facts->has_end)
		return end;
	end.how = CT_END_CLEAN;
	end.unasked = (facts->end.kind & CT_EXIT_UNASKED) != 0;
	if (CT_EXIT_KIND(facts->end.kind) == CT_EXIT_UNDERSCORE)
		end.how = CT_END_EXIT;
	if (CT_EXIT_KIND(facts->end.kind) == CT_EXIT_ABORT) {
		end.how = CT_END_SIGNAL;
		end.signal = SIGABRT;
	}
	end.exit_code = (int)(facts->end.code & 0xff);
	end.after_ns = end.said_ns = facts->end.end_ns;
	return end;
}

/* ---- what is on record ---- */

static int is_cut(const struct ct_process_facts *facts, const struct ct_gaps *gaps)
{
	for (unsigned reason = 1; reason < CT_LOSS_MAX; reason++) {
		/* the oldest records matter least */
		if (reason != CT_LOSS_MAX_BYTES && ct_loss_is_of_records(reason) &&
		    (gaps->losses[reason] || facts->losses[reason].records))
			return 1;
	}
	return 0;
}

struct ct_exit_facts ct_exit_facts_of(const struct ct_process_info *info,
				      const struct ct_process_facts *facts,
				      const struct ct_gaps *gaps)
{
	struct ct_exit_facts out = {
		.end = ct_end_of_process(info, facts),
		.pid = info->id.pid,
		.imported = ct_process_is_imported(&info->id),
		.ring_gone = info->ring == CT_RING_NOT_FOUND,
		.in_library = facts->in_library,
		.left_library = facts->left_library,
		.aborts_ns = facts->aborts_ns,
		.last_heartbeat_ns = info->last_beat_ns,
	};
	int has_ring = !out.ring_gone && !(gaps && gaps->ring_unread);

	if (facts->last_ns > out.last_heartbeat_ns)
		out.last_heartbeat_ns = facts->last_ns;
	if (facts->beat_ns > out.last_heartbeat_ns)
		out.last_heartbeat_ns = facts->beat_ns;
	if (!gaps)
		return out;
	/* a kill leaves a torn end; the ring has its content */
	out.damaged = gaps->missing_blocks || gaps->damage.skipped_bytes || gaps->ring_unread ||
		      (gaps->damage.torn_bytes && !has_ring);
	out.cut = out.damaged || is_cut(facts, gaps);
	return out;
}

/* ---- the manner ---- */

/* Did the recorded signal end it? A handler may have ended it cleanly, and a launcher that has
 * waited long enough sends SIGKILL. */
static int was_sent(const struct ct_end *end)
{
	if (!end->kill_ns || (end->said_ns && end->said_ns < end->kill_ns))
		return 0;
	return end->how != CT_END_SIGNAL || end->signal == end->kill_signal ||
	       end->signal == SIGKILL || end->after_ns >= end->kill_ns;
}

/* A process that is asked to end and at once dies of SIGKILL was killed by another sender: the
 * first one would have given it time. It may have been dead when it was asked. */
static int is_of_another(const struct ct_end *end)
{
	return end->how == CT_END_SIGNAL && end->signal == SIGKILL && end->kill_signal != SIGKILL &&
	       end->before_ns < end->kill_ns + CT_KILLED_NS;
}

/* PMIx ends a process of Open MPI by _exit when the launcher is gone, with one of these
 * (pmix_common.h, as exit statuses). */
static int lost_launcher(const struct ct_exit_facts *facts)
{
	const int lost_connection = -61 & 0xff, lost_connection_to_server = -101 & 0xff;
	const struct ct_end *end = &facts->end;

	return end->how == CT_END_EXIT && facts->in_library &&
	       (end->exit_code == lost_connection || end->exit_code == lost_connection_to_server);
}

static int is_well(const struct ct_end *end)
{
	return end->how == CT_END_EXEC || (end->how == CT_END_CLEAN && end->exit_code <= 0) ||
	       (end->how == CT_END_EXIT && end->exit_code == 0);
}

static enum ct_exit_manner manner_of(const struct ct_exit_facts *facts)
{
	const struct ct_end *end = &facts->end;
	int own = end->kill_by == facts->pid;

	if (facts->imported)
		return CT_MANNER_UNRECORDED;
	if (end->how == CT_END_RUNNING)
		return CT_MANNER_RUNS;
	if (facts->aborts_ns)
		return CT_MANNER_BY_ITSELF;
	if (was_sent(end) && !own && !is_of_another(end))
		return CT_MANNER_SENT;
	if (is_well(end))
		return CT_MANNER_WELL;
	if (end->how == CT_END_UNKNOWN)
		return CT_MANNER_VANISHED;
	if (end->how != CT_END_SIGNAL || own)
		return lost_launcher(facts) ? CT_MANNER_ASKED : CT_MANNER_BY_ITSELF;
	if (end->signal == SIGKILL)
		return CT_MANNER_SHOT;
	return end->signal == SIGTERM || end->signal == SIGINT || end->signal == SIGHUP ||
			       end->signal == SIGQUIT
		       ? CT_MANNER_ASKED
		       : CT_MANNER_BY_ITSELF;
}

/* ---- when ---- */

static struct ct_exit_span at_once(uint64_t ns)
{
	return (struct ct_exit_span){ ns, ns };
}

/* A process that was seen to be killed failed when the signal was sent, whatever moment it was
 * gone: a launcher kills the rest after the first one has failed, and then the time of that is
 * later. One that said itself that it ends (exit(), abort()) failed then. Of any other it is only
 * known that it was alive at one moment and gone at another one. */
static struct ct_exit_span span_of(const struct ct_exit *exit)
{
	const struct ct_exit_facts *facts = &exit->facts;
	const struct ct_end *end = &facts->end;
	struct ct_exit_span span = { facts->last_heartbeat_ns, end->before_ns };

	if (exit->manner == CT_MANNER_RUNS)
		return (struct ct_exit_span){ facts->last_heartbeat_ns, UINT64_MAX };
	if (exit->aborted)
		return at_once(facts->aborts_ns);
	if (exit->manner != CT_MANNER_SHOT) {
		if (was_sent(end))
			return at_once(end->kill_ns);
		if (end->said_ns)
			return at_once(end->said_ns);
		span.lo_ns = end->after_ns > span.lo_ns ? end->after_ns : span.lo_ns;
	}
	span.hi_ns = span.hi_ns < span.lo_ns ? span.lo_ns : span.hi_ns;
	return span;
}

struct ct_exit ct_exit_of(const struct ct_exit_facts *facts)
{
	struct ct_exit exit = { .facts = *facts, .manner = manner_of(facts) };

	/* a process that calls MPI_Abort ends the job itself, however it ends */
	exit.aborted = exit.manner == CT_MANNER_BY_ITSELF && facts->aborts_ns;
	exit.crashed = exit.aborted || facts->end.how == CT_END_SIGNAL;
	/* A process that has left MPI without MPI_Finalize is as bad for the others as one that
	 * failed. But a program may do so because it is asked to end: then it is not the first. */
	exit.left = exit.manner == CT_MANNER_WELL && facts->end.unasked && !facts->cut &&
		    !facts->damaged && facts->in_library && !facts->left_library;
	exit.own = span_of(&exit);
	return exit;
}

/* ---- questions ---- */

int ct_exit_was_sent(const struct ct_exit *exit)
{
	return was_sent(&exit->facts.end);
}

int ct_exit_was_killed(const struct ct_exit *exit)
{
	return exit->manner == CT_MANNER_SENT || exit->manner == CT_MANNER_ASKED ||
	       exit->manner == CT_MANNER_SHOT;
}

int ct_exit_in_order(const struct ct_exit *exit)
{
	return exit->manner == CT_MANNER_WELL && !exit->left && exit->facts.end.exit_code == 0 &&
	       exit->facts.end.how != CT_END_EXEC;
}

int ct_exit_is_death(const struct ct_exit *exit)
{
	return exit->manner == CT_MANNER_BY_ITSELF || exit->manner == CT_MANNER_ASKED ||
	       exit->manner == CT_MANNER_SHOT;
}

int ct_exit_is_bad(const struct ct_exit *exit)
{
	return exit->manner != CT_MANNER_RUNS && exit->manner != CT_MANNER_WELL &&
	       exit->manner != CT_MANNER_UNRECORDED;
}

const char *ct_exit_text(const struct ct_exit *exit, struct ct_arena *memory)
{
	const struct ct_end *end = &exit->facts.end;
	const char *name;

	if (exit->aborted)
		return "called MPI_Abort";
	if (exit->manner == CT_MANNER_VANISHED)
		return "its heartbeats stop, exit not recorded";
	if (exit->left)
		return ct_arena_printf(memory, "exit status %d without MPI_Finalize",
				       end->exit_code);
	if (end->how == CT_END_EXIT)
		return ct_arena_printf(memory, "exit status %d by _exit, without exit handlers",
				       end->exit_code);
	if (end->how != CT_END_SIGNAL)
		return ct_arena_printf(memory, "exit status %d", end->exit_code);
	name = sigabbrev_np(end->signal);
	return ct_arena_printf(memory, "signal %d (%s%s)%s", end->signal, name ? "SIG" : "?",
			       name ? name : "", end->for_memory ? ", out of memory" : "");
}
