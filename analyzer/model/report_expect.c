/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/report_expect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/model/comm_spec.h"

/* "80.0 GB/s", "410 us", "85.0 %" */
static struct ct_unit_text figure(const struct ct_report_expectation *e, double value)
{
	uint64_t whole = isnan(value) || value > 1e19 ? UINT64_MAX : (uint64_t)value;

	if (strcmp(e->unit, "pct") == 0)
		return ct_prose_pct(value);
	return strcmp(e->unit, "ns") == 0 ? ct_prose_ns(whole) : ct_prose_Bps(whole);
}

static struct ct_unit_range with_error(const struct ct_report_expectation *e)
{
	if (strcmp(e->unit, "pct") == 0)
		return ct_prose_pct_err(e->value, e->err);
	return strcmp(e->unit, "ns") == 0 ? ct_prose_ns_err(e->value, e->err)
					  : ct_prose_Bps_err(e->value, e->err);
}

const char *ct_expectation_text(const struct ct_report_expectation *e, struct ct_arena *memory)
{
	const char *limit = strcmp(e->metric, "latency") == 0 ? "at most" : "at least";
	const char *scope = strcmp(e->scope, "any") == 0 ? "" : e->scope;
	char where[128] = "";

	if (e->comm_hash)
		snprintf(where, sizeof(where), " (%s%scomm %s, %s)", scope, *scope ? ", " : "",
			 ct_comm_digits(e->comm_hash).s, ct_prose_bytes(e->bytes_each).s);
	else if (*scope)
		snprintf(where, sizeof(where), " (%s)", scope);
	return ct_arena_printf(memory, "%s of %s%s is %s, expected %s %s", e->metric,
			       e->op ? e->op : "any operation", where, with_error(e).s, limit,
			       figure(e, e->limit).s);
}
