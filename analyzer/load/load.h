/* SPDX-License-Identifier: Apache-2.0 */
/* load.h — one process of a run, block by block: names resolved, ops joined with their launches,
 * and the rare records. It is the first step of the analysis, and sufficient for `dump`. A ct_load
 * belongs to one thread. Arguments of callbacks are valid during the callback, except struct
 * ct_load_comm and strings, which live as long as the ct_load. */
#ifndef CT_ANALYZER_LOAD_LOAD_H
#define CT_ANALYZER_LOAD_LOAD_H

#include <stddef.h>

#include "analyzer/base/arena.h"
#include "analyzer/load/joined_op.h"
#include "analyzer/load/port_sums.h"
#include "analyzer/model/call_kind.h"
#include "analyzer/model/environment_facts.h"
#include "analyzer/model/process_facts.h"
#include "trace/ops.h"
#include "trace/reader.h"

/* A communicator as one process sees it. Hostile sizes never come through. */
#define CT_COMM_MAX_RANKS (1u << 20) /* size: ranks of a communicator */
struct ct_traffic_flow;
struct ct_load_order_seen {
	uint64_t last_seq,
		last_ns; /* highest number of a collective so far, and when that was entered */
	uint64_t ahead_seq, ahead_ns; /* the latest that left out numbers before it; 0 none */
	int any;
};
struct ct_load_comm {
	struct ct_comm_rec rec;
	const char *name;		/* NULL none */
	void *user;			/* the callbacks' own, NULL at first */
	int hole;			/* likewise, 0 at first */
	struct ct_traffic_flow *flow;	/* likewise, NULL at first: link/traffic/traffic.h */
	uint32_t local;			/* which of the process's ranks this is, from 0 */
	struct ct_load_order_seen seen; /* the loader's: backwards.c */
};

/* What a process counted inside its operations, with one peer. */
struct ct_load_traffic {
	struct ct_load_traffic *next;
	struct ct_load_comm *comm; /* NULL: never recorded */
	struct ct_traffic_rec rec; /* as reported last */
};

/* A rank is a process and a GPU: one process may drive several. The device of each communicator
 * distinguishes them; a communicator without one belongs to the first rank. */
#define CT_LOAD_RANKS 64u /* size: ranks of a process */
struct ct_load_rank {
	uint16_t device; /* as in struct ct_comm_rec, 0 not known */
	uint32_t nranks; /* of the largest communicator that it is in ... */
	int32_t rank;	 /* ... and its rank there */
};

/* What one launch holds, in the order of the calls. */
struct ct_load_launch {
	const struct ct_op *ops;
	uint32_t n;	/* on record */
	uint32_t n_ops; /* as its record says, at least n */
};

/* A word of an open launch, by its name in struct ct_ring_open. */
#define CT_OPEN_WORD(rec, field) ((rec)->words[offsetof(struct ct_ring_open, field) / 8])

struct ct_load_op {
	struct ct_joined_op joined;
	struct ct_load_comm *comm;	       /* NULL: never recorded */
	const struct ct_load_launch *launch;   /* NULL: has none, or that is not on record */
	const struct ct_open_launch_rec *open; /* its launch, as last seen, if that had not ended
						  when recording ended; else NULL */
	int from_any; /* a receive from any: its number, peer or tag became known after others had
			 been begun */
};

/* A collective that moves nothing, which NCCL drops. Empty messages are sent, and signals have no
 * count. */
static inline int ct_op_is_empty_collective(const struct ct_op *op)
{
	enum ct_op_class class = ct_op_class(op->op);

	return !ct_op_count(op) && class != CT_CLASS_P2P && class != CT_CLASS_LOCAL;
}

/* Memory that loads share which one thread reads by turns: what belongs to no process. NULL: out of
 * memory. */
struct ct_load_memory;
struct ct_load_memory *ct_load_memory_new(void);
void ct_load_memory_free(struct ct_load_memory *memory);

/* code: behind the flags of WAIT in files. */
#define CT_WAIT_STREAM 64u
#define CT_WAIT_FED 128u

