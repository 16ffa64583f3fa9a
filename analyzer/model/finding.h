/* SPDX-License-Identifier: Apache-2.0 */
/* finding.h — verdicts and findings: their codes, and what one of them says. A part of the report
 * (report.h, whose rules hold here too).
 */
#ifndef CT_ANALYZER_MODEL_FINDING_H
#define CT_ANALYZER_MODEL_FINDING_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* XX(code, how bad it is, title) */
#define CT_VERDICT_MAP(XX)                                                                         \
	XX(HEALTHY, GOOD, "Healthy")                                                               \
	XX(STRAGGLER, CRITICAL, "Straggler")                                                       \
	XX(SLOW_STAGE, CRITICAL, "Slow pipeline stage")                                            \
	XX(IMBALANCE, WARNING, "Uneven compute time")                                              \
	XX(SLOW_LINK, CRITICAL, "Slow link")                                                       \
	XX(CHANGE_POINT, WARNING, "Step time changed")                                             \
	XX(POOR_OVERLAP, WARNING, "Poor overlap")                                                  \
	XX(COMM_BOUND, WARNING, "Communication-bound")                                             \
	XX(MISMATCH, CRITICAL, "Mismatched operations")                                            \
	XX(UNEVEN_INPUT, CRITICAL, "Uneven inputs")                                                \
	XX(HANG, CRITICAL, "Hang")                                                                 \
	XX(NOT_COMMUNICATION, GOOD, "Communication is not the bottleneck")                         \
	XX(NOT_ENOUGH_EVIDENCE, UNSURE, "Not enough evidence")
/* XX(kind, is its loss a share that no change would save whole, heading) */
#define CT_FINDING_MAP(XX)                                                                         \
	XX(STRAGGLER, 0, "Straggler")                                                              \
	XX(STRAGGLER_HOST, 0, "Slow host")                                                         \
	XX(STRAGGLER_GROUP, 0, "Slow ranks")                                                       \
	XX(SLOW_STAGE, 0, "Slow pipeline stage")                                                   \
	XX(IMBALANCE, 0, "Uneven compute time")                                                    \
	XX(ROTATING_STALLS, 0, "Stalls in turn")                                                   \
	XX(PERIODIC_STALLS, 0, "Periodic stalls")                                                  \
	XX(CHANGE_POINT, 0, "Step time changed")                                                   \
	XX(SLOW_LINK, 0, "Slow link")                                                              \
	XX(SLOW_OP, 0, "Slow operation")                                                           \
	XX(SOCKET_FALLBACK, 0, "Socket fallback")                                                  \
	XX(LINK_ERRORS, 0, "Network port errors")                                                  \
	XX(EXPOSED_COMM, 1, "Exposed communication")                                               \
	XX(BUCKETS, 0, "Gradient buckets")                                                         \
	XX(COMM_SHARE, 1, "Exposed communication")                                                 \
	XX(MISMATCH, 0, "Mismatched operations")                                                   \
	XX(SKIPPED_OP, 0, "Skipped operation")                                                     \
	XX(EXTRA_OP, 0, "Extra operation")                                                         \
	XX(UNEVEN_INPUT, 0, "Uneven inputs")                                                       \
	XX(CLOCK_CONFLICT, 0, "Clock conflict")                                                    \
	XX(DROPPED_RECORDS, 0, "Dropped records")                                                  \
	XX(TRACER_OVERHEAD, 0, "Tracer overhead")                                                  \
	XX(ENVIRONMENT_DIFFERS, 0, "Environment differs")                                          \
	XX(SETTING_NOT_READ, 0, "Setting not read")                                                \
	XX(SETTING_CONFLICT, 0, "Settings contradict each other")                                  \
	XX(ADVICE, 0, "Advice")

