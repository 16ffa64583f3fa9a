/* SPDX-License-Identifier: Apache-2.0 */
/* report.h — what the analysis found out about a run, as plain values. The text, JSON and HTML
 * renderers only show these values; they compute nothing.
 *
 * Not known or not measurable: CT_UNKNOWN for integers, NAN for doubles, NULL for strings; shown as
 * null or "n/a". Strings are printable UTF-8 and belong to the report (ct_report_free), like all
 * arrays. Ranks are global ranks, -1 unknown. Times named *_at_ns are nanoseconds since
 * run.begin_unix_ns.
 */
#ifndef CT_ANALYZER_MODEL_REPORT_H
#define CT_ANALYZER_MODEL_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/finding.h"
#include "analyzer/model/process_exit.h"
#include "analyzer/model/report_environment.h"
#include "analyzer/model/report_expect.h"
#include "analyzer/model/report_heat.h"
#include "analyzer/model/report_overlap.h"
#include "analyzer/model/report_steps.h"
#include "analyzer/model/report_traffic.h"
#include "analyzer/model/report_transport.h"
#include "analyzer/model/step_time.h"
#include "trace/reader.h"

#define CT_UNKNOWN UINT64_MAX

enum ct_timing {
	CT_TIMING_OFF,
	CT_TIMING_CALL,
	CT_TIMING_HOST,
	CT_TIMING_PLUGIN,
	CT_TIMING_EVENTS
};

/* As the outside contract spells it. */
const char *ct_timing_name(enum ct_timing timing);

/* How a time from this source was taken. */
enum ct_timing ct_timing_of(enum ct_source source);
const char *ct_timed_by_name(enum ct_timed_by by);
/* Why, in words; NULL: as it was set, or nothing prevented what auto prefers. */
const char *ct_timed_why_name(enum ct_timed_why why);
const char *ct_step_kind_name(enum ct_step_kind kind);

struct ct_hang_run;

struct ct_report_run {
	const char *dir;
	const char *words; /* the run in commands to paste, as words of a shell; NULL: not known */
	const char *job;
	int restart, starts;
	uint64_t begin_unix_ns;
	uint64_t duration_ns; /* recording began .. last record, on the host where that is longest */
	uint64_t left_out_ns; /* before these, whose operations were left out of the files on
				 purpose; 0: none were. Of an outline: of these */
	uint64_t left_out_ops;
	const char *hang_why; /* why it is not known whether the job hangs; NULL: it is */
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
	const char *timing_why;	  /* the reason, if it is unexpected; NULL */
	int timing_is_forced;	  /* `auto` would have preferred another one */
	/* auto: events were used from then on and up to then, in all processes, since recording
	 * began; CT_UNKNOWN: from the beginning, to the end */
	uint64_t events_from_ns, events_until_ns;
	double step_change_pct; /* by how much timing made steps longer: the median rank; NAN: not
				   known ... */
	double step_change_err_pct;  /* ... and its error */
	const char *step_change_why; /* events were used, but it is not known, in the first process;
					NULL */
	int step_is_collective; /* the time of a collective is meant: no steps alike were seen */
	double timed_ratio; /* of the launches whose end ought to be known; NAN: there are none */
	uint64_t matched; /* instances with a time on every member, the evidence of all fields below
			   */
	uint64_t messages;     /* sends that met their receives */
	uint64_t incomplete;   /* instances that lack members; no rank is judged by them */
	double comm_share_pct; /* of step time but for left_out_ns, in which the busiest rank was
				  inside communication */
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
	uint64_t exposed_ns;  /* for which it waited for communication */
	uint64_t exposed_err_ns;
	uint64_t comm_ns;     /* in which at least one of its operations was open */
	double comm_pct;      /* of step time, in which at least one of its operations was open */
	double wait_pct;      /* of step time, likewise of wait_ns */
	uint64_t left_out_ns; /* of the run, in a row, without timed launches: comm_ns and
				 exposed_ns leave it out */
	int device;	      /* CUDA device; -1 none or unknown */
	uint64_t dropped_records;
	enum ct_timing timing;
	double timed_ratio; /* as in struct ct_report_run */
	int complete;
};