/* Each returns 0, or a negative number to stop; that becomes the result of ct_load_next(). */
struct ct_load_sink {
	int (*op)(void *arg, const struct ct_load_op *op);
	int (*comm)(void *arg, struct ct_load_comm *comm); /* first seen; may be NULL */
	int (*named)(void *arg,
		     struct ct_load_comm *comm); /* got a name, or another; may be NULL */
	/* A call that moves no data: entered (return_ns 0), with the call site (NULL unknown), and
	 * again when it has returned; may be NULL. */
	int (*host)(void *arg, const struct ct_host_rec *rec, const char *call, const char *site);
	/* A library reported an error, by this function and in these words; NULL unknown, none. May
	 * be NULL. */
	int (*error)(void *arg, const struct ct_error_rec *rec, const char *call, const char *text);
	/* For communication; may be NULL. A STREAM record comes this way, too: the state of
	 * `waiter` as the two flags below. */
	int (*wait)(void *arg, const struct ct_wait_rec *rec);
	int (*nvtx)(void *arg, const struct ct_nvtx_rec *rec); /* name ends in NUL; may be NULL */
	/* How far its communicator had come, in numbers: also where records are lost. May be NULL. */
	int (*reached)(void *arg, struct ct_load_comm *comm, const struct ct_comm_status_rec *rec);
	/* What a thread was doing: a STACK record, for ct_stack_list_take(); may be NULL. */
	int (*stack)(void *arg, const uint8_t *bytes, size_t len);
	int follows;   /* as the process goes on: ct_process_follow() */
	int skims;     /* operations are counted, not read: `op` is not called */
	uint32_t from; /* the same of blocks with a number below this, and of no others; 0: all are
			  read */
	int is_tail;   /* with `from`: ct_process_read_tail(), from this segment on */
	uint32_t segment;
	void *arg;
	struct ct_load_memory
		*shared; /* borrowed until ct_load_close(); NULL: the load allocates its own */
};

struct ct_load;

/* Inside its call, or on a stream: it is not known to have ended, and known not to have. */
static inline int ct_load_is_under_way(const struct ct_load_op *op)
{
	enum ct_op_state state = op->joined.state;

	return state == CT_STATE_ENTERED ||
	       (op->open && (state == CT_STATE_RETURNED || state == CT_STATE_STARTED));
}

/* `names` is borrowed until the end and filled on the way. */
int ct_load_open(const struct ct_run *run, size_t index, const struct ct_load_sink *sink,
		 struct ct_op_names *names, struct ct_load **load, struct ct_err *err);

/* Read the next block and hand out what is complete. 1: there may be more; 0: that was the end, and
 * the ops that had not returned or not ended were handed out; CT_PROCESS_WAITS; or a failure, or
 * what a callback returned. */
int ct_load_next(struct ct_load *load, struct ct_err *err);

/* From now on it reads in this memory and with these names, instead of those it was opened with;
 * all memory that was lent lives until ct_load_close(). Between blocks: so another thread may go on
 * with it. */
void ct_load_lend(struct ct_load *load, struct ct_load_memory *memory, struct ct_op_names *names);

/* The process's ranks seen so far, at least one, and the global rank of one of them: what the
 * process received if it has only that one, else its rank in a communicator of the whole job. -1
 * unknown. */
uint32_t ct_load_ranks(const struct ct_load *load, const struct ct_load_rank **ranks);
int ct_load_rank(const struct ct_load *load, uint32_t local);

/* What a call that moves no data does, by the number of its name, as the records of the process
 * have it. Never NULL. */
const struct ct_call_row *ct_load_call_row(struct ct_load *load, uint32_t id);

/* Its start record so far. */
const struct ct_environment_facts *ct_load_environment(const struct ct_load *load);

/* What its host's network ports counted, the caller's from now on (ct_port_sums_free); NULL: it
 * reported nothing. Once it has been read to the end. */
struct ct_port_sums *ct_load_ports(struct ct_load *load);

/* Its traffic, once it has been read to the end; NULL: none. */
const struct ct_load_traffic *ct_load_traffic(const struct ct_load *load);

const struct ct_process_facts *ct_load_facts(const struct ct_load *load);
const struct ct_gaps *ct_load_gaps(const struct ct_load *load);

/* Bytes of its segments that were read. */
uint64_t ct_load_position(const struct ct_load *load);

void ct_load_close(struct ct_load *load);

#endif
