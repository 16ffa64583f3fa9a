/* SPDX-License-Identifier: Apache-2.0 */
/* gather.h — the working state of hang/log.h and hang/collect.h: data on ranks and processes during
 * the reading, before it becomes a case. For these files only. One thread. */
#ifndef CT_ANALYZER_HANG_GATHER_H
#define CT_ANALYZER_HANG_GATHER_H

#include "analyzer/base/hist.h"
#include "analyzer/hang/hang_run.h"
#include "analyzer/hang/log.h"
#include "analyzer/hang/rank_history.h"
#include "analyzer/hang/tails.h"
#include "analyzer/load/load.h"
#include "analyzer/load/stacks.h"
#include "analyzer/model/model.h"

/* A call that moves no data, entered or over. */
struct ct_hang_seen_call {
	struct ct_host_rec rec;
	const char *call, *site;
	enum ct_host_call kind;
	uint32_t process;
	int goes_on;   /* the call has returned, its work has not completed */
	uint32_t comm; /* index in the case, UINT32_MAX unknown; set after the reading */
};

struct ct_hang_reading;

/* State of one process beyond struct ct_model_process. */
struct ct_hang_process {
	struct ct_hang_reading *reading; /* NULL: it has been read, or nothing of it has */
	int was_read;
	struct ct_rank_history *histories; /* communicators of its ranks; after the reading, in
					      struct ct_gather's list */
	struct ct_end end;
	enum ct_exit_manner manner;
	int has_starts;		    /* starts of work on a GPU were seen */
	uint64_t last_heartbeat_ns; /* CLOCK_MONOTONIC of its host, like the next one */
	uint64_t until_ns; /* its records are complete up to here; UINT64_MAX: complete, and the
			      process runs */
	const char *error; /* that a library reported first; NULL none */
	uint64_t error_ns;
	const struct ct_comm *error_comm; /* NULL unknown */
	struct ct_stack_list *stacks;	  /* NULL none */
	uint32_t device;		  /* its latest GPU */
	uint64_t waited_ns;		  /* age of its oldest unfinished operation at its end */
	int lost;			  /* records of it are missing */
	int damaged;			  /* files are damaged, and the lost content is unknown */
	int deserted; /* its last operation failed, and a rank that exited cleanly never entered it */
	int blind;    /* its GPUs were not polled for longer than a stall takes */
};

/* Durations of one operation on one communicator. */
struct ct_hang_class {
	struct ct_hist took;
	uint64_t limit_ns; /* 0: not worked out */
};

static inline uint64_t ct_hang_class_key(const struct ct_comm *comm, unsigned op)
{
	return (uint64_t)comm->index << 8 | op;
}

/* Latest end on a GPU stream: work queued there has not started before. */
struct ct_hang_stream {
	uint64_t end_ns;
	uint32_t stream;
};

/* When a thread called something last, by its number. */
#define CT_HANG_ENTERED 128u /* size: threads of a process */
struct ct_hang_entered {
	uint32_t tid;
	uint64_t enter_ns;
};

/* A process while it is being read. */
struct ct_hang_reading {
	struct ct_hang_entered entered[CT_HANG_ENTERED];
	uint64_t last_enter_ns;
	struct ct_rank_history *latest; /* the latest operation's */
	struct ct_hang_stream *stream;	/* of the latest operation on a stream */
	struct ct_hang_seen_call *open_calls;
	uint32_t n_open_calls, cap_open_calls;
};

struct ct_gather {
	struct ct_hang_options options;
	const struct ct_run *run;
	const struct ct_model *model;	   /* the stream's */
	const struct ct_hang_tails *tails; /* the tails to decode; NULL: everything */
	uint64_t n_read;		   /* processes */
	struct ct_arena *memory;	   /* of the result */
	struct ct_arena *scratch;
	struct ct_hang_process *processes; /* by process of the run */
	struct ct_rank_history
		*histories; /* of all ranks; after the reading, those of later processes first */
	struct ct_hang_seen_call *calls;
	uint32_t n_calls, cap_calls;
	struct ct_table classes; /* communicator and operation -> struct ct_hang_class */
	struct ct_table streams;
	struct ct_table
		by_id; /* process and its number for a communicator -> struct ct_rank_history */
	uint32_t next; /* the first process not added yet; processes are added in order, whatever
			  the order of reading */
	uint32_t *numbers; /* by the model's index of a communicator: its index in the case + 1 */
	uint32_t cap_numbers;
	const struct ct_comm **comms; /* those of the case: the model's, by process and order of
					 creation, then those known from calls only */
	uint32_t n_comms, cap_comms;
	uint32_t n_orders;	      /* the model's among them */
	struct ct_hang_order *orders; /* by communicator of the case */
	uint32_t cap_orders;
	struct ct_table members; /* communicator and rank in it -> struct ct_rank_history */
	struct ct_table texts;	 /* hash -> text of the result */
	/* once all is read */
	uint32_t host;		    /* the host whose clock is the run's */
	uint32_t *ranks;	    /* by slot: index in the case, UINT32_MAX none */
	struct ct_comms called;	    /* members of communicators, as recorded by their calls */
	struct ct_hang_want *wants; /* by communicator of the case: what the second reading keeps */
	uint64_t *torn_down; /* by host: when the shutdown of the job began, in the run's time;
				CT_UNKNOWN */
};

/* The index in the case of a communicator of the model, once its first process was taken in. */
static inline uint32_t ct_gather_number(const struct ct_gather *g, const struct ct_comm *comm)
{
	return g->numbers[comm->index] - 1;
}

