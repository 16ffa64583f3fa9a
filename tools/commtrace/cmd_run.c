/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/commtrace/child.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/codes.h"
#include "tools/commtrace/open_run.h"
#include "tools/commtrace/options.h"
#include "tools/commtrace/preload_path.h"
#include "tools/commtrace/program_file.h"
#include "tools/commtrace/record_dir.h"
#include "tools/commtrace/remains.h"
#include "tools/commtrace/run_env.h"
#include "tools/commtrace/say.h"
#include "tools/commtrace/verdict.h"
#include "trace/limits.h"
#include "trace/run_id.h"

struct request {
	const char *dir;
	int force;
	struct ct_run_env env;
	char **program;
};

static const struct argp_option table[] = {
	{ "output", 'o', "DIR", 0,
	  "Directory of the run (default: COMMTRACE_DIR, or a new one here)", 0 },
	{ "force", CT_KEY_FORCE, 0, 0, "Record into DIR although it holds another recording", 0 },
	{ "job", CT_KEY_JOB, "NAME", 0, "Name of the job, equal on all hosts (COMMTRACE_JOB)", 0 },
	{ "set", CT_KEY_SET, "NAME=VALUE", 0, "Any COMMTRACE_NAME for the program; may be repeated",
	  0 },
	{ "plugin", CT_KEY_PLUGIN, 0, 0,
	  "Also be NCCL's profiler plugin (NCCL_PROFILER_PLUGIN, unless it is set): algorithm and "
	  "channels "
	  "of operations, and NCCL that is linked statically",
	  0 },
	{ "quiet", 'q', 0, 0, "No start line and no verdict", 0 },
	{ 0 }
};

static int take(void *into, int key, const char *arg)
{
	struct request *request = into;

	switch (key) {
	case 'q':
		return ct_run_env_add(&request->env, "QUIET", "1");
	case CT_KEY_JOB:
		return ct_run_env_add(&request->env, "JOB", arg);
	case CT_KEY_SET:
		return ct_run_env_set(&request->env, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Exit status of a program that could not be executed, as env(1) has it. */
static int cannot_execute(const char *program, int error)
{
	ct_say("cannot run '%s': %s", program, strerror(error));
	if (error == ENOENT)
		ct_hint("is it in PATH, or is the interpreter of its first line missing?");
	return error == ENOENT ? CT_CODE_NO_PROGRAM : CT_CODE_CANNOT_RUN;
}

static void report(const struct request *request, const struct ct_record_dir *dir,
		   const char *const *ring_dirs, int code)
{
	const char *quiet = ct_run_env_get(&request->env, "QUIET");
	struct ct_remains remains = { 0 };
	struct ct_run_id id;

	if (ct_run_id_get(dir->fd, "", &id) == CT_OK)
		ct_remains_collect(ring_dirs, &id, &remains);
	if (quiet && strcmp(quiet, "1") == 0)
		return;
	ct_verdict(dir, ring_dirs, ct_run_env_get(&request->env, "BACKENDS"), code);
	ct_remains_say(&remains, dir->shown);
}

/* The program alone, in place of this process: a limit that is tight for the library is for a parent, too. */
static int run_alone(struct request *request, const char *why)
{
	const char *quiet = ct_run_env_get(&request->env, "QUIET");

	if (!quiet || strcmp(quiet, "1") != 0)
		ct_say("not recording: %s", why);
	execvp(request->program[0], request->program);
	return cannot_execute(request->program[0], errno);
}

static int run(struct request *request)
{
	char library[PATH_MAX], job[128], why[160];
	const char *ring_dirs[4];
	int job_known = ct_run_env_job(&request->env, job, sizeof(job)), code = CT_CODE_RUN_FAILED;
	struct ct_record_dir dir = { 0 };
	struct ct_child child = { .argv = request->program,
				  .prepare = ct_run_env_apply,
				  .arg = &request->env,
				  .ring_dirs = ring_dirs };

	if (ct_limits_are_tight(why, sizeof(why)))
		return run_alone(request, why);
	if (ct_preload_path(library) < 0)
		return code;
	request->env.preload = library;
	request->env.has_asan = ct_program_has_asan((const char *const *)request->program);
	ct_open_ring_dirs(ct_run_env_get(&request->env, "RING_DIR"), ring_dirs);
	if (!request->dir)
		request->dir = ct_run_env_get(&request->env, "DIR");
	if (ct_record_dir_open(&dir, request->dir, job_known ? job : NULL, ring_dirs,
			       request->force) < 0)
		return code;
	if (ct_run_env_add(&request->env, "DIR", dir.path) == 0 &&
	    (!job_known || ct_run_env_add(&request->env, "JOB", job) == 0) &&
	    ct_child_run(&child) == 0) {
		if (child.exec_error) {
			code = cannot_execute(request->program[0], child.exec_error);
		} else {
			code = ct_child_code(child.status);
			report(request, &dir, ring_dirs, code);
		}
	}
	ct_record_dir_close(&dir, ring_dirs);
	return code;
}

int ct_cmd_run(int argc, char **argv)
{
	struct request request = { 0 };
	const struct ct_option_put puts[] = {
		{ 'o', .text = &request.dir },
		{ CT_KEY_FORCE, .flag = &request.force },
		{ CT_KEY_PLUGIN, .flag = &request.env.plugin },
		{ 0 },
	};
	const struct ct_options options = {
		.command = "run",
		.table = table,
		.puts = puts,
		.take = take,
		.into = &request,
		.rest = &request.program,
		.example = "  commtrace run -o run1 -- torchrun --nproc_per_node 8 train.py\n"
			   "\n"
			   "Standard input, output and the exit status are the program's; 125: "
			   "commtrace itself\n"
			   "failed, 126: the program cannot be executed, 127: it was not found.",
	};
	int code = ct_options_parse(&options, argc, argv);

	if (code < 0 && !request.program)
		code = ct_usage("run", "'run' needs a program: run -- PROGRAM [ARG...]");
	if (code < 0)
		code = run(&request);
	ct_run_env_fini(&request.env);
	return code;
}
