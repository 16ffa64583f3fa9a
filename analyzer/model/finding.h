/* SPDX-License-Identifier: Apache-2.0 */
/* finding.h — verdicts and findings: their codes, and what one of them says. A part of the report (run_model.h, whose rules hold
 * here too).
 */
#ifndef CT_FINDING_H
#define CT_FINDING_H

#include <stddef.h>
#include <stdint.h>

/* XX(code, how bad it is) */
#define CT_VERDICT_MAP(XX)                                                                         \
	XX(HEALTHY, GOOD)                                                                          \
	XX(STRAGGLER, SEVERE)                                                                      \
	XX(SLOW_STAGE, SEVERE)                                                                     \
	XX(IMBALANCE, WARN)                                                                        \
	XX(SLOW_LINK, SEVERE)                                                                      \
	XX(CHANGE_POINT, WARN)                                                                     \
	XX(POOR_OVERLAP, WARN)                                                                     \
	XX(COMM_BOUND, WARN)                                                                       \
	XX(MISMATCH, SEVERE)                                                                       \
	XX(UNEVEN_INPUT, SEVERE)                                                                   \
	XX(HANG, SEVERE)                                                                           \
	XX(NOT_COMMUNICATION, GOOD)                                                                \
	XX(NOT_ENOUGH_EVIDENCE, UNSURE)
/* XX(kind, is its loss a share that nobody would save all of, heading) */
#define CT_FINDING_MAP(XX)                                                                         \
	XX(STRAGGLER, 0, "A rank keeps the others waiting")                                        \
	XX(STRAGGLER_HOST, 0, "The ranks of a host keep the others waiting")                       \
	XX(STRAGGLER_GROUP, 0, "A group of ranks keeps the others waiting")                        \
	XX(SLOW_STAGE, 0, "A pipeline stage takes longer than the others")                         \
	XX(IMBALANCE, 0, "Work is uneven, and no rank is slow throughout")                         \
	XX(ROTATING_STALLS, 0, "Stalls, now on one rank, now on another")                          \
	XX(PERIODIC_STALLS, 0, "Stalls at regular times")                                          \
	XX(CHANGE_POINT, 0, "The pace changed during the run")                                     \
	XX(SLOW_LINK, 0, "A link is slower than others of its kind")                               \
	XX(SLOW_OP, 0, "An operation is slower than it should be")                                 \
	XX(SOCKET_FALLBACK, 0, "Traffic went through sockets")                                     \
	XX(LINK_ERRORS, 0, "Network ports counted errors")                                         \
	XX(EXPOSED_COMM, 1, "Computing stood waiting for communication")                           \
	XX(BUCKETS, 0, "Messages have an unfortunate size")                                        \
	XX(COMM_SHARE, 1, "Communication takes a large share of the run")                          \
	XX(MISMATCH, 0, "Ranks called operations that contradict each other")                      \
	XX(SKIPPED_OP, 0, "A rank left out an operation")                                          \
	XX(EXTRA_OP, 0, "A rank called an operation too many")                                     \
	XX(UNEVEN_INPUT, 0, "Ranks have inputs of different size")                                 \
	XX(CLOCK_CONFLICT, 0, "Clocks contradict each other")                                      \
	XX(LOSSES, 0, "The trace lost records")                                                    \
	XX(TRACER_COST, 0, "Recording cost more than it should")                                   \
	XX(ENVIRONMENT_DIFFERS, 0, "Ranks run in different environments")

enum ct_verdict_code {
#define CT_VERDICT_ENUM(name, level) CT_VERDICT_##name,
	CT_VERDICT_MAP(CT_VERDICT_ENUM)
#undef CT_VERDICT_ENUM
};
enum ct_finding_kind {
#define CT_FINDING_ENUM(name, is_share, title) CT_FINDING_##name,
	CT_FINDING_MAP(CT_FINDING_ENUM)
#undef CT_FINDING_ENUM
};
/* Causes that findings have in common; OWN: the finding has its own words. */
enum ct_why {
	CT_WHY_OWN,
#define WHY(name, cause, advice, cpu_advice, command, cpu_command) CT_WHY_##name,
#include "analyzer/model/causes.def"
};
enum ct_verdict_level {
	CT_VERDICT_IS_GOOD,
	CT_VERDICT_IS_UNSURE,
	CT_VERDICT_IS_WARN,
	CT_VERDICT_IS_SEVERE
};
enum ct_severity { CT_SEVERITY_INFO, CT_SEVERITY_WARN, CT_SEVERITY_SEVERE };
enum ct_confidence {
	CT_CONFIDENCE_NONE,
	CT_CONFIDENCE_LOW,
	CT_CONFIDENCE_MEDIUM,
	CT_CONFIDENCE_HIGH
};

/* Names as the outside contract spells them. */
const char *ct_verdict_name(enum ct_verdict_code code);
const char *ct_finding_name(enum ct_finding_kind kind);
const char *ct_severity_name(enum ct_severity severity);
const char *ct_confidence_name(enum ct_confidence confidence);

enum ct_verdict_level ct_verdict_level(enum ct_verdict_code code);

struct ct_finding;

struct ct_report_verdict {
	enum ct_verdict_code code;
	enum ct_confidence confidence;
	const char *text; /* one sentence */
	double gain_max_pct;
	const struct ct_finding *about; /* NULL: no finding */
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
	int is_bounded;	 /* 1: by what computing stood waiting for communication */
	int is_replayed; /* 1: loss and times are those of a replay */
	enum ct_why why;
	const char *cause, *advice, *command;
	const char *note; /* what the loss is, where that is not plain; NULL: it is */
	/* where those that contradict each other made the call: "theirs" (or "one") and "others", "send" and "recv"; site
	 * NULL: not known */
	struct ct_finding_site {
		const char *whose, *site;
	} sites[2];
	const char *line; /* greppable "key=value ..." between kind and severity in text */
	struct ct_evidence *evidence;
	size_t n_evidence;
};

#endif
