/* SPDX-License-Identifier: Apache-2.0 */
/* gather.h — the working state of hang/collect.h: what is read of processes before it becomes a case. Not for others. One
 * thread. */
#ifndef CT_HANG_GATHER_H
#define CT_HANG_GATHER_H

#include "analyzer/base/hist.h"
#include "analyzer/hang/channels.h"
#include "analyzer/hang/collect.h"
#include "analyzer/hang/rank_history.h"
#include "analyzer/load/load.h"
#include "analyzer/load/stacks.h"
#include "analyzer/model/attempts.h"

/* A call that moves no data, entered or over. */
struct ct_hang_seen_call {
	struct ct_host_rec rec;
	const char *call, *site;
	enum ct_host_call kind;
	uint32_t process;
	int goes_on;   /* it has returned, and its work has not ended */
	uint32_t comm; /* of the gathering, UINT32_MAX unknown */
};

/* One process after it was read. */
struct ct_hang_process {
	struct ct_process_facts facts;
	struct ct_gaps gaps;
	struct ct_end end;
	int read, ended_well;
	int has_starts;	       /* starts of work on a GPU were seen */
	uint64_t last_sign_ns; /* CLOCK_MONOTONIC of its host, like the next three */
	uint64_t last_act_ns;  /* begin, return or end of an operation */
	uint64_t failed_ns; /* when its latest operation that failed did; 0: none, or others came after it */
	uint64_t until_ns; /* up to here its records are whole; UINT64_MAX: they are, and it lives */
	uint64_t ops;
	const char *error; /* that a library told of first; NULL none */
	uint64_t error_ns;
	uint32_t error_comm;
	struct ct_stack_list *stacks; /* NULL none */
	uint32_t device;	      /* of its latest work on a GPU */
	uint64_t waited_ns; /* for how long its oldest unfinished operation had been under way at its end */
	int lost;	    /* records of it are missing */
	int damaged; /* its files are, and it is not known what stood there */
	int deserted; /* its last operation failed, and a rank that ended in order had never come to it */
	int blind; /* nobody had looked at its GPUs for longer than a stall takes */
};

struct ct_hang_seat {
	int rank; /* -1 unknown */
	uint32_t host, process, local;
	uint64_t ops;
	uint32_t index; /* in the case */
	int is_used;
};

/* Durations of one operation on one communicator. */
struct ct_hang_class {
	struct ct_hist took;
	uint64_t limit_ns; /* 0: not worked out */
};

/* Ends on a stream of a GPU: what is queued up there is not under way before. */
struct ct_hang_stream {
	struct ct_hang_stream *next;
	uint64_t end_ns;
	uint32_t process, stream;
};

/* Operations of a communicator that a second reading keeps: from .. to - 1. */
struct ct_hang_want {
	uint64_t from, to;
};

/* Hashes of call sites, by the address of the text. */
#define CT_HANG_SITES 64u
struct ct_hang_site {
	const char *text;
	uint64_t hash;
};

/* When a thread called something last, by its number. */
#define CT_HANG_ENTERED 128u
struct ct_hang_entered {
	uint32_t tid;
	uint64_t enter_ns;
};

struct ct_gather {
	const struct ct_run *run;
	struct ct_attempts attempts;
	int attempt;
	struct ct_arena *memory; /* of the result */
	struct ct_arena *scratch;
	struct ct_hang_seat *seats;
	uint32_t n_seats;
	struct ct_comms comms;
	struct ct_op_names names;
	struct ct_hang_process *processes; /* by process of the run */
	struct ct_hang_kept *kept;
	struct ct_hang_seen_call *calls;
	uint32_t n_calls, cap_calls;
	struct ct_table classes; /* communicator and operation -> struct ct_hang_class */
	struct ct_table streams;
	struct ct_table by_id; /* process and its number for a communicator -> struct ct_hang_kept */
	struct ct_hang_order *orders; /* by communicator */
	uint32_t n_orders, cap_orders;
	struct ct_hang_want *wants;	   /* by communicator; NULL in the first reading */
	struct ct_hang_channels *channels; /* NULL: messages are not compared */
	struct ct_table members;	   /* communicator and rank in it -> struct ct_hang_kept */
	struct ct_table texts;		   /* hash -> text of the result */
	uint64_t *shift; /* by host: CLOCK_MONOTONIC to time of day, then to the run's time */
	uint64_t *torn_down; /* by host: when somebody began to end the job, in the run's time; CT_UNKNOWN */
	uint64_t begin_unix_ns;
	/* while a process is read */
	uint32_t process;
	struct ct_load *load;
	struct ct_hang_site sites[CT_HANG_SITES];
	struct ct_hang_entered entered[CT_HANG_ENTERED];
	uint64_t last_enter_ns;
	struct ct_hang_seen_call *open_calls;
	uint32_t n_open_calls, cap_open_calls;
};

