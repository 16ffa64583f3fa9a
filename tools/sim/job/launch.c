/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c — what torchrun is to a training job: starts the processes, gives each its ranks by the
 * environment, waits, and ends the others when one dies.
 *
 * It waits until no rank makes progress any more, so that the progress of each rank follows from
 * the job alone and not from timing. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/sim/job/simjob.h"

enum { LOOK_EVERY_MS = 10, QUIET_MS = 300, TERM_MS = 3000 };

struct job_launch {
	struct simjob *job;
	int n; /* processes */
	pid_t *pids;
	struct simjob_end *ends;
	uint8_t *over;
	int failed;
	double begin_s; /* of the first step, as seen from here; 0: not yet */
};

static volatile sig_atomic_t stop_signal;

static void note_signal(int signal)
{
	stop_signal = signal;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void nap_ms(int ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L }, NULL);
}

static int say(const char *what)
{
	fprintf(stderr, "commtrace-simjob: %s: %s\n", what, strerror(errno));
	return -1;
}

static void set_number(const char *name, int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	setenv(name, text, 1);
}

/* The environment of a process, as torchrun sets it. */
static void set_ranks(const struct job_launch *l, int process, pid_t launcher)
{
	const struct simjob_options *o = &l->job->options;
	const int rank = process * o->ranks_per_process;
	const int node = ct_workload_node(l->job->workload, rank);
	const int per_node = o->config.ranks / o->config.nodes;
	char text[64];

	set_number("RANK", rank);
	set_number("WORLD_SIZE", o->config.ranks);
	set_number("LOCAL_RANK", rank - node * per_node);
	set_number("LOCAL_WORLD_SIZE", per_node);
	set_number("GROUP_RANK", node);
	set_number("MASTER_PORT", 20000 + (int)launcher % 40000);
	setenv("MASTER_ADDR", "127.0.0.1", 1);
	snprintf(text, sizeof(text), "simjob-%d-node%d", (int)launcher, node);
	setenv("NCCL_HOSTID", text, 1);
	snprintf(text, sizeof(text), "node%d", node);
	if (o->node_env)
		setenv(o->node_env, text, 1);
}

/* The same program again, so that whatever is preloaded starts afresh. */
static void become_worker(const struct job_launch *l, int process, pid_t launcher, char **argv)
{
	const struct simjob_options *o = &l->job->options;
	char worker[64], **args;
	int n = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != launcher)
		_exit(SIMJOB_FAILED);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	set_ranks(l, process, launcher);
	while (argv[n])
		n++;
	args = calloc((size_t)n + 2, sizeof(*args));
	if (args) {
		memcpy(args, argv, (size_t)n * sizeof(*args));
		snprintf(worker, sizeof(worker), "--worker=%d,%d", o->board_fd, process);
		args[n] = worker;
		execv("/proc/self/exe", args);
	}
	say("cannot start a process");
	_exit(SIMJOB_FAILED);
}

static int start(struct job_launch *l, char **argv)
{
	const pid_t launcher = getpid();

	for (int i = 0; i < l->n; i++) {
		l->ends[i].first_rank = i * l->job->options.ranks_per_process;
		l->pids[i] = fork();
		if (l->pids[i] < 0)
			return say("fork");
		if (l->pids[i] == 0)
			become_worker(l, i, launcher, argv);
	}
	return 0;
}

static int reap(struct job_launch *l)
{
	int status, reaped = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		int i = 0;

		while (i < l->n && l->pids[i] != pid)
			i++;
		if (i == l->n)
			continue;
		l->over[i] = 1;
		l->ends[i].is_signal = WIFSIGNALED(status);
		l->ends[i].code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
		l->failed |= l->ends[i].code != 0;
		reaped = 1;
	}
	return reaped;
}

static int is_anybody_left(const struct job_launch *l)
{
	for (int i = 0; i < l->n; i++) {
		if (!l->over[i])
			return 1;
	}
	return 0;
}

static void kill_all(struct job_launch *l, int signal)
{
	for (int i = 0; i < l->n; i++) {
		if (l->over[i])
			continue;
		l->ends[i].is_stopped = 1;
		kill(l->pids[i], signal);
	}
}

static uint64_t actions(const struct job_launch *l)
{
	uint64_t sum = 0;

	for (int i = 0; i < l->job->options.config.ranks; i++)
		sum += atomic_load(&l->job->board->ranks[i].actions);
	return sum;
}

/* Faults that strike at a time and not at an op. */
static void strike(struct job_launch *l, uint8_t *done)
{
	const struct simjob_options *o = &l->job->options;

	for (size_t i = 0; i < o->config.n_faults; i++) {
		const struct ct_fault *fault = &o->faults[i];
		const int process = fault->rank / o->ranks_per_process;

		if (done[i] || fault->kind != CT_FAULT_KILL || !ct_fault_has(fault, CT_KEY_ms) ||
		    l->begin_s == 0 || now_s() < l->begin_s + fault->ms * 1e-3)
			continue;
		done[i] = 1;
		if (!l->over[process])
			kill(l->pids[process], fault->signal ? fault->signal : SIGKILL);
	}
}

