/* SPDX-License-Identifier: Apache-2.0 */
/* format_rares.h — what records of the rare kinds hold: little-endian structs, which may get longer
 * at their end; readers accept longer ones. See format.h.
 */
#ifndef CT_TRACE_FORMAT_RARES_H
#define CT_TRACE_FORMAT_RARES_H

#include <stdint.h>

struct ct_clock_rec {
	uint64_t monotonic_ns;
	uint64_t raw_ns;
	uint64_t realtime_ns;
	uint64_t maxerror_ns; /* of the realtime clock, as the kernel says */
	uint64_t status;
};

struct ct_comm_rec {
	uint32_t id;
	uint32_t nranks;
	int32_t rank;
	uint32_t name; /* string id */
	uint64_t key;
	uint64_t parent;
	uint64_t created_ns;
	uint64_t ended_ns;
	uint64_t members_key;
	uint8_t backend;
	uint8_t key_source;
	uint16_t device; /* GPU of this member: CUDA device + 1, 0 none or unknown */
	uint8_t reserved[4];
};

struct ct_loss_rec {
	uint32_t reason; /* enum ct_loss */
	uint32_t reserved;
	uint64_t records; /* running total since the process started */
	uint64_t begin_ns;
	uint64_t end_ns;
};

struct ct_status_rec {
	uint64_t beat_ns; /* the process was alive then */
	uint64_t flushed_ns;
};

struct ct_comm_status_rec {
	uint32_t comm;
	uint32_t last_op;
	uint64_t next_seq;
	uint64_t last_enter_ns;
	uint64_t called;     /* collectives of it in the blocks before this one, + 1; 0 not known */
	uint64_t order_end;  /* the highest of their numbers + 1 */
	uint64_t order_hash; /* of what they are, in which order: op_hash.h */
};

/* Running total of what one member and this one had moved between them inside recorded operations:
 * sent by this one or received by it. Of several records with the same words up to `slot` the
 * latest counts; those that differ in `slot` add up. */
struct ct_traffic_rec {
	uint32_t comm;
	int32_t peer;	   /* rank in the comm; -1: one of several, it is not known which */
	uint32_t received; /* 0: sent */
	uint32_t slot;	   /* which of several counters of the same */
	uint64_t messages;
	uint64_t bytes;
};

struct ct_open_op_rec {
	uint32_t tid;
	uint32_t slot; /* with lap: the same op may come again, returned, in a later block */
	uint64_t lap;
	uint64_t words[8];
};

struct ct_open_launch_rec {
	uint64_t words[8]; /* struct ct_ring_open */
};

/* How launches on a GPU are timed, and why so. */
enum ct_timed_by {
	CT_TIMED_BY_UNKNOWN = 0,
	CT_TIMED_BY_NOTHING = 1, /* COMMTRACE_TIMING=off */
	CT_TIMED_BY_EVENTS = 2,	 /* start and end */
	CT_TIMED_BY_HOST = 3,	 /* the end, by asking */
	CT_TIMED_BY_PLUGIN = 4,	 /* the library's profiler interface */
};
enum ct_timed_why {
	CT_TIMED_WHY_ASKED = 0,		 /* the setting says so */
	CT_TIMED_WHY_AUTO = 1,		 /* nothing speaks against it */
	CT_TIMED_WHY_ONE_CONNECTION = 2, /* auto, but with CUDA_DEVICE_MAX_CONNECTIONS=1 */
	CT_TIMED_WHY_STREAMS = 3,	 /* auto, but with too many streams for the connections */
	CT_TIMED_WHY_CLOCK = 4, /* the times of a GPU's events contradicted each other: the host's */
	CT_TIMED_WHY_EARLY = 5, /* auto, but what the job's steps are like was not known yet */
	CT_TIMED_WHY_SLOWER = 6, /* auto, but timed events made steps longer than the budget allows */
};

/* What was taken for a step. */
enum ct_step_kind {
	CT_STEP_NONE = 0,	/* none is known */
	CT_STEP_PERIOD = 1,	/* a period of the largest communicator's collectives */
	CT_STEP_OPERATIONS = 2, /* ... of their operations, regardless of sizes */
	CT_STEP_COLLECTIVE = 3, /* a single one: nothing repeats */
};

