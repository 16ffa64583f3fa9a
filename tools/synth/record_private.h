/* SPDX-License-Identifier: Apache-2.0 */
/* record_private.h — one process as it is being written: record.c takes what the play reports,
 * record_block.c puts it into blocks, record_files.c begins and ends the files. */
#ifndef CT_TOOLS_SYNTH_RECORD_PRIVATE_H
#define CT_TOOLS_SYNTH_RECORD_PRIVATE_H

#include "tools/synth/record.h"
#include "trace/block.h"
#include "trace/order_totals.h"
#include "trace/segment.h"

/* Names of calls have the operation's number, or that of enum ct_play_host behind this. */
#define FIRST_HOST_CALL 250u
#define ERROR_CALL 254u /* behind those: what reported an error, and its words */
#define ERROR_TEXT 255u

struct stamped { /* a rank's GPU */
	uint64_t jitter_ns;
	uint64_t n; /* times given */
	uint64_t last_ns[CT_PLAY_STREAMS];
	struct ct_stream_rec streams[CT_PLAY_STREAMS]; /* as last reported; number 0: not yet */
};

/* How far a process has come in one of its communicators. */
struct comm_state {
	int is_made;
	struct ct_comm_rec comm;
	struct ct_comm_status_rec rec;
};

struct recorded_process {
	struct ct_process id;
	struct ct_segment_writer segment;
	struct ct_block block;
	uint32_t n_blocks;
	uint64_t lap;
	uint64_t status_ns; /* of the job, when it last gave a heartbeat */
	uint64_t last_ns;   /* latest time of the job on record */
	uint32_t alive;	    /* of its ranks */
	struct ct_launch
		*held; /* reported, but not written: the poll thread has not reached it yet */
	uint32_t n_held, cap_held;
	uint64_t called_ns; /* by its clock, its latest call */
	int first, host;    /* rank */
	int ends_in_order, is_over;
	int code;
	uint64_t end_ns;
	uint64_t calls, launches;
	double keep; /* of its file */
	int is_dropped;
	const char *named[256];	      /* strings that are written, by id */
	struct comm_state *comms;     /* by id */
	struct ct_order_totals order; /* of the blocks that are written */
};

struct ct_synth_record {
	const struct ct_synth_options *o;
	const struct ct_workload *w;
	struct ct_synth_clocks *clocks;
	int dirfd, n_processes, ranks;
	struct recorded_process *processes;
	struct stamped *gpus;
	struct ct_encoder *encoder;
	struct ct_play_sink sink;
	struct ct_err *err;
};

static inline struct recorded_process *process_of(struct ct_synth_record *r, int rank)
{
	return &r->processes[rank / r->o->per_process];
}

static inline uint32_t gpu_of(const struct ct_synth_record *r, int rank)
{
	return (uint32_t)(rank % r->o->per_process);
}

static inline uint32_t comm_id(const struct ct_synth_record *r, int rank, int comm)
{
	return 1 + (uint32_t)comm * (uint32_t)r->o->per_process + gpu_of(r, rank);
}

static inline uint32_t comm_ids(const struct ct_synth_record *r)
{
	return 1 + (uint32_t)ct_workload_n_comms(r->w) * (uint32_t)r->o->per_process;
}

static inline uint32_t launch_id(const struct ct_synth_record *r, int rank, uint32_t id)
{
	return id ? (id - 1) * (uint32_t)r->o->per_process + gpu_of(r, rank) + 1 : 0;
}

static inline uint32_t stream_id(const struct ct_synth_record *r, int rank, int stream)
{
	return stream < 0 ? 0 : gpu_of(r, rank) * CT_PLAY_STREAMS + (uint32_t)stream + 1;
}

static inline uint32_t thread_id(const struct ct_synth_record *r, int rank)
{
	return process_of((struct ct_synth_record *)(uintptr_t)r, rank)->id.pid +
	       gpu_of(r, rank) * 100000000u;
}

static inline uint64_t comm_key(const struct ct_synth_record *r, int comm)
{
	return ct_synth_comm_key(r->o, comm);
}

static inline uint64_t clock_of(struct ct_synth_record *r, const struct recorded_process *p,
				uint64_t at_ns)
{
	return ct_synth_clock(r->clocks, p->host, at_ns);
}

/* record_block.c. Each returns 0 or a negative status, with r->err filled. */

/* Write the block, with the launches that had ended by the process's latest call, and begin the
 * next one. */
int ct_record_flush(struct ct_synth_record *r, struct recorded_process *p, enum ct_block_type next);
int ct_record_rare(struct ct_synth_record *r, struct recorded_process *p, enum ct_kind kind,
		   const void *data, size_t len);
int ct_record_status(struct ct_synth_record *r, struct recorded_process *p, uint64_t at_ns);
int ct_record_cost(struct ct_synth_record *r, struct recorded_process *p);
/* Space for one more record, reported at that moment of the job; the process gives heartbeats as it
 * goes. */
int ct_record_room(struct ct_synth_record *r, struct recorded_process *p, uint64_t at_ns);
/* The string of an id below 256, once. */
int ct_record_name(struct ct_synth_record *r, struct recorded_process *p, uint32_t id,
		   const char *text);
/* Launches that were reported and had ended by then (by the process's clock), into the block. */
int ct_record_launches(struct ct_synth_record *r, struct recorded_process *p, uint64_t until_ns);

/* The part of a ring that the thread's next slot would come from. NULL: no memory. */
struct ct_extent *ct_record_extent(struct ct_synth_record *r, struct recorded_process *p,
				   uint32_t tid);

/* record.c: the text of a call's string id, and filling the record's sink. */
const char *ct_record_call_name(void *unused, uint32_t id);
void ct_record_listen(struct ct_synth_record *r);

#endif
