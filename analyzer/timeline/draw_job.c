/* SPDX-License-Identifier: Apache-2.0 */
/* Each communicator's operations over all its ranks. */
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/timeline/draw.h"
#include "trace/ops.h"

struct job {
	struct ct_pen *pen;
	const struct ct_cached_instance **all; /* by communicator */
	struct ct_lane_item *items;
	uint32_t n, cap;
	uint32_t group;	 /* track */
	int is_overview; /* only the operations that took longest are here */
};

static int collect(void *arg, const struct ct_cached_instance *i)
{
	struct job *job = arg;

	if (i->message || !ct_timeline_index_inside(job->pen->tl_index, i->begin_ns, i->end_ns))
		return CT_OK;
	if (ct_grow(&job->all, &job->cap, job->n + 1, sizeof(*job->all)))
		return CT_NOMEM;
	job->all[job->n++] = i;
	return CT_OK;
}

CT_SORT_POINTERS_BY(by_comm, struct ct_cached_instance, CT_UP(comm) ?: CT_UP(begin_ns) ?: CT_UP(seq))

static int draw_instance(void *arg, const struct ct_lane_item *item, uint32_t track)
{
	struct job *job = arg;
	struct ct_pen *pen = job->pen;
	const struct ct_cached_instance *i = job->all[item->what];
	const struct ct_timeline_index_comm *comm = &pen->tl_index->comms[i->comm];
	double gbps = i->bytes ? ct_draw_gbps(i->bytes, i->transfer_ns) : 0;
	const char *name = i->is_swap ? "SendRecv" : ct_op_name(i->op);
	const struct ct_cached_key key = { .comm = comm->id,
					   .seq = i->seq,
					   .src = i->exchange ? CT_SRC_EXCHANGE : -1,
					   .dst = -1 };
	struct ct_args args = { .n = 0 };
	struct ct_timeline_slice slice = {
		.track = track,
		.name = ct_texts_add(&pen->tl_index->texts, name ? name : "?"),
		.begin_ns = item->begin_ns,
		.end_ns = item->end_ns,
		.depth = (uint8_t)item->depth,
		.category = CT_CATEGORY_JOB,
	};

	if (pen->tl_index->options->color == CT_COLOR_BY_INSTANCE)
		slice.correlation = ct_cached_instance_hash(&key);
	ct_args_text(&args, CT_ARG_comm, comm->label);
	ct_args_text(&args, CT_ARG_comm_hash, comm->hash);
	ct_args_uint(&args, CT_ARG_nranks, comm->nranks);
	ct_args_uint(&args, CT_ARG_seq, i->seq);
	ct_args_uint(&args, CT_ARG_bytes, i->bytes);
	ct_args_uint(&args, CT_ARG_transfer_ns, i->transfer_ns);
	ct_args_uint(&args, CT_ARG_skew_ns, i->skew_ns);
	ct_args_uint(&args, CT_ARG_err_ns, i->skew_err_ns);
	if (i->slowest_slot != UINT32_MAX && pen->tl_index->slots[i->slowest_slot].rank >= 0)
		ct_args_int(&args, CT_ARG_slowest_rank, pen->tl_index->slots[i->slowest_slot].rank);
	ct_args_double(&args, CT_ARG_algbw_gbps, gbps);
	ct_args_double(&args, CT_ARG_busbw_gbps, gbps * ct_op_bus_factor(i->op, comm->nranks));
	return ct_pen_slice(pen, &slice, &args);
}

/* From the last arrival to the end; what overlaps begins later. */
static int draw_busbw(struct job *job, uint32_t from, uint32_t to)
{
	const struct ct_timeline_index_comm *comm = &job->pen->tl_index->comms[job->all[from]->comm];
	char name[160];
	struct ct_timeline_track track = { .parent = job->group,
					   .name = name,
					   .order = CT_ORDER_COUNTERS +
						    (int32_t)job->all[from]->comm,
					   .kind = CT_TRACK_COUNTER };
	uint64_t reached = 0;
	int st = CT_OK;

	snprintf(name, sizeof(name), "%.120s busbw",
		 ct_texts_get(&job->pen->tl_index->texts, comm->label));
	for (uint32_t k = from; k < to && st == CT_OK; k++) {
		const struct ct_cached_instance *i = job->all[k];
		double gbps = ct_draw_gbps(i->bytes, i->transfer_ns) *
			      ct_op_bus_factor(i->op, comm->nranks);
		uint64_t begin = i->end_ns > i->transfer_ns ? i->end_ns - i->transfer_ns : 0;

		begin = begin > reached ? begin : reached;
		if (gbps <= 0 || i->end_ns <= begin)
			continue;
		if (!track.id)
			st = ct_pen_track(job->pen, &track);
		st = st ?: ct_pen_counter(job->pen, track.id, begin, gbps);
		st = st ?: ct_pen_counter(job->pen, track.id, i->end_ns, 0);
		reached = i->end_ns;
	}
	return st;
}

static int draw_comm(struct job *job, uint32_t from, uint32_t to)
{
	const struct ct_timeline_index_comm *comm = &job->pen->tl_index->comms[job->all[from]->comm];
	char name[160];
	const struct ct_draw_lanes lanes = {
		.name = name,
		.description = job->is_overview ? "of the run's operations those that took all "
						  "ranks together longest, each "
						  "from the first arrival to the last completion"
						: "from the first arrival to the last completion "
						  "of each operation",
		.parent = job->group,
		.order = CT_ORDER_COMMS + (int32_t)job->all[from]->comm,
		.draw = draw_instance,
		.arg = job,
	};
	int st;

	snprintf(name, sizeof(name), "%.120s (%u ranks)",
		 ct_texts_get(&job->pen->tl_index->texts, comm->label), comm->nranks);
	for (uint32_t k = from; k < to; k++)
		job->items[k - from] = (struct ct_lane_item){ .begin_ns = job->all[k]->begin_ns,
							      .end_ns = job->all[k]->end_ns,
							      .what = k };
	st = ct_pen_lanes(job->pen, &lanes, job->items, to - from);
	return st == CT_OK && !job->is_overview ? draw_busbw(job, from, to) : st;
}

int ct_draw_job(struct ct_pen *pen)
{
	struct job job = { .pen = pen };
	struct ct_timeline_track group = { .name = "Job", .kind = CT_TRACK_GROUP };
	const struct ct_costly *costly = &pen->tl_index->costly;
	int st = CT_OK;

	job.is_overview = pen->kind == CT_TIMELINE_OVERVIEW;
	for (uint32_t t = 0; t < costly->n_timed && job.is_overview && st == CT_OK; t++)
		st = collect(&job, &costly->timed[t].instance);
	if (!job.is_overview)
		st = ct_instance_cache_each(pen->tl_index->kept, collect, &job);

	if (st == CT_OK && job.n) {
		qsort(job.all, job.n, sizeof(*job.all), by_comm);
		job.items = calloc(job.n, sizeof(*job.items));
		st = job.items ? ct_pen_track(pen, &group) : CT_NOMEM;
		job.group = group.id;
	}
	for (uint32_t from = 0, to; from < job.n && st == CT_OK; from = to) {
		for (to = from; to < job.n && job.all[to]->comm == job.all[from]->comm; to++)
			;
		st = draw_comm(&job, from, to);
	}
	free(job.items);
	free(job.all);
	return st;
}
