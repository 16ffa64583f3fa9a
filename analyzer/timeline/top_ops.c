/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/timeline/top_ops.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/table.h"
#include "trace/ops.h"

int ct_costly_init(struct ct_costly *c, uint32_t most_timed)
{
	*c = (struct ct_costly){ .most_timed = most_timed };
	c->blamed = calloc(CT_COSTLY_BLAMED, sizeof(*c->blamed));
	return c->blamed ? CT_OK : CT_NOMEM;
}

void ct_costly_fini(struct ct_costly *c)
{
	free(c->blamed);
	free(c->timed);
	ct_table_fini(&c->flagged);
	*c = (struct ct_costly){ 0 };
}

/* ---- heaps: the smallest one kept is the first ---- */

/* The first word of an element is what it is ordered by. */
struct heap {
	void *all;
	size_t size; /* of one */
};
_Static_assert(offsetof(struct ct_blamed, cost_ns) == 0, "orders the heap");
_Static_assert(offsetof(struct ct_timed, time_ns) == 0, "orders the heap");

static void *element(const struct heap *heap, uint32_t i)
{
	return (char *)heap->all + i * heap->size;
}

static uint64_t cost_of(const struct heap *heap, uint32_t i)
{
	uint64_t cost;

	memcpy(&cost, element(heap, i), sizeof(cost));
	return cost;
}

static void swap(const struct heap *heap, uint32_t i, uint32_t k)
{
	union {
		struct ct_blamed blamed;
		struct ct_timed timed;
	} kept;

	memcpy(&kept, element(heap, i), heap->size);
	memcpy(element(heap, i), element(heap, k), heap->size);
	memcpy(element(heap, k), &kept, heap->size);
}

/* The first one has changed. */
static void sift_down(const struct heap *heap, uint32_t n)
{
	uint32_t i = 0, least;

	for (;; i = least) {
		uint32_t left = 2 * i + 1, right = left + 1;

		least = left < n && cost_of(heap, left) < cost_of(heap, i) ? left : i;
		least = right < n && cost_of(heap, right) < cost_of(heap, least) ? right : least;
		if (least == i)
			return;
		swap(heap, i, least);
	}
}

/* This one, the last, is new. */
static void sift_up(const struct heap *heap, uint32_t i)
{
	for (uint32_t up; i > 0 && cost_of(heap, up = (i - 1) / 2) > cost_of(heap, i); i = up)
		swap(heap, i, up);
}

static struct heap blamed_heap(const struct ct_costly *c)
{
	return (struct heap){ c->blamed, sizeof(*c->blamed) };
}

static struct heap timed_heap(const struct ct_costly *c)
{
	return (struct heap){ c->timed, sizeof(*c->timed) };
}

/* ---- one instance ---- */

static int add_timed(struct ct_costly *c, uint64_t time_ns, const struct ct_cached_instance *shown)
{
	const struct ct_timed one = { .time_ns = time_ns, .instance = *shown };
	struct heap heap;

	if (c->n_timed == c->most_timed) {
		if (!c->n_timed || c->timed[0].time_ns >= time_ns)
			return CT_OK;
		c->timed[0] = one;
		heap = timed_heap(c);
		sift_down(&heap, c->n_timed);
		return CT_OK;
	}
	if (ct_grow(&c->timed, &c->cap_timed, c->n_timed + 1, sizeof(*c->timed)))
		return CT_NOMEM;
	c->timed[c->n_timed] = one;
	heap = timed_heap(c);
	sift_up(&heap, c->n_timed++);
	return CT_OK;
}

/* Inserts a rank that waited into the list of the worst. */
static void add_victim(struct ct_blamed *b, const struct ct_victim *victim)
{
	uint32_t i = b->n_victims;

	if (i == CT_COSTLY_VICTIMS && b->victims[i - 1].wait_ns >= victim->wait_ns)
		return;
	i -= i == CT_COSTLY_VICTIMS;
	for (; i > 0 && b->victims[i - 1].wait_ns < victim->wait_ns; i--)
		b->victims[i] = b->victims[i - 1];
	b->victims[i] = *victim;
	b->n_victims += b->n_victims < CT_COSTLY_VICTIMS;
}

