/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/run/record_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/commtrace/base/recording.h"
#include "tools/commtrace/base/say.h"

static int cannot_record(const char *path, const char *why)
{
	ct_say("cannot record: %s: %s", path, why);
	return -1;
}

/* A new directory of ours, or with a known job the one that its other hosts use. 0 or -1 with
 * errno. */
static int make_default(struct ct_record_dir *dir, const char *parent, const char *job)
{
	char name[160] = "commtrace-";
	time_t now = time(NULL);
	struct tm tm;
	size_t base;

	if (job)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "%s", job);
	else if (localtime_r(&now, &tm))
		strftime(name + strlen(name), sizeof(name) - strlen(name), "%Y%m%d-%H%M%S", &tm);
	base = strlen(name);
	for (int i = 2; i < 1000; i++) {
		if (snprintf(dir->path, sizeof(dir->path), "%s/%s", parent, name) >=
		    (int)sizeof(dir->path)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		dir->made = mkdir(dir->path, 0700) == 0;
		if (dir->made || (errno == EEXIST && job))
			return 0;
		if (errno != EEXIST)
			return -1;
		snprintf(name + base, sizeof(name) - base, "-%d", i); /* two within a second */
	}
	return -1;
}

static int choose(struct ct_record_dir *dir, const char *job)
{
	char here[PATH_MAX];
	const char *parents[] = { getcwd(here, sizeof(here)), getenv("TMPDIR"), "/tmp" };
	int first = 0;

	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		if (!parents[i] || parents[i][0] != '/')
			continue;
		if (make_default(dir, parents[i], job) == 0) {
			if (first)
				ct_warn("recording to %s: %s: %s", dir->path, here,
					strerror(first));
			/* Short where that is right: in the current directory. */
			dir->shown = i == 0 ? strrchr(dir->path, '/') + 1 : dir->path;
			return 0;
		}
		first = first ? first : errno;
	}
	return cannot_record("the current directory", strerror(first));
}

/* DIR of -o or COMMTRACE_DIR; absolute, since the program may change its directory. */
static int take_wanted(struct ct_record_dir *dir, const char *wanted)
{
	dir->shown = wanted;
	dir->made = mkdir(wanted, 0700) == 0;
	if (!dir->made && errno != EEXIST) {
		int missing = errno == ENOENT;

		cannot_record(wanted, strerror(errno));
		if (missing)
			ct_hint("the directory that it lies in must be there");
		return -1;
	}
	if (!realpath(wanted, dir->path))
		return cannot_record(wanted, strerror(errno));
	return 0;
}

int ct_record_dir_open(struct ct_record_dir *dir, const char *wanted, const char *job,
		       const char *const *ring_dirs, int force)
{
	char what[512];

	*dir = (struct ct_record_dir){ .fd = -1 };
	if ((wanted && wanted[0] ? take_wanted(dir, wanted) : choose(dir, job)) < 0)
		return -1;
	dir->fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir->fd < 0 || faccessat(AT_FDCWD, dir->path, W_OK | X_OK, AT_EACCESS) != 0) {
		cannot_record(dir->shown, strerror(errno));
		ct_record_dir_close(dir, ring_dirs);
		return -1;
	}
	if (force || dir->made || !ct_recording_of_another(dir->path, ring_dirs, job, what))
		return 0;
	ct_say("cannot record: %s holds another recording: %s", dir->shown, what);
	ct_hint("give another directory with -o, or --force to add this run to it as a "
		"restart");
	ct_record_dir_close(dir, ring_dirs);
	return -1;
}

void ct_record_dir_close(struct ct_record_dir *dir, const char *const *ring_dirs)
{
	char what[512];

	/* A ring elsewhere finds its run by this directory, not by its name. */
	if (dir->made && !ct_recording_of_another(dir->path, ring_dirs, NULL, what))
		rmdir(dir->path); /* fails unless it is empty */
	if (dir->fd >= 0)
		close(dir->fd);
	dir->fd = -1;
}
