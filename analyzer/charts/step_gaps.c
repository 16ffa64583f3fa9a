/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/charts/step_gaps.h"
#include "analyzer/base/limits.h"
#include "analyzer/model/model.h"
#include "analyzer/overlap/exposures.h"
#include "analyzer/stream/instance_log.h"

#include <stddef.h>
#include <string.h>

#include "analyzer/base/stats.h"

/* The steps of one slot, and where the latest interval began: they come about in order. */
struct step_walk {
	const struct ct_steps *steps;
	struct ct_heat_gap *gaps;
	uint32_t at;
};

/* The step of the time, or the next one; n: none. */
static uint32_t find(struct step_walk *w, uint64_t ns)
{
	const uint64_t *cut = w->steps->cut_ns;

	while (w->at > 0 && cut[w->at] > ns)
		w->at--;
	while (w->at < w->steps->n && cut[w->at + 1] <= ns)
		w->at++;
	return w->at;
}

/* Adds the part of [begin, end) in each step to the field at `offset`. */
static void spread(struct step_walk *w, uint64_t begin, uint64_t end, size_t offset)
{
	const uint64_t *cut = w->steps->cut_ns;

	if (begin >= end)
		return;
	for (uint32_t k = find(w, begin); k < w->steps->n && cut[k] < end; k++) {
		uint64_t from = ct_max(begin, cut[k]), to = ct_min(end, cut[k + 1]);

		if (from < to)
			*(uint64_t *)((char *)&w->gaps[k] + offset) += to - from;
	}
}

static void add_error(struct step_walk *w, uint64_t at_ns, uint32_t err_ns)
{
	uint32_t k = find(w, at_ns);

	if (k < w->steps->n && at_ns >= w->steps->cut_ns[k])
		w->gaps[k].err_ns += err_ns;
}

/* ---- by the spans of operations ---- */

/* A gap begins at the end of the operation before, even if that is not in the log. */
static void add_part(struct step_walk *w, const struct ct_log_part *p, uint64_t *reached)
{
	if (p->free_ns != UINT64_MAX)
		spread(w, ct_max(*reached, p->start_ns > p->free_ns ? p->start_ns - p->free_ns : 0),
		       p->start_ns, offsetof(struct ct_heat_gap, outside_comm_ns));
	spread(w, ct_max(*reached, p->start_ns), p->end_ns, offsetof(struct ct_heat_gap, busy_ns));
	add_error(w, p->start_ns, p->err_ns);
	*reached = ct_max(*reached, p->end_ns);
}

/* The rest are operations without times, or operations that are not in the log. */
static void settle_spans(struct step_walk *w)
{
	for (uint32_t k = 0; k < w->steps->n; k++) {
		struct ct_heat_gap *g = &w->gaps[k];
		uint64_t time = w->steps->cut_ns[k + 1] - w->steps->cut_ns[k];
		uint64_t unexplained = time - g->outside_comm_ns - g->busy_ns;

		if ((double)unexplained > CT_WORTH_REPORTING * (double)time)
			g->outside_comm_ns = CT_UNKNOWN;
		g->err_ns += unexplained;
	}
}

static void by_spans(struct step_walk *w, const struct ct_instance_log *log, uint32_t slot)
{
	uint64_t reached = 0;

	for (uint32_t i = log->slot_first[slot]; i < log->slot_first[slot + 1]; i++) {
		const struct ct_log_part *p = &log->parts[log->order[i]];

		if (p->start_ns)
			add_part(w, p, &reached);
	}
	settle_spans(w);
}

/* ---- by the calls that blocked it ---- */

/* Known from its first wait to its last. */
static void settle_calls(struct step_walk *w, const struct ct_exposures *stalls, uint64_t first,
			 uint64_t last)
{
	for (uint32_t k = 0; k < w->steps->n; k++) {
		struct ct_heat_gap *g = &w->gaps[k];
		uint64_t begin = w->steps->cut_ns[k], end = w->steps->cut_ns[k + 1];
		double most = CT_WORTH_REPORTING * (double)(end - begin);

		g->outside_comm_ns = end - begin - g->busy_ns;
		if (begin < first || end > last || !ct_exposures_keep(stalls, begin, end) ||
		    (double)g->unclear_ns > most)
			g->outside_comm_ns = CT_UNKNOWN;
		g->err_ns += g->unclear_ns;
	}
}

