/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/time_structure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/union_find.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/causes.h"
#include "analyzer/findings/finding_list.h"
#include "analyzer/lateness/late_span.h"
#include "analyzer/model/model.h"
#include "trace/status.h"

int ct_finding_has_slot(const struct ct_model *model, const struct ct_finding *f, uint32_t slot)
{
	for (size_t i = 0; i < f->n_ranks; i++) {
		if (f->ranks[i] == model->slots[slot].rank)
			return 1;
	}
	return 0;
}

int ct_finding_is_straggler(const struct ct_finding *f)
{
	return f->kind == CT_FINDING_STRAGGLER || f->kind == CT_FINDING_STRAGGLER_HOST ||
	       f->kind == CT_FINDING_STRAGGLER_GROUP || f->kind == CT_FINDING_SLOW_STAGE;
}

/* ---- why ---- */

struct reasons {
	double charged_ns, err_ns, host_ns, stream_ns;
	double held_ns;
};

static struct reasons sum_reasons(const struct ct_time_structure *t, const uint8_t *slots,
				  double least_ns)
{
	struct reasons sum = { 0 };

	for (uint32_t k = 0; k < t->blame->n; k++) {
		const struct ct_step_charge *charge = &t->blame->all[k];

		if (!slots[charge->slot] || (double)charge->charged_ns < least_ns)
			continue;
		sum.charged_ns += (double)charge->charged_ns;
		sum.err_ns += (double)charge->err_ns;
		sum.host_ns += (double)charge->host_ns;
		sum.stream_ns += (double)charge->stream_ns;
	}
	for (uint32_t s = 0; s < t->model->n_slots; s++)
		sum.held_ns += slots[s] ? (double)t->blame->held_ns[s] : 0;
	return sum;
}

/* Which slots communicate with each other, directly or not: joined[slot] is the root. */
static void join_slots(const struct ct_model *model, uint32_t *joined)
{
	for (uint32_t s = 0; s < model->n_slots; s++)
		joined[s] = s;
	for (uint32_t c = 0; c < model->comms.n; c++) {
		const struct ct_comm *comm = model->comms.all[c];
		uint32_t first = UINT32_MAX;

		for (uint32_t r = 0; r < comm->nranks; r++) {
			uint32_t slot = comm->slots[r] ? comm->slots[r] - 1 : UINT32_MAX;

			if (slot == UINT32_MAX)
				continue;
			if (first == UINT32_MAX)
				first = slot;
			joined[ct_group_of(joined, slot)] = ct_group_of(joined, first);
		}
	}
}

/* The loss on every GPU whose rank communicates with these, directly or not; `count` of them do not
 * wait at a time. */
static void set_gpu_seconds(const struct ct_time_structure *t, struct ct_finding *f,
			    const uint8_t *slots, uint32_t count)
{
	const struct ct_model *model = t->model;
	uint32_t *joined = malloc((model->n_slots + 1u) * sizeof(*joined)), root = UINT32_MAX,
		 n = 0;

	if (!joined)
		return;
	join_slots(model, joined);
	for (uint32_t s = 0; s < model->n_slots && root == UINT32_MAX; s++)
		root = slots[s] ? ct_group_of(joined, s) : root;
	for (uint32_t s = 0; s < model->n_slots; s++)
		n += model->slots[s].timing >= CT_TIMING_HOST && ct_group_of(joined, s) == root;
	if (n > count)
		f->gpu_seconds = (double)f->time_lost_ns / 1e9 * (n - count);
	free(joined);
}

double ct_finding_all_gpus(const struct ct_time_structure *t, uint64_t time_lost_ns)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->model->n_slots; s++)
		n += t->model->slots[s].timing >= CT_TIMING_HOST;
	return n ? (double)time_lost_ns / 1e9 * n : NAN;
}

static int is_stalls(const struct ct_finding *f)
{
	return f->kind == CT_FINDING_PERIODIC_STALLS || f->kind == CT_FINDING_ROTATING_STALLS;
}

/* FINDING: the known part is less than its error, or explains too small a part of the loss. */
static enum ct_why why_of(const struct ct_finding *f, const struct reasons *why, double share)
{
	double known = why->host_ns + why->stream_ns;
	double least = why->host_ns < why->stream_ns ? why->host_ns : why->stream_ns;

