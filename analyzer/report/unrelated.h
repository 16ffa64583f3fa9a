/* SPDX-License-Identifier: Apache-2.0 */
/* unrelated.h — checks that recordings that are read together are of one job. Several paths are
 * parts of one run, or starts of one job; read as one, different jobs would give a verdict about
 * neither. One thread. */
#ifndef CT_ANALYZER_REPORT_UNRELATED_H
#define CT_ANALYZER_REPORT_UNRELATED_H

#include "trace/reader.h"

/* Two processes of different jobs: their jobs have other names and claim one rank or have no
 * communicator in common; or one name, but neither hosts nor a world size in common. Processes
 * without the name of a job do not count. 1 and their indexes, by process of the run; 0: one job;
 * CT_NOMEM; CT_IO and *err. Reads no operations, and nothing at all where names and sizes are
 * equal. */
int ct_unrelated_jobs(const struct ct_run *run, uint32_t processes[2], struct ct_err *err);

#endif
