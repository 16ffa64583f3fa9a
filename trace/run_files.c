/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/run_files.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/mix.h"
#include "trace/path.h"
#include "trace/ring_dir.h"
#include "trace/ring_read.h"
#include "trace/segment.h"

/* size: more than a reader of the report needs; how many more there were is counted. */
#define MAX_WARNINGS 1000

int ct_run_grow(void *array, size_t n, size_t *cap, size_t size)
{
	void **p = array;
	size_t want = *cap ? *cap * 2 : 16;
	void *grown;

	if (n < *cap)
		return CT_OK;
	grown = reallocarray(*p, want, size);
	if (!grown)
		return CT_NOMEM;
	*p = grown;
	*cap = want;
	return CT_OK;
}

int ct_run_files_warn(struct ct_run_files *f, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	if (f->n_warnings >= MAX_WARNINGS) {
		f->unsaid++;
		return CT_OK;
	}
	if (ct_run_grow(&f->warnings, f->n_warnings, &f->cap_warnings, sizeof(*f->warnings)) !=
	    CT_OK)
		return CT_NOMEM;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	f->warnings[f->n_warnings] = strdup(text);
	return f->warnings[f->n_warnings] ? (f->n_warnings++, CT_OK) : CT_NOMEM;
}

/* ---- processes by identity
 * --------------------------------------------------------------------------- */

static size_t hash(const struct ct_process *id, size_t size)
{
	uint64_t h = id->hostkey ^ id->start_ns * CT_GOLDEN ^ (uint64_t)id->pid << 32;

	h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9ull;
	return (size_t)(h ^ h >> 32) & (size - 1);
}

static int is_same(const struct ct_process *a, const struct ct_process *b)
{
	return a->hostkey == b->hostkey && a->pid == b->pid && a->start_ns == b->start_ns;
}

struct ct_process_files *ct_run_files_find(const struct ct_run_files *f,
					   const struct ct_process *id)
{
	for (size_t i = f->n_index ? hash(id, f->n_index) : 0; f->n_index && f->index[i];
	     i = (i + 1) & (f->n_index - 1))
		if (is_same(&f->processes[f->index[i] - 1].id, id))
			return &f->processes[f->index[i] - 1];
	return NULL;
}

static int reindex(struct ct_run_files *f)
{
	size_t size = f->n_index ? f->n_index * 2 : 64;
	uint32_t *index = calloc(size, sizeof(*index));

	if (!index)
		return CT_NOMEM;
	for (size_t k = 0; k < f->n_processes; k++) {
		size_t i = hash(&f->processes[k].id, size);

		while (index[i])
			i = (i + 1) & (size - 1);
		index[i] = (uint32_t)k + 1;
	}
	free(f->index);
	f->index = index;
	f->n_index = size;
	return CT_OK;
}

/* The entry of this process, created if missing; NULL: out of memory. */
static struct ct_process_files *entry_of(struct ct_run_files *f, const struct ct_process *id)
{
	struct ct_process_files *p = ct_run_files_find(f, id);
	size_t i;

	if (p)
		return p;
	if (f->n_processes * 2 >= f->n_index && reindex(f) != CT_OK)
		return NULL;
	if (ct_run_grow(&f->processes, f->n_processes, &f->cap_processes, sizeof(*f->processes)) !=
	    CT_OK)
		return NULL;
	p = &f->processes[f->n_processes++];
	memset(p, 0, sizeof(*p));
	p->id = *id;
	for (i = hash(id, f->n_index); f->index[i]; i = (i + 1) & (f->n_index - 1))
		;
	f->index[i] = (uint32_t)f->n_processes;
	return p;
}

/* ---- single files
 * ------------------------------------------------------------------------------------ */

static int set_dir(struct ct_process_files *p, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!p->dir)
		p->dir = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
	return p->dir ? CT_OK : CT_NOMEM;
}

/* The same segment was found before: keep the longer file, a shorter one is a copy made earlier. */
static int add_twice(struct ct_run_files *f, struct ct_segment_file *had, const char *path,
		     const struct stat *st)
{
	char *copy;
	int why;

	if (had->dev == st->st_dev && had->ino == st->st_ino)
		return CT_OK;
	if ((uint64_t)st->st_size <= had->bytes)
		return ct_run_files_warn(f, "%s: the same segment as %s: read once", path,
					 had->path);
	why = ct_run_files_warn(f, "%s: the same segment as %s: read once", had->path, path);
	copy = strdup(path);
	if (!copy)
		return CT_NOMEM;
	free(had->path);
	had->path = copy;
	had->bytes = (uint64_t)st->st_size;
	had->dev = st->st_dev;
	had->ino = st->st_ino;
	return why;
}

