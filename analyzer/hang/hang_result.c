/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/hang_result.h"

#include "analyzer/base/sort.h"

const char *ct_hang_code_name(enum ct_hang_code code)
{
	static const char *const names[] = {
#define X(CODE, place, pattern, advice, host_advice, anchor) #CODE,
#include "analyzer/hang/hang_codes.def"
	};

	return (unsigned)code < CT_HANG_CODES ? names[code] : NULL;
}

int ct_hang_is_among(int rank, const int *ranks, uint32_t n)
{
	uint32_t low = CT_BISECT(i, 0, n, ranks[i] < rank);

	return low < n && ranks[low] == rank;
}
