/* SPDX-License-Identifier: Apache-2.0 */
/* data.h — the bytes that a rank's ops move. What is sent is small whole numbers that follow from
 * the op's key and the sender, so that sums are exact in every type and the receiver knows what
 * must have come.
 *
 * One struct per rank. simjob_data_buffers() is for the rank's thread; what it writes and reads on
 * streams is done by host functions in the streams' order.
 */
#ifndef CT_TOOLS_SIM_JOB_DATA_H
#define CT_TOOLS_SIM_JOB_DATA_H

#include "tools/sim/cudart.h"
#include "tools/sim/job/simjob.h"

struct simjob_data;

/* Where an op's buffers are. The receiving one is the sending one if the op is in-buffers; NULL:
 * none. */
struct simjob_buffers {
	void *send, *receive;
};

/* NULL: no memory. Never freed: kernels may be reading when the job ends. */
struct simjob_data *simjob_data_make(const struct simjob *job, int rank);

/* Buffers of the op's slot, big enough. Results of CUDA calls. */
cudaError_t simjob_data_buffers(struct simjob_data *data, const struct ct_workload_op *op,
				struct simjob_buffers *buffers);

/* Put onto the stream: write what the op sends; check and hash what it brought; end step `step`,
 * whose checksum simjob_data_checksum() then has. */
cudaError_t simjob_data_produce(struct simjob_data *data, const struct ct_workload_op *op,
				cudaStream_t stream);
cudaError_t simjob_data_consume(struct simjob_data *data, const struct ct_workload_op *op,
				cudaStream_t stream);
cudaError_t simjob_data_end_step(struct simjob_data *data, uint64_t step, cudaStream_t stream);

/* What the first two put there, for a graph whose node is to do it: runs once, with `arg`. NULL:
 * there is nothing to do. */
typedef void simjob_deed_fn(void *arg);
cudaError_t simjob_data_deed(struct simjob_data *data, const struct ct_workload_op *op,
			     int consumes, simjob_deed_fn **deed, void **arg);

/* What communication brings from now on counts for nothing, it is being aborted; from any thread. */
void simjob_data_stop(struct simjob_data *data);

/* Once the stream has passed simjob_data_end_step(). */
uint64_t simjob_data_checksum(const struct simjob_data *data, uint64_t step);

#endif
