/* SPDX-License-Identifier: Apache-2.0 */
/* labels.h — labels that all series of a run have: the job's name, and what Slurm and Kubernetes
 * call job, step, node and pod. */
#ifndef CT_TOOLS_METRICS_LABELS_H
#define CT_TOOLS_METRICS_LABELS_H

#include <stddef.h>

#include "analyzer/live/live.h"

#define CT_LABELS_MOST 2048u

/* "job_name=\"...\",slurm_job_id=\"...\"": from the run's record, else from this process's
 * environment. Values that are unknown are left out. */
void ct_labels_of_run(const struct ct_live_view *view, char text[CT_LABELS_MOST]);

/* `value` as it is written between quotes. */
void ct_label_escape(char *to, size_t size, const char *value);

#endif
