/* SPDX-License-Identifier: Apache-2.0 */
/* log.h — NCCL's log on standard output, as NCCL_DEBUG asks for it (VERSION, WARN, INFO), and the
 * last error. */
#ifndef CT_TOOLS_SIM_NCCL_LOG_H
#define CT_TOOLS_SIM_NCCL_LOG_H

/* device: -1 if none is meant. Every warning is also what ncclGetLastError() answers. */
void sim_info(int device, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For NCCL_DEBUG=VERSION and above, once. */
void sim_log_version(void);

/* The program did what NCCL does not allow: sim_warn(), and counted by simMisuse() where there is a
 * driver. `call` is
 * __func__ of the exported function. */
void sim_nccl_misuse(const char *call, const char *why);

#endif
