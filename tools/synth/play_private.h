/* SPDX-License-Identifier: Apache-2.0 */
/* play_private.h — the internals of a play: cpu.c acts, stream.c does what is on streams, meet.c
 * brings together the ranks of an operation, model.c says how long things take. */
#ifndef CT_TOOLS_SYNTH_PLAY_PRIVATE_H
#define CT_TOOLS_SYNTH_PLAY_PRIVATE_H

#include "tools/synth/map.h"
#include "tools/synth/play.h"

struct play;
struct rank;
struct stream;

/* For each stream of the rank, how far it has been waited for. */
struct clock_vector {
	struct ct_play_mark at[CT_PLAY_STREAMS];
};

/* An event as it was recorded: a point of a stream's time, once known. Counted references. */
struct moment {
	uint64_t ns;
	uint32_t refs;
	uint8_t is_known;
	int8_t stream;		/* of the rank, where it was recorded */
	uint8_t is_direct;	/* that had launched */
	struct stream *waiters; /* streams that wait at it */
	struct rank *host;	/* or its CPU */
	struct clock_vector clock;
	struct rank *rank;
	struct moment *free, *all;
};

/* What a wait brings that is new to the waiting one. */
struct waited {
	uint32_t n;
	int via;
	int others, has_launched;
	struct {
		uint32_t launch, after;
	} on[CT_PLAY_STREAMS];
	struct waited *free, *all;
};

struct launch_op {
	struct ct_workload_op op;
	uint64_t seq, step;
};

/* Of one group, or of one call outside groups. */
struct launch {
	struct rank *rank;
	struct stream *stream;
	int comm;
	uint32_t id, n_ops, cap_ops, left;
	uint64_t issued_ns, reached_ns, start_ns, end_ns, wait_ns;
	struct launch_op *ops;
	uint8_t is_stuck, lingers; /* it moves nothing; or moves all and does not end */
	struct launch *free, *all;
};

enum item_kind {
	ITEM_COMPUTE,
	ITEM_RECORD,
	ITEM_WAIT,
	ITEM_LAUNCH,
	ITEM_BLOCK,
	ITEM_STEP, /* a step begins */
};

struct item {
	enum item_kind kind;
	uint64_t issued_ns, ns; /* ns: of computing; or the step */
	union {
		struct moment *moment;
		struct launch *launch;
	};
	struct waited *waited; /* of a wait to be reported */
	int is_exposing;       /* it waits for communication */
};

struct stream {
	struct rank *rank;
	int index;
	uint64_t ns;	    /* all before the queue is done by then */
	struct item *items; /* a ring of `cap`, a power of two */
	uint32_t head, n, cap;
	struct launch *running;
	struct stream *next_waiter, *next_ready;
	uint8_t is_ready, is_waiting, is_blocked;
	/* what a recorder would know of it */
	struct clock_vector waited;
	struct ct_play_mark own;
	uint8_t is_named, is_fed, reported_level, others;
};

struct span {
	uint64_t begin_ns, end_ns;
};

/* Spans of a GPU that is stalled, or has no free SMs; in the order of their beginnings. */
#define SPANS 64u
struct spans {
	struct span at[SPANS];
	uint32_t n;
};

/* The length of a union of spans that come roughly in order. */
struct cover {
	struct span at[SPANS];
	uint32_t n;
	uint64_t done_ns;
};

enum rank_state { RANK_RUNS, RANK_WAITS, RANK_ENDED };

/* What a CPU waits for, or stays near to, before it continues. */
struct lag {
	struct moment **at; /* a ring */
	uint32_t head, n, cap;
	int drains; /* it waits for all of it */
};

struct seat { /* of a rank in a communicator */
	int comm;
	uint64_t seq;
	uint64_t *messages;	   /* by peer: sent, received; NULL: none yet */
	uint8_t is_stuck, lingers; /* what is launched from now on; what is launched next */
};

struct rank {
	struct play *play;
	int number;
	enum rank_state state;
	uint8_t stalls; /* the next call of this kind never returns: enum ct_fault_call + 1 */
	struct ct_workload_rank *it;
	const struct ct_action *action; /* of `it`, until the next one */
	uint64_t host_ns;
	struct stream streams[CT_PLAY_STREAMS];
	int n_streams;
	struct seat seats[CT_PLAY_STREAMS];
	int n_seats;
	struct moment **events;
	uint32_t n_events;
	struct clock_vector host_waited;
	struct launch *group;
	int in_group;
	uint32_t launches;
	uint32_t splits;
	uint64_t calls;
	uint64_t step; /* and the kernels of it, and of the last one, so far */
	uint32_t kernels, last_kernels;
	double own_pace;
	uint64_t skew_ns;
	struct lag lag;
	int ending_comm; /* being finalized since, -1 none */
	uint64_t finalize_ns;
	enum ct_play_end ending; /* how it ends, once its GPU has done what it was given */
	uint8_t ends;
	uint32_t hiccup_at; /* a kernel of this step, UINT32_MAX none */
	uint64_t hiccup_ns;
	struct spans starved, paused;
	struct cover waits;
	uint64_t kill_at_ns;
	int code;
	struct ct_play_rank_sums sums;
	struct rank *next_ready;
	uint8_t is_ready;
	/* Each rank's own, so that what it uses again is near. */
	struct moment *free_moments;
	struct launch *free_launches;
};

/* A collective on all its members. */
struct instance {
	uint64_t seq;
	uint32_t n, done;
	uint8_t root_is_there, is_broken;
	uint64_t root_ns;    /* when that came */
	struct launch_op op; /* as the first rank to come asked for it */
	struct {
		struct launch *launch;
		uint32_t op;
		uint8_t is_done;
	} * members; /* by index in the communicator */
	struct instance *free;
};

