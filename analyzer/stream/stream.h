/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h — one reading of all processes of a start of the job: loads, matches, separates wait
 * from transfer, and passes each operation and instance to observers. Processes are read block by
 * block, always the one that is furthest behind in time, so instances complete soon. Without
 * matching they are read one after the other. Threads of `tasks` decode and join the next blocks
 * (load/read_ahead.h). One thread does the rest, in the same order, so threads affect only the
 * duration. A stream owns its model and all other members. */
#ifndef CT_ANALYZER_STREAM_STREAM_H
#define CT_ANALYZER_STREAM_STREAM_H

#include "analyzer/base/tasks.h"
#include "analyzer/load/load.h"
#include "analyzer/match/align.h"
#include "analyzer/match/groups.h"
#include "analyzer/match/match.h"
#include "analyzer/match/waits.h"
#include "analyzer/model/model.h"
#include "analyzer/order/order_book.h"
#include "analyzer/stream/host_calls.h"

struct ct_stream;

/* An operation as it was read. Pointers hold during the call. */
struct ct_op_event {
	uint32_t process;
	const struct ct_load_op *op;
	const struct ct_member
		*member; /* as it goes to the matcher, but for its group and what depends on that */
	const struct ct_comm *comm; /* NULL: never recorded */
	uint64_t bytes; /* of the whole operation; 0 without a communicator, or where nothing is
			   summed up (only_ops) */
};

/* Ranks did the same operation, or as many of them as are on record. Pointers hold during the call.
 */
struct ct_instance_event {
	const struct ct_instance *instance;
	int complete;
	struct ct_class
		*class; /* its row; NULL: has none, or is a message, whose ends have one each */
	struct ct_waits *waits; /* `judged` says what is known; its scratch is anyone's */
	struct ct_last last;	/* of a collective of a class whose waits are known */
	uint64_t bytes;		/* of the whole operation */
	int contradictory;	/* its members called different things */
	int is_skipped;		/* its last member came before `from_ns` */
};

/* Observes a reading. Each function may be NULL; nonzero stops and becomes the reading's result.
 * The reading thread calls all; `stream` has the data read so far. */
struct ct_observer {
	/* The model has its processes, and the slots that they name themselves. */
	int (*begin)(void *arg, struct ct_stream *stream);
	int (*op)(void *arg, const struct ct_stream *stream, const struct ct_op_event *event);
	/* A communicator of the process was made, or got a name: `user` is the model's (struct
	 * ct_comm), `slot` its member. */
	int (*comm)(void *arg, const struct ct_stream *stream, uint32_t process,
		    const struct ct_load_comm *comm, uint32_t slot);
	/* A call that moves no data was entered, or has returned; NULL where its name or call site
	 * is unknown. Like all strings of a process, these two hold until `block` has reported its
	 * end. */
	int (*host)(void *arg, const struct ct_stream *stream, uint32_t process,
		    const struct ct_host_rec *rec, const char *call, const char *site);
	/* A library reported an error by this call, in these words; NULL unknown, none. */
	int (*error)(void *arg, const struct ct_stream *stream, uint32_t process,
		     const struct ct_error_rec *rec, const char *call, const char *text);
	/* The process's progress on the communicator, also with dropped records. */
	int (*reached)(void *arg, const struct ct_stream *stream, uint32_t process,
		       const struct ct_load_comm *comm, const struct ct_comm_status_rec *rec);
	/* A thread's stack: a STACK record, for ct_stack_list_take(). */
	int (*stack)(void *arg, const struct ct_stream *stream, uint32_t process,
		     const uint8_t *bytes, size_t len);
	/* A stream or the host of `process` waited for communication. */
	int (*wait)(void *arg, const struct ct_stream *stream, uint32_t process,
		    const struct ct_wait_rec *rec);
	/* An NVTX range of the process whose first rank is `slot`. */
	int (*nvtx)(void *arg, const struct ct_stream *stream, uint32_t process, uint32_t slot,
		    const struct ct_nvtx_rec *rec);
	/* A block of the process is read, or all of it is. */
	int (*block)(void *arg, const struct ct_stream *stream, uint32_t process,
		     const struct ct_load *load, int ended);
	/* The slot waited for others in [begin, end), not reported before; on its host's clock. */
	int (*waited)(void *arg, const struct ct_stream *stream, uint32_t slot, uint64_t begin_ns,
		      uint64_t end_ns);
	int (*instance)(void *arg, struct ct_stream *stream, const struct ct_instance_event *event);
	/* A complete collective or message, all of whose members were timed and do the same; only
	 * of a reading with only_matched. */
	int (*matched)(void *arg, const struct ct_stream *stream,
		       const struct ct_instance *instance);
	/* After reading: the model is complete, except for the observers' parts. */
	int (*end)(void *arg, struct ct_stream *stream);
	int gets_all; /* is also called for operations and instances before `from_ns` */
	void *arg;
};

