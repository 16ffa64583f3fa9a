/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cycle/hits.h"

#include <stdlib.h>

#include "trace/ops.h"
#include "trace/status.h"

/* One operation for which somebody alone was waited for. */
struct late {
	const struct ct_tape_part *last;
	uint64_t charged_ns, err_ns;
	uint64_t held_ns; /* what it was last by and is not charged with */
	uint32_t gpus;
};

struct collector {
	struct ct_pass *pass;
	const struct ct_cycles *cycles;
	struct ct_hits *hits;
	struct ct_cover *charged; /* by seat */
	uint32_t cap;
};

void ct_hits_fini(struct ct_hits *hits)
{
	free(hits->all);
	free(hits->kept);
	free(hits->wait_ns);
	free(hits->comm_ns);
	free(hits->held_ns);
	*hits = (struct ct_hits){ 0 };
}

/* May anybody be judged by it? Not by the first meeting of a communicator, which tells who started late. */
static int is_judged(const struct ct_pass *pass, const struct ct_tape_instance *i)
{
	const struct ct_tape_part *parts = &pass->tape.parts[i->first_part];

	if (i->judged != CT_JUDGED_WAITS || i->n < 2 || i->comm->clash || i->comm->shared_seat ||
	    i->seq == i->comm->first_seq)
		return 0;
	for (uint32_t m = 0; m < i->n; m++) {
		if (parts[m].wait_ns == UINT64_MAX || !parts[m].start_ns ||
		    pass->seats[parts[m].seat].muddled)
			return 0;
	}
	/* of a Reduce or Gather the waits do not tell who the last one was */
	return ct_op_class(i->op) == CT_CLASS_SYNC || i->op == CT_OP_Broadcast ||
	       i->op == CT_OP_Scatter;
}

/* Who waited least came last. It is charged with what the next one waited more, no more than its own doing. */
static int find_late(const struct ct_tape_part *parts, uint32_t n, struct late *late)
{
	uint64_t least = UINT64_MAX, second = UINT64_MAX, longest = 0, longer;
	uint32_t last = 0, before = 0;

	for (uint32_t m = 0; m < n; m++) {
		if (parts[m].wait_ns < least) {
			second = least;
			before = last;
			least = parts[m].wait_ns;
			last = m;
		} else if (parts[m].wait_ns < second) {
			second = parts[m].wait_ns;
			before = m;
		}
	}
	*late = (struct late){ .last = &parts[last],
			       .charged_ns = second - least,
			       .err_ns = (uint64_t)parts[last].err_ns + parts[before].err_ns };
	for (uint32_t m = 0; m < n; m++) {
		if (m == last)
			continue;
		longest = parts[m].free_ns > longest ? parts[m].free_ns : longest;
		late->gpus += parts[m].on_gpu;
	}
	/* where anybody's gap is not known, nothing is charged */
	if (longest == UINT64_MAX || parts[last].free_ns == UINT64_MAX)
		return 0;
	longer = parts[last].free_ns > longest ? parts[last].free_ns - longest : 0;
	late->held_ns = late->charged_ns > longer ? late->charged_ns - longer : 0;
	late->charged_ns -= late->held_ns;
	return late->charged_ns > late->err_ns &&
	       late->charged_ns >
		       (parts[last].on_gpu ? CT_BLAME_MIN_GPU_SOLO_NS : CT_BLAME_MIN_SOLO_NS);
}

/* Took the last one clearly longer than is usual? Then its transfer was slow, or its kernel waited for room. */
static int is_slow_transfer(struct collector *c, const struct ct_tape_instance *i,
			    const struct ct_tape_part *last)
{
	struct ct_class *class;

	if (!last->on_gpu || last->group || ct_op_class(i->op) != CT_CLASS_SYNC)
		return 0;
	class = ct_classes_get(&c->pass->classes, c->pass->comms.all[i->comm->index], CT_ALONE,
			       i->op, i->dtype, i->bytes);
	return class && ct_class_is_slow(class, last->end_ns - last->start_ns, last->err_ns);
}

static int add_hit(struct collector *c, uint32_t cycle, const struct late *late)
{
	const struct ct_tape_part *p = late->last;
	struct ct_hits *hits = c->hits;
	uint64_t from = p->start_ns > late->charged_ns ? p->start_ns - late->charged_ns : 0;
	uint64_t fresh = ct_cover_add(&c->charged[p->seat], from, p->start_ns), host;
	uint64_t free_from = p->start_ns > p->free_ns ? p->start_ns - p->free_ns : 0;

	if (!fresh)
		return CT_OK;
	if (hits->n == c->cap) {
		uint32_t cap = c->cap ? 2 * c->cap : 256;
		void *more = realloc(hits->all, cap * sizeof(*hits->all));

		if (!more)
			return CT_NOMEM;
		hits->all = more;
		c->cap = cap;
	}
	host = p->enter_ns > free_from ? p->enter_ns - free_from : 0;
	host = host < fresh ? host : fresh;
	hits->all[hits->n++] = (struct ct_hit){
		.cycle = cycle,
		.seat = p->seat,
		.gpus = late->gpus,
		.charged_ns = (float)fresh,
		.err_ns = (float)late->err_ns,
		.host_ns = p->on_gpu ? (float)host : 0,
		.stream_ns = p->on_gpu ? (float)(fresh - host) : 0,
	};
	return CT_OK;
}