static int add_segment(struct ct_run_files *f, const char *path, struct ct_err *err)
{
	struct ct_segment_reader *reader;
	struct ct_segment_header h;
	struct ct_process_files *p;
	struct stat sb = { 0 };
	int st = ct_segment_open_read(path, &reader, err);

	if (st != CT_OK)
		return st;
	h = *ct_segment_header(reader);
	ct_segment_close_read(reader);
	stat(path, &sb);
	p = entry_of(f, &h.process);
	if (!p || set_dir(p, path) != CT_OK ||
	    ct_run_grow(&p->segments, p->n_segments, &p->cap_segments, sizeof(*p->segments)) !=
		    CT_OK)
		return CT_NOMEM;
	for (size_t i = 0; i < p->n_segments; i++)
		if (p->segments[i].number == h.number)
			return add_twice(f, &p->segments[i], path, &sb);
	p->segments[p->n_segments] = (struct ct_segment_file){
		.path = strdup(path),
		.dev = sb.st_dev,
		.ino = sb.st_ino,
		.bytes = (uint64_t)sb.st_size,
		.number = h.number,
		.flags = h.flags,
	};
	return p->segments[p->n_segments].path ? (p->n_segments++, CT_OK) : CT_NOMEM;
}

static int set_ring(struct ct_process_files *p, const char *path, const struct ct_ring_header *h,
		    int lives, enum ct_ring_found found)
{
	char *copy = strdup(path);

	if (!p->ring)
		p->ring = malloc(sizeof(*p->ring));
	if (!copy || !p->ring) {
		free(copy);
		return CT_NOMEM;
	}
	free(p->ring_path);
	p->ring_path = copy;
	memcpy(p->ring, h, sizeof(*h));
	p->ring_lives = lives;
	p->found = found;
	return CT_OK;
}

int ct_run_files_add_ring(struct ct_run_files *f, const char *path, const struct ct_ring_header *h,
			  int lives, enum ct_ring_found found)
{
	struct ct_process_files *p = entry_of(f, &h->process);

	if (!p)
		return CT_NOMEM;
	if (!p->ring_path || (p->found == CT_RING_ARCHIVED && found == CT_RING_PRESENT))
		return set_ring(p, path, h, lives, found);
	if (p->found != found || ct_path_is_same(path, p->ring_path))
		return CT_OK;
	return ct_run_files_warn(f, "%s: the same ring as %s: read once", path, p->ring_path);
}

static int add_ring(struct ct_run_files *f, const char *path, struct ct_err *err)
{
	struct ct_process_files *p;
	struct ct_ring_header h;
	uint32_t pidns, pid;
	int lives;
	int st = ct_ring_header_read(path, &h, &lives, err);

	if (st != CT_OK)
		return st;
	st = ct_run_files_add_ring(f, path, &h, lives,
				   ct_ring_name_parse(ct_path_name(path), &pidns, &pid)
					   ? CT_RING_PRESENT
					   : CT_RING_ARCHIVED);
	p = st == CT_OK ? ct_run_files_find(f, &h.process) : NULL;
	return p ? set_dir(p, path) : st;
}

enum ct_run_file_kind ct_run_file_kind(const char *name)
{
	if (ct_path_ends_with(name, ".seg"))
		return CT_RUN_SEGMENT;
	return ct_path_ends_with(name, ".ring") || ct_path_ends_with(name, ".ring.zst")
		       ? CT_RUN_RING
		       : CT_RUN_OTHER;
}

static int skip_file(struct ct_run_files *f, const char *path, int status, const char *why)
{
	struct ct_skipped_file *skipped;

	if (!f->first_err.status)
		ct_fail(&f->first_err, status, "%s", why);
	if (ct_run_grow(&f->skipped, f->n_skipped, &f->cap_skipped, sizeof(*f->skipped)) != CT_OK)
		return CT_NOMEM;
	skipped = &f->skipped[f->n_skipped++];
	*skipped = (struct ct_skipped_file){ strdup(path), strdup(why), status };
	if (!skipped->path || !skipped->why)
		return CT_NOMEM;
	return ct_run_files_warn(f, "%s", why);
}

static int is_unborn(const char *path)
{
	struct stat sb;

	return stat(path, &sb) == 0 && S_ISREG(sb.st_mode) &&
	       (uint64_t)sb.st_size < sizeof(struct ct_segment_header);
}

/* Whether a segment without a header is worth a word is known when all processes are. */
static int defer(struct ct_run_files *f, const char *path, const char *why)
{
	struct ct_unborn_file *u;

	if (ct_run_grow(&f->unborn, f->n_unborn, &f->cap_unborn, sizeof(*f->unborn)) != CT_OK)
		return CT_NOMEM;
	u = &f->unborn[f->n_unborn];
	u->path = strdup(path);
	u->why = strdup(why);
	if (!u->path || !u->why) {
		free(u->path);
		free(u->why);
		return CT_NOMEM;
	}
	f->n_unborn++;
	return CT_OK;
}

/* The next segment of a process is normal, anything else is not. */
static int report_unborn(struct ct_run_files *f)
{
	int st = CT_OK;

	for (size_t i = 0; i < f->n_unborn && st == CT_OK; i++) {
		const char *slash = strrchr(f->unborn[i].path, '/');
		char name[CT_SEGMENT_NAME_MAX];
		int known = 0;

		for (size_t k = 0; slash && k < f->n_processes && !known; k++) {
			const struct ct_process_files *p = &f->processes[k];
			size_t n = p->n_segments;

			ct_segment_name(name, &p->id, n ? p->segments[n - 1].number + 1 : 0);
			known = strcmp(name, slash + 1) == 0;
		}
		if (!known)
			st = skip_file(f, f->unborn[i].path, CT_FORMAT, f->unborn[i].why);
	}
	return st;
}

