/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/link/transfers.h"

#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/limits.h"
#include "analyzer/base/table.h"
#include "trace/status.h"

#define EDGE_KEY (1ull << 63) /* code: set in the key of a link; a communicator's is its index */

/* What gathering works on. */
struct gather {
	const struct ct_instance_log *log;
	const uint32_t *host_of;
	const uint64_t *clock_err; /* by host; NULL: not related */
	uint32_t *local_of;	   /* by slot: its index among those of its host */
	uint32_t *seen_on;	   /* by host: the last track considered, + 1 */
	struct ct_launch_sum
		*groups; /* those on the log; by_group: number of the group -> index + 1 */
	struct ct_table by_group;
	uint32_t n_groups;
	struct ct_table by_key; /* of the track, + 1 */
	uint32_t cap, cap_tracks;
	struct ct_transfers *out;
};

/* What the messages that share a launch have in common. */
struct ct_launch_sum {
	uint64_t last_start_ns; /* of the launch and of all that its messages met */
	uint64_t clock_err_ns;
	uint32_t partner; /* slot + 1; UINT32_MAX: several */
	uint8_t across;	  /* some partner's clock is not related to its own */
	uint8_t unknown;  /* some time is not known */
};

static const struct ct_log_part *parts_of(const struct gather *g, const struct ct_log_instance *i)
{
	return &g->log->parts[i->first_part];
}

static uint64_t span(const struct ct_log_part *p)
{
	return p->end_ns - p->start_ns;
}

static int is_timed(const struct ct_log_part *p)
{
	return p->start_ns && p->end_ns > p->start_ns;
}

static int has_group(const struct ct_log_part *parts, uint32_t n)
{
	for (uint32_t p = 0; p < n; p++) {
		if (parts[p].group)
			return 1;
	}
	return 0;
}

/* ---- launches that messages share ---- */

/* Of times of these two hosts against each other; UINT64_MAX: unknown. */
static uint64_t clock_err(const struct gather *g, uint32_t a, uint32_t b)
{
	if (a == b)
		return 0;
	if (!g->clock_err || g->clock_err[a] == UINT64_MAX || g->clock_err[b] == UINT64_MAX)
		return UINT64_MAX;
	return g->clock_err[a] + g->clock_err[b];
}

static struct ct_launch_sum *launch_of(const struct gather *g, uint32_t group)
{
	return &g->groups[(uintptr_t)ct_table_get(&g->by_group, group) - 1];
}

static void sum_launch(struct gather *g, const struct ct_log_part *own,
		       const struct ct_log_part *other)
{
	uint64_t err = clock_err(g, g->host_of[own->slot], g->host_of[other->slot]);
	struct ct_launch_sum *sum = launch_of(g, own->group);
	uint64_t start = own->start_ns > other->start_ns ? own->start_ns : other->start_ns;

	sum->unknown |= !is_timed(own) || !is_timed(other);
	sum->across |= err == UINT64_MAX;
	if (err != UINT64_MAX && err > sum->clock_err_ns)
		sum->clock_err_ns = err;
	if (!sum->partner)
		sum->partner = other->slot + 1;
	else if (sum->partner != other->slot + 1)
		sum->partner = UINT32_MAX;
	if (start > sum->last_start_ns)
		sum->last_start_ns = start;
}

/* An entry for each group that holds messages. */
static int count_launches(struct gather *g)
{
	for (uint32_t k = 0; k < g->log->n_instances; k++) {
		const struct ct_log_instance *i = &g->log->instances[k];
		const struct ct_log_part *p = parts_of(g, i);

		for (uint32_t m = 0; m < i->n && i->src >= 0; m++) {
			if (!p[m].group || ct_table_get(&g->by_group, p[m].group))
				continue;
			if (ct_table_put(&g->by_group, p[m].group,
					 (void *)((uintptr_t)++g->n_groups)) != CT_OK)
				return CT_NOMEM;
		}
	}
	return CT_OK;
}