static int by_cycle(const void *a, const void *b)
{
	const struct ct_hit *x = a, *y = b;

	if (x->cycle != y->cycle)
		return x->cycle < y->cycle ? -1 : 1;
	return x->seat < y->seat ? -1 : x->seat > y->seat;
}

/* One for each cycle and seat. */
static void merge(struct ct_hits *hits)
{
	uint32_t n = 0;

	if (!hits->n)
		return;
	qsort(hits->all, hits->n, sizeof(*hits->all), by_cycle);
	for (uint32_t k = 1; k < hits->n; k++) {
		struct ct_hit *to = &hits->all[n], from = hits->all[k];

		if (by_cycle(to, &from) != 0) {
			hits->all[++n] = from;
			continue;
		}
		to->charged_ns += from.charged_ns;
		to->err_ns += from.err_ns;
		to->host_ns += from.host_ns;
		to->stream_ns += from.stream_ns;
		to->gpus = from.gpus > to->gpus ? from.gpus : to->gpus;
	}
	hits->n = n + 1;
}

/* When its last member came. */
static uint64_t arrival(const struct ct_tape_instance *i, const struct ct_tape_part *parts)
{
	uint64_t latest = 0;

	for (uint32_t m = 0; m < i->n; m++)
		latest = parts[m].start_ns > latest ? parts[m].start_ns : latest;
	return latest ? latest : i->at_ns;
}

static int add_instance(struct collector *c, const struct ct_tape_instance *i)
{
	const struct ct_tape_part *parts = &c->pass->tape.parts[i->first_part];
	uint32_t cycle = ct_cycle_at(c->cycles, arrival(i, parts));
	struct late late;
	int charged;

	if (cycle == CT_CYCLES_NONE)
		return CT_OK;
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_tape_part *p = &parts[m];

		if (p->wait_ns != UINT64_MAX && i->judged == CT_JUDGED_WAITS)
			c->hits->wait_ns[cycle] += p->wait_ns;
		if (p->seat == c->cycles->seat && p->start_ns && (!p->group || p->leads))
			c->hits->comm_ns[cycle] += p->end_ns - p->start_ns;
	}
	if (!is_judged(c->pass, i))
		return CT_OK;
	charged = find_late(parts, i->n, &late);
	c->hits->held_ns[late.last->seat] += late.held_ns;
	return charged && !is_slow_transfer(c, i, late.last) ? add_hit(c, cycle, &late) : CT_OK;
}

/* Cycles that lie in a stretch that is kept, from its beginning to its end. */
static void mark_kept(const struct ct_pass *pass, const struct ct_cycles *cycles,
		      struct ct_hits *hits)
{
	const struct ct_tape *tape = &pass->tape;

	for (uint32_t k = 0; k < cycles->n; k++) {
		hits->kept[k] = ct_tape_keeps(tape, cycles->cut_ns[k]) &&
				ct_tape_stretch(tape, cycles->cut_ns[k]) ==
					ct_tape_stretch(tape, cycles->cut_ns[k + 1]);
		hits->n_kept += hits->kept[k];
	}
}

int ct_hits_collect(struct ct_pass *pass, const struct ct_cycles *cycles, struct ct_hits *hits)
{
	struct collector c = { .pass = pass, .cycles = cycles, .hits = hits };
	int st = CT_OK;

	*hits = (struct ct_hits){ .n_cycles = cycles->n };
	hits->kept = calloc((size_t)cycles->n + 1, sizeof(*hits->kept));
	hits->wait_ns = calloc((size_t)cycles->n + 1, sizeof(*hits->wait_ns));
	hits->comm_ns = calloc((size_t)cycles->n + 1, sizeof(*hits->comm_ns));
	hits->held_ns = calloc((size_t)pass->n_seats + 1, sizeof(*hits->held_ns));
	c.charged = calloc((size_t)pass->n_seats + 1, sizeof(*c.charged));
	if (!hits->kept || !hits->wait_ns || !hits->comm_ns || !hits->held_ns || !c.charged)
		st = CT_NOMEM;
	for (uint32_t i = 0; i < pass->tape.n_instances && st == CT_OK; i++)
		st = add_instance(&c, &pass->tape.instances[i]);
	if (st == CT_OK) {
		merge(hits);
		mark_kept(pass, cycles, hits);
	}
	free(c.charged);
	return st;
}
