/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h — which ranks make the others wait, and what is gained if they were as fast as their
 * peers.
 *
 * The replay (replay.h) runs the job again with other gaps. A gap is how long a rank computed
 * before it launched an operation. Two references answer two questions. How long would an even job
 * take (even_job.h)? All ranks, stages and steps compute alike. What does repairing these ranks
 * gain (slow_rows.h)? Their gaps are set to the level of their own stage. Formulas:
 * docs/dev/algorithms/lateness.md. Times are ns; one thread. */
#ifndef CT_ANALYZER_LATENESS_REPLAY_ENGINE_H
#define CT_ANALYZER_LATENESS_REPLAY_ENGINE_H

#include "analyzer/lateness/replay/positions.h"
#include "analyzer/lateness/replay/replay.h"
#include "analyzer/lateness/replay/schedule.h"
#include "analyzer/lateness/replay/stages.h"
#include "analyzer/model/model.h"
#include "analyzer/steps/steps.h"
#include "analyzer/stream/instance_log.h"

struct ct_engine {
	const char *why_not;	     /* why there is no result; NULL: there is one */
	struct ct_schedule schedule; /* gaps before which operations without times lie: as their
					rank mostly has them */
	struct ct_stages stages;     /* known in any case */
	struct ct_positions positions;
	struct ct_replay replay;
	uint32_t *steps; /* those that count: whole, like the one before them */
	uint32_t n_steps;
	uint32_t *stretch_of;  /* by n_steps: that it lies in */
	double *end_ns;	       /* by n_steps: as recorded, since the run began */
	uint32_t n_run;	       /* steps that the run has, as far as they were counted */
	double *own_ns;	       /* by slot x n_steps: computed in that step; NAN: not known */
	double *mean_ns;       /* by slot: mean of these; NAN: none is known */
	double *level_ns;      /* by the slot's worker x position, see ct_engine_level() */
	double *position_ns;   /* by position: mean of these over its stage's ranks that are ever
				  there; 0: none is */
	double under_messages; /* of what ranks compute, the share during which messages of theirs
				  were under way */
	int is_of_hosts;       /* hosts timed most of it */
	int has_graphs; /* launches of CUDA graphs compute and communicate in one span: which rank
			   is slow inside them does not show */
	int has_holes;	/* operations lack members */
	uint8_t *is_carried; /* by launch: it has no position, and its gap counts for the next one
				in the step that has */
	int64_t *other_ns;   /* by launch: space for other gaps */
	double *recorded_ns,
		*played_ns;	 /* by n_steps: how long the steps take, and take when played */
	int64_t *room_ns;	 /* by n_steps */
	double recorded, played; /* their sums */
	int64_t free_ns, all_ns; /* all of what is played, without communication and with it */
};

/* Builds and plays what was recorded, where that can show something: it was timed on GPUs, little
 * is missing, and there are steps. 0 or CT_NOMEM; ct_engine_fini() in any case. */
int ct_engine_build(struct ct_engine *engine, const struct ct_model *model,
		    const struct ct_instance_log *log, const struct ct_steps *steps);
void ct_engine_fini(struct ct_engine *engine);

/* Which of the steps that count this one is; n_steps: none. */
uint32_t ct_engine_step(const struct ct_engine *engine, uint32_t step);

/* Mean of what the slot computes at a position of its stage; 0: it is never there. */
double ct_engine_level(const struct ct_engine *engine, uint32_t slot, uint32_t position);

/* Mean over the stage's ranks of what they compute in a step; 0 unknown. */
double ct_engine_stage_mean(const struct ct_engine *engine, uint32_t stage);

/* How long all steps take with these gaps (by launch) and transfers (by exchange; NULL as
 * recorded). each: by n_steps, or NULL. */
double ct_engine_play(struct ct_engine *engine, const int64_t *gap_ns, const int64_t *transfer_ns,
		      double *each);

/* The same engine, to be played beside `from` by another thread: what plays write is its own
 * (replay, other_ns, room_ns), all else is shared, so `from` is to be left as it is otherwise. 0 or
 * CT_NOMEM; ct_engine_leave() in any case. */
int ct_engine_share(struct ct_engine *engine, const struct ct_engine *from);
void ct_engine_leave(struct ct_engine *engine);

/* Of steps that were played: do they take another time than they took? And are they so little time,
 * timed by hosts, that a machine that is busy for a moment is in all of them? */
int ct_engine_is_off(const struct ct_engine *engine);
int ct_engine_is_short(const struct ct_engine *engine);

/* Share of the launches that queued up, so that when they were ready is a guess. Are they many? */
double ct_engine_guessed(const struct ct_engine *engine);
int ct_engine_guesses(const struct ct_engine *engine);

/* Share of a difference between two plays that is uncertain: what the play is off by, and the model
 * itself. */
double ct_engine_error(const struct ct_engine *engine);

#endif
