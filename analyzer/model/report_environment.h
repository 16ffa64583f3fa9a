/* SPDX-License-Identifier: Apache-2.0 */
/* report_environment.h — the start records of the ranks, side by side: a part of the report
 * (report.h, whose rules hold here too).
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
	const char *instead; /* what replaces it, or what reads it; NULL: not known */
	int is_misspelt; /* NCCL reads a name that differs in a letter or two, which is `instead` */
};

/* Settings that contradict each other, or one that takes something away
 * (analyzer/environment/setting_conflicts.def). */
struct ct_report_env_conflict {
	const char *settings; /* "NCCL_NET=IB with NCCL_IB_DISABLE=1" */
	const char *what, *advice;
	enum ct_severity severity;
	int *ranks;
	size_t n_ranks;
};

/* What the machines' devices say of themselves (analyzer/environment/topology.h): of each check how
 * many devices were asked, and which are wrong. */
enum ct_topology_check {
	CT_TOPOLOGY_PCIE,  /* a GPU has all its lanes, and a network card enough for the rate of its
			      port */
	CT_TOPOLOGY_PORTS, /* InfiniBand ports with a cable are active */
	CT_TOPOLOGY_NUMA,  /* an active network card is on the GPU's NUMA node */
	CT_TOPOLOGY_NVLINK, /* a GPU has as many active links as others of its model: of this
			       machine only */
	CT_TOPOLOGY_CHECKS
};

struct ct_report_topology {
	size_t known, wrong;
	const char *first; /* "node1 gpu.2 0000:5d:00.0: 8 of 16 lanes", the first that is wrong;
			      NULL: none */
	const char *right; /* the first that is not, in the same words; NULL: none */
};

struct ct_report_environment {
	struct ct_report_fact *same; /* by name */
	size_t n_same;
	struct ct_report_env_differs *differs; /* by name */
	size_t n_differs;
	struct ct_report_env_unread *unread; /* by name */
	size_t n_unread;
	struct ct_report_env_conflict *conflicts; /* in the order of the table */
	size_t n_conflicts;
	struct ct_report_env_rank
		*ranks; /* what is each one's own; only ranks with a start record */
	size_t n_ranks;
	struct ct_report_topology topology[CT_TOPOLOGY_CHECKS];
};

#endif
