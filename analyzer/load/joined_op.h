/* SPDX-License-Identifier: Apache-2.0 */
/* joined_op.h — one operation of a process, joined with its launch, its communicator and its call
 * site. */
#ifndef CT_ANALYZER_LOAD_JOINED_OP_H
#define CT_ANALYZER_LOAD_JOINED_OP_H

#include <stdint.h>

#include "trace/reader.h"

struct ct_graph;

/* How far an op came. */
enum ct_op_state {
	CT_STATE_ENTERED = 1,  /* inside the call when recording ended */
	CT_STATE_RETURNED = 2, /* call is back, its work had not ended */
	CT_STATE_FINISHED = 3, /* work ended */
	CT_STATE_ERROR = 4,    /* the call or its launch failed, or was left by an exception */
	CT_STATE_STARTED = 5,  /* call is back, its work had begun and not ended */
	CT_STATE_ABORTED = 6,  /* the program gave its work up before it was done */
};
const char *ct_op_state_name(enum ct_op_state state);

/* One op with all that belongs to it. Pointers hold during the callback only. */
struct ct_joined_op {
	const struct ct_op *op;
	const struct ct_process_info *process;
	uint32_t process_index;
	const char *op_name; /* of op->op, also one that this version does not know; "?" if it has
				no name; NULL: a call that moves no data, see ct_calls_each() */
	const char *call; /* function really called; NULL unknown. Printable UTF-8, like all strings
			     here */
	const char *site; /* call site; NULL unknown */
	const char *comm_name; /* NULL: has none */
	uint64_t comm_hash;    /* 0: the communicator was never recorded */
	uint32_t nranks;       /* of the communicator, 0 unknown */
	int32_t comm_rank;     /* of the caller in it, -1 unknown; op->peer is a rank in it too */
	unsigned backend;      /* enum ct_backend, 0 unknown */
	uint64_t bytes;	       /* of this call: count x element; of a graph's launch: of all that it
				  carries out; UINT64_MAX: not known */
	const struct ct_graph
		*graph; /* a graph's launch: what it carries out; NULL: not on record, or none */
	uint64_t start_ns, end_ns;	   /* span, host's CLOCK_MONOTONIC; 0 = not measured */
	uint64_t start_err_ns, end_err_ns; /* of what is measured */
	enum ct_source start_source, end_source;
	uint32_t stream, device; /* of its launch; 0 if it has none */
	enum ct_op_state state;
	int rank;	     /* global rank of the caller, -1 unknown; a process may have several */
	uint32_t launch_ops; /* ops that share its launch, which has one span; 0: launch not on
				record */
	uint32_t launch_at;  /* its index among them, by entry */
	const char *algo, *proto; /* as NCCL's profiler reports; NULL unknown */
	uint8_t channels, warps;  /* 0 unknown */
	uint64_t submit_ns;  /* when another thread had asked for it; 0 unknown, or none had ... */
	uint32_t submit_tid; /* ... and which one */
	const char *error;   /* the library's words of an error, see ct_calls_each(); NULL unknown,
				none */
};

#endif
