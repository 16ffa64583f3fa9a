/* SPDX-License-Identifier: Apache-2.0 */
/* One rank of a process: its group, its lanes in it, its bandwidths. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/timeline/draw_process.h"

#include "analyzer/base/sort.h"

CT_SORT_BY(by_comm, struct ct_bandwidth_level, CT_UP(comm) ?: CT_UP(begin_ns))

/* One counter for each communicator: the value from begin to end, 0 in between. What overlaps
 * begins later. */
int ct_draw_levels(struct ct_drawing *x)
{
	int32_t order = 0;
	int st = CT_OK;

	qsort(x->levels, x->n_levels, sizeof(*x->levels), by_comm);
	for (uint32_t from = 0, to; from < x->n_levels && st == CT_OK; from = to) {
		char name[160];
		struct ct_timeline_track track = { .parent = x->group,
						   .name = name,
						   .order = CT_ORDER_COUNTERS + order++,
						   .kind = CT_TRACK_COUNTER };
		uint64_t reached = 0;

		snprintf(name, sizeof(name), "%.120s busbw",
			 ct_drawing_label(x, x->levels[from].comm));
		st = ct_pen_track(x->pen, &track);
		for (to = from; to < x->n_levels && x->levels[to].comm == x->levels[from].comm;
		     to++) {
			const struct ct_bandwidth_level *l = &x->levels[to];
			uint64_t begin = l->begin_ns > reached ? l->begin_ns : reached;

			if (st != CT_OK || l->end_ns <= begin)
				continue;
			st = ct_pen_counter(x->pen, track.id, begin, l->gbps);
			st = st ?: ct_pen_counter(x->pen, track.id, l->end_ns, 0);
			reached = l->end_ns;
		}
	}
	return st;
}

static int64_t gpu_of(const struct ct_drawing *x)
{
	int64_t gpu = -1;

	for (uint32_t i = 0; i < x->d->n_works; i++) {
		const struct ct_drawn_work *w = &x->d->works[i];

		if (!w->on_gpu || w->local != x->local)
			continue;
		if (gpu >= 0 && gpu != w->device)
			return -2;
		gpu = w->device;
	}
	return gpu;
}

/* Processes of the rank, in which lanes of one name must be distinguished. */
static uint32_t processes_of(const struct ct_timeline_index *tl_index, uint32_t slot)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < tl_index->n_processes; p++)
		n += tl_index->processes[p].drawn && tl_index->processes[p].slot == slot;
	return n;
}

static int has_something(const struct ct_drawing *x)
{
	for (uint32_t o = 0; o < x->d->n_ops; o++) {
		if (x->d->ops[o].local == x->local)
			return 1;
	}
	for (uint32_t c = 0; c < x->d->n_calls && !x->local; c++) {
		if (!x->d->calls[c].gone)
			return 1;
	}
	return 0;
}

static int draw_rank(struct ct_drawing *x, uint32_t parent)
{
	uint32_t slot = ct_timeline_index_slot(x->pen->tl_index, x->d->process, x->local);
	int st = CT_OK;

	if (!has_something(x))
		return CT_OK;
	x->rank = x->pen->tl_index->slots[slot].rank;
	x->gpu = gpu_of(x);
	if (processes_of(x->pen->tl_index, slot) > 1)
		snprintf(x->pid, sizeof(x->pid), "pid %" PRIu32 " ", x->d->info->id.pid);
	if (!x->group) {
		const struct ct_draw_rank own = { .slot = slot,
						  .pid = x->d->info->id.pid,
						  .host = x->d->seen->host,
						  .gpu = x->gpu };

		st = ct_draw_rank(x->pen, &own, parent, &x->group);
	}
	st = st ?: ct_draw_works(x);
	st = st ?: ct_draw_threads(x);
	return st == CT_OK ? ct_draw_levels(x) : st;
}

int ct_draw_process(struct ct_pen *pen, const struct ct_drawn *d, uint32_t parent, uint32_t *group)
{
	size_t most = (size_t)d->n_ops + d->n_calls;
	struct ct_lane_item *items;
	struct ct_bandwidth_level *levels;
	int st = CT_OK;

	most = most > d->n_works ? most : d->n_works;
	items = calloc(most + 1, sizeof(*items));
	levels = calloc((size_t)d->n_works + 1, sizeof(*levels));
	pen->result->not_drawn += d->unmeasured;
	if (!items || !levels)
		st = CT_NOMEM;
	for (uint32_t local = 0; local < d->n_locals && st == CT_OK; local++) {
		struct ct_drawing x = { .pen = pen,
					.d = d,
					.local = local,
					.group = local ? 0 : *group,
					.items = items,
					.levels = levels };

		st = draw_rank(&x, parent);
		if (!local)
			*group = x.group;
	}
	free(items);
	free(levels);
	return st;
}
