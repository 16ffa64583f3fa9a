/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/union_find.h"
#include "analyzer/lateness/replay/anchors.h"
#include "analyzer/lateness/replay/limits.h"
#include "analyzer/lateness/replay/schedule_private.h"
#include "analyzer/model/left_out.h"
#include "trace/ops.h"
#include "trace/status.h"

void ct_engine_fini(struct ct_engine *e)
{
	ct_schedule_fini(&e->schedule);
	ct_stages_fini(&e->stages);
	ct_positions_fini(&e->positions);
	ct_replay_fini(&e->replay);
	free(e->steps);
	free(e->stretch_of);
	free(e->end_ns);
	free(e->own_ns);
	free(e->mean_ns);
	free(e->level_ns);
	free(e->position_ns);
	free(e->is_carried);
	free(e->other_ns);
	free(e->recorded_ns);
	free(e->played_ns);
	free(e->room_ns);
	*e = (struct ct_engine){ 0 };
}

/* ---- steps that count ---- */

/* The stretch that each step lies in, UINT32_MAX in two or none. */
static uint32_t *stretches_of(const struct ct_engine *e)
{
	uint32_t *of = malloc(((size_t)e->positions.n_steps + 1) * sizeof(*of));

	for (uint32_t k = 0; of && k <= e->positions.n_steps; k++)
		of[k] = UINT32_MAX;
	for (uint32_t l = 0; of && l < e->schedule.n_launches; l++) {
		uint32_t step = e->positions.step_of[l];

		if (step != CT_NO_STEP)
			of[step] = e->schedule.launches[l].stretch;
	}
	return of;
}

static int find_steps(struct ct_engine *e)
{
	const struct ct_positions *p = &e->positions;
	uint32_t *stretch = stretches_of(e);

	e->steps = malloc(((size_t)p->n_steps + 1) * sizeof(*e->steps));
	e->stretch_of = malloc(((size_t)p->n_steps + 1) * sizeof(*e->stretch_of));
	for (uint32_t k = 2; stretch && e->steps && e->stretch_of && k <= p->n_steps; k++) {
		if (p->is_complete[k] && p->is_complete[k - 1] && stretch[k] == stretch[k - 1]) {
			e->stretch_of[e->n_steps] = stretch[k];
			e->steps[e->n_steps++] = k;
		}
	}
	free(stretch);
	return stretch && e->steps && e->stretch_of ? CT_OK : CT_NOMEM;
}

/* ---- what ranks computed ---- */

struct compute_interval {
	int64_t begin, end;
};

CT_SORT_BY(by_begin, struct compute_interval, CT_UP(begin) ?: CT_UP(end))

/* What they cover together: where computing goes on under several operations each of their gaps
 * holds it. */
static double cover(struct compute_interval *all, uint32_t n)
{
	int64_t sum = 0, end = INT64_MIN;

	ct_sort(all, n, sizeof(*all), by_begin);
	for (uint32_t k = 0; k < n; k++) {
		if (all[k].end <= end)
			continue;
		sum += all[k].end - (all[k].begin > end ? all[k].begin : end);
		end = all[k].end;
	}
	return (double)sum;
}

uint32_t ct_engine_step(const struct ct_engine *e, uint32_t step)
{
	size_t at = CT_BISECT(i, 0, e->n_steps, e->steps[i] < step);

	return at < e->n_steps && e->steps[at] == step ? (uint32_t)at : e->n_steps;
}

/* Launches first .. end - 1 are a step of the slot: what it computed in it. NAN: some of it is not
 * known. *under: how long it computed while messages of its own were under way. */
static double own_of(const struct ct_engine *e, uint32_t first, uint32_t end,
		     struct compute_interval *room, double *under)
{
	const struct ct_schedule *s = &e->schedule;
	uint32_t n = 0, with_messages;
	double own, messages = 0;

	for (uint32_t l = first; l < end; l++) {
		const struct ct_schedule_launch *launch = &s->launches[l];
		int64_t begin;

		if (launch->is_uncertain || launch->from == CT_NO_LAUNCH)
			return NAN;
		begin = ct_schedule_end(&s->launches[launch->from]);
		room[n++] = (struct compute_interval){ begin, begin + s->gap_ns[l] };
	}
	own = cover(room, n);
	with_messages = n;
	for (uint32_t l = first; l < end; l++) {
		const struct ct_schedule_launch *launch = &s->launches[l];

		if (launch->messages)
			room[with_messages++] = (struct compute_interval){
				launch->start_ns, ct_schedule_end(launch)
			};
	}
	messages = cover(room + n, with_messages - n);
	*under += own + messages - cover(room, with_messages);
	return own;
}

