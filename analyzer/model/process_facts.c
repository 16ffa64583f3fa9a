/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/process_facts.h"

#include "trace/ops.h"

int ct_loss_is_of_records(unsigned reason)
{
	switch (reason) {
	case CT_LOSS_POOL_EMPTY:
	case CT_LOSS_WRITE_FAILED:
	case CT_LOSS_COMM_TABLE_FULL:
	case CT_LOSS_MAX_BYTES:
	case CT_LOSS_NO_RING:
	case CT_LOSS_STARTS_LOST:
		return 1;
	default:
		return 0;
	}
}

const char *ct_op_names_get(const struct ct_op_names *names, unsigned op)
{
	const char *name = ct_op_name(op);

	if (!name && op < 256)
		name = names->names[op];
	return name ? name : "?";
}
