/* SPDX-License-Identifier: Apache-2.0 */
/* nvlink.h — which NVLinks of this machine are active, as NVML says by way of nvidia-smi. The
 * command line is static, so it cannot load NVML itself. */
#ifndef CT_TOOLS_COMMTRACE_DOCTOR_NVLINK_H
#define CT_TOOLS_COMMTRACE_DOCTOR_NVLINK_H

#include "analyzer/model/report_environment.h"

struct ct_arena;

/* Counts the GPUs of `nvidia-smi nvlink --status`: wrong is one that has fewer active links than
 * another one of its model. Without any active link, nothing is known. Texts are in `memory`. Pure.
 */
void ct_nvlink_count(const char *status, struct ct_arena *memory, struct ct_report_topology *to);

/* The same of this machine; nothing is known where nvidia-smi is missing, or does not answer in
 * time. */
void ct_nvlink_read(struct ct_arena *memory, struct ct_report_topology *to);

#endif
