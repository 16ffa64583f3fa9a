/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h — one reading of all processes of an attempt: load, match, judge, and the sums that come of it.
 *
 * Processes are read block by block, always the one whose reading is furthest behind on the clock, so that
 * instances complete soon. A pass owns all it holds; one thread. */
#ifndef CT_PASS_H
#define CT_PASS_H

#include "analyzer/base/hist.h"
#include "analyzer/base/interval_union.h"
#include "analyzer/charts/heat.h"
#include "analyzer/clock/align.h"
#include "analyzer/lateness/host_calls.h"
#include "analyzer/lateness/oversubscribed.h"
#include "analyzer/lateness/straggler.h"
#include "analyzer/lateness/windows.h"
#include "analyzer/link/traffic/traffic.h"
#include "analyzer/load/load.h"
#include "analyzer/match/groups.h"
#include "analyzer/match/match.h"
#include "analyzer/match/op_classes.h"
#include "analyzer/model/attempts.h"
#include "analyzer/order/mismatch.h"
#include "analyzer/order/order.h"
#include "analyzer/order/pairs.h"
#include "analyzer/overlap/overlap.h"
#include "analyzer/steps/markers.h"
#include "analyzer/steps/sequence.h"
#include "analyzer/stream/exposures.h"
#include "analyzer/stream/instance_log.h"

struct ct_pass;

/* Ends of a seat's latest operations, to tell how long it was free before the next one. */
#define CT_HISTORY 32u
struct ct_history {
	uint64_t ends[CT_HISTORY];
	unsigned next;
};

/* Somebody who looks on while a pass reads: each may be NULL; nonzero stops and becomes the pass's result. */
struct ct_watch {
	int (*op)(void *arg, const struct ct_pass *pass, uint32_t process,
		  const struct ct_load_op *op);
	int (*host)(void *arg, const struct ct_pass *pass, uint32_t process,
		    const struct ct_host_rec *rec);
	/* An instance whose transfer is known, and perhaps its waits. `bytes` of the whole operation. */
	int (*judged)(void *arg, const struct ct_pass *pass, const struct ct_instance *instance,
		      const struct ct_waits *waits, uint64_t bytes);
	/* A complete instance, all of whose members were timed and do the same. With this nothing is judged: the reading
	 * serves to see the instances, and the other sums are not made. */
	int (*matched)(void *arg, const struct ct_pass *pass, const struct ct_instance *instance);
	/* Each moment that somebody stood waiting for communication (stream/exposures.h), also those that `exposures` has no
	 * room for. */
	int (*stall)(void *arg, const struct ct_pass *pass, const struct ct_exposure *stall);
	/* Everything was read; the pass ends when the analysis does. */
	int (*read)(void *arg, const struct ct_pass *pass);
	void *arg;
};

/* A communicator on which a seat sends or receives, and when it last began to. */
struct ct_partners {
	const struct ct_comm *comm;
	uint64_t last_ns;
};

/* Sums over what one seat did. */
struct ct_seat {
	int rank; /* -1 unknown */
	uint32_t host;
	uint32_t process; /* its latest one ... */
	uint32_t local;	  /* ... and which of that process's ranks it is */
	int device;	  /* -1 none or unknown */
	int leaves;	  /* its process has begun to leave its library (MPI_Finalize) */
	int muddled;	  /* stands for several ranks that cannot be told apart: not judged */
	uint64_t ops, bytes;
	uint64_t lateness_ns, last_count, err_ns;
	struct ct_union waited;	  /* when it stood waiting for others */
	uint64_t judged;	  /* instances behind the waits */
	uint64_t unmeasured;	  /* ops of which it is not known how long they communicated */
	uint64_t launches, timed; /* whose end ought to be known, and those whose end is */
	uint32_t holes; /* communicators whose latest launch was not timed: who knows until when it ran */
	struct ct_cover busy; /* in at least one operation */
	enum ct_timing timing;
	struct ct_history history;
	/* where the host times: windows.h */
	struct ct_calls calls;
	struct ct_anchor anchor;
	struct ct_partners *partners;
	uint32_t n_partners;
	uint64_t messages;    /* sends and receives so far */
	unsigned tells_waits; /* see ct_seat_tells_waits() */
	unsigned hides_waits; /* by library: something ended, and nobody knows who waited for it */
	uint64_t covered_ns;  /* waits entered up to here are in `busy` */
	uint64_t vague_ns;    /* up to here it is not known when it stood waiting */
};

/* Of this library, does the seat's process have the calls on record in which it waits? As far as was read. */
static inline int ct_seat_tells_waits(const struct ct_seat *seat, unsigned backend)
{
	return (int)(seat->tells_waits >> (backend & 31) & 1);
}
static inline void ct_seat_tells(struct ct_seat *seat, unsigned backend)
{
	seat->tells_waits |= 1u << (backend & 31);
}

static inline void ct_seat_hides(struct ct_seat *seat, unsigned backend)
{
	seat->hides_waits |= 1u << (backend & 31);
}

/* Is it known when the seat's process stood waiting in this library? Of MPI also where it does nothing but block: its calls
 * are made by threads that compute. Once all is read. */
static inline int ct_seat_knows_waits(const struct ct_seat *seat, unsigned backend)
{
	return ct_seat_tells_waits(seat, backend) ||
	       (backend == CT_BACKEND_MPI && !(seat->hides_waits >> (backend & 31) & 1));
}

