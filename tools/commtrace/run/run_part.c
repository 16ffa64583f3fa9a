/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/run/run_part.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/commtrace/base/recording.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/copy/write_part.h"
#include "tools/commtrace/run/orphan_rings.h"
#include "trace/path.h"
#include "trace/text.h"

static int cannot_write(const char *path, const char *why)
{
	ct_say("cannot write a part: %s: %s", path, why);
	return -1;
}

int ct_run_part_begin(struct ct_run_part *part, const char *job, const char *run_dir)
{
	static const char *const no_rings[] = { NULL };
	char what[512], dir[PATH_MAX];
	struct stat st;

	if (mkdir(part->dir, 0700) != 0 && errno != EEXIST)
		return cannot_write(part->dir, strerror(errno));
	if (stat(part->dir, &st) == 0 && !S_ISDIR(st.st_mode))
		return cannot_write(part->dir, strerror(ENOTDIR));
	/* absolute, as the run's directory is */
	if (!realpath(part->dir, dir) || access(dir, W_OK | X_OK) != 0)
		return cannot_write(part->dir, strerror(errno));
	if (snprintf(part->path, sizeof(part->path), "%s/%s", dir, part->host) >=
	    (int)sizeof(part->path))
		return cannot_write(part->dir, strerror(ENAMETOOLONG));
	if (ct_path_is_same(part->path, run_dir))
		return cannot_write(part->path, "it is the directory of the run itself");
	if (part->force || !ct_recording_of_another(part->path, no_rings, job, what))
		return 0;
	cannot_write(part->path, what);
	ct_hint("give another directory with --partial, or --force to replace that part");
	return -1;
}

/* Which of them are to be in the part, and is that for another `commtrace run` to do? */
static uint32_t count(const struct ct_run *run, const char *host, int *is_left_to_another)
{
	uint32_t n = 0;

	for (size_t p = 0; p < run->n_processes; p++) {
		const struct ct_process_info *info = &run->processes[p];

		if (strcmp(info->id.host, host) != 0)
			continue;
		n++;
		*is_left_to_another |= info->end.how == CT_END_RUNNING &&
				       ct_is_of_another_run(&info->id);
	}
	return n;
}

/* How to do it by hand. */
static void hint_at_partial(const struct ct_run_part *part, const char *run_dir)
{
	char run[1024], path[1024];

	if (ct_text_quote(run, sizeof(run), run_dir) &&
	    ct_text_quote(path, sizeof(path), part->path))
		ct_hint("the run is in %s: commtrace partial %s -o %s", run, run, path);
}

void ct_run_part_end(const struct ct_run_part *part, const char *run_dir,
		     const char *const *ring_dirs, int quiet)
{
	const struct ct_part_wish wish = { .path = part->path,
					   .force = 1, /* it is this job's, or --force was given */
					   .keep_ns = part->keep_ns,
					   .share = { 1, 1 },
					   .host = part->host };
	const struct ct_run_options options = { .ring_dirs = ring_dirs };
	struct ct_err err = { .text = "" };
	struct ct_run *run = NULL;
	int left = 0, code = 0;
	char *line = NULL;
	int st = ct_run_open(&run_dir, 1, &options, &run, &err);

	if (st == CT_OK && !count(run, part->host, &left) && run->n_processes)
		code = cannot_write(part->path, "no process on record has this host's name");
	else if (st == CT_OK && !left)
		code = ct_write_part(run, &wish, &line);
	else if (st != CT_OK && st != CT_EMPTY) /* that nothing was recorded is said elsewhere */
		code = cannot_write(part->path, err.text);
	if (code)
		hint_at_partial(part, run_dir);
	else if (line && !quiet)
		ct_say("part %s", line);
	free(line);
	ct_run_close(run);
}