static int sum_launches(struct gather *g)
{
	if (count_launches(g) != CT_OK)
		return CT_NOMEM;
	g->groups = calloc((size_t)g->n_groups + 1, sizeof(*g->groups));
	if (!g->groups)
		return CT_NOMEM;
	for (uint32_t k = 0; k < g->log->n_instances; k++) {
		const struct ct_log_instance *i = &g->log->instances[k];
		const struct ct_log_part *p = parts_of(g, i);

		if (i->src < 0 || i->n != 2)
			continue;
		for (int m = 0; m < 2; m++) {
			if (p[m].group)
				sum_launch(g, &p[m], &p[1 - m]);
		}
	}
	return CT_OK;
}

/* How long a message with company can have taken at most: from when all ranks that either launch
 * had to wait for were there, or (with one partner each) the shorter of the two spans. What moved
 * before is not in it: *had_begun. *err_ns: what clocks add to its error. 0: not known. */
static double bound_of(const struct gather *g, const struct ct_log_part *p, uint64_t *err_ns,
		       int *had_begun)
{
	uint64_t shortest = span(&p[0]) < span(&p[1]) ? span(&p[0]) : span(&p[1]);
	uint64_t both_ns = p[0].start_ns > p[1].start_ns ? p[0].start_ns : p[1].start_ns;
	uint64_t all_ns = both_ns;
	int third = 0, across = 0;

	for (int m = 0; m < 2; m++) {
		const struct ct_launch_sum *sum;
		uint64_t left;

		if (!p[m].group)
			continue;
		sum = launch_of(g, p[m].group);
		if (sum->unknown)
			return 0;
		third |= sum->partner == UINT32_MAX;
		across |= sum->across;
		left = p[m].end_ns > sum->last_start_ns ? p[m].end_ns - sum->last_start_ns : 0;
		if (!sum->across && sum->last_start_ns > all_ns)
			all_ns = sum->last_start_ns;
		if (!sum->across && left < shortest) {
			shortest = left;
			*err_ns = sum->clock_err_ns;
		}
	}
	/* a third rank that comes so much later than both ends leaves them time to move some of it
	 * before */
	*had_begun = (double)(all_ns - both_ns) > CT_A_FEW * (double)shortest;
	/* which of several was waited for is known only on one clock */
	return third && across ? 0 : (double)shortest;
}

/* ---- tracks ---- */

/* Members by their indices on their hosts: shifted by whole hosts, or along a host, communicators
 * are alike. */
static uint64_t shape_of(const struct gather *g, const struct ct_comm *comm, uint32_t *n_hosts)
{
	uint64_t shape = ct_mix(comm->nranks ^ (uint64_t)comm->backend << 32);
	uint32_t least = UINT32_MAX;

	*n_hosts = 0;
	for (uint32_t r = 0; r < comm->nranks; r++) {
		uint32_t slot = comm->slots[r], *seen;

		if (!slot)
			return 0;
		least = g->local_of[slot - 1] < least ? g->local_of[slot - 1] : least;
		seen = &g->seen_on[g->host_of[slot - 1]];
		*n_hosts += *seen != g->out->n_tracks;
		*seen = g->out->n_tracks;
	}
	for (uint32_t r = 0; r < comm->nranks; r++)
		shape = ct_mix(shape + g->local_of[comm->slots[r] - 1] - least);
	shape = ct_mix(shape ^ *n_hosts);
	return comm->clash || comm->shared_slot ? 0 : shape | 1;
}

static uint64_t edge_shape(const struct gather *g, uint32_t src, uint32_t dst)
{
	uint32_t from = g->local_of[src], to = g->local_of[dst];
	uint32_t apart = from > to ? from - to : to - from;

	if (g->host_of[src] == g->host_of[dst])
		return ct_mix(2 * (uint64_t)apart + 1) | 1;
	return from == to ? 3 : 5;
}

