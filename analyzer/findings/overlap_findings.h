/* SPDX-License-Identifier: Apache-2.0 */
/* overlap_findings.h — findings about overlap: EXPOSED_COMM, COMM_SHARE, bubbles, and BUCKETS of a
 * costly size. All return 0 or CT_NOMEM. */
#ifndef CT_ANALYZER_FINDINGS_OVERLAP_FINDINGS_H
#define CT_ANALYZER_FINDINGS_OVERLAP_FINDINGS_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/overlap/study.h"

/* Findings above their thresholds. */
int ct_study_find(const struct ct_study *study, struct ct_findings *findings);

/* Gradient buckets of a costly size, and the size to try (bucket_findings.c). */
int ct_study_buckets(const struct ct_study *study, struct ct_findings *findings);

#endif
