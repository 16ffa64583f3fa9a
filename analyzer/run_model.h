/* SPDX-License-Identifier: Apache-2.0 */
/* run_model.h — what the analysis found out about a run, as plain values. The text, JSON and later HTML
 * renderers only show what stands here; they compute nothing.
 *
 * Not known or not measurable: CT_UNKNOWN for integers, NAN for doubles, NULL for strings; shown as null or
 * "n/a". Strings are printable UTF-8 and belong to the report (ct_report_free), like all arrays. Ranks are
 * global ranks, -1 unknown. Times named *_at_ns are nanoseconds since run.begin_unix_ns.
 */
#ifndef CT_RUN_MODEL_H
#define CT_RUN_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/heat/heat_report.h"
#include "analyzer/link/expect_report.h"
#include "analyzer/link/transport_report.h"
#include "analyzer/traffic/traffic_report.h"
#include "trace/reader.h"

#define CT_UNKNOWN UINT64_MAX

#define CT_VERDICT_MAP(XX)                                                                         \
	XX(HEALTHY)                                                                                \
	XX(STRAGGLER)                                                                              \
	XX(SLOW_LINK)                                                                              \
	XX(CHANGE_POINT)                                                                           \
	XX(POOR_OVERLAP)                                                                           \
	XX(COMM_BOUND)                                                                             \
	XX(MISMATCH)                                                                               \
	XX(UNEVEN_INPUT)                                                                           \
	XX(HANG)                                                                                   \
	XX(NOT_COMMUNICATION)                                                                      \
	XX(NOT_ENOUGH_EVIDENCE)
#define CT_FINDING_MAP(XX)                                                                         \
	XX(STRAGGLER)                                                                              \
	XX(STRAGGLER_HOST)                                                                         \
	XX(STRAGGLER_GROUP)                                                                        \
	XX(ROTATING_STALLS)                                                                        \
	XX(PERIODIC_STALLS)                                                                        \
	XX(CHANGE_POINT)                                                                           \
	XX(SLOW_LINK)                                                                              \
	XX(SLOW_OP)                                                                                \
	XX(SOCKET_FALLBACK)                                                                        \
	XX(LINK_ERRORS)                                                                            \
	XX(EXPOSED_COMM)                                                                           \
	XX(BUCKETS)                                                                                \
	XX(COMM_SHARE)                                                                             \
	XX(MISMATCH)                                                                               \
	XX(SKIPPED_OP)                                                                             \
	XX(EXTRA_OP)                                                                               \
	XX(UNEVEN_INPUT)                                                                           \
	XX(CLOCK_CONFLICT)                                                                         \
	XX(LOSSES)                                                                                 \
	XX(TRACER_COST)                                                                            \
	XX(ENVIRONMENT_DIFFERS)

enum ct_verdict_code {
#define CT_VERDICT_ENUM(name) CT_VERDICT_##name,
	CT_VERDICT_MAP(CT_VERDICT_ENUM)
#undef CT_VERDICT_ENUM
};
enum ct_finding_kind {
#define CT_FINDING_ENUM(name) CT_FINDING_##name,
	CT_FINDING_MAP(CT_FINDING_ENUM)
#undef CT_FINDING_ENUM
};
/* Causes that findings have in common; OWN: the finding has its own words. */
enum ct_why {
	CT_WHY_OWN,
#define WHY(name, cause, advice, cpu_advice, command, cpu_command) CT_WHY_##name,
#include "analyzer/why.def"
};
enum ct_severity { CT_SEVERITY_INFO, CT_SEVERITY_WARN, CT_SEVERITY_SEVERE };
enum ct_confidence {
	CT_CONFIDENCE_NONE,
	CT_CONFIDENCE_LOW,
	CT_CONFIDENCE_MEDIUM,
	CT_CONFIDENCE_HIGH
};
enum ct_timing {
	CT_TIMING_OFF,
	CT_TIMING_CALL,
	CT_TIMING_HOST,
	CT_TIMING_PLUGIN,
	CT_TIMING_EVENTS
};