	if (known - why->err_ns < CT_REASONED * share * (double)f->time_lost_ns ||
	    (least > (1 - CT_CLEAR_REASON) * known && least < why->err_ns))
		return CT_WHY_OWN;
	if (why->host_ns >= CT_CLEAR_REASON * known)
		return is_stalls(f) ? CT_WHY_HOST_STALLS : CT_WHY_HOST_LATE;
	if (why->stream_ns >= CT_CLEAR_REASON * known)
		return is_stalls(f) ? CT_WHY_STREAM_STALLS : CT_WHY_STREAM_LATE;
	return is_stalls(f) ? CT_WHY_HOST_AND_STREAM_STALLS : CT_WHY_HOST_AND_STREAM_LATE;
}

void ct_finding_explain(const struct ct_time_structure *t, struct ct_finding *f,
			const uint8_t *slots, uint32_t count, double least_ns)
{
	struct reasons why = sum_reasons(t, slots, least_ns);
	enum ct_why kind;

	set_gpu_seconds(t, f, slots, count);
	if (why.host_ns + why.stream_ns <= 0)
		return;
	/* more work is not lateness of the host or the stream, and what the host waited for is
	 * known already */
	if (f->why == CT_WHY_LONG_STAGE || f->why == CT_WHY_CORES)
		return;
	kind = why_of(f, &why, ct_step_blame_share(t->blame));
	/* On GPUs the calls may all have been in time. */
	if (kind == CT_WHY_OWN && f->why == CT_WHY_LATE)
		kind = CT_WHY_LATE_BEFORE;
	if (kind != CT_WHY_OWN)
		ct_finding_set_cause(f, kind);
	ct_finding_evidence(t->list, f, "late_by_host", why.host_ns, "ns", why.err_ns);
	ct_finding_evidence(t->list, f, "late_by_stream", why.stream_ns, "ns", why.err_ns);
	ct_finding_evidence(t->list, f, "late_by_earlier_communication", why.held_ns, "ns", NAN);
}

/* ---- when ---- */

/* Charges of the slots by step; room[n_steps]. Returns their sum. */
static double by_step(const struct ct_step_blame *blame, const uint8_t *slots, double *room)
{
	double sum = 0;

	memset(room, 0, blame->n_steps * sizeof(*room));
	for (uint32_t k = 0; k < blame->n; k++) {
		if (!slots[blame->all[k].slot])
			continue;
		room[blame->all[k].step] += (double)blame->all[k].charged_ns;
		sum += (double)blame->all[k].charged_ns;
	}
	return sum;
}

/* "persistent", "part-of-run", "transient". */
static const char *pattern_of(const struct ct_time_structure *t, const struct ct_finding *f)
{
	double run_ns = (double)t->model->duration_ns;
	double span_ns = (double)f->end_at_ns - (double)f->begin_at_ns;
	uint64_t steps = f->step_last - f->step_first + 1;

	if (f->kind == CT_FINDING_IMBALANCE || span_ns >= CT_MOSTLY * run_ns)
		return "persistent";
	return span_ns <= CT_TRANSIENT * run_ns && steps <= CT_TRANSIENT_STEPS ? "transient"
									       : "part-of-run";
}

/* when=all steps=0..198 pattern=persistent. Without times for a rank
 * that is late in three quarters of the steps or more. */
static void set_interval(const struct ct_time_structure *t, struct ct_finding *f)
{
	struct ct_arena *memory = t->list->memory;
	const char *pattern = pattern_of(t, f), *when = "all";

	if (strcmp(pattern, "persistent") != 0)
		when = ct_arena_printf(memory, "%s..%s", ct_text_ns(f->begin_at_ns).s,
				       ct_text_ns(f->end_at_ns).s);
	ct_finding_put(t->list, f, "when", "%s", when);
	ct_finding_put(t->list, f, "steps", "%llu..%llu", (unsigned long long)f->step_first,
		       (unsigned long long)f->step_last);
	ct_finding_put(t->list, f, "pattern", "%s", pattern);
}

