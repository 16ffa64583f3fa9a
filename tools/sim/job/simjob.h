/* SPDX-License-Identifier: Apache-2.0 */
/* simjob.h — commtrace-simjob: a training job on simulated GPUs. One process launches the others,
 * as torchrun does (launch.c); each of those holds one rank or several, a thread each (process.c),
 * which does what its op stream says (rank.c). Results go through a board that all processes share.
 */
#ifndef CT_TOOLS_SIM_JOB_SIMJOB_H
#define CT_TOOLS_SIM_JOB_SIMJOB_H

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/abi/nccl.h"
#include "tools/workload/workload.h"

enum { SIMJOB_FAILED = 1, SIMJOB_USAGE = 2, SIMJOB_FAULTS = 16, SIMJOB_IDS = 3 };

struct simjob_options {
	struct ct_workload_config config;
	struct ct_fault faults[SIMJOB_FAULTS];
	int ranks_per_process;
	int nonblocking; /* communicators are */
	int graph;	 /* 0: no CUDA graphs; 1 + the capture mode */
	int timing;	 /* 0: every simulated duration is zero */
	int kill_on_death;
	int only_where; /* no job is run */
	double give_up_s;
	double clock_offset_ms, drift_ppm; /* at most, of each device */
	double end_skew_us;
	const char *journal, *result, *spans, *stalls, *node_env;
	int board_fd, process; /* of a launched process; -1: the launcher */
};

/* What the processes of a job share. All of it is zero at first. */
struct simjob_rank_board {
	_Atomic uint64_t actions; /* grows while the rank gets on */
	_Atomic uint64_t steps;	  /* that are over; then checksum is that of the last */
	_Atomic uint64_t checksum;
	_Atomic uint64_t wrong;	 /* elements that communication brought and that were wrong */
	_Atomic uint64_t misuse; /* of its process, so far */
	_Atomic uint32_t has_error;
	char error[160]; /* set before has_error */
};

struct simjob_board {
	struct {
		_Atomic uint32_t is_there;
		ncclUniqueId id;
	} ids[SIMJOB_IDS]; /* world, and the two of pairs */
	struct simjob_rank_board ranks[];
};

/* Everything about the job that a process knows. */
struct simjob {
	struct simjob_options options;
	struct ct_workload *workload;
	struct simjob_board *board;
};

/* Fill in from the command line; prints and exits on --help and on errors. */
void simjob_options(struct simjob_options *options, int argc, char **argv);

/* The launcher: exit status of the job. argv is what every process gets. */
int simjob_launch(struct simjob *job, char **argv);

/* A launched process: exit status. */
int simjob_process(struct simjob *job);

/* Write where each fault strikes, as JSON: exit status. */
int simjob_where(const struct simjob *job);

/* The clock of a rank's device. */
void simjob_clock(const struct simjob *job, int rank, int64_t *offset_ns, double *ppm);

/* The result file: how the job went, and nothing that depends on time. `ends` is one per process. */
struct simjob_end {
	int first_rank;
	int code; /* exit status, or signal */
	int is_signal;
	int is_stopped; /* the launcher did it */
};
int simjob_write_result(const struct simjob *job, const struct simjob_end *ends, int n, int status);

#endif
