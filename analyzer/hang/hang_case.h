/* SPDX-License-Identifier: Apache-2.0 */
/* hang_case.h — the last known state of every rank: the input of the verdict on a hang.
 *
 * Plain values, made from a run by hang/collect.h or from a text file by the tests, and read by
 * hang/diagnose.h. The case's arena owns its arrays and strings. Ranks are global; indices are into
 * the arrays of the case. Times are ns since the run began, on one clock for all (`err_ns`: the
 * error for a rank); CT_UNKNOWN: unknown. */
#ifndef CT_ANALYZER_HANG_HANG_CASE_H
#define CT_ANALYZER_HANG_HANG_CASE_H

#include <stdint.h>

#include "analyzer/load/joined_op.h"
#include "analyzer/model/call_kind.h"
#include "analyzer/model/report.h"

enum ct_process_state {
	CT_PROCESS_ALIVE,    /* runs, or ran until the whole job was ended */
	CT_PROCESS_DEAD,     /* failed by itself: first, or possibly first within clock error */
	CT_PROCESS_EXITED,   /* ended by itself and in order */
	CT_PROCESS_NO_TRACE, /* named by others, and left no file */
};

struct ct_hang_rank {
	int rank;
	const char *host; /* NULL unknown */
	enum ct_process_state process;
	uint64_t last_heartbeat_ns; /* last record or heartbeat ... */
	uint64_t heartbeat_age_ns;  /* ... and how long before the latest one of the run */
	uint64_t ended_ns;
	uint64_t err_ns;
	const char *how_ended; /* "signal 11 (SIGSEGV)", "exit status 3"; NULL: it did not, or was
				  ended with the others */
	const char *error; /* of one of its communicators, as the library reported it; NULL none */
	uint32_t error_comm; /* index; UINT32_MAX unknown */
	uint64_t error_ns;   /* when the library reported it; CT_UNKNOWN */
	uint64_t silent_ns;  /* its heartbeats stop so long before those of all others, exit not
				recorded; 0: they do not */
	int ended_first;     /* how_ended: certainly before all others that did not end well */
	int killed;	     /* killed by SIGKILL or an unknown cause: not by its own actions */
	int by_machine; /* dead without a cause in the job: its end is not recorded, SIGKILL of the
			   kernel (not for lack of memory) or of an unknown sender, SIGBUS */
	int left;     /* exited cleanly, but not its library (MPI_Finalize), and was not asked to */
	uint32_t pid; /* of its running process; 0 otherwise */
	uint32_t ended_in; /* equal of the ranks that one process held, which ended; 0: it runs, or
			      is unknown */
	const char *gpu;   /* of ct_command_gpu(): "-i 1 ", "" */
	uint32_t stopped_pid; /* stopped by a signal or a debugger; 0: not stopped, or not visible */
	int by__exit; /* ended by _exit: no exit handlers ran, and its libraries were not shut down */
	int starts_known; /* 0: what is timed on the host has no start: edges that need one are not
			     used */
	int cut;	  /* records of it are lost, or older than the others' */
	uint64_t records_until_ns; /* its records are complete up to here (after a lost ring: the
				      flushed part); CT_UNKNOWN: complete */
	uint64_t cpu_ns;	   /* processor time of its main thread while it was last looked at;
				      CT_UNKNOWN */
};

struct ct_hang_comm {
	uint64_t hash;
	const char *name; /* NULL none */
	const char *role; /* "TP", "DP"; NULL unknown */
	unsigned backend;
	uint32_t n;
	const int *ranks; /* global, by rank in the communicator; -1 unknown */
};

/* One op of one rank. For each communicator the list has all unfinished ops, the last known
 * collective of each rank, and as many earlier ones as the comparison needs. For messages it has
 * the latest of each rank, direction, peer and tag. So a lower number than the highest one listed
 * was issued and finished, and a higher one was not issued. Ops of one rank are in order of issue.
 */
struct ct_hang_op {
	uint32_t rank; /* index */
	uint32_t comm; /* index */
	uint64_t seq;  /* a collective's number in its comm; a message's between its two ends with
			  its tag */
	uint64_t count, bytes;
	const char *call; /* NULL unknown */
	const char *site; /* NULL unknown */
	uint64_t enter_ns;
	uint64_t due_ns; /* stalled from then on; 0 unknown */
	uint32_t tag;
	int32_t peer;	 /* the other end, or the root: rank in the comm, -1 none */
	uint32_t stream; /* includes the device; 0: none */
	uint32_t launch; /* ops of one rank with the same number are one kernel; 0: the call is its
			    own */
	uint32_t thread; /* an id of the calling thread */
	uint8_t op, dtype, redop;
	uint8_t by_host; /* runs on no GPU: the call, or a request of the library, does the work */
	uint8_t graph;	 /* a CUDA graph launch; its ops have no states of their own */
	uint8_t varying; /* its count may differ between ranks: a v-collective */
	uint8_t start_unseen; /* this op has no start although its rank has them (excluded by
				 sampling, or its events failed) */
	uint8_t stalled; /* unfinished, and 1: for longer than usual (docs/reference/HANG.md); 2:
			    not for long, but some process had died first by itself, the only
			    possible reason */
	enum ct_op_state state;
};

/* A host-blocking call that moves no data. */
struct ct_hang_call {
	uint32_t rank; /* index */
	enum ct_host_call kind;
	const char *call;
	const char *site; /* NULL unknown */
	uint32_t comm;	  /* index, of the one that is made, or the parent; UINT32_MAX unknown */
	uint64_t enter_ns;
	uint64_t due_ns; /* as of an op */
	uint32_t thread;
	uint32_t stream;  /* of a CT_HOST_SYNC; 0: all, or unknown */
	uint8_t stalled;  /* as of an op */
	uint8_t returned; /* 1: a rendezvous that is over for this rank: it was there */
};

struct ct_hang_case {
	struct ct_hang_rank *ranks;
	uint32_t n_ranks;
	struct ct_hang_comm *comms;
	uint32_t n_comms;
	struct ct_hang_op *ops;
	uint32_t n_ops;
	struct ct_hang_call *calls;
	uint32_t n_calls;
	int died_first; /* a process died by itself before the others ended: any age is a stall */
	int broken_off; /* all processes ended, not all cleanly: ops that cannot succeed get a
			   verdict at any age */
};

#endif