static int is_whole_run(const struct ct_time_structure *t, const struct ct_finding *f)
{
	return f->begin_at_ns <= t->model->from_ns && f->end_at_ns >= t->model->end_ns;
}

/* The steps of the finding's times. */
static void set_steps(const struct ct_time_structure *t, struct ct_finding *f)
{
	uint32_t first = ct_step_at(t->steps, f->begin_at_ns);
	uint32_t last = ct_step_at(t->steps, f->end_at_ns);

	f->step_first = t->steps->first + (first == CT_NO_STEP ? 0 : first);
	f->step_last = t->steps->first + (last == CT_NO_STEP ? t->steps->n - 1 : last);
}

/* The charges of a finding's ranks by step; for several ranks, the wait of the others for them. 0
 * or CT_NOMEM. */
static int charges_of(const struct ct_time_structure *t, const struct ct_finding *f,
		      const uint8_t *slots, double *room, double *sum)
{
	struct ct_step_blame together = { 0 };
	int st = CT_OK;

	if (f->n_ranks > 1) {
		st = ct_step_blame_collect(t->model, t->log, t->steps, slots, &together);
		if (st == CT_OK)
			*sum = by_step(&together, slots, room);
		ct_step_blame_fini(&together);
	} else {
		*sum = by_step(t->blame, slots, room);
	}
	*sum /= ct_step_blame_share(t->blame);
	return st;
}

/* No rank is slow throughout, and all wait. */
static void explain_imbalance(const struct ct_time_structure *t, struct ct_finding *f)
{
	set_steps(t, f);
	f->gpu_seconds = ct_finding_all_gpus(t, f->time_lost_ns);
	set_interval(t, f);
}

/* The replay shows the blocks of steps. Within a part of the run charges are more precise, if they
 * contain enough of the loss. */
static int find_when(const struct ct_time_structure *t, struct ct_finding *f, const uint8_t *slots,
		     double *room)
{
	const struct ct_steps *c = t->steps;
	struct ct_late_span span;
	double sum = 0;
	int st;

	set_steps(t, f);
	if (is_whole_run(t, f))
		return CT_OK;
	st = charges_of(t, f, slots, room, &sum);
	if (st != CT_OK || sum < (1 - CT_MOSTLY) * (double)f->time_lost_ns)
		return st;
	st = ct_late_span_find(room, c->n, &span);
	if (st != CT_OK)
		return st == CT_NOTFOUND ? CT_OK : st;
	f->step_first = c->first + span.first;
	f->step_last = c->first + span.last;
	f->begin_at_ns = c->cut_ns[span.first];
	f->end_at_ns = c->cut_ns[span.last + 1];
	return CT_OK;
}

static int explain_straggler(const struct ct_time_structure *t, struct ct_finding *f,
			     const uint8_t *slots, double *room)
{
	if (find_when(t, f, slots, room) != CT_OK)
		return CT_NOMEM;
	set_interval(t, f);
	ct_finding_explain(t, f, slots, (uint32_t)f->n_ranks, 0);
	return CT_OK;
}

static int explain_stragglers(const struct ct_time_structure *t)
{
	uint8_t *slots = calloc(t->model->n_slots + 1u, 1);
	double *room = calloc(t->blame->n_steps + 1u, sizeof(*room));
	int st = slots && room ? CT_OK : CT_NOMEM;

	for (size_t i = 0; i < t->list->n && st == CT_OK; i++) {
		struct ct_finding *f = &t->list->all[i];

		if (f->kind == CT_FINDING_IMBALANCE)
			explain_imbalance(t, f);
		if (!ct_finding_is_straggler(f))
			continue;
		for (uint32_t s = 0; s < t->model->n_slots; s++)
			slots[s] = (uint8_t)ct_finding_has_slot(t->model, f, s);
		st = explain_straggler(t, f, slots, room);
	}
	free(slots);
	free(room);
	return st;
}

int ct_time_structure(const struct ct_time_structure *t)
{
	int st;

	if (!t->steps->n)
		return CT_OK;
	st = explain_stragglers(t);
	st = st ?: ct_stalls_report(t);
	return st == CT_OK ? ct_shifts_report(t) : st;
}
