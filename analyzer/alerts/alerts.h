/* SPDX-License-Identifier: Apache-2.0 */
/* alerts.h — rules over the reports of consecutive windows of a running job: operations became
 * slow, links are slower than they could be, calls fail, a rank is slow. A rule uses what a report
 * says, with its errors, and nothing else. Once it has fired it is quiet until it is over. Memory
 * follows the kinds of operations, with a limit; beyond it those that were not seen for longest are
 * forgotten. One thread. */
#ifndef CT_ANALYZER_ALERTS_ALERTS_H
#define CT_ANALYZER_ALERTS_ALERTS_H

#include "analyzer/model/report.h"
#include "analyzer/stream/stream.h"

enum ct_alert_rule {
#define ALERT_RULE(RULE, name) CT_ALERT_##RULE,
#include "analyzer/alerts/alerts.def"
	CT_ALERT_RULES
};

/* 0: the rule is off. */
struct ct_alert_limits {
	double latency_times; /* multiples of the usual median transfer time of a kind of operations
			       */
	double bandwidth_pct; /* of the expected bandwidth */
	double errors_points; /* by which the percentage of failed operations rises */
	double straggler_pct; /* of the window */
	uint64_t again_ns;    /* a rule that fires again sooner is not reported */
};

/* Operations of a window, and those that failed. */
struct ct_alert_counts {
	uint64_t ops, failed;
};

struct ct_alert {
	enum ct_alert_rule rule;
	int is_over;	  /* what had been reported is */
	const char *text; /* with its confidence, if ranks are named */
	const int *ranks; /* at fault; n_ranks 0: none is named */
	size_t n_ranks;
	const char **hosts; /* theirs */
	size_t n_hosts;
	uint64_t comm_hash;  /* 0: none */
	double value, limit; /* NAN where it is over */
	const char *unit;    /* "ns", "%" */
};

struct ct_alerts;

/* NULL: out of memory. */
struct ct_alerts *ct_alerts_new(const struct ct_alert_limits *limits);
void ct_alerts_free(struct ct_alerts *alerts);

/* Count the operations of a reading, from zero. */
void ct_alert_counts_observe(struct ct_alert_counts *counts, struct ct_observer *observer);

/* Judge one more window, which ended at `now_ns` of any clock that goes on. *events live in
 * `memory`, and as long as the report. 0 or CT_NOMEM. */
int ct_alerts_take(struct ct_alerts *alerts, const struct ct_report *report,
		   const struct ct_alert_counts *counts, uint64_t now_ns, struct ct_arena *memory,
		   struct ct_alert **events, size_t *n_events);

/* "latency" */
const char *ct_alert_rule_name(enum ct_alert_rule rule);

#endif