struct ct_stream_options {
	const struct ct_observer *observers; /* borrowed until the end of the reading */
	uint32_t n_observers;
	struct ct_tasks *tasks; /* threads that may read ahead; NULL: none */
	const char *boot_id;	/* of this machine; NULL unknown */
	uint64_t from_ns;	/* since the run began: what started before is matched and compared
				   (order/), but neither judged nor       summed up */
	int only_matched; /* nothing is judged: no `waited`, no `instance`, and the model is as with
			     only_ops; of NCCL's operations within a host, only some are matched */
	int only_ops; /* nothing is matched, timed or summed up: the model has ranks, communicators
			 and processes; these are read one after the other */
	/* By process of the run: operations of blocks with a lower number are not read; NULL: all
	 * are. */
	const uint32_t *from;
	const uint32_t *segments; /* likewise, for those with `from`: earlier segments are not read,
				     nor what follows is skipped over; NULL: all are */
	int follows;		  /* as the processes go on (follow.h) */
	int skims; /* with only_ops: not even operations are read, and no observer gets any
		      (trace/reader.h) */
	void (*progress)(void *arg, uint64_t done,
			 uint64_t all); /* bytes of segments, now and then; may be NULL */
	void *progress_arg;
};

/* size: ends of a slot's latest operations, to show how long it was free before the next one. */
#define CT_HISTORY 32u
struct ct_history {
	uint64_t ends[CT_HISTORY];
	uint64_t latest_ns; /* of these */
	unsigned next;
};

/* A communicator on which a slot sends or receives, and when it last began to. */
struct ct_partners {
	const struct ct_comm *comm;
	uint64_t last_ns;
};

/* What a slot is doing as far as was read, by its own clock. */
struct ct_activity {
	uint32_t holes; /* communicators whose latest launch was not timed: it is not known until
			   when it ran */
	struct ct_history history;
	struct ct_calls calls; /* where the host times */
	struct ct_partners *partners;
	uint32_t n_partners;
	uint64_t covered_ns; /* `busy` contains all waits that began before this time */
};

/* Observers that have the function; there are more of these than calls of most of them. */
struct ct_observing {
	const struct ct_observer **by;
	uint32_t n;
};

struct ct_stream {
	struct ct_model model;
	struct ct_order_book order;
	struct ct_activity *activities; /* by slot */
	struct ct_match *match;
	struct ct_groups groups;
	struct ct_aligned aligned;
	struct ct_waits waits;
	uint64_t skew_sum_ns, skew_n; /* of the ends on one clock, see ct_waits_judge() */
	struct ct_stream_options options;
	uint64_t read_bytes, all_bytes; /* of segments */
	struct ct_observing on_op, on_wait, on_waited, on_instance;
};

/* Error of ends being simultaneous: the mean skew seen where a clock is shared; 0 as long as none
 * was. */
uint64_t ct_stream_skew(const struct ct_stream *stream);

/* Reads all of one start. 0, CT_NOMEM, CT_IO, or what an observer returned. ct_stream_fini() in any
 * case. */
int ct_stream_run(struct ct_stream *stream, const struct ct_run *run, struct ct_starts *starts,
		  int restart, const struct ct_stream_options *options, struct ct_err *err);
void ct_stream_fini(struct ct_stream *stream);

#endif
