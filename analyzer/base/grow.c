/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/grow.h"

#include <stdlib.h>
#include <string.h>

#include "trace/status.h"

#define FIRST                                                                                      \
	16u /* size: elements: none of the arrays is long when it begins, and the first doublings  \
	       are cheap */
#define MOST (1u << 31) /* size: elements: one more than a full array has is a number still */

int ct_grow_now(void *array, uint32_t *cap, uint32_t least, size_t size)
{
	uint32_t more = *cap < MOST / 2 ? 2 * *cap : MOST;
	void *grown;

	if (least > MOST || size > SIZE_MAX / MOST)
		return CT_NOMEM;
	more = more < FIRST ? FIRST : more;
	more = more < least ? least : more;
	grown = realloc(*(void **)array, more * size);
	if (!grown)
		return CT_NOMEM;
	*(void **)array = grown;
	*cap = more;
	return CT_OK;
}

int ct_grow_zeroed_now(void *array, uint32_t *cap, uint32_t least, size_t size)
{
	uint32_t old = *cap;

	if (ct_grow_now(array, cap, least, size))
		return CT_NOMEM;
	memset(*(char **)array + old * size, 0, (*cap - old) * size);
	return CT_OK;
}
