/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/metrics/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/base/arena.h"
#include "analyzer/link/peaks.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/this_host.h"
#include "trace/clock.h"
#include "trace/ring_dir.h"
#include "trace/ring_read.h"

#define SEARCH_NS (5 * CT_SECOND_NS)
/* Of a run that has ended, its last values are served so long: a scrape or two. */
#define LINGER_NS (120 * CT_SECOND_NS)
/* Of reading at once: others are to be served, too. */
#define SLICE_NS (CT_SECOND_NS / 2)

static int has(const struct ct_runs *runs, const char *path)
{
	for (unsigned i = 0; i < runs->n; i++) {
		if (strcmp(runs->all[i]->path, path) == 0)
			return 1;
	}
	return 0;
}

static void add(struct ct_runs *runs, const char *path)
{
	struct ct_watched_run *run;
	struct ct_live_options options = { .n_paths = 1,
					   .ring_dirs = runs->ring_dirs,
					   .boot_id = ct_host_boot_id() };

	if (runs->n == CT_RUNS || has(runs, path))
		return;
	run = calloc(1, sizeof(*run));
	if (!run)
		return;
	run->path = strdup(path);
	options.paths = (const char *const *)&run->path;
	run->live = run->path ? ct_live_open(&options) : NULL;
	if (run->live) {
		runs->all[runs->n++] = run;
		return;
	}
	free(run->path);
	free(run);
}

static int on_ring(const char *path, void *arg)
{
	struct ct_ring_header header;
	struct ct_err err;
	int lives;

	if (ct_ring_header_read(path, &header, &lives, &err) == CT_OK && lives &&
	    header.process.run_dir[0])
		add(arg, header.process.run_dir);
	return 0;
}

static void drop(struct ct_runs *runs, unsigned i)
{
	ct_live_close(runs->all[i]->live);
	free(runs->all[i]->path);
	free(runs->all[i]);
	runs->all[i] = runs->all[--runs->n];
}

static void search(struct ct_runs *runs)
{
	if (!runs->ring_dirs[0])
		ct_host_ring_dirs(NULL, runs->ring_dirs);
	if (runs->n_named) {
		for (size_t i = 0; i < runs->n_named; i++)
			add(runs, runs->named[i]);
		return;
	}
	if (runs->searched_ns && ct_clock_ns(CLOCK_MONOTONIC) - runs->searched_ns < SEARCH_NS)
		return;
	runs->searched_ns = ct_clock_ns(CLOCK_MONOTONIC);
	for (unsigned i = runs->n; i-- > 0;) {
		if (runs->all[i]->ended_ns &&
		    ct_clock_ns(CLOCK_MONOTONIC) - runs->all[i]->ended_ns > LINGER_NS)
			drop(runs, i);
	}
	ct_ring_dir_scan(runs->ring_dirs, on_ring, runs);
}

/* The same complaint once. */
static void complain(struct ct_runs *runs, const char *text)
{
	if (strncmp(runs->complaint, text, 150) == 0)
		return;
	snprintf(runs->complaint, sizeof(runs->complaint), "%.150s", text);
	ct_warn("cannot read the run: %s", text);
}

static void look_at_run(struct ct_runs *runs, struct ct_watched_run *run)
{
	struct ct_err err = { .text = "" };
	int st = ct_live_look(run->live, SLICE_NS, &run->view, &err);

	if (st != CT_OK)
		complain(runs, err.text[0] ? err.text : ct_status_text(st));
	if (!run->view || !run->view->has_ended)
		run->ended_ns = 0;
	else if (!run->ended_ns)
		run->ended_ns = ct_clock_ns(CLOCK_MONOTONIC);
}

static double peak_of(const struct ct_runs *runs, const struct ct_live_view *view)
{
	struct ct_arena *memory = ct_arena_new();
	struct ct_peak peak = { 0 };
	double Bps = runs->peak_Bps;

	if (!(Bps > 0) && memory && view->facts && ct_peak_gpu(view->facts, memory, &peak) == CT_OK)
		Bps = peak.Bps > 0 ? peak.Bps : 0;
	ct_arena_free(memory);
	return Bps;
}

static int has_labels(const struct ct_exposed_all *all, const char *labels)
{
	for (unsigned i = 0; i < all->n_runs; i++) {
		if (strcmp(all->runs[i].labels, labels) == 0)
			return 1;
	}
	return 0;
}

void ct_runs_look(struct ct_runs *runs, struct ct_exposed_run exposed[CT_RUNS],
		  struct ct_exposed_all *all)
{
	all->runs = exposed;
	all->n_runs = 0;
	all->is_behind = 0;
	search(runs);
	for (unsigned i = 0; i < runs->n; i++) {
		struct ct_watched_run *run = runs->all[i];
		struct ct_exposed_run *to = &exposed[all->n_runs];

		look_at_run(runs, run);
		if (!run->view)
			continue;
		/* sums that still grow at the speed of reading would be taken for the job's */
		all->is_behind |= run->view->is_behind;
		if (run->view->is_behind)
			continue;
		*to = (struct ct_exposed_run){ .view = run->view,
					       .peak_Bps = peak_of(runs, run->view) };
		ct_labels_of_run(run->view, to->labels);
		if (!has_labels(all, to->labels))
			all->n_runs++;
	}
}

void ct_runs_close(struct ct_runs *runs)
{
	while (runs->n)
		drop(runs, runs->n - 1);
}