/* Names as the outside contract spells them. */
const char *ct_verdict_name(enum ct_verdict_code code);
const char *ct_finding_name(enum ct_finding_kind kind);
const char *ct_severity_name(enum ct_severity severity);
const char *ct_confidence_name(enum ct_confidence confidence);
const char *ct_timing_name(enum ct_timing timing);

/* How a time from this source was taken. */
enum ct_timing ct_timing_of(enum ct_source source);
const char *ct_timed_by_name(enum ct_timed_by by);

struct ct_report_run {
	const char *dir;
	const char *job;
	int attempt, attempts;
	uint64_t begin_unix_ns;
	uint64_t duration_ns; /* recording began .. last record, on the host where that is longest */
	uint64_t first_at_ns, last_at_ns; /* operations of all ranks; CT_UNKNOWN: there are none */
	uint64_t ranks_expected, ranks_seen;
	uint64_t processes_running; /* those still record */
	int *ranks_missing;
	size_t n_missing;
	const char **hosts;
	size_t n_hosts;
	const char **backends;
	size_t n_backends;
	int complete;		  /* no rank, record or byte is missing */
	int is_two_jobs;	  /* traces that have nothing to do with each other */
	enum ct_timing timing;	  /* the best that any rank has */
	uint64_t ranks_untimed;	  /* ranks of which nothing was timed, although they communicated */
	uint64_t time_err_ns;	  /* largest error of one measured span ... */
	uint64_t time_err_p50_ns; /* ... and that of half of them */
	const char *
		timing_why; /* why it is as it is, where that is not what was to be expected; NULL */
	int timing_is_forced; /* `auto` would have preferred another one */
	double timed_ratio;   /* of the launches whose end ought to be known; NAN: there are none */
	uint64_t matched; /* instances with a time on every member, the evidence of all that follows */
	uint64_t messages;     /* sends that met their receives */
	uint64_t incomplete;   /* instances that miss members; nobody is judged by them */
	double comm_share_pct; /* of the run, in which the busiest rank was inside communication */
};

struct ct_report_verdict {
	enum ct_verdict_code code;
	enum ct_confidence confidence;
	const char *text; /* one sentence */
	double gain_max_pct;
};

struct ct_evidence {
	const char *name, *unit;
	double value;
	double err; /* NAN: exact, or not known */
};

struct ct_finding {
	int id;
	enum ct_finding_kind kind;
	enum ct_severity severity;
	enum ct_confidence confidence;
	int *ranks;
	size_t n_ranks;
	const char **hosts;
	size_t n_hosts;
	uint64_t comm_key;   /* 0: not about one communicator */
	const char *op_name; /* NULL: not about one operation */
	uint64_t begin_at_ns, end_at_ns;
	uint64_t loss_ns, loss_err_ns;
	double loss_pct;
	double gpu_seconds; /* the loss on all GPUs that it held up; NAN unknown, or no GPUs */
	uint64_t cycle_first, cycle_last; /* CT_UNKNOWN: not about cycles */
	int at_most; /* 1: streams of a GPU waited so long, computing may have hidden a part */
	int is_undecided; /* 1: its ranks contradict each other, and which of them is right is not known */
	int is_bounded; /* 1: by what computing stood waiting for communication */
	enum ct_why why;
	const char *cause, *advice, *command;
	/* where those that contradict each other made the call: "theirs" (or "one") and "others", "send" and "recv"; site
	 * NULL: not known */
	struct ct_finding_site {
		const char *whose, *site;
	} sites[2];
	const char *line; /* greppable "key=value ..." between kind and severity in text */
	struct ct_evidence *evidence;
	size_t n_evidence;
};

struct ct_report_rank {
	int rank;
	const char *host;
	uint32_t pid; /* of its latest process */
	uint64_t ops, bytes;
	uint64_t wait_ns;     /* inside operations, for others to come */
	uint64_t lateness_ns; /* by which it came after the median member */
	uint64_t last_count;  /* clear last of an instance */
	uint64_t err_ns;      /* of wait_ns and lateness_ns */
	uint64_t exposed_ns;  /* for which it stood waiting for communication */
	uint64_t exposed_err_ns;
	uint64_t comm_ns; /* in which at least one of its operations was open */
	int device;	  /* CUDA device; -1 none or unknown */
	uint64_t lost_records;
	enum ct_timing timing;
	double timed_ratio; /* as in struct ct_report_run */
	int complete;
};

