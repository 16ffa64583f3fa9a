/* SPDX-License-Identifier: Apache-2.0 */
/* exposition.h — Prometheus' text format, version 0.0.4, from views of running jobs. Pure but for
 * the figures of this process. */
#ifndef CT_TOOLS_METRICS_EXPOSITION_H
#define CT_TOOLS_METRICS_EXPOSITION_H

#include <stdio.h>

#include "analyzer/live/live.h"
#include "tools/metrics/labels.h"
#include "tools/metrics/nvml.h"

struct ct_exposed_run {
	const struct ct_live_view *view;
	char labels[CT_LABELS_MOST];
	double peak_Bps; /* 0: not known */
};

struct ct_exposed_all {
	const struct ct_exposed_run *runs;
	unsigned n_runs;
	const struct ct_gpu_sample *gpus;
	unsigned n_gpus;
	int is_behind; /* of some run */
};

void ct_exposition_write(const struct ct_exposed_all *all, FILE *out);

#endif
