/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/call_kind.h"

#include <string.h>

const struct ct_call_row *ct_call_row(const char *call)
{
	static const struct ct_call_row rows[] = {
#define CALL(prefix, kind, library, traits)                                                        \
	{ prefix, CT_HOST_##kind, CT_CALL_OF_##library, traits },
#include "analyzer/model/calls.def"
#undef CALL
	};
	static const struct ct_call_row unknown = { "", CT_HOST_OTHER, CT_CALL_OF_UNKNOWN, 0 };

	if (!call)
		return &unknown;
	if (strncmp(call, "pnccl", 5) == 0 || strncmp(call, "PMPI_", 5) == 0)
		call++;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].prefix[0] == call[0] &&
		    strncmp(call, rows[i].prefix, strlen(rows[i].prefix)) == 0)
			return &rows[i];
	}
	return &unknown;
}
