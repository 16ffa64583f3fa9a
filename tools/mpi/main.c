/* SPDX-License-Identifier: Apache-2.0 */
/* main.c — commtrace-mpi: a command of commtrace for a run whose files lie on several nodes. Each
 * process of the MPI job finds what it sees of the run, process 0 gets what only others see, and
 * runs the command over all of it. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
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
#include "tools/mpi/work_dir.h"

extern char **environ;

/* Those for which several paths are one run, and that come to an end. */
static const enum ct_command_id ours[] = { CT_COMMAND_report,	CT_COMMAND_hang,
					   CT_COMMAND_info,	CT_COMMAND_diagnose,
					   CT_COMMAND_timeline, CT_COMMAND_heatmap,
					   CT_COMMAND_dump,	CT_COMMAND_partial };
#define N_OURS (sizeof(ours) / sizeof(ours[0]))

static const char help[] =
	"Usage: mpirun -n N commtrace-mpi [OPTION]... COMMAND [COMMAND-OPTION]... RUN...\n"
	"Run a command of commtrace over a run whose files lie on several nodes.\n"
	"\n"
	"Each process of the MPI job looks for RUN on its own node. Process 0 gets what only\n"
	"others see, and runs the command over all of it. Its result is that of one process\n"
	"that sees all files. COMMAND is one of: report, hang, info, diagnose, timeline,\n"
	"heatmap, dump, partial. 'commtrace COMMAND --help' shows its options.\n"
	"\n"
	"      --keep=SECONDS      Send, of each process of the run, only the operations of\n"
	"                          the last so many seconds before its last one, 30 or more,\n"
	"                          and at least 4,096, as 'commtrace partial' does; by default\n"
	"                          everything\n"
	"  -v, --verbose           Say on standard error how much process 0 got\n"
	"  -h, --help              Show this help\n"
	"  -V, --version           Print the version\n"
	"\n"
	"Files are kept in TMPDIR until the end. The exit status is that of the command.\n"
	"\n"
	"Examples:\n"
	"  mpirun -n 4 commtrace-mpi report run1\n"
	"  mpirun -n 4 commtrace-mpi --keep=300 hang /local/run1 --json\n";

struct mpi_request {
	uint64_t keep_ns;
	int is_verbose;
	int argc; /* the line of the command, with its name */
	char **argv;
	struct ct_cli args;
};

/* ---- the command line ---- */

static int usage(const char *what, const char *word)
{
	ct_say("%s%s", what, word);
	ct_hint("'commtrace-mpi --help' shows how it is used");
	return CT_CODE_USAGE;
}

static const struct ct_command *find_command(const char *name)
{
	const struct ct_command *command = ct_command_find(name);

	for (size_t i = 0; command && i < N_OURS; i++)
		if (command->id == ours[i])
			return command;
	return NULL;
}

/* -1 to go on, or an exit status. */
static int read_options(struct mpi_request *request, int argc, char **argv)
{
	enum { KEEP = 256 };
	static const struct option options[] = {
		{ "keep", required_argument, NULL, KEEP },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	long long keep;
	char *end;
	int c;

	request->keep_ns = UINT64_MAX;
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+vhV", options, NULL)) != -1) {
		switch (c) {
		case KEEP:
			errno = 0;
			keep = strtoll(optarg, &end, 10);
			if (errno || end == optarg || *end || keep < 30 || keep > 1000000000)
				return usage("--keep is a number of seconds, 30 or more, not: ",
					     optarg);
			request->keep_ns = (uint64_t)keep * 1000000000u;
			break;
		case 'v':
			request->is_verbose = 1;
			break;
		case 'h':
			fputs(help, stdout);
			return fflush(stdout) ? CT_CODE_FAILED : CT_CODE_DONE;
		case 'V':
			printf("commtrace-mpi %s\n", CT_RELEASE);
			return fflush(stdout) ? CT_CODE_FAILED : CT_CODE_DONE;
		default:
			return usage("unknown option, or its value is missing: ", argv[optind - 1]);
		}
	}
	request->argc = argc - optind;
	request->argv = argv + optind;
	return -1;
}

/* -1 to go on, or an exit status; all processes come to the same. */
static int read_line(struct mpi_request *request, int argc, char **argv)
{
	const struct ct_command *command;
	int code = read_options(request, argc, argv);

	if (code >= 0)
		return code;
	if (!request->argc)
		return usage("a command is missing", "");
	command = find_command(request->argv[0]);
	if (!command)
		return usage("no command that analyzes one run: ", request->argv[0]);
	code = ct_cli_parse(&request->args, command->id, request->argc, request->argv);
	if (code < 0 && !request->args.paths.n)
		code = ct_usage(command->name, "'%s' needs a RUN", command->name);
	return code;
}

/* What is wrong with the line, process 0 says for all. */
static int read_line_quietly(struct mpi_request *request, int argc, char **argv)
{
	const int before = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int code;

	if (!freopen("/dev/null", "w", stdout) || null < 0 || before < 0)
		return CT_CODE_FAILED;
	dup2(null, STDERR_FILENO);
	code = read_line(request, argc, argv);
	dup2(before, STDERR_FILENO);
	close(before);
	close(null);
	return code;
}

