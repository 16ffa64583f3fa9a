/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/call_name.h"

#include <string.h>

/* The length of a name without a suffix. */
static size_t without(const char *call, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len > n && memcmp(call + len - n, suffix, n) == 0 ? len - n : len;
}

int ct_call_is_varying(const char *call)
{
	size_t len = call ? strlen(call) : 0;

	if (len == 0)
		return 0;
	if (strncmp(call, "MPI_", 4) == 0)
		len = without(call, without(call, len, "_c"), "_init");
	/* MPI_Neighbor_alltoallw, but no other word of MPI's ends like this. */
	return call[len - 1] == 'v' || without(call, len, "allw") < len ||
	       without(call, len, "educe_scatter") < len;
}

int ct_call_splits_evenly(const char *call)
{
	static const char *const libraries[] = { "MPI_", "PMPI_", "nccl", "pnccl", "gloo::" };

	for (size_t i = 0; call && i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (strncmp(call, libraries[i], strlen(libraries[i])) == 0)
			return !ct_call_is_varying(call);
	return 0;
}

int ct_call_is_two_way(const char *call)
{
	return call &&
	       (strncmp(call, "MPI_Sendrecv", 12) == 0 || strncmp(call, "MPI_Isendrecv", 13) == 0);
}