/* Why it is not known by how much timing makes steps longer. */
enum ct_unmeasured {
	CT_UNMEASURED_NO_REPORT = 0,
	CT_UNMEASURED_OFF = 1,		  /* COMMTRACE_GUARD=off, or COMMTRACE_DUTY is set */
	CT_UNMEASURED_NO_COLLECTIVES = 2, /* (any more) outside CUDA graphs */
	CT_UNMEASURED_NO_STEP = 3,	  /* no step found yet */
	CT_UNMEASURED_LONG = 4,		  /* steps are too long for the longest windows */
	CT_UNMEASURED_FEW = 5,		  /* too few windows yet */
};

struct ct_cost_rec {
	uint64_t calls;
	uint64_t wrapper_ns; /* estimated: calls x cost of one, measured at start */
	uint64_t write_cpu_ns;
	uint64_t beat_cpu_ns;
	uint64_t poll_cpu_ns;
	uint64_t bytes_written;
	uint64_t gpu_events;	   /* CUDA events recorded */
	uint64_t launches_timed;   /* by events, start and end */
	uint64_t launches_untimed; /* of those on a GPU that were to be timed */
	uint64_t budget_backoffs; /* how often fewer launches were timed from then on, to cost less */
	uint32_t sample; /* COMMTRACE_SAMPLE: share of instances to be timed, of 2^32; 0 all */
	uint32_t budget_millionths; /* COMMTRACE_BUDGET, of wall time; 0 no limit */
	uint32_t duty_on_ms;	    /* COMMTRACE_DUTY: timed so long at the start of every ... */
	uint32_t duty_ms;	    /* ... of these; 0 always */
	uint8_t timed_by;	    /* enum ct_timed_by */
	uint8_t timed_why;	    /* enum ct_timed_why */
	uint8_t level;		    /* the share is halved so often by the budget: now ... */
	uint8_t coarsest;	    /* ... and at most so far */
	uint8_t plugin_loaded;	    /* by NCCL */
	uint8_t step_kind;	    /* enum ct_step_kind */
	uint8_t unmeasured; /* enum ct_unmeasured, where change_err_millionths is not known */
	uint8_t reserved;
	uint64_t raised_ns;  /* auto went over to events; 0 not */
	uint64_t lowered_ns; /* ... and back to the host; 0 not */
	/* how much longer a step is because it is timed, and the error of that (99 %) */
	int32_t change_millionths;
	uint32_t change_err_millionths; /* UINT32_MAX: not known yet */
	uint32_t windows_off;		/* COMMTRACE_GUARD: in which nothing was timed, ... */
	uint32_t windows_on;		/* ... and others beside which they were held */
	uint64_t step_ns; /* how long a step is, 0 not known: so many collectives ... */
	uint32_t step_collectives;
	uint32_t step_comm;    /* ... of this communicator, the largest */
	uint32_t guard_off_ms; /* nothing timed so long in every ... */
	uint32_t guard_ms; /* ... of these; 0 never. As COMMTRACE_GUARD says, or longer, for long
			      steps */
	/* of write_cpu_ns: the threads that watch for stalls, read ports' counters, look around */
	uint64_t stacks_cpu_ns;
	uint64_t counters_cpu_ns;
	uint64_t around_cpu_ns;
	/* context switches of the tracer's threads: they waited, + 1 (0: neither is known, nor are
	 * the three above) ... */
	uint64_t voluntary_and_1;
	uint64_t involuntary; /* ... and another thread took their core */
	uint64_t start_ns;    /* how long the call waited that started the recording; 0 not known */
};

struct ct_end_rec {
	uint64_t end_ns;
	uint32_t kind; /* enum ct_exit_kind | CT_EXIT_UNASKED */
	uint32_t code; /* exit status */
};

/* The next three come from ring slots: 56 bytes, words 1..7. */

/* A host-blocking call that moves no data, such as making a communicator or waiting for requests.
 * HOST_BEGIN is written before it with return_ns 0, HOST_END after it; a begin without its end is a
 * call that never returned. A thread that polls in close succession waits, too: from its first
 * unsuccessful test to the successful one. HOST_BEGIN is then written after a while, and repeated
 * during the wait; after the last one the thread may do something else. Short waits have a HOST_END
 * only. */
