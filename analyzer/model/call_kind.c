/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/call_kind.h"

#include <stdint.h>
#include <string.h>

/* size: the first characters of a name as one number, padded with zeros. */
#define HEAD 8u
static uint64_t head_of(const char *name)
{
	uint64_t head = 0;

	for (unsigned i = 0; i < HEAD && name[i]; i++)
		head |= (uint64_t)(unsigned char)name[i] << 8 * i;
	return head;
}

/* The same for a prefix, as a constant, and the bits of a name's head that it determines. */
#define AT(prefix, i) ((uint64_t)(unsigned char)(prefix "\0\0\0\0\0\0\0\0")[i] << 8 * (i))
#define HEAD_OF(prefix)                                                                            \
	(AT(prefix, 0) | AT(prefix, 1) | AT(prefix, 2) | AT(prefix, 3) | AT(prefix, 4) |           \
	 AT(prefix, 5) | AT(prefix, 6) | AT(prefix, 7))
#define LENGTH(prefix) (sizeof(prefix) - 1)
#define MASK_OF(prefix)                                                                            \
	(LENGTH(prefix) < HEAD ? (1ull << 8 * (LENGTH(prefix) % HEAD)) - 1 : UINT64_MAX)

const struct ct_call_row *ct_call_row(const char *call)
{
	/* Every record of a call is looked up: one comparison of numbers rejects nearly every row. */
	static const struct {
		uint64_t head, mask;
		struct ct_call_row row;
		size_t len;
	} rows[] = {
#define CALL(prefix, kind, library, traits)                                                        \
	{ HEAD_OF(prefix),                                                                         \
	  MASK_OF(prefix),                                                                         \
	  { prefix, CT_HOST_##kind, CT_CALL_OF_##library, traits },                                \
	  LENGTH(prefix) },
#include "analyzer/model/calls.def"
#undef CALL
	};
	static const struct ct_call_row unknown = { "", CT_HOST_OTHER, CT_CALL_OF_UNKNOWN, 0 };
	uint64_t head;

	if (!call)
		return &unknown;
	if ((call[0] == 'p' && strncmp(call, "pnccl", 5) == 0) ||
	    (call[0] == 'P' && strncmp(call, "PMPI_", 5) == 0))
		call++;
	head = head_of(call);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if ((head & rows[i].mask) != rows[i].head)
			continue;
		if (rows[i].len <= HEAD ||
		    strncmp(call + HEAD, rows[i].row.prefix + HEAD, rows[i].len - HEAD) == 0)
			return &rows[i].row;
	}
	return &unknown;
}
