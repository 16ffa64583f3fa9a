/* SPDX-License-Identifier: Apache-2.0 */
/* workload.h — what the ranks of a training job do, step by step, without doing it: the same op
 * streams for a job on simulated GPUs and for generated traces.
 *
 *     w = ct_workload_make(&config, why, sizeof(why));
 *     it = ct_workload_open(w, rank);
 *     while ((more = ct_workload_next(it, &action)) > 0)
 *             do what the action says;
 *     ct_workload_close(it);
 *     ct_workload_free(w);
 *
 * Pure: no I/O, no clock, no CUDA; the same config gives the same actions. A struct ct_workload is
 * constant once made, threads share it; an iterator belongs to one thread and holds one step of one
 * rank. Faults (fault.h) are woven in.
 *
 * Sizes are those of real models divided by `scale`, because a simulated job really moves its bytes
 * in the machine's memory. A rate of the links is to be divided by the same number; then
 * every duration, and every ratio of computing to communication, is that of the real sizes, and
 * only bytes and bandwidths are `scale` times smaller. Ops of up to 1024 elements keep their size.
 */
#ifndef CT_TOOLS_WORKLOAD_WORKLOAD_H
#define CT_TOOLS_WORKLOAD_WORKLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "tools/workload/fault.h"

enum { CT_GRID_TP = 1, CT_GRID_PP = 2, CT_GRID_DP = 4 };

struct ct_workload_config {
	const char *name; /* a row of workloads.def */
	int ranks;
	int nodes;	/* ranks / nodes on each, in order; 0: 1 */
	int tp, pp, dp; /* 0: what suits */
	uint64_t steps;
	uint64_t seed;
	uint64_t step_ns;	       /* what a rank computes in a step; 0: 25 ms */
	unsigned scale;		       /* 0: 256 */
	int has_no_data;	       /* without PRODUCE and CONSUME: nothing is moved */
	const struct ct_fault *faults; /* copied */
	size_t n_faults;
};

struct ct_workload;

/* A communicator: n members first, first + stride, ...; their indices in this order are the peers'
 * numbers. */
struct ct_workload_comm {
	const char *role; /* world, tp, pp, dp, ep; pair-a, pair-b if a fault needs them */
	int parent;	  /* communicator it is split from; -1: made from a unique id of its own */
	int colour;	  /* of the split, among those of its role */
	int first, stride, n;
};

/* Streams of a rank. Each communicator has one of its own, ct_workload_comm_stream(). */
enum { CT_STREAM_COMPUTE, CT_STREAM_COPY, CT_STREAM_COMMS };

/* A data-moving op. Counts are as in NCCL's call: of one rank for AllGather, ReduceScatter and per
 * peer for AllToAll, else of the whole buffer. */
struct ct_workload_op {
	uint8_t op, dtype, redop; /* trace/ops.def, dtypes.def, redops.def */
	uint8_t in_place;
	int comm;
	int peer; /* or root, of the communicator; -1 none */
	uint64_t count;
	uint64_t index; /* this rank's data-moving ops before it; UINT64_MAX: put in by a fault */
	uint64_t key;	/* equal on all ranks that take part, different otherwise */
	uint32_t slot;	/* the buffers: the same op of another step has the same slot */
	uint8_t bent;	/* changed by a fault */
};

