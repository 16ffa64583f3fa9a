/* SPDX-License-Identifier: Apache-2.0 */
/* topology.h — what a machine reports about its devices (facts gpu.*, ib.*;
 * docs/dev/TRACE_FORMAT.md, ENV): GPUs with fewer PCIe lanes than they can have, network cards
 * whose PCIe link carries less than their port, InfiniBand ports with a cable that are not active,
 * GPUs without an active network card on their NUMA node. Devices without facts are not counted.
 * One thread. */
#ifndef CT_ANALYZER_ENVIRONMENT_TOPOLOGY_H
#define CT_ANALYZER_ENVIRONMENT_TOPOLOGY_H

#include "analyzer/model/environment_facts.h"

struct ct_model;

/* Counts the devices of these facts into `checks`, GPUs only or network cards as well. `where` is
 * the host's name. Texts are in `memory`, which remembers that it was too little. */
void ct_topology_add(const struct ct_environment_facts *facts, const char *where, int with_network,
		     struct ct_arena *memory, struct ct_report_topology checks[CT_TOPOLOGY_CHECKS]);

/* report->environment.topology, of each process of the run, network cards once for each host. 0 or
 * CT_NOMEM. */
int ct_topology_fill(const struct ct_model *model, struct ct_report *report);

#endif