static struct ct_track *track_of(struct gather *g, const struct ct_log_instance *i)
{
	const struct ct_log_part *p = parts_of(g, i);
	int is_edge = i->src >= 0;
	uint32_t src = p[p[0].index != 0].slot, dst = p[p[0].index == 0].slot;
	uint64_t key = is_edge ? EDGE_KEY | (uint64_t)src << 31 | dst
			       : (uint64_t)i->comm->index << 8 | i->op;
	uintptr_t at = (uintptr_t)ct_table_get(&g->by_key, key);
	struct ct_track *track;

	if (at)
		return &g->out->tracks[at - 1];
	if (ct_grow(&g->out->tracks, &g->cap_tracks, g->out->n_tracks + 1, sizeof(*g->out->tracks)))
		return NULL;
	if (ct_table_put(&g->by_key, key, (void *)((uintptr_t)g->out->n_tracks + 1)) != CT_OK)
		return NULL;
	track = &g->out->tracks[g->out->n_tracks++];
	*track = (struct ct_track){
		.comm = i->comm, .op = i->op, .is_swap = i->is_swap, .is_edge = (uint8_t)is_edge
	};
	if (is_edge) {
		track->src = src;
		track->dst = dst;
		track->n_hosts = g->host_of[src] == g->host_of[dst] ? 1 : 2;
		track->shape = edge_shape(g, src, dst);
	} else {
		track->shape = shape_of(g, i->comm, &track->n_hosts);
	}
	return track;
}

/* ---- one instance ---- */

/* Of whole operations only: what shares its launch with others has no time of its own, and where
 * members have different sizes the expected time is unknown. But an exchange of equal sizes with
 * all is one operation. */
static double collective_ns(const struct ct_log_instance *i, const struct ct_log_part *p)
{
	int is_exchange = i->op == CT_OP_AllToAll && p[0].group && !p[0].leads;

	if (ct_op_class(i->op) != CT_CLASS_SYNC || i->op == CT_OP_GraphLaunch ||
	    (!is_exchange && (i->varying || has_group(p, i->n))))
		return 0;
	return i->transfer_ns == CT_NO_TRANSFER ? 0 : (double)i->transfer_ns;
}

/* fact: short messages of a host leave before the receiver is ready, so neither span is a transfer;
 * with these sizes libraries wait for the receiver. Eager limits end at 64 KiB (OpenMPI's and
 * MPICH's defaults). */
#define HOST_RENDEZVOUS 262144u

static double message_ns(const struct gather *g, const struct ct_log_instance *i,
			 const struct ct_log_part *p, uint64_t *err_ns, int *had_begun)
{
	if (p[0].slot == p[1].slot)
		return 0;
	if (!p[0].on_gpu || !p[1].on_gpu)
		return i->transfer_ns == CT_NO_TRANSFER || i->bytes < HOST_RENDEZVOUS
			       ? 0
			       : (double)i->transfer_ns;
	if (has_group(p, 2))
		return bound_of(g, p, err_ns, had_begun);
	return i->transfer_ns == CT_NO_TRANSFER ? 0 : (double)i->transfer_ns;
}

/* size: as much as fits, 2 s. */
#define MOST_ERR_NS 0x7fffffffu

