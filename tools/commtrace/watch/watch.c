/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/signals.h"
#include "tools/commtrace/watch/watch_event.h"
#include "trace/clock.h"

/* A second look comes so soon. */
#define CONFIRM_NS CT_SECOND_NS
/* size: a look may take this part of a core's time at most. Not of time: on a busy machine it waits
 * more than it works, and a hang is found no later for it. */
#define LOOK_SHARE 20
/* size: after the end of a program that failed: looks until all its processes have ended, and two
 * agree. Launchers return up to 2 s before. */
#define FINAL_LOOKS 10
#define FINAL_NS (CT_SECOND_NS / 4)
/* tuning: a job that is not restarted within this time has ended: torchrun looks every 5 s, and
 * starts again at once. */
#define ENDED_NS (15 * CT_SECOND_NS)

/* Once this process is asked to end, its watcher may take so long: schedulers kill what has not
 * ended a few seconds after SIGTERM. */
#define ASKED_NS CT_SECOND_NS
/* size: a third of what Slurm and Kubernetes give between SIGTERM and SIGKILL */
#define LIMITED_NS (10 * CT_SECOND_NS)
#define ASKED_NAPS 20 /* size: looks at it */

struct loop {
	const struct ct_watch *watch;
	struct ct_watcher watcher;
	uint64_t began_ns, apart_ns, worked_ns; /* of the latest look */
	int n_events, acted;
	int stop;      /* as ct_watch_loop() has it */
	int is_closed; /* the log's reader is gone */
	int said_blind;
	char complaint[sizeof(((struct ct_err *)0)->text)];
};

void ct_watch_options(const struct ct_cli *args, struct ct_watch *watch)
{
	watch->command = ct_cli_text(args, CT_OPTION_ON_VERDICT);
	watch->limit_s = (uint64_t)ct_cli_number(args, CT_OPTION_COMMAND_LIMIT, 0);
	watch->interval_ns = (uint64_t)ct_cli_number(args, CT_OPTION_INTERVAL, 0) * CT_SECOND_NS;
	watch->busy_after_ns = (uint64_t)ct_cli_number(args, CT_OPTION_BUSY_AFTER, 0) *
			       CT_SECOND_NS;
	watch->takeover_ns = (uint64_t)ct_cli_number(args, CT_OPTION_TAKEOVER_AFTER, 0) *
			     CT_SECOND_NS;
	watch->termination_log = ct_cli_text(args, CT_OPTION_TERMINATION_LOG);
	watch->attaches = ct_cli_has(args, CT_OPTION_ATTACH_AT_VERDICT);
}

/* The same complaint once. */
static void complain(struct loop *loop, const char *text)
{
	if (strncmp(loop->complaint, text, sizeof(loop->complaint) - 1) == 0)
		return;
	snprintf(loop->complaint, sizeof(loop->complaint), "%s", text);
	ct_warn("cannot watch the run: %s", text);
}

static void look_once(struct loop *loop, int is_over)
{
	struct ct_watch_event event = { .watcher = &loop->watcher,
					.command = loop->watch->command,
					.limit_s = loop->watch->limit_s,
					.termination_log = loop->watch->termination_log,
					.anywhere = loop->watch->log != NULL,
					.attaches = loop->watch->attaches,
					.stop = loop->stop };
	struct ct_err err = { .text = "" };
	const uint64_t begin_ns = ct_clock_ns(CLOCK_MONOTONIC);
	int st;

	loop->apart_ns = loop->began_ns ? begin_ns - loop->began_ns : 0;
	loop->began_ns = begin_ns;
	loop->worked_ns = ct_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	st = ct_watcher_look(&loop->watcher, is_over, loop->apart_ns, &event.kind, &err);
	if (st == CT_OK && event.kind == CT_WATCH_NOTHING)
		event.kind = ct_watcher_take_over(&loop->watcher, begin_ns);
	loop->worked_ns = ct_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - loop->worked_ns;
	if (st != CT_OK) {
		complain(loop, err.text[0] ? err.text : ct_status_text(st));
		return;
	}
	if (event.kind == CT_WATCH_NOTHING)
		return;
	loop->n_events += event.kind != CT_WATCH_RESOLVED && !loop->watcher.takes_over;
	if (loop->watch->log && ct_watch_line(&event, loop->watch->log) != 0)
		loop->is_closed = 1;
	/* the one that reported it reports that it is over */
	if (!loop->watch->acts || (event.kind == CT_WATCH_RESOLVED && !loop->acted))
		return;
	loop->acted = ct_watch_act(&event);
	if (!loop->acted && event.kind != CT_WATCH_RESOLVED && !loop->watcher.takes_over)
		ct_watcher_leave(&loop->watcher, loop->began_ns);
}

/* Until the next look is due, or the other end is closed: 1. */
static int rest(struct loop *loop)
{
	uint64_t ns = ct_watcher_doubts(&loop->watcher) ? CONFIRM_NS : loop->watch->interval_ns;
	struct pollfd fd = { .fd = loop->stop, .events = POLLIN };

	if (ns < loop->worked_ns * LOOK_SHARE)
		ns = loop->worked_ns * LOOK_SHARE;
	return poll(&fd, loop->stop >= 0, (int)(ns / 1000000)) > 0 || ct_signals_deferred();
}

static int is_running(const struct loop *loop)
{
	return loop->watcher.hang && loop->watcher.hang->running;
}

/* On a login node, for example. */
static void say_blind(struct loop *loop)
{
	if (!loop->watch->log || loop->said_blind || loop->watcher.n_visible ||
	    !loop->watcher.n_elsewhere)
		return;
	loop->said_blind = 1;
	ct_say("no process of the job is on this host: it is judged by its files, which each "
	       "process writes every 10 s");
}

