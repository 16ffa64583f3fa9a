/* SPDX-License-Identifier: Apache-2.0 */
/* job.h — synthetic jobs for the tests of the analyzer: ranks on hosts with clocks of their own
 * write real segment files through the writing half, and what happened in the job is known.
 * Everything fails the test that calls it; the main thread only; uses fixture.h's directory. */
#ifndef CT_TESTS_UNIT_JOB_H
#define CT_TESTS_UNIT_JOB_H

#include "analyzer/report/analyze.h"
#include "tests/unit/fixture.h"

#define JOB_MAX_RANKS 64
#define JOB_COMM                                                                                   \
	0x1122334455667788ull /* key of the communicator of all ranks, id 1 in every process */

struct job_options {
	const char *run;    /* directory below the test's own; made if it is not there */
	int ranks;	    /* of the job */
	int ranks_per_host; /* 0: all on one host */
	uint64_t absent;    /* mask of ranks that leave no trace */
	uint32_t restart;
	uint64_t start_ns;  /* job time at which recording starts */
	uint32_t block_ops; /* ops per block, 0: 1000 */
	uint32_t pid;	    /* of rank 0, the others follow; 0: 4000000 */
	int alive;	    /* they are children of the test, and live */
	const char *host;   /* instead of "host0", ... */
	int nameless;	  /* the processes do not know their ranks, and no communicator is the whole
			     job's */
	int jobs_differ;  /* each process has a name of its own for its job */
	unsigned backend; /* of all communicators; 0: Gloo */
};

struct job {
	struct job_options o;
	struct fx_writer writers[JOB_MAX_RANKS];
	struct ct_process ids[JOB_MAX_RANKS];
	uint64_t clock[JOB_MAX_RANKS]; /* what the host's clock shows at job time 0 */
	uint64_t slots[JOB_MAX_RANKS]; /* written so far */
	uint64_t seq[JOB_MAX_RANKS];
	int began[JOB_MAX_RANKS]; /* a block is being filled */
};

/* All times given to a job are nanoseconds of job time; each host's clock shows something else. */
void job_open(struct job *job, const struct job_options *options);

/* A communicator of `n` ranks under process-local id `id`, reported by every member but the absent.
 */
void job_comm(struct job *job, uint32_t id, uint64_t key, const char *name, const int *ranks,
	      uint32_t n);

/* Record an op of one rank; enter_ns and return_ns (0: still inside) in job time. */
void job_op(struct job *job, int rank, struct ct_op op);
void job_launch(struct job *job, int rank, struct ct_launch launch);
void job_rare(struct job *job, int rank, enum ct_kind kind, const void *data, size_t len);

/* A collective of the communicator of all ranks, entered at `enter`, left at `leave`. */
void job_collective(struct job *job, int rank, unsigned op, uint64_t count, uint64_t enter,
		    uint64_t leave);

/* Write the block that is being filled. */
void job_flush(struct job *job, int rank);

/* End one rank's recording: in order at `end_ns`, or (0) like a kill without a ring. */
void job_end(struct job *job, int rank, uint64_t end_ns);
/* End all that have not ended. */
void job_close(struct job *job, uint64_t end_ns);

/* A data-parallel loop: every rank computes, then all reduce, `ops` times a step. */
struct job_loop {
	int steps, ops;
	double step_ms;	  /* computing in it */
	double noise;	  /* sd of one piece of computing, share of it */
	double spread;	  /* static difference between ranks: +- this share */
	double hiccup;	  /* chance of one per rank and step ... */
	double hiccup_ms; /* ... and its mean length */
	double skew_us;	  /* ends lie this far apart */
	double transfer_us;
	uint64_t slow;	 /* mask of slow ranks ... */
	double slow_pct; /* ... and by how much */
	double from, to; /* in this part of the run; to 0: to its end */
	unsigned seed;
};

/* Run the loop from job time `begin`, on comm id 1. Returns the job time of its end; *loss gets how
 * much sooner it would have ended without slow ranks, all else equal. */
uint64_t job_run(struct job *job, const struct job_loop *loop, uint64_t begin, uint64_t *loss);

/* Read the run back and analyze it (restart -1: the last). */
struct ct_report *job_report(const struct job *job, int restart);

/* The finding of a kind, NULL if there is none. */
const struct ct_finding *job_finding(const struct ct_report *report, enum ct_finding_kind kind);

/* Its figures in a line, as ct_finding_write() has it; valid until the next call. */
const char *job_pairs(const struct ct_finding *finding);

/* What ct_report_text(), or (info) ct_info_text(), writes; to be freed. */
char *job_text(const struct ct_report *report, int info);

#endif
