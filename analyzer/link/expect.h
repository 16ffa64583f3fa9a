/* SPDX-License-Identifier: Apache-2.0 */
/* expect.h — a profile of what a job's communication has to reach, held against the rows of a
 * report (ops[]).
 *
 *     { "rules": [ { "op": "AllReduce", "min_bytes": 1048576, "scope": "cross", "min_busbw_GBps":
 * 80, "min_utilization_pct": 85, "max_latency_us": 500 } ] }
 *
 * "peaks": [{ "scope": "cross", "busbw_GBps": 45 }] beside the rules declares what the hardware can
 * reach. docs/reference/INTERFACES.md has all keys. A row is compared with every limit of every
 * rule that selects it. It fails only where it misses the limit by more than its error. One thread.
 */
#ifndef CT_ANALYZER_LINK_EXPECT_H
#define CT_ANALYZER_LINK_EXPECT_H

#include <stddef.h>

#include "analyzer/model/report.h"
#include "trace/status.h"

/* size: longer files are refused, and so are more rules. */
#define CT_EXPECT_BYTES (1u << 20)
#define CT_EXPECT_RULES 1000u

struct ct_expect;

/* Parse. 0; CT_FORMAT with "offset N: why" or "rule N: why"; CT_NOMEM. To be freed. */
int ct_expect_read(const char *text, size_t len, struct ct_expect **expect, struct ct_err *err);
void ct_expect_free(struct ct_expect *expect); /* NULL is fine */

/* Adds a rule for each operation, size range and scope that the report of a benchmark has: the run
 * reaches CT_SLOW_LINK of its bus bandwidth at least. 0 or CT_NOMEM. */
int ct_expect_add_bench(struct ct_expect *expect, const struct ct_report *bench);

/* The bus bandwidth that is declared for communicators on so many hosts, bytes per second; NAN:
 * none is. `expect` may be NULL. */
double ct_expect_peak(const struct ct_expect *expect, uint32_t n_hosts);

/* Fills report->expect, in the report's memory. 0 or CT_NOMEM. */
int ct_expect_check(const struct ct_expect *expect, struct ct_report *report);

#endif
