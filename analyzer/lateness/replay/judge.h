/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h — the results of the replay: imbalance, slow ranks, and the total cost of communication. */
#ifndef CT_ANALYZER_LATENESS_REPLAY_JUDGE_H
#define CT_ANALYZER_LATENESS_REPLAY_JUDGE_H

#include "analyzer/lateness/replay/engine.h"
#include "analyzer/lateness/replay/even_job.h"
#include "analyzer/lateness/replay/slow_rows.h"
#include "analyzer/lateness/replay/unevenness.h"

/* All zero but engine.why_not where nothing is known. */
struct ct_replay_judgement {
	struct ct_engine engine;
	struct ct_even_job even;
	struct ct_slow_rows rows;
	struct ct_unevenness uneven;
};

/* Threads of `tasks` (NULL: none) share the plays. 0 or CT_NOMEM; ct_replay_judgement_fini() in any
 * case. */
int ct_replay_judge(struct ct_replay_judgement *judgement, const struct ct_model *model,
		    const struct ct_instance_log *log, const struct ct_steps *steps,
		    struct ct_tasks *tasks);
void ct_replay_judgement_fini(struct ct_replay_judgement *judgement);

/* Does the unchanged replay differ from the recording (a dependency was not recorded), or is the
 * run so short that a busy moment of the machine affects all steps? In both cases slow ranks cannot
 * be identified. */
int ct_replay_is_off(const struct ct_replay_judgement *judgement);

/* Do ranks that are not pipeline stages wait for each other much longer than the findings explain?
 * Fraction of the time; 0: no. Then the absence of slow ranks is not a result, and the even job's
 * time is unknown. */
double ct_replay_unexplained(const struct ct_replay_judgement *judgement);

/* Of the run, what is so much of the engine's steps (ns). */
uint64_t ct_replay_of_run(const struct ct_replay_judgement *judgement, double ns,
			  uint64_t duration_ns);

/* The fraction of that in the steps: they leave out what comes before and after them, as long as a
 * step. */
double ct_replay_in_steps(const struct ct_replay_judgement *judgement);

/* Fills the report. 0 or CT_NOMEM. */
int ct_replay_fill(const struct ct_replay_judgement *judgement, const struct ct_model *model,
		   struct ct_report *report);

#endif
