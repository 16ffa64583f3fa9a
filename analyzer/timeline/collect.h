/* SPDX-License-Identifier: Apache-2.0 */
/* collect.h — all of one process that is to be drawn: calls, the work that they launched, calls that
 * move no data. Times are ns since the run began. Lives while its process is drawn; one thread. */
#ifndef CT_ANALYZER_TIMELINE_COLLECT_H
#define CT_ANALYZER_TIMELINE_COLLECT_H

#include "analyzer/match/groups.h"
#include "analyzer/timeline/timeline_index.h"

/* A communicator as this process is in it. */
struct ct_drawn_comm {
	const struct ct_timeline_index_comm *comm;
	int32_t rank;	/* in it */
	uint32_t local; /* which of the process's ranks it is, from 0 */
	uint64_t exchanges;
};

struct ct_drawn_op {
	uint64_t enter_ns, return_ns; /* return_ns CT_TIMELINE_OPEN: still inside */
	uint64_t count, seq, bytes;
	uint64_t queued_ns;   /* from its request to its call; CT_TIMELINE_OPEN: not known */
	uint64_t total_bytes; /* of the whole operation, from this call's count */
	uint32_t comm;	      /* index + 1; 0 never recorded */
	uint32_t work;	      /* index + 1; 0: it has none, or its begin is unknown */
	uint32_t next;	      /* op of the same work, index + 1 */
	uint32_t launch;      /* id in the process; 0: the call is the span */
	uint32_t tid, tag;
	uint32_t name, call, site; /* texts; 0 unknown */
	int32_t peer;		   /* peer or root; -1 none */
	int16_t result;
	uint32_t graph; /* list of captured operations that it is in, or carries out; 0 none */
	uint32_t holds; /* of a graph's launch: text of that list; 0 not known */
	uint8_t op, dtype, redop, state, captured;
	uint8_t local; /* which of the process's ranks called */
};

/* What was put on one stream of one communicator at once, or the span of one call. */
struct ct_drawn_work {
	uint64_t start_ns, end_ns;	   /* end_ns CT_TIMELINE_OPEN: had not ended */
	uint64_t start_err_ns, end_err_ns; /* CT_UNKNOWN: not reported */
	uint32_t comm;			   /* as in the ops */
	uint32_t stream, device, launch;
	uint32_t first, last; /* ops, index + 1 */
	uint32_t n_ops;	      /* drawn */
	uint32_t n_all;	      /* in the launch */
	uint64_t exchange;    /* number among the communicator's + 1; 0: none (groups.h) */
	uint8_t timing;	      /* enum ct_timing */
	uint8_t on_gpu;	      /* the times are a stream's, not a call's */
	uint8_t messages;     /* all its ops are point-to-point */
	uint8_t local;
	uint8_t group;	  /* enum ct_group_kind; meaningful for several ops */
	uint8_t group_op; /* of all its collectives; 0: they differ */
	uint32_t lead;	  /* the op that represents all of them, index + 1 */
};

struct ct_drawn_call {
	uint64_t enter_ns, return_ns;
	uint32_t tid, name, site; /* texts; site 0 unknown */
	uint32_t comm;		  /* tl_index index + 1; 0 unknown */
	int32_t result;
	uint8_t gone; /* it was over before what is drawn begins */
};

struct ct_drawn {
	struct ct_timeline_index *tl_index;
	const struct ct_process_info *info;
	const struct ct_timeline_index_process *seen;
	struct ct_drawn_comm *comms;
	struct ct_drawn_op *ops;
	struct ct_drawn_work *works;
	struct ct_drawn_call *calls;
	uint32_t process;
	uint32_t n_locals;	     /* ranks of the process */
	struct ct_group_shape shape; /* of the launch whose ops are coming */
	uint64_t exchange;
	uint32_t n_comms, n_ops, n_works, n_calls;
	uint32_t cap_comms, cap_ops, cap_works, cap_calls;
	uint64_t unmeasured; /* ops whose work has no start */
	struct ct_table work_by_launch, call_by_enter;
};

/* Read a process of the run. 0, CT_NOMEM, CT_IO. ct_drawn_fini() in any case. */
int ct_collect(struct ct_timeline_index *tl_index, const struct ct_run *run, uint32_t process,
	       struct ct_op_names *names, struct ct_drawn *drawn, struct ct_err *err);
void ct_drawn_fini(struct ct_drawn *drawn);

#endif
