/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis.h — the decision tree error, topology, bandwidth, pattern (diagnosis.def): at each node
 * pass, fail or unknown, what shows it, and what to do. Nothing passes that was not measured. A
 * plain value; texts belong to the arena, or are the report's. One thread. */
#ifndef CT_ANALYZER_DIAGNOSIS_DIAGNOSIS_H
#define CT_ANALYZER_DIAGNOSIS_DIAGNOSIS_H

#include "analyzer/base/arena.h"
#include "analyzer/model/report.h"

enum ct_diagnosis_answer { CT_DIAGNOSIS_PASS, CT_DIAGNOSIS_UNKNOWN, CT_DIAGNOSIS_FAIL };

enum ct_diagnosis_level {
#define LEVEL(ID, name) CT_DIAGNOSIS_##ID,
#include "analyzer/diagnosis/diagnosis.def"
	CT_DIAGNOSIS_LEVELS
};

struct ct_diagnosis_node {
	const char *name;
	enum ct_diagnosis_answer answer;
	const char *evidence; /* what was measured, or why nothing was; NULL: not said */
	const char *advice;   /* NULL: it passed */
	int is_wanted; /* an option gave what it is from: it is shown also where the answer is
			  unknown */
};

struct ct_diagnosis {
	struct ct_arena *memory;
	struct ct_diagnosis_branch {
		const char *name;
		int is_asked; /* 0: a level before it fails */
		enum ct_diagnosis_answer
			answer; /* fail if a node fails, unknown if one is unknown */
		struct ct_diagnosis_node *nodes;
		size_t n_nodes;
	} levels[CT_DIAGNOSIS_LEVELS];
	size_t n_levels;		/* CT_DIAGNOSIS_LEVELS */
	const struct ct_report *report; /* NULL: no run was asked */
};

const char *ct_diagnosis_answer_name(unsigned answer);

/* `memory` holds all that is added, and remembers that it was too little. */
void ct_diagnosis_init(struct ct_diagnosis *diagnosis, struct ct_arena *memory);

/* Adds a node. The texts live as long as the diagnosis. */
void ct_diagnosis_add(struct ct_diagnosis *diagnosis, enum ct_diagnosis_level level,
		      struct ct_diagnosis_node node);

/* Adds what devices say (report_environment.h): of a run, or of this machine. */
void ct_diagnosis_topology(struct ct_diagnosis *diagnosis,
			   const struct ct_report_topology checks[CT_TOPOLOGY_CHECKS]);

/* Adds what NCCL's log says of channels. Sockets fail where the run's start records have an active
 * InfiniBand port: after ct_diagnosis_of_run(). */
struct ct_nccl_log;
void ct_diagnosis_nccl_log(struct ct_diagnosis *diagnosis, const struct ct_nccl_log *log);

/* Asks the run, which lives as long as the diagnosis. Its baseline checks were made
 * (ct_expect_check). */
void ct_diagnosis_of_run(struct ct_diagnosis *diagnosis, const struct ct_report *report);

/* Concludes, level by level; `whole` 0: a level after one that fails is not asked, since it may
 * only show the same. Returns the first node that fails, NULL: none. */
const struct ct_diagnosis_node *ct_diagnosis_conclude(struct ct_diagnosis *diagnosis, int whole);

#endif