static int find_own(struct ct_engine *e)
{
	const struct ct_schedule *s = &e->schedule;
	struct compute_interval *room = malloc((2 * (size_t)s->n_launches + 1) * sizeof(*room));
	double all = 0, under = 0;

	if (!room)
		return CT_NOMEM;
	for (size_t k = 0; k < (size_t)s->n_slots * e->n_steps; k++)
		e->own_ns[k] = NAN;
	for (uint32_t slot = 0; slot < s->n_slots; slot++) {
		double *own = &e->own_ns[(size_t)slot * e->n_steps], sum = 0, n = 0;

		for (uint32_t l = s->slot_first[slot], end; l < s->slot_first[slot + 1]; l = end) {
			uint32_t step = e->positions.step_of[l], at;

			end = l + 1;
			while (end < s->slot_first[slot + 1] && e->positions.step_of[end] == step)
				end++;
			at = ct_engine_step(e, step);
			if (at < e->n_steps)
				own[at] = own_of(e, l, end, room, &under);
		}
		for (uint32_t k = 0; k < e->n_steps; k++) {
			if (isnan(own[k]))
				continue;
			sum += own[k];
			n++;
		}
		e->mean_ns[slot] = n > 0 ? sum / n : NAN;
		all += sum;
	}
	free(room);
	e->under_messages = all > 0 ? under / all : 0;
	return CT_OK;
}

/* ---- levels ---- */

static void find_carried(struct ct_engine *e)
{
	const struct ct_schedule *s = &e->schedule;

	for (uint32_t slot = 0; slot < s->n_slots; slot++) {
		uint32_t step = CT_NO_STEP;

		for (uint32_t l = s->slot_first[slot + 1]; l-- > s->slot_first[slot];) {
			if (e->positions.position_of[l] != CT_NO_POSITION)
				step = e->positions.step_of[l];
			else
				e->is_carried[l] = step != CT_NO_STEP &&
						   step == e->positions.step_of[l];
		}
	}
}

static size_t level_at(const struct ct_engine *e, uint32_t slot, uint32_t position)
{
	return (size_t)position * e->stages.most + e->stages.worker_of[slot];
}

double ct_engine_level(const struct ct_engine *e, uint32_t slot, uint32_t position)
{
	return e->level_ns[level_at(e, slot, position)];
}

double ct_engine_stage_mean(const struct ct_engine *e, uint32_t stage)
{
	double sum = 0, n = 0;

	for (uint32_t k = e->stages.first[stage]; k < e->stages.first[stage + 1]; k++) {
		double own = e->mean_ns[e->stages.slots[k]];

		if (isnan(own))
			continue;
		sum += own;
		n++;
	}
	return n > 0 ? sum / n : 0;
}

static double position_mean(const struct ct_engine *e, uint32_t position)
{
	uint32_t stage = e->positions.all[position].stage;
	double sum = 0, n = 0;

	for (uint32_t k = e->stages.first[stage]; k < e->stages.first[stage + 1]; k++) {
		double level = ct_engine_level(e, e->stages.slots[k], position);

		sum += level;
		n += level > 0;
	}
	return n > 0 ? sum / n : 0;
}

/* Means of gaps by slot and position. What lies before operations without times is not evidence;
 * such a gap becomes that mean. */
static int find_levels(struct ct_engine *e)
{
	struct ct_schedule *s = &e->schedule;
	size_t n = (size_t)e->positions.n * e->stages.most + 1;
	uint32_t *times = calloc(n, sizeof(*times));

	e->level_ns = calloc(n, sizeof(*e->level_ns));
	e->position_ns = calloc((size_t)e->positions.n + 1, sizeof(*e->position_ns));
	if (!times || !e->level_ns || !e->position_ns) {
		free(times);
		return CT_NOMEM;
	}
	for (uint32_t slot = 0; slot < s->n_slots; slot++) {
		double carried = 0;
		int unknown = 0;

		for (uint32_t l = s->slot_first[slot]; l < s->slot_first[slot + 1]; l++) {
			uint32_t p = e->positions.position_of[l];

			carried += (double)s->gap_ns[l];
			unknown |= s->launches[l].is_uncertain ||
				   s->launches[l].from == CT_NO_LAUNCH;
			if (p == CT_NO_POSITION)
				continue;
			if (!unknown) {
				e->level_ns[level_at(e, slot, p)] += carried;
				times[level_at(e, slot, p)]++;
			}
			carried = 0;
			unknown = 0;
		}
	}
	for (size_t k = 0; k < n; k++)
		e->level_ns[k] = times[k] ? e->level_ns[k] / times[k] : 0;
	free(times);
	for (uint32_t p = 0; p < e->positions.n; p++)
		e->position_ns[p] = position_mean(e, p);
	for (uint32_t l = 0; l < s->n_launches; l++) {
		uint32_t p = e->positions.position_of[l];

		double level = p == CT_NO_POSITION ? 0 : ct_engine_level(e, s->launches[l].slot, p);
		int is_known = !s->launches[l].is_uncertain || s->launches[l].from == CT_NO_LAUNCH;

		if (!is_known && level > 0)
			s->gap_ns[l] = (int64_t)level;
	}
	return CT_OK;
}

