/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/interval_cover.h"

#include <string.h>

/* Close the oldest interval. */
static void close_first(struct ct_cover *cover)
{
	cover->floor = cover->open[0].end;
	cover->n--;
	memmove(&cover->open[0], &cover->open[1], cover->n * sizeof(cover->open[0]));
}

uint64_t ct_cover_add(struct ct_cover *cover, uint64_t begin, uint64_t end)
{
	uint64_t covered = 0;
	uint32_t from, to;

	if (begin < cover->floor)
		begin = cover->floor;
	if (begin >= end)
		return 0;
	/* Behind all others, as most come: */
	if (cover->n && begin > cover->open[cover->n - 1].end) {
		if (cover->n == CT_COVER_OPEN)
			close_first(cover);
		cover->open[cover->n].begin = begin;
		cover->open[cover->n++].end = end;
		cover->total += end - begin;
		return end - begin;
	}
	/* Intervals [from, to) touch the new one and melt into it. */
	for (to = cover->n; to > 0 && cover->open[to - 1].begin > end; to--)
		;
	for (from = to; from > 0 && cover->open[from - 1].end >= begin; from--)
		covered += cover->open[from - 1].end - cover->open[from - 1].begin;
	if (from < to) {
		if (cover->open[from].begin < begin)
			begin = cover->open[from].begin;
		if (cover->open[to - 1].end > end)
			end = cover->open[to - 1].end;
		memmove(&cover->open[from + 1], &cover->open[to],
			(cover->n - to) * sizeof(cover->open[0]));
		cover->n -= to - from - 1;
	} else {
		if (cover->n == CT_COVER_OPEN && from == 0) {
			/* Older than everything that is open, and no room: closed at once. */
			cover->floor = end;
			cover->total += end - begin;
			return end - begin;
		}
		if (cover->n == CT_COVER_OPEN) {
			close_first(cover);
			from--;
		}
		memmove(&cover->open[from + 1], &cover->open[from],
			(cover->n - from) * sizeof(cover->open[0]));
		cover->n++;
	}
	cover->open[from].begin = begin;
	cover->open[from].end = end;
	cover->total += end - begin - covered;
	return end - begin - covered;
}
