/* SPDX-License-Identifier: Apache-2.0 */
/* inert.c — a program that does not communicate and does much of what a preloaded library can
 * spoil: children in every way, signals, descriptors, exits. What it prints must not depend on
 * whether a library is preloaded.
 *
 * inert WHAT: self forks spawn vfork closefrom handler errors threads exit _exit quick abort raise.
 * The exit status is the program's own for the last five, else 0. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Those of the test itself differ from run to run. */
static void print_environment(void)
{
	size_t n = 0;

	while (environ[n])
		n++;
	qsort(environ, n, sizeof(*environ), by_text);
	for (size_t i = 0; i < n; i++) {
		if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0 &&
		    strncmp(environ[i], "COMMTRACE", 9) != 0)
			puts(environ[i]);
	}
}

static int is_told(const char *line)
{
	static const char *const fields[] = { "Threads:",    "SigBlk:",	 "SigIgn:",
					      "SigCgt:",     "SigPnd:",	 "Umask:",
					      "NoNewPrivs:", "Seccomp:", "CoreDumping:" };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (strncmp(line, fields[i], strlen(fields[i])) == 0)
			return 1;
	}
	return 0;
}

static void print_status(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (is_told(line))
			fputs(line, stdout);
	}
	if (file)
		fclose(file);
}

static void print_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	char path[300], to[256];

	while (dir && (entry = readdir(dir))) {
		ssize_t n;

		if (entry->d_name[0] == '.' || atoi(entry->d_name) == dirfd(dir))
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		n = readlink(path, to, sizeof(to) - 1);
		to[n > 0 ? n : 0] = '\0';
		/* Pipes have numbers, files of the test names of their own. */
		printf("descriptor %s: %s\n", entry->d_name, to[0] == '/' ? "file" : "other");
	}
	if (dir)
		closedir(dir);
}

static void self(void)
{
	printf("errno %d\n", errno);
	print_status();
	print_descriptors();
	print_environment();
}

static void tell(const char *what, int pid_is_right, int status)
{
	if (WIFEXITED(status))
		printf("%s: %s exited %d\n", what, pid_is_right ? "child" : "stranger",
		       WEXITSTATUS(status));
	else
		printf("%s: %s killed by %d\n", what, pid_is_right ? "child" : "stranger",
		       WTERMSIG(status));
}

static void wait_and_tell(const char *what, int pid)
{
	int status = 0;
	int got = waitpid(pid, &status, 0);

	tell(what, got == pid, status);
}

/* A server that forks for every request, and asks for the ends in every way there is. */
static void forks(void)
{
	for (int i = 0; i < 50; i++) {
		struct rusage usage;
		siginfo_t info = { 0 };
		int status = 0, got;
		int pid = fork();

		if (pid == 0) {
			if (i % 7 == 6)
				kill(getpid(), SIGKILL);
			if (i % 2)
				exit(i);
			_exit(i);
		}
		if (i % 5 == 4)
			kill(pid, SIGTERM);
		switch (i % 5) {
		case 0:
			got = waitpid(pid, &status, 0);
			break;
		case 1:
			got = wait(&status);
			break;
		case 2:
			got = wait3(&status, 0, &usage);
			break;
		case 3:
			got = wait4(pid, &status, 0, &usage);
			break;
		default: /* it may have been faster than the signal */
			got = waitid(P_PID, (id_t)pid, &info, WEXITED) == 0 ? info.si_pid : -1;
			status = i << 8;
			break;
		}
		tell("fork", got == pid, status);
	}
	errno = 0;
	printf("wait: %d\n", wait(NULL));
	printf("errno %d\n", errno);
	printf("waitpid: %d\n", waitpid(-1, NULL, WNOHANG));
}

static void spawn(void)
{
	static const char *const shell[] = { "sh", "-c", "echo from a shell; exit 7", NULL };
	char line[64] = "";
	int pid = 0, spawned;
	FILE *pipe;

	spawned = posix_spawn(&pid, "/bin/sh", NULL, NULL, (char *const *)(uintptr_t)shell,
			      environ);
	wait_and_tell("posix_spawn", pid);
	printf("posix_spawn: %d\n", spawned);
	printf("posix_spawnp: %d\n", posix_spawnp(&pid, "no-such-program", NULL, NULL,
						  (char *const *)(uintptr_t)shell, environ));
	printf("system: %#x\n", (unsigned)system("exit 3"));
	pipe = popen("echo out of a pipe; exit 5", "re");
	if (!pipe || !fgets(line, sizeof(line), pipe))
		puts("popen failed");
	else
		printf("popen: %spclose: %#x\n", line, (unsigned)pclose(pipe));
}

