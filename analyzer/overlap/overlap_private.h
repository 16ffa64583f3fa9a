/* SPDX-License-Identifier: Apache-2.0 */
/* overlap_private.h — one process as launches.c collects it, charge.c charges it, and settle.c
 * understands it and sums it up. All state of a process is its own, so each of them may be worked
 * on by another thread: overlap.c hands out the work. */
#ifndef CT_ANALYZER_OVERLAP_OVERLAP_PRIVATE_H
#define CT_ANALYZER_OVERLAP_OVERLAP_PRIVATE_H

#include "analyzer/base/chains.h"
#include "analyzer/base/pool.h"
#include "analyzer/base/table.h"
#include "analyzer/base/tasks.h"
#include "analyzer/overlap/overlap.h"

/* size: of one process; beyond it the oldest is settled with what is known. */
#define CT_OVERLAP_LAUNCHES 8192u
#define CT_OVERLAP_WAITS 8192u

/* What waited for a launch, and the time that is charged to it for that: empty if it had ended
 * before. */
struct ct_charged {
	struct ct_charged *next; /* of the launch, as they came */
	const struct ct_waiter *waiter;
	uint32_t via; /* stream */
	uint32_t err_ns;
	uint64_t begin_ns, end_ns;
};
#define CT_CHARGED 4u /* size: stalls of one launch; of more, the longest */

/* A launch as it was read. */
struct ct_ov_read {
	uint32_t id, stream, device, slot;
	const struct ct_comm *comm;
	uint64_t size_range;
	uint64_t start_ns, end_ns;
	uint32_t start_err_ns, end_err_ns; /* UINT32_MAX also for more */
	uint8_t op, dtype;		   /* op 0: not alone in the launch */
	uint8_t is_from_nccl; /* NCCL reported its times: no events were put on streams for it */
};

/* Two lines of the cache: thousands of each process take turns. */
struct ct_ov_launch {
	struct ct_link by_id;
	uint64_t start_ns, end_ns;
	uint32_t start_err_ns, end_err_ns;
	uint32_t stream, device;
	uint32_t row,
		class; /* indices in the sums; class UINT32_MAX: it was not alone in its launch */
	uint8_t is_from_nccl;
	uint8_t is_unclear;		     /* something waited for it, for an unknown time */
	uint16_t n_charged;		     /* at most CT_CHARGED */
	struct ct_ov_launch *before, *after; /* on its stream, by end */
	struct ct_ov_launch *newer;	     /* of the process, as they came */
	struct ct_charged first;	     /* mostly the only one; the others are chained to it */
};

/* What is charged to it; NULL: nothing. */
static inline struct ct_charged *ct_ov_charged(struct ct_ov_launch *launch)
{
	return launch->n_charged ? &launch->first : NULL;
}

struct ct_ov_wait {
	struct ct_wait_rec rec;
	uint32_t block; /* in which it was read */
};

#define CT_OV_RECENT 64u /* size: more than kinds of operations that ranks repeat */

/* A stream that waits, or a thread of the host. */
struct ct_waiter {
	uint32_t id; /* stream or thread */
	int is_host;
	int is_default;
	int launches; /* communication itself */
	uint32_t device;
	struct ct_ov_wait *waits; /* not charged yet: waits[first] .. waits[first + n - 1] */
	uint32_t first, n, cap;
	uint64_t begun_ns;    /* its last wait ... */
	uint64_t released_ns; /* ... and when that was over; 0 not known */
	uint64_t charged_ns;  /* up to here all is charged */
	uint64_t busy_ns;     /* for certain, between its waits */
	uint64_t busy_err_ns;
	struct ct_waiter *next;
};

/* A stream with launches. */
struct ct_ov_stream {
	uint32_t id;
	int is_seen, is_fed; /* from the trace */
	struct ct_ov_launch *newest;
	struct ct_ov_stream *next;
};

/* Rows and classes, by what they are of. */
struct ct_ov_sums {
	struct ct_overlap_row *rows;
	uint32_t n_rows, cap_rows;
	struct ct_table row_at;	 /* by slot, communicator, and whether the host times: index + 1 */
	struct ct_table of_slot; /* a slot's newest row */
	struct ct_overlap_class *classes;
	uint32_t n_classes, cap_classes;
	struct ct_table class_at;
	size_t recent[CT_OV_RECENT]; /* indices + 1 in `classes` by operation and size:
					communicators take turns with few of them */
};

