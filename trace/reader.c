/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/run_files.h"

/* By the kernel's identity of a process, then by time: programs that one process ran are neighbors.
 */
static int by_kernel(const void *a, const void *b)
{
	const struct ct_process *x = &(*(const struct ct_process_files *const *)a)->id;
	const struct ct_process *y = &(*(const struct ct_process_files *const *)b)->id;
	const uint64_t kx[] = { x->hostkey, x->pidns, x->pid, x->start_ticks, x->start_ns };
	const uint64_t ky[] = { y->hostkey, y->pidns, y->pid, y->start_ticks, y->start_ns };

	for (int i = 0; i < 5; i++)
		if (kx[i] != ky[i])
			return kx[i] < ky[i] ? -1 : 1;
	return 0;
}

static int is_same_process(const struct ct_process *a, const struct ct_process *b)
{
	return a->start_ticks && a->hostkey == b->hostkey && a->pidns == b->pidns &&
	       a->pid == b->pid && a->start_ticks == b->start_ticks;
}

static int fill_ends(struct ct_run *run, int look_here)
{
	const struct ct_run_files *f = run->files;
	const struct ct_process_files **sorted = calloc(f->n_processes, sizeof(*sorted));
	int st = sorted ? CT_OK : CT_NOMEM;

	for (size_t i = 0; st == CT_OK && i < f->n_processes; i++)
		sorted[i] = &f->processes[i];
	if (st == CT_OK)
		qsort(sorted, f->n_processes, sizeof(*sorted), by_kernel);
	for (size_t i = 0; st == CT_OK && i < f->n_processes; i++) {
		const struct ct_process_files *p = sorted[i];
		uint64_t replaced_ns = 0;

		if (i + 1 < f->n_processes && is_same_process(&p->id, &sorted[i + 1]->id))
			replaced_ns = sorted[i + 1]->id.start_ns;
		st = ct_run_process_end(p, replaced_ns, look_here,
					&run->processes[p - f->processes]);
	}
	free(sorted);
	return st;
}

static int fill(struct ct_run *run, int look_here)
{
	const struct ct_run_files *f = run->files;

	run->warnings = f->warnings;
	run->n_warnings = f->n_warnings;
	run->skipped = f->skipped;
	run->n_skipped = f->n_skipped;
	run->processes = calloc(f->n_processes, sizeof(*run->processes));
	if (!run->processes)
		return CT_NOMEM;
	run->n_processes = f->n_processes;
	for (size_t i = 0; i < f->n_processes; i++) {
		const struct ct_process_files *p = &f->processes[i];
		struct ct_process_info *info = &run->processes[i];

		info->id = p->id;
		info->n_segments = (uint32_t)p->n_segments;
		for (size_t k = 0; k < p->n_segments; k++) {
			info->segment_bytes += p->segments[k].bytes;
			info->is_thinned |= (p->segments[k].flags & CT_SEGMENT_THINNED) != 0;
		}
		info->ring = p->found;
		if (p->ring_path)
			snprintf(info->ring_path, sizeof(info->ring_path), "%s", p->ring_path);
	}
	return fill_ends(run, look_here);
}

int ct_run_open(const char *const *paths, size_t n_paths, const struct ct_run_options *options,
		struct ct_run **out, struct ct_err *err)
{
	const char *const *ring_dirs = options ? options->ring_dirs : NULL;
	struct ct_run *run = calloc(1, sizeof(*run));
	int st = CT_OK;

	*out = NULL;
	if (!run || !(run->files = calloc(1, sizeof(*run->files)))) {
		free(run);
		return ct_fail(err, CT_NOMEM, "out of memory");
	}
	for (size_t i = 0; i < n_paths && st == CT_OK; i++)
		st = ct_run_files_add(run->files, paths[i]);
	if (st == CT_OK && ring_dirs)
		st = ct_run_files_add_rings(run->files, ring_dirs);
	if (st == CT_OK)
		st = ct_run_files_finish(run->files);
	if (st == CT_OK && run->files->n_processes)
		st = fill(run, ring_dirs != NULL);
	if (st != CT_OK) {
		ct_fail(err, st, "out of memory");
	} else if (!run->files->n_processes && run->files->first_err.status) {
		st = ct_fail(err, run->files->first_err.status, "%s", run->files->first_err.text);
	} else if (!run->files->n_processes) {
		st = ct_fail(err, CT_EMPTY, "%s: no recording in it",
			     n_paths ? paths[0] : "no path");
	}
	if (st != CT_OK) {
		ct_run_close(run);
		return st;
	}
	*out = run;
	return CT_OK;
}

void ct_run_close(struct ct_run *run)
{
	if (!run)
		return;
	ct_run_files_free(run->files);
	free(run->files);
	free(run->processes);
	free(run);
}
