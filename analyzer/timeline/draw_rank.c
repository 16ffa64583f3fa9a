/* SPDX-License-Identifier: Apache-2.0 */
/* The group of a rank: its identity, its waits for communication, and the findings that name it.
 * Collapsed it shows just that. */
#include <inttypes.h>
#include <stdio.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/units.h"
#include "analyzer/timeline/draw.h"
#include "analyzer/timeline/draw_hang.h"

static void describe(const struct ct_pen *pen, const struct ct_draw_rank *rank, char *text,
		     size_t size)
{
	const struct ct_timeline_index_slot *slot = &pen->tl_index->slots[rank->slot];
	char gpu[64] = "", exposed[128];

	if (rank->gpu >= 0)
		snprintf(gpu, sizeof(gpu), ", GPU %" PRId64, rank->gpu);
	if (slot->has_exposed)
		snprintf(exposed, sizeof(exposed), "exposed communication: %s \302\261 %s in all",
			 ct_prose_ns(slot->exposed_ns).s, ct_prose_ns(slot->exposed_err_ns).s);
	else
		snprintf(exposed, sizeof(exposed),
			 "exposed communication: n/a, unknown when it waited");
	snprintf(text, size, "host %.80s, pid %" PRIu32 "%s%s%.64s; %s",
		 pen->tl_index->hosts[rank->host].name, rank->pid, gpu,
		 slot->bus_id ? ", bus id " : "", slot->bus_id ? slot->bus_id : "", exposed);
}

struct own {
	struct ct_pen *pen;
	const struct ct_named *named;
	size_t n_named;	     /* not drawn yet */
	uint64_t instant_ns; /* where the last instant is; UINT64_MAX: there was none */
	unsigned deeper;     /* how many others contain it */
	uint32_t track;
};

/* Instants of one moment are nested. */
static unsigned depth_of_instant(struct own *own, uint64_t at_ns, unsigned depth)
{
	own->deeper = at_ns == own->instant_ns ? own->deeper + 1 : 0;
	own->instant_ns = at_ns;
	return depth + own->deeper;
}

/* Findings before `until_ns`. */
static int draw_named(struct own *own, uint64_t until_ns, unsigned depth)
{
	int st = CT_OK;

	for (; own->n_named && st == CT_OK; own->named++, own->n_named--) {
		const struct ct_finding *f = own->pen->findings[own->named->finding];
		uint64_t at_ns = ct_draw_finding_at(own->pen->tl_index, f);

		if (at_ns >= until_ns)
			break;
		st = ct_draw_finding(own->pen, f, own->track, depth_of_instant(own, at_ns, depth));
	}
	return st;
}

static int draw_stalls(struct own *own, const struct ct_tracked_stall *stall, uint64_t *reached)
{
	struct ct_pen *pen = own->pen;
	uint64_t begin = stall->begin_ns > *reached ? stall->begin_ns : *reached;
	struct ct_args args = { .n = 0 };
	struct ct_timeline_slice slice = {
		.track = own->track,
		.name = ct_texts_add(&pen->tl_index->texts, "exposed comm"),
		.begin_ns = begin,
		.end_ns = begin + stall->length_ns,
		.category = CT_CATEGORY_EXPOSED,
	};
	int st = draw_named(own, slice.begin_ns, 0);

	if (pen->tl_index->slots[stall->slot].rank >= 0)
		ct_args_int(&args, CT_ARG_rank, pen->tl_index->slots[stall->slot].rank);
	ct_args_uint(&args, CT_ARG_err_ns, stall->err_ns);
	if (stall->n > 1)
		ct_args_uint(&args, CT_ARG_stalls, stall->n);
	*reached = slice.end_ns;
	st = st ?: ct_pen_slice(pen, &slice, &args);
	return st == CT_OK ? draw_named(own, slice.end_ns, 1) : st;
}

/* What comes before the rank was heard of last, and that. */
static int draw_sign(struct own *own, uint32_t slot, uint64_t at_ns, unsigned depth)
{
	int st = draw_named(own, at_ns + 1, depth);

	return st == CT_OK ? ct_draw_sign(own->pen, slot, own->track, at_ns,
					  depth_of_instant(own, at_ns, depth))
			   : st;
}

/* After its waits for communication: why the rank does not continue, to the end, and its last
 * tracer heartbeat, which may be earlier. */
static int draw_end(struct own *own, uint32_t slot, uint64_t reached)
{
	struct ct_hang_part part = ct_hangs_part(own->pen, slot);
	uint64_t sign_ns = ct_hangs_sign_ns(own->pen, slot);
	int st = CT_OK;

	if (part.begin_ns < reached)
		part.begin_ns = reached < own->pen->hangs.end_ns ? reached : UINT64_MAX;
	if (sign_ns < reached)
		sign_ns = reached;
	if (sign_ns < part.begin_ns)
		st = draw_sign(own, slot, sign_ns, 0);
	st = st ?: draw_named(own, part.begin_ns, 0);
	if (st != CT_OK || part.begin_ns == UINT64_MAX)
		return st;
	st = ct_draw_hang_part(own->pen, &part, slot, own->track);
	if (st == CT_OK && sign_ns >= part.begin_ns && sign_ns != UINT64_MAX)
		st = draw_sign(own, slot, sign_ns, 1);
	return st == CT_OK ? draw_named(own, UINT64_MAX, 1) : st;
}

static int draw_own(struct ct_pen *pen, uint32_t slot, uint32_t track)
{
	const struct ct_stall_track *stalls = &pen->tl_index->stalls;
	struct own own = {
		.pen = pen, .named = pen->named, .instant_ns = UINT64_MAX, .track = track
	};
	int rank = pen->tl_index->slots[slot].rank, st = CT_OK;
	size_t low = CT_BISECT(i, 0, pen->n_named, pen->named[i].rank < rank);
	uint64_t reached = 0;

	own.named += low;
	while (low + own.n_named < pen->n_named && pen->named[low + own.n_named].rank == rank)
		own.n_named++;
	if (rank < 0)
		own.n_named = 0;
	for (uint64_t i = stalls->first[slot]; i < stalls->first[slot + 1] && st == CT_OK; i++) {
		if (ct_timeline_index_inside(pen->tl_index, stalls->all[i].begin_ns,
					     stalls->all[i].end_ns))
			st = draw_stalls(&own, &stalls->all[i], &reached);
	}
	return st == CT_OK ? draw_end(&own, slot, reached) : st;
}

int ct_draw_rank(struct ct_pen *pen, const struct ct_draw_rank *rank, uint32_t parent,
		 uint32_t *group)
{
	const struct ct_timeline_index_slot *slot = &pen->tl_index->slots[rank->slot];
	char name[96], description[384], device[32] = "";
	struct ct_timeline_track track = {
		.parent = parent,
		.name = name,
		.description = description,
		.order = slot->rank,
		.kind = CT_TRACK_GROUP,
	};
	int st;

	if (rank->gpu >= 0)
		snprintf(device, sizeof(device), " \302\267 GPU %" PRId64, rank->gpu);
	if (slot->rank >= 0)
		snprintf(name, sizeof(name), "rank %04d%s", slot->rank, device);
	else
		snprintf(name, sizeof(name), "rank ? \302\267 pid %" PRIu32 "%s", rank->pid,
			 device);
	describe(pen, rank, description, sizeof(description));
	st = ct_pen_track(pen, &track);
	*group = track.id;
	return st == CT_OK ? draw_own(pen, rank->slot, track.id) : st;
}