struct ct_ov_process {
	struct ct_pool pool, charges; /* of launches, and of what is charged to them */
	struct ct_chains by_id;	      /* launches */
	struct ct_ov_launch *oldest, **newest;
	uint32_t n_launches, n_waits;
	struct ct_ov_stream *streams;
	struct ct_waiter *waiters;
	const struct ct_waiter
		*computing; /* on this device, NULL unknown; kept until waiters are known */
	uint32_t computing_device;
	int computing_is_kept;
	uint32_t blocks;
	int is_blind; /* waits of streams are not recorded */
	int ended;
	struct ct_ov_sums sums;	       /* until it has ended */
	struct ct_ov_block *under_way; /* its block that is being worked on */
};

/* A block of a process: what came with it, and what has come of it. */
struct ct_ov_block {
	struct ct_overlap *of;
	struct ct_ov_process *process; /* NULL: it is free, or being filled */
	struct ct_ov_read *launches;
	struct ct_wait_rec *waits;
	struct ct_overlap_stall *stalls;
	uint32_t n_launches, cap_launches, n_waits, cap_waits, n_stalls, cap_stalls;
	int is_blind, is_last;
	int is_begun;
	int status; /* once it is not begun any more */
	struct ct_task task;
};

/* size: blocks that are worked on beside the reading: more threads than that have the reading's to
 * wait for. Not the number of threads, so that the same is handed on at the same time for any
 * number. */
#define CT_OV_BLOCKS 4u

struct ct_overlap {
	struct ct_tasks *tasks; /* NULL: none */
	struct ct_ov_process *processes;
	size_t n_processes;
	struct ct_ov_block blocks[CT_OV_BLOCKS];
	unsigned filled;	 /* the one that is being filled; behind it lie the others by age */
	struct ct_ov_sums sums;	 /* of the processes that have ended */
	struct ct_ov_host *host; /* host.c's; NULL: nothing came */
	ct_overlap_fn on_launch; /* NULL: none */
	void *arg;
	ct_overlap_stall_fn stall; /* NULL: none */
	void *stall_arg;
};

/* Take in a launch or a wait of the process; 0 or CT_NOMEM, both. A launch may push out and settle
 * the oldest one: its stalls go to `block`, the one that is being worked on. */
int ct_ov_launch_add(struct ct_ov_process *p, const struct ct_ov_read *read,
		     struct ct_ov_block *block);
int ct_ov_wait_add(struct ct_ov_process *p, const struct ct_wait_rec *rec);

/* Settles all that are left, and frees what only adding needs. 0 or CT_NOMEM. */
int ct_ov_process_end(struct ct_ov_process *p, struct ct_ov_block *block);
void ct_ov_process_free(struct ct_ov_process *p);

/* NULL: has had no launch. */
struct ct_ov_stream *ct_ov_stream(const struct ct_ov_process *p, uint32_t id);

/* Charge what can be charged by now: in the order of each waiter's waits, as soon as what it waited
 * for is there. 0 or CT_NOMEM. */
int ct_ov_charge(struct ct_ov_process *p);

/* The stream of this device that computes; NULL: that does not show. */
const struct ct_waiter *ct_ov_computing(struct ct_ov_process *p, uint32_t device);

void ct_ov_host_free(struct ct_ov_host *host);

/* The row or class of the sums, made if it is new; valid until the next one is. NULL: out of
 * memory. */
struct ct_overlap_row *ct_ov_row(struct ct_ov_sums *sums, uint32_t slot, const struct ct_comm *comm,
				 int by_host);
struct ct_overlap_class *ct_ov_class(struct ct_ov_sums *sums, const struct ct_overlap_class *like);

/* Adds all that a process has. 0 or CT_NOMEM. */
int ct_ov_sums_add(struct ct_ov_sums *to, const struct ct_ov_sums *from);
void ct_ov_sums_fini(struct ct_ov_sums *sums);

/* Add the launch to the sums. 0 or CT_NOMEM. */
int ct_ov_settle(struct ct_ov_process *p, struct ct_ov_launch *launch, struct ct_ov_block *block);

#endif