/* Was the process read? One of another start of the job is not. */
static inline int ct_gather_has(const struct ct_gather *g, uint32_t process)
{
	return g->model->processes[process].read;
}

static inline uint32_t ct_gather_host_of(const struct ct_gather *g, uint32_t process)
{
	return g->model->starts->processes[process].host;
}

/* A time of its host as ns since the run began. */
static inline uint64_t ct_gather_at(const struct ct_gather *g, uint32_t process, uint64_t mono_ns)
{
	return ct_model_at(g->model, process, mono_ns);
}

/* The clock error at the process's last heartbeat; 0 on the host whose clock is the run's. A day
 * where clocks are not synchronized and the time of day was never set: unknown, and longer than any
 * step. */
#define CT_GATHER_ERR_UNSET 86400000000000ull /* code: unknown */
uint64_t ct_gather_err(const struct ct_gather *g, uint32_t process);

/* The observer's functions for a process: its calls, errors and stacks (gather_calls.c). 0 or
 * CT_NOMEM. */
int ct_gather_host(void *gather, const struct ct_stream *stream, uint32_t process,
		   const struct ct_host_rec *rec, const char *name, const char *site);
int ct_gather_error(void *gather, const struct ct_stream *stream, uint32_t process,
		    const struct ct_error_rec *rec, const char *call, const char *text);
int ct_gather_stack(void *gather, const struct ct_stream *stream, uint32_t process,
		    const uint8_t *bytes, size_t len);

/* State of a process while it is read; NULL: out of memory. */
struct ct_hang_reading *ct_gather_reading(struct ct_gather *g, uint32_t process);

/* A thread has called something. */
void ct_gather_leave_calls(struct ct_hang_reading *reading, uint32_t tid, uint64_t enter_ns);
void ct_gather_entered(struct ct_hang_reading *reading, uint32_t tid, uint64_t enter_ns);

/* Call before the process's strings are freed: keeps its current calls and the stacks that are
 * still valid, in the order of stacks.h. */
int ct_gather_end_calls(struct ct_gather *g, uint32_t process);
void ct_gather_end_stacks(struct ct_gather *g, uint32_t process);

/* The kept form of an operation; `varying` as in struct ct_member. */
struct ct_history_op ct_gather_history_op(const struct ct_load_op *op, int varying);

/* Copies the texts that the history of a process refers to, before the process is closed. 0 or
 * CT_NOMEM. */
int ct_gather_keep_texts(struct ct_gather *g, struct ct_rank_history *history);

/* The history of a process for its communicator number `id`; NULL: none. */
static inline struct ct_rank_history *ct_gather_history(const struct ct_gather *g, uint32_t process,
							uint32_t id)
{
	return ct_table_get(&g->by_id, (uint64_t)process << 32 | id);
}

/* After reading: the communicators of the case and the calls in them (case_ranks.c). 0 or CT_NOMEM.
 */
int ct_gather_list_comms(struct ct_gather *g);

/* Reads parts again if sums show that ranks differ, or if their kept operations do not overlap
 * (gather_again.c). 0, CT_NOMEM,
 * CT_IO. */
int ct_gather_again(struct ct_gather *g, struct ct_err *err);

/* The number of a stream of a device in a case; 0 is none. */
static inline uint32_t ct_gather_stream(uint32_t stream, uint32_t device)
{
	return (stream << 6 | (device & 63)) + 1;
}

/* A text of the result, equal ones once; NULL: out of memory, or `text` is NULL. */
const char *ct_gather_text(struct ct_gather *g, const char *text);

/* List the members of communicators. 0 or CT_NOMEM. */
int ct_gather_list_members(struct ct_gather *g);

/* A member of a communicator, once they are listed (case_ops.c); NULL: it left no trace. */
const struct ct_rank_history *ct_gather_member(const struct ct_gather *g,
					       const struct ct_comm *comm, int64_t rank);

/* An operation whose end was not polled (`vague`) may have completed, unless another member has not
 * entered it. Where it may have, no rank is blamed. After the members are listed (case_ops.c). */
int ct_hang_may_have_ended(const struct ct_gather *g, const struct ct_rank_history *history,
			   const struct ct_history_op *op);

/* The stall limit of an op of this class, at least `least_ns` (case_ops.c). */
uint64_t ct_hang_limit(struct ct_gather *g, const struct ct_comm *comm, unsigned op,
		       uint64_t least_ns);

/* The stall limit of a running job whose user set none: by its longest finished operation,
 * `hang_after_ns` until enough have finished (case_ops.c). */
uint64_t ct_hang_usual_ns(const struct ct_gather *g, uint64_t hang_after_ns);

/* Missing parts of the run, as sentences (missing.c). 0 or CT_NOMEM. */
int ct_hang_missing(struct ct_gather *g, struct ct_hang_run *out);

/* How long each process had waited for its oldest unfinished operation (case_ops.c). */
int ct_hang_waited(struct ct_gather *g);

/* The arrays of the case (case_ranks.c, case_ops.c). 0 or CT_NOMEM. */
int ct_hang_fill_ranks(struct ct_gather *g, struct ct_hang_run *out);
int ct_hang_fill_comms(struct ct_gather *g, struct ct_hang_run *out);
int ct_hang_fill_ops(struct ct_gather *g, struct ct_hang_run *out);
int ct_hang_fill_calls(struct ct_gather *g, struct ct_hang_run *out);

#endif