static void add_blamed(struct ct_costly *c, const struct ct_blamed *one)
{
	const struct heap heap = blamed_heap(c);

	if (c->n_blamed == CT_COSTLY_BLAMED) {
		c->blamed[0] = *one;
		sift_down(&heap, c->n_blamed);
		return;
	}
	c->blamed[c->n_blamed] = *one;
	sift_up(&heap, c->n_blamed++);
}

/* Those without a clearly last rank after their own slice, or whose waits are not drawn, have no
 * arrow. */
static int blames(const struct ct_instance *i, const struct ct_waits *w,
		  const struct ct_cached_instance *shown, struct ct_last *last)
{
	if (!shown->waits || i->members[0].op == CT_OP_GraphLaunch || i->n < 2)
		return 0;
	ct_waits_last(i, w, last);
	return last->clear;
}

static struct ct_blamed blame(const struct ct_instance *i, const struct ct_waits *w, uint32_t last,
			      ct_costly_at at, const void *arg)
{
	const struct ct_member *late = &i->members[last];
	struct ct_blamed b = {
		.key = { .comm = ct_cached_comm(i->comm->hash, i->comm->nranks),
			 .seq = i->seq,
			 .src = i->src,
			 .dst = i->src < 0 ? -1 : i->dst,
			 .tag = i->tag,
			 .index = late->index },
		.slot = late->slot,
		.comm = i->comm->index,
		.at_ns = at(arg, late->slot, late->start_ns),
		.end_ns = at(arg, late->slot, late->end_ns),
	};

	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];
		const struct ct_victim victim = { .index = member->index,
						  .slot = member->slot,
						  .wait_ns = w->wait_ns[m] };

		/* An arrow leads forward in time, whatever the clocks of two hosts say. */
		if (m != last && victim.wait_ns && w->wait_ns[m] != UINT64_MAX &&
		    at(arg, member->slot, member->start_ns) < b.at_ns)
			add_victim(&b, &victim);
	}
	return b;
}

int ct_costly_add(struct ct_costly *c, const struct ct_instance *i, const struct ct_waits *w,
		  const struct ct_cached_instance *shown, ct_costly_at at, const void *arg)
{
	uint64_t time_ns = 0, cost_ns = 0;
	struct ct_last last;

	c->seen++;
	for (uint32_t m = 0; m < i->n; m++) {
		time_ns += i->members[m].end_ns - i->members[m].start_ns;
		if (w->judged == CT_JUDGED_WAITS && w->wait_ns[m] != UINT64_MAX)
			cost_ns += w->wait_ns[m];
	}
	if (cost_ns && (c->n_blamed < CT_COSTLY_BLAMED || cost_ns > c->blamed[0].cost_ns) &&
	    blames(i, w, shown, &last)) {
		struct ct_blamed one = blame(i, w, last.last, at, arg);

		one.cost_ns = cost_ns;
		if (one.n_victims)
			add_blamed(c, &one);
	}
	/* Messages have no lane of the job. */
	return shown->message ? CT_OK : add_timed(c, time_ns, shown);
}

/* ---- what is flagged ---- */

int ct_costly_close(struct ct_costly *c)
{
	uint32_t n = 0;

	for (uint32_t b = 0; b < c->n_blamed; b++) {
		if (c->blamed[b].finding)
			c->blamed[n++] = c->blamed[b];
	}
	c->n_blamed = n;
	for (uint32_t b = 0; b < n; b++) {
		if (ct_table_put(&c->flagged, ct_cached_instance_hash(&c->blamed[b].key),
				 &c->blamed[b]) != CT_OK)
			return CT_NOMEM;
	}
	return CT_OK;
}

struct ct_blamed *ct_costly_find(const struct ct_costly *c, const struct ct_cached_key *member,
				 struct ct_victim **victim)
{
	struct ct_blamed *b = ct_table_get(&c->flagged, ct_cached_instance_hash(member));

	*victim = NULL;
	for (uint32_t v = 0; b && v < b->n_victims; v++) {
		if (b->victims[v].index == member->index)
			*victim = &b->victims[v];
	}
	return b;
}

uint64_t ct_costly_arrow(const struct ct_blamed *b, const struct ct_victim *victim)
{
	return ct_mix(ct_cached_instance_hash(&b->key) + ct_mix(victim->index + 1)) | 1ull << 63;
}