enum ct_verdict_code {
#define CT_VERDICT_ENUM(name, level, title) CT_VERDICT_##name,
	CT_VERDICT_MAP(CT_VERDICT_ENUM)
#undef CT_VERDICT_ENUM
};
enum ct_finding_kind {
#define CT_FINDING_ENUM(name, is_share, title) CT_FINDING_##name,
	CT_FINDING_MAP(CT_FINDING_ENUM)
#undef CT_FINDING_ENUM
};
/* Causes that findings have in common; FINDING: the finding has its own words. */
enum ct_why {
	CT_WHY_OWN,
#define WHY(name, cause, advice, cpu_advice, command, cpu_command) CT_WHY_##name,
#include "analyzer/model/causes.def"
};
enum ct_verdict_level {
	CT_VERDICT_IS_GOOD,
	CT_VERDICT_IS_UNSURE,
	CT_VERDICT_IS_WARNING,
	CT_VERDICT_IS_CRITICAL
};
enum ct_severity { CT_SEVERITY_INFO, CT_SEVERITY_WARNING, CT_SEVERITY_CRITICAL };
enum ct_confidence {
	CT_CONFIDENCE_NONE,
	CT_CONFIDENCE_LOW,
	CT_CONFIDENCE_MEDIUM,
	CT_CONFIDENCE_HIGH
};

/* Names as the outside contract spells them. */
const char *ct_verdict_name(enum ct_verdict_code code);
const char *ct_finding_name(enum ct_finding_kind kind);
/* What a person reads in their stead. */
const char *ct_verdict_title(enum ct_verdict_code code);
const char *ct_finding_title(enum ct_finding_kind kind);
const char *ct_severity_name(enum ct_severity severity);
const char *ct_confidence_name(enum ct_confidence confidence);

enum ct_verdict_level ct_verdict_level(enum ct_verdict_code code);

struct ct_finding;

struct ct_report_verdict {
	enum ct_verdict_code code;
	enum ct_confidence confidence;
	const char *text; /* headline and notes, as one sentence */
	const char *
		headline; /* in a line: what, which rank, which host, how much; without the title */
	const char *note; /* what else there is to know; NULL: nothing */
	const char *title; /* in front of the headline: the finding's where that leads, else the
			      code's */
	/* the finding's, or the verdict's own; NULL: none */
	const char *cause, *advice /* the next step */, *command;
	double gain_max_pct;
	const char *hang_code;		/* of HANG: the code of `hang`; else NULL */
	const struct ct_finding *about; /* NULL: no finding */
};

/* A figure in words: key=value. The texts live as long as the report. */
struct ct_finding_pair {
	const char *key, *value;
	const char *err; /* NULL: exact, or not known */
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
	uint64_t comm_hash;  /* 0: not about one communicator */
	const char *op_name; /* NULL: not about one operation */
	uint64_t begin_at_ns, end_at_ns;
	uint64_t time_lost_ns, time_lost_err_ns;
	double time_lost_pct; /* of step time: the part of the loss that lies in the steps */
	double gpu_seconds;   /* the loss on all GPUs that it held up; NAN unknown, or no GPUs */
	uint64_t step_first, step_last; /* CT_UNKNOWN: not about steps */
	int at_most;	  /* 1: streams of a GPU waited so long, computing may have hidden a part */
	int is_undecided; /* 1: its ranks contradict each other, and which of them is right is not
			     known */
	int is_bounded;	  /* 1: by the time that compute waited for communication */
	const char *waited_for_cores; /* "rank 0 waited for CPU cores for 120 ms, ...", if
					 as long as the loss; NULL: not, or not recorded */
	int is_replayed;	      /* 1: loss and times are those of a replay */
	enum ct_why why;
	double per_step_ns; /* the loss, by the steps that it is in; NAN: it is in all, or there are
			       none */
	const char *pattern;  /* of the headline, as in headlines.def; NULL: that of its kind */
	const char *headline; /* in a line: which rank, which host, how much per step; without the
				 title */
	const char *cause, *advice, *command;
	const char *note;  /* what the loss is, where that is not plain; NULL: it is */
	const char *where; /* of the program, where most of the loss is: "between train.py:111 and
			      train.py:117"; NULL: not known */
	/* where those that contradict each other made the call: "theirs" (or "one") and "others",
	 * "send" and "recv"; site NULL: not known */
	struct ct_finding_site {
		const char *whose, *site;
	} sites[2];
	struct ct_finding_pair *pairs;
	size_t n_pairs;
	struct ct_evidence *evidence;
	size_t n_evidence;
};

/* The pairs in a line: "key=value key_err=error ...". A value of several words is quoted. */
void ct_finding_write(const struct ct_finding *finding, FILE *out);

#endif
