/* SPDX-License-Identifier: Apache-2.0 */
/* Settings, directories and limits: would a recording find space? */
#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tools/commtrace/doctor/doctor.h"
#include "trace/limits.h"
#include "trace/ring_dir.h"
#include "trace/settings.h"

#define PREFIX "COMMTRACE_"
#define MB ((uint64_t)1 << 20) /* fact: bytes of one */

extern char **environ;

static int is_set_to(const char *name, const char *value)
{
	const char *set = getenv(name);

	return set && strcmp(set, value) == 0;
}

static void look_at_backends(struct ct_doctor *d, const char *backends)
{
	static const char *const known[][2] = { { "nccl", "NCCL" },
						{ "gloo", "Gloo" },
						{ "mpi", "MPI" } };
	char out[32] = "";

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t len = strlen(out);

		if (!ct_settings_lists(backends, known[i][0]))
			snprintf(out + len, sizeof(out) - len, "%s%s", len ? ", " : "",
				 known[i][1]);
	}
	if (out[0])
		ct_doctor_add(d, CT_DOCTOR_BACKENDS, CT_DOCTOR_PART,
			      "COMMTRACE_BACKENDS=%.80s leaves %s out", backends, out);
}

void ct_doctor_settings(struct ct_doctor *d)
{
	const char *backends = getenv(PREFIX "BACKENDS");
	size_t before = d->n_checks;
	struct ct_settings settings;
	struct ct_notes notes = { .n = 0 };

	if (is_set_to("COMMTRACE", "0"))
		ct_doctor_add(d, CT_DOCTOR_SWITCHED_OFF, CT_DOCTOR_NOTHING,
			      "COMMTRACE=0 switches recording off");
	ct_settings_read(&settings, environ, &notes);
	for (unsigned i = 0; i < notes.n; i++)
		ct_doctor_add(d, CT_DOCTOR_SETTINGS, CT_DOCTOR_PART, "%s", notes.text[i]);
	if (backends && backends[0])
		look_at_backends(d, backends);
	if (is_set_to(PREFIX "NO_DLSYM", "1"))
		ct_doctor_add_invisible(d, CT_DOCTOR_DLSYM_OFF, CT_DOCTOR_PART, "");
	if (d->n_checks == before)
		ct_doctor_add(d, CT_DOCTOR_SETTINGS, CT_DOCTOR_FINE,
			      "all COMMTRACE_ variables are known, and their values valid");
}

/* File systems of a run, by their number in statfs. */
static const char *kind_of(const char *path, int *is_shared)
{
	static const struct {
		unsigned long magic;
		const char *name;
		int is_shared;
	} kinds[] = {
		{ TMPFS_MAGIC, "tmpfs", 0 },	   { RAMFS_MAGIC, "ramfs", 0 },
		{ EXT4_SUPER_MAGIC, "ext4", 0 },   { XFS_SUPER_MAGIC, "xfs", 0 },
		{ BTRFS_SUPER_MAGIC, "btrfs", 0 }, { OVERLAYFS_SUPER_MAGIC, "overlay", 0 },
		{ NFS_SUPER_MAGIC, "nfs", 1 },	   { 0x0BD00BD0, "lustre", 1 },
		{ 0x47504653, "gpfs", 1 },	   { CEPH_SUPER_MAGIC, "ceph", 1 },
		{ FUSE_SUPER_MAGIC, "fuse", 1 },   { 0x19830326, "beegfs", 1 },
	};
	struct statfs fs;

	*is_shared = 0;
	if (statfs(path, &fs) != 0)
		return "?";
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if ((unsigned long)fs.f_type == kinds[i].magic) {
			*is_shared = kinds[i].is_shared;
			return kinds[i].name;
		}
	}
	return "another file system";
}

/* What is wrong with a directory for making files in it, NULL: nothing. */
static const char *wrong_with(const char *dir)
{
	struct stat st;

	if (stat(dir, &st) != 0)
		return strerror(errno);
	if (!S_ISDIR(st.st_mode))
		return "it is not a directory";
	return access(dir, W_OK | X_OK) == 0 ? NULL : strerror(errno);
}

static uint64_t ring_bytes(const struct ct_doctor *d)
{
	const char *text = ct_run_env_get(d->env, "RING_MB");
	double bytes = text ? strtod(text, NULL) * MB : 0;

	return bytes >= CT_RING_MIN_BYTES && bytes <= 1024 * MB ? (uint64_t)bytes : 4 * MB;
}