static void by_calls(struct step_walk *w, const struct ct_exposures *stalls, uint32_t slot)
{
	uint64_t known = 0, unclear = 0, first = UINT64_MAX;

	for (uint32_t i = stalls->slot_first[slot]; i < stalls->slot_first[slot + 1]; i++) {
		const struct ct_exposure *s = &stalls->all[i];
		uint64_t *reached = s->is_known ? &known : &unclear;

		spread(w, ct_max(*reached, s->begin_ns), s->end_ns,
		       s->is_known ? offsetof(struct ct_heat_gap, busy_ns)
				   : offsetof(struct ct_heat_gap, unclear_ns));
		add_error(w, s->begin_ns, s->err_ns);
		first = ct_min(first, s->begin_ns);
		*reached = ct_max(*reached, s->end_ns);
	}
	settle_calls(w, stalls, first, ct_max(known, unclear));
}

/* ---- waits ---- */

static int is_late(const struct ct_instance_log *log, const struct ct_log_part *p)
{
	const struct ct_log_instance *i = &log->instances[p->instance];

	return i->late_ns && p == &log->parts[i->first_part + i->late_member];
}

/* A wait is a difference of two spans. */
static void note_wait(struct step_walk *w, const struct ct_log_part *p, uint64_t clock_err_ns,
		      int late)
{
	uint32_t k = find(w, p->start_ns);
	uint64_t err = 2 * (uint64_t)p->err_ns + clock_err_ns;

	if (k == w->steps->n || p->start_ns < w->steps->cut_ns[k])
		return;
	w->gaps[k].waits++;
	w->gaps[k].wait_err_ns += err;
	w->gaps[k].late_err_ns += late ? err : 0;
}

/* Known in steps that the log has whole, where an operation's wait is, unless the error is as long
 * as the step. */
static void settle_waits(struct step_walk *w)
{
	for (uint32_t k = 0; k < w->steps->n; k++) {
		struct ct_heat_gap *g = &w->gaps[k];
		uint64_t time = w->steps->cut_ns[k + 1] - w->steps->cut_ns[k];

		if (!w->steps->kept[k] || !g->waits || g->wait_err_ns >= time)
			g->wait_ns = g->late_ns = CT_UNKNOWN;
	}
}

static void add_waits(struct step_walk *w, const struct ct_instance_log *log, uint32_t slot)
{
	uint64_t waited = 0, late_until = 0;

	for (uint32_t i = log->slot_first[slot]; i < log->slot_first[slot + 1]; i++) {
		const struct ct_log_part *p = &log->parts[log->order[i]];
		const struct ct_log_instance *of = &log->instances[p->instance];
		int late = p->start_ns && is_late(log, p);
		uint64_t from;

		if (!p->start_ns || p->wait_ns == CT_UNKNOWN)
			continue;
		note_wait(w, p, of->clock_err_ns, late);
		/* A nonblocking operation does not block until its end is awaited. */
		from = ct_max(p->start_ns, p->asked_ns);
		spread(w, ct_max(waited, from), from + p->wait_ns,
		       offsetof(struct ct_heat_gap, wait_ns));
		waited = ct_max(waited, from + p->wait_ns);
		if (!late)
			continue;
		spread(w, ct_max(late_until, p->start_ns - ct_min(of->late_ns, p->start_ns)),
		       p->start_ns, offsetof(struct ct_heat_gap, late_ns));
		late_until = ct_max(late_until, p->start_ns);
	}
	settle_waits(w);
}

void ct_heat_gaps(const struct ct_model *model, const struct ct_exposures *exposures,
		  const struct ct_instance_log *log, const struct ct_steps *steps, uint32_t slot,
		  struct ct_heat_gap *gaps)
{
	struct step_walk w = { .steps = steps, .gaps = gaps };

	memset(gaps, 0, steps->n * sizeof(*gaps));
	if (model->slots[slot].timing == CT_TIMING_CALL)
		by_calls(&w, exposures, slot);
	else
		by_spans(&w, log, slot);
	w.at = 0;
	add_waits(&w, log, slot);
}
