/* SPDX-License-Identifier: Apache-2.0 */
/* report_environment.h — the start records of the ranks, side by side: a part of the report (report.h, whose rules hold here too).
 */
#ifndef CT_ANALYZER_MODEL_REPORT_ENVIRONMENT_H
#define CT_ANALYZER_MODEL_REPORT_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/finding.h"

struct ct_report_fact {
	const char *name, *value;
};

struct ct_report_env_value {
	const char *value; /* NULL: not set */
	int *ranks;
	size_t n_ranks;
};

struct ct_report_env_differs {
	const char *name;
	struct ct_report_env_value *values;
	size_t n_values;
	int matters; /* has to be equal; then ... */
	enum ct_severity severity;
};

struct ct_report_env_rank {
	int rank;
	struct ct_report_fact *facts;
	size_t n_facts;
};

/* A variable NCCL_* that is set and that NCCL does not read. */
struct ct_report_env_unread {
	const char *name;
	int *ranks;
	size_t n_ranks;
	const char *instead; /* what takes its place, or who reads it; NULL: not known */
};

struct ct_report_environment {
	struct ct_report_fact *same; /* by name */
	size_t n_same;
	struct ct_report_env_differs *differs; /* by name */
	size_t n_differs;
	struct ct_report_env_unread *unread; /* by name */
	size_t n_unread;
	struct ct_report_env_rank *ranks; /* what is each one's own; only ranks with a start record */
	size_t n_ranks;
};

#endif
