/* SPDX-License-Identifier: Apache-2.0 */
/* expect_private.h — a profile as it was read: what the parser (expect.c) and the check
 * (expect_check.c) share. */
#ifndef CT_ANALYZER_LINK_EXPECT_PRIVATE_H
#define CT_ANALYZER_LINK_EXPECT_PRIVATE_H

#include <jansson.h>

#include "analyzer/link/expect.h"

enum ct_expect_scope { CT_EXPECT_ANY, CT_EXPECT_HOST, CT_EXPECT_CROSS };
enum ct_expect_metric {
	CT_EXPECT_BUSBW,
	CT_EXPECT_ALGBW,
	CT_EXPECT_LATENCY,
	CT_EXPECT_UTILIZATION,
	CT_EXPECT_METRICS
};

struct ct_expect_rule {
	size_t number;	  /* from 1 */
	const char *name; /* texts are the JSON's; NULL: none */
	const char *comm; /* name or hash of the communicator; NULL: any */
	unsigned op;	  /* 0: any */
	unsigned backend; /* 0: any */
	enum ct_expect_scope scope;
	uint64_t min_bytes, max_bytes, min_op_count;
	int required;
	int is_bench;	 /* not from a file (ct_expect_add_bench()) */
	int declared;	 /* utilization only of a declared peak */
	const char *via; /* what connects the members, as in struct ct_peak; NULL: anything */
	const char *source, *not_for; /* where the limit is from, and what it does not hold for;
					 NULL: not said */
	int has[CT_EXPECT_METRICS];
	double limits[CT_EXPECT_METRICS]; /* as in the file */
};

struct ct_expect {
	json_t *json;
	struct ct_expect_rule *rules;
	size_t n;
	struct ct_expect_peak {
		enum ct_expect_scope scope;
		double Bps;
	} * peaks;
	size_t n_peaks;
};

const char *ct_expect_scope_name(enum ct_expect_scope scope);

#endif
