/* SPDX-License-Identifier: Apache-2.0 */
/* model.h — the ranks, hosts, communicators and processes of a start of the job, as one reading
 * found them. Every analysis starts from it.
 *
 * The stream (stream/stream.h) owns and fills it; analyses read it, and identify a rank by its
 * slot, an index into `slots` (starts.h). Times are CLOCK_MONOTONIC of the host unless stated
 * otherwise; ct_model_at() converts them to the run's. One thread. */
#ifndef CT_ANALYZER_MODEL_MODEL_H
#define CT_ANALYZER_MODEL_MODEL_H

#include "analyzer/base/arena.h"
#include "analyzer/base/hist.h"
#include "analyzer/base/interval_cover.h"
#include "analyzer/base/interval_union.h"
#include "analyzer/model/clocks.h"
#include "analyzer/model/comms.h"
#include "analyzer/model/environment_facts.h"
#include "analyzer/model/left_out.h"
#include "analyzer/model/op_classes.h"
#include "analyzer/model/process_exit.h"
#include "analyzer/model/process_facts.h"
#include "analyzer/model/report.h"
#include "analyzer/model/starts.h"

struct ct_port_sums;

/* How long a slot waited for communication in all. Known if enough of it was measured. */
struct ct_exposed {
	int is_known;
	uint64_t comm_ns; /* of what was measured */
	uint64_t exposed_ns, err_ns;
};

/* One rank of this start of the job. */
struct ct_rank_state {
	int rank; /* -1 unknown */
	uint32_t host;
	uint32_t process; /* its latest one ... */
	uint32_t local;	  /* ... and which of that process's ranks it is */
	int device;	  /* -1 none or unknown */
	int leaves;	  /* its process has begun to leave its library (MPI_Finalize) */
	int muddled;	  /* represents several indistinguishable ranks: not judged */
	uint64_t ops, bytes;
	uint64_t lateness_ns, last_count, err_ns;
	struct ct_union waited; /* when it waited for others */
	uint64_t judged;	/* instances behind the waits */
	uint64_t unmeasured;	/* ops of which it is not known how long they communicated, but for
				   left_out */
	uint64_t launches, timed;    /* whose end ought to be known, and those whose end is */
	struct ct_left_out left_out; /* launches on a GPU, by when they were called */
	struct ct_cover busy;	     /* in at least one operation */
	enum ct_timing timing;
	unsigned records_waits; /* see ct_rank_records_waits() */
	unsigned hides_waits; /* by library: something ended, and it is not known which rank waited
				 for it */
	uint64_t vague_ns;    /* up to here it is not known when it waited */
	struct ct_exposed exposed; /* overlap's result */
};

/* Of this library, does the slot's process have the calls on record in which it waits? As far as
 * was read. */
static inline int ct_rank_records_waits(const struct ct_rank_state *slot, unsigned backend)
{
	return (int)(slot->records_waits >> (backend & 31) & 1);
}

static inline void ct_rank_set_records_waits(struct ct_rank_state *slot, unsigned backend)
{
	slot->records_waits |= 1u << (backend & 31);
}

static inline void ct_rank_set_hides_waits(struct ct_rank_state *slot, unsigned backend)
{
	slot->hides_waits |= 1u << (backend & 31);
}

/* Is it known when the slot's process waited in this library? Of MPI also where it does nothing but
 * block: its calls are made by threads that compute. Once all is read. */
static inline int ct_rank_knows_waits(const struct ct_rank_state *slot, unsigned backend)
{
	return ct_rank_records_waits(slot, backend) ||
	       (backend == CT_BACKEND_MPI && !(slot->hides_waits >> (backend & 31) & 1));
}

/* Is an unfinished operation unusual for a run that makes progress? */
enum ct_stuck {
	CT_STUCK_NOT,
	CT_STUCK_UNUSUAL, /* under way for much longer than its like take in this run */
	CT_STUCK_LATE,	  /* under way for longer than COMMTRACE_HANG_AFTER */
};

/* An op that was under way at the last record of its process: inside its call or, if it is
 * `launched`, on the GPU for much longer than is usual, or begun by a rank that then was in a call
 * that waits. Or such a call. */
