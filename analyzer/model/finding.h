/* SPDX-License-Identifier: Apache-2.0 */
/* finding.h — verdicts and findings: their codes, and what one of them says. A part of the report (run_model.h, whose rules hold
 * here too).
 */
#ifndef CT_FINDING_H
#define CT_FINDING_H

#include <stddef.h>
#include <stdint.h>

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
#include "analyzer/findings/causes.def"
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

#endif
