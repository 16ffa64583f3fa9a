/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for the files of a run: in what a person named, and in the ring directories of this host.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/path.h"
#include "trace/ring_dir.h"
#include "trace/ring_read.h"
#include "trace/run_files.h"
#include "trace/run_id.h"

/* ---- directories
 * ------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names of the files that may be ours. */
static int list(DIR *d, char ***names, size_t *n)
{
	size_t cap = 0;
	struct dirent *e;

	while ((e = readdir(d))) {
		if (ct_run_file_kind(e->d_name) == CT_RUN_OTHER)
			continue;
		if (ct_run_grow(names, *n, &cap, sizeof(**names)) != CT_OK)
			return CT_NOMEM;
		(*names)[*n] = strdup(e->d_name);
		if (!(*names)[*n])
			return CT_NOMEM;
		(*n)++;
	}
	if (*n)
		qsort(*names, *n, sizeof(**names), by_name);
	return CT_OK;
}

static int read_dir(struct ct_run_files *f, const char *path)
{
	size_t n = 0;
	char **names = NULL;
	const int len = (int)ct_path_len(path);
	DIR *d = opendir(path);
	int st;

	if (!d) {
		if (!f->first_err.status)
			ct_fail(&f->first_err, CT_IO, "%s: %s", path, strerror(errno));
		return ct_run_files_warn(f, "%s: %s", path, strerror(errno));
	}
	st = list(d, &names, &n);
	for (size_t i = 0; i < n && st == CT_OK; i++) {
		char *full;

		if (asprintf(&full, "%.*s/%s", len, path, names[i]) < 0) {
			st = CT_NOMEM;
			break;
		}
		st = ct_run_files_add_file(f, full, 0);
		free(full);
	}
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
	closedir(d);
	return st;
}

/* Remember a directory; 1 if it was known in this role. */
static int note_dir(struct ct_run_files *f, const char *path, const struct stat *st, int whole)
{
	for (size_t i = 0; i < f->n_dirs; i++) {
		if (f->dirs[i].dev != st->st_dev || f->dirs[i].ino != st->st_ino)
			continue;
		if (f->dirs[i].whole >= whole)
			return 1;
		f->dirs[i].whole = whole;
		return CT_OK;
	}
	if (ct_run_grow(&f->dirs, f->n_dirs, &f->cap_dirs, sizeof(*f->dirs)) != CT_OK)
		return CT_NOMEM;
	f->dirs[f->n_dirs] = (struct ct_run_dir){
		.path = strdup(path),
		.dev = st->st_dev,
		.ino = st->st_ino,
		.uid = st->st_uid,
		.whole = whole,
	};
	ct_run_id_get(AT_FDCWD, path, &f->dirs[f->n_dirs].id);
	return f->dirs[f->n_dirs].path ? (f->n_dirs++, CT_OK) : CT_NOMEM;
}

int ct_run_files_add(struct ct_run_files *f, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat sb;
	char *parent;
	int st;

	if (stat(path, &sb) != 0) {
		if (!f->first_err.status)
			ct_fail(&f->first_err, CT_IO, "%s: %s", path, strerror(errno));
		return ct_run_files_warn(f, "%s: %s", path, strerror(errno));
	}
	if (S_ISDIR(sb.st_mode)) {
		st = note_dir(f, path, &sb, 1);
		return st == CT_OK ? read_dir(f, path) : st < 0 ? st : CT_OK;
	}
	parent = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	if (!parent)
		return CT_NOMEM;
	st = stat(parent, &sb) == 0 ? note_dir(f, parent, &sb, 0) : CT_OK;
	free(parent);
	return st < 0 ? st : ct_run_files_add_file(f, path, 1);
}

/* ---- rings of this host
 * ------------------------------------------------------------------------------ */

/* A process that has no segment yet: here is where its first one appears. */
static int set_dir(struct ct_run_files *f, const struct ct_process *id, const char *dir)
{
	struct ct_process_files *p = ct_run_files_find(f, id);

	if (!p || p->dir)
		return CT_OK;
	p->dir = strdup(dir);
	return p->dir ? CT_OK : CT_NOMEM;
}

static int each_ring(const char *path, void *arg)
{
	struct ct_run_files *f = arg;
	struct ct_ring_header h;
	int lives, st;

	/* not a ring, or of another run: ignored */
	if (ct_ring_header_read(path, &h, &lives, NULL) != CT_OK)
		return CT_OK;
	for (size_t i = 0; i < f->n_dirs; i++)
		if (ct_run_id_same(&f->dirs[i].id, &h.process.run) &&
		    (f->dirs[i].whole || ct_run_files_find(f, &h.process))) {
			st = ct_run_files_add_ring(f, path, &h, lives, CT_RING_PRESENT);
			return st == CT_OK && f->dirs[i].whole
				       ? set_dir(f, &h.process, f->dirs[i].path)
				       : st;
		}
	return CT_OK;
}

int ct_run_files_add_rings(struct ct_run_files *f, const char *const *ring_dirs)
{
	uid_t me = geteuid();
	int st = ct_ring_dir_scan_of(ring_dirs, me, each_ring, f);

	/* root looks into other people's runs: then the rings of the directories' owners count */
	for (size_t i = 0; i < f->n_dirs && st == CT_OK; i++) {
		int known = f->dirs[i].uid == me;

		for (size_t k = 0; k < i; k++)
			known |= f->dirs[k].uid == f->dirs[i].uid;
		if (!known)
			st = ct_ring_dir_scan_of(ring_dirs, f->dirs[i].uid, each_ring, f);
	}
	return st;
}