/* Read all processes of the attempt (gather.c). 0, CT_NOMEM, CT_IO. */
int ct_gather_read(struct ct_gather *g, const struct ct_hang_options *options, struct ct_err *err);

/* Read one process; what is handed out goes to `sink`. */
int ct_gather_process(struct ct_gather *g, const struct ct_load_sink *sink, struct ct_err *err);

/* Of a process: callbacks of its loader, a thread that has called something, and the end of its reading (gather_calls.c). */
int ct_gather_host(void *gather, const struct ct_host_rec *rec, const char *name, const char *site);
int ct_gather_error(void *gather, const struct ct_error_rec *rec, const char *call,
		    const char *text);
void ct_gather_leave_calls(struct ct_gather *g, uint32_t tid, uint64_t enter_ns);
int ct_gather_end_calls(struct ct_gather *g);

/* What of an op is kept. */
struct ct_hang_kept_op ct_gather_kept_op(const struct ct_load_op *op);

/* The texts of what is kept of a process, before it is closed. 0 or CT_NOMEM. */
int ct_gather_keep_texts(struct ct_gather *g, struct ct_hang_kept *kept);

/* Where sums say that ranks differ, or where what is kept of them does not overlap, read once more what is there
 * (gather_again.c). to_the_end: also what it takes to compare the last ones exactly. 0, CT_NOMEM, CT_IO. */
int ct_gather_again(struct ct_gather *g, int to_the_end, struct ct_err *err);

/* What the threads of the process that is read were doing (gather_stacks.c): forget the last process; a record (0 or CT_NOMEM); a thread
 * has called something; leave what holds until the end, in the order of stacks.h. */
void ct_gather_stacks_begin(struct ct_gather *g);
int ct_gather_stack(struct ct_gather *g, const uint8_t *bytes, size_t len);
void ct_gather_entered(struct ct_gather *g, uint32_t tid, uint64_t enter_ns);
void ct_gather_stacks_end(struct ct_gather *g);

/* Global ranks of seats that know none (gather_ranks.c). 0 or CT_NOMEM. */
int ct_gather_name_seats(struct ct_gather *g);

/* When the run began, by the first of its processes. */
void ct_gather_set_begin(struct ct_gather *g);

/* A time of a host as ns since the run began. */
uint64_t ct_gather_at(const struct ct_gather *g, uint32_t process, uint64_t mono_ns);
/* The number of a stream of a device in a case; 0 is none. */
static inline uint32_t ct_gather_stream(uint32_t stream, uint32_t device)
{
	return (stream << 6 | (device & 63)) + 1;
}

/* By how much such times of two hosts may be apart from the truth; 0 of the first host. A day where the time of day was never set:
 * it is not known, and that is more than any step is believed to be. */
#define CT_GATHER_ERR_UNSET 86400000000000ull
uint64_t ct_gather_err(const struct ct_gather *g, uint32_t process);

/* A text of the result, equal ones once; NULL: out of memory, or `text` is NULL. */
const char *ct_gather_text(struct ct_gather *g, const char *text);

/* Which communicator of this size and key, made known if it was not. UINT32_MAX: key is 0, or out of memory. */
uint32_t ct_gather_comm(struct ct_gather *g, const struct ct_host_rec *rec);

/* A member of a communicator, once they are listed (case_ops.c); NULL: it left no trace. */
const struct ct_hang_kept *ct_gather_member(const struct ct_gather *g, const struct ct_comm *comm,
					    int64_t rank);

/* What an op of this class must be older than to be stalled, if `least_ns` is the least (stalls.c). */
uint64_t ct_hang_limit(struct ct_gather *g, const struct ct_comm *comm, unsigned op,
		       uint64_t least_ns);

/* The longest that a process of the attempt has of late waited for a processor, as its heartbeat shows, ns; 0 also: not known, without
 * its ring (stalls.c). */
uint64_t ct_hang_late(const struct ct_gather *g);

/* Of ranks how they ended, and of the run when it was torn down (lives.c). */
int ct_hang_lives(struct ct_gather *g, struct ct_hang_run *out);

/* What is missing of the run, as sentences (missing.c). 0 or CT_NOMEM. */
int ct_hang_missing(struct ct_gather *g, struct ct_hang_run *out);

/* For how long each process had waited for the oldest of what it had not finished (case_ops.c). */
int ct_hang_waited(struct ct_gather *g);

/* The arrays of the case (case_ranks.c, case_ops.c). 0 or CT_NOMEM. */
int ct_hang_fill_ranks(struct ct_gather *g, struct ct_hang_run *out);
int ct_hang_fill_comms(struct ct_gather *g, struct ct_hang_run *out);
int ct_hang_fill_ops(struct ct_gather *g, struct ct_hang_run *out);
int ct_hang_fill_calls(struct ct_gather *g, struct ct_hang_run *out);

#endif