struct ct_report_comm {
	uint64_t hash, parent; /* parent 0: none */
	unsigned backend;
	uint32_t nranks;
	int *ranks;	/* by rank in the communicator; -1 if unknown */
	size_t n_ranks; /* nranks, or 0 where that is not to be believed */
	const char *name;
	const char *role; /* world, dp, tp, pp, ep, embedding; NULL unknown */
	enum ct_confidence role_confidence;
	const char *role_evidence; /* NULL: role is */
	uint32_t n_hosts;	   /* that its members are on; 0: not known of all */
	struct ct_peak peak;	   /* what they can be expected to reach */
	uint64_t instances, incomplete;
	uint64_t first_seq, last_seq; /* of collectives; CT_UNKNOWN without any */
	uint64_t bytes;
	/* in the steps on record, sums over its members: what they were exposed to it, and of that
	 * until the others came */
	uint64_t steps_exposed_ns, steps_exposed_wait_ns, steps_exposed_err_ns;
	uint64_t equal_to_seq;	   /* members agree up to here; CT_UNKNOWN: nothing was compared */
	uint64_t first_difference; /* sequence number of the first mismatch; CT_UNKNOWN: none */
	uint64_t differs_to_seq;   /* they differ somewhere up to here, and it is not known where;
				      CT_UNKNOWN: no */
	uint64_t order_hash; /* of all that its members called, if all called the same; CT_UNKNOWN:
				not known */
};

/* One class of operations: (communicator, operation, element type, power of two of the bytes).
 * Operations that share a launch are one row: each such group is an instance, its bytes are those
 * of all its operations. */
struct ct_report_op {
	uint64_t comm_hash;
	const char *comm_name;
	unsigned backend, op, dtype;
	const char *op_name; /* "?" if unknown; the same in fields below; NULL: those of a group
				differ */
	const char *group;   /* "collectives", "P2P"; NULL: each alone in its launch */
	uint64_t size_range; /* 0, or 2^k: 2^k <= bytes < 2^(k+1); CT_UNKNOWN */
	uint64_t instances, bytes;
	uint64_t bytes_each; /* bytes / instances */
	uint64_t span_p50_ns, span_p99_ns;
	uint64_t span_each_ns; /* how long each of the communicator's ranks was in it, on average */
	uint64_t transfer_p50_ns, transfer_p99_ns;
	uint64_t wait_ns, transfer_ns;
	uint64_t wait_each_ns; /* wait_ns over the communicator's ranks: what each waited on average
				*/
	uint64_t algbw_p50_Bps, busbw_p50_Bps;
	uint64_t time_err_ns;
	uint64_t exposed_ns, exposed_err_ns; /* sums over ranks; alone in their launches only */
	/* before it on its stream, sums over ranks and the steps on record; by cause as in struct
	 * ct_report_stream_idle */
	uint64_t idle_ns, idle_host_bound_ns, idle_waiting_for_compute_ns, idle_err_ns;
	uint64_t late_or_slow; /* instances that were late or slow: which of the two is unknown */
	int last_rank;	       /* most often the clear last one, -1 none */
	uint64_t last_count;   /* of it */
	uint64_t last_cost_ns; /* what the others waited for it alone */
	double last_pct;       /* last_count of the instances */
};

struct ct_report_dropped {
	int rank;
	const char *reason; /* name from losses.def, or MISSING_BLOCKS, DAMAGED, TORN */
	const char *text;
	uint64_t records; /* CT_UNKNOWN: not counted */
	uint64_t begin_at_ns, end_at_ns;
	int is_loss_of_records; /* 0: something to know, but no record is missing for it */
	const char *remedy;	/* NULL: none known */
};

struct ct_report_overhead {
	int rank;
	uint64_t wrapper_ns, calls, events, poll_cpu_ns, write_cpu_ns, beat_cpu_ns;
	/* parts of write_cpu_ns, context switches of all the tracer's threads, and the start;
	 * CT_UNKNOWN: an older recorder */
	uint64_t stacks_cpu_ns, counters_cpu_ns, around_cpu_ns;
	uint64_t voluntary, involuntary, start_ns;
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
	/* since its recording began: auto went over to events, and back; CT_UNKNOWN: not */
	uint64_t raised_ns, lowered_ns;
	/* by how much timing made steps longer; NAN: not known */
	double step_change_pct, step_change_err_pct;
	const char *step_change_why; /* events were used, but it is not known; NULL */
	enum ct_step_kind step_kind;
	uint64_t windows_off, windows_on;   /* by so many without timing, and so many beside them */
	uint64_t step_ns, step_collectives; /* what it took for a step; CT_UNKNOWN */
	double wrapper_pct;		    /* of the run: wrappers */
	double cpu_pct;			    /* of one core: the tracer's threads */
};