/* The rules, while the job goes on: what hangs has been judged. */
static void look_for_alerts(struct loop *loop)
{
	int fired = 0;

	if (!loop->watch->alerts)
		return;
	ct_watch_alerts_reap(loop->watch->alerts);
	if (is_running(loop) && !loop->watcher.hang->result->n_verdicts)
		fired = ct_watch_alerts_look(loop->watch->alerts, loop->watcher.run,
					     loop->watch->dir);
	if (fired < 0)
		loop->is_closed = 1;
	else
		loop->n_events += fired;
}

static void look_at_the_end(struct loop *loop)
{
	const struct timespec nap = { .tv_nsec = FINAL_NS };

	for (int i = 0; i < FINAL_LOOKS; i++) {
		int before = loop->n_events;

		look_once(loop, !is_running(loop));
		if (loop->n_events > before ||
		    (i && !is_running(loop) && !ct_watcher_doubts(&loop->watcher)))
			return;
		nanosleep(&nap, NULL);
	}
}

int ct_watch_loop(const struct ct_watch *watch, int stop)
{
	struct loop loop = { .watch = watch,
			     .stop = stop,
			     .watcher = { .dir = watch->dir,
					  .ring_dir = watch->ring_dir,
					  .host = watch->host,
					  .busy_after_ns = watch->busy_after_ns,
					  .takeover_ns = watch->takeover_ns } };
	uint64_t ran_ns = 0;
	char ended_well = 0;
	int n;

	if (watch->acts)
		ct_watch_clean(watch->dir);
	for (;;) {
		look_once(&loop, 0);
		say_blind(&loop);
		look_for_alerts(&loop);
		/* a caller with nothing to read it with, and no command, wants no more */
		if ((watch->stops_at_once && loop.n_events) || (loop.is_closed && !watch->acts))
			break;
		if (is_running(&loop) || !loop.watcher.hang)
			ran_ns = ct_clock_ns(CLOCK_MONOTONIC);
		if (stop < 0 && ct_clock_ns(CLOCK_MONOTONIC) - ran_ns > ENDED_NS &&
		    !ct_watcher_doubts(&loop.watcher))
			break;
		if (rest(&loop))
			break;
	}
	if (watch->log && !loop.n_events && !ct_signals_deferred())
		ct_watch_last_line(&loop.watcher, watch->log);
	if (stop >= 0 && (read(stop, &ended_well, 1) != 1 || !ended_well))
		look_at_the_end(&loop);
	n = loop.n_events;
	ct_watcher_fini(&loop.watcher);
	return n;
}

/* ---- beside a program ---- */

static void __attribute__((noreturn)) watch_beside(const struct ct_watch *watch, int stop)
{
	static const int to_ignore[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };

	/* Signals are for the job. This process ends when its parent closes the pipe, or is gone. */
	for (size_t i = 0; i < sizeof(to_ignore) / sizeof(to_ignore[0]); i++)
		signal(to_ignore[i], SIG_IGN);
	/* A tenth of the job's weight, where there are more threads than cores. */
	setpriority(PRIO_PROCESS, 0, 10);
	ct_watch_loop(watch, stop);
	_exit(0);
}

void ct_watch_beside_start(struct ct_watch_beside *beside, const struct ct_watch *watch)
{
	int ends[2];

	*beside = (struct ct_watch_beside){ .stop = -1 };
	if (pipe2(ends, O_CLOEXEC) < 0) {
		ct_warn("nothing is watched: pipe: %s", strerror(errno));
		return;
	}
	fflush(NULL);
	beside->pid = fork();
	if (beside->pid == 0) {
		close(ends[1]);
		watch_beside(watch, ends[0]);
	}
	close(ends[0]);
	beside->stop = ends[1];
	if (beside->pid < 0) {
		ct_warn("nothing is watched: fork: %s", strerror(errno));
		close(ends[1]);
		beside->pid = 0;
	}
}

/* Until the child has ended; or until a signal that would end this process has come, or the time is
 * over: 1. */
static int wait_for(pid_t pid, int is_limited)
{
	const uint64_t until_ns = ct_clock_ns(CLOCK_MONOTONIC) + LIMITED_NS;
	static const int to_take[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
	const struct timespec nap = { .tv_sec = 1 };
	sigset_t taken, before;
	int sig = SIGCHLD;

	sigemptyset(&taken);
	for (size_t i = 0; i < sizeof(to_take) / sizeof(to_take[0]); i++)
		sigaddset(&taken, to_take[i]);
	sigprocmask(SIG_BLOCK, &taken, &before);
	while (sig == SIGCHLD && waitpid(pid, NULL, WNOHANG) == 0) {
		sig = sigtimedwait(&taken, NULL, &nap);
		if (sig < 0 && is_limited && ct_clock_ns(CLOCK_MONOTONIC) >= until_ns)
			break;
		if (sig < 0)
			sig = SIGCHLD; /* by another signal, or none yet */
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return sig != SIGCHLD;
}

int ct_watch_beside_end(struct ct_watch_beside *beside, int ended_well, int was_asked)
{
	const struct timespec nap = { .tv_nsec = ASKED_NS / ASKED_NAPS };
	const char how = (char)ended_well;
	int is_asked;

	if (!beside->pid)
		return 0;
	(void)!write(beside->stop, &how, 1);
	is_asked = wait_for(beside->pid, was_asked);
	close(beside->stop);
	/* it kills its command, and may be writing */
	for (int i = 0; is_asked && waitpid(beside->pid, NULL, WNOHANG) == 0; i++) {
		if (i == ASKED_NAPS)
			kill(beside->pid, SIGKILL);
		nanosleep(&nap, NULL);
	}
	beside->pid = 0;
	return is_asked;
}
