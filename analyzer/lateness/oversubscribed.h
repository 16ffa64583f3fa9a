/* SPDX-License-Identifier: Apache-2.0 */
/* oversubscribed.h — does a machine run more processes of the job than they have cores? Then
 * processes wait for a core, varying ones, and lateness is chance or caused by the machine: several
 * late ranks have only that in common. From the processes' start records (cpu.affinity); a machine
 * is one boot, with any host names. Unrecorded values count as enough. What else runs there shows
 * in how long processes have waited for a core (cpu.waited_ppm). Pure. */
#ifndef CT_ANALYZER_LATENESS_OVERSUBSCRIBED_H
#define CT_ANALYZER_LATENESS_OVERSUBSCRIBED_H

#include <stdint.h>

#include "analyzer/model/model.h"

struct ct_model;

/* The machine with most processes a core; processes 0: none has too many. */
struct ct_oversubscribed {
	uint32_t processes, cores;
	uint32_t slot; /* one of its ranks */
};

/* 0 or CT_NOMEM. */
int ct_oversubscribed_find(const struct ct_model *model, struct ct_oversubscribed *out);

/* How long a rank's first thread waited for a core, ns of the run. NAN: not recorded. */
double ct_cores_waited(const struct ct_model *model, uint32_t slot);

/* Means: of these ranks, and of all others of the job, 0 if there are none. NAN likewise if one of
 * them is not recorded. */
void ct_cores_waited_of(const struct ct_model *model, const uint32_t *slots, uint32_t n,
			double *theirs, double *others);

/* How many cores a list like "0-3,8" names beyond those in `known` (CT_CORES_MOST bits), to which
 * they are added; what is not such a list names none. */
#define CT_CORES_MOST 4096u /* size: cores of a host */
uint32_t ct_cores_add(const char *list, uint64_t known[CT_CORES_MOST / 64]);

#endif
