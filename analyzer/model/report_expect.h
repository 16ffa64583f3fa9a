/* SPDX-License-Identifier: Apache-2.0 */
/* report_expect.h — what became of expectations (expect.h): a part of the report (report.h, whose
 * rules hold here too). */
#ifndef CT_ANALYZER_MODEL_REPORT_EXPECT_H
#define CT_ANALYZER_MODEL_REPORT_EXPECT_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/arena.h"

enum ct_expect_result { CT_EXPECT_PASS, CT_EXPECT_FAIL, CT_EXPECT_NA };

/* One limit of one rule, and the row of the report that decides: the worst one that fails, else one
 * that misses by less than its error, else the one with the least to spare; one without a value
 * only if no row has one. */
struct ct_report_expectation {
	uint32_t rule;	  /* from 1, in the order of the file */
	const char *name; /* NULL: it has none */
	const char *source,
		*not_for;   /* where the limit is from, and what it does not hold for; NULL */
	const char *op;	    /* NULL: any */
	const char *scope;  /* host, cross, any */
	const char *metric; /* busbw, algbw, latency, utilization */
	enum ct_expect_result result;
	int required;		  /* a failure also if undecided */
	int within_error;	  /* the value misses the limit, by less than its error */
	double value, err, limit; /* NAN unknown */
	const char *unit;	  /* Bps, ns, pct */
	uint64_t comm_hash;	  /* 0: no row decides */
	const char *comm_name;
	uint64_t bytes_each, instances;
	uint64_t rows;	 /* that the rule is about */
	const char *why; /* undecided, or fails for that reason; else NULL */
};

struct ct_report_expect {
	struct ct_report_expectation *items; /* NULL: nothing was expected */
	size_t n;
	size_t passed, failed, not_applicable; /* as many as n */
};

const char *ct_expect_result_name(enum ct_expect_result result);

/* "busbw of AllReduce (cross, comm 1a2b3c4d, 33.6 MB) is 60.2 GB/s ± 1.10 GB/s, expected at
 * least 80.0 GB/s" */
const char *ct_expectation_text(const struct ct_report_expectation *e, struct ct_arena *memory);

#endif
