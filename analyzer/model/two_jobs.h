/* SPDX-License-Identifier: Apache-2.0 */
/* two_jobs.h — traces of several jobs that were read as one run: their ranks have nothing to do
 * with each other. */
#ifndef CT_ANALYZER_MODEL_TWO_JOBS_H
#define CT_ANALYZER_MODEL_TWO_JOBS_H

#include "analyzer/model/model.h"

/* Two processes of the start whose jobs have other names, and that claim one rank while neither is
 * a child of the other, or of jobs that have no communicator in common. 1, with their indices among
 * the run's processes; 0; or CT_NOMEM. */
int ct_two_jobs(const struct ct_model *model, uint32_t processes[2]);

#endif