/* A ring uses at most half of the free space, and is created smaller if necessary. */
static enum ct_doctor_answer look_at_ring_dir(struct ct_doctor *d, const char *dir, uint64_t bytes)
{
	const char *wrong = wrong_with(dir);
	enum ct_doctor_answer answer;
	struct statvfs fs;
	uint64_t room;

	if (wrong || statvfs(dir, &fs) != 0) {
		ct_doctor_add(d, CT_DOCTOR_RING_DIR, CT_DOCTOR_PART, "%s cannot hold rings: %s",
			      dir, wrong ? wrong : strerror(errno));
		return CT_DOCTOR_NOTHING;
	}
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	/* 16 processes of one host, as a node with many GPUs has them */
	answer = room >= 16 * bytes		 ? CT_DOCTOR_FINE
		 : room >= 2 * CT_RING_MIN_BYTES ? CT_DOCTOR_PART
						 : CT_DOCTOR_NOTHING;
	ct_doctor_add(d, CT_DOCTOR_RING_DIR, answer == CT_DOCTOR_FINE ? answer : CT_DOCTOR_PART,
		      "%s has %llu MB left: room for %llu recorded processes with a ring of %llu "
		      "MB%s",
		      dir, (unsigned long long)(room / MB), (unsigned long long)(room / bytes),
		      (unsigned long long)(bytes / MB),
		      answer == CT_DOCTOR_FINE
			      ? ""
			      : "; those that come later get smaller ones, or none");
	return answer;
}

static void look_at_rings(struct ct_doctor *d)
{
	const char *ring_dir = ct_run_env_get(d->env, "RING_DIR"), *dirs[4];
	uint64_t bytes = ring_bytes(d);

	ct_ring_dirs(ring_dir && ring_dir[0] ? ring_dir : "/dev/shm", getenv("TMPDIR"), dirs);
	for (size_t i = 0; dirs[i]; i++)
		if (look_at_ring_dir(d, dirs[i], bytes) != CT_DOCTOR_NOTHING)
			return; /* the others are for when this one fails */
	ct_doctor_add(
		d, CT_DOCTOR_RING_DIR, CT_DOCTOR_PART,
		"no directory can hold a ring: what a process had not written yet when it was "
		"killed is lost");
}

/* The nearest one that is there: the rest is made when it is needed. */
static void existing(const char *dir, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s", dir);
	while (path[0] && access(path, F_OK) != 0) {
		char *slash = strrchr(path, '/');

		if (!slash || slash == path)
			snprintf(path, PATH_MAX, "%s", slash ? "/" : ".");
		else
			*slash = '\0';
	}
}

/* 1: a run can be made there. */
static int look_at_run_dir(struct ct_doctor *d, const char *dir, const char *name)
{
	char path[PATH_MAX];
	const char *wrong, *kind;
	int is_shared;

	existing(dir, path);
	wrong = wrong_with(path);
	if (wrong) {
		ct_doctor_add(d, CT_DOCTOR_RUN_DIR, CT_DOCTOR_PART, "%s %s cannot be used: %s",
			      name, dir, wrong);
		return 0;
	}
	kind = kind_of(path, &is_shared);
	ct_doctor_add(d, CT_DOCTOR_RUN_DIR, CT_DOCTOR_FINE, "%s %s can be written to (%s%s)", name,
		      dir, kind, is_shared ? ": each process appends to a file of its own" : "");
	return 1;
}

static void look_at_runs(struct ct_doctor *d)
{
	const char *dir = ct_run_env_get(d->env, "DIR"), *tmpdir = getenv("TMPDIR");
	char here[PATH_MAX];

	if (dir && dir[0] && look_at_run_dir(d, dir, "COMMTRACE_DIR"))
		return;
	if (getcwd(here, sizeof(here)) && look_at_run_dir(d, here, "the working directory"))
		return;
	if (tmpdir && tmpdir[0] == '/' && look_at_run_dir(d, tmpdir, "TMPDIR"))
		return;
	if (!look_at_run_dir(d, "/tmp", "the last resort"))
		ct_doctor_add(d, CT_DOCTOR_RUN_DIR, CT_DOCTOR_PART,
			      "no directory can be written to: records stay in the rings, and are "
			      "lost when those are full");
}

