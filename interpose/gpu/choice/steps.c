/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/choice/steps.h"

#include <string.h>

#include "interpose/clear.h"
#include "interpose/recorder.h"

/* tuning: what has not repeated for so long will not. Steps of half of it are found before. */
#define GIVEN_UP_NS 600000000000ull

void ct_gpu_steps_init(struct ct_gpu_steps *s, int is_sampled)
{
	ct_clear(s, sizeof(*s));
	s->is_sampled = is_sampled;
}

/* ---- the largest communicator
 * ---------------------------------------------------------------------------- */

static const struct ct_ring_comm *find_entry(uint32_t id)
{
	const struct ct_ring *ring = &ct_recorder.ring;

	for (uint32_t i = 0; i < ring->header->n_comms; i++)
		if (ct_load_relaxed(&ring->comms[i].id) == id)
			return &ring->comms[i];
	return NULL;
}

static struct ct_gpu_steps_comm *know(struct ct_gpu_steps *s, uint32_t id)
{
	struct ct_gpu_steps_comm *k = &s->known[id % CT_GPU_STEPS_COMMS];
	const struct ct_ring_comm *entry;

	if (k->id == id)
		return k;
	entry = find_entry(id);
	*k = (struct ct_gpu_steps_comm){ .id = id };
	if (entry)
		k->nranks = (uint32_t)(ct_load_relaxed(&entry->ranks) >> 32);
	return k;
}

static int is_there(const struct ct_gpu_steps *s)
{
	return s->entry && ct_load_relaxed(&s->entry->id) == s->largest.id;
}

/* Of two that are as large the one that has more to do, by far: they shall not take turns. */
static int is_larger(const struct ct_gpu_steps *s, const struct ct_gpu_steps_comm *k)
{
	if (!is_there(s))
		return 1;
	if (k->nranks != s->largest.nranks)
		return k->nranks > s->largest.nranks;
	return k->collectives > 2 * s->largest.collectives + 16;
}

static void count_by(struct ct_gpu_steps *s, enum ct_step_kind kind, uint32_t collectives)
{
	s->kind = kind;
	s->collectives = collectives;
	s->step = s->began_ns = 0;
	s->n = 0;
}

int ct_gpu_steps_launch(struct ct_gpu_steps *s, uint32_t comm, uint64_t seq, uint32_t n,
			uint64_t what)
{
	struct ct_gpu_steps_comm *k = &s->largest;
	int is_new = 0;

	if (comm != s->largest.id)
		k = know(s, comm);
	k->collectives += n;
	if (k != &s->largest) {
		if (!is_larger(s, k))
			return 0;
		s->largest = *k;
		s->entry = find_entry(k->id);
		ct_gpu_period_reset(&s->period);
		s->first_ns = 0;
		count_by(s, CT_STEP_NONE, 0);
		is_new = 1;
	}
	ct_gpu_period_add(&s->period, seq, n, what);
	return is_new;
}

/* ---- what a step is
 * -------------------------------------------------------------------------------------- */

/* A shorter one that repeats, too, is a part of the step, not the step. */
static int is_better(const struct ct_gpu_steps *s, enum ct_step_kind kind, uint32_t collectives,
		     uint32_t run)
{
	if (!collectives)
		return 0;
	if (s->kind != kind)
		return !s->kind || kind < s->kind;
	return run >= 2 * s->collectives && s->collectives % collectives;
}

int ct_gpu_steps_search(struct ct_gpu_steps *s, uint64_t now_ns, uint64_t each_ns)
{
	enum ct_step_kind kind = CT_STEP_PERIOD;
	uint32_t collectives, run;

	if (now_ns - s->searched_ns < each_ns || !s->entry)
		return 0;
	s->searched_ns = now_ns;
	s->first_ns = s->first_ns ? s->first_ns : now_ns;
	collectives = ct_gpu_period_find(&s->period, CT_GPU_PERIOD_ALL, &run);
	if (!collectives && (s->is_sampled || ct_gpu_period_is_full(&s->period) ||
			     now_ns - s->first_ns >= GIVEN_UP_NS)) {
		kind = CT_STEP_OPERATIONS;
		collectives = ct_gpu_period_find(&s->period, CT_GPU_PERIOD_OPERATIONS, &run);
		if (collectives <= 1) {
			kind = CT_STEP_COLLECTIVE;
			collectives = run = 1;
		}
	}
	if (!is_better(s, kind, collectives, run))
		return 0;
	count_by(s, kind, collectives);
	return 1;
}

/* ---- when one begins
 * ------------------------------------------------------------------------------------- */

/* The latest step: not before the last look, and not after the latest call. */
static uint64_t latest_ns(const struct ct_gpu_steps *s, uint64_t now_ns)
{
	uint64_t last_ns = ct_load_relaxed(&s->entry->last_enter);

	return last_ns > s->looked_ns && last_ns < now_ns ? last_ns : now_ns;
}

int ct_gpu_steps_follow(struct ct_gpu_steps *s, uint64_t now_ns, uint64_t *at_ns)
{
	uint64_t step;
	int has_begun;

	if (!s->kind || !is_there(s))
		return 0;
	step = ct_load_relaxed(&s->entry->next_seq) / s->collectives;
	/* at first it is not known when that was */
	has_begun = s->step && step != s->step;
	if (has_begun) {
		*at_ns = latest_ns(s, now_ns);
		if (s->began_ns && step > s->step)
			s->lasted_ns[s->n++ % CT_GPU_STEPS_LATEST] = (*at_ns - s->began_ns) /
								     (step - s->step);
		s->began_ns = *at_ns;
	}
	s->step = step;
	s->looked_ns = now_ns;
	return has_begun;
}

uint64_t ct_gpu_steps_last_ns(const struct ct_gpu_steps *s)
{
	return is_there(s) ? ct_load_relaxed(&s->entry->last_enter) : 0;
}

uint64_t ct_gpu_steps_shortest_ns(const struct ct_gpu_steps *s)
{
	uint64_t shortest_ns = UINT64_MAX;

	if (s->n < CT_GPU_STEPS_LATEST)
		return 0;
	for (uint32_t i = 0; i < CT_GPU_STEPS_LATEST; i++)
		shortest_ns = s->lasted_ns[i] < shortest_ns ? s->lasted_ns[i] : shortest_ns;
	return shortest_ns;
}
