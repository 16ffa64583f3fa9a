/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/diagnose.h"
#include "trace/status.h"

int ct_hang_diagnose(const struct ct_hang_case *c, struct ct_arena *arena,
		     struct ct_hang_result **result)
{
	(void)c;
	*result = ct_arena_calloc(arena, 1, sizeof(**result));
	return *result ? CT_OK : CT_NOMEM;
}
const char *ct_hang_code_name(enum ct_hang_code code)
{
	static const char *const names[] = {
#define X(CODE, place, pattern, advice, anchor) #CODE,
#include "analyzer/hang/hang_codes.def"
	};
	return names[code];
}