/* ---- playing ---- */

/* How long the steps take, where launches end at these times. Sum. */
static double step_times(struct ct_engine *e, const int64_t *end_ns, double *each)
{
	const struct ct_schedule *s = &e->schedule;
	const uint32_t *step_of = e->positions.step_of;
	int64_t *ends = e->room_ns;
	double sum = 0;

	for (uint32_t k = 0; k <= e->positions.n_steps; k++)
		ends[k] = INT64_MIN;
	/* those of a step lie together, slot by slot */
	for (uint32_t l = 0; l < s->n_launches;) {
		uint32_t step = step_of[l];
		int64_t last = INT64_MIN;

		do {
			int64_t end = end_ns ? end_ns[l] : ct_schedule_end(&s->launches[l]);

			last = end > last ? end : last;
		} while (++l < s->n_launches && step_of[l] == step);
		if (step != CT_NO_STEP && last > ends[step])
			ends[step] = last;
	}
	for (uint32_t k = 0; k < e->n_steps; k++) {
		double time = (double)ends[e->steps[k]] - (double)ends[e->steps[k] - 1];

		sum += time;
		if (each)
			each[k] = time;
	}
	return sum;
}

double ct_engine_play(struct ct_engine *e, const int64_t *gap_ns, const int64_t *transfer_ns,
		      double *each)
{
	ct_replay_run(&e->replay, &e->schedule, gap_ns, transfer_ns, 0);
	return step_times(e, e->replay.end_ns, each);
}

/* Communication that takes no time: with all gaps counted from the last end before them, so that no
 * transfer is in a gap. Some computing may be: what it hid is not known, and the run comes out
 * shorter than it could be. */
static int play_free(struct ct_engine *e)
{
	struct ct_schedule *s = &e->schedule;
	int st = ct_schedule_order(s);

	if (st == CT_OK)
		st = ct_replay_init(&e->replay, s);
	if (st == CT_OK)
		e->free_ns = ct_replay_run(&e->replay, s, s->gap_ns, NULL, 1);
	/* not needed until the launches are ordered anew */
	ct_replay_fini(&e->replay);
	return st;
}

struct engine_transfer {
	uint32_t comm;
	uint64_t kind;
	int64_t ns;
	uint32_t exchange;
};

CT_SORT_BY(by_comm, struct engine_transfer, CT_UP(comm) ?: CT_UP(kind) ?: CT_UP(ns))

/* Whose launch came last to a exchange. */
static uint32_t last_of(const struct ct_schedule *s, const struct ct_schedule_exchange *m)
{
	uint32_t last = s->parts[m->first_part].launch;

	for (uint32_t p = 1; p < m->n; p++) {
		uint32_t l = s->parts[m->first_part + p].launch;

		if (s->launches[l].start_ns > s->launches[last].start_ns)
			last = l;
	}
	return last;
}

/* Where the last one to come took clearly longer than is usual, its stream reached the operation
 * late, or the transfer was slow, or its kernel waited for SMs: that cannot be distinguished, and
 * its gap is not evidence. A call of a host began when it began. */
static int mark_uncertain(struct ct_schedule *s)
{
	struct engine_transfer *all = malloc(((size_t)s->n_exchanges + 1) * sizeof(*all));
	uint32_t n = 0;

	if (!all)
		return CT_NOMEM;
	for (uint32_t m = 0; m < s->n_exchanges; m++) {
		const struct ct_schedule_exchange *exchange = &s->exchanges[m];

		if (exchange->n > 1 && ct_op_class(exchange->op) == CT_CLASS_SYNC &&
		    exchange->comm->backend == CT_BACKEND_NCCL)
			all[n++] = (struct engine_transfer){
				exchange->comm->index,
				s->launches[s->parts[exchange->first_part].launch].kind,
				exchange->transfer_ns, m
			};
	}
	ct_sort(all, n, sizeof(*all), by_comm);
	for (uint32_t first = 0, end; first < n; first = end) {
		double usual;

		for (end = first; end < n && all[end].comm == all[first].comm &&
				  all[end].kind == all[first].kind;)
			end++;
		usual = (double)all[first + (end - first) / 4].ns;
		for (uint32_t k = first; k < end && end - first >= CT_LEAST_TIMES; k++) {
			struct ct_schedule_launch
				*l = &s->launches[last_of(s, &s->exchanges[all[k].exchange])];

			if ((double)all[k].ns > CT_SLOW_TRANSFER * usual + l->err_ns)
				l->is_uncertain = 1;
		}
	}
	free(all);
	return CT_OK;
}

