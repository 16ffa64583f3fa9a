/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/call_kind.h"

#include <string.h>

enum ct_hang_call_kind ct_hang_call_kind(const char *call)
{
	static const struct {
		const char *prefix;
		enum ct_hang_call_kind kind;
	} rows[] = {
#define KIND(prefix, kind) { prefix, CT_HANG_##kind },
#include "analyzer/model/call_kinds.def"
#undef KIND
	};

	if (!call)
		return CT_HANG_OTHER;
	if (strncmp(call, "pnccl", 5) == 0 || strncmp(call, "PMPI_", 5) == 0)
		call++;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strncmp(call, rows[i].prefix, strlen(rows[i].prefix)) == 0)
			return rows[i].kind;
	}
	return CT_HANG_OTHER;
}
