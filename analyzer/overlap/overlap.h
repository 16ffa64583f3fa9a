/* SPDX-License-Identifier: Apache-2.0 */
/* overlap.h — exposed communication: how long a rank's compute stream, or its host, waited for an
 * operation.
 *
 * Launches and WAIT records of one process come in as they are read. Each waiting stream is
 * charged, wait by wait, with the time from the wait's begin to the end of the awaited work, every
 * moment once. A launch is settled when many others have come after it, or at the end: by then it
 * shows which of the streams computes (roles.c), and only its waits, and those of the host, count.
 * An operation that none of these is known to have waited for is not measured, which is not the
 * same as zero.
 *
 * Processes do not depend on each other: threads of `tasks` work on their blocks, and what comes of
 * them is handed on a fixed number of blocks later. So the results, and when they come, are the
 * same for any number of threads.
 *
 * Memory: a bounded number of launches and waits of each process, some blocks, and the sums. One
 * thread calls.
 */
#ifndef CT_ANALYZER_OVERLAP_OVERLAP_H
#define CT_ANALYZER_OVERLAP_OVERLAP_H

#include "analyzer/base/tasks.h"
#include "analyzer/load/load.h"
#include "analyzer/model/comms.h"

struct ct_overlap;

/* Sums over launches of one communicator on one rank. */
struct ct_overlap_row {
	uint32_t slot;
	const struct ct_comm *comm;
	uint64_t launches;    /* with times ... */
	uint64_t measured;    /* ... of which is known how long they were waited for ... */
	uint64_t same_stream; /* ... because they ran where the computing does */
	int by_host;	      /* nothing of this ran on a GPU: the host was blocked in calls */
	uint64_t all_ns;      /* spans of the launches */
	uint64_t comm_ns;     /* of the measured ones */
	uint64_t exposed_ns, err_ns;
	size_t next;		/* of the same slot; ct_overlap_next() */
	struct ct_cover *spans; /* private: of all launches, where the host times */
};

/* Sums over operations that were alone in their launches, by what a row of the report is. */
struct ct_overlap_class {
	const struct ct_comm *comm;
	unsigned op, dtype;
	int by_host;
	uint64_t size_range;
	uint64_t launches, measured;
	uint64_t exposed_ns, err_ns;
};

/* For `n_processes` processes; `tasks` is borrowed, NULL: no other thread. NULL: out of memory. */
struct ct_overlap *ct_overlap_new(size_t n_processes, struct ct_tasks *tasks);
void ct_overlap_free(struct ct_overlap *overlap);

/* The first op of a launch, of `bytes` in all, alone in it or not, and a wait. They are of the
 * process whose block or end comes next. 0 or CT_NOMEM, both. */
struct ct_overlap_op {
	const struct ct_load_op *op;
	const struct ct_comm *comm;
	uint32_t slot;
	uint64_t bytes;
};
int ct_overlap_add(struct ct_overlap *overlap, const struct ct_overlap_op *op);
int ct_overlap_wait(struct ct_overlap *overlap, const struct ct_wait_rec *rec);

/* The recorder puts no events on streams that wait in this process: their waits are not recorded. */
void ct_overlap_blind(struct ct_overlap *overlap);

/* A block of the process is read, or all of it is. 0, CT_NOMEM, or what the observer of stalls
 * returned: it gets those of earlier blocks. */
int ct_overlap_block(struct ct_overlap *overlap, uint32_t process);
int ct_overlap_end(struct ct_overlap *overlap, uint32_t process);

/* An operation that the host times: from where its call began it to where the call that ended it,
 * entered at asked_ns, had returned (0: the wait is unknown). 0 or CT_NOMEM. */
struct ct_overlap_call {
	const struct ct_comm *comm;
	uint32_t slot;
	unsigned op, dtype;
	uint64_t bytes;
	uint64_t start_ns, asked_ns, end_ns, err_ns;
};
int ct_overlap_call(struct ct_overlap *overlap, const struct ct_overlap_call *call);

/* What became of one launch: `exposed_ns` of its span was waited for, as far as `is_known`. Nonzero
 * stops. */
struct ct_overlap_launch {
	uint32_t process, launch, slot;
	uint64_t start_ns, end_ns; /* of the process's host */
	int is_known, is_same_stream;
	uint64_t exposed_ns, err_ns;
};
typedef int (*ct_overlap_fn)(void *arg, const struct ct_overlap_launch *launch);

/* Reports each launch as it is settled, in the thread that does that. Set before the first one
 * comes in. */
void ct_overlap_subscribe(struct ct_overlap *overlap, ct_overlap_fn fn, void *arg);

/* Each interval in which a relevant waiter waited for a launch or an operation, and, marked as
 * unknown, each one for which that is unknown. Times of the rank's host. Nonzero stops. Before the
 * first one comes in. */
struct ct_overlap_stall {
	uint32_t slot;
	const struct ct_comm *comm;
	uint64_t start_ns;	   /* of what was waited for */
	uint64_t begin_ns, end_ns; /* not known: its span */
	uint64_t err_ns;
	int is_known;
};
typedef int (*ct_overlap_stall_fn)(void *arg, const struct ct_overlap_stall *stall);
void ct_overlap_stalls(struct ct_overlap *overlap, ct_overlap_stall_fn fn, void *arg);

/* All processes are read: hands on the rest, as ct_overlap_block() does. Rows and classes are
 * complete. */
int ct_overlap_close(struct ct_overlap *overlap);

/* Sums of the processes that have ended, in the order of their ends. */
const struct ct_overlap_row *ct_overlap_rows(const struct ct_overlap *overlap, size_t *n);
/* Those of a slot, in no order; NULL: no more. */
const struct ct_overlap_row *ct_overlap_of_slot(const struct ct_overlap *overlap, uint32_t slot);
const struct ct_overlap_row *ct_overlap_next(const struct ct_overlap *overlap,
					     const struct ct_overlap_row *row);
const struct ct_overlap_class *ct_overlap_classes(const struct ct_overlap *overlap, size_t *n);

#endif