static int take_instance(struct gather *g, const struct ct_log_instance *i)
{
	const struct ct_log_part *p = parts_of(g, i);
	int is_edge = i->src >= 0;
	double factor = is_edge ? 1 : ct_op_bus_factor(i->op, i->comm->nranks);
	struct ct_moved moved = { .bytes = (double)i->bytes * factor };
	struct ct_track *track;
	uint64_t err_ns = 0, most_err_ns = 0;
	int had_begun = 0;

	if (i->judged == CT_JUDGED_NOTHING || i->n < 2 || (is_edge && i->n != 2) ||
	    moved.bytes <= 0 || i->bytes == UINT64_MAX)
		return CT_OK;
	for (uint32_t m = 0; m < i->n; m++) {
		if (!is_timed(&p[m]))
			return CT_OK;
		moved.end_ns = p[m].end_ns > moved.end_ns ? p[m].end_ns : moved.end_ns;
		most_err_ns = p[m].err_ns > most_err_ns ? p[m].err_ns : most_err_ns;
	}
	moved.ns = is_edge ? message_ns(g, i, p, &err_ns, &had_begun) : collective_ns(i, p);
	if (moved.ns <= 0)
		return CT_OK;
	err_ns = err_ns < MOST_ERR_NS - most_err_ns ? most_err_ns + err_ns : MOST_ERR_NS;
	moved.err_ns = (uint32_t)err_ns & MOST_ERR_NS;
	moved.had_begun = had_begun != 0;
	track = track_of(g, i);
	if (!track)
		return CT_NOMEM;
	moved.track = (uint32_t)(track - g->out->tracks);
	moved.comm = i->comm;
	track->on_gpu = p[0].on_gpu && p[1].on_gpu;
	track->shared |= is_edge && has_group(p, 2);
	track->bytes += moved.bytes;
	track->ns += moved.ns;
	track->n++;
	if (ct_grow(&g->out->moved, &g->cap, g->out->n + 1, sizeof(*g->out->moved)))
		return CT_NOMEM;
	g->out->moved[g->out->n++] = moved;
	return CT_OK;
}

/* ---- all ---- */

/* The transfers of a track side by side. */
static int sort(struct ct_transfers *t)
{
	struct ct_moved *sorted = malloc(((size_t)t->n + 1) * sizeof(*sorted));
	uint32_t first = 0;

	if (!sorted)
		return CT_NOMEM;
	for (uint32_t k = 0; k < t->n_tracks; k++) {
		t->tracks[k].first = first;
		first += t->tracks[k].n;
		t->tracks[k].n = 0;
	}
	for (uint32_t i = 0; i < t->n; i++) {
		struct ct_track *track = &t->tracks[t->moved[i].track];

		sorted[track->first + track->n++] = t->moved[i];
	}
	free(t->moved);
	t->moved = sorted;
	return CT_OK;
}

static int number_slots(struct gather *g, uint32_t n_slots)
{
	uint32_t n_hosts = 0;
	uint32_t *next;

	for (uint32_t slot = 0; slot < n_slots; slot++)
		n_hosts = g->host_of[slot] >= n_hosts ? g->host_of[slot] + 1 : n_hosts;
	next = calloc((size_t)n_hosts + 1, sizeof(*next));
	g->seen_on = calloc((size_t)n_hosts + 1, sizeof(*g->seen_on));
	g->local_of = calloc((size_t)n_slots + 1, sizeof(*g->local_of));
	for (uint32_t slot = 0; slot < n_slots && next && g->local_of; slot++)
		g->local_of[slot] = next[g->host_of[slot]]++;
	free(next);
	return next && g->seen_on && g->local_of ? CT_OK : CT_NOMEM;
}

int ct_transfers_gather(const struct ct_instance_log *log, const uint32_t *host_of,
			uint32_t n_slots, const uint64_t *clock_err, struct ct_transfers *out)
{
	struct gather g = { .log = log, .host_of = host_of, .clock_err = clock_err, .out = out };
	int st;

	*out = (struct ct_transfers){ 0 };
	st = number_slots(&g, n_slots) ?: sum_launches(&g);
	for (uint32_t k = 0; k < log->n_instances && st == CT_OK; k++)
		st = take_instance(&g, &log->instances[k]);
	st = st ?: sort(out);
	free(g.local_of);
	free(g.seen_on);
	free(g.groups);
	ct_table_fini(&g.by_group);
	ct_table_fini(&g.by_key);
	return st;
}

void ct_transfers_fini(struct ct_transfers *transfers)
{
	free(transfers->moved);
	free(transfers->tracks);
	*transfers = (struct ct_transfers){ 0 };
}
