/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h — what playing the run again says: how uneven it is, who is slow, and what communication costs at all. */
#ifndef CT_REPLAY_JUDGE_H
#define CT_REPLAY_JUDGE_H

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

/* Threads of `tasks` (NULL: none) share the plays. 0 or CT_NOMEM; ct_replay_judgement_fini() in any case. */
int ct_replay_judge(struct ct_replay_judgement *judgement, const struct ct_model *model,
		    const struct ct_tape *log, const struct ct_steps *steps,
		    struct ct_tasks *tasks);
void ct_replay_judgement_fini(struct ct_replay_judgement *judgement);

/* Played as recorded, do its steps take another time? Then something that ranks wait for is not on record. Or do they take so little
 * that a machine that is busy for a moment is in all of them? Either way nothing tells who is slow. */
int ct_replay_is_off(const struct ct_replay_judgement *judgement);

/* Do ranks wait for each other much longer than what was found explains, and are no stages of a pipeline? Share of the time; 0: no.
 * Then nobody's being slow is no news, and what an even job would take is not known. */
double ct_replay_unexplained(const struct ct_replay_judgement *judgement);

/* Of the run, what is so much of the engine's steps (ns). */
uint64_t ct_replay_of_run(const struct ct_replay_judgement *judgement, double ns,
			  uint64_t duration_ns);

/* What the report is told. 0 or CT_NOMEM. */
int ct_replay_fill(const struct ct_replay_judgement *judgement, const struct ct_model *model,
		   struct ct_report *report);

#endif
