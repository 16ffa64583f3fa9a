/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_log.h — how NCCL connected the ranks, by the lines of its log (NCCL_DEBUG=INFO): "... via
 * NET/IB/0/GDRDMA". Pure. */
#ifndef CT_ANALYZER_DIAGNOSIS_NCCL_LOG_H
#define CT_ANALYZER_DIAGNOSIS_NCCL_LOG_H

#include <stddef.h>

/* Channels, each once at either end. */
struct ct_nccl_log {
	size_t p2p, shm;
	size_t rdma, gdr; /* InfiniBand and RoCE; of these, with GPUDirect RDMA */
	size_t sockets;
	size_t others; /* through network plugins */
};

/* No line was about a channel. */
static inline int ct_nccl_log_is_empty(const struct ct_nccl_log *log)
{
	return !(log->p2p || log->shm || log->rdma || log->sockets || log->others);
}

/* Counts what a line says, `len` bytes without its end. */
void ct_nccl_log_line(struct ct_nccl_log *log, const char *line, size_t len);

#endif
