/* SPDX-License-Identifier: Apache-2.0 */
/* clock_job.h — a job on hosts whose clocks are off, drift and wander, and what its operations look
 * like on these: the scenarios of the table in docs/dev/algorithms/clocks.md. The truth is known,
 * since the clocks are made here. */
#ifndef CT_TESTS_UNIT_CLOCK_JOB_H
#define CT_TESTS_UNIT_CLOCK_JOB_H

#include <stdint.h>

#include "analyzer/clock/points.h"

#define CLOCK_JOB_HOSTS 64

struct clock_job {
	/* what happens; 0: as in the comment */
	int hosts, per_host;	/* 8, 8 */
	double seconds, step;	/* 300, 0.5 */
	int large;		/* operations of 1.2 ms in a step: 12 */
	int no_small;		/* without one of 35 us at its end */
	int straggler;		/* host + 1 that computes 10 % longer */
	double offset_s, drift; /* +-: 0.05, 20e-6 */
	double wander;		/* rate of a clock: a random walk, per root of a second */
	double jitter_from_us,
		jitter_to_us; /* of a rank, between these: 5, 50; a time is late by U(0, that) */
	double skew_us;	      /* a rank always ends later by U(0, that): 10 */
	int no_ends;	      /* 1: ends are only known when polled */
	double late_rank_us;  /* the first rank of host 2 always ends so much later */
	double published_us;  /* error of every time; 0: the rank's jitter */
	/* what goes wrong */
	int stepped;		/* host + 1 whose clock is set, ... */
	double step_at, step_s; /* ... when and by how much */
	int shifted; /* host + 1 of which one kind of operation is matched with the one before */
	unsigned seed;
	/* what it comes to */
	uint64_t base[CLOCK_JOB_HOSTS];
	double off[CLOCK_JOB_HOSTS], rate[CLOCK_JOB_HOSTS];
	double *walk; /* by host and second */
	int walk_n;
	double end_s;
};

/* Run it; what happens goes to `points`, which has space for its hosts. */
void clock_job_run(struct clock_job *job, struct ct_clock_points *points);

/* What the host's clock shows at a time of the job, ns. */
uint64_t clock_job_local(const struct clock_job *job, int host, double t);

void clock_job_fini(struct clock_job *job);

/* Uniform in [0, 1). */
double clock_job_random(uint64_t *state);

#endif
