/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/call_name.h"

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

int ct_call_ends_several(const char *call)
{
	return call && (strcmp(call, "MPI_Waitall") == 0 || strcmp(call, "MPI_Testall") == 0);
}

int ct_call_waits_for_gpu(const char *call)
{
	return call && strncmp(call, "cu", 2) == 0;
}

int ct_call_only_launches(const char *call)
{
	return call && (strcmp(call, "ncclGroupEnd") == 0 || strcmp(call, "pncclGroupEnd") == 0);
}

enum ct_leaves ct_call_leaves(const char *call)
{
	if (!call)
		return CT_LEAVES_NOTHING;
	if (strcmp(call, "ncclCommDestroy") == 0 || strcmp(call, "ncclCommFinalize") == 0)
		return CT_LEAVES_COMM;
	return strcmp(call, "MPI_Finalize") == 0 ? CT_LEAVES_LIBRARY : CT_LEAVES_NOTHING;
}