static int build_schedule(struct ct_engine *e, const struct ct_model *model,
			  const struct ct_instance_log *log, const struct ct_steps *steps)
{
	struct ct_schedule *s = &e->schedule;
	int st = ct_schedule_build(s, log, model);

	if (st == CT_OK)
		st = play_free(e);
	if (st == CT_OK)
		st = mark_uncertain(s);
	if (st == CT_OK)
		st = ct_stages_find(&e->stages, s, steps);
	if (st == CT_OK)
		st = ct_positions_find(&e->positions, s, &e->stages, steps);
	if (st == CT_OK)
		st = ct_anchors_find(s, &e->stages, &e->positions);
	if (st == CT_OK)
		st = ct_schedule_order(s);
	if (st == CT_OK)
		st = ct_replay_init(&e->replay, s);
	return st == CT_OK ? find_steps(e) : st;
}

static int allocate(struct ct_engine *e)
{
	size_t launches = (size_t)e->schedule.n_launches + 1, steps = (size_t)e->n_steps + 1;

	e->is_carried = calloc(launches, 1);
	e->other_ns = malloc(launches * sizeof(*e->other_ns));
	e->own_ns = malloc(((size_t)e->schedule.n_slots * e->n_steps + 1) * sizeof(*e->own_ns));
	e->mean_ns = calloc((size_t)e->schedule.n_slots + 1, sizeof(*e->mean_ns));
	e->end_ns = calloc(steps, sizeof(*e->end_ns));
	e->recorded_ns = calloc(steps, sizeof(*e->recorded_ns));
	e->played_ns = calloc(steps, sizeof(*e->played_ns));
	e->room_ns = calloc((size_t)e->positions.n_steps + 1, sizeof(*e->room_ns));
	return e->is_carried && e->other_ns && e->own_ns && e->mean_ns && e->end_ns &&
			       e->recorded_ns && e->played_ns && e->room_ns
		       ? CT_OK
		       : CT_NOMEM;
}

/* Data that is not reliable. */
static const char *why_not(const struct ct_engine *e)
{
	const struct ct_schedule *s = &e->schedule;
	double timed = 0, all = (double)s->n_slots * e->n_steps;

	if (e->n_steps < CT_LEAST_STEPS)
		return "too few steps";
	if (ct_engine_is_short(e))
		return "the run is too short: a machine that is busy for a moment makes a rank "
		       "late in all of it";
	for (size_t k = 0; k < (size_t)s->n_slots * e->n_steps; k++)
		timed += !isnan(e->own_ns[k]);
	if (timed < CT_MOST * all)
		return "too few launches were timed";
	if (e->under_messages > CT_MOST_UNDER_MESSAGES)
		return "ranks compute while messages are under way: which of these they wait for "
		       "is not known";
	if (ct_engine_is_off(e))
		return "played again the steps do not take as long as they took: something that "
		       "ranks wait for is not on record";
	return NULL;
}

/* Members of which is known when they came. Calls that put NCCL operations onto streams say nothing
 * of when these ran, and a rank that begins an operation without a call on record that waits for
 * it may have computed all the while. */
static uint32_t count_timed(const struct ct_instance_log *log, const struct ct_log_instance *one)
{
	int is_nccl = one->comm->backend == CT_BACKEND_NCCL;
	uint32_t n = 0;

	for (uint32_t p = one->first_part; p < one->first_part + one->n; p++)
		n += log->parts[p].on_gpu || (!is_nccl && !log->parts[p].is_vague);
	return n;
}

static int is_timed(const struct ct_instance_log *log)
{
	struct ct_left_out left = { 0 };
	uint64_t n = 0, all = 0;

	for (uint32_t i = 0; i < log->n_instances; i++) {
		const struct ct_log_instance *one = &log->instances[i];
		uint32_t timed;

		/* no rank waits in what a rank does alone */
		if (one->n < 2)
			continue;
		timed = count_timed(log, one);
		n += timed;
		all += one->n;
		if (timed)
			ct_left_out_timed(&left, one->at_ns);
		else
			ct_left_out_untimed(&left, one->at_ns, one->n);
	}
	ct_left_out_close(&left);
	return all && (double)n >= CT_LEAST_TIMED * (double)(all - left.n) &&
	       ct_left_out_is_small(&left, all);
}