struct ct_report_comm {
	uint64_t key, parent; /* parent 0: none */
	unsigned backend;
	uint32_t nranks;
	int *ranks;	/* by rank in the communicator; -1 where no trace tells */
	size_t n_ranks; /* nranks, or 0 where that is not to be believed */
	const char *name;
	const char *role; /* world, dp, tp, pp, ep; NULL unknown */
	enum ct_confidence role_confidence;
	const char *role_evidence; /* NULL: role is */
	uint32_t n_hosts;	   /* that its members are on; 0: not known of all */
	struct ct_peak peak;	   /* what they can be expected to reach */
	uint64_t instances, incomplete;
	uint64_t first_seq, last_seq; /* of collectives; CT_UNKNOWN without any */
	uint64_t bytes;
	/* in the cycles on record, sums over its members: what they were exposed to it, and of that until the others came */
	uint64_t cycles_exposed_ns, cycles_exposed_wait_ns, cycles_exposed_err_ns;
	uint64_t equal_to_seq;	   /* members agree up to here; CT_UNKNOWN: nothing was compared */
	uint64_t first_difference; /* sequence number of the first mismatch; CT_UNKNOWN: none */
	uint64_t differs_to_seq; /* they differ somewhere up to here, and it is not known where; CT_UNKNOWN: no */
	uint64_t order_hash; /* of all that its members called, if all called the same; CT_UNKNOWN: not known */
};

/* One class of operations: (communicator, operation, element type, power of two of the bytes). Operations that
 * share a launch are one row: each such group is an instance, its bytes are those of all its operations. */
struct ct_report_op {
	uint64_t comm_key;
	const char *comm_name;
	unsigned backend, op, dtype;
	const char *
		op_name; /* "?" where nobody knows it; the same in what follows; NULL: those of a group differ */
	const char *group;    /* "collectives", "messages"; NULL: each alone in its launch */
	uint64_t bytes_class; /* 0, or 2^k: 2^k <= bytes < 2^(k+1) */
	uint64_t instances, bytes;
	uint64_t bytes_each; /* bytes / instances */
	uint64_t span_p50_ns, span_p99_ns;
	uint64_t span_each_ns; /* how long each of the communicator's ranks was in it, on average */
	uint64_t transfer_p50_ns, transfer_p99_ns;
	uint64_t wait_ns, transfer_ns;
	uint64_t wait_each_ns; /* wait_ns over the communicator's ranks: what each waited on average */
	uint64_t algbw_p50_Bps, busbw_p50_Bps;
	uint64_t time_err_ns;
	uint64_t exposed_ns, exposed_err_ns; /* sums over ranks; alone in their launches only */
	/* before it on its stream, sums over ranks and the cycles on record; by cause as in struct ct_report_gaps */
	uint64_t gap_ns, gap_host_late_ns, gap_not_ready_ns, gap_err_ns;
	uint64_t late_or_slow; /* instances that came late or transferred slowly, and nobody knows which */
	int last_rank;	       /* most often the clear last one, -1 nobody */
	uint64_t last_count;   /* of it */
	uint64_t last_cost_ns; /* what the others waited for it alone */
	double last_pct;       /* last_count of the instances */
};

/* A communicator on a rank, as far as its launches were followed. */
struct ct_report_overlap {
	int rank;
	uint64_t comm_key;
	const char *comm_name;	     /* NULL none */
	uint64_t launches, measured; /* the rest of the row is about the measured ones */
	uint64_t comm_ns, hidden_ns, exposed_ns, err_ns;
	double overlap_ratio;
	const char *method;
};

