/* SPDX-License-Identifier: Apache-2.0 */
/* stencil_job.h — a job as MPI runs it, that never ran: ranks in a ring compute, exchange with
 * their neighbours and, now and then, reduce over all. Each rank's waits are computed, and so is
 * what it would have taken without the slow ranks. */
#ifndef CT_TESTS_UNIT_STENCIL_JOB_H
#define CT_TESTS_UNIT_STENCIL_JOB_H

#include "tests/unit/job.h"

struct stencil {
	int ranks, per_host;	  /* per_host 0: one host */
	int steps, every;	  /* an all-reduce every so many steps */
	double step_ms;		  /* computing in a step */
	double overlap;		  /* share of it between posting and waiting */
	double noise;		  /* sd of one piece of computing, share of it */
	double spread;		  /* static difference between ranks: +- this share */
	double hiccup, hiccup_ms; /* stalls: chance per rank and step, mean length */
	double transfer_us;	  /* of a message, once both ends are there */
	double skew_us;		  /* ends of a collective lie this far apart */
	int blocking;		  /* also a blocking exchange around the ring (MPI_Sendrecv) */
	int quiet_waits; /* no records of the calls that wait, as from a recorder that has none */
	int chain;	 /* no ring: the first and the last rank have one neighbour each */
	double bulk_ms; /* the first rank only, at the end of each window: this much computing ... */
	double exchange_ms; /* ... while the others exchange what takes this long */
	uint64_t slow;	    /* mask of slow ranks ... */
	double slow_pct;
	unsigned seed;
};

/* Play it, write the run as the test's directory "run" and analyze it. *time_lost_ns: how much
 * sooner it would have ended without the slow ranks; *end_ns: when it ended, may be NULL. */
struct ct_report *stencil_report(const struct stencil *stencil, uint64_t *time_lost_ns,
				 uint64_t *end_ns);

#endif