struct ct_host_rec {
	uint64_t enter_ns; /* with tid: pairs the two */
	uint64_t return_ns;
	uint32_t tid;
	uint32_t call;	    /* string id of the function's name */
	uint32_t nranks;    /* of the communicator that it is about, 0 unknown; of a wait for a GPU:
			       the    stream as in LAUNCH, 0 unknown or all */
	int32_t rank;	    /* in it */
	uint32_t comm;	    /* its id; 0 unknown, as in every HOST_BEGIN of a creation */
	int32_t result;	    /* of HOST_BEGIN: string id of the call site, 0 unknown */
	uint64_t key;	    /* of the comm, 0 unknown */
	uint64_t polled_ns; /* no single call, but the program asking again and again: last time so
			       far */
};

/* The call site in a HOST_BEGIN; 0 unknown, and in a HOST_END. */
static inline uint32_t ct_host_site(const struct ct_host_rec *rec)
{
	return rec->return_ns ? 0 : (uint32_t)rec->result;
}

/* Part of a v-collective's per-peer counts: what this rank sends to peers first.., or, where all
 * ranks pass the same counts, what those ranks contribute. Counts beyond 32 bits are cut to
 * UINT32_MAX. */
#define CT_VCOUNTS_PART 8u
struct ct_vcounts_rec {
	uint32_t comm;
	uint32_t first; /* peer of counts[0] */
	uint64_t seq;	/* of the op in its comm */
	uint32_t n;	/* counts in use */
	uint32_t counts[CT_VCOUNTS_PART];
	uint32_t reserved;
};

/* What a receive that had returned before got: the op with this launch id is Recv `seq` of `peer`
 * with `tag`. Written for receives from any of several peers, and with CT_MATCH_BYTES of those that
 * got less than they had space for. It comes before the launch. A receive that waits for its data
 * itself has all this in its own record. */
struct ct_match_rec {
	uint32_t comm;
	uint32_t launch;
	int32_t peer;
	uint32_t tag;
	uint64_t seq;
	uint64_t bytes; /* that came */
	uint32_t flags; /* enum ct_match_flag */
	uint32_t reserved[5];
};
enum ct_match_flag {
	CT_MATCH_BYTES = 1 << 0, /* `bytes` is known */
};

/* The tag of a receive that takes any, until it is known. */
#define CT_TAG_ANY UINT32_MAX
/* Set in the tag of MPI's partitioned transfers, which are matched with their like only. No tag of
 * a program has it. */
#define CT_TAG_PARTITIONED (1u << 31)

/* A run of equal operations in what was captured for one communicator. Written when an executable
 * graph comes to have the list, and again in every checkpoint as long as anything refers to it. */
struct ct_graph_rec {
	uint32_t list; /* as in a captured op's launch and a GraphLaunch's tag */
	uint32_t comm;
	uint32_t n_ops;	  /* of the list on this communicator, in all its runs */
	uint32_t n_colls; /* those that are not transfers: what one launch adds to the order */
	uint64_t bytes;	  /* of all of them: elements as passed to the calls times their size */
	uint32_t first;	  /* index of the run's first op among n_ops */
	uint32_t n;	  /* ops in the run */
	uint64_t count;	  /* of each */
	int32_t peer;	  /* or root, -1 none */
	uint8_t op, dtype, redop;
	uint8_t reserved[9];
};
_Static_assert(sizeof(struct ct_graph_rec) == 56, "fills words 1..7");

/* A wait for communication: of a stream for an event, or of the host. It is a wait for all launches
 * on the stream of `launch`, up to it and beyond `after`. Several such streams have a record each. */
#define CT_WAIT_HOST 1u	   /* the host, in a call that synchronizes */
#define CT_WAIT_DEVICE 2u  /* with all streams of a device at once */
#define CT_WAIT_GAP 4u	   /* there may have been unrecorded ones since `after` */
#define CT_WAIT_DEFAULT 8u /* the stream is a default stream */
#define CT_WAIT_OTHERS                                                                             \
	16u /* since its last record the stream has also waited for other work than communication */
#define CT_WAIT_LAUNCHES 32u /* the stream has launched communication itself */
struct ct_wait_rec {
	uint64_t begin_ns; /* when the stream reached the wait; host: entered the call; 0 not known */
	uint64_t issued_ns; /* when the host put it on the stream; host: left the call */
	uint64_t reserved;
	uint32_t begin_err_ns;
	uint32_t launch;
	uint32_t after;	 /* 0: none */
	uint32_t waiter; /* stream as in LAUNCH, 0 the host or not known */
	uint32_t via; /* stream that the event was recorded on, or that was synchronized with; 0 not
			 known */
	uint32_t tid; /* of the host's thread */
	uint32_t flags;
	uint32_t device; /* of the stream that waited; 0 where that was the host */
};

