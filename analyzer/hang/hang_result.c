/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/hang_result.h"

#include "analyzer/base/sort.h"

const char *ct_hang_code_name(enum ct_hang_code code)
{
	static const char *const names[] = {
#define HANG_CODE(CODE, place, headline, cause, advice, host_advice, command, host_command,        \
		  anchor)                                                                          \
#CODE,
#include "analyzer/hang/hang_texts.def"
	};

	return (unsigned)code < CT_HANG_CODES ? names[code] : NULL;
}

const char *ct_hang_text_of(enum ct_hang_text text)
{
	static const char *const texts[] = {
#define HANG_TEXT(NAME, text) text,
#include "analyzer/hang/hang_texts.def"
	};

	return texts[text];
}

const char *ct_hang_title(const struct ct_hang_verdict *verdict)
{
	return verdict->n_victims || verdict->age_ns != CT_UNKNOWN ? "Hang" : "Crash";
}

int ct_hang_is_among(int rank, const int *ranks, uint32_t n)
{
	uint32_t low = CT_BISECT(i, 0, n, ranks[i] < rank);

	return low < n && ranks[low] == rank;
}
