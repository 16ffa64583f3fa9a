/* SPDX-License-Identifier: Apache-2.0 */
/* The program itself, recorded for a look: what the loader did with calls that are bound while it
 * runs shows only then. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/commtrace/base/child.h"
#include "tools/commtrace/base/open_run.h"
#include "tools/commtrace/base/this_host.h"
#include "tools/commtrace/doctor/doctor.h"
#include "trace/invisible.h"
#include "trace/ring_dir.h"
#include "trace/run_id.h"

/* Its standard output is not the doctor's. */
static int prepare(void *arg)
{
	return dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ? -1 : ct_run_env_apply(arg);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

/* What the library itself has found in the running process. */
static void report_unseen(struct ct_doctor *d, const struct ct_report_invisible *unseen)
{
	for (int i = 0; i < CT_INVISIBLE_COUNT; i++)
		if (strcmp(unseen->what, ct_invisible_rows[i].what) == 0)
			ct_doctor_add(d, ct_doctor_of(i), CT_DOCTOR_PART, "in the run: %s: %s",
				      unseen->what, unseen->why);
}

static void report_run(struct ct_doctor *d, const char *dir)
{
	const char *ring_dirs[4];
	struct ct_run_options options = { .ring_dirs = ring_dirs };
	struct ct_report *report = NULL;
	const struct ct_paths paths = { .path = &dir, .n = 1 };
	struct ct_run *run = NULL;
	struct ct_err err = { 0 };
	uint64_t ops = 0;
	int status;

	ct_host_ring_dirs(NULL, ring_dirs);
	/* Not ct_open_run(): what that says names a directory that is gone in a moment. */
	status = ct_run_open(paths.path, paths.n, &options, &run, &err);
	if (status == CT_OK && ct_open_report(&paths, run, &report) == 0) {
		for (size_t i = 0; i < report->n_ranks; i++)
			ops += report->ranks[i].ops;
		ct_doctor_add(d, CT_DOCTOR_RUN, ops ? CT_DOCTOR_FINE : CT_DOCTOR_NOTHING,
			      "%zu processes and %" PRIu64 " operations were recorded",
			      run->n_processes, ops);
		for (size_t i = 0; i < report->n_invisible; i++)
			report_unseen(d, &report->invisible[i]);
	} else if (status == CT_EMPTY) {
		ct_doctor_add(d, CT_DOCTOR_RUN, CT_DOCTOR_NOTHING,
			      "the program ran, and nothing was recorded");
	} else {
		ct_doctor_add(d, CT_DOCTOR_RUN, CT_DOCTOR_NOTHING,
			      "the program ran, and what was recorded cannot be read: %s",
			      ct_status_text(status));
	}
	ct_report_free(report);
	ct_run_close(run);
}

static void run_in(struct ct_doctor *d, char **argv, const char *dir)
{
	const char *ring_dirs[4];
	struct ct_run_env env = *d->env;
	struct ct_child child = {
		.argv = argv, .prepare = prepare, .arg = &env, .ring_dirs = ring_dirs
	};
	struct ct_collected collected;
	struct ct_run_id id;

	env.settings = NULL; /* of its own: they are added to */
	env.n_settings = 0;
	ct_host_ring_dirs(ct_run_env_get(&env, "RING_DIR"), ring_dirs);
	if (ct_run_env_add(&env, "DIR", dir) == 0 && ct_run_env_add(&env, "QUIET", "1") == 0 &&
	    ct_child_run(&child) == 0) {
		if (child.exec_error) {
			ct_doctor_add(d, CT_DOCTOR_RUN, CT_DOCTOR_NOTHING, "%s: %s", argv[0],
				      strerror(child.exec_error));
		} else {
			if (ct_run_id_get(AT_FDCWD, dir, &id) == CT_OK)
				ct_ring_dir_collect(ring_dirs, &id, &collected);
			report_run(d, dir);
		}
	} else {
		d->failed = 1;
	}
	ct_run_env_fini(&env);
}

void ct_doctor_run(struct ct_doctor *d, char **argv)
{
	const char *tmpdir = getenv("TMPDIR");
	char dir[PATH_MAX];

	if (!d->library[0])
		return;
	snprintf(dir, sizeof(dir), "%s/commtrace-doctor.XXXXXX",
		 tmpdir && tmpdir[0] ? tmpdir : "/tmp");
	if (!mkdtemp(dir)) {
		ct_doctor_add(d, CT_DOCTOR_RUN, CT_DOCTOR_UNKNOWN, "%s: %s", dir, strerror(errno));
		return;
	}
	run_in(d, argv, dir);
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