/* ---- the run ---- */

/* A path that is not on this node is none of its errors; of others the reader would only warn, if
 * there are several. 1: it is here. */
static int look_at(const char *path, struct ct_err *err)
{
	struct stat st;
	const int failed = stat(path, &st) != 0 ||
			   access(path, S_ISDIR(st.st_mode) ? R_OK | X_OK : R_OK) != 0;

	if (failed && errno != ENOENT)
		ct_fail(err, CT_IO, "%s: %s", path, strerror(errno));
	else if (!failed && !S_ISDIR(st.st_mode) && ct_recording_kind(path) == CT_RECORDING_NONE)
		ct_fail(err, CT_FORMAT, "%s: not a recording", path);
	return !failed;
}

/* The first process that has an error reports it for all, and ends the job. */
static void fail_together(int rank, const struct ct_err *err)
{
	char front[MPI_MAX_PROCESSOR_NAME + 32] = "cannot read the run on ";
	int failed = err->status ? rank : INT_MAX, first, len;

	MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (first == rank) {
		MPI_Get_processor_name(front + strlen(front), &len);
		ct_exchange_fail(front, err->text);
	}
	if (first != INT_MAX)
		MPI_Barrier(MPI_COMM_WORLD); /* the end comes here */
}

/* What the reader skips, it skips with a warning. The command says that of the given paths, which
 * it reads, and knows nothing of the files that only other nodes have. */
static void warn_together(const struct ct_run *run, const struct ct_err *skipped, int in_place)
{
	const size_t n = run ? run->n_skipped : skipped->status != CT_OK;
	const char **texts = calloc(n + 1, sizeof(*texts));

	if (!texts)
		ct_exchange_fail("cannot read the run", ct_status_text(CT_NOMEM));
	for (size_t i = 0; i < n; i++)
		texts[i] = run ? run->skipped[i].why : skipped->text;
	ct_exchange_warnings(texts, n, !in_place);
	free(texts);
}

/* What this process sees; NULL: nothing, as on a node that ran none of the job's ranks. */
static struct ct_run *open_here(const struct ct_paths *paths, int rank, int in_place)
{
	const char *ring_dirs[4];
	const struct ct_run_options options = { .ring_dirs = ring_dirs };
	struct ct_err refused = { 0 }, skipped = { 0 };
	struct ct_run *run = NULL;
	size_t n = 0;
	int status = CT_OK;
	const char **here = calloc(paths->n + 1, sizeof(*here));

	for (size_t i = 0; here && i < paths->n; i++)
		if (look_at(paths->path[i], &refused))
			here[n++] = paths->path[i];
	fail_together(rank, &refused);
	ct_host_ring_dirs(NULL, ring_dirs);
	if (here && n)
		status = ct_run_open(here, n, &options, &run, &skipped);
	if (!here || status == CT_NOMEM)
		ct_exchange_fail("cannot read the run", ct_status_text(CT_NOMEM));
	if (status == CT_EMPTY)
		skipped = (struct ct_err){ 0 }; /* no file at all, as on a node without ranks */
	warn_together(run, &skipped, in_place);
	free(here);
	return run;
}

/* Of what process 0 reads itself, it lacks the ring only. */
static int add_process(struct ct_partial *part, const struct ct_run *run, size_t index,
		       enum ct_owned owned, struct ct_err *err)
{
	if (owned == CT_OWNED_NOT)
		return CT_OK;
	if (owned == CT_OWNED_RING && part->keep_ns == UINT64_MAX)
		return ct_partial_add_ring(part, run, index, err);
	return ct_partial_add(part, run, index, err);
}

/* The processes of the run that this process of the job takes. Process 0 reads its own directly,
 * unless something is left out. */
static void write_part(const struct mpi_request *request, const struct ct_run *run,
		       const uint8_t *owned, const char *dir, int rank)
{
	struct ct_partial part = { .dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				   .path = dir,
				   .keep_ns = request->keep_ns };
	const int in_place = !rank && part.keep_ns == UINT64_MAX;
	struct ct_err err = { .text = "" };

	if (part.dirfd < 0)
		ct_exchange_fail(dir, strerror(errno));
	for (size_t p = 0; !in_place && run && p < run->n_processes; p++)
		if (add_process(&part, run, p, owned[p], &err) != CT_OK)
			ct_exchange_fail("cannot make a part", err.text);
	close(part.dirfd);
}

