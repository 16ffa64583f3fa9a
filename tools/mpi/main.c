/* SPDX-License-Identifier: Apache-2.0 */
/* main.c — commtrace-mpi: a command of commtrace for a run whose files lie on several nodes. Each process of the MPI job finds what it
 * sees of the run, process 0 gets what only others see, and runs the command over all of it. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/recording.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/this_host.h"
#include "tools/commtrace/copy/partial.h"
#include "tools/mpi/exchange.h"

extern char **environ;

static int remove_file(const char *dir, const char *name, enum ct_recording_kind kind, void *arg)
{
	char *path = ct_recording_path(dir, name);

	(void)kind, (void)arg;
	if (path)
		unlink(path);
	free(path);
	return 0;
}

/* What this process sees; NULL: nothing, as on a node that ran none of the job's ranks. */
static struct ct_run *open_here(const struct ct_paths *paths)
{
	const char *ring_dirs[4];
	const struct ct_run_options options = { .ring_dirs = ring_dirs };
	struct ct_err err = { .text = "" };
	struct ct_run *run = NULL;
	size_t n = 0;
	const char **here = calloc(paths->n + 1, sizeof(*here));

	for (size_t i = 0; here && i < paths->n; i++)
		if (access(paths->path[i], F_OK) == 0)
			here[n++] = paths->path[i];
	ct_host_ring_dirs(NULL, ring_dirs);
	if (!here || (n && ct_run_open(here, n, &options, &run, &err) == CT_NOMEM))
		ct_exchange_fail("cannot read the run", ct_status_text(CT_NOMEM));
	free(here);
	return run;
}

/* The processes of the run that this process of the job takes; process 0 reads its own in place. */
static void write_part(const struct ct_run *run, const uint8_t *owned, const char *dir, int rank)
{
	struct ct_partial part = { .dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				   .keep_ns = UINT64_MAX };
	struct ct_err err = { .text = "" };

	if (part.dirfd < 0)
		ct_exchange_fail(dir, strerror(errno));
	for (size_t p = 0; rank && run && p < run->n_processes; p++)
		if (owned[p] && ct_partial_add(&part, run, p, &err) != CT_OK)
			ct_exchange_fail("cannot make a part", err.text);
	close(part.dirfd);
}

/* commtrace beside this program, else that of PATH. */
static void find_commtrace(char path[4096])
{
	ssize_t n = readlink("/proc/self/exe", path, 4000);
	char *slash;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash)
		strcpy(slash + 1, "commtrace");
	if (!slash || access(path, X_OK) != 0)
		strcpy(path, "commtrace");
}

/* The command line with the paths that are here, and the directory of what came. */
static int analyze(int argc, char **argv, const struct ct_paths *paths, const char *dir, int came)
{
	char program[4096], **words = calloc((size_t)argc + 2, sizeof(*words));
	int n = 0, status, is_path;
	pid_t pid;

	if (!words)
		ct_exchange_fail("cannot analyze", ct_status_text(CT_NOMEM));
	find_commtrace(program);
	words[n++] = program;
	for (int i = 1; i < argc; i++) {
		is_path = 0;
		for (size_t p = 0; p < paths->n; p++)
			is_path |= argv[i] == paths->path[p];
		if (!is_path || access(argv[i], F_OK) == 0)
			words[n++] = argv[i];
	}
	if (came || n == argc - (int)paths->n)
		words[n++] = (char *)(uintptr_t)dir;
	errno = posix_spawnp(&pid, program, NULL, NULL, words, environ);
	free(words);
	if (errno) {
		ct_say("cannot run %s: %s", program, strerror(errno));
		return CT_CODE_FAILED;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return CT_CODE_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int is_one_of_ours(const struct ct_command *command)
{
	return command && command->takes == CT_TAKES_PATHS && command->group != CT_COMMANDS_RECORD;
}

/* 0, or an exit status; all processes come to the same. */
static int read_line(int argc, char **argv, struct ct_cli *args)
{
	const struct ct_command *command = argc > 1 ? ct_command_find(argv[1]) : NULL;
	int code;

	if (!is_one_of_ours(command)) {
		ct_say("%s%s%s: use it as in mpirun -n 4 commtrace-mpi report RUN...",
		       argc > 1 ? "'" : "", argc > 1 ? argv[1] : "a command is missing",
		       argc > 1 ? "' is no command that analyzes a run" : "");
		return CT_CODE_USAGE;
	}
	code = ct_cli_parse(args, command->id, argc - 1, argv + 1);
	if (code >= 0)
		return code ? code : -1;
	return args->paths.n ? 0 : ct_usage(command->name, "'%s' needs a RUN", command->name);
}

int main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");
	char dir[4096];
	struct ct_cli args = { 0 };
	struct ct_run *run;
	uint8_t *owned;
	uint64_t came;
	int rank, code;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank && !freopen("/dev/null", "w", stdout))
		return CT_CODE_FAILED;
	code = read_line(argc, argv, &args);
	if (code) {
		ct_cli_fini(&args);
		MPI_Finalize();
		return code < 0 ? 0 : code;
	}
	snprintf(dir, sizeof(dir), "%s/commtrace-mpi.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		ct_exchange_fail(dir, strerror(errno));
	run = open_here(&args.paths);
	owned = calloc((run ? run->n_processes : 0) + 1, 1);
	if (!owned)
		ct_exchange_fail("cannot read the run", ct_status_text(CT_NOMEM));
	ct_exchange_share(run, owned);
	write_part(run, owned, dir, rank);
	came = ct_exchange_files(dir);
	ct_run_close(run);
	free(owned);
	/* Only now the result: a process that died before has ended the job. */
	MPI_Finalize();
	code = rank ? 0 : analyze(argc, argv, &args.paths, dir, came > 0);
	ct_recording_each(dir, remove_file, NULL);
	rmdir(dir);
	ct_cli_fini(&args);
	return code;
}