/* Most of it timed by hosts. */
static int is_of_hosts(const struct ct_instance_log *log)
{
	uint64_t n = 0;

	for (uint32_t p = 0; p < log->n_parts; p++)
		n += log->parts[p].on_gpu;
	return 2 * n < log->n_parts;
}

static int has_graphs(const struct ct_instance_log *log)
{
	for (uint32_t i = 0; i < log->n_instances; i++) {
		if (log->instances[i].op == CT_OP_GraphLaunch)
			return 1;
	}
	return 0;
}

static const char *why_not_at_all(const struct ct_model *model, const struct ct_instance_log *log,
				  const struct ct_steps *steps)
{
	double all = (double)(model->matched + model->messages + model->incomplete);
	struct ct_stuck_sum open;

	if (steps->why || !steps->n)
		return "no steps were found";
	/* members that are missing leave gaps that were waited in, but not those of what was under
	 * way when the run ended */
	ct_stuck_sum(model, &open);
	if ((double)model->incomplete > (double)open.all + CT_MOST_INCOMPLETE * all)
		return "operations lack members";
	return is_timed(log) ? NULL
			     : "when operations ran is not on record, only when they were put onto "
			       "streams or begun";
}

int ct_engine_build(struct ct_engine *e, const struct ct_model *model,
		    const struct ct_instance_log *log, const struct ct_steps *steps)
{
	int st;

	*e = (struct ct_engine){ .is_of_hosts = is_of_hosts(log), .has_graphs = has_graphs(log) };
	e->why_not = why_not_at_all(model, log, steps);
	if (e->why_not) {
		st = ct_schedule_build(&e->schedule, log, model);
		return st == CT_OK ? ct_stages_find(&e->stages, &e->schedule, steps) : st;
	}
	st = build_schedule(e, model, log, steps);
	if (st == CT_OK)
		st = allocate(e);
	if (st == CT_OK) {
		find_carried(e);
		e->has_holes = model->incomplete != 0;
		st = find_own(e);
	}
	if (st == CT_OK)
		st = find_levels(e);
	if (st != CT_OK)
		return st;
	e->n_run = e->positions.n_run + 1;
	e->recorded = step_times(e, NULL, e->recorded_ns);
	for (uint32_t k = 0; k < e->n_steps; k++)
		e->end_ns[k] = e->room_ns[e->steps[k]] +
			       (double)e->schedule.begin_ns[e->stretch_of[k]];
	e->played = ct_engine_play(e, e->schedule.gap_ns, NULL, e->played_ns);
	e->all_ns = e->replay.total_ns;
	e->why_not = why_not(e);
	return CT_OK;
}

int ct_engine_share(struct ct_engine *e, const struct ct_engine *from)
{
	size_t launches = (size_t)from->schedule.n_launches + 1;
	int st;

	*e = *from;
	e->other_ns = malloc(launches * sizeof(*e->other_ns));
	e->room_ns = calloc((size_t)e->positions.n_steps + 1, sizeof(*e->room_ns));
	st = ct_replay_init(&e->replay, &e->schedule);
	return e->other_ns && e->room_ns ? st : CT_NOMEM;
}

void ct_engine_leave(struct ct_engine *e)
{
	free(e->other_ns);
	free(e->room_ns);
	ct_replay_fini(&e->replay);
	*e = (struct ct_engine){ 0 };
}

int ct_engine_is_off(const struct ct_engine *e)
{
	return !(fabs(e->played / e->recorded - 1) <= CT_PLAY_ERROR);
}

int ct_engine_is_short(const struct ct_engine *e)
{
	return e->is_of_hosts && e->recorded < CT_LEAST_TIME_NS;
}

double ct_engine_guessed(const struct ct_engine *e)
{
	return e->schedule.n_launches ? (double)e->schedule.guessed / e->schedule.n_launches : 0;
}

int ct_engine_guesses(const struct ct_engine *e)
{
	return ct_engine_guessed(e) > CT_HARDLY_ANY;
}

double ct_engine_error(const struct ct_engine *e)
{
	return fabs(e->played / e->recorded - 1) +
	       (ct_engine_guesses(e) ? CT_ERROR_IN_QUEUES : CT_MODEL_ERROR);
}