struct ct_report_process {
	const char *host, *exe, *version;
	const char *program; /* what it runs: "train.py", "-m pkg.train", else exe's last part */
	uint64_t hostkey;
	uint32_t pid;
	int rank;   /* the first of ... */
	int *ranks; /* ... those that it drives */
	size_t n_ranks;
	int restart;
	uint32_t launcher_restart; /* as an elastic launcher counts */
	uint64_t start_unix_ns;
	uint32_t segments;
	uint64_t bytes;
	const char *ring; /* drained, present, lost, foreign; none: imported */
	const char *end;  /* clean, exit, signal, exec, running, unknown */
	struct ct_end how;
	enum ct_exit_manner manner;
	int aborted; /* by MPI_Abort */
	int left;    /* without MPI_Finalize, as struct ct_exit has it */
	uint64_t last_heartbeat_at_ns;
	uint64_t last_heartbeat_ns;			/* host's CLOCK_MONOTONIC */
	uint64_t ended_after_at_ns, ended_before_at_ns; /* CT_UNKNOWN: not observed */
	uint64_t missing_blocks, skipped_bytes, torn_bytes;
	const char *damage_why; /* NULL: none */
	int ended_badly; /* by a signal, with a failure, in an unknown way, or without MPI_Finalize
			    where others ended badly */
	uint64_t silent_ns; /* its heartbeats stop so long before all others', exit not recorded; 0:
			       they do not */
	int imported;	    /* no recorder ran in it: its exit is not recorded */
};

/* Did it fail, as far as known? */
int ct_report_failed(const struct ct_report_process *process);

/* An op that had not returned when recording ended. */
enum ct_report_message { CT_MESSAGE_NONE, CT_MESSAGE_TO, CT_MESSAGE_FROM };
struct ct_report_in_flight {
	int rank;
	uint32_t tid;
	const char *op_name; /* NULL: a call that moves no data, such as one that waits; then only
				times and `call` */
	const char *call;
	uint64_t comm_hash;
	const char *comm_name;
	uint64_t seq;
	int peer; /* rank in the communicator, -1 none */
	enum ct_report_message message;
	uint64_t since_at_ns;
	uint64_t age_ns; /* at the last tracer heartbeat of its process */
	int launched; /* its call had returned: it was on the GPU, for much longer than is usual, or
			 its rank stood in a call that waits */
};

/* How fast a connection is: between two ranks, of a communicator, or of a host. */
struct ct_report_link {
	const char *scope;   /* edge, comm, host */
	int src, dst;	     /* edge: ranks; else -1 */
	const char *host;    /* host; else NULL */
	uint64_t comm_hash;  /* comm; else 0 */
	const char *op_name; /* of the fit; NULL: of several */
	uint64_t alpha_ns, beta_Bps, expected_Bps;
	uint64_t alpha_err_ns, beta_err_Bps; /* CT_UNKNOWN: not known */
	uint64_t samples;
	double efficiency_ratio;
	int slow, ambiguous;
	int *suspects; /* ranks */
	size_t n_suspects;
};

/* A host's clock relative to the reference host's. */
struct ct_report_clock {
	const char *host, *ref_host; /* ref_host NULL: not synchronized */
	int has_offset;
	int64_t offset_ns;    /* in the middle of the run: what to add to its time */
	double drift_ppb;     /* NAN unknown */
	uint64_t err_ns;      /* CT_UNKNOWN */
	const char *quality;  /* ABSENT, INCOMPLETE, APPROXIMATE, ACCURATE, FAIL */
	uint64_t selftest_ns; /* CT_UNKNOWN: one rank only, or nothing to test by */
};

/* What came of playing the run again with other gaps and transfers; NAN: not known. S and M as in
 * lateness/replay/even_job.h. */
