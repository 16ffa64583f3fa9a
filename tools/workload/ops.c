/* SPDX-License-Identifier: Apache-2.0 */
/* ops.c — how much an op's buffers hold. */
#include "trace/ops.h"
#include "tools/workload/workload.h"

uint64_t ct_workload_sends(const struct ct_workload_op *op, int n, int is_root)
{
	switch (op->op) {
	case CT_OP_Recv:
		return 0;
	case CT_OP_Broadcast:
		return is_root ? op->count : 0;
	case CT_OP_Scatter:
		return is_root ? op->count * (uint64_t)n : 0;
	case CT_OP_ReduceScatter:
	case CT_OP_AllToAll:
		return op->count * (uint64_t)n;
	default:
		return op->count;
	}
}

uint64_t ct_workload_receives(const struct ct_workload_op *op, int n, int is_root)
{
	switch (op->op) {
	case CT_OP_Send:
		return 0;
	case CT_OP_Reduce:
		return is_root ? op->count : 0;
	case CT_OP_Gather:
		return is_root ? op->count * (uint64_t)n : 0;
	case CT_OP_AllGather:
	case CT_OP_AllToAll:
		return op->count * (uint64_t)n;
	default:
		return op->count;
	}
}

unsigned ct_workload_dtype_bytes(unsigned dtype)
{
	switch (dtype) {
#define X(name, id, size_bytes)                                                                    \
	case id:                                                                                   \
		return size_bytes;
#include "trace/dtypes.def"
#undef X
	default:
		return 1;
	}
}
