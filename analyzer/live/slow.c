/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/live/slow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/findings/slow_row_findings.h"
#include "analyzer/lateness/oversubscribed.h"
#include "analyzer/lateness/replay/judge.h"
#include "analyzer/steps/in_steps.h"
#include "analyzer/steps/steps.h"

void ct_slow_watch_init(struct ct_slow_watch *watch, struct ct_observer observers[2])
{
	*watch = (struct ct_slow_watch){ 0 };
	ct_instance_log_init(&watch->log, 0);
	ct_instance_log_observe(&watch->log, &observers[0]);
	ct_step_log_observe(&watch->steps, &observers[1]);
}

void ct_slow_watch_fini(struct ct_slow_watch *watch)
{
	ct_instance_log_fini(&watch->log);
	ct_step_log_fini(&watch->steps);
	free(watch->share);
	free(watch->err);
}

/* Forget what was judged. */
static void begin_again(struct ct_slow_watch *watch, uint64_t at_ns)
{
	const uint32_t slot = watch->steps.sequence.slot;

	ct_instance_log_fini(&watch->log);
	ct_instance_log_init(&watch->log, 0);
	ct_step_log_fini(&watch->steps);
	watch->steps = (struct ct_step_log){ 0 };
	ct_sequence_init(&watch->steps.sequence, slot, 0);
	watch->from_ns = at_ns;
}

static int make_room(struct ct_slow_watch *watch, uint32_t n)
{
	if (n > watch->n) {
		double *share = realloc(watch->share, n * sizeof(*share));

		watch->share = share ? share : watch->share;
		double *err = share ? realloc(watch->err, n * sizeof(*err)) : NULL;

		watch->err = err ? err : watch->err;
		if (!err)
			return CT_NOMEM;
		watch->n = n;
	}
	return CT_OK;
}

/* What the findings blame, by slot. Those that are not sure leave it unknown for their ranks. */
static void note_blamed(struct ct_slow_watch *watch, const struct ct_model *model,
			const struct ct_findings *findings)
{
	for (uint32_t s = 0; s < watch->n; s++)
		watch->share[s] = watch->err[s] = 0;
	for (size_t i = 0; i < findings->n; i++) {
		const struct ct_finding *f = &findings->all[i];

		if (f->kind == CT_FINDING_IMBALANCE)
			continue;
		for (uint32_t s = 0; s < model->n_slots; s++) {
			int is_in = 0;

			for (size_t r = 0; r < f->n_ranks; r++)
				is_in |= f->ranks[r] == model->slots[s].rank;
			if (!is_in)
				continue;
			if (f->confidence < CT_CONFIDENCE_MEDIUM) {
				watch->share[s] = watch->err[s] = NAN;
				continue;
			}
			watch->share[s] = f->time_lost_pct / 100;
			watch->err[s] = watch->share[s] * (double)f->time_lost_err_ns /
					(double)f->time_lost_ns;
		}
	}
}

static int judge_ranks(struct ct_slow_watch *watch, const struct ct_stream *stream,
		       const struct ct_model *model, struct ct_report *report)
{
	struct ct_findings findings = { .memory = report->memory };
	struct ct_oversubscribed machine;
	struct ct_replay_judgement replay = { 0 };
	struct ct_steps steps = { 0 };
	int st = ct_steps_find(model, &watch->log, &watch->steps, NULL, report->memory, &steps);

	findings.step_time = ct_step_time_of(&steps, model);
	st = st ?: ct_oversubscribed_find(model, &machine);
	st = st ?: ct_replay_judge(&replay, model, &watch->log, &steps, NULL);
	report->run.time_err_p50_ns = model->time_err.n ? ct_hist_quantile(&model->time_err, 0.5)
							: CT_UNKNOWN;
	st = st ?: ct_replay_fill(&replay, model, report);
	watch->why_not = NULL;
	if (st == CT_OK && (replay.engine.why_not || ct_replay_is_off(&replay))) {
		snprintf(watch->why, sizeof(watch->why), "%s",
			 replay.engine.why_not
				 ? replay.engine.why_not
				 : "the replay differs from the recording, or the run is short");
		watch->why_not = watch->why;
	} else if (st == CT_OK) {
		st = ct_slow_row_findings(&replay, model, &stream->order.sites, &report->whatif,
					  &machine, &findings);
		if (st == CT_OK)
			note_blamed(watch, model, &findings);
	}
	ct_replay_judgement_fini(&replay);
	ct_steps_fini(&steps);
	ct_findings_fini(&findings);
	return st;
}

int ct_slow_watch_judge(struct ct_slow_watch *watch, struct ct_stream *stream)
{
	struct ct_model model = stream->model; /* of the stretch that the logs have */
	struct ct_report *report;
	int st;

	if (model.end_ns < watch->tried_ns + CT_LIVE_JUDGE_NS)
		return CT_OK;
	report = calloc(1, sizeof(*report));
	if (report)
		report->memory = ct_arena_new();
	st = report && report->memory ? make_room(watch, model.n_slots) : CT_NOMEM;
	model.duration_ns = model.end_ns - watch->from_ns;
	watch->tried_ns = model.end_ns;
	if (st == CT_OK)
		st = ct_instance_log_close(&watch->log, model.n_slots);
	if (st == CT_OK) {
		ct_sequence_close(&watch->steps.sequence);
		st = judge_ranks(watch, stream, &model, report);
	}
	ct_report_free(report);
	free(watch->log.order);
	free(watch->log.slot_first);
	watch->log.order = watch->log.slot_first = NULL;
	if (st != CT_OK)
		return st;
	if (!watch->why_not)
		watch->until_ns = model.end_ns;
	/* A stretch that shows nothing is made longer, for a while. */
	if (!watch->why_not || model.duration_ns > CT_LIVE_STRETCH_NS) {
		if (watch->why_not)
			watch->until_ns = 0;
		begin_again(watch, model.end_ns);
	}
	return CT_OK;
}
