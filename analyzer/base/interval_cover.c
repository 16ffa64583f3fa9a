/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/interval_cover.h"

#include <string.h>

/* Close the oldest interval. */
static void close_first(struct ct_cover *cover)
{
	cover->floor = cover->room[cover->first++].end;
	cover->n--;
}

/* For one more, behind all others. They move to the front once for as many as may be open. */
static void make_room(struct ct_cover *cover)
{
	if (cover->n == CT_COVER_OPEN)
		close_first(cover);
	if (cover->first + cover->n < 2 * CT_COVER_OPEN)
		return;
	memcpy(cover->room, &cover->room[cover->first], cover->n * sizeof(cover->room[0]));
	cover->first = 0;
}

uint64_t ct_cover_add(struct ct_cover *cover, uint64_t begin, uint64_t end)
{
	struct ct_cover_part *open = &cover->room[cover->first];
	uint64_t covered = 0;
	uint32_t from, to;

	if (begin < cover->floor)
		begin = cover->floor;
	if (begin >= end)
		return 0;
	/* Behind all others, as most come: */
	if (!cover->n || begin > open[cover->n - 1].end) {
		make_room(cover);
		cover->room[cover->first + cover->n++] = (struct ct_cover_part){ begin, end };
		cover->total += end - begin;
		return end - begin;
	}
	/* Intervals [from, to) touch the new one and melt into it. */
	for (to = cover->n; to > 0 && open[to - 1].begin > end; to--)
		;
	for (from = to; from > 0 && open[from - 1].end >= begin; from--)
		covered += open[from - 1].end - open[from - 1].begin;
	if (from < to) {
		if (open[from].begin < begin)
			begin = open[from].begin;
		if (open[to - 1].end > end)
			end = open[to - 1].end;
		memmove(&open[from + 1], &open[to], (cover->n - to) * sizeof(*open));
		cover->n -= to - from - 1;
	} else {
		if (cover->n == CT_COVER_OPEN && from == 0) {
			/* Older than everything that is open, and no space: closed at once. */
			cover->floor = end;
			cover->total += end - begin;
			return end - begin;
		}
		from -= cover->n == CT_COVER_OPEN;
		make_room(cover);
		open = &cover->room[cover->first];
		memmove(&open[from + 1], &open[from], (cover->n - from) * sizeof(*open));
		cover->n++;
	}
	open[from] = (struct ct_cover_part){ begin, end };
	cover->total += end - begin - covered;
	return end - begin - covered;
}
