/* SPDX-License-Identifier: Apache-2.0 */
/* graph_structs.h — the structures that calls on graphs pass, as far as the simulator fills them
 * in. Never included beside the real headers. */
#ifndef CT_TOOLS_SIM_GRAPH_STRUCTS_H
#define CT_TOOLS_SIM_GRAPH_STRUCTS_H

#include "interpose/abi/cuda.h"

enum { CU_GRAPH_EXEC_UPDATE_SUCCESS = 0, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED = 2 };

struct CUgraphExecUpdateResultInfo_st {
	unsigned int result;
	CUgraphNode errorNode;
	CUgraphNode errorFromNode;
};

struct CUDA_GRAPH_INSTANTIATE_PARAMS_st {
	unsigned long long flags;
	CUstream hUploadStream;
	CUgraphNode hErrNode_out;
	unsigned int result_out;
};

#endif