/* A stream that launches communication, and that calls of the program name: so waits for it are
 * seen. Written once it is, again when it is fed, and in every checkpoint after that. */
#define CT_STREAM_FED 1u /* it has waited for another stream */
struct ct_stream_rec {
	uint32_t stream; /* as in LAUNCH */
	uint32_t flags;
	uint32_t reserved[12];
};
_Static_assert(sizeof(struct ct_stream_rec) == 56, "fills words 1..7");

/* Another thread requested the collective `seq` of the communicator at this time. */
struct ct_submit_rec {
	uint32_t comm;
	uint32_t tid; /* of the requesting thread */
	uint64_t seq;
	uint64_t submit_ns;
	uint64_t reserved[4];
};
_Static_assert(sizeof(struct ct_submit_rec) == 56, "fills words 1..7");

/* An NVTX range whose name marks a step. Written when it has ended. */
struct ct_nvtx_rec {
	uint64_t begin_ns;
	uint64_t end_ns; /* of a mark: begin_ns */
	uint32_t tid;	 /* of the thread that ended it */
	uint32_t how;	 /* enum ct_nvtx_how */
	char name[32];	 /* its beginning, ends in NUL; CT_NVTX_STEP: struct ct_step_mark */
};
_Static_assert(sizeof(struct ct_nvtx_rec) == 56, "fills words 1..7");
enum ct_nvtx_how { CT_NVTX_PUSHED = 0, CT_NVTX_STARTED = 1, CT_NVTX_MARK = 2, CT_NVTX_STEP = 3 };

/* The arguments of commtrace_mark(), instead of a name. */
struct ct_step_mark {
	char name[16]; /* "commtrace.mark" */
	uint64_t step;
	uint64_t samples;
};
_Static_assert(sizeof(struct ct_step_mark) == 32, "as large as a name");
#define CT_STEP_MARK_NAME "commtrace.mark" /* that of its record */

/* What NCCL's profiler interface reports about an op. With CT_DETAIL_SEQ the op is found by
 * communicator and `seq`, otherwise by launch and the words below. Count, type and root or peer are
 * those of NCCL's work, which counts bytes for broadcasts and all-gathers. With op 0 the record
 * describes the interface itself: `channels` is its version. */
struct ct_detail_rec {
	uint32_t comm;
	uint32_t launch;
	uint64_t seq; /* of the op, as in its record */
	uint64_t count;
	int32_t peer;  /* or root; -1 none */
	uint32_t algo; /* string ids; 0 not reported */
	uint32_t proto;
	uint8_t op;
	uint8_t dtype;
	uint8_t channels; /* 0 not reported */
	uint8_t warps;
	uint32_t flags; /* enum ct_detail_flag */
	uint32_t reserved[3];
};
_Static_assert(sizeof(struct ct_detail_rec) == 56, "fills words 1..7");
enum ct_detail_flag {
	CT_DETAIL_SEQ = 1 << 0,	  /* `seq` is known */
	CT_DETAIL_ALONE = 1 << 1, /* op 0: the communicator's calls pass no wrapper */
	CT_DETAIL_COPY = 1 << 2,  /* op 0: NCCL has loaded a copy of the preloaded file */
};

/* An error that a library reported: the result of a call, or the answer to a query about an earlier
 * call. Only the first of each communicator and result is recorded. */
struct ct_error_rec {
	uint64_t reported_ns;
	uint64_t key;  /* of the communicator, 0 none or not known */
	uint32_t comm; /* its id, 0 likewise */
	uint32_t tid;
	uint32_t call;	 /* string id of the function that reported it */
	uint32_t text;	 /* string id of the library's own words, 0 none */
	int32_t result;	 /* as the library numbers them; MPI: class of the error */
	uint32_t flags;	 /* enum ct_error_flag */
	uint8_t backend; /* enum ct_backend */
	uint8_t reserved[15];
};
_Static_assert(sizeof(struct ct_error_rec) == 56, "fills words 1..7");
enum ct_error_flag {
	CT_ERROR_ASYNC = 1 << 0, /* of something that had been called before: the call itself worked
				  */
};

