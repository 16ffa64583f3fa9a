/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/finding_first.h"

#include <string.h>

#define KIND(name) (1u << CT_FINDING_##name)
#define LATE (KIND(STRAGGLER) | KIND(STRAGGLER_HOST) | KIND(STRAGGLER_GROUP))
#define STALLS (KIND(PERIODIC_STALLS) | KIND(ROTATING_STALLS))
#define EXPOSED (KIND(COMM_SHARE) | KIND(EXPOSED_COMM) | KIND(BUCKETS))

/* Of which kinds the finding is that this verdict says, a bit each. */
static const unsigned kinds_of[] = {
	[CT_VERDICT_STRAGGLER] = LATE | STALLS,
	[CT_VERDICT_SLOW_LINK] = KIND(SLOW_LINK),
	[CT_VERDICT_POOR_OVERLAP] = EXPOSED,
	[CT_VERDICT_COMM_BOUND] = EXPOSED,
	[CT_VERDICT_MISMATCH] = KIND(MISMATCH) | KIND(SKIPPED_OP) | KIND(EXTRA_OP),
	[CT_VERDICT_UNEVEN_INPUT] = KIND(UNEVEN_INPUT),
	[CT_VERDICT_NOT_ENOUGH_EVIDENCE] = 0,
};

/* A little exposed communication of one communicator makes no verdict; sizes of buckets always may. */
static int may_be(const struct ct_finding *f, enum ct_verdict_code code)
{
	if ((size_t)code >= sizeof(kinds_of) / sizeof(kinds_of[0]) ||
	    !(kinds_of[code] >> f->kind & 1))
		return 0;
	return !((KIND(COMM_SHARE) | KIND(EXPOSED_COMM)) >> f->kind & 1) ||
	       f->severity >= CT_SEVERITY_WARN;
}

void ct_finding_first(struct ct_report *report)
{
	size_t at = 0;

	while (at < report->n_findings && !may_be(&report->findings[at], report->verdict.code))
		at++;
	if (at < report->n_findings) {
		struct ct_finding first = report->findings[at];

		memmove(report->findings + 1, report->findings, at * sizeof(first));
		report->findings[0] = first;
	}
	for (size_t i = 0; i < report->n_findings; i++)
		report->findings[i].id = (int)i + 1;
}
