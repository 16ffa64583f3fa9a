/* SPDX-License-Identifier: Apache-2.0 */
/* play.h — a job on GPUs that never ran: the op streams of tools/workload, played through with
 * CPUs, streams, events, groups and transfers whose times are computed.
 *
 * A CPU goes through its rank's actions and puts work onto streams; a stream does it in order; an
 * operation is carried out when all that take part have reached it. Nothing here runs in the order
 * of time: each time follows from the ones it waits for, by maxima and sums, in any order. All
 * times are ns of the job, of one clock, which no host has.
 *
 * A sink gets what happens, as it becomes known: per rank its calls in order, its launches in the
 * order in which they end on each stream. One thread a play; plays share nothing but a constant
 * config.
 */
#ifndef CT_TOOLS_SYNTH_PLAY_H
#define CT_TOOLS_SYNTH_PLAY_H

#include <stddef.h>
#include <stdint.h>

#include "tools/workload/workload.h"

/* Streams of one rank: computing, copying, one for each of its communicators. */
#define CT_PLAY_STREAMS 10

/* How things are, beside what the workload says. */
struct ct_play_world {
	double noise_pct;	  /* deviation of each kernel's length */
	double spread_pct;	  /* ranks differ by up to so much, either way, for good */
	double hiccup_rate;	  /* chance of one per rank and step ... */
	double hiccup_ms;	  /* ... whose mean length this is */
	double end_skew_us;	  /* ranks end an operation up to so much apart ... */
	double end_skew_fixed_us; /* ... and each always later by up to so much */
	double alpha_ns, hop_ns;  /* of a transfer: once, and for each further member */
	double node_Bps, net_Bps; /* between two ranks of a node, of two nodes */
	double transfer_noise;	  /* +- this share of a transfer */
	int mismatch_goes_on;	  /* calls that contradict each other end like others */
	double death_to_kill_s; /* the launcher kills all so long after one has died; < 0: never */
};

/* With the rates of the machines that the sizes of the workloads are from. */
struct ct_play_world ct_play_world(void);

/* How a rank's process came to its end. */
enum ct_play_end {
	CT_PLAY_THROUGH, /* did all it had to do */
	CT_PLAY_EXITED,	 /* ended early, with a code */
	CT_PLAY_DIED,	 /* of a signal of its own */
	CT_PLAY_STUCK,	 /* waits, or does nothing, forever */
};

/* The launches of a stream that are complete for a waiter: how many, and the last one's id. */
struct ct_play_mark {
	uint32_t count, launch;
};

/* One call; the launch that it is in has the number that ct_play_launch has. */
struct ct_play_call {
	const struct ct_workload_op *op;
	uint64_t enter_ns, return_ns;
	uint64_t seq;
	uint32_t launch;
};

struct ct_play_launch {
	int comm, stream; /* stream: of the rank, 0 the computing one */
	uint32_t id, n_ops;
	uint64_t issued_ns;
	uint64_t reached_ns; /* by the stream; 0: not yet, where it never ended */
	uint64_t start_ns;   /* of the kernel: later if the GPU had no free SMs */
	uint64_t end_ns;     /* 0: never */
	uint64_t wait_ns;    /* from reached_ns on, for others to come */
	const struct ct_workload_op *first;
	uint64_t first_seq;
};

/* A stream, or the CPU, waited for launches of one stream: those up to `launch` and beyond `after`.
 */
struct ct_play_wait {
	int is_host;
	int waiter, via; /* streams of the rank; waiter of the CPU: none */
	uint64_t issued_ns;
	uint64_t begin_ns, end_ns;
	uint32_t launch, after;
	int others;	  /* since its last one the stream waited for what is not communication */
	int has_launched; /* the stream has itself */
};

/* What is known of a stream when it launches: a program's calls on it are seen; it has waited for
 * another. */
struct ct_play_stream {
	int stream, is_fed;
	uint64_t at_ns;
};

/* Calls that move no data and may wait: reported when they are entered, with return_ns 0, and when
 * they return. */
enum ct_play_host { CT_PLAY_INIT, CT_PLAY_SPLIT, CT_PLAY_GROUP_END, CT_PLAY_FINALIZE };

/* comm: the one that it is about, or makes; -1: none. parent: the one that is split, else -1. */
struct ct_play_host_call {
	enum ct_play_host call;
	int comm, parent;
	uint64_t enter_ns, return_ns;
};

/* Each returns 0, or a negative status that ends the play. NULL members are left out. */
struct ct_play_sink {
	void *arg;
	int (*host)(void *arg, int rank, const struct ct_play_host_call *call);
	int (*unmade)(void *arg, int rank, int comm, uint64_t at_ns);
	/* The library answers that the communicator has failed. */
	int (*error)(void *arg, int rank, int comm, uint64_t at_ns);
	int (*call)(void *arg, int rank, const struct ct_play_call *call);
	int (*stream)(void *arg, int rank, const struct ct_play_stream *stream);
	int (*launch)(void *arg, int rank, const struct ct_play_launch *launch);
	int (*wait)(void *arg, int rank, const struct ct_play_wait *wait);
	/* After everything else, once for each launch that never ended, and once for each rank. */
	int (*open)(void *arg, int rank, const struct ct_play_launch *launch);
	int (*end)(void *arg, int rank, enum ct_play_end end, int code, uint64_t at_ns);
};

/* What came of it. */
struct ct_play_rank_sums {
	uint64_t ops, launches;
	uint64_t wait_ns;    /* union in time of what its launches waited for others */
	uint64_t exposed_ns; /* the compute stream communicated, or waited for communication */
	uint64_t end_ns;
	enum ct_play_end end;
};

struct ct_play_sums {
	uint64_t ops;
	uint64_t end_ns;   /* when the last rank was through, or the last thing happened */
	uint64_t kill_ns;  /* when the launcher killed all; 0 never */
	int is_stuck;	   /* not all ranks got through */
	double busy_ns;	   /* computing, CPUs, transfers and standstills, over all ranks */
	uint64_t n_steps;  /* begun by all */
	uint64_t *step_ns; /* when the first GPU came to each */
	struct ct_play_rank_sums *ranks;
	uint64_t *comm_bytes; /* sent by members of each communicator */
	uint64_t *wire_bytes; /* by sender and receiver, NULL for more than CT_PLAY_MATRIX ranks */
};

#define CT_PLAY_MATRIX 256

/* Play it; sink may be NULL. 0 or a negative status; the sums are freed with ct_play_sums_free() in
 * any case. */
int ct_play(const struct ct_workload *workload, const struct ct_play_world *world,
	    const struct ct_play_sink *sink, struct ct_play_sums *sums);
void ct_play_sums_free(struct ct_play_sums *sums);

/* What of a link is left in that step: the smallest factor of the faults that slow it then. */
double ct_play_link_factor(const struct ct_workload *workload, int src, int dst, uint64_t step);

#endif