/* What came to process 0; *seen: processes of the run that any process of the job sees. */
static struct ct_exchanged collect(const struct mpi_request *request, const char *dir, int rank,
				   uint64_t *seen)
{
	struct ct_run *run = open_here(&request->args.paths, rank, request->keep_ns == UINT64_MAX);
	uint64_t n = run ? run->n_processes : 0;
	struct ct_exchanged came;
	uint8_t *owned = calloc(n + 1, 1);

	if (!owned)
		ct_exchange_fail("cannot read the run", ct_status_text(CT_NOMEM));
	MPI_Allreduce(&n, seen, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	ct_exchange_share(run, owned);
	write_part(request, run, owned, dir, rank);
	came = ct_exchange_files(dir);
	ct_run_close(run);
	free(owned);
	return came;
}

/* ---- the command ---- */

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

/* Until the command has ended, or its output cannot be written any more. */
static void pass_on(int from)
{
	char buffer[65536];
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0 && (fwrite(buffer, 1, (size_t)n, stdout) != (size_t)n || fflush(stdout)))
			break;
	close(from);
}

/* Starts it. Open MPI gives process 0 a terminal, which the output ends at only for the time being:
 * the command gets a pipe instead, and writes as into a file. *from: its other end, or -1. */
static int start(pid_t *pid, char **words, int *from)
{
	posix_spawn_file_actions_t actions;
	int ends[2], error;

	*from = -1;
	if (!isatty(STDOUT_FILENO))
		return posix_spawnp(pid, words[0], NULL, NULL, words, environ);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return errno;
	error = posix_spawn_file_actions_init(&actions);
	if (!error) {
		error = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
				?: posix_spawnp(pid, words[0], &actions, NULL, words, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	if (error)
		close(ends[0]);
	else
		*from = ends[0];
	return error;
}

/* Runs commtrace with these words, the first of which is for its path. */
static int run_command(char **words)
{
	char program[4096];
	int status, from;
	pid_t pid;

	find_commtrace(program);
	words[0] = program;
	errno = start(&pid, words, &from);
	if (errno) {
		ct_say("cannot run %s: %s", program, strerror(errno));
		return CT_CODE_FAILED;
	}
	if (from >= 0)
		pass_on(from);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return CT_CODE_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int is_path(const struct ct_paths *paths, const char *word)
{
	for (size_t p = 0; p < paths->n; p++)
		if (word == paths->path[p])
			return 1;
	return 0;
}

/* For commands to paste, which are of no use with a directory that goes away. */
static int set_typed(const struct ct_paths *paths)
{
	char *all = NULL, *longer;
	int failed = 0;

	for (size_t p = 0; p < paths->n && !failed; p++) {
		failed = asprintf(&longer, "%s%s%s", all ? all : "", all ? "\n" : "",
				  paths->path[p]) < 0;
		free(all);
		all = failed ? NULL : longer;
	}
	failed = failed || (all && setenv(CT_TYPED_RUNS, all, 1) != 0);
	free(all);
	return failed;
}

/* The line of the command over the given paths, unless they are in `dir`, too, and over `dir`, if
 * anything is. If there is nothing at all, over what was typed: it says what is wrong with that. */
static int analyze(const struct mpi_request *request, const char *dir, int in_place, int in_dir)
{
	char **words = calloc((size_t)request->argc + 3, sizeof(*words));
	int n = 1, code;

	if (!words || set_typed(&request->args.paths))
		ct_exchange_fail("cannot analyze", ct_status_text(CT_NOMEM));
	for (int i = 0; i < request->argc; i++) {
		char *word = request->argv[i];

		if (!is_path(&request->args.paths, word) ||
		    (in_place && (!in_dir || access(word, F_OK) == 0)))
			words[n++] = word;
	}
	if (in_dir)
		words[n++] = (char *)(uintptr_t)dir;
	code = run_command(words);
	free(words);
	return code;
}

static int finish(const struct mpi_request *request, const char *dir, uint64_t seen,
		  const struct ct_exchanged *came, int size)
{
	const int thinned = request->keep_ns != UINT64_MAX;
	int code;

	if (request->is_verbose)
		ct_say("process 0 of %d got %" PRIu64 " files, %" PRIu64 " bytes", size,
		       came->files, came->bytes);
	if (seen)
		return analyze(request, dir, !thinned, thinned || came->files);
	code = analyze(request, dir, 1, 0);
	ct_hint("none of the %d processes of the MPI job sees a recording there", size);
	return code ? code : CT_CODE_FAILED;
}

int main(int argc, char **argv)
{
	struct mpi_request request = { 0 };
	struct ct_work_dir dir;
	struct ct_exchanged came = { 0 };
	uint64_t seen = 0;
	int rank, size, code, failed = ct_work_dir_open(&dir) < 0 ? errno : 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank && !failed)
		ct_work_dir_done(&dir); /* process 0 says it for all */
	code = rank ? read_line_quietly(&request, argc, argv) : read_line(&request, argc, argv);
	if (failed && code < 0)
		ct_exchange_fail(dir.path, strerror(failed));
	if (code < 0)
		came = collect(&request, dir.path, rank, &seen);
	/* Only now the result: a process that died before has ended the job. */
	MPI_Finalize();
	if (!rank && !failed)
		ct_work_dir_done(&dir);
	if (code < 0)
		code = rank ? 0 : finish(&request, dir.path, seen, &came, size);
	if (!failed)
		ct_work_dir_close(&dir);
	ct_cli_fini(&request.args);
	return code;
}
