/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/markers.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "trace/status.h"

void ct_markers_fini(struct ct_markers *markers)
{
	free(markers->all);
	*markers = (struct ct_markers){ 0 };
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Bytes above ASCII are parts of letters. */
static int is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 128;
}

/* A name without what differs from step to step: numbers become '#', and at the end go with what
 * stands before them. */
static void strip(const char from[32], char to[32])
{
	size_t n = 0;

	memset(to, 0, 32);
	for (size_t i = 0; i < 31 && from[i]; i++) {
		if (!is_digit(from[i]))
			to[n++] = from[i];
		else if (!n || to[n - 1] != '#')
			to[n++] = '#';
	}
	while (n && !is_letter(to[n - 1]))
		to[--n] = '\0';
}

/* CT_MARKER_LANES: no space. */
static uint32_t lane_of(struct ct_markers *m, const struct ct_nvtx_rec *rec)
{
	enum ct_marker_kind kind = rec->how == CT_NVTX_STEP   ? CT_MARKER_STEP
				   : rec->how == CT_NVTX_MARK ? CT_MARKER_MARK
							      : CT_MARKER_RANGE;
	uint32_t at = 0;
	uint32_t tid = rec->how == CT_NVTX_STARTED || kind == CT_MARKER_STEP ? 0 : rec->tid;
	char name[32];

	strip(kind == CT_MARKER_STEP ? CT_STEP_MARK_NAME : rec->name, name);
	for (; at < m->n_lanes; at++) {
		const struct ct_marker_lane *lane = &m->lanes[at];

		if (lane->tid == tid && lane->kind == kind && !strcmp(lane->name, name))
			return at;
	}
	if (at == CT_MARKER_LANES || !name[0])
		return CT_MARKER_LANES;
	m->lanes[at] = (struct ct_marker_lane){ .tid = tid, .kind = kind };
	memcpy(m->lanes[at].name, name, sizeof(name));
	m->n_lanes++;
	return at;
}

int ct_markers_add(struct ct_markers *m, const struct ct_nvtx_rec *rec, uint64_t begin_ns,
		   uint64_t end_ns)
{
	uint32_t lane;

	if (end_ns < begin_ns || end_ns > INT64_MAX)
		return CT_OK;
	if (m->n == CT_MARKERS) {
		m->cut_short = 1;
		return CT_OK;
	}
	lane = lane_of(m, rec);
	if (lane == CT_MARKER_LANES)
		return CT_OK;
	if (ct_grow(&m->all, &m->cap, m->n + 1, sizeof(*m->all)))
		return CT_NOMEM;
	m->all[m->n++] = (struct ct_marker){ begin_ns, end_ns, lane };
	m->lanes[lane].n++;
	m->lanes[lane].total_ns += end_ns - begin_ns;
	return CT_OK;
}

/* The longest of those that begin together comes first. */
CT_SORT_BY(by_begin, struct ct_marker, CT_UP(begin_ns) ?: CT_DOWN(end_ns))

/* The beginnings of one lane's ranges that do not lie in the one before. Returns how many there
 * are. */
static uint32_t beginnings(const struct ct_markers *m, uint32_t lane, struct ct_marker *room,
			   uint64_t *cut_ns)
{
	uint32_t n = 0, kept = 0;
	uint64_t until = 0;

	for (uint32_t i = 0; i < m->n; i++)
		if (m->all[i].lane == lane)
			room[n++] = m->all[i];
	qsort(room, n, sizeof(*room), by_begin);
	for (uint32_t i = 0; i < n; i++) {
		if (kept && (room[i].begin_ns < until || room[i].begin_ns == cut_ns[kept - 1]))
			continue;
		cut_ns[kept++] = room[i].begin_ns;
		until = room[i].end_ns;
	}
	return kept;
}

static int is_better(const struct ct_marker_lane *a, const struct ct_marker_lane *b)
{
	if (a->kind != b->kind)
		return a->kind > b->kind;
	return a->total_ns != b->total_ns ? a->total_ns > b->total_ns : a->n > b->n;
}

int ct_markers_cut(const struct ct_markers *m, uint64_t **cut_ns, uint32_t *n, const char **name)
{
	struct ct_marker *room = calloc((size_t)m->n + 1, sizeof(*room));
	uint64_t *cuts = calloc((size_t)m->n + 1, sizeof(*cuts));
	int tried[CT_MARKER_LANES] = { 0 };
	int st = room && cuts ? CT_NOTFOUND : CT_NOMEM;

	/* the best first; one whose ranges lie in one another may be too few */
	for (uint32_t round = 0; round < m->n_lanes && st == CT_NOTFOUND; round++) {
		uint32_t best = CT_MARKER_LANES;

		for (uint32_t k = 0; k < m->n_lanes; k++) {
			if (!tried[k] && m->lanes[k].n >= CT_LEAST_OFTEN &&
			    (best == CT_MARKER_LANES || is_better(&m->lanes[k], &m->lanes[best])))
				best = k;
		}
		if (best == CT_MARKER_LANES)
			break;
		tried[best] = 1;
		*n = beginnings(m, best, room, cuts);
		*name = m->lanes[best].name;
		st = *n >= CT_LEAST_OFTEN ? CT_OK : CT_NOTFOUND;
	}
	free(room);
	if (st != CT_OK)
		free(cuts);
	else
		*cut_ns = cuts;
	return st;
}
