/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/units.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/recording.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/signals.h"
#include "tools/commtrace/base/this_host.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/copy/collect_run.h"
#include "trace/ring_dir.h"
#include "trace/text.h"

static int cannot_collect(const char *path, const char *why)
{
	ct_say("cannot collect: %s: %s", path, why);
	return CT_CODE_FAILED;
}

/* Every dead ring into the run that it names. */
static int collect_all(const char *const *ring_dirs)
{
	struct ct_collected collected;

	ct_ring_dir_collect(ring_dirs, NULL, &collected);
	printf("moved %" PRIu32 " rings into their runs, removed %" PRIu32
	       " that held nothing more, kept %" PRIu32 "\n",
	       collected.moved, collected.removed, collected.kept);
	if (collected.kept)
		ct_warn("kept %s", collected.why_kept);
	return ct_stdout_close();
}

static int check_dirs(const struct ct_paths *dirs)
{
	struct stat st;

	for (size_t i = 0; i < dirs->n; i++) {
		if (stat(dirs->path[i], &st) != 0)
			return cannot_collect(dirs->path[i], strerror(errno));
		if (!S_ISDIR(st.st_mode))
			return cannot_collect(dirs->path[i], "not a directory");
	}
	return 0;
}

static int stop_at_first(const char *dir, const char *name, enum ct_recording_kind kind, void *arg)
{
	(void)dir;
	(void)name;
	(void)kind;
	(void)arg;
	return 1;
}

static int report(const struct ct_collect_run *collect, const struct ct_paths *dirs, int made)
{
	char to[PATH_MAX];

	if (collect->failed)
		return CT_CODE_FAILED;
	if (!collect->living && ct_recording_each(collect->to, stop_at_first, NULL) != 1) {
		if (made)
			rmdir(collect->to);
		ct_say("nothing recorded in %s%s: no segment, and no ring of this host belongs to "
		       "it",
		       dirs->path[0], dirs->n > 1 ? " and the other directories" : "");
		ct_hint("rings lie on the host of their process: collect there, while it is up");
		return CT_CODE_FAILED;
	}
	ct_text_clean(to, sizeof(to), collect->to, strlen(collect->to));
	printf("%s: %" PRIu32 " files new (%s), %" PRIu32 " already there; rings: %" PRIu32
	       " archived, %" PRIu32 " copied from living processes, %" PRIu32 " left to them\n",
	       to, collect->copied + collect->linked, ct_prose_bytes(collect->bytes).s,
	       collect->present, collect->archived, collect->snapshots, collect->living);
	return ct_stdout_close();
}

/* Everything of some directories into one. */
static int collect_into(const char *run, const struct ct_paths *dirs, const char *const *ring_dirs)
{
	struct ct_collect_run collect = { .ring_dirs = ring_dirs, .to = run };
	int made = mkdir(run, 0700) == 0, code;

	if (!made && errno != EEXIST)
		return cannot_collect(run, strerror(errno));
	collect.dirfd = open(run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (collect.dirfd < 0 || fstat(collect.dirfd, &collect.to_stat) != 0)
		return cannot_collect(run, strerror(errno));
	ct_signals_defer();
	for (size_t i = 0; i < dirs->n && !ct_signals_deferred(); i++)
		ct_collect_run_from(&collect, dirs->path[i]);
	close(collect.dirfd);
	code = ct_signals_deferred();
	return code ? code : report(&collect, dirs, made);
}

/* Without -o each directory is brought up to date by itself. */
static int collect_each(const struct ct_paths *dirs, const char *const *ring_dirs)
{
	int worst = 0;

	for (size_t i = 0; i < dirs->n; i++) {
		const struct ct_paths one = { .path = &dirs->path[i], .n = 1 };
		int code = collect_into(dirs->path[i], &one, ring_dirs);

		worst = code > worst ? code : worst;
	}
	return worst;
}

int ct_cmd_collect(int argc, char **argv)
{
	const char *ring_dirs[4], *run;
	struct ct_cli args;
	int code = ct_cli_parse(&args, CT_COMMAND_collect, argc, argv);

	if (code >= 0)
		goto out;
	run = ct_cli_text(&args, CT_OPTION_COLLECTION);
	ct_host_ring_dirs(NULL, ring_dirs);
	if (!args.paths.n && run)
		code = ct_usage("collect", "'collect' needs a DIR to bring into '%s'", run);
	else if (!args.paths.n)
		code = collect_all(ring_dirs);
	else
		code = check_dirs(&args.paths);
	if (code || !args.paths.n)
		goto out;
	if (run)
		code = collect_into(run, &args.paths, ring_dirs);
	else
		code = collect_each(&args.paths, ring_dirs);
out:
	ct_cli_fini(&args);
	return code;
}
