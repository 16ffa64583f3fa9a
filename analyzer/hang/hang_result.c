/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/hang_result.h"

const char *ct_hang_code_name(enum ct_hang_code code)
{
	static const char *const names[] = {
#define X(CODE, place, pattern, advice, host_advice, anchor) #CODE,
#include "analyzer/hang/hang_codes.def"
	};

	return (unsigned)code < CT_HANG_CODES ? names[code] : NULL;
}