/* An op that was under way when its process was heard of last: inside its call or, if it is `launched`, on the GPU for
 * much longer than is usual, or begun by a rank that then stood in a call that waits. Or such a call. */
struct ct_unreturned {
	struct ct_op op; /* of a call: tid and enter_ns */
	int launched;
	int is_call; /* that moves no data */
	int by_host; /* nothing that runs on a GPU */
	uint32_t process, seat;
	const struct ct_comm *comm; /* NULL unknown */
	const char *call;	    /* NULL unknown; in the pass's arena */
};

/* What is kept of a process after it was read. */
struct ct_pass_process {
	struct ct_load_facts facts;
	struct ct_gaps gaps;
	struct ct_environment_facts environment;
	const char **notes;
	struct ct_port_sums *ports; /* NULL: it told of none */
	int read;
	uint64_t first_ns, last_ns; /* its operations, CLOCK_MONOTONIC of its host; 0, 0: none */
};

struct ct_pass {
	const struct ct_run *run;
	struct ct_attempts *attempts;
	int attempt;
	struct ct_arena *memory;
	struct ct_seat *seats;
	uint32_t n_seats;
	uint32_t *host_of; /* by seat, for waits and blame */
	/* By host: its CLOCK_MONOTONIC to ns since the run began (modulo 2^64). Where clocks are related, at about the
	 * time of the instance at hand; else by its time of day. */
	uint64_t *shift;
	struct ct_aligned aligned;
	uint64_t begin_unix_ns;
	uint64_t duration_ns;
	struct ct_comms comms;
	struct ct_classes classes;
	struct ct_match *match;
	struct ct_groups groups;
	struct ct_mismatches mismatches;
	struct ct_sites sites;
	struct ct_orders orders;
	struct ct_pairs pairs;
	struct ct_tape tape;	     /* empty in a reading for a set */
	struct ct_sequence sequence; /* of the rank that is thought to be the first one; likewise */
	struct ct_markers markers;   /* of its process; likewise */
	struct ct_traffic traffic;   /* empty in a reading for a set */
	struct ct_overlap *overlap;  /* NULL in a reading for a set */
	struct ct_exposures exposures; /* empty in a reading for a set */
	struct ct_heat heat;	       /* likewise */
	struct ct_blame blame;
	/* of operations that lack ranks without a trace (lateness/partial_instances.h); zeroed: none */
	struct ct_blame rest;
	struct ct_rounds rounds; /* once its cycles are known; likewise: */
	struct ct_oversubscribed oversubscribed;
	struct ct_waits waits;
	struct ct_window window;
	struct ct_op_names names;
	struct ct_pass_process *processes; /* by process of the run */
	struct ct_unreturned *unreturned;
	uint32_t n_unreturned, cap_unreturned;
	uint64_t matched; /* collective instances whose waits are known: the evidence of every judgement */
	uint64_t messages; /* point-to-point instances with both ends */
	uint64_t followed; /* sends and receives in windows that could be judged */
	uint64_t incomplete;
	uint64_t slow_transfers; /* instances whose last one took long itself: not held against it */
	uint64_t late_or_slow_n; /* of them, those that took longer than other sizes can tell ... */
	struct ct_union
		late_or_slow; /* ... and what they took longer than usual, since the run began */
	uint64_t to_self;     /* of the messages, those of a rank to itself */
	uint64_t ops;
	uint64_t time_err_ns;
	struct ct_hist time_err; /* of the spans */
	uint64_t open_launches;
	const struct ct_analyze_options *options; /* may be NULL */
	const struct ct_watch *watch;		  /* NULL: nobody, as in a reading for a set */
};

/* For how long it had been, ns. */
uint64_t ct_pass_age(const struct ct_pass *pass, const struct ct_unreturned *unreturned);

/* Read all of one attempt. in_set: NULL, or a set of seats to weigh (then the other sums are made again).
 * 0, CT_NOMEM, CT_IO. ct_pass_fini() in any case. */
int ct_pass_run(struct ct_pass *pass, const struct ct_run *run, struct ct_attempts *attempts,
		int attempt, const uint8_t *in_set, const struct ct_analyze_options *options,
		struct ct_err *err);
void ct_pass_fini(struct ct_pass *pass);

/* What the matcher hands out (a ct_match_fn; `pass` is a struct ct_pass): compare, classify, judge, add up. */
int ct_pass_judge(void *pass, struct ct_instance *instance, int complete);

/* An op of `group` (NULL: of none) that has no partners is done with; passes `st` on. */
int ct_pass_alone(struct ct_pass *pass, int st, struct ct_group *group);

/* How long a seat stood waiting for communication in all. Known if enough of it was measured. */
struct ct_exposed {
	int is_known;
	uint64_t comm_ns; /* of what was measured */
	uint64_t exposed_ns, err_ns;
};
void ct_pass_exposed(const struct ct_pass *pass, uint32_t seat, struct ct_exposed *sum);

/* A time of a host as ns since the run began. */
uint64_t ct_pass_host_at(const struct ct_pass *pass, uint32_t host, uint64_t mono_ns);

/* A time of the host of `process` as ns since the run began. */
uint64_t ct_pass_at(const struct ct_pass *pass, uint32_t process, uint64_t mono_ns);

#endif
