/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/process_facts.h"

#include "trace/ops.h"

const char *ct_loss_remedy(unsigned reason)
{
	switch (reason) {
	case CT_LOSS_POOL_EMPTY:
		return "record with a larger COMMTRACE_RING_MB, a faster COMMTRACE_DIR or fewer "
		       "marks";
	case CT_LOSS_WRITE_FAILED:
		return "make room in COMMTRACE_DIR, or record into another directory";
	case CT_LOSS_COMM_TABLE_FULL:
		return "free communicators that are no longer used";
	case CT_LOSS_MAX_BYTES:
		return "record with a larger COMMTRACE_MAX_BYTES";
	case CT_LOSS_NO_RING:
		return "make room for the rings: commtrace doctor";
	case CT_LOSS_STARTS_LOST:
		return "free persistent requests that are no longer used";
	default:
		return NULL;
	}
}

int ct_loss_is_of_records(unsigned reason)
{
	return ct_loss_remedy(reason) != NULL;
}

int ct_loss_is_of_ends(unsigned reason)
{
	return reason == CT_LOSS_OPEN_TABLE_FULL || reason == CT_LOSS_REQUESTS_FULL;
}

int ct_loss_is_of_calls(unsigned reason)
{
	return reason == CT_LOSS_NOT_INTERPOSABLE || reason == CT_LOSS_STARTING ||
	       reason == CT_LOSS_MPI_NOT_KNOWN;
}

const char *ct_op_names_get(const struct ct_op_names *names, unsigned op)
{
	const char *name = ct_op_name(op);

	if (!name && op < 256)
		name = names->names[op];
	return name ? name : "?";
}