struct ct_unreturned {
	struct ct_op op; /* of a call: tid and enter_ns */
	int launched;
	int is_call; /* that moves no data */
	int by_host; /* nothing that runs on a GPU */
	uint32_t process, slot;
	enum ct_stuck stuck;
	const struct ct_comm *comm; /* NULL unknown */
	const char *call;	    /* NULL unknown; in the model's arena */
};

struct ct_stuck_sum {
	uint32_t all;	     /* stuck, or of a process that has ended and will never end them */
	uint32_t late;	     /* CT_STUCK_LATE */
	uint32_t unusual;    /* CT_STUCK_UNUSUAL of processes that run */
	uint64_t longest_ns; /* of the late and the unusual */
};

/* What is kept of a process after it was read. */
struct ct_model_process {
	struct ct_process_facts facts;
	struct ct_gaps gaps;
	struct ct_environment_facts environment;
	const char **notes;
	struct ct_port_sums *ports; /* NULL: none were sampled */
	int read;
	uint64_t first_ns, last_ns; /* its operations; 0, 0: none */
	uint64_t last_act_ns;	    /* latest begin, return or end of an operation ... */
	uint64_t failed_ns;	    /* ... if that operation failed; 0: it did not */
};

struct ct_model {
	const struct ct_run *run;
	const char *boot_id; /* of the machine that analyzes; NULL unknown */
	struct ct_starts *starts;
	int restart;
	struct ct_arena *memory;
	struct ct_rank_state *slots;
	uint32_t n_slots;
	uint32_t *host_of; /* by slot */
	/* By host: its CLOCK_MONOTONIC to ns since the run began (modulo 2^64). Where clocks are
	 * synchronized, at about the time of the instance at hand; else by its time of day. */
	uint64_t *shift;
	uint64_t begin_unix_ns;
	/* Since the run began: what is judged, and what shares of the run are of. from_ns is 0
	 * unless steps are skipped. */
	uint64_t from_ns, end_ns;
	uint64_t duration_ns; /* between them */
	struct ct_comms comms;
	struct ct_classes classes;
	struct ct_op_names names;
	struct ct_model_process *processes; /* by process of the run */
	struct ct_unreturned *unreturned;
	uint32_t n_unreturned, cap_unreturned;
	uint64_t ops;
	uint64_t matched;  /* collectives whose waits are known: the evidence of every judgement */
	uint64_t messages; /* point-to-point operations with both ends */
	uint64_t to_self;  /* of these, those of a rank to itself */
	uint64_t incomplete;
	uint64_t open_launches;
	uint64_t time_err_ns;
	struct ct_hist time_err; /* of the spans */
};

/* Set `shift` and `begin_unix_ns` by the starts and their clocks: the run begins with its first
 * process. Call it again when the clocks become known. */
void ct_model_set_begin(struct ct_model *model);

/* A time of a host as ns since the run began. */
uint64_t ct_model_host_at(const struct ct_model *model, uint32_t host, uint64_t mono_ns);

/* A time of the host of `process` as ns since the run began. */
uint64_t ct_model_at(const struct ct_model *model, uint32_t process, uint64_t mono_ns);

/* The environment in the start record of the slot's process. */
static inline const struct ct_environment_facts *ct_model_environment(const struct ct_model *model,
								      uint32_t slot)
{
	return &model->processes[model->slots[slot].process].environment;
}

/* The same for a slot's host, by the shift at the instance at hand: cheaper, and exact while that
 * is judged. */
uint64_t ct_model_slot_at(const struct ct_model *model, uint32_t slot, uint64_t mono_ns);

/* What the end of a process is judged by, as far as it was read; all but `waited`. */
struct ct_exit_facts ct_model_exit_facts(const struct ct_model *model, uint32_t process);

/* For how long it had been, ns. */
uint64_t ct_model_age(const struct ct_model *model, const struct ct_unreturned *unreturned);

/* The operations that had not ended. */
void ct_stuck_sum(const struct ct_model *model, struct ct_stuck_sum *sum);

/* Launches of CUDA graphs that the recorder could not follow: from there on the sequence numbers of
 * a rank's operations are not those of the others. */
uint64_t ct_model_order_lost(const struct ct_model *model);

#endif