static void end_all(struct job_launch *l)
{
	const double limit = now_s() + TERM_MS * 1e-3;

	kill_all(l, SIGTERM);
	while (is_anybody_left(l) && now_s() < limit) {
		nap_ms(LOOK_EVERY_MS);
		reap(l);
	}
	kill_all(l, SIGKILL);
	while (is_anybody_left(l)) {
		nap_ms(LOOK_EVERY_MS);
		reap(l);
	}
}

/* Until all have ended, or one has died and no rank makes progress, or none has for too long. */
static void watch(struct job_launch *l)
{
	const struct simjob_options *o = &l->job->options;
	uint8_t struck[SIMJOB_FAULTS] = { 0 };
	uint64_t before = 0;
	double since = now_s();

	while (is_anybody_left(l)) {
		const uint64_t now = actions(l);
		const double quiet_s = now_s() - since;

		if (now && l->begin_s == 0)
			l->begin_s = now_s();
		strike(l, struck);
		if (reap(l) || now != before) {
			before = now;
			since = now_s();
		} else if (stop_signal ||
			   (l->failed && o->kill_on_death && quiet_s > QUIET_MS * 1e-3)) {
			end_all(l);
		} else if (quiet_s > o->give_up_s) {
			fprintf(stderr,
				"commtrace-simjob: no progress for %g s: everything is killed\n",
				o->give_up_s);
			l->failed = 1;
			kill_all(l, SIGKILL);
			end_all(l);
		} else {
			nap_ms(LOOK_EVERY_MS);
		}
	}
}

static int make_board(struct simjob *job)
{
	const size_t bytes = sizeof(struct simjob_board) +
			     (size_t)job->options.config.ranks * sizeof(struct simjob_rank_board);
	/* Not closed by exec: the processes map it. */
	const int fd = memfd_create("simjob-board", 0);

	if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
		return say("memfd_create");
	job->board = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (job->board == MAP_FAILED)
		return say("mmap");
	job->options.board_fd = fd;
	return 0;
}

/* Files that processes append to begin empty. */
static int make_empty(const char *path)
{
	FILE *out = path ? fopen(path, "we") : NULL;

	if (path && !out)
		return say(path);
	if (out)
		fclose(out);
	return 0;
}

static int is_sound(const struct simjob *job)
{
	int may_be_wrong = 0;
	uint64_t wrong = 0, misuse = 0;

	for (size_t i = 0; i < job->options.config.n_faults; i++) {
		const enum ct_fault_kind kind = job->options.faults[i].kind;

		may_be_wrong |= kind == CT_FAULT_SKIP || kind == CT_FAULT_EXTRA ||
				kind == CT_FAULT_MISMATCH || kind == CT_FAULT_SKIP_SEND;
	}
	for (int i = 0; i < job->options.config.ranks; i++) {
		wrong += atomic_load(&job->board->ranks[i].wrong);
		misuse += atomic_load(&job->board->ranks[i].misuse);
	}
	if (wrong && !may_be_wrong)
		fprintf(stderr, "commtrace-simjob: communication brought wrong data\n");
	if (misuse)
		fprintf(stderr, "commtrace-simjob: CUDA or NCCL was misused\n");
	return (!wrong || may_be_wrong) && !misuse;
}

int simjob_launch(struct simjob *job, char **argv)
{
	const struct simjob_options *o = &job->options;
	const struct sigaction stop = { .sa_handler = note_signal };
	struct job_launch l = { .job = job };
	int status;

	l.n = (o->config.ranks + o->ranks_per_process - 1) / o->ranks_per_process;
	l.pids = calloc((size_t)l.n, sizeof(*l.pids));
	l.ends = calloc((size_t)l.n, sizeof(*l.ends));
	l.over = calloc((size_t)l.n, 1);
	if (!l.pids || !l.ends || !l.over)
		return SIMJOB_FAILED;
	if (make_board(job) || make_empty(o->spans) || make_empty(o->stalls) ||
	    make_empty(o->journal) || make_empty(o->result))
		return SIMJOB_FAILED;
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	if (start(&l, argv)) {
		l.failed = 1;
		for (int i = 0; i < l.n; i++)
			l.over[i] = l.pids[i] <= 0;
		end_all(&l);
	}
	watch(&l);
	status = l.failed || !is_sound(job) ? SIMJOB_FAILED : 0;
	if (o->result && simjob_write_result(job, l.ends, l.n, status))
		status = SIMJOB_FAILED;
	free(l.pids);
	free(l.ends);
	free(l.over);
	return status;
}