struct ct_report_whatif {
	const char *why_not;	     /* nothing is known, and why; NULL: the rest is */
	const char *reason, *remedy; /* its parts; remedy NULL: nothing would make it known */
	double s, s_err; /* how much longer a step takes than one of an even job would */
	struct ct_report_slowdown {
		int rank; /* -1: of a stage */
		uint32_t stage;
		uint32_t worker; /* of a rank: its index in its stage */
		double s;	 /* NAN: not played */
	} * ranks, *stages;	 /* by rank; by stage, none without a pipeline */
	size_t n_ranks, n_stages;
	double m_w, m_s; /* shares of S - 1 that the worst ranks, the last stage make */
	const char *m_w_why, *m_s_why; /* that is not known, and why; NULL: it is */
	double uneven_pct;    /* of the run: what it costs that peers differ, step by step */
	double free_gain_pct; /* at most so much of the run would be saved if communication took no
				 time */
	double balance_ratio; /* how long it would take if all ranks kept their peers' pace, of how
				 long it takes */
	double error_pct;     /* of the replay and of its input times: of the duration */
	int is_contradicted;  /* without communication it would take longer: these times are
				 meaningless */
};

/* 0..100 by four views; what cannot be computed is left out and the rest weighs more. */
#define CT_SCORE_PARTS 4u /* size: views */
struct ct_report_score {
	double total;	       /* NAN: n/a */
	const char *grade;     /* excellent, good, needs improvement; NULL without a total */
	const char *reference; /* of the bandwidth: declared peak, hardware peak, best of this run;
				  NULL without a total */
	const char *why;       /* there is no total; NULL: there is one */
	struct ct_score_part {
		const char *name;	  /* bandwidth, latency, balance, stability */
		double weight_pct, score; /* score NAN: n/a */
		const char *from;	  /* what it was computed from, or why it was not */
	} parts[CT_SCORE_PARTS];
	size_t n_parts;
};

/* Something that could not be seen, and what to do about it. */
struct ct_report_invisible {
	const char *what, *why, *remedy; /* remedy may be NULL */
};

struct ct_report {
	int is_outline; /* without what only operations report (report/analyze.h, ct_outline) */
	struct ct_report_run run;
	struct ct_step_time step_time; /* what percentages of time are of */
	struct ct_report_verdict verdict;
	const struct ct_hang_run *hang; /* what `hang` says of it (analyzer/hang/hang_run.h); NULL:
					   no verdict, or it was not asked */
	struct ct_finding *findings;	/* what is to be done first comes first */
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
	struct ct_report_dropped *dropped;
	size_t n_dropped;
	uint64_t dropped_records; /* sum of the counted ones */
	uint64_t dropped_ends;	  /* recorded operations whose ends are not */
	uint64_t dropped_calls;	  /* of which nothing was recorded: they were not seen, or came too
				     early */
	struct ct_report_overhead *overhead;
	size_t n_overhead;
	/* of the rank where they are largest */
	double overhead_pct, overhead_cpu_pct, overhead_switches_per_s;
	uint64_t overhead_bytes;	     /* written by all ranks */
	struct ct_report_process *processes; /* all starts; by host, rank, start */
	size_t n_processes;
	size_t *ended; /* processes of this start that did not end well, the first to fail first
			  (exit_order.h) */
	size_t n_ended;
	int ended_together;   /* the first of these was ended together with others, by the same
				 process */
	size_t n_ended_first; /* so many of them may have been the first; 1: it is known which was */
	struct ct_report_in_flight *in_flight; /* oldest first */
	size_t n_in_flight;
	uint32_t n_stuck;	/* of those: will never end, or take much longer than is usual */
	uint64_t open_launches; /* operations that were posted and not ended */
	struct ct_report_invisible *invisible; /* warnings of the reader, notes in the traces */
	size_t n_invisible;
	struct ct_report_environment environment;
	struct ct_report_traffic traffic;
	struct ct_report_transport *transport; /* of hosts whose ports were sampled */
	size_t n_transport;
	struct ct_report_expect expect; /* if anything was expected */
	struct ct_report_steps steps;
	struct ct_report_throughput throughput;
	struct ct_report_link *links; /* slow ones first */
	size_t n_links;
	uint64_t links_left_out;
	struct ct_report_clock *clocks; /* by host; none: one host only */
	size_t n_clocks;
	struct ct_report_whatif whatif;
	struct ct_report_score score;
	struct ct_report_exposed exposed;
	struct ct_report_stream_idle *stream_idle; /* ranks of which something is known */
	size_t n_stream_idle;
	struct ct_report_heat heat;
	struct ct_report_curve *curves; /* those with most transfer time first */
	size_t n_curves;
	struct ct_report_stage *stages; /* of pipelines, by communicator and stage */
	size_t n_stages;
	struct ct_arena *memory; /* private: holds all of the above */
};

/* Frees the report and all that it points to. NULL is fine. */
void ct_report_free(struct ct_report *report);

#endif
