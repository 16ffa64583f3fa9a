/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/commtrace/base/child.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/this_host.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/copy/write_part.h"
#include "tools/commtrace/doctor/program_file.h"
#include "tools/commtrace/run/orphan_rings.h"
#include "tools/commtrace/run/preload_path.h"
#include "tools/commtrace/run/record_dir.h"
#include "tools/commtrace/run/run_env.h"
#include "tools/commtrace/run/run_part.h"
#include "tools/commtrace/run/verdict.h"
#include "tools/commtrace/watch/watch.h"
#include "trace/limits.h"
#include "trace/run_id.h"

struct run_request {
	const char *dir;
	int force;
	struct ct_run_env env;
	struct ct_run_part part;
	struct ct_watch watch; /* command NULL: not watched */
	int is_asked;	       /* to end, after the program had: only what would be lost is done */
	char **program;
};

/* What the options say about the program's environment. */
static int read_settings(const struct ct_cli *args, struct ct_run_env *env)
{
	int code = 0;

	env->plugin = ct_cli_has(args, CT_OPTION_PLUGIN);
	for (size_t i = 0; i < args->n_given && !code; i++) {
		const struct ct_given *given = &args->given[i];

		if (given->option->key == CT_OPTION_QUIET)
			code = ct_run_env_add(env, "QUIET", "1");
		else if (given->option->key == CT_OPTION_JOB)
			code = ct_run_env_add(env, "JOB", given->value);
		else if (given->option->key == CT_OPTION_SET)
			code = ct_run_env_set(env, given->value);
	}
	return code;
}

/* What needs another option, and what was said twice. 0, or an exit status. */
static int check_options(const struct ct_cli *args, const struct run_request *request)
{
	const char *set_dir = NULL;

	for (size_t i = 0; i < request->env.n_settings; i++)
		if (strcmp(request->env.settings[i].name, "COMMTRACE_DIR") == 0)
			set_dir = request->env.settings[i].value;
	if (set_dir && request->dir)
		return ct_usage("run", "the directory was given twice: '-o %s' and '--set DIR=%s'",
				request->dir, set_dir);
	if (!request->part.dir &&
	    (ct_cli_has(args, CT_OPTION_EXACT) || ct_cli_has(args, CT_OPTION_KEEP_OPS)))
		return ct_usage("run", "'--%s' of 'run' is about the part: it needs --partial=DIR",
				ct_cli_has(args, CT_OPTION_EXACT) ? "exact" : "keep");
	if (!request->program)
		return ct_usage("run", "'run' needs a program: run -- PROGRAM [ARG]...");
	return 0;
}

/* Exit status of a program that could not be executed, as env(1) has it. */
static int cannot_execute(const char *program, int error)
{
	ct_say("cannot run '%s': %s", program, strerror(error));
	if (error == ENOENT)
		ct_hint("is it in PATH, or is the interpreter of its first line missing?");
	return error == ENOENT ? CT_CODE_NO_PROGRAM : CT_CODE_CANNOT_RUN;
}

static int is_quiet(const struct run_request *request)
{
	const char *quiet = ct_run_env_get(&request->env, "QUIET");

	return quiet && strcmp(quiet, "1") == 0;
}

static void report(const struct run_request *request, const struct ct_record_dir *dir,
		   const char *const *ring_dirs, int code)
{
	struct ct_orphan_rings orphans = { 0 };
	struct ct_run_id id;

	if (ct_run_id_get(dir->fd, "", &id) == CT_OK)
		ct_orphan_rings_collect(ring_dirs, &id, &orphans);
	if (request->is_asked || is_quiet(request))
		return;
	ct_verdict(dir, ring_dirs, ct_run_env_get(&request->env, "BACKENDS"), code);
	ct_orphan_rings_say(&orphans, dir->shown);
}

/* The program alone, instead of this process: a limit that is tight for the library is for a
 * parent, too. */
static int run_alone(struct run_request *request, const char *why)
{
	if (!is_quiet(request))
		ct_say("not recording: %s", why);
	execvp(request->program[0], request->program);
	return cannot_execute(request->program[0], errno);
}

static int run(struct run_request *request)
{
	char library[PATH_MAX], job[128], why[160];
	const char *ring_dirs[4];
	int job_known = ct_run_env_job(&request->env, job, sizeof(job)), code = CT_CODE_RUN_FAILED;
	struct ct_record_dir dir = { 0 };
	struct ct_watch_beside beside = { 0 };
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
	ct_host_ring_dirs(ct_run_env_get(&request->env, "RING_DIR"), ring_dirs);
	if (!request->dir)
		request->dir = ct_run_env_get(&request->env, "DIR");
	if (ct_record_dir_open(&dir, request->dir, job_known ? job : NULL, ring_dirs,
			       request->force) < 0)
		return code;
	ct_run_env_host(&request->env, request->part.host);
	if (request->part.dir &&
	    ct_run_part_begin(&request->part, job_known ? job : NULL, dir.path) < 0) {
		ct_record_dir_close(&dir, ring_dirs);
		return code;
	}
	request->watch.dir = dir.path;
	request->watch.ring_dir = ct_run_env_get(&request->env, "RING_DIR");
	request->watch.host = ct_run_env_get(&request->env, "HOST");
	if (request->watch.command)
		ct_watch_beside_start(&beside, &request->watch);
	if (ct_run_env_add(&request->env, "DIR", dir.path) == 0 &&
	    (!job_known || ct_run_env_add(&request->env, "JOB", job) == 0) &&
	    ct_child_run(&child) == 0) {
		if (child.exec_error) {
			code = cannot_execute(request->program[0], child.exec_error);
		} else {
			code = ct_child_code(child.status);
			if (ct_watch_beside_end(&beside, code == 0, child.was_asked))
				request->is_asked = 1;
			report(request, &dir, ring_dirs, code);
			if (request->part.dir)
				ct_run_part_end(&request->part, dir.path, ring_dirs,
						is_quiet(request));
		}
	}
	ct_watch_beside_end(&beside, 1, child.was_asked);
	ct_record_dir_close(&dir, ring_dirs);
	return code;
}

int ct_cmd_run(int argc, char **argv)
{
	struct run_request request = { 0 };
	struct ct_cli args;
	int code = ct_cli_parse(&args, CT_COMMAND_run, argc, argv);

	if (code >= 0)
		goto out;
	request.dir = ct_cli_text(&args, CT_OPTION_RUN_DIR);
	request.force = ct_cli_has(&args, CT_OPTION_RUN_FORCE);
	request.part.dir = ct_cli_text(&args, CT_OPTION_PARTIAL);
	request.part.force = request.force;
	request.program = args.program;
	request.watch.acts = 1;
	ct_watch_options(&args, &request.watch);
	code = read_settings(&args, &request.env);
	code = code ?: check_options(&args, &request);
	code = code ?: ct_part_keep(&args, &request.part.keep_ns);
	if (!code)
		code = run(&request);
out:
	ct_run_env_fini(&request.env);
	ct_cli_fini(&args);
	return code;
}