void ct_doctor_paths(struct ct_doctor *d)
{
	look_at_rings(d);
	look_at_runs(d);
}

/* Threads of this user, as RLIMIT_NPROC counts them; those of other pid namespaces are not seen. */
static unsigned long threads_of_user(void)
{
	DIR *proc = opendir("/proc");
	unsigned long threads = 0;
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		char path[300], line[256];
		unsigned long uid = ~0ul, n = 0;
		FILE *status;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/status", entry->d_name);
		status = fopen(path, "re");
		while (status && fgets(line, sizeof(line), status)) {
			if (strncmp(line, "Uid:", 4) == 0)
				uid = strtoul(line + 4, NULL, 10);
			else if (strncmp(line, "Threads:", 8) == 0)
				n = strtoul(line + 8, NULL, 10);
		}
		if (status)
			fclose(status);
		threads += uid == getuid() ? n : 0;
	}
	if (proc)
		closedir(proc);
	return threads;
}

/* The kernel does not hold root to this one. */
static void look_at_processes(struct ct_doctor *d)
{
	struct rlimit limit;
	unsigned long now;

	if (getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
	    geteuid() == 0)
		return;
	now = threads_of_user();
	/* the threads of 16 recorded processes, and as many of the job's own */
	if (limit.rlim_cur < now + 2 * 16 * 3)
		ct_doctor_add(
			d, CT_DOCTOR_PROCESSES, CT_DOCTOR_PART,
			"this user may have %llu threads and has %lu: a recorded process that "
			"cannot start its own three keeps its records in the ring only, and loses "
			"what "
			"does not fit there",
			(unsigned long long)limit.rlim_cur, now);
}

static void look_at_user_namespace(struct ct_doctor *d)
{
	unsigned long inside = 0, outside = 0, count = 0;
	FILE *map = fopen("/proc/self/uid_map", "re");

	if (map && fscanf(map, "%lu %lu %lu", &inside, &outside, &count) == 3 &&
	    !(inside == 0 && outside == 0 && count == 4294967295ul))
		ct_doctor_add(d, CT_DOCTOR_USER_NAMESPACE, CT_DOCTOR_UNKNOWN,
			      "this is a user namespace (user %u here is %lu outside): rings of "
			      "processes outside belong to another user and are not collected here",
			      getuid(), outside + (getuid() - inside));
	if (map)
		fclose(map);
}

/* As the library would judge them in a process that has them from here. Whether there are any. */
static int look_at_tight_limits(struct ct_doctor *d)
{
	static const enum ct_doctor_id ids[CT_LIMITS] = {
		[CT_LIMIT_ADDRESS_SPACE] = CT_DOCTOR_MEMORY,
		[CT_LIMIT_DATA] = CT_DOCTOR_MEMORY,
		[CT_LIMIT_FILES] = CT_DOCTOR_OPEN_FILES,
		[CT_LIMIT_THREADS] = CT_DOCTOR_PROCESSES,
		[CT_LIMIT_GROUP_MEMORY] = CT_DOCTOR_MEMORY,
		[CT_LIMIT_GROUP_THREADS] = CT_DOCTOR_PROCESSES,
	};
	char why[160];
	int found = 0;

	for (enum ct_limit limit = 0; limit < CT_LIMITS; limit++) {
		if (!ct_limit_is_tight(limit, why, sizeof(why)))
			continue;
		ct_doctor_add(d, ids[limit], CT_DOCTOR_NOTHING,
			      "the limit may be all that the program has: %s", why);
		found = 1;
	}
	return found;
}

void ct_doctor_limits(struct ct_doctor *d)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    limit.rlim_cur < 64 * MB)
		ct_doctor_add(d, CT_DOCTOR_FILE_SIZE,
			      limit.rlim_cur < ring_bytes(d) ? CT_DOCTOR_PART : CT_DOCTOR_UNKNOWN,
			      "files may have %llu bytes at most (RLIMIT_FSIZE), a ring needs %llu "
			      "and a segment 64 MB",
			      (unsigned long long)limit.rlim_cur,
			      (unsigned long long)ring_bytes(d));
	if (!look_at_tight_limits(d))
		look_at_processes(d);
	look_at_user_namespace(d);
}