/* A network port of the host, as it was found; again when that changes. Its name follows: "eth0",
 * "mlx5_0/1". */
enum ct_port_kind { CT_PORT_UNKNOWN = 0, CT_PORT_NET = 1, CT_PORT_IB = 2 };
enum ct_port_layer { CT_LAYER_UNKNOWN = 0, CT_LAYER_ETHERNET = 1, CT_LAYER_INFINIBAND = 2 };
enum ct_port_state { CT_PORT_STATE_UNKNOWN = 0, CT_PORT_UP = 1, CT_PORT_NOT_UP = 2 };
struct ct_port_rec {
	uint32_t id; /* from 1, within the process */
	uint8_t kind;
	uint8_t layer;
	uint8_t state;
	uint8_t is_software; /* 1: no device behind it */
	uint64_t rate_Bps;   /* of the link, 0 not known */
	uint64_t found_ns;
};
_Static_assert(sizeof(struct ct_port_rec) == 24, "its name follows");

/* The kernel's counters of the ports; docs/dev/TRACE_FORMAT.md describes what follows. */
struct ct_counters_rec {
	uint64_t begin_ns; /* read between these two times */
	uint64_t end_ns;
	uint32_t number; /* from 1, within the process */
	uint32_t base;	 /* number of the whole sample that this one differs from; 0: it is whole */
};
_Static_assert(sizeof(struct ct_counters_rec) == 24, "the values follow");

/* What a thread was doing during a stall. Its frames follow, innermost first: native ones, then
 * those of Python. Each is a struct ct_stack_frame, the function and the file, which end in NUL (""
 * unknown). */
struct ct_stack_rec {
	uint64_t taken_ns;
	uint64_t since_ns; /* the stall has been observed since */
	uint64_t cpu_ns;   /* that the thread had used until then, 0 not known */
	uint32_t tid;
	uint32_t take;	/* the threads of one look have the same number, from 1 */
	uint16_t flags; /* enum ct_stack_flag */
	uint8_t why;	/* enum ct_stack_why */
	char state;	/* as in /proc/PID/stat, 0 not known */
	int32_t call;	/* number of the system call that it was in, -1 none or not known */
	uint16_t n_frames;
	uint16_t n_threads; /* of this look */
	uint32_t reserved;
	char thread[16]; /* its name, ends in NUL */
};
_Static_assert(sizeof(struct ct_stack_rec) == 64, "its frames follow");
enum ct_stack_flag {
	CT_STACK_MAIN = 1 << 0,	   /* the process's first thread */
	CT_STACK_IN_CALL = 1 << 1, /* inside a recorded call */
	CT_STACK_RUNNING = 1 << 2, /* on a CPU: its innermost frames are not known */
	CT_STACK_MOVED = 1 << 3,   /* it continued while it was sampled: frames may be wrong */
	CT_STACK_CUT = 1 << 4,	   /* the outermost frames are not known */
	CT_STACK_HIDDEN = 1 << 5,  /* the kernel does not say where the thread is */
};
enum ct_stack_why {
	CT_STALL_NONE = 0,
	CT_STALL_CALL = 1,    /* a thread is inside a recorded call */
	CT_STALL_LAUNCH = 2,  /* what a call has launched does not end */
	CT_STALL_IDLE = 3,    /* there are communicators, and no thread enters a call */
	CT_STALL_AWAITED = 4, /* another process waits for this one's next op of a communicator */
};
enum ct_frame_kind { CT_FRAME_NATIVE = 1, CT_FRAME_PYTHON = 2 };
enum ct_frame_flag {
	CT_FRAME_GUESSED = 1 << 0, /* looked for on the stack */
	CT_FRAME_GAP = 1 << 1,	   /* frames before this one are missing */
};
struct ct_stack_frame {
	uint8_t kind; /* enum ct_frame_kind */
	uint8_t flags;
	uint16_t reserved;
	uint32_t line;	 /* 0 not known */
	uint64_t offset; /* of the instruction, in the file's own addresses; 0 for Python's */
};
_Static_assert(sizeof(struct ct_stack_frame) == 16, "function and file follow");

/* STRING: u32 id, then the bytes. NAME: u8 table (0 op, 1 call), u8 0, u16 id, then the bytes.
 * NOTE: u64 time, then the bytes. ENV: the bytes of "key=value". INVISIBLE: the bytes of
 * "ID=object", ID of invisible.def. */

#endif
