/* SPDX-License-Identifier: Apache-2.0 */
/* job.h — what a scripted job asks of the simulated libnccl.so.2 beyond NCCL's own interface: how
 * fast the links are, which of them are slow, what breaks, and the truth about every kernel.
 * Exported by libnccl.so.2. Any thread may call any of it. Ranks here are global ones:
 * simNcclRank() reports which rank a device of this process is.
 */
#ifndef CT_TOOLS_SIM_NCCL_JOB_H
#define CT_TOOLS_SIM_NCCL_JOB_H

#include <stdint.h>

#include "interpose/abi/nccl.h"
#include "tools/sim/sim.h"

/* The links, before the first communicator is made: a kernel takes alpha + bytes / rate, times 1 ±
 * jitter. Ranks with one NCCL_HOSTID are one node. All of it without effect while simTiming() is 0.
 */
struct sim_links {
	uint64_t alpha_ns;    /* of one kernel, whatever it moves */
	uint64_t hop_ns;      /* of a collective, for each rank but one */
	uint64_t node_Bps;    /* between two ranks of a node, per direction */
	uint64_t net_Bps;     /* between two ranks of different nodes */
	double jitter;	      /* 0.02: two per cent */
	uint64_t end_skew_ns; /* ranks end a kernel up to so much apart */
	uint64_t seed;	      /* of jitter and skew: equal on all ranks */
};
SIM_EXPORT void simNcclLinks(const struct sim_links *links);

/* The device stands for this global rank; before its first communicator is made. */
SIM_EXPORT void simNcclRank(CUdevice device, int rank);

/* For what is launched by this process from now on, the link src -> dst has `factor` of its
 * bandwidth; 1 heals it. Every rank says so at the same point of its program. */
SIM_EXPORT void simNcclSlowLink(int src, int dst, double factor);

/* The communicator has failed on this rank: ncclCommGetAsyncError() answers `error` from now on,
 * and its kernels move nothing any more until the communicator is aborted. */
SIM_EXPORT void simNcclFail(ncclComm_t comm, ncclResult_t error);

/* The transport of this communicator hangs, on this rank, from its next kernel on: no kernel can
 * end, no error is seen. Aborting the communicator ends this rank's kernels, as if they had
 * completed. */
SIM_EXPORT void simNcclHang(ncclComm_t comm);

/* The communicator's next kernel on this rank moves what it has to, so that the others' end, and
 * never ends itself. */
SIM_EXPORT void simNcclLinger(ncclComm_t comm);

/* From now on, devices of this process have SMs for one kernel of a communicator at a time:
 * others wait, although their streams have reached them. */
SIM_EXPORT void simNcclOneAtATime(void);

/* Kernels that an abort of this process ends from now on end so long after it. */
SIM_EXPORT void simNcclAbortTakes(uint64_t ns);

/* The calling thread's next call of this function ("ncclGroupEnd", which is also the end of an op
 * outside a group, "ncclCommInitRankConfig", "ncclCommSplit", "ncclCommFinalize") never returns. */
SIM_EXPORT void simNcclStallCall(const char *function);

/* The truth about every kernel, reported once when its end is known (sim time), by the thread of
 * its stream. */
struct sim_nccl_span {
	uint64_t comm;	   /* NCCL's own hash of it */
	uint64_t launch;   /* this rank's launches on this communicator before this one */
	uint64_t start_ns; /* the stream reached it */
	uint64_t end_ns;
	CUstream stream;
	int rank;    /* global */
	int n_ops;   /* that this kernel carries out */
	int aborted; /* it ended because the communicator was aborted */
};
SIM_EXPORT void simNcclOnKernel(void (*report)(const struct sim_nccl_span *span));

/* How many host nodes were put into graphs of this process, because a profiler plugin asked for the
 * channels of kernels. */
SIM_EXPORT uint64_t simNcclHostNodes(void);

#endif