struct comm {
	const struct ct_workload_comm *about;
	double ns_per_byte;	/* of the slowest edge of its ring */
	uint64_t base;		/* oldest seq that is open */
	struct instance **open; /* a ring of `cap` from base on */
	uint32_t head, n, cap;
	struct instance *free;
	double wire_bytes; /* that each member has sent, collectives only ... */
	double ring_bytes; /* ... and of that, what all of them send on to the next */
	uint8_t has_slow_edge;
};

/* One way between two members: sends that wait for their receives, or the other way round. */
struct channel {
	struct {
		struct launch *launch;
		uint32_t op;
	} * at;
	uint32_t head, n, cap;
	int is_receives;
	uint64_t met;
	int comm, src, dst; /* members */
	double bytes;
};

/* CPUs that wait for each other: communicators are being made. */
struct gathering {
	uint32_t n, expected;
	uint64_t last_ns;
	struct rank **ranks;
	uint64_t *enter_ns;
};

struct play {
	const struct ct_workload *w;
	const struct ct_workload_config *config;
	const struct ct_play_world *world;
	const struct ct_play_sink *sink;
	struct ct_play_sums *sums;
	struct rank *ranks;
	struct comm *comms;
	struct ct_synth_map channels, gatherings;
	struct stream *ready_first, **ready_end;
	struct rank *ranks_first, **ranks_end;
	struct moment *moments; /* all that there are */
	struct launch *launches;
	struct waited *free_waited, *waited;
	uint64_t run_ahead_ns;
	int has_pauses;
	int status; /* of the first thing that went wrong */
};

/* play.c */
int ct_play_fail(struct play *p, int status);
void ct_play_ready_rank(struct rank *r);
void ct_play_ready_stream(struct stream *s);
void *ct_play_alloc(struct play *p, size_t n, size_t size); /* NULL: the play has failed */
/* Space for one more in an array that is a ring from `head`, which then begins at 0. 0 or -1. */
int ct_play_grow_ring(struct play *p, void **array, uint32_t *head, uint32_t n, uint32_t *cap,
		      size_t size);
struct moment *ct_play_moment(struct rank *r);
void ct_play_release(struct moment *m);
void ct_play_free(void *at);
struct moment **ct_play_event(struct rank *r, int event); /* NULL: no memory */
struct launch *ct_play_launch_new(struct rank *r);
struct launch_op *ct_play_launch_op(struct launch *l); /* one more */
void ct_play_launch_free(struct launch *l);
struct waited *ct_play_waited_new(struct play *p, const struct waited *from);
void ct_play_waited_free(struct play *p, struct waited *w);

/* cpu.c: continues until the CPU waits, or the rank is done. */
void ct_play_cpu(struct rank *r);
/* The moment that the CPU waits for is known. */
void ct_play_cpu_woken(struct rank *r);

/* waiting.c: what a program does with events, and what it costs the CPU. */
#define CT_PLAY_EVENT_NS 500u
void ct_play_record_event(struct rank *r, struct stream *s, int event);
void ct_play_wait_event(struct rank *r, struct stream *s, int event);
/* The CPU will wait for what the stream has now. */
void ct_play_mark(struct rank *r, struct stream *s);
/* Wait for what is marked. 0: it stands. */
int ct_play_keeps_up(struct rank *r);

/* stream.c */
void ct_play_put(struct stream *s, const struct item *item);
void ct_play_advance(struct stream *s);
void ct_play_launch_done(struct launch *l);
void ct_play_pass_wait(struct rank *r, const struct waited *w, struct ct_play_wait *wait);

/* meet.c: the launch's operations have begun. */
void ct_play_meet(struct launch *l);
/* If contradicting calls continue: a rank that waits for a finished one continues without it. 1: a
 * rank did. */
int ct_play_meet_without(struct play *p);
int ct_play_meet_init(struct play *p);
void ct_play_meet_free(struct play *p);

/* model.c: ns of a transfer, without waiting. */
double ct_play_collective_ns(const struct play *p, const struct comm *comm,
			     const struct launch_op *op, uint64_t which);
double ct_play_message_ns(const struct play *p, const struct channel *channel, uint64_t bytes,
			  uint64_t step);
double ct_play_wire_bytes(unsigned op, uint64_t count, unsigned dtype, int n);
uint64_t ct_play_skew_ns(const struct play *p, const struct rank *r, uint64_t what, uint64_t which);
double ct_play_ring_ns_per_byte(const struct play *p, const struct ct_workload_comm *comm,
				uint64_t step);

/* wire.c: a collective of `comm` has been carried out: which ranks its bytes went between, for the
 * matrix of the truth (docs/dev/GENERATORS.md); and at the end, what went round rings, and
 * messages. What a rank gives itself goes nowhere. */
void ct_play_carry(struct play *p, struct comm *comm, const struct launch_op *op);
void ct_play_carry_rest(struct play *p);

/* gpu.c: spans in which a GPU is stalled or full. */
void ct_play_span_add(struct spans *spans, uint64_t begin_ns, uint64_t ns);
/* The end of the span that holds `ns`, or `ns`. */
uint64_t ct_play_span_leave(const struct spans *spans, uint64_t ns);
/* When work of `ns` that begins at `begin_ns` is done, with standstills. */
uint64_t ct_play_span_work(const struct spans *spans, uint64_t begin_ns, uint64_t ns);
void ct_play_cover_add(struct cover *cover, uint64_t begin_ns, uint64_t end_ns);
uint64_t ct_play_cover_sum(const struct cover *cover);

#endif