static void by_vfork(void)
{
	int pid = vfork();

	if (pid == 0)
		_exit(5);
	wait_and_tell("vfork, _exit", pid);
	pid = vfork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
		_exit(127);
	}
	wait_and_tell("vfork, exec", pid);
	pid = vfork();
	if (pid == 0) {
		execl("/no/such/program", "sh", (char *)NULL);
		_exit(127);
	}
	wait_and_tell("vfork, no exec", pid);
}

/* As daemons do; what a library held open is closed, and its number is reused. */
static void without_descriptors(void)
{
	int fd, pid;

	closefrom(3);
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	printf("the next descriptor is %d\n", fd);
	pid = fork();
	if (pid == 0) {
		kill(getppid(), 0);
		abort();
	}
	wait_and_tell("fork", pid);
	printf("it is still /dev/null: %d\n", write(fd, "x", 1) == 1 && close(fd) == 0);
}

static volatile sig_atomic_t reaped;

static void reap(int sig)
{
	int kept = errno;

	(void)sig;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		reaped++;
	errno = kept;
}

/* Children are waited for in a signal handler, in the middle of malloc or of another wait. */
static void in_handler(void)
{
	struct sigaction action = { .sa_handler = reap, .sa_flags = SA_RESTART };

	sigaction(SIGCHLD, &action, NULL);
	for (int i = 0; i < 100; i++) {
		if (fork() == 0)
			_exit(0);
		for (int k = 0; k < 200; k++)
			free(malloc((size_t)(k * i + 1)));
	}
	for (int i = 0; reaped < 100 && i < 1000; i++)
		usleep(10000);
	printf("reaped %d\n", reaped);
}

static void errors(void)
{
	siginfo_t info;
	int r;

	errno = 0;
	r = kill(getpid(), 0);
	printf("kill 0: %d %d\n", r, errno);
	r = kill(getpid(), 999);
	printf("kill 999: %d %d\n", r, errno);
	r = kill(0x3fffffff, SIGTERM);
	printf("kill nobody: %d %d\n", r, errno);
	r = kill(-0x3fffffff, SIGTERM);
	printf("kill no group: %d %d\n", r, errno);
	r = waitpid(-1, NULL, 0);
	printf("waitpid: %d %d\n", r, errno);
	r = waitpid(-1, NULL, 0x40000000);
	printf("waitpid with a wrong option: %d %d\n", r, errno);
	r = waitid(P_PID, 1, &info, WEXITED);
	printf("waitid: %d %d\n", r, errno);
	r = waitid(P_ALL, 0, NULL, 0);
	printf("waitid without options: %d %d\n", r, errno);
	errno = 77;
	r = kill(getpid(), SIGURG);
	printf("errno is kept: %d %d\n", r, errno);
}

static void *fork_now_and_then(void *arg)
{
	int status = 0;

	for (int i = 0; i < 20; i++) {
		int pid = fork();

		if (pid == 0)
			_exit(i);
		if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != i)
			return arg;
	}
	return NULL;
}

static void threads(void)
{
	pthread_t thread[8];
	void *wrong = NULL, *any;

	for (int i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, fork_now_and_then, &wrong);
	for (int i = 0; i < 8; i++) {
		pthread_join(thread[i], &any);
		wrong = any ? any : wrong;
	}
	puts(wrong ? "wrong" : "right");
	print_status();
}

static void at_exit(void)
{
	puts("a handler of exit");
}
static void at_quick_exit_too(void)
{
	fputs("a handler of quick_exit\n", stderr);
}

static void on_abort(int sig)
{
	static const char said[] = "a handler of SIGABRT\n";

	(void)sig;
	(void)!write(2, said, sizeof(said) - 1);
}

static int leave(const char *what)
{
	atexit(at_exit);
	at_quick_exit(at_quick_exit_too);
	if (strcmp(what, "exit") == 0)
		exit(41);
	if (strcmp(what, "_exit") == 0)
		_exit(42);
	if (strcmp(what, "quick") == 0)
		quick_exit(43);
	if (strcmp(what, "abort") == 0) {
		signal(SIGABRT, on_abort);
		abort();
	}
	if (strcmp(what, "raise") == 0)
		raise(SIGTERM);
	fprintf(stderr, "inert: %s?\n", what);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {
		{ "self", self },
		{ "forks", forks },
		{ "spawn", spawn },
		{ "vfork", by_vfork },
		{ "closefrom", without_descriptors },
		{ "handler", in_handler },
		{ "errors", errors },
		{ "threads", threads },
	};
	const struct rlimit none = { 0, 0 };

	setvbuf(stdout, NULL, _IOLBF, 0);
	setrlimit(RLIMIT_CORE, &none);
	for (size_t i = 0; argc == 2 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, argv[1]) == 0) {
			modes[i].run();
			return 0;
		}
	}
	return leave(argc == 2 ? argv[1] : "");
}