struct ct_report_loss {
	int rank;
	const char *reason; /* name from losses.def, or MISSING_BLOCKS, DAMAGED, TORN */
	const char *text;
	uint64_t records; /* CT_UNKNOWN: nobody counted them */
	uint64_t begin_at_ns, end_at_ns;
	int is_loss_of_records; /* 0: something to know, but no record is missing for it */
};

struct ct_report_cost {
	int rank;
	uint64_t wrapper_ns, calls, events, poll_cpu_ns, write_cpu_ns, beat_cpu_ns;
	uint64_t bytes_written, budget_backoffs;
	int on_gpu; /* launches on a GPU were to be timed; 0: the next are of no meaning */
	enum ct_timed_by timed_by;
	enum ct_timed_why timed_why;
	int plugin_loaded;
	double sample_ratio; /* of the instances to be timed, as set */
	double budget_ratio; /* of wall time; NAN: no limit */
	uint64_t duty_on_ns,
		duty_of_ns;	  /* timed so long at the start of every so many; 0: always */
	uint64_t level, coarsest; /* the budget halved that so often: at the end, at most */
	double share_pct;	  /* of the run: wrappers */
	double cpu_pct;		  /* of one core: the tracer's threads */
};

struct ct_report_process {
	const char *host, *exe, *version;
	uint64_t hostkey;
	uint32_t pid;
	int rank;   /* the first of ... */
	int *ranks; /* ... those that it drives */
	size_t n_ranks;
	int attempt;
	uint32_t restart;
	uint64_t start_unix_ns;
	uint32_t segments;
	uint64_t bytes;
	const char *ring; /* drained, present, lost, foreign */
	const char *end;  /* clean, exit, signal, exec, running, unknown */
	struct ct_end how;
	uint64_t last_heartbeat_at_ns;
	uint64_t last_heartbeat_ns;			/* host's CLOCK_MONOTONIC */
	uint64_t ended_after_at_ns, ended_before_at_ns; /* CT_UNKNOWN: nobody saw */
	uint64_t missing_blocks, skipped_bytes, torn_bytes;
	const char *damage_why; /* NULL: none */
	int ended_badly;	/* by a signal, with a failure, or nobody knows how */
};

/* An op that had not returned when recording ended. */
enum ct_report_message { CT_MESSAGE_NONE, CT_MESSAGE_TO, CT_MESSAGE_FROM };
struct ct_report_inflight {
	int rank;
	uint32_t tid;
	const char *
		op_name; /* NULL: a call that moves no data, such as one that waits; then only times and `call` */
	const char *call;
	uint64_t comm_key;
	const char *comm_name;
	uint64_t seq;
	int peer; /* rank in the communicator, -1 none */
	enum ct_report_message message;
	uint64_t since_at_ns;
	uint64_t age_ns; /* at the last sign of life of its process */
	int launched; /* its call had returned: it was on the GPU, for much longer than is usual, or its rank
			 stood in a call that waits */
};

/* The run cut into cycles, where its operations repeat. */
struct ct_report_cycle {
	uint64_t index; /* from 0, of the run's; some may not be on record */
	uint64_t begin_at_ns, time_ns;
	uint64_t exposed_ns, wait_ns; /* of the rank that has most, mean over ranks */
	int last_rank;		      /* for whom the others waited longest, -1 nobody */
};

/* A small operation that comes again every so many cycles: accumulation, logging. */
struct ct_report_recurring {
	uint64_t comm_key;
	const char *op_name;
	uint64_t bytes; /* of a call; CT_UNKNOWN: they differ */
	uint64_t every, count;
};

struct ct_report_cycles {
	const char *marker; /* NVTX ranges of this name begin them; NULL: an operation does ... */
	uint64_t anchor_comm_key; /* ... or 0, no cycles were found, and why they were not */
	const char *why;
	const char *anchor_op;
	uint64_t anchor_bytes;
	uint64_t count;
	uint64_t time_p50_ns, time_p99_ns;
	uint64_t err_ns;    /* of each time */
	double covered_pct; /* of the run, by all of them; NAN: there are none */
	const char *note;   /* what is not sure about them; NULL: nothing */
	struct ct_report_cycle *items;
	size_t n_items; /* those that are told one by one */
	struct ct_report_recurring *recurring;
	size_t n_recurring;
};

