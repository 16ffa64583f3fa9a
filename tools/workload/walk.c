/* SPDX-License-Identifier: Apache-2.0 */
/* walk.c — the iterator: setup, the steps, the end, one at a time, each with its faults. */
#include <stdlib.h>

#include "tools/workload/step.h"

struct ct_workload_rank {
	const struct ct_workload *w;
	struct ct_step plain, woven;
	const struct ct_step *now; /* one of them */
	struct ct_weave weave;
	size_t at;
	uint64_t part; /* 0 setup, then the steps, then the end */
};

static void split_all(struct ct_step *step, int first, int n)
{
	struct ct_action *action = ct_step_add(step, CT_ACTION_SPLIT, CT_STREAM_COMPUTE);

	action->parent = 0;
	action->colour = -1;
	action->order = step->rank;
	for (int comm = first; comm < first + n; comm++) {
		if (ct_workload_peer(step->w, comm, step->rank) >= 0) {
			action->comm = comm;
			action->colour = ct_workload_comm(step->w, comm)->colour;
		}
	}
}

static int is_split_pair(const struct ct_workload *w)
{
	return w->pair >= 0 && w->comms[w->pair].parent >= 0;
}

/* Every rank takes part in every split, as NCCL wants it. */
void ct_emit_setup(struct ct_step *step)
{
	ct_step_add(step, CT_ACTION_INIT, CT_STREAM_COMPUTE)->comm = 0;
	for (int role = CT_ROLE_WORLD + 1; role < CT_ROLES; role++) {
		if (step->w->n_of_role[role])
			split_all(step, step->w->first_of_role[role], step->w->n_of_role[role]);
	}
	for (int k = 0; k < 2 && is_split_pair(step->w); k++)
		split_all(step, step->w->pair + k, 1);
}

static void end_comm(struct ct_step *step, int comm)
{
	if (comm < 0 || ct_workload_peer(step->w, comm, step->rank) < 0)
		return;
	ct_step_add(step, CT_ACTION_FINALIZE, CT_STREAM_COMPUTE)->comm = comm;
	ct_step_add(step, CT_ACTION_DESTROY, CT_STREAM_COMPUTE)->comm = comm;
}

void ct_emit_teardown(struct ct_step *step)
{
	for (int k = 1; k >= 0 && step->w->pair >= 0; k--)
		end_comm(step, step->w->pair + k);
	for (int role = CT_ROLES - 1; role >= CT_ROLE_WORLD; role--)
		end_comm(step, step->comm[role]);
}

struct ct_workload_rank *ct_workload_open(const struct ct_workload *w, int rank)
{
	struct ct_workload_rank *it = calloc(1, sizeof(*it));

	if (!it)
		return NULL;
	it->w = w;
	it->weave.hits = calloc(w->config.n_faults + 1, 1);
	if (!it->weave.hits) {
		free(it);
		return NULL;
	}
	it->plain.w = it->woven.w = w;
	it->plain.rank = it->woven.rank = rank;
	it->now = ct_weave_has(w, rank) ? &it->woven : &it->plain;
	for (int role = 0; role < CT_ROLES; role++) {
		it->plain.comm[role] = -1;
		it->plain.n[role] = 1;
		for (int g = 0; g < w->n_of_role[role]; g++) {
			const int comm = w->first_of_role[role] + g;
			const int member = ct_workload_peer(w, comm, rank);

			if (member < 0)
				continue;
			it->plain.comm[role] = comm;
			it->plain.member[role] = member;
			it->plain.n[role] = w->comms[comm].n;
		}
	}
	return it;
}

void ct_workload_close(struct ct_workload_rank *it)
{
	if (!it)
		return;
	free(it->plain.at);
	free(it->woven.at);
	free(it->weave.hits);
	free(it);
}

/* The next part of the rank's life. 0: there is none. */
static int next_part(struct ct_workload_rank *it)
{
	struct ct_step *step = &it->plain;
	const uint64_t steps = it->w->config.steps;

	if (it->part > steps + 1)
		return 0;
	step->number = it->woven.number = it->part > 0 && it->part <= steps ? it->part - 1
									    : UINT64_MAX;
	step->count = it->woven.count = 0;
	step->slots = 0;
	step->draws = 0;
	for (int role = 0; role < CT_ROLES; role++)
		step->tags[role] = 0;
	if (it->part == 0) {
		ct_emit_setup(step);
	} else if (it->part <= steps) {
		ct_step_add(step, CT_ACTION_STEP_BEGIN, CT_STREAM_COMPUTE);
		it->w->emit(step);
		ct_step_add(step, CT_ACTION_STEP_END, CT_STREAM_COMPUTE);
	} else {
		ct_emit_teardown(step);
	}
	if (it->now == &it->woven)
		ct_weave(&it->weave, step, &it->woven);
	else
		ct_weave_nothing(&it->weave, step);
	it->at = 0;
	it->part++;
	return 1;
}

int ct_workload_next(struct ct_workload_rank *it, const struct ct_action **action)
{
	while (it->at == it->now->count) {
		if (!next_part(it))
			return 0;
		if (it->plain.failed || it->woven.failed)
			return -1;
	}
	*action = &it->now->at[it->at++];
	return 1;
}

int ct_workload_happens(const struct ct_workload *w, int rank, size_t fault)
{
	struct ct_workload_rank *it = ct_workload_open(w, rank);
	int hit = 0;

	while (it && !hit && next_part(it) && !it->plain.failed && !it->woven.failed)
		hit = it->weave.hits[fault];
	if (!it || it->plain.failed || it->woven.failed)
		hit = -1;
	ct_workload_close(it);
	return hit;
}
