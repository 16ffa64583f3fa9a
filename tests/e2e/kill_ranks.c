/* SPDX-License-Identifier: Apache-2.0 */
/* kill_ranks.c — the parent of a job's ranks, that kills some of them and writes down how each one
 * ended.
 *
 * It stands for a launcher: it is traced itself (LD_PRELOAD), so that its kill() and its waits are
 * seen, and knows nothing of that. Which rank is killed when follows from the seed. Every rank
 * leaves a journal, its output and a line in the truth (truth.h). Exit: 0; 1 a rank could not be
 * started; 2 usage. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/truth.h"
#include "tests/interpose/journal.h"

static const char usage[] =
	"usage: kill_ranks --job PROGRAM --dir DIR [options] [-- ARGUMENTS of the program...]\n"
	"  --ranks N      that live at a time (2)\n"
	"  --apart        every rank is a job of one rank\n"
	"  --total N      with --apart: start another one whenever one has ended, N in all\n"
	"  --victims V    ranks that are killed (all; those of a job that lives on end by "
	"themselves)\n"
	"  --signal S     to kill with (9)\n"
	"  --from-ms M    earliest and ...\n"
	"  --to-ms M      ... latest moment of a kill after the start (0, 500)\n"
	"  --under-way    the time counts from the rank's first call\n"
	"  --stagger-ms M each rank is killed so much later than the one before it (0)\n"
	"  --seed S       (1)\n"
	"  --wait HOW     waitpid, wait4, wait3, waitid or wait (waitpid)\n"
	"  --poll-ms M    asks so often who has ended (1)\n"
	"  --preload FILE is for the ranks only: nobody notes how they end (none)\n"
	"  --limit-s S    then whoever is left is killed (30)\n";

enum { MAX_ARGS = 64, MAX_RANKS = 1024 };

static struct {
	const char *job, *dir, *wait, *preload;
	unsigned ranks, total, victims, apart, under_way, limit_s;
	int signal;
	uint64_t seed, from_ms, to_ms, stagger_ms, poll_ms;
	char **args;
	int n_args, told__exit;
} opt = { .ranks = 2,
	  .victims = MAX_RANKS,
	  .signal = SIGKILL,
	  .seed = 1,
	  .to_ms = 500,
	  .poll_ms = 1,
	  .wait = "waitpid",
	  .limit_s = 30 };

static struct rank {
	struct truth truth;
	uint64_t due_ns;   /* when to kill it, UINT64_MAX never */
	uint64_t delay_ns; /* --under-way: how long after its first call; 0: that is settled */
	int lives;
} ranks[MAX_RANKS];
static unsigned n_started, n_alive;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t dice(void)
{
	uint64_t x = opt.seed += 0x9e3779b97f4a7c15;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "kill_ranks: %s: %s\n", what, strerror(errno));
	for (unsigned i = 0; i < n_started; i++) {
		if (ranks[i].lives)
			kill(ranks[i].truth.pid, SIGKILL);
	}
	exit(1);
}

static void redirect(int to, const char *stem, unsigned number)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s.%u", opt.dir, stem, number);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || dup2(fd, to) < 0)
		_exit(126);
	close(fd);
}