/* How fast a connection is: between two ranks, of a communicator, or of a host. */
struct ct_report_link {
	const char *scope;   /* edge, comm, host */
	int src, dst;	     /* edge: ranks; else -1 */
	const char *host;    /* host; else NULL */
	uint64_t comm_key;   /* comm; else 0 */
	const char *op_name; /* of the fit; NULL: of several */
	uint64_t alpha_ns, beta_Bps, expected_Bps;
	uint64_t alpha_err_ns, beta_err_Bps; /* CT_UNKNOWN: nothing tells it */
	uint64_t samples;
	double efficiency_ratio;
	int slow, ambiguous;
	int *suspects; /* ranks */
	size_t n_suspects;
};

/* How a host's clock stands to the reference host's. */
struct ct_report_clock {
	const char *host, *ref_host; /* ref_host NULL: related to nobody */
	int has_offset;
	int64_t offset_ns;    /* in the middle of the run: what to add to its time */
	double drift_ppb;     /* NAN unknown */
	uint64_t err_ns;      /* CT_UNKNOWN */
	const char *quality;  /* ABSENT, INCOMPLETE, APPROXIMATE, ACCURATE, FAIL */
	uint64_t selftest_ns; /* CT_UNKNOWN: one rank only, or nothing to test by */
};

/* What came of playing the run again with other gaps and transfers; NAN: not known. */
struct ct_report_whatif {
	double free_gain_pct; /* at most so much of the run would be saved if communication took no time */
	double balance_ratio; /* how long it would take if all ranks kept their peers' pace, of how long it takes */
	double error_pct;    /* of the play and of the times that it plays: of how long it takes */
	int is_contradicted; /* without communication it would take longer: these times tell nothing */
};

/* 0..100 by four views; what cannot be computed is left out and the rest weighs more. */
#define CT_SCORE_PARTS 4u
struct ct_report_score {
	double total;	   /* NAN: n/a */
	const char *grade; /* good, fair, poor, n/a */
	const char *why;   /* there is no total, or no grade; NULL: there are both */
	struct ct_score_part {
		const char *name;	  /* bandwidth, latency, balance, stability */
		double weight_pct, score; /* score NAN: n/a */
		const char *from;	  /* what it was computed from, or why it was not */
		int is_own;		  /* against the best of this very run, mostly */
	} parts[CT_SCORE_PARTS];
	size_t n_parts;
};

/* Of one rank, sums over the cycles that are on record: when it stood waiting for communication, and when its streams of
 * communication stood idle. */
struct ct_report_gaps {
	int rank;
	uint64_t cycles, cycles_ns;
	uint64_t exposed_ns, exposed_err_ns;
	uint64_t exposed_wait_ns,
		exposed_transfer_ns; /* of that, until the others had come, and after */
	uint64_t launch_ns; /* gaps that are no longer than a launch takes; of the longer ones ... */
	uint64_t host_late_ns; /* ... what the host was late to call, ... */
	uint64_t not_ready_ns; /* ... and what the input was not ready */
	uint64_t gaps_err_ns;  /* of the sum of all three */
};

/* How much of the time ranks stood waiting for communication; NAN: known of less than 90 % of it. */
struct ct_report_exposed {
	double share_pct,
		err_pct; /* of the median rank, of its cycles, or of the run if there are none */
	double wait_pct; /* of the same time: the part until the others had come */
	double most_pct; /* of the rank that stood longest */
	double transferring_pct; /* of the time, in which the median rank moved data, hidden or not */
	double run_pct;		 /* of the run, that time: what lies in cycles that are on record */
	int of_cycles;
};

