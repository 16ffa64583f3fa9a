/* SPDX-License-Identifier: Apache-2.0 */
/* even_job.h — the slowdown against an even job, and the ranks and stages that cause it.
 *
 * In the even job all ranks, stages and steps compute the same: at each position the mean over the
 * stage, scaled so that all stages take equally long; a transfer takes the median of its kind
 * between the same ranks. Then, all by replay, T the time as recorded, I that of the even job: S =
 * T / I; S_stage, S_worker: only that stage (those of that worker in their stages) computes as
 * recorded; S_w of a rank: the smaller of the S of its worker and of its stage; without stages that
 * of its worker, and in stages of one rank that of the stage; M_W = (T - time with the worst ranks
 * even) / (T - I), worst: 3 %, one at least, by S_w; M_S likewise for the last stage. Source: arXiv
 * 2505.05713, section 4. */
#ifndef CT_ANALYZER_LATENESS_REPLAY_EVEN_JOB_H
#define CT_ANALYZER_LATENESS_REPLAY_EVEN_JOB_H

#include "analyzer/base/tasks.h"
#include "analyzer/lateness/replay/engine.h"

struct ct_even_job {
	double s;		/* NAN: nothing is known, here or below */
	double s_err;		/* by how the steps differ, and what such a play is off by */
	double *s_stage;	/* by stage */
	double *s_worker;	/* by slot; NAN: not played */
	double m_worst, m_last; /* NAN: S is too near 1, or there is one stage */
	double m_worst_least,
		m_worst_most;  /* what m_worst may be: by chance others may be the worst ... */
	uint32_t may_be_worst; /* ... which are so many, with those that are */
};

/* The plays are spread over the threads of `tasks`, NULL: none. 0 or CT_NOMEM; ct_even_job_fini()
 * in any case. */
int ct_even_job_play(struct ct_even_job *job, struct ct_engine *engine, struct ct_tasks *tasks);
void ct_even_job_fini(struct ct_even_job *job);

#endif