static void __attribute__((noreturn)) become_rank(unsigned number)
{
	char rank[16], size[16], world[16], number_text[16], store[512], journal[512];
	const char *argv[MAX_ARGS + 16] = { opt.job,   "--rank", rank,	      "--size", size,
					    "--store", store,	 "--journal", journal };
	const struct rlimit none = { 0, 0 };

	snprintf(rank, sizeof(rank), "%u", opt.apart ? 0 : number);
	snprintf(size, sizeof(size), "%u", opt.apart ? 1 : opt.ranks);
	snprintf(store, sizeof(store), "%s/store.%u", opt.dir, opt.apart ? number : 0);
	snprintf(journal, sizeof(journal), "%s/rank-%u.journal", opt.dir, number);
	mkdir(store, 0700);
	for (int i = 0; i < opt.n_args; i++)
		argv[9 + i] = opt.args[i];

	/* As a launcher shows its ranks who they are. */
	snprintf(number_text, sizeof(number_text), "%u", number);
	snprintf(world, sizeof(world), "%u", opt.apart ? opt.total : opt.ranks);
	setenv("RANK", number_text, 1);
	setenv("WORLD_SIZE", world, 1);
	if (opt.preload)
		setenv("LD_PRELOAD", opt.preload, 1);
	setrlimit(RLIMIT_CORE, &none);
	redirect(1, "out", number);
	redirect(2, "err", number);
	execv(opt.job, (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* Let it die at some moment, and `later_ms` after that. */
static void doom(struct rank *r, uint64_t later_ms)
{
	uint64_t ms = opt.from_ms + dice() % (opt.to_ms - opt.from_ms + 1) + later_ms;

	if (opt.under_way)
		r->delay_ns = ms * 1000000 + 1;
	else
		r->due_ns = now_ns() + ms * 1000000;
}

static void start_rank(int victim)
{
	unsigned number = n_started;
	struct rank *r = &ranks[number];
	int pid;

	r->truth.after_ns = now_ns();
	r->truth.told__exit = opt.told__exit;
	r->truth.parent = opt.preload ? 0 : getpid();
	r->truth.killer = r->truth.parent;
	pid = fork();
	if (pid == 0)
		become_rank(number);
	if (pid < 0)
		die("fork");
	r->truth.pid = pid;
	r->due_ns = UINT64_MAX;
	r->lives = 1;
	if (victim)
		doom(r, 0);
	n_started++;
	n_alive++;
}

static void look_at_journal(struct rank *r)
{
	const struct ct_journal *journal;
	char path[512];

	snprintf(path, sizeof(path), "%s/rank-%u.journal", opt.dir, (unsigned)(r - ranks));
	journal = ct_journal_open_nth(path, 0);
	if (journal && __atomic_load_n(&journal->lane[0].entered, __ATOMIC_ACQUIRE)) {
		r->due_ns = now_ns() + r->delay_ns;
		r->delay_ns = 0;
	}
	ct_journal_close(journal);
}

static void kill_rank(struct rank *r, int sig)
{
	struct truth *t = &r->truth;

	r->due_ns = UINT64_MAX;
	r->delay_ns = 0;
	if (t->kill_signal) {
		kill(t->pid, sig);
		return;
	}
	t->kill_signal = sig;
	t->kill_after_ns = now_ns();
	kill(t->pid, sig);
	t->kill_before_ns = now_ns();
}

/* The pid of a child that has ended, 0 none. Every way to query is used, since each is a function
 * of its own. */
static int ask(int *status, int block)
{
	int how = block ? 0 : WNOHANG;
	struct rusage used;
	siginfo_t info = { 0 };

	if (strcmp(opt.wait, "wait") == 0 && block)
		return wait(status);
	if (strcmp(opt.wait, "wait4") == 0)
		return wait4(-1, status, how, &used);
	if (strcmp(opt.wait, "wait3") == 0)
		return wait3(status, how, &used);
	if (strcmp(opt.wait, "waitid") != 0)
		return waitpid(-1, status, how);
	if (waitid(P_ALL, 0, &info, WEXITED | how) != 0)
		return -1;
	*status = info.si_code == CLD_EXITED
			  ? info.si_status << 8
			  : info.si_status | (info.si_code == CLD_DUMPED ? 0x80 : 0);
	return info.si_pid;
}

/* Collect all that have ended. `quiet_ns` is when none had, and advances. */
static void reap(uint64_t *quiet_ns, int block)
{
	for (;;) {
		uint64_t before_ns = now_ns();
		int status = 0;
		int pid = n_alive ? ask(&status, block) : 0;
		uint64_t seen_ns = now_ns();
		unsigned i = 0;

		if (pid < 0 && errno != EINTR)
			die(opt.wait);
		if (pid <= 0) {
			*quiet_ns = before_ns;
			return;
		}
		while (i < n_started && !(ranks[i].lives && ranks[i].truth.pid == pid))
			i++;
		if (i == n_started)
			continue;
		ranks[i].lives = 0;
		ranks[i].truth.status = status;
		ranks[i].truth.before_ns = seen_ns;
		if (ranks[i].truth.after_ns < *quiet_ns)
			ranks[i].truth.after_ns = *quiet_ns;
		n_alive--;
		block = 0;
	}
}

static int all_are_killed(void)
{
	for (unsigned i = 0; i < n_started; i++) {
		if (ranks[i].lives && ranks[i].truth.kill_signal != SIGKILL)
			return 0;
	}
	return 1;
}

static void run_job(void)
{
	uint64_t end_ns = now_ns() + opt.limit_s * 1000000000ull;
	uint64_t quiet_ns = 0, ask_ns = 0;
	unsigned killed = 0, first = (unsigned)(dice() % opt.ranks);

	for (unsigned i = 0; i < opt.ranks; i++)
		start_rank(0);
	for (unsigned i = 0; i < opt.ranks && killed < opt.victims; i++, killed++)
		doom(&ranks[(first + i) % opt.ranks], i * opt.stagger_ms);
	while (n_alive) {
		uint64_t now = now_ns();

		for (unsigned i = 0; i < n_started; i++) {
			if (ranks[i].lives && ranks[i].delay_ns)
				look_at_journal(&ranks[i]);
			if (ranks[i].lives && (now >= ranks[i].due_ns || now >= end_ns))
				kill_rank(&ranks[i], now >= end_ns ? SIGKILL : opt.signal);
		}
		if (now >= ask_ns) {
			reap(&quiet_ns, opt.poll_ms <= 1 && all_are_killed());
			ask_ns = now + opt.poll_ms * 1000000;
		}
		while (n_alive < opt.ranks && n_started < opt.total && now < end_ns)
			start_rank(killed++ < opt.victims);
		if (n_alive)
			usleep(500);
	}
}

static int write_truth(void)
{
	char path[512];
	unsigned by_signal = 0, by_kill = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/truth", opt.dir);
	file = fopen(path, "we");
	if (!file)
		die(path);
	for (unsigned i = 0; i < n_started; i++) {
		truth_print(file, &ranks[i].truth);
		by_signal += WIFSIGNALED(ranks[i].truth.status);
		by_kill += WIFSIGNALED(ranks[i].truth.status) && ranks[i].truth.kill_signal;
	}
	if (fclose(file) != 0)
		die(path);
	printf("kill_ranks: %u processes, %u ended by a signal, %u of them killed\n", n_started,
	       by_signal, by_kill);
	return 0;
}

static uint64_t number(const char *name, const char *text)
{
	char *rest;
	uint64_t n = strtoull(text, &rest, 10);

	if (rest == text || *rest) {
		fprintf(stderr, "kill_ranks: %s %s: no number\n%s", name, text, usage);
		exit(2);
	}
	return n;
}

static void parse(int argc, char **argv)
{
	static const struct option known[] = {
		{ "job", 1, NULL, 'j' },     { "dir", 1, NULL, 'd' },
		{ "ranks", 1, NULL, 'n' },   { "apart", 0, NULL, 'a' },
		{ "total", 1, NULL, 't' },   { "victims", 1, NULL, 'v' },
		{ "signal", 1, NULL, 'k' },  { "from-ms", 1, NULL, 'f' },
		{ "to-ms", 1, NULL, 'o' },   { "seed", 1, NULL, 's' },
		{ "preload", 1, NULL, 'L' }, { "under-way", 0, NULL, 'u' },
		{ "wait", 1, NULL, 'w' },    { "limit-s", 1, NULL, 'l' },
		{ "poll-ms", 1, NULL, 'p' }, { "stagger-ms", 1, NULL, 'g' },
		{ NULL, 0, NULL, 0 },
	};
	int c, index = 0;

	while ((c = getopt_long(argc, argv, "", known, &index)) != -1) {
		uint64_t n = 0;

		if (c == '?')
			exit(2);
		if (!strchr("jdwauL", c))
			n = number(known[index].name, optarg);
		switch (c) {
		case 'j':
			opt.job = optarg;
			break;
		case 'd':
			opt.dir = optarg;
			break;
		case 'w':
			opt.wait = optarg;
			break;
		case 'a':
			opt.apart = 1;
			break;
		case 'n':
			opt.ranks = (unsigned)n;
			break;
		case 't':
			opt.total = (unsigned)n;
			break;
		case 'v':
			opt.victims = (unsigned)n;
			break;
		case 'k':
			opt.signal = (int)n;
			break;
		case 'f':
			opt.from_ms = n;
			break;
		case 'o':
			opt.to_ms = n;
			break;
		case 's':
			opt.seed = n;
			break;
		case 'L':
			opt.preload = optarg;
			break;
		case 'u':
			opt.under_way = 1;
			break;
		case 'g':
			opt.stagger_ms = n;
			break;
		case 'p':
			opt.poll_ms = n;
			break;
		case 'l':
			opt.limit_s = (unsigned)n;
			break;
		}
	}
	opt.args = argv + optind;
	opt.n_args = argc - optind;
	for (int i = 0; i < opt.n_args; i++)
		opt.told__exit |= strncmp(opt.args[i], "_exit", 5) == 0;
	if (opt.total < opt.ranks)
		opt.total = opt.ranks;
	if (!opt.job || !opt.dir || opt.n_args > MAX_ARGS || opt.total > MAX_RANKS ||
	    opt.ranks == 0 || (!opt.apart && opt.total != opt.ranks) || opt.to_ms < opt.from_ms) {
		fputs(usage, stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	run_job();
	return write_truth();
}
