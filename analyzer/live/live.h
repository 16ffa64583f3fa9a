/* SPDX-License-Identifier: Apache-2.0 */
/* live.h — a job as it runs, from outside: what `commtrace-metrics` and `commtrace top` present.
 *
 * A look reads what the processes of this machine have written since the last one
 * (stream/follow.h), so sums are those of `report` over the same records. They are behind by
 * COMMTRACE_FLUSH at most. Rings are mapped, never written: they show operations in flight and
 * progress as of now. Every minute the replay of `report` judges what came since, for slow ranks
 * (slow.h). Memory follows ranks, communicators and kinds of operations, never the length of the
 * run. The job takes no part. One thread. */
#ifndef CT_ANALYZER_LIVE_LIVE_H
#define CT_ANALYZER_LIVE_LIVE_H

#include "analyzer/base/hist.h"
#include "analyzer/model/environment_facts.h"
#include "analyzer/steps/roles.h"
#include "trace/reader.h"

/* Ranges of message sizes, by powers of 16: below 1 KiB, 16 KiB, 256 KiB, 4 MiB, 64 MiB, 1 GiB, and
 * above. */
#define CT_LIVE_SIZES 7u		      /* size: ranges, each a series */
const char *ct_live_size_name(unsigned size); /* "lt_1KiB" .. "ge_1GiB" */

/* An operation in flight. */
struct ct_live_flight {
	const char *op;	  /* "AllReduce"; a call that moves no data is not among them */
	const char *comm; /* name, or first digits of its hash */
	const char *role; /* "dp", "other" */
	uint64_t hash;	  /* of the communicator, 0 unknown */
	uint64_t seq, age_ns, bytes;
	int on_gpu; /* its call has returned; else inside its call */
};

struct ct_live_comm {
	const char *name, *role, *op; /* of its latest operation */
	uint64_t hash;
	uint32_t nranks, rank;	   /* of the process in it */
	uint64_t next_seq, age_ns; /* since its latest operation was entered */
	uint64_t behind; /* operations, of the furthest of the members on this machine that are at
			    least so far */
};

/* Totals since the start of the job. */
struct ct_live_sums {
	uint64_t at_ns; /* up to here, since recording began */
	uint64_t ops, bytes;
	uint64_t comm_ns;    /* in at least one operation */
	uint64_t wait_ns;    /* for other ranks */
	uint64_t exposed_ns; /* compute waited for communication */
};

struct ct_live_rank {
	int rank; /* -1 unknown */
	int local_rank, device;
	uint32_t pid;
	const char *host;
	int runs;	  /* its process does */
	uint64_t beat_ns; /* age of its heartbeat; CT_UNKNOWN: it has none */
	uint64_t idle_ns; /* since it entered its latest operation; CT_UNKNOWN: none yet */
	struct ct_live_sums now, before; /* `before`: ten seconds and more earlier, for rates; at_ns
					    equal: no rate yet */
	int knows_wait; /* some operation's waits are known: else wait_ns is not 0, but unknown */
	int knows_exposed;   /* exposed_ns holds all */
	uint64_t awaited_ns; /* others waited for it alone: arrival order, no evidence against it */
	uint64_t losses[CT_LOSS_MAX];
	const struct ct_live_flight *flight; /* the oldest; NULL: none */
	uint32_t n_flights;
	struct ct_live_comm *comms; /* the latest first */
	uint32_t n_comms;
	double slow; /* the share of step time that it costs the job, NAN: not judged. 0: it is not
			slow, or that is not sure */
	double slow_err;
};

/* Operations of one role, kind and size. Histograms hold ns and bytes per second (base/hist.h). */
struct ct_live_row {
	const char *role, *op;
	unsigned size;
	uint64_t instances, bytes;
	uint64_t wait_ns, judged;
	struct ct_hist span, transfer, algbw;
	uint64_t bus_bytes, bus_ns; /* of transfers: their ratio is the mean bus bandwidth */
};

struct ct_live_error {
	unsigned backend;
	int code; /* the library's; CT_LIVE_OTHER_CODES: of many */
	uint64_t n;
};
#define CT_LIVE_OTHER_CODES INT32_MIN /* code: one of many */

struct ct_live_view {
	const char *job;
	int restart;	      /* 0: the first start */
	int world;	      /* ranks expected, -1 unknown */
	int is_behind;	      /* not everything on disk has been read yet */
	int has_ended;	      /* all processes have */
	uint64_t duration_ns; /* recorded: of the rank with most, since clocks of hosts are not
				 related here */
	uint64_t stall_ns; /* an operation in flight for longer is stalled: COMMTRACE_HANG_AFTER, as
			      `hang` has it for a running job */
	struct ct_live_rank *ranks;
	uint32_t n_ranks;
	struct ct_live_row *rows;
	uint32_t n_rows;
	const struct ct_live_error *errors;
	uint32_t n_errors;
	uint64_t slow_until_ns;	  /* end of the stretch that was judged last, since recording began;
				     0: none */
	const char *slow_why_not; /* why none was; NULL: one was, or it is too early */
	const struct ct_environment_facts *facts; /* of the first rank; NULL: none yet */
};

struct ct_live;

struct ct_live_options {
	const char *const *paths; /* borrowed */
	size_t n_paths;
	const char *const *ring_dirs;
	const char *boot_id; /* of this machine */
};

/* NULL: out of memory. */
struct ct_live *ct_live_open(const struct ct_live_options *options);

/* Look, reading for about `most_ns`. *view holds until the next look; NULL: nothing is recorded
 * (yet). 0, or a failure. */
int ct_live_look(struct ct_live *live, uint64_t most_ns, const struct ct_live_view **view,
		 struct ct_err *err);

void ct_live_close(struct ct_live *live);

#endif
