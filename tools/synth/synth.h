/* SPDX-License-Identifier: Apache-2.0 */
/* synth.h — what a run that is to be made is like, and what makes it: the files of a run as a
 * recorder would have left them, of a job whose truth is known. The same options give the same
 * bytes. One thread. */
#ifndef CT_TOOLS_SYNTH_SYNTH_H
#define CT_TOOLS_SYNTH_SYNTH_H

#include "tools/synth/play.h"
#include "trace/status.h"

#define CT_SYNTH_FAULTS 16

/* How launches are timed, as COMMTRACE_TIMING has it. */
enum ct_synth_timing {
	CT_SYNTH_EVENTS,
	CT_SYNTH_HOST,
	CT_SYNTH_PLUGIN,
	CT_SYNTH_OFF,
	CT_SYNTH_TIMINGS
};

struct ct_synth_options {
	struct ct_workload_config job; /* its faults are those below */
	struct ct_fault faults[CT_SYNTH_FAULTS];
	int per_process; /* ranks in a process */
	struct ct_play_world world;
	enum ct_synth_timing timing;
	double offset_ms;	/* hosts' clocks are off by up to so much, either way ... */
	double drift_ppm;	/* ... run fast or slow by up to so much ... */
	double wander_ppb;	/* ... and change that by this deviation each second */
	double jitter_us;	/* event times come late by up to a tenth of this to all of it */
	uint64_t segment_bytes; /* a larger segment is followed by another one, at a heartbeat; 0:
				   there is one */
	double give_up_s;	/* a job that hangs is killed after so long */
};

/* A small healthy job on one host whose clocks are right. */
struct ct_synth_options ct_synth_defaults(void);

/* The words of enum ct_synth_timing; NULL behind the last. */
const char *ct_synth_timing_name(unsigned timing);

/* The key of a communicator, as the library would give it. */
uint64_t ct_synth_comm_key(const struct ct_synth_options *options, int comm);

struct ct_synth_clocks;

/* What became of it, with what would have without some of it. Owned by the caller,
 * ct_synth_outcome_free(). */
struct ct_synth_outcome {
	struct ct_workload *workload;
	struct ct_synth_clocks *clocks;
	struct ct_play_sums sums;
	uint64_t duration_ns;
	uint64_t ideal_ns; /* without any fault */
	struct {
		uint64_t without_ns; /* the job without this one */
		double injected_ns;
		int is_known; /* whether both got through */
	} faults[CT_SYNTH_FAULTS];
};

/* Play the job and write its processes' files into the directory `dirfd`, which is the run. 0 or a
 * negative status; a job that cannot be, as ct_workload_make() says, is CT_RANGE. */
int ct_synth_write(const struct ct_synth_options *options, int dirfd,
		   struct ct_synth_outcome *outcome, struct ct_err *err);

/* The same job without each of its faults, and without any: played in threads of their own, beside
 * the writing. */
struct ct_synth_comparison;
struct ct_synth_comparison *ct_synth_compare_begin(
	const struct ct_synth_options *options); /* NULL: no memory */

/* Wait for them, put what they report into the outcome, free them; NULL is CT_NOMEM. An outcome of
 * NULL is let go. */
int ct_synth_compare_end(struct ct_synth_comparison *comparison, struct ct_synth_outcome *outcome,
			 struct ct_err *err);

/* The truth as JSON, into the file. 0 or CT_IO. */
int ct_synth_truth(const struct ct_synth_options *options, const struct ct_synth_outcome *outcome,
		   const char *path, struct ct_err *err);

void ct_synth_outcome_free(struct ct_synth_outcome *outcome);

#endif