enum ct_action_kind {
	/* A rank's life: a communicator from a unique id; a split of `parent`, comm is -1 if this
	   rank is in none. */
	CT_ACTION_INIT,
	CT_ACTION_SPLIT,
	CT_ACTION_FINALIZE,
	CT_ACTION_DESTROY,
	CT_ACTION_STEP_BEGIN,
	CT_ACTION_STEP_END,
	/* The CPU is busy for ns. */
	CT_ACTION_HOST,
	/* Put onto a stream: computing of ns, the end of an event's wait, a wait for an event. */
	CT_ACTION_COMPUTE,
	CT_ACTION_RECORD,
	CT_ACTION_WAIT,
	/* Put onto a stream: something that writes what `op` sends, that reads what it brought. */
	CT_ACTION_PRODUCE,
	CT_ACTION_CONSUME,
	CT_ACTION_GROUP_BEGIN,
	CT_ACTION_GROUP_END,
	CT_ACTION_OP,
	/* Faults: what they are about is in `fault`. */
	CT_ACTION_STOP,	      /* the CPU never continues */
	CT_ACTION_KILL,	      /* the process gets fault->signal */
	CT_ACTION_EXIT,	      /* the process exits with fault->code */
	CT_ACTION_BLOCK,      /* put onto a stream: what never ends */
	CT_ACTION_FAIL,	      /* `comm` gets an asynchronous error */
	CT_ACTION_HANG,	      /* the transport of `comm` hangs from its next op on */
	CT_ACTION_LINGER,     /* the next kernel of `comm` never ends on this rank */
	CT_ACTION_CROWD,      /* from now on the GPU has SMs for one communication kernel only */
	CT_ACTION_STALL_CALL, /* the next call of fault->call never returns */
	CT_ACTION_STARVE,     /* the GPU has no SMs for communication kernels for ns */
	CT_ACTION_PAUSE_GPU,  /* the GPU is stalled for ns */
	CT_ACTION_LOCK,	      /* a thread holds the driver's lock for ns */
	CT_ACTION_HANG_DISK,  /* files of the process take no data for ns */
	CT_ACTION_SLOW_LINK,  /* fault->src to fault->dst now has `factor` of its bandwidth */
};

struct ct_action {
	enum ct_action_kind kind;
	int stream;
	int event; /* small numbers, a rank's own */
	int comm;
	int parent, colour, order; /* of a split; order: of the new communicator's members */
	uint64_t ns;
	uint64_t step;
	double factor;
	const struct ct_fault *fault; /* the workload's copy */
	struct ct_workload_op op;
};

/* NULL, with a sentence in `why`: what is wrong with the config, or a fault that would never
 * happen. Owned by the caller, who frees it after its iterators. */
struct ct_workload *ct_workload_make(const struct ct_workload_config *config, char *why,
				     size_t size);
void ct_workload_free(struct ct_workload *w);

/* As completed: nothing in it is 0 that the config may leave open. Its faults are the workload's
 * copy. */
const struct ct_workload_config *ct_workload_config(const struct ct_workload *w);

int ct_workload_n_comms(const struct ct_workload *w);
const struct ct_workload_comm *ct_workload_comm(const struct ct_workload *w, int comm);

/* The rank's index in a communicator, -1 if it is not a member; and the other way round. */
int ct_workload_peer(const struct ct_workload *w, int comm, int rank);
int ct_workload_member(const struct ct_workload *w, int comm, int peer);
int ct_workload_node(const struct ct_workload *w, int rank);
int ct_workload_comm_stream(int comm);

/* How far CPUs may be ahead of their GPUs; 0: they wait at each step's end. */
uint64_t ct_workload_run_ahead_ns(const struct ct_workload *w);

/* What the op's buffers hold, in elements, in a communicator of n members; 0: there is none. */
uint64_t ct_workload_sends(const struct ct_workload_op *op, int n, int is_root);
uint64_t ct_workload_receives(const struct ct_workload_op *op, int n, int is_root);
unsigned ct_workload_dtype_bytes(unsigned dtype);

struct ct_workload_rank;
struct ct_workload_rank *ct_workload_open(const struct ct_workload *w,
					  int rank); /* NULL: no memory */
void ct_workload_close(struct ct_workload_rank *it);

/* 1: *action is next, valid until the next call. 0: the rank is through. -1: no memory. */
int ct_workload_next(struct ct_workload_rank *it, const struct ct_action **action);

/* One line of help per workload; NULL behind the last. */
const char *ct_workload_help(unsigned i, const char **name);

#endif