int ct_run_files_add_file(struct ct_run_files *f, const char *path, int named)
{
	struct ct_err err = { 0 };
	int st;

	switch (ct_run_file_kind(path)) {
	case CT_RUN_SEGMENT:
		st = add_segment(f, path, &err);
		break;
	case CT_RUN_RING:
		st = add_ring(f, path, &err);
		break;
	default:
		st = add_segment(f, path, &err);
		if (st == CT_FORMAT)
			st = add_ring(f, path, &err);
		if (st == CT_FORMAT)
			ct_fail(&err, st, "%s: neither a commtrace segment nor a ring", path);
		break;
	}
	if (st == CT_OK || st == CT_NOMEM)
		return st;
	if (st == CT_NOTFOUND && !named)
		return CT_OK; /* removed since it was listed: a process keeps within its MAX_BYTES */
	if (st == CT_FORMAT && !named && ct_run_file_kind(path) == CT_RUN_SEGMENT &&
	    is_unborn(path))
		return defer(f, path, err.text);
	/* the header may have been written between the two looks */
	if (st == CT_FORMAT && ct_run_file_kind(path) == CT_RUN_SEGMENT)
		st = add_segment(f, path, &err);
	if (st == CT_OK || st == CT_NOMEM)
		return st;
	return skip_file(f, path, st, err.text);
}

/* ---- end
 * --------------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	uint32_t na = ((const struct ct_segment_file *)a)->number;
	uint32_t nb = ((const struct ct_segment_file *)b)->number;

	return na < nb ? -1 : na > nb;
}

static int by_host_and_rank(const void *a, const void *b)
{
	const struct ct_process *pa = &((const struct ct_process_files *)a)->id;
	const struct ct_process *pb = &((const struct ct_process_files *)b)->id;
	int host = strcmp(pa->host, pb->host);

	if (host)
		return host;
	if (pa->rank != pb->rank)
		return pa->rank < pb->rank ? -1 : 1;
	if (pa->start_ns != pb->start_ns)
		return pa->start_ns < pb->start_ns ? -1 : 1;
	return pa->pid < pb->pid ? -1 : pa->pid > pb->pid;
}

/* One warning for each job beside the first. */
static int warn_jobs(struct ct_run_files *f)
{
	const char *first = f->n_processes ? f->processes[0].id.job : "";
	const char *last = first;
	int st = CT_OK;

	for (size_t i = 1; i < f->n_processes && st == CT_OK; i++) {
		const char *job = f->processes[i].id.job;
		int known = strcmp(job, first) == 0 || strcmp(job, last) == 0;

		for (size_t k = 1; k < i && !known; k++)
			known = strcmp(job, f->processes[k].id.job) == 0;
		if (!known)
			st = ct_run_files_warn(
				f, "processes of two jobs, \"%s\" and \"%s\", are read as one run",
				first, job);
		last = job;
	}
	return st;
}

int ct_run_files_finish(struct ct_run_files *f)
{
	int st;

	for (size_t i = 0; i < f->n_processes; i++)
		if (f->processes[i].n_segments)
			qsort(f->processes[i].segments, f->processes[i].n_segments,
			      sizeof(*f->processes[i].segments), by_number);
	if (f->n_processes)
		qsort(f->processes, f->n_processes, sizeof(*f->processes), by_host_and_rank);
	free(f->index); /* the order has changed */
	f->index = NULL;
	f->n_index = 0;
	st = report_unborn(f);
	if (st == CT_OK)
		st = warn_jobs(f);
	if (st == CT_OK && f->unsaid && f->n_warnings) {
		free(f->warnings[--f->n_warnings]);
		st = asprintf(&f->warnings[f->n_warnings], "and %zu more", f->unsaid + 1) < 0
			     ? CT_NOMEM
			     : CT_OK;
		f->n_warnings += st == CT_OK;
	}
	return st;
}

void ct_run_files_free(struct ct_run_files *f)
{
	for (size_t i = 0; i < f->n_processes; i++) {
		struct ct_process_files *p = &f->processes[i];

		for (size_t k = 0; k < p->n_segments; k++)
			free(p->segments[k].path);
		free(p->segments);
		free(p->dir);
		free(p->ring_path);
		free(p->ring);
	}
	for (size_t i = 0; i < f->n_unborn; i++) {
		free(f->unborn[i].path);
		free(f->unborn[i].why);
	}
	for (size_t i = 0; i < f->n_skipped; i++) {
		free(f->skipped[i].path);
		free(f->skipped[i].why);
	}
	for (size_t i = 0; i < f->n_dirs; i++)
		free(f->dirs[i].path);
	for (size_t i = 0; i < f->n_warnings; i++)
		free(f->warnings[i]);
	free(f->processes);
	free(f->index);
	free(f->dirs);
	free(f->unborn);
	free(f->skipped);
	free(f->warnings);
	memset(f, 0, sizeof(*f));
}
