/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/interval_union.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "trace/status.h"

void ct_union_fini(struct ct_union *u)
{
	free(u->parts);
	*u = (struct ct_union){ 0 };
}

double ct_union_part(const struct ct_union *u, uint64_t begin, uint64_t end)
{
	double all = 0, within = 0;

	for (uint32_t i = 0; i < u->n; i++) {
		uint64_t from = ct_max(u->parts[i].begin, begin), to = ct_min(u->parts[i].end, end);

		all += (double)(u->parts[i].end - u->parts[i].begin);
		within += to > from ? (double)(to - from) : 0;
	}
	return all > 0 ? within / all : 1;
}

void ct_union_close(struct ct_union *u)
{
	uint64_t total = u->total;

	ct_union_fini(u);
	u->total = total;
	u->floor = UINT64_MAX;
}

/* Space for one more; where there are too many, the oldest quarter is closed. 0 or CT_NOMEM. */
static int make_room(struct ct_union *u)
{
	if (u->n == CT_UNION_OPEN) {
		u->floor = u->parts[CT_UNION_OPEN / 4 - 1].end;
		u->n -= CT_UNION_OPEN / 4;
		memmove(u->parts, u->parts + CT_UNION_OPEN / 4, u->n * sizeof(*u->parts));
	}
	return ct_grow(&u->parts, &u->cap, u->n + 1, sizeof(*u->parts));
}

/* size: indices that are tried before all are searched: a search reads about as many that are in no
 * cache. */
#define NEAR 8u

/* The first that ends at `ns` or later. */
static uint32_t reaching(const struct ct_union *u, uint64_t ns)
{
	/* they mostly come in order */
	if (!u->n || u->parts[u->n - 1].end < ns)
		return u->n;
	if (u->n > 1 && u->parts[u->n - 2].end < ns)
		return u->n - 1;
	/* or follow the one before, among those of files that were read further */
	for (uint32_t i = u->latest; i < u->n && i < u->latest + NEAR; i++)
		if (u->parts[i].end >= ns && (!i || u->parts[i - 1].end < ns))
			return i;
	return (uint32_t)CT_BISECT(i, 0, u->n, u->parts[i].end < ns);
}

/* What of [begin, end) parts [from, to) leave free. */
static int report_free(const struct ct_union *u, uint32_t from, uint32_t to, uint64_t begin,
		       uint64_t end, ct_union_fn each, void *arg)
{
	for (; from < to; from++) {
		const struct ct_union_part *part = &u->parts[from];
		int st = part->begin > begin ? each(arg, begin, part->begin) : CT_OK;

		if (st != CT_OK)
			return st;
		begin = part->end > begin ? part->end : begin;
	}
	return begin < end ? each(arg, begin, end) : CT_OK;
}

int ct_union_add(struct ct_union *u, uint64_t begin, uint64_t end)
{
	return ct_union_add_each(u, begin, end, NULL, NULL);
}

int ct_union_add_each(struct ct_union *u, uint64_t begin, uint64_t end, ct_union_fn each, void *arg)
{
	uint32_t from, to;
	uint64_t covered = 0;
	int st;

	if (make_room(u) != CT_OK)
		return CT_NOMEM;
	begin = begin < u->floor ? u->floor : begin;
	if (begin >= end)
		return CT_OK;
	/* Parts [from, to) touch the new one and melt into it. */
	from = to = reaching(u, begin);
	while (to < u->n && u->parts[to].begin <= end) {
		covered += u->parts[to].end - u->parts[to].begin;
		to++;
	}
	st = each ? report_free(u, from, to, begin, end, each, arg) : CT_OK;
	if (st != CT_OK)
		return st;
	if (from < to) {
		begin = u->parts[from].begin < begin ? u->parts[from].begin : begin;
		end = u->parts[to - 1].end > end ? u->parts[to - 1].end : end;
	}
	if (to < u->n)
		memmove(&u->parts[from + 1], &u->parts[to], (u->n - to) * sizeof(*u->parts));
	u->n = u->n + 1 - (to - from);
	u->parts[from] = (struct ct_union_part){ begin, end };
	u->latest = from;
	u->total += end - begin - covered;
	return CT_OK;
}
