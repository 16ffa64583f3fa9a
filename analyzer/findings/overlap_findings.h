/* SPDX-License-Identifier: Apache-2.0 */
/* overlap_findings.h — what is asserted of communication against computing: EXPOSED_COMM, COMM_SHARE, bubbles, and BUCKETS of a
 * size that costs. All return 0 or CT_NOMEM. */
#ifndef CT_OVERLAP_FINDINGS_H
#define CT_OVERLAP_FINDINGS_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/overlap/study.h"

/* What exceeds its threshold. */
int ct_study_find(const struct ct_study *study, struct ct_findings *findings);

/* Gradient buckets whose size costs, and the size to try (bucket_findings.c). */
int ct_study_buckets(const struct ct_study *study, struct ct_findings *findings);

#endif
