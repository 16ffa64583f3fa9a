/* SPDX-License-Identifier: Apache-2.0 */
/* runtime_graph.c — captures and graphs of the runtime: the driver's own, and their structures too.
 */
#include "tools/sim/runtime.h"

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	SIM_FORWARD(cuStreamBeginCapture_v2(stream, (CUstreamCaptureMode)mode));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	SIM_FORWARD(cuStreamEndCapture(stream, graph));
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
				     unsigned long long *id, cudaGraph_t *graph,
				     const cudaGraphNode_t **after,
				     const struct cudaGraphEdgeData_st **edges, size_t *n_after)
{
	CUstreamCaptureStatus driver_status;
	uint64_t driver_id = 0;
	CUresult result = sim_runtime_begin();

	if (edges)
		*edges = NULL;
	if (!result)
		result = cuStreamGetCaptureInfo_v2(stream, status ? &driver_status : NULL,
						   &driver_id, graph, after, n_after);
	if (!result) {
		*status = (enum cudaStreamCaptureStatus)driver_status;
		if (id)
			*id = driver_id;
	}
	return sim_runtime_end(result);
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags)
{
	SIM_FORWARD(cuGraphCreate(graph, flags));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
				       const cudaGraphNode_t *after, size_t n_after,
				       cudaGraph_t child)
{
	SIM_FORWARD(cuGraphAddChildGraphNode(node, graph, after, n_after, child));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n)
{
	SIM_FORWARD(cuGraphGetNodes(graph, nodes, n));
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
	SIM_FORWARD(cuGraphClone(clone, graph));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	SIM_FORWARD(cuGraphDestroy(graph));
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
	SIM_FORWARD(cuGraphInstantiateWithFlags(exec, graph, flags));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
					  unsigned long long flags)
{
	SIM_FORWARD(cuGraphInstantiateWithFlags(exec, graph, flags));
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph,
					   struct cudaGraphInstantiateParams_st *params)
{
	SIM_FORWARD(cuGraphInstantiateWithParams(
		exec, graph, (struct CUDA_GRAPH_INSTANTIATE_PARAMS_st *)params));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
				struct cudaGraphExecUpdateResultInfo_st *result)
{
	SIM_FORWARD(
		cuGraphExecUpdate_v2(exec, graph, (struct CUgraphExecUpdateResultInfo_st *)result));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	SIM_FORWARD(cuGraphExecDestroy(exec));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
	SIM_FORWARD(cuGraphUpload(exec, stream));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	SIM_FORWARD(cuGraphLaunch(exec, stream));
}