/* One stage of a pipeline, over the cycles that are on record. */
struct ct_report_stage {
	uint64_t comm_key;
	int rank, stage, n_stages;
	double microbatches; /* a stage hands on in a cycle; NAN: not the same everywhere */
	uint64_t cycles, cycles_ns;
	uint64_t bubble_ns, err_ns; /* that it waited for late senders */
	uint64_t ideal_ns;	    /* what the schedule makes unavoidable */
	int at_most;		    /* computing may have hidden a part of the bubble */
};

/* Something that could not be seen, and what to do about it. */
struct ct_report_invisible {
	const char *what, *why, *remedy; /* remedy may be NULL */
};

/* The start records of the ranks, side by side. */
struct ct_report_fact {
	const char *name, *value;
};

struct ct_report_env_value {
	const char *value; /* NULL: not set */
	int *ranks;
	size_t n_ranks;
};

struct ct_report_env_differs {
	const char *name;
	struct ct_report_env_value *values;
	size_t n_values;
	int matters; /* has to be equal; then ... */
	enum ct_severity severity;
};

struct ct_report_env_rank {
	int rank;
	struct ct_report_fact *facts;
	size_t n_facts;
};

struct ct_report_environment {
	struct ct_report_fact *same; /* by name */
	size_t n_same;
	struct ct_report_env_differs *differs; /* by name */
	size_t n_differs;
	struct ct_report_env_rank *ranks; /* what is each one's own; only ranks with a start record */
	size_t n_ranks;
};

struct ct_report {
	struct ct_report_run run;
	struct ct_report_verdict verdict;
	struct ct_finding *findings; /* what is to be done first comes first */
	size_t n_findings;
	uint64_t findings_left_out;   /* less weighty ones */
	struct ct_report_rank *ranks; /* by rank */
	size_t n_ranks;
	struct ct_report_comm *comms; /* largest first */
	size_t n_comms;
	struct ct_report_comm **comms_by_key; /* report_rows.h */
	struct ct_report_op *ops;	      /* those first in which each rank spent most time */
	size_t n_ops;
	struct ct_report_op **ops_by_key;  /* report_rows.h */
	struct ct_report_overlap *overlap; /* by rank */
	size_t n_overlap;
	struct ct_report_loss *losses;
	size_t n_losses;
	uint64_t lost_records; /* sum of the counted ones */
	struct ct_report_cost *costs;
	size_t n_costs;
	double cost_share_pct, cost_cpu_pct; /* of the rank where they are largest */
	uint64_t cost_bytes;		     /* written by all ranks */
	struct ct_report_process *processes; /* all attempts; by host, rank, start */
	size_t n_processes;
	size_t *ended; /* processes of this attempt that did not end well, the first to fail first (ends.h) */
	size_t n_ended;
	size_t n_ended_first; /* so many of them may have been the first; 1: it is known who was */
	struct ct_report_inflight *inflight; /* oldest first */
	size_t n_inflight;
	uint32_t n_stuck;	/* of those: will never end, or take much longer than is usual */
	uint64_t open_launches; /* operations that were posted and not ended */
	struct ct_report_invisible *invisible; /* warnings of the reader, notes in the traces */
	size_t n_invisible;
	struct ct_report_environment environment;
	struct ct_report_traffic traffic;
	struct ct_report_transport *transport; /* of hosts whose ports were sampled */
	size_t n_transport;
	struct ct_report_expect expect; /* if anything was expected */
	struct ct_report_cycles cycles;
	struct ct_report_link *links; /* slow ones first */
	size_t n_links;
	uint64_t links_left_out;
	struct ct_report_clock *clocks; /* by host; none: one host only */
	size_t n_clocks;
	struct ct_report_whatif whatif;
	struct ct_report_score score;
	struct ct_report_exposed exposed;
	struct ct_report_gaps *gaps; /* ranks of which something is known */
	size_t n_gaps;
	struct ct_report_heat heat;
	struct ct_report_size *histogram; /* by backend, operation and size */
	size_t n_histogram;
	struct ct_report_curve *curves; /* those with most transfer time first */
	size_t n_curves;
	struct ct_report_stage *stages; /* of pipelines, by communicator and stage */
	size_t n_stages;
	struct ct_arena *memory; /* private: holds all of the above */
};

#endif
